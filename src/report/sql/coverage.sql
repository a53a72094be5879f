-- How much of the program was executed by what: steps, work, traffic and time by class.
-- Empty: the run has no steps.
SELECT
  class AS class,
  steps AS steps,
  steps_percent AS steps_percent,
  flops AS flops,
  flops_percent AS flops_percent,
  bytes AS bytes,
  bytes_percent AS bytes_percent,
  pass_ns AS pass_ns,
  share_percent AS share_percent
FROM coverage
WHERE run = ?1
ORDER BY CASE class WHEN 'kernel' THEN 1 WHEN 'library' THEN 2 WHEN 'copy' THEN 3 WHEN 'host' THEN 4 WHEN 'stand-in' THEN 5 WHEN 'reference' THEN 6 ELSE 7 END,
  class;
