-- Steps that did not run as themselves on the device (skip, stand-in, reference, host), and why.
-- Empty: every step ran as itself on the device.
SELECT
  s.name AS step,
  CASE WHEN s.kind = '' THEN s.opcode ELSE s.opcode || ':' || s.kind END AS kind,
  s.class AS class,
  t.pass_ns AS pass_ns,
  100.0 * t.pass_ns / nullif(a.pass_ns, 0) AS share_percent,
  s.why AS why
FROM step s
JOIN step_time t ON t.run = s.run AND t.step = s.step
JOIN run_time a ON a.run = s.run
WHERE s.run = ?1 AND (s.why <> '' OR s.class NOT IN ('kernel', 'library', 'copy'))
ORDER BY t.pass_ns IS NULL, t.pass_ns DESC, s.step;
