-- Raw timings of the steps ?2 (a JSON array of numbers, each once) of run ?1, each of one execution, in the order in which they were taken.
SELECT
  s.step AS step,
  s.variant AS variant,
  s.pass AS pass,
  s.begin_ns AS begin_ns,
  1.0 * s.duration_ns / nullif(s.executions, 0) AS time_ns,
  s.executions AS executions
FROM pass p
CROSS JOIN json_each(?2) w
CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass AND s.step = w.value
WHERE p.run = ?1
ORDER BY p.pass;
