-- How near each step is to the machine's limits, measured in the run or else published; over 100 % its data fits into a cache.
-- Empty: the run has no steps.
-- Optional: published_percent basis
-- The limits themselves: report ceilings. published_percent: against the published limits, where they are known. basis: predicted or recorded
-- where the times are not measured; empty otherwise.
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
  roof_percent AS roof_percent,
  published_percent AS published_percent,
  nullif(basis, 'measured') AS basis
FROM roofline
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, step;
