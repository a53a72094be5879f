-- The ceilings of run ?1, as measured in it and as published; and what its plan needs.
SELECT name AS name, value AS value, unit AS unit
FROM (
  SELECT CASE c.limits WHEN 'memory' THEN 0 WHEN 'cache' THEN 2 ELSE 1 END AS place,
    CASE WHEN c.name = 'memory' THEN '' WHEN c.limits = 'memory' THEN 'memory, ' WHEN c.limits = 'compute' THEN 'product of ' ELSE '' END || c.name
      || CASE c.provenance WHEN 'published' THEN ' (published)' ELSE '' END AS name,
    c.per_s AS value, CASE c.limits WHEN 'compute' THEN '_flops_per_s' ELSE '_bytes_per_s' END AS unit
  FROM run r JOIN ceiling c ON c.device = r.device WHERE r.id = ?1
  ORDER BY place, c.provenance, c.per_s DESC
)
UNION ALL
SELECT 'most memory at a time', r.peak_bytes, '_bytes' FROM run r WHERE r.id = ?1 AND r.peak_bytes > 0
UNION ALL
SELECT 'of it temporaries', r.arena_bytes, '_bytes' FROM run r WHERE r.id = ?1 AND r.arena_bytes > 0
UNION ALL
SELECT 'time to plan', r.plan_ns, '_ns' FROM run r WHERE r.id = ?1 AND r.kind <> 'recorded'
UNION ALL
SELECT 'time to compile', r.compile_ns, '_ns' FROM run r WHERE r.id = ?1 AND r.kind <> 'recorded';
