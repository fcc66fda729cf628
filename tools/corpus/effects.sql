-- What is in a file, by way of journals: inserted, changed, deleted, rolled back, and vacuumed.
CREATE TABLE a (n INTEGER PRIMARY KEY, t TEXT);
CREATE INDEX i ON a (t);
BEGIN;
WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r WHERE x < 20000)
    INSERT INTO a SELECT x, printf('%x', x * 2654435761 % 1000003) FROM r;
COMMIT;
UPDATE a SET t = t || n WHERE n % 3 = 0;
BEGIN;
DELETE FROM a WHERE n % 2 = 0;
ROLLBACK;
DELETE FROM a WHERE n % 7 = 0;
INSERT INTO a (t) SELECT t FROM a WHERE n < 3000;
CREATE TABLE b AS SELECT substr(t, 1, 2) AS s, count(*) AS c FROM a GROUP BY 1;
SELECT count(*), sum(c), max(s) FROM b;
VACUUM;
UPDATE a SET t = upper(t) WHERE n IN (SELECT n FROM a ORDER BY t LIMIT 2000);
PRAGMA integrity_check;
