-- Each step against the run before it of the same program on the same device: slower or faster where the 95 % intervals of the medians lie apart (with ? below 6 passes).
-- Empty: there is no earlier run of this program on this device.
-- The interval of fewer than 6 samples is all of them.
WITH
earlier AS (
  SELECT max(e.id) AS run
  FROM run r
  JOIN run e ON e.id < r.id AND e.kind = r.kind
  LEFT JOIN module m ON m.id = r.module
  LEFT JOIN module n ON n.id = e.module
  JOIN device d ON d.id = r.device
  JOIN device b ON b.id = e.device AND b.name = d.name AND b.threads = d.threads
  JOIN run_time t ON t.run = e.id AND t.timed_steps > 0
  WHERE r.id = ?1 AND n.name IS m.name
),
pair AS (
  SELECT s.step, s.name, s.class, e.run AS earlier_run, e.step AS earlier_step, e.median_ns AS earlier_ns, s.median_ns,
    s.pass_ns - e.pass_ns AS change_ns, e.ci_low_ns AS earlier_low, e.ci_high_ns AS earlier_high, s.ci_low_ns AS low, s.ci_high_ns AS high,
    min(s.n, e.n) AS n, 0 AS gone
  FROM step_time s
  LEFT JOIN step_time e ON e.run = (SELECT run FROM earlier) AND e.name = s.name AND e.computation = s.computation
  WHERE s.run = ?1 AND (SELECT run FROM earlier) IS NOT NULL
  UNION ALL
  SELECT e.step, e.name, e.class, e.run, e.step, e.median_ns, NULL, -e.pass_ns, NULL, NULL, NULL, NULL, NULL, 1
  FROM step_time e
  WHERE e.run = (SELECT run FROM earlier)
    AND NOT EXISTS (SELECT 1 FROM step_time s WHERE s.run = ?1 AND s.name = e.name AND s.computation = e.computation)
)
SELECT
  name AS step,
  class AS class,
  earlier_run AS earlier_run,
  earlier_ns AS earlier_ns,
  median_ns AS median_ns,
  100.0 * (median_ns - earlier_ns) / nullif(earlier_ns, 0) AS change_percent,
  change_ns AS change_a_pass_ns,
  CASE WHEN gone THEN 'gone'
       WHEN earlier_step IS NULL THEN 'new'
       WHEN n IS NULL THEN 'not timed'
       WHEN n < 3 THEN 'few samples'
       WHEN low > earlier_high THEN iif(n < 6, 'slower?', 'slower')
       WHEN high < earlier_low THEN iif(n < 6, 'faster?', 'faster')
       ELSE 'same' END AS verdict
FROM pair
ORDER BY change_ns IS NULL, abs(change_ns) DESC, step;
