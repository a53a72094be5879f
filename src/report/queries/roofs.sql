-- The limits of run ?1's device as the run measured them: `limits` is memory (bytes/s) or compute (FLOP/s). Unmeasured ones are left out.
SELECT limits AS limits, name AS name, per_s AS per_s
FROM (
  SELECT d.id AS device, 'memory' AS limits, 'triad' AS name, d.triad_bytes_per_s AS per_s FROM device d
  UNION ALL
  SELECT d.id, 'memory', 'triad, streaming stores', d.triad_streaming_bytes_per_s FROM device d
  UNION ALL
  SELECT d.id, 'compute', 'f32×f32→f32', d.product_flops_per_s FROM device d
  UNION ALL
  SELECT p.device, 'compute', p.operands, p.flops_per_s FROM device_product p
)
WHERE device = (SELECT r.device FROM run r WHERE r.id = ?1) AND per_s > 0
ORDER BY limits DESC, per_s DESC, name;
