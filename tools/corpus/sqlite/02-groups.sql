-- Groups: aggregates, distinct values, having
CREATE TABLE sale(item INTEGER, day INTEGER, n INTEGER);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 4000)
  INSERT INTO sale SELECT (i * 31) % 200, i % 365, (i * i) % 9 + 1 FROM c;
SELECT day % 7, count(*), sum(n), avg(n), min(item), max(item) FROM sale GROUP BY 1 HAVING sum(n) > 10;
SELECT count(DISTINCT item), total(n), group_concat(DISTINCT n) FROM sale WHERE day BETWEEN 10 AND 90;
