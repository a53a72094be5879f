-- The ceilings of run ?1, as measured in it; and what its plan needs.
SELECT 'memory, plain stores' AS name, d.triad_bytes_per_s AS value, '_bytes_per_s' AS unit FROM run r JOIN device d ON d.id = r.device WHERE r.id = ?1
UNION ALL
SELECT 'memory, streaming', d.triad_streaming_bytes_per_s, '_bytes_per_s' FROM run r JOIN device d ON d.id = r.device WHERE r.id = ?1
UNION ALL
SELECT 'product of f32', d.product_flops_per_s, '_flops_per_s' FROM run r JOIN device d ON d.id = r.device WHERE r.id = ?1
UNION ALL
SELECT 'product of ' || p.operands, p.flops_per_s, '_flops_per_s' FROM run r JOIN device_product p ON p.device = r.device WHERE r.id = ?1
UNION ALL
SELECT 'most memory at a time', r.peak_bytes, '_bytes' FROM run r WHERE r.id = ?1 AND r.peak_bytes > 0
UNION ALL
SELECT 'of it temporaries', r.arena_bytes, '_bytes' FROM run r WHERE r.id = ?1 AND r.arena_bytes > 0
UNION ALL
SELECT 'time to plan', r.plan_ns, '_ns' FROM run r WHERE r.id = ?1 AND r.kind = 'replay'
UNION ALL
SELECT 'time to compile', r.compile_ns, '_ns' FROM run r WHERE r.id = ?1 AND r.kind = 'replay';
