-- The limits of run ?1 that its steps are held against, measured or else published: rows of bytes_per_s for memory, rows of flops_per_s for products of each type of operands.
SELECT 'memory' AS limit_of, memory_bytes_per_s AS bytes_per_s, NULL AS flops_per_s FROM run_ceiling WHERE run = ?1 AND memory_bytes_per_s > 0
UNION ALL
SELECT name, NULL, per_s FROM run_limit l
WHERE run = ?1 AND limits = 'compute' AND (measured_per_s IS NOT NULL
  OR EXISTS (SELECT 1 FROM step s WHERE s.run = ?1 AND substr(s.precision, 1, length(l.name)) = l.name));
