-- Where memory is fullest, and the buffers that are alive there, largest first.
-- Empty: no buffers were planned: the times are recorded.
WITH peak AS MATERIALIZED (
  SELECT step AS step, name AS name, live_bytes AS live_bytes FROM memory WHERE run = ?1 ORDER BY live_bytes DESC, step LIMIT 1
),
live AS MATERIALIZED (
  SELECT b.buffer AS buffer, b.name AS name, b.kind AS kind, b.bytes AS bytes, b.first_step AS first_step, b.last_step AS last_step
  FROM buffer b JOIN peak p
  WHERE b.run = ?1 AND b.alias_of IS NULL AND (b.kind IN ('parameter', 'constant') OR p.step BETWEEN max(b.first_step, 0) AND max(b.last_step, 0))
)
SELECT
  p.name AS at_step,
  '(all ' || (SELECT count(*) FROM live) || ' live buffers)' AS buffer,
  'peak' AS kind,
  p.live_bytes AS bytes,
  100.0 AS share_percent,
  p.step AS first_step,
  p.step AS last_step
FROM peak p
UNION ALL
SELECT * FROM (
  SELECT
    p.name AS at_step,
    l.name AS buffer,
    l.kind AS kind,
    l.bytes AS bytes,
    100.0 * l.bytes / nullif(p.live_bytes, 0) AS share_percent,
    l.first_step AS first_step,
    l.last_step AS last_step
  FROM live l JOIN peak p
  ORDER BY l.bytes DESC, l.buffer
);
