-- Changes: transactions, savepoints, updates, deletes, conflicts, triggers
CREATE TABLE t(k TEXT PRIMARY KEY, n INTEGER CHECK (n >= 0)) WITHOUT ROWID;
CREATE TABLE log(what TEXT);
CREATE TRIGGER changed AFTER UPDATE ON t WHEN new.n <> old.n BEGIN INSERT INTO log VALUES (old.k || ':' || new.n); END;
BEGIN;
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1500)
  INSERT INTO t SELECT printf('%04d', (i * 97) % 2000), i % 50 FROM c WHERE true
  ON CONFLICT (k) DO UPDATE SET n = n + excluded.n;
SAVEPOINT s;
UPDATE t SET n = n * 2 WHERE k > '0500' AND n % 3 = 0;
DELETE FROM t WHERE n > 60;
ROLLBACK TO s;
UPDATE t SET n = n + 1 WHERE k < '0400';
REPLACE INTO t VALUES ('0001', 5), ('new', 6);
COMMIT;
SELECT count(*), sum(n) FROM t;
SELECT count(*), max(what) FROM log;
