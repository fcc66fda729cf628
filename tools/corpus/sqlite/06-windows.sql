-- Windows: ranks, frames, running sums
CREATE TABLE p(g INTEGER, t INTEGER, v REAL);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1200)
  INSERT INTO p SELECT i % 7, i, (i * 7919) % 101 / 4.0 FROM c;
SELECT g, max(r), max(d) FROM (SELECT g, rank() OVER w AS r, dense_rank() OVER w AS d FROM p WINDOW w AS (PARTITION BY g ORDER BY v)) GROUP BY g;
SELECT round(sum(m), 3) FROM (SELECT avg(v) OVER (ORDER BY t ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING) AS m FROM p);
SELECT t, lag(v, 1, 0) OVER (ORDER BY t), lead(v) OVER (ORDER BY t), ntile(4) OVER (ORDER BY v), first_value(v) OVER (PARTITION BY g ORDER BY t) FROM p ORDER BY t LIMIT 5;
