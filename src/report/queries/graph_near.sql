-- Instructions at most ?2 operand edges from instruction ?1, in either direction; at most ?3 rows are walked, nearest first.
WITH RECURSIVE near(instruction, hop) AS (
  SELECT ?1, 0
  UNION
  SELECT o.operand, n.hop + 1 FROM near n JOIN operand o ON o.instruction = n.instruction WHERE n.hop < ?2
  UNION
  SELECT u.user, n.hop + 1 FROM near n JOIN instruction_user u ON u.instruction = n.instruction WHERE n.hop < ?2
  LIMIT ?3
)
SELECT
  i.id AS instruction,
  min(n.hop) AS hop,
  i.name AS name,
  i.opcode AS opcode,
  i.kind AS kind,
  s.text AS shape,
  s.bytes AS bytes,
  coalesce(o.name, '') AS op_name,
  c.id AS computation,
  c.name AS computation_name,
  c.first_instruction AS first_instruction,
  i.operands AS operands,
  i.id = c.root AS root
FROM near n
JOIN instruction i ON i.id = n.instruction
JOIN computation c ON c.id = i.computation
JOIN shape s ON s.id = i.shape
LEFT JOIN op o ON o.id = i.op
GROUP BY i.id
ORDER BY hop, i.id;
