-- The steps of run ?1 that come from line ?3 of file ?2, those that take longest first.
SELECT
  t.step AS step,
  o.short_name AS op,
  o.type AS type,
  sum(t.pass_ns) AS pass_ns
FROM step_source t
LEFT JOIN place p ON p.id = t.place
LEFT JOIN string f ON f.id = p.file
LEFT JOIN symbol y ON y.id = t.symbol
LEFT JOIN op o ON o.id = t.op
WHERE t.run = ?1
  AND coalesce(CASE WHEN t.rule = 'line' OR t.symbol IS NULL THEN f.text END, y.file, '') = ?2
  AND coalesce(CASE WHEN t.rule = 'line' OR t.symbol IS NULL THEN p.line END, y.line, 0) = ?3
GROUP BY t.step, o.id
ORDER BY sum(t.pass_ns) IS NULL, sum(t.pass_ns) DESC, t.step
LIMIT 10000;
