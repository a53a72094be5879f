-- The source lines of run ?1 with their time, and all other files that the program or an index names (line NULL): file, line, function.
SELECT
  coalesce(t.file, '') AS file,
  t.line AS line,
  max(CASE WHEN t.type IS NULL THEN t.function ELSE t.type || '.' || t.function END) AS function,
  min(coalesce(t.rule, 'line')) AS rule,
  min(t.confidence) AS confidence,
  sum(t.ops) AS ops,
  sum(t.steps) AS steps,
  sum(t.pass_ns) AS pass_ns
FROM source_time t
WHERE t.run = ?1
GROUP BY t.file, t.line
UNION ALL
SELECT f.file, NULL, NULL, NULL, NULL, 0, 0, NULL
FROM (
  SELECT DISTINCT s.text AS file
  FROM run r
  JOIN computation c ON c.module = r.module
  JOIN instruction i ON i.id >= c.first_instruction AND i.id < c.first_instruction + c.instructions
  JOIN place p ON p.id = i.place
  JOIN string s ON s.id = p.file
  WHERE r.id = ?1
  UNION
  SELECT file FROM symbol
) f
ORDER BY 1, 2;
