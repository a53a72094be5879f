-- What the instructions ?1 to ?2 (ids) read: operand and reader.
SELECT operand AS operand, instruction AS instruction
FROM operand
WHERE instruction BETWEEN ?1 AND ?2
ORDER BY instruction, position;
