-- As the first, with other numbers: mostly known paths
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 5000)
  INSERT INTO item SELECT i, printf('item %05d', (i * 104729) % 5003), i % 23, i * 0.41 FROM c;
SELECT id, name FROM item WHERE kind = 5 ORDER BY name LIMIT 20;
SELECT * FROM item ORDER BY price DESC LIMIT 9 OFFSET 3;
