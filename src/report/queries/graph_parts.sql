-- How long the instructions of computation ?2 take as kernels of their own, where run ?1 ran the fusion that calls it as its parts.
SELECT p.name AS name, p.median_ns AS median_ns
FROM fusion_part p
WHERE p.run = ?1 AND p.median_ns IS NOT NULL AND p.step = (
  SELECT min(s.step)
  FROM call l JOIN step s ON s.instruction = l.instruction
  WHERE l.computation = ?2 AND s.run = ?1 AND s.step IN (SELECT f.step FROM fusion f WHERE f.run = ?1 AND f.parts > 0));
