-- Where the time of a pass goes: steps, longest first.
-- Empty: the run has no steps.
SELECT
  name AS step,
  op AS op,
  kind AS kind,
  calls AS calls,
  median_ns AS median_ns,
  spread_percent AS spread_percent,
  share_percent AS share_percent,
  gb_per_s AS gb_per_s,
  gflop_per_s AS gflop_per_s,
  roof_percent AS roof_percent,
  class AS class,
  flags AS flags
FROM top
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, step;
