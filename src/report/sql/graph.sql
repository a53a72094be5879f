-- What launching costs: the newest complete run of this run's program in each mode of the GPU: step by step, and as CUDA graphs.
-- Empty: the program has no complete run on a GPU.
-- Runs with cold caches are left out: what empties them lies between the steps.
-- outside_ns: what of a pass is no step's work: launches, waits, and gaps between kernels. Short steps run several times within a pass, and
-- their repeats are in pass_ns as in steps_ns.
WITH
  mode_run AS (
    SELECT max(r.id) AS run, m.value AS mode
    FROM run r
    JOIN device d ON d.id = r.device AND d.name = 'cuda'
    JOIN device_detail m ON m.device = d.id AND m.name = 'mode'
    WHERE r.status = 'complete' AND r.module = (SELECT module FROM run WHERE id = ?1)
      AND NOT EXISTS (SELECT 1 FROM run_option o WHERE o.run = r.id AND o.name = 'cold' AND o.value = 'yes')
    GROUP BY m.value),
  work AS (
    SELECT s.run AS run, s.pass AS pass, sum(s.duration_ns) AS steps_ns
    FROM mode_run o JOIN pass p ON p.run = o.run JOIN sample s ON s.run = p.run AND s.pass = p.pass AND s.variant = 0
    GROUP BY s.run, s.pass)
SELECT
  o.mode AS mode,
  o.run AS run,
  count(*) AS passes,
  min(p.end_ns - p.begin_ns) AS least_pass_ns,
  avg(p.end_ns - p.begin_ns) AS pass_ns,
  avg(w.steps_ns) AS steps_ns,
  avg(p.end_ns - p.begin_ns - w.steps_ns) AS outside_ns,
  100.0 * avg(p.end_ns - p.begin_ns - w.steps_ns) / nullif(avg(p.end_ns - p.begin_ns), 0) AS outside_percent
FROM mode_run o
JOIN pass p ON p.run = o.run
JOIN work w ON w.run = p.run AND w.pass = p.pass
GROUP BY o.run
ORDER BY o.mode <> 'stream', o.mode;
