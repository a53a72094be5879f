-- Instructions at most ?2 operand edges from instruction ?1, in either direction, nearest first; at most ?3 rows are walked.
WITH RECURSIVE near(instruction, hop) AS (
  SELECT ?1, 0
  UNION
  SELECT o.operand, n.hop + 1 FROM near n JOIN operand o ON o.instruction = n.instruction WHERE n.hop < ?2
  UNION
  SELECT u.user, n.hop + 1 FROM near n JOIN instruction_user u ON u.instruction = n.instruction WHERE n.hop < ?2
  LIMIT ?3
)
SELECT n.instruction AS instruction
FROM near n JOIN instruction i ON i.id = n.instruction
GROUP BY n.instruction
ORDER BY min(n.hop), n.instruction;
