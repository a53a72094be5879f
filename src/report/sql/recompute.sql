-- What recomputation costs: time of the operators that run a forward part again for its gradients, by the part of the model.
-- Empty: the program marks no operator as recomputed.
SELECT
  CASE s.name WHEN '' THEN '(no scope)' ELSE s.name END AS layer,
  count(*) AS ops,
  sum(t.pass_ns) AS pass_ns,
  100.0 * sum(t.pass_ns) / nullif((SELECT sum(pass_ns) FROM op_time WHERE run = ?1), 0) AS share_percent,
  100.0 * sum(t.pass_ns) / nullif((SELECT sum(pass_ns) FROM op_time WHERE run = ?1 AND phase = 'forward'), 0) AS of_forward_percent,
  sum(t.flops) AS flops
FROM op_time t
JOIN op o ON o.id = t.op
JOIN scope s ON s.id = o.scope
WHERE t.run = ?1 AND o.attributes ->> '$.recompute' = 1
GROUP BY s.id
ORDER BY pass_ns IS NULL, sum(t.pass_ns) DESC, layer;
