-- Time of the phases of a step: forward, backward, optimizer, communication; what launches nothing is counted.
-- Empty: the program names no framework operators.
SELECT
  phase AS phase,
  sum(ops) AS ops,
  sum(device) AS on_device,
  sum(host) AS on_host,
  sum(silent) AS launch_nothing,
  sum(pass_ns) AS pass_ns,
  100.0 * sum(pass_ns) / nullif(sum(sum(pass_ns)) OVER (), 0) AS share_percent,
  sum(flops) AS flops,
  sum(bytes) / nullif(sum(pass_ns), 0) AS gb_per_s,
  sum(flops) / nullif(sum(pass_ns), 0) AS gflop_per_s
FROM (
  SELECT phase AS phase, 0 AS ops, 0 AS device, 0 AS host, 0 AS silent, pass_ns AS pass_ns, flops AS flops, bytes AS bytes
  FROM op_time WHERE run = ?1 AND op IS NOT NULL
  UNION ALL
  SELECT o.phase, 1, o.launches = 'device', o.launches = 'host', o.launches = 'nothing', NULL, NULL, NULL
  FROM run_op r JOIN op o ON o.id = r.op WHERE r.run = ?1
)
GROUP BY phase
ORDER BY pass_ns IS NULL, pass_ns DESC, ops DESC, phase;
