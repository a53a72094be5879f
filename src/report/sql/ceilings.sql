-- The limits that steps are held against: of memory, caches and products, measured in the run beside what is published, and where.
-- Empty: the run measured no limits, and none are published for its device.
-- Optional: published_bytes_per_s work_published_flops_per_s of_published_percent published_in measured_how measured_bytes_per_s work_measured_flops_per_s
-- Memory is measured in several ways and published as one number: all are held against that.
SELECT
  l.limits AS limits,
  l.name AS name,
  CASE WHEN l.limits <> 'compute' THEN l.measured_per_s END AS measured_bytes_per_s,
  CASE WHEN l.limits <> 'compute' THEN l.published_per_s END AS published_bytes_per_s,
  CASE WHEN l.limits = 'compute' THEN l.measured_per_s END AS work_measured_flops_per_s,
  CASE WHEN l.limits = 'compute' THEN l.published_per_s END AS work_published_flops_per_s,
  100.0 * l.measured_per_s / CASE WHEN l.limits = 'memory' THEN c.published_memory_bytes_per_s ELSE l.published_per_s END AS of_published_percent,
  l.measured_how AS measured_how,
  l.published_in AS published_in
FROM run_limit l
JOIN run_ceiling c ON c.run = l.run
WHERE l.run = ?1
ORDER BY CASE l.limits WHEN 'memory' THEN 0 WHEN 'cache' THEN 1 ELSE 2 END, l.per_s DESC, l.name;
