-- How near each step is to the machine's limits, with the ceilings measured in the run; over 100 % its data fits into a cache.
-- Empty: the run has no steps.
SELECT
  name AS step,
  class AS class,
  intensity_flop_per_byte AS intensity_flop_per_byte,
  bound_by AS bound_by,
  median_ns AS median_ns,
  attainable_ns AS attainable_ns,
  gb_per_s AS gb_per_s,
  gflop_per_s AS gflop_per_s,
  attainable_gflop_per_s AS attainable_gflop_per_s,
  roof_percent AS roof_percent
FROM roofline
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, step;
