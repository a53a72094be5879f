-- The instructions in the computation that step ?2 of run ?1 calls, in order, with their traffic if they ran alone; at most ?3.
SELECT
  i.id AS instruction,
  i.name AS name,
  i.opcode AS opcode,
  h.text AS shape,
  h.bytes AS bytes,
  w.bytes_read + w.bytes_written AS traffic_bytes,
  coalesce(n.flops, w.flops) AS flops,
  i.id = c.root AS is_root,
  c.instructions AS instructions
FROM step s
JOIN call l ON l.instruction = s.instruction AND l.position = 0
JOIN computation c ON c.id = l.computation
JOIN instruction i ON i.id >= c.first_instruction AND i.id < c.first_instruction + min(c.instructions, ?3)
JOIN shape h ON h.id = i.shape
LEFT JOIN work w ON w.work = i.work AND w.method = 'traffic'
LEFT JOIN work n ON n.work = i.work AND n.method = 'nominal'
WHERE s.run = ?1 AND s.step = ?2
ORDER BY i.id;
