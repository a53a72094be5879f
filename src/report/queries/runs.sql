-- The runs of a database, newest first. No parameters.
SELECT
  r.id AS run,
  r.kind AS kind,
  r.status AS status,
  r.writer AS writer,
  coalesce(m.name, '') AS module,
  coalesce(s.path, q.path, '') AS path,
  coalesce(d.name, '') AS device,
  coalesce(d.model, '') AS model,
  r.started_unix_ns AS started_unix_ns,
  (SELECT count(*) FROM pass p WHERE p.run = r.id) AS passes
FROM run r
LEFT JOIN module m ON m.id = r.module
LEFT JOIN source s ON s.id = m.source
LEFT JOIN source q ON q.id = r.source
LEFT JOIN device d ON d.id = r.device
ORDER BY r.id DESC;
