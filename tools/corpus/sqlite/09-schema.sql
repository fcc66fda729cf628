-- Schema: views, changed tables, generated columns, partial indexes, attached databases, pragmas, vacuum
CREATE TABLE t(a INTEGER, b TEXT DEFAULT 'x', c AS (a * 2) STORED, UNIQUE (a, b));
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 800) INSERT INTO t(a) SELECT i FROM c;
CREATE INDEX even ON t(b) WHERE a % 2 = 0;
CREATE VIEW v AS SELECT a, c FROM t WHERE b = 'x' UNION SELECT -a, c FROM t WHERE a % 2 = 0;
ALTER TABLE t ADD COLUMN d REAL;
ALTER TABLE t RENAME COLUMN b TO named;
SELECT count(*), sum(c) FROM v;
ATTACH ':memory:' AS other;
CREATE TABLE other.u AS SELECT a, c FROM t WHERE c % 3 = 0;
SELECT count(*) FROM (SELECT a FROM t INTERSECT SELECT a FROM other.u EXCEPT SELECT 3);
PRAGMA table_xinfo(t);
PRAGMA integrity_check;
EXPLAIN QUERY PLAN SELECT * FROM t WHERE named = 'x' AND a % 2 = 0;
ANALYZE;
REINDEX;
DROP VIEW v;
VACUUM;
