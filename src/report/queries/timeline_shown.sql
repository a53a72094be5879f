-- What ran in run ?1 from ?2 to ?3 ns of its clock, in the order in which it began; at most ?4 rows.
SELECT s.pass AS pass, s.step AS number, t.name AS step, s.variant AS variant, s.begin_ns AS begin_ns, s.duration_ns AS duration_ns,
  s.executions AS executions
FROM pass p
CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass
LEFT JOIN step t ON t.run = s.run AND t.step = s.step
WHERE p.run = ?1 AND p.end_ns >= ?2 AND p.begin_ns <= ?3 AND s.begin_ns <= ?3 AND s.begin_ns + s.duration_ns >= ?2
ORDER BY s.begin_ns, s.step
LIMIT ?4;
