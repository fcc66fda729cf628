-- Rows: tables, values, order, limits
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000)
  INSERT INTO item SELECT i, printf('item %05d', (i * 7919) % 3011), i % 17, i * 0.37 FROM c;
SELECT id, name FROM item WHERE kind = 3 ORDER BY name LIMIT 10;
SELECT * FROM item ORDER BY price DESC LIMIT 5 OFFSET 7;
