-- The parts of fusion ?2 of run ?1 as they ran, in order. None: they did not run.
SELECT part, name, opcode, class, flops, bytes, median_ns
FROM fusion_part
WHERE run = ?1 AND step = ?2
ORDER BY part;
