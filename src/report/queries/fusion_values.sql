-- What flows inside the fusions of run ?1: their instructions in order. root: 1 where it is the fusion's result.
SELECT
  s.step AS step,
  p.id - c.first_instruction AS position,
  p.opcode AS opcode,
  h.bytes AS bytes,
  p.users AS users,
  p.id = c.root AS root
FROM step s
JOIN call k ON k.instruction = s.instruction AND k.position = 0
JOIN computation c ON c.id = k.computation
JOIN instruction p ON p.id BETWEEN c.first_instruction AND c.first_instruction + c.instructions - 1
JOIN shape h ON h.id = p.shape
WHERE s.run = ?1 AND s.opcode = 'fusion'
ORDER BY s.step, p.id;
