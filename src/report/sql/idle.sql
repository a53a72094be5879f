-- Where the GPU waits: the time between the end of one step's work and the begin of the next one's, longest first.
-- Empty: the run is of another device than a GPU, has one step only, or ran with cold caches, which are emptied between the steps.
-- A step's time is that of its kernels alone, so what lies between two is nobody's. Steps in loops are left out: their sample is a sum over
-- trips. Runs of --mode graph show what is left without launches; report graph compares.
WITH
  own AS (
    SELECT s.run AS run, s.pass AS pass, s.step AS step, s.begin_ns AS begin_ns, s.begin_ns + s.duration_ns AS end_ns, t.trips AS trips, t.name AS name
    FROM sample s JOIN step t ON t.run = s.run AND t.step = s.step
    WHERE s.run = ?1 AND s.variant = 0
      AND EXISTS (SELECT 1 FROM run r JOIN device d ON d.id = r.device WHERE r.id = ?1 AND d.name = 'cuda')
      AND NOT EXISTS (SELECT 1 FROM run_option WHERE run = ?1 AND name = 'cold' AND value = 'yes')),
  gap AS (
    SELECT run, step, name, trips, begin_ns - lag(end_ns) OVER pass_order AS gap_ns, lag(name) OVER pass_order AS after_step,
      lag(trips) OVER pass_order AS trips_before
    FROM own WINDOW pass_order AS (PARTITION BY pass ORDER BY begin_ns, step))
SELECT
  name AS before_step,
  after_step AS after_step,
  count(*) AS passes,
  min(max(gap_ns, 0)) AS least_idle_ns,
  avg(max(gap_ns, 0)) AS idle_ns,
  100.0 * avg(max(gap_ns, 0)) / nullif((SELECT avg(end_ns - begin_ns) FROM pass WHERE run = ?1), 0) AS of_pass_percent
FROM gap
WHERE gap_ns IS NOT NULL AND trips = 1 AND trips_before = 1
GROUP BY step, after_step
ORDER BY avg(max(gap_ns, 0)) DESC, step;
