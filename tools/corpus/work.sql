-- A workload for the sqlite3 shell.
CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, kind INTEGER, price REAL);
CREATE TABLE sale(item INTEGER REFERENCES item(id), day INTEGER, n INTEGER);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 20000)
  INSERT INTO item SELECT i, printf('item %05d', (i * 7919) % 20011), i % 17, i * 0.37 FROM c;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 60000)
  INSERT INTO sale SELECT (i * 31) % 20000 + 1, i % 365, (i * i) % 9 + 1 FROM c;
CREATE INDEX sale_day ON sale(day, item);
CREATE INDEX item_name ON item(name);
SELECT kind, count(*), round(sum(price), 2), min(name), max(name) FROM item GROUP BY kind;
SELECT kind, sum(n) FROM sale JOIN item ON item.id = sale.item WHERE day BETWEEN 30 AND 90 GROUP BY kind ORDER BY 2 DESC;
SELECT name FROM item WHERE name LIKE '%99%' ORDER BY price DESC LIMIT 5;
UPDATE item SET price = price * 1.1 WHERE kind IN (SELECT kind FROM item WHERE id < 4);
DELETE FROM sale WHERE day % 7 = 3;
SELECT count(*), sum(n) FROM sale;
SELECT day, sum(n) OVER (ORDER BY day ROWS 3 PRECEDING) AS s FROM (SELECT day, sum(n) AS n FROM sale GROUP BY day) LIMIT 5;
SELECT upper(substr(name, 3, 5)) || hex(id), abs(price - 100) FROM item WHERE id % 4001 = 7;
BEGIN;
INSERT INTO item(name, kind) SELECT name || '!', kind FROM item WHERE id % 10 = 0;
ROLLBACK;
SELECT json_group_array(kind) FROM (SELECT DISTINCT kind FROM item ORDER BY kind);
EXPLAIN QUERY PLAN SELECT * FROM sale JOIN item ON item.id = sale.item WHERE day = 5;
SELECT * FROM missing;
PRAGMA integrity_check;
