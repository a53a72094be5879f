-- What the import and the replay could go on without.
-- Empty: nothing was left out.
SELECT
  coalesce(s.path, 'run ' || n.run) AS about,
  n.line AS line,
  n."column" AS "column",
  n.code AS code,
  n.text AS text
FROM note n
LEFT JOIN source s ON s.id = n.source
WHERE n.run = ?1 OR n.source = (SELECT m.source FROM run r JOIN module m ON m.id = r.module WHERE r.id = ?1)
ORDER BY n.id;
