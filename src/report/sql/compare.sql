-- Each step against the run before it of the same program on the same device: slower or faster where the 95 % intervals of the medians lie apart and it moved far beyond what steps differ by between the two runs (with ? where that is a guess: below 6 passes, or 8 steps).
-- Empty: there is no earlier run of this program on this device.
-- What is compared of a run. src/report/compare.cc does it: steps are matched by key, by name and by place, which is no work for SQL.
SELECT
  t.name AS name,
  t.key AS key,
  t.computation AS computation,
  t.opcode AS opcode,
  t.kind AS kind,
  coalesce(h.text, o.shape, '') AS shape,
  t.class AS class,
  coalesce(t.n, 0) AS n,
  t.calls AS calls,
  t.median_ns AS median_ns,
  t.ci_low_ns AS ci_low_ns,
  t.ci_high_ns AS ci_high_ns,
  t.step AS number,
  (t.q3_ns - t.q1_ns) / nullif(t.median_ns, 0) AS quartiles
FROM step_time t
JOIN step s ON s.run = t.run AND s.step = t.step
LEFT JOIN instruction i ON i.id = s.instruction
LEFT JOIN shape h ON h.id = i.shape
LEFT JOIN op o ON o.id = s.op
WHERE t.run = ?1
ORDER BY t.step;
