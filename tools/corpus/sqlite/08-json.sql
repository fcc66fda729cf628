-- JSON: parsing, paths, changes, tables of members
CREATE TABLE j(d TEXT);
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 250)
  INSERT INTO j SELECT json_object('id', i, 'tags', json_array(i % 3, 'x' || i, NULL), 'in', json_object('a', i * 1.5, 'b', i % 2 = 0)) FROM c;
SELECT sum(json_extract(d, '$.in.a')), count(d ->> '$.tags[2]'), max(json_array_length(d, '$.tags')) FROM j;
SELECT json_set(json_remove(d, '$.tags'), '$.in.c', json('[1,2]')) FROM j LIMIT 3;
SELECT key, type, count(*) FROM j, json_tree(j.d) GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 8;
SELECT json_group_array(json_extract(d, '$.id')) FROM j WHERE d -> '$.id' < '5';
SELECT json_valid('{"a":[1,2'), json_patch('{"a":1,"b":2}', '{"b":null,"c":3}'), json_quote('a"b');
