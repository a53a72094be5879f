-- The computations that the instructions ?1 (a JSON array of ids) call.
SELECT k.instruction AS instruction, k.computation AS computation, c.name AS name, c.instructions AS instructions
FROM json_each(?1) w
JOIN call k ON k.instruction = w.value
JOIN computation c ON c.id = k.computation
ORDER BY k.instruction, k.position;
