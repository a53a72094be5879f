-- What the GPU counted of each step: memory traffic beside that on paper, occupancy, tensor cores, L2 hits.
-- Empty: nothing was counted: replay on a GPU with --counters (SELECT value FROM run_option WHERE name = 'counters_how' says why not).
-- Optional: dram_bytes dram_percent dram_gb_per_s occupancy_percent tensor_percent l2_hit_percent sm_active_percent
-- One execution of each step, in passes of their own. dram_percent: memory traffic as a share of that on paper; what it lacks to 100 came out
-- of the L2 cache. Counters beyond these: tables counter and counter_value.
SELECT
  name AS step,
  class AS class,
  median_ns AS median_ns,
  pass_ns AS pass_ns,
  bytes AS bytes,
  dram_bytes AS dram_bytes,
  100.0 * dram_bytes / nullif(bytes, 0) AS dram_percent,
  dram_bytes / nullif(median_ns, 0) AS dram_gb_per_s,
  occupancy_percent AS occupancy_percent,
  tensor_percent AS tensor_percent,
  l2_hit_percent AS l2_hit_percent,
  sm_active_percent AS sm_active_percent
FROM step_counter
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, step;
