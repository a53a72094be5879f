-- Time of the model's parts by the scopes of operator names, each with everything inside it; both directions meet in one line.
-- Empty: the run has no steps.
SELECT
  CASE layer WHEN '' THEN '(no scope)' ELSE layer END AS layer,
  depth AS depth,
  pass_ns AS pass_ns,
  100.0 * pass_ns / nullif((SELECT sum(pass_ns) FROM op_time WHERE run = ?1), 0) AS share_percent,
  self_ns AS self_ns,
  forward_ns AS forward_ns,
  backward_ns AS backward_ns,
  optimizer_ns AS optimizer_ns,
  ops AS ops
FROM layer_time
WHERE run = ?1
ORDER BY pass_ns IS NULL, pass_ns DESC, depth, layer;
