-- What the instruction of step ?2 of run ?1 makes, reads, and is read by; with the step that each is, if it is one.
SELECT n.role AS role, p.name AS name, p.opcode AS opcode, p.shape AS shape, p.result_bytes AS bytes, t.step AS step
FROM (
  SELECT 0 AS rank, 'makes' AS role, 0 AS position, s.instruction AS instruction FROM step s WHERE s.run = ?1 AND s.step = ?2
  UNION ALL
  SELECT 1, 'reads', o.position, o.operand FROM step s JOIN operand o ON o.instruction = s.instruction WHERE s.run = ?1 AND s.step = ?2
  UNION ALL
  SELECT 2, 'read by', 0, u.user FROM step s JOIN instruction_user u ON u.instruction = s.instruction WHERE s.run = ?1 AND s.step = ?2) n
JOIN program p ON p.instruction = n.instruction
LEFT JOIN step t ON t.run = ?1 AND t.instruction = n.instruction
ORDER BY n.rank, n.position, n.instruction;
