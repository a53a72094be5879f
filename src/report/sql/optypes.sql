-- Time by type of framework operator; a fusion's time is divided among the operators in it.
-- Empty: the program names no framework operators.
SELECT
  CASE type WHEN '' THEN '(type not known)' ELSE type END AS type,
  sum(ops) AS ops,
  sum(timed) AS timed,
  sum(pass_ns) AS pass_ns,
  100.0 * sum(pass_ns) / nullif(sum(sum(pass_ns)) OVER (), 0) AS share_percent,
  sum(forward_ns) AS forward_ns,
  sum(backward_ns) AS backward_ns,
  sum(flops) AS flops,
  sum(bytes) / nullif(sum(pass_ns), 0) AS gb_per_s,
  sum(flops) / nullif(sum(pass_ns), 0) AS gflop_per_s
FROM (
  SELECT type AS type, 0 AS ops, count(*) AS timed, sum(pass_ns) AS pass_ns, sum(flops) AS flops, sum(bytes) AS bytes,
    sum(CASE phase WHEN 'forward' THEN pass_ns ELSE 0.0 END) AS forward_ns,
    sum(CASE phase WHEN 'backward' THEN pass_ns ELSE 0.0 END) AS backward_ns
  FROM op_time WHERE run = ?1 AND op IS NOT NULL GROUP BY type
  UNION ALL
  SELECT coalesce(o.type, ''), count(*), 0, NULL, NULL, NULL, NULL, NULL FROM run_op r JOIN op o ON o.id = r.op WHERE r.run = ?1 GROUP BY o.type
)
GROUP BY type
ORDER BY pass_ns IS NULL, pass_ns DESC, ops DESC, type;
