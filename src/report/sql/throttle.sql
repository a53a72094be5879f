-- Clocks, power and temperature around each pass, and what slowed the GPU down: passes at lower clocks measure another machine.
-- Empty: the run's device tells nothing of its clocks (the cpu does not; a GPU needs NVML: profile doctor).
-- Optional: slowed_by
-- Of the two readings the lower clocks and the higher power and temperature; of_highest_percent: against the highest clock of the run.
SELECT
  pass AS pass,
  pass_ns AS pass_ns,
  multiprocessor_mhz AS multiprocessor_mhz,
  100.0 * multiprocessor_mhz / max(multiprocessor_mhz) OVER () AS of_highest_percent,
  memory_mhz AS memory_mhz,
  power_w AS power_w,
  temperature_c AS temperature_c,
  nullif(slowed_by, '') AS slowed_by
FROM throttling
WHERE run = ?1
ORDER BY pass;
