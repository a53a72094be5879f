-- The steps of a pass in the order in which they run, each with its median where it would begin in a pass of medians.
-- Empty: the run has no steps.
SELECT
  t.step AS number,
  t.name AS step,
  t.op AS op,
  t.kind AS kind,
  t.calls AS calls,
  coalesce(sum(t.pass_ns) OVER (ORDER BY t.step ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS begin_ns,
  t.pass_ns AS pass_ns,
  t.share_percent AS share_percent,
  t.class AS class,
  t.flags AS flags
FROM top t
WHERE t.run = ?1
ORDER BY number;
