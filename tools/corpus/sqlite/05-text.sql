-- Text: patterns, functions of strings, collations, blobs
CREATE TABLE w(s TEXT COLLATE NOCASE);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1500)
  INSERT INTO w SELECT substr('The Quick brown fox JUMPS over', i % 20 + 1, i % 9 + 1) || ' ' || i FROM c;
SELECT count(*) FROM w WHERE s LIKE '%ow%1_' OR s GLOB '*[A-F]?x*';
SELECT upper(trim(s)), lower(s), replace(s, 'o', '00'), instr(s, 'r'), length(s), hex(s), quote(s) FROM w ORDER BY s LIMIT 6;
SELECT s, count(*) FROM (SELECT substr(s, 1, 3) AS s FROM w) GROUP BY s ORDER BY 2 DESC, 1 LIMIT 5;
SELECT char(955, 8364), unicode('ü'), x'616263' || 'd', typeof(x'00'), zeroblob(4) = x'00000000', soundex('robert');
