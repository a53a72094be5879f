-- The measured limits of run ?1: a row of bytes_per_s for memory, rows of flops_per_s for products of each type of operands. None: not measured.
SELECT 'memory' AS limit_of, memory_bytes_per_s AS bytes_per_s, NULL AS flops_per_s FROM run_ceiling WHERE run = ?1 AND memory_bytes_per_s > 0
UNION ALL
SELECT 'f32×f32→f32', NULL, compute_flops_per_s FROM run_ceiling WHERE run = ?1 AND compute_flops_per_s > 0
UNION ALL
SELECT p.operands, NULL, p.flops_per_s FROM run r JOIN device_product p ON p.device = r.device WHERE r.id = ?1;
