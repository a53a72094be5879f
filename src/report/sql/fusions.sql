-- What each fusion costs, and what it saves against running its parts alone: by traffic, and measured where they ran (replay --unfused).
-- Empty: the program holds no fusions.
-- Optional: unfused_ns predicted_saved_ns measured_saved_ns measured_saved_low_ns measured_saved_high_ns counted_saved_bytes saved_share_percent pairs verdict why
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
  unfused_ns AS unfused_ns,
  predicted_saved_ns AS predicted_saved_ns,
  measured_saved_ns AS measured_saved_ns,
  measured_saved_low_ns AS measured_saved_low_ns,
  measured_saved_high_ns AS measured_saved_high_ns,
  counted_saved_bytes AS counted_saved_bytes,
  measured_saved_percent AS saved_share_percent,
  pairs AS pairs,
  verdict AS verdict,
  CASE WHEN unfused_bytes IS NOT NULL THEN nullif(why, '') END AS why,
  flags AS flags
FROM fusion_cost
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, name;
