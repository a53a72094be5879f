-- The instructions ?1 (a JSON array of ids) in that order, with the computation that they stand in.
SELECT
  i.id AS instruction,
  i.name AS name,
  i.opcode AS opcode,
  i.kind AS kind,
  s.text AS shape,
  s.bytes AS bytes,
  coalesce(o.name, '') AS op_name,
  c.name AS computation_name,
  c.first_instruction AS first_instruction,
  i.operands AS operands,
  i.id = c.root AS root
FROM json_each(?1) w
JOIN instruction i ON i.id = w.value
JOIN computation c ON c.id = i.computation
JOIN shape s ON s.id = i.shape
LEFT JOIN op o ON o.id = i.op
ORDER BY w.key;
