-- Communication: bytes that each operator sends, the time of its stand-in here, and the time that a link would need (--link-gbps).
-- Empty: the program holds no communication that has a step.
SELECT
  o.short_name AS op,
  o.type AS type,
  o.attributes ->> '$.ring' AS ring,
  coalesce(o.attributes ->> '$.link_bytes', h.bytes) AS link_bytes,
  s.class AS class,
  t.pass_ns AS pass_ns,
  t.calls * 8 * coalesce(o.attributes ->> '$.link_bytes', h.bytes)
    / nullif((SELECT CAST(value AS REAL) FROM run_option WHERE run = ?1 AND name = 'link_gbps'), 0) AS modelled_ns
FROM step s
JOIN step_time t ON t.run = s.run AND t.step = s.step
JOIN op o ON o.id = t.op
LEFT JOIN instruction i ON i.id = s.instruction
LEFT JOIN shape h ON h.id = i.shape
WHERE s.run = ?1 AND o.phase = 'communication'
ORDER BY modelled_ns IS NULL, modelled_ns DESC, t.pass_ns DESC, s.step;
