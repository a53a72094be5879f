-- The last ?2 instructions of computation ?1, as graph_near has them.
SELECT
  i.id AS instruction,
  0 AS hop,
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
FROM computation c
JOIN instruction i ON i.id BETWEEN c.first_instruction AND c.first_instruction + c.instructions - 1
JOIN shape s ON s.id = i.shape
LEFT JOIN op o ON o.id = i.op
WHERE c.id = ?1
ORDER BY i.id DESC
LIMIT ?2;
