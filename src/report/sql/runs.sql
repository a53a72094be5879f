-- The replays in this file, and the runs that logs tell of.
-- Empty: nothing was replayed yet, and no log with times imported.
SELECT
  r.id AS run,
  m.name AS module,
  d.name AS device,
  d.threads AS threads,
  r.status AS status,
  r.writer AS writer,
  strftime('%Y-%m-%d %H:%M:%S', r.started_unix_ns / 1000000000, 'unixepoch') AS started_utc,
  (SELECT count(*) FROM pass p WHERE p.run = r.id) AS passes,
  t.steps AS steps,
  t.pass_ns AS pass_ns,
  r.plan_ns AS plan_ns,
  r.compile_ns AS compile_ns,
  r.peak_bytes AS held_bytes,
  d.model AS machine,
  s.path AS source,
  r.kind AS kind
FROM run r
LEFT JOIN module m ON m.id = r.module
LEFT JOIN source s ON s.id = coalesce(m.source, r.source)
LEFT JOIN device d ON d.id = r.device
LEFT JOIN run_time t ON t.run = r.id
ORDER BY r.id;
