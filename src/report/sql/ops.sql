-- Time of framework operators; a fusion's time is divided among the operators in it.
-- Empty: the run has no steps.
SELECT
  short_name AS op,
  type AS type,
  phase AS phase,
  steps AS steps,
  pass_ns AS pass_ns,
  100.0 * pass_ns / nullif(sum(pass_ns) OVER (), 0) AS share_percent,
  bytes / nullif(pass_ns, 0) AS gb_per_s,
  flops / nullif(pass_ns, 0) AS gflop_per_s,
  name AS name
FROM op_time
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, name;
