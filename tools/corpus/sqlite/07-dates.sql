-- Dates and numbers: strftime, modifiers, casts, arithmetic, errors
WITH RECURSIVE d(i, t) AS (SELECT 0, '2024-01-31' UNION ALL SELECT i + 1, date(t, '+1 month', 'weekday 1') FROM d WHERE i < 300)
  SELECT count(*), max(t), sum(strftime('%j', t)), sum(julianday(t)) FROM d;
SELECT strftime('%Y-%m-%d %H:%M:%f %w %W', '2023-07-05 12:34:56.789', '-3 days', 'start of month'), datetime(86400 * 365, 'unixepoch'), time('25:00');
WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 1500)
  SELECT sum(CAST(printf('%d.%03de%d', i, i % 1000, i % 30 - 15) AS REAL) > 1), sum(i << (i % 7) & 255 | 3), sum(i / (i % 5)), sum(abs(750 - i) % 13) FROM c;
SELECT 9223372036854775807 + 1, -9223372036854775808 / -1, round(2.5), 1 / 0, '12abc' + 1, CAST('1e3' AS INTEGER), 0x7f;
SELECT nothing FROM nowhere;
SELECT abs(-9223372036854775808);
