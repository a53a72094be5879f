-- The code that ran: what it is, what it cost to compile, and the steps that launch it (a step with several launches counts for each).
-- Empty: no kernel was compiled: the times are recorded, or the device runs none.
SELECT
  k.name AS kernel,
  k.language AS language,
  k.implementation AS implementation,
  count(DISTINCT t.step) AS steps,
  sum(t.pass_ns) AS pass_ns,
  100.0 * sum(t.pass_ns) / nullif((SELECT pass_ns FROM run_time WHERE run = ?1), 0) AS share_percent,
  k.compile_ns AS compile_ns,
  k.code_bytes AS code_bytes,
  c.bytes AS source_bytes
FROM kernel k
JOIN content c ON c.id = k.content
LEFT JOIN (SELECT DISTINCT run, step, kernel FROM step_kernel) l ON l.run = k.run AND l.kernel = k.kernel
LEFT JOIN step_time t ON t.run = l.run AND t.step = l.step
WHERE k.run = ?1
GROUP BY k.run, k.kernel
ORDER BY sum(t.pass_ns) IS NULL, sum(t.pass_ns) DESC, k.kernel;
