-- The fusions of run ?1 in plan order: what they cost, and what they save: measured where their parts ran too, else by the model.
SELECT
  step, name, kind, parts, launches, calls, median_ns, pass_ns, bytes, parts_bytes, saved_bytes,
  saved_ns AS modelled_saved_ns,
  coalesce(predicted_saved_ns, saved_ns) AS predicted_saved_ns,
  coalesce(tried, 0) AS tried,
  unfused_launches, fused_ns, unfused_ns, pairs,
  measured_saved_ns, measured_saved_low_ns, measured_saved_high_ns, measured_saved_percent,
  extra_flops, scratch_bytes, verdict, p_value, why, flags
FROM fusion_cost
WHERE run = ?1
ORDER BY step;
