-- What to look at first: where time can be won, what the numbers cannot be trusted for, what fills the memory; the most important first.
-- Empty: no step of the run has a time, and it plans no memory.
-- gain_ns: what could be won at most. Of a step far from its roof the time above it, summed over all steps of the same key; of data movement
-- all of it. Rows are ordered by the time that they are about, weighted: a gain counts whole, what is only a hint a part.
-- Of a predicted run (basis) nothing is said of steps that are far from their roof or timed badly: the formula, not a kernel, puts them there.
-- Optional: basis
WITH
s AS MATERIALIZED (
  SELECT r.step AS step, r.name AS name, t.opcode AS opcode, r.class AS class, coalesce(nullif(t.key, ''), r.step) AS key, coalesce(x.flags, '') AS flags,
    coalesce(x.n, 0) AS n, r.median_ns AS median_ns, r.pass_ns AS pass_ns, r.gb_per_s AS gb_per_s, r.gflop_per_s AS gflop_per_s,
    r.bound_by AS bound_by, r.attainable_gflop_per_s AS attainable_gflop_per_s, r.roof_percent AS roof_percent, t.flops * t.trips AS flops,
    r.class IN ('kernel', 'library', 'copy') AS ran,
    CASE WHEN r.roof_percent IS NOT NULL AND r.basis <> 'predicted' THEN max(r.pass_ns * (1 - r.roof_percent / 100), 0.0) END AS gain_ns
  FROM roofline r
  JOIN step t ON t.run = r.run AND t.step = r.step
  LEFT JOIN step_stat x ON x.run = r.run AND x.step = r.step AND x.variant = 0
  WHERE r.run = ?1
),
-- What one could win is told from this share of the pass on: less goes under in how much passes differ from each other.
least AS (SELECT 0.01 AS gain_share),
basis AS MATERIALIZED (SELECT kind = 'predicted' AS predicted FROM run WHERE id = ?1),
pass AS MATERIALIZED (SELECT sum(pass_ns) AS ns, count(*) AS steps, sum(flops) AS flops, sum(pass_ns IS NOT NULL) AS timed FROM s),
-- Steps of one key are one piece of work; those of less than 10 µs are a finding of their own.
alike AS MATERIALIZED (
  SELECT count(*) AS steps, sum(pass_ns) AS pass_ns, sum(gain_ns) AS gain_ns, max(pass_ns) AS longest_ns,
    step, name, class, bound_by, gb_per_s, gflop_per_s, attainable_gflop_per_s, 100 * (1 - sum(gain_ns) / nullif(sum(pass_ns), 0)) AS roof_percent
  FROM s WHERE pass_ns > 0 GROUP BY key HAVING max(median_ns) >= 1e4 OR NOT ran
),
-- Parts of the model that are alike: layer_0/attention, layer_1/attention, … are layer_#/attention.
part AS MATERIALIZED (
  SELECT depth AS depth, replace(replace(replace(pattern, '##', '#'), '##', '#'), '##', '#') AS pattern, pass_ns AS pass_ns, layer AS layer
  FROM (
    SELECT depth, pass_ns, layer, replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(layer,
      '0', '#'), '1', '#'), '2', '#'), '3', '#'), '4', '#'), '5', '#'), '6', '#'), '7', '#'), '8', '#'), '9', '#') AS pattern
    FROM layer_time WHERE run = ?1 AND layer <> ''
  )
),
found AS (
  SELECT 'far from its roof' AS finding, a.name || CASE WHEN a.steps > 1 THEN format(' and %d more like it', a.steps - 1) ELSE '' END AS what,
    a.pass_ns AS time_ns, a.gain_ns AS gain_ns,
    CASE a.bound_by
      WHEN 'compute' THEN format('computes at %.3g of %.3g GFLOP/s: try another blocking, layout or element type', a.gflop_per_s, a.attainable_gflop_per_s)
      ELSE format('moves %.3g of %.3g GB/s: look at the order of its accesses, or fuse it with a neighbour', a.gb_per_s, c.memory_bytes_per_s / 1e9)
    END AS advice,
    a.step AS step, a.gain_ns AS weight_ns
  FROM (SELECT * FROM alike WHERE gain_ns > 0 AND class IN ('kernel', 'library', 'copy') ORDER BY gain_ns DESC, step LIMIT 3) a
  JOIN run_ceiling c ON c.run = ?1
  UNION ALL
  SELECT 'largest step', a.name || CASE WHEN a.steps > 1 THEN format(' and %d more like it', a.steps - 1) ELSE '' END,
    a.pass_ns, NULL,
    CASE WHEN b.predicted THEN format('predicted: %s is what bounds it', coalesce(a.bound_by, 'something unknown'))
         ELSE 'how fast it could be is not known here: its work or the limits of the machine were not told' END, a.step, 0.5 * a.pass_ns
  FROM (SELECT * FROM alike WHERE gain_ns IS NULL ORDER BY pass_ns DESC, step LIMIT 3) a JOIN pass p ON a.pass_ns >= 0.05 * p.ns JOIN basis b
  UNION ALL
  SELECT 'fusion that costs', name, pass_ns, -measured_saved_ns,
    format('its %d parts, run alone, take %.3g %% less: keep the compiler from fusing them', parts, -100 * measured_saved_ns / nullif(fused_ns * calls, 0)),
    step, -measured_saved_ns
  FROM (SELECT * FROM fusion_cost WHERE run = ?1 AND verdict = 'costs' ORDER BY measured_saved_ns, step LIMIT 3)
  UNION ALL
  SELECT 'many tiny steps', format('%d steps of less than 10 µs', count(*)), sum(s.pass_ns), sum(s.gain_ns),
    'starting them costs more than their work: fuse them, or give each more to do', NULL, coalesce(sum(s.gain_ns), 0.5 * sum(s.pass_ns))
  FROM s JOIN pass p WHERE s.median_ns < 1e4 AND s.ran HAVING count(*) >= 10 AND sum(s.pass_ns) >= 0.02 * max(p.ns)
  UNION ALL
  SELECT 'data movement', format('%d steps that copy, transpose or convert', count(*)), sum(pass_ns), sum(pass_ns),
    'give producers the layout and type that consumers want, or fuse; the longest is ' || name, step, 0.5 * sum(pass_ns)
  FROM s
  WHERE pass_ns IS NOT NULL AND opcode IN ('copy', 'transpose', 'convert', 'reshape', 'bitcast-convert', 'Cast', 'Transpose', 'Copy')
  HAVING sum(pass_ns) >= 0.02 * (SELECT ns FROM pass) AND max(pass_ns) IS NOT NULL
  UNION ALL
  SELECT 'dominant part', pattern || CASE WHEN parts > 1 THEN format(' (%d of them)', parts) ELSE '' END, pass_ns, NULL,
    CASE WHEN parts > 1 THEN 'they are alike: what helps one helps all' ELSE 'profile report layers shows what is in it' END, NULL, 0.1 * pass_ns
  FROM (SELECT depth AS depth, pattern AS pattern, count(*) AS parts, sum(pass_ns) AS pass_ns FROM part GROUP BY depth, pattern)
  WHERE pass_ns >= 0.3 * (SELECT ns FROM pass)
    AND depth = (SELECT max(depth) FROM (SELECT depth AS depth FROM part GROUP BY depth, pattern HAVING sum(pass_ns) >= 0.3 * (SELECT ns FROM pass)))
  UNION ALL
  SELECT 'not representative', format('%d steps of class %s', count(*), s.class), sum(s.pass_ns), NULL,
    CASE s.class
      WHEN 'skip' THEN format('they did not run, with %.3g %% of the work; profile report gaps says why', 100 * sum(s.flops) / nullif(max(p.flops), 0))
      WHEN 'reference' THEN 'the reference ran them: right, but its time says nothing; profile report gaps says why'
      ELSE 'a copy ran in place of communication; profile report collectives has the modelled time'
    END,
    CASE WHEN count(*) = 1 THEN max(s.step) END,
    max(coalesce(sum(s.pass_ns), 0), max(p.ns) * coalesce(CASE s.class WHEN 'skip' THEN sum(s.flops) / nullif(max(p.flops), 0) END, 0))
  FROM s JOIN pass p WHERE s.class IN ('skip', 'reference', 'stand-in') GROUP BY s.class
  UNION ALL
  SELECT 'unstable times', format('%d steps %s, the longest is %s', count(*), f.flag, s.name), sum(s.pass_ns), NULL, f.advice, s.step, 0.5 * sum(s.pass_ns)
  FROM (SELECT 'throttled' AS flag, 'the processor slowed down while they ran: cool it, or fix its clock' AS advice
        UNION ALL SELECT 'drifting', 'they became slower or faster while measured: warm up longer (--warmup), see what else runs'
        UNION ALL SELECT 'bimodal', 'they have two speeds: look at alignment, caches and other processes') f
  JOIN s ON ' ' || s.flags || ' ' LIKE '% ' || f.flag || ' %'
  JOIN pass p
  GROUP BY f.flag HAVING sum(s.pass_ns) >= 0.05 * max(p.ns) AND max(s.pass_ns) IS NOT NULL
  UNION ALL
  SELECT 'few samples', format('%d of %d steps were timed less than 3 times', count(*), max(p.timed)), sum(s.pass_ns), NULL,
    CASE WHEN (SELECT kind FROM run WHERE id = ?1) = 'recorded' THEN 'the log tells of no more passes: its times have no known spread'
         ELSE 'their medians are guesses: measure longer (--budget) or more often (--repeats)' END, NULL, 0.05 * sum(s.pass_ns)
  FROM s JOIN pass p WHERE s.n BETWEEN 1 AND 2 AND NOT (SELECT predicted FROM basis) HAVING sum(s.pass_ns) >= 0.2 * max(p.ns)
  UNION ALL
  SELECT 'memory peak', format('%s at %s', CASE WHEN m.live_bytes >= 1e9 THEN format('%.3g GB', m.live_bytes / 1e9) WHEN m.live_bytes >= 1e6
      THEN format('%.3g MB', m.live_bytes / 1e6) ELSE format('%.3g kB', m.live_bytes / 1e3) END, m.name),
    NULL, NULL,
    (SELECT format('%.3g %% of it is %s (%s', 100.0 * b.bytes / m.live_bytes, b.name, b.kind)
       || CASE WHEN b.kind IN ('parameter', 'constant') THEN ')' ELSE format(', live from step %d to %d)', b.first_step, b.last_step) END
     FROM buffer b
     WHERE b.run = ?1 AND b.alias_of IS NULL AND (b.kind IN ('parameter', 'constant') OR m.step BETWEEN max(b.first_step, 0) AND max(b.last_step, 0))
     ORDER BY b.bytes DESC, b.buffer LIMIT 1),
    m.step, 0
  FROM (SELECT step AS step, name AS name, live_bytes AS live_bytes FROM memory WHERE run = ?1 AND EXISTS (SELECT 1 FROM buffer WHERE run = ?1)
        ORDER BY live_bytes DESC, step LIMIT 1) m
  WHERE m.live_bytes > 0
)
SELECT
  finding AS finding,
  what AS what,
  time_ns AS time_ns,
  100.0 * time_ns / nullif((SELECT ns FROM pass), 0) AS share_percent,
  gain_ns AS gain_ns,
  advice AS advice,
  step AS step,
  CASE WHEN (SELECT predicted FROM basis) THEN 'predicted' END AS basis
FROM found
WHERE gain_ns IS NULL OR gain_ns >= (SELECT gain_share FROM least) * (SELECT ns FROM pass)
ORDER BY weight_ns DESC, finding, what;
