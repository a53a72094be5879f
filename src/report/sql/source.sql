-- Time by source line and function; `from`: line, as the program says, or a guess from names (see confidence).
-- Empty: the run has no steps; source lines and functions come from the program or from an index (profile import INDEX --source FILE).
SELECT
  coalesce(file, '(not told)') AS file,
  line AS line,
  CASE WHEN type IS NULL THEN function ELSE type || '.' || function END AS function,
  coalesce(rule, CASE WHEN file IS NOT NULL THEN 'line' END) AS "from",
  100.0 * confidence AS confidence_percent,
  ops AS ops,
  pass_ns AS pass_ns,
  share_percent AS share_percent
FROM source_time
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, file, line, function;
