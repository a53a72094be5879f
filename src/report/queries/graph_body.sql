-- The last ?2 instructions of computation ?1, the last one first.
SELECT i.id AS instruction
FROM computation c
JOIN instruction i ON i.id BETWEEN c.first_instruction AND c.first_instruction + c.instructions - 1
WHERE c.id = ?1
ORDER BY i.id DESC
LIMIT ?2;
