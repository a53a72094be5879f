-- Samples of the steps in the JSON array ?2 of run ?1, of every ?3rd pass from the first, in the order of the passes: times of one execution.
SELECT s.step AS step, 1.0 * s.duration_ns / s.executions AS sample_ns
FROM pass p CROSS JOIN json_each(?2) j CROSS JOIN sample s
WHERE p.run = ?1 AND p.pass % ?3 = 0 AND s.run = p.run AND s.pass = p.pass AND s.step = j.value AND s.variant = 0 AND s.executions > 0
ORDER BY p.pass;
