-- What each fusion costs, and what it saves against running its parts alone (traffic; time at the rate of the triad).
-- Empty: the program holds no fusions.
SELECT
  name AS fusion,
  kind AS kind,
  parts AS parts,
  launches AS launches,
  calls AS calls,
  median_ns AS median_ns,
  pass_ns AS pass_ns,
  bytes AS bytes,
  saved_bytes AS saved_bytes,
  100.0 * saved_bytes / nullif(parts_bytes, 0) AS saved_traffic_percent,
  saved_ns AS saved_time_ns,
  flags AS flags
FROM fusion_cost
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, name;
