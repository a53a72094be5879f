-- Views over the tables of schema.sql: the stable interface for SQL of your own. They use only what the sqlite3 shell and Python have.

-- ---------------------------------------------------------------- views

-- Stages of one program, told by the names of its dumps: x.before_optimizations.txt and x.sm_8.0_gpu_after_optimizations.txt are x.
CREATE VIEW IF NOT EXISTS module_stage AS
SELECT
  id AS module,                      -- module
  name AS name,                      -- name in its header
  CASE WHEN cut > 0 THEN substr(path, 1, cut - 1) ELSE path END AS program,  -- path without stage: equal for all stages of a program
  CASE WHEN cut = 0 THEN '' WHEN is_before THEN 'before' ELSE 'after' END AS stage  -- before or after optimisation; empty: not told
FROM (
  SELECT m.id, m.name, s.path,
    instr(s.path, '.before_optimizations') > 0 OR instr(s.path, '.before.') > 0 AS is_before,
    coalesce(
      nullif(instr(s.path, '.before_optimizations'), 0),
      CASE WHEN instr(s.path, '_after_optimizations') > 0 THEN nullif(instr(s.path, '.sm_'), 0) END,
      nullif(instr(s.path, '.gpu_after_optimizations'), 0), nullif(instr(s.path, '.cpu_after_optimizations'), 0),
      nullif(instr(s.path, '.tpu_after_optimizations'), 0), nullif(instr(s.path, '.after_optimizations'), 0),
      nullif(instr(s.path, '.before.'), 0), nullif(instr(s.path, '.after.'), 0), 0) AS cut
  FROM module m JOIN source s ON s.id = m.source
);

-- Instructions with everything resolved.
CREATE VIEW IF NOT EXISTS program AS
SELECT
  i.id AS instruction,               -- id
  m.id AS module,                    -- module
  c.name AS computation,             -- computation it stands in
  i.id - c.first_instruction AS position,  -- place there, from 0
  i.name AS name,                    -- name
  i.opcode AS opcode,                -- HLO opcode
  i.kind AS kind,                    -- fusion kind or custom-call target
  s.dtype AS dtype,                  -- element type of the result
  s.text AS shape,                   -- result without layout
  s.layout AS layout,                -- layout
  s.bytes AS result_bytes,           -- size of the result
  o.type AS op_type,                 -- type of the framework operator
  o.name AS op_name,                 -- its name
  o.phase AS phase,                  -- forward, backward, optimizer, communication, auxiliary, host
  f.text AS source_file,             -- source file
  p.line AS source_line,             -- line in it
  i.attributes AS attributes         -- other attributes, JSON
FROM instruction i
JOIN computation c ON c.id = i.computation
JOIN module m ON m.id = c.module
JOIN shape s ON s.id = i.shape
LEFT JOIN place p ON p.id = i.place
LEFT JOIN string f ON f.id = p.file
LEFT JOIN op o ON o.id = i.op;

-- What an instruction reads.
CREATE VIEW IF NOT EXISTS operand AS
SELECT
  i.id AS instruction,               -- the reader
  o.key AS position,                 -- which operand, from 0
  c.first_instruction + o.value AS operand  -- what is read
FROM instruction i JOIN computation c ON c.id = i.computation JOIN json_each(i.operands) o;

-- What reads an instruction.
CREATE VIEW IF NOT EXISTS instruction_user AS
SELECT
  i.id AS instruction,               -- what is read
  c.first_instruction + u.value AS user  -- the reader; once, however many of its operands it is
FROM instruction i JOIN computation c ON c.id = i.computation JOIN json_each(i.users) u;

-- What one execution of an instruction costs on paper.
CREATE VIEW IF NOT EXISTS cost AS
SELECT
  i.id AS instruction,               -- the instruction
  w.method AS method,                -- xla, nominal, traffic: see the table work
  w.flops AS flops, w.transcendentals AS transcendentals, w.bytes_read AS bytes_read, w.bytes_written AS bytes_written, w.known AS known  -- as in work
FROM instruction i JOIN work w ON w.work = i.work;

-- Which operators an instruction does the work of: its own metadata, or for a fusion that of the parts.
CREATE VIEW IF NOT EXISTS op_instruction AS
SELECT
  instruction AS instruction, op AS op, share AS share  -- the instruction, an operator in it, and the operator's part of it; parts sum to 1
FROM op_share
UNION ALL
SELECT id, op, 1.0 FROM instruction i
WHERE op IS NOT NULL AND (opcode <> 'fusion' OR NOT EXISTS (SELECT 1 FROM op_share x WHERE x.instruction = i.id));

-- Time of each step of each run. Times of one execution, pass_ns that of all executions in a pass.
CREATE VIEW IF NOT EXISTS step_time AS
SELECT
  s.run AS run,                      -- run
  s.step AS step,                    -- number in plan order
  s.name AS name,                    -- instruction
  s.computation AS computation,      -- where it stands
  s.opcode AS opcode,                -- HLO opcode
  s.kind AS kind,                    -- fusion kind or custom-call target
  s.class AS class,                  -- kernel, library, copy, stand-in, reference, host, skip
  s.key AS key,                      -- identity across runs
  s.instruction AS instruction,      -- instruction
  coalesce(s.op, i.op) AS op,        -- framework operator; of a fusion see also op_share
  s.precision AS precision,          -- element types that ran
  t.n AS n,                          -- samples
  coalesce(t.calls, s.trips) AS calls,  -- executions in a pass
  t.min_ns AS min_ns,                -- fastest
  t.q1_ns AS q1_ns,                  -- lower quartile
  t.median_ns AS median_ns,          -- median
  t.q3_ns AS q3_ns,                  -- upper quartile
  t.mad_ns AS mad_ns,                -- median absolute deviation
  CASE WHEN t.n > 1 THEN 100.0 * t.mad_ns / nullif(t.median_ns, 0) END AS spread_percent,  -- it as a share of the median; of one sample: unknown
  t.ci_low_ns AS ci_low_ns,          -- 95 % interval of the median
  t.ci_high_ns AS ci_high_ns,        -- its upper end
  t.median_ns * t.calls AS pass_ns,  -- median time in a pass
  s.flops AS flops,                  -- nominal, of one execution
  s.bytes AS bytes,                  -- traffic of one execution
  s.saved_bytes AS saved_bytes,      -- traffic that fusing saves
  s.worst_error AS worst_error,      -- of --verify; at most 1 passes
  CASE WHEN r.kind = 'predicted' THEN 'predicted' ELSE coalesce(t.flags, '') END AS flags  -- doubts about the timing; predicted: nothing was timed
FROM step s
JOIN run r ON r.id = s.run
LEFT JOIN step_stat t ON t.run = s.run AND t.step = s.step AND t.variant = 0
LEFT JOIN instruction i ON i.id = s.instruction;

-- Sum of all steps of a run.
CREATE VIEW IF NOT EXISTS run_time AS
SELECT
  run AS run,                        -- run
  count(*) AS steps,                 -- steps
  sum(median_ns IS NOT NULL) AS timed_steps,  -- steps with a time
  sum(pass_ns) AS pass_ns,           -- sum of the steps' median times in a pass
  sum(flops * calls) AS flops,       -- nominal work of a pass
  sum(bytes * calls) AS bytes        -- traffic of a pass
FROM step_time
GROUP BY run;

-- The limits of a run's device, measured in the run beside published.
CREATE VIEW IF NOT EXISTS run_limit AS
SELECT
  r.id AS run,                       -- run
  c.limits AS limits,                -- memory, cache (bytes per second) or compute (floating-point operations per second)
  c.name AS name,                    -- as in the table ceiling
  max(CASE c.provenance WHEN 'measured' THEN c.per_s END) AS measured_per_s,    -- NULL: it was not measured
  max(CASE c.provenance WHEN 'published' THEN c.per_s END) AS published_per_s,  -- NULL: none is known
  coalesce(max(CASE c.provenance WHEN 'measured' THEN c.per_s END), max(c.per_s)) AS per_s,  -- what counts: the measured one where there is one
  max(CASE c.provenance WHEN 'measured' THEN c.source END) AS measured_how,     -- how it was measured
  max(CASE c.provenance WHEN 'published' THEN c.source END) AS published_in     -- where it is published
FROM run r
JOIN ceiling c ON c.device = r.device
GROUP BY r.id, c.limits, c.name;

-- The two limits that all steps of a run share: memory, and a large product of f32. Measured in the run, or where that was not done as published.
CREATE VIEW IF NOT EXISTS run_ceiling AS
SELECT
  r.id AS run,                       -- run
  coalesce(max(CASE l.limits WHEN 'memory' THEN l.measured_per_s END), max(CASE l.limits WHEN 'memory' THEN l.per_s END))
    AS memory_bytes_per_s,           -- the fastest way that was measured
  max(CASE WHEN l.limits = 'compute' AND l.name = 'f32×f32→f32' THEN l.per_s END) AS compute_flops_per_s,  -- a large f32 product
  max(CASE l.limits WHEN 'memory' THEN l.published_per_s END) AS published_memory_bytes_per_s,             -- as published; NULL: not known
  max(CASE WHEN l.limits = 'compute' AND l.name = 'f32×f32→f32' THEN l.published_per_s END) AS published_compute_flops_per_s  -- as published; NULL: not known
FROM run r
LEFT JOIN run_limit l ON l.run = r.id
GROUP BY r.id;

-- How near each step is to the machine's limits: memory, and a large product of its types (of f32, where its own are not known), measured
-- in the run, else published. Over 100 % means: its data fits into a cache.
CREATE VIEW IF NOT EXISTS roofline AS
SELECT
  t.run AS run,                      -- run
  t.step AS step,                    -- number in plan order
  t.name AS name,                    -- instruction
  t.class AS class,                  -- what its time is
  t.flops / nullif(t.bytes, 0) AS intensity_flop_per_byte,  -- work per byte moved
  CASE WHEN t.compute_flops_per_s IS NULL OR t.memory_bytes_per_s IS NULL THEN NULL
       WHEN t.flops / t.compute_flops_per_s > t.bytes / t.memory_bytes_per_s THEN 'compute' ELSE 'memory' END AS bound_by,  -- the nearer limit
  max(coalesce(t.flops / t.compute_flops_per_s, 0), coalesce(t.bytes / t.memory_bytes_per_s, 0)) * 1e9 AS attainable_ns,  -- time at the limits
  t.median_ns AS median_ns,          -- time measured, or of a predicted run predicted
  t.pass_ns AS pass_ns,              -- time in a pass
  t.bytes / nullif(t.median_ns, 0) AS gb_per_s,       -- rate of its traffic
  t.flops / nullif(t.median_ns, 0) AS gflop_per_s,    -- rate of its nominal work
  min(t.compute_flops_per_s, t.flops / nullif(t.bytes, 0) * t.memory_bytes_per_s) / 1e9 AS attainable_gflop_per_s,  -- what the roof allows at this intensity
  100.0 * nullif(max(coalesce(t.flops / t.compute_flops_per_s, 0), coalesce(t.bytes / t.memory_bytes_per_s, 0)), 0) * 1e9
    / nullif(t.median_ns, 0) AS roof_percent,         -- attainable_ns as a share of the time
  100.0 * nullif(max(t.flops / t.published_flops_per_s, t.bytes / t.published_bytes_per_s), 0) * 1e9
    / nullif(t.median_ns, 0) AS published_percent,    -- the same against the published limits; NULL: they are not known
  t.basis AS basis                                    -- where the time is from: measured, recorded, predicted
FROM (
  SELECT s.*, coalesce(p.per_s, c.compute_flops_per_s) AS compute_flops_per_s, c.memory_bytes_per_s AS memory_bytes_per_s,
    coalesce(p.published_per_s, c.published_compute_flops_per_s) AS published_flops_per_s,
    c.published_memory_bytes_per_s AS published_bytes_per_s,
    CASE r.kind WHEN 'replay' THEN 'measured' ELSE r.kind END AS basis
  FROM step_time s
  JOIN run r ON r.id = s.run
  JOIN run_ceiling c ON c.run = s.run
  LEFT JOIN run_limit p ON p.run = s.run AND p.limits = 'compute' AND substr(s.precision, 1, length(p.name)) = p.name
) t;

-- Where the time of a run goes, longest first.
CREATE VIEW IF NOT EXISTS top AS
SELECT
  t.run AS run,                      -- run
  t.step AS step,                    -- number in plan order
  t.name AS name,                    -- instruction
  o.short_name AS op,                -- framework operator, the last two parts of its name
  CASE WHEN t.kind = '' THEN t.opcode ELSE t.opcode || ':' || t.kind END AS kind,  -- opcode, with fusion kind or custom-call target
  t.calls AS calls,                  -- executions in a pass
  t.median_ns AS median_ns,          -- median time of one execution
  t.spread_percent AS spread_percent,  -- median absolute deviation as a share of it
  t.pass_ns AS pass_ns,              -- time in a pass
  100.0 * t.pass_ns / nullif(a.pass_ns, 0) AS share_percent,  -- share of the pass
  f.gb_per_s AS gb_per_s,            -- rate of its traffic
  f.gflop_per_s AS gflop_per_s,      -- rate of its nominal work
  f.roof_percent AS roof_percent,    -- share of what the machine allows
  t.class AS class,                  -- what its time is
  trim(t.flags || CASE WHEN f.roof_percent > 110 THEN ' over-roof' ELSE '' END) AS flags  -- doubts about the timing; over-roof: see roofline
FROM step_time t
JOIN roofline f ON f.run = t.run AND f.step = t.step
JOIN run_time a ON a.run = t.run
LEFT JOIN op o ON o.id = t.op
ORDER BY t.run, t.pass_ns IS NULL, t.pass_ns DESC, t.step;

-- The operators of the program that a run ran, those without a step included.
CREATE VIEW IF NOT EXISTS run_op AS
SELECT r.id AS run, o.id AS op FROM run r JOIN op o ON o.module = r.module  -- run, operator
UNION ALL
SELECT r.id, o.id FROM run r JOIN op o ON o.source = r.source WHERE o.module IS NULL;

-- Time of framework operators. A fusion's time is divided among its operators by op_share; steps without one stand under op NULL.
CREATE VIEW IF NOT EXISTS op_time AS
SELECT
  t.run AS run,                      -- run
  o.id AS op,                        -- operator
  coalesce(o.type, '') AS type,      -- its type
  coalesce(o.name, '(no metadata)') AS name,              -- its name
  coalesce(o.short_name, '(no metadata)') AS short_name,  -- the last two parts of it
  coalesce(o.phase, '') AS phase,    -- forward, backward, optimizer, communication, auxiliary, host
  o.scope AS scope,                  -- its scope
  count(*) AS steps,                 -- steps that do some of its work
  sum(t.pass_ns * coalesce(x.share, 1)) AS pass_ns,        -- time in a pass
  100.0 * sum(t.pass_ns * coalesce(x.share, 1)) / nullif(sum(sum(t.pass_ns * coalesce(x.share, 1))) OVER (PARTITION BY t.run), 0)
    AS share_percent,                -- share of the pass
  sum(t.flops * t.calls * coalesce(x.share, 1)) AS flops,  -- nominal work in a pass, divided like the time
  sum(t.bytes * t.calls * coalesce(x.share, 1)) AS bytes   -- traffic in a pass, divided like the time
FROM step_time t
LEFT JOIN op_share x ON x.instruction = t.instruction
LEFT JOIN op o ON o.id = coalesce(x.op, t.op)
GROUP BY t.run, o.id;

-- Steps divided among the source lines and symbols that they come from, by place_share or op_share.
CREATE VIEW IF NOT EXISTS step_source AS
SELECT
  t.run AS run,                      -- run
  t.step AS step,                    -- number in plan order
  p.op AS op,                        -- operator
  p.place AS place,                  -- source line that the program tells; NULL: none
  coalesce(l.symbol, g.symbol) AS symbol,              -- function or type; NULL: none was found
  CASE WHEN l.symbol IS NOT NULL THEN 'line' ELSE g.rule END AS rule,  -- how it was found: line, or as in op_symbol
  coalesce(l.confidence, g.confidence) AS confidence,  -- 0 to 1
  t.pass_ns * p.share AS pass_ns     -- time in a pass
FROM step_time t
JOIN (
  SELECT s.run AS run, s.step AS step, coalesce(nullif(f.op, 0), x.op, i.op, s.op) AS op, coalesce(f.place, i.place) AS place,
    coalesce(f.share, x.share, 1.0) AS share
  FROM step s
  LEFT JOIN instruction i ON i.id = s.instruction
  LEFT JOIN place_share f ON f.instruction = s.instruction
  LEFT JOIN op_share x ON x.instruction = s.instruction AND f.instruction IS NULL
) p ON p.run = t.run AND p.step = t.step
LEFT JOIN place_symbol l ON l.place = p.place
LEFT JOIN op_symbol g ON g.op = p.op AND g.rank = 0 AND l.symbol IS NULL;

-- Time by source line. Of links by name alone (rule other than line) the line is that of the symbol.
CREATE VIEW IF NOT EXISTS source_time AS
SELECT
  t.run AS run,                      -- run
  coalesce(CASE WHEN t.rule = 'line' OR t.symbol IS NULL THEN f.text END, y.file) AS file,  -- source file; NULL: not known
  y.name AS function,                -- function or type; NULL: no index has it
  c.name AS type,                    -- type around the function
  coalesce(CASE WHEN t.rule = 'line' OR t.symbol IS NULL THEN p.line END, y.line) AS line,  -- line
  t.rule AS rule,                    -- how the function was found, as in step_source
  min(t.confidence) AS confidence,   -- 0 to 1
  count(DISTINCT t.op) AS ops,       -- operators that come from there
  count(DISTINCT t.step) AS steps,   -- steps that do some of their work
  sum(t.pass_ns) AS pass_ns,         -- time in a pass
  100.0 * sum(t.pass_ns) / nullif(sum(sum(t.pass_ns)) OVER (PARTITION BY t.run), 0) AS share_percent  -- share of the pass
FROM step_source t
LEFT JOIN place p ON p.id = t.place
LEFT JOIN string f ON f.id = p.file
LEFT JOIN symbol y ON y.id = t.symbol
LEFT JOIN symbol c ON c.id = y.within AND c.sort = 'type'
GROUP BY 1, 2, t.symbol, 5, t.rule;

-- Time by symbol: what each function or type of the source costs, with how surely it is known.
CREATE VIEW IF NOT EXISTS symbol_time AS
SELECT
  t.run AS run,                      -- run
  y.id AS symbol,                    -- symbol
  y.name AS name,                    -- its name
  y.kind AS kind,                    -- its kind, in the index's words
  y.file AS file,                    -- source file
  y.line AS line,                    -- its line
  min(t.confidence) AS confidence,   -- of the weakest link, 0 to 1
  count(DISTINCT t.op) AS ops,       -- operators that come from it
  count(DISTINCT t.step) AS steps,   -- steps that do some of their work
  sum(CASE WHEN t.rule = 'line' THEN t.pass_ns ELSE 0.0 END) AS told_ns,  -- time in a pass that the program's source lines give to it
  sum(t.pass_ns) AS pass_ns,         -- time in a pass, guesses included
  100.0 * sum(t.pass_ns) / nullif((SELECT a.pass_ns FROM run_time a WHERE a.run = t.run), 0) AS share_percent  -- share of the pass
FROM step_source t JOIN symbol y ON y.id = t.symbol
GROUP BY t.run, y.id;

-- Time of the model's parts: each scope with everything inside it.
CREATE VIEW IF NOT EXISTS layer_time AS
WITH RECURSIVE above(scope, ancestor) AS (
  SELECT id, id FROM scope
  UNION ALL
  SELECT above.scope, scope.parent FROM above JOIN scope ON scope.id = above.ancestor WHERE scope.parent IS NOT NULL
)
SELECT
  t.run AS run,                      -- run
  s.id AS scope,                     -- scope
  s.parent AS parent,                -- scope around it
  s.depth AS depth,                  -- 0: outermost
  s.name AS layer,                   -- whole path
  count(*) AS ops,                   -- operators in it that took time
  sum(t.pass_ns) AS pass_ns,         -- time in a pass, everything inside included
  sum(CASE WHEN t.scope = s.id THEN t.pass_ns ELSE 0.0 END) AS self_ns,             -- of operators directly in it
  sum(CASE t.phase WHEN 'forward' THEN t.pass_ns ELSE 0.0 END) AS forward_ns,       -- of forward operators
  sum(CASE t.phase WHEN 'backward' THEN t.pass_ns ELSE 0.0 END) AS backward_ns,     -- of gradients
  sum(CASE t.phase WHEN 'optimizer' THEN t.pass_ns ELSE 0.0 END) AS optimizer_ns    -- of the optimizer
FROM op_time t JOIN above a ON a.scope = t.scope JOIN scope s ON s.id = a.ancestor
GROUP BY t.run, s.id;

-- What a GPU counted of each step (replay --counters), beside what it takes on paper and in time. NULL: not counted.
CREATE VIEW IF NOT EXISTS step_counter AS
SELECT
  t.run AS run,                      -- run
  t.step AS step,                    -- number in plan order
  t.name AS name,                    -- instruction
  t.class AS class,                  -- what its time is
  t.calls AS calls,                  -- executions in a pass
  t.median_ns AS median_ns,          -- time of one execution, of other passes than those that were counted
  t.pass_ns AS pass_ns,              -- time in a pass
  t.bytes AS bytes,                  -- traffic of one execution on paper
  c.dram_read_bytes AS dram_read_bytes,    -- read from the card's memory by one execution
  c.dram_write_bytes AS dram_write_bytes,  -- written to it
  c.dram_read_bytes + c.dram_write_bytes AS dram_bytes,  -- both
  c.occupancy_percent AS occupancy_percent,  -- warps that are resident, of those that fit
  c.tensor_percent AS tensor_percent,      -- time in which tensor cores work
  c.l2_hit_percent AS l2_hit_percent,      -- sectors that the L2 cache has, of those that are asked of it
  c.sm_active_percent AS sm_active_percent  -- time in which multiprocessors have work
FROM (
  SELECT v.run AS run, v.step AS step,
    max(CASE n.name WHEN 'dram_read' THEN v.value END) AS dram_read_bytes,
    max(CASE n.name WHEN 'dram_write' THEN v.value END) AS dram_write_bytes,
    max(CASE n.name WHEN 'occupancy' THEN v.value END) AS occupancy_percent,
    max(CASE n.name WHEN 'tensor' THEN v.value END) AS tensor_percent,
    max(CASE n.name WHEN 'l2_hit' THEN v.value END) AS l2_hit_percent,
    max(CASE n.name WHEN 'sm_active' THEN v.value END) AS sm_active_percent
  FROM counter_value v JOIN counter n ON n.run = v.run AND n.counter = v.counter
  WHERE v.part = -1
  GROUP BY v.run, v.step) c
JOIN step_time t ON t.run = c.run AND t.step = c.step;

-- What each fusion costs and buys. saved_ns is an estimate: the saved traffic at the triad's rate. What follows is measured where the parts
-- ran too (replay --unfused, --defuse NAME; profile fuse), else NULL.
CREATE VIEW IF NOT EXISTS fusion_cost AS
SELECT
  t.run AS run,                      -- run
  t.step AS step,                    -- number in plan order
  t.name AS name,                    -- fusion
  t.kind AS kind,                    -- kLoop, kInput, ...
  (SELECT count(*) FROM call c JOIN instruction p ON p.computation = c.computation
   WHERE c.instruction = t.instruction AND p.opcode NOT IN ('parameter', 'constant', 'tuple', 'get-tuple-element', 'bitcast')) AS parts,  -- instructions in it that do work
  (SELECT count(*) FROM step_kernel k WHERE k.run = t.run AND k.step = t.step) AS launches,  -- kernels that it launches
  t.calls AS calls,                  -- executions in a pass
  t.median_ns AS median_ns,          -- time of one execution
  t.pass_ns AS pass_ns,              -- time in a pass
  t.bytes AS bytes,                  -- its traffic
  t.bytes + t.saved_bytes AS parts_bytes,  -- traffic of its parts run alone, every broadcast stored
  t.saved_bytes AS saved_bytes,      -- what fusing saves
  t.saved_bytes / c.memory_bytes_per_s * 1e9 * t.calls AS saved_ns,  -- estimated time saved in a pass
  t.flags AS flags,                  -- doubts about the timing
  f.tried AS tried,                  -- 1: profile fuse made it; 0: the program has it
  nullif(f.parts, 0) AS unfused_launches,  -- launches that its parts took
  m.fused_ns AS fused_ns,            -- measured: one execution, in turns with its parts
  m.unfused_ns AS unfused_ns,        -- measured: one execution of all parts
  m.n AS pairs,                      -- comparisons that the numbers rest on
  m.fused_ns * (m.ratio - 1) * t.calls AS measured_saved_ns,            -- time that fusing saves in a pass; below 0: it costs
  m.fused_ns * (m.ratio_low - 1) * t.calls AS measured_saved_low_ns,    -- 95 % interval of it
  m.fused_ns * (m.ratio_high - 1) * t.calls AS measured_saved_high_ns,  -- its upper end
  100.0 * (1 - 1 / m.ratio) AS measured_saved_percent,                  -- as a share of the time of the parts
  f.bytes AS unfused_bytes,          -- traffic of the parts as they ran, operands broadcast where they are used
  (f.bytes - t.bytes) / c.memory_bytes_per_s * 1e9 * t.calls AS predicted_saved_ns,  -- time in a pass that this traffic predicts
  d.fused_bytes AS counted_bytes,    -- bytes that one execution moves to and from a GPU's memory, counted (replay --counters); NULL: not counted
  d.parts_bytes AS counted_unfused_bytes,  -- the same of its parts, one after another
  d.parts_bytes - d.fused_bytes AS counted_saved_bytes,  -- what fusing saves of it
  f.extra_flops AS extra_flops,      -- work of one execution that the fusion does again where the parts do it once (on paper)
  f.scratch_bytes AS scratch_bytes,  -- memory that the parts need between them
  m.verdict AS verdict,              -- pays, neutral (within noise, or below 1 %), costs; NULL: not measured
  m.p_value AS p_value,              -- of a difference this clear by chance, corrected for the number of fusions
  CASE WHEN m.verdict IS NULL THEN coalesce(nullif(f.why, ''), CASE WHEN f.run IS NULL THEN 'not asked for: replay with --unfused' ELSE 'the run ended before its parts had run' END)
       ELSE '' END AS why            -- why it was not measured; empty: it was
FROM step_time t
JOIN run_ceiling c ON c.run = t.run
LEFT JOIN fusion f ON f.run = t.run AND f.step = t.step
LEFT JOIN fusion_stat m ON m.run = t.run AND m.step = t.step
LEFT JOIN (
  SELECT v.run AS run, v.step AS step, sum(CASE WHEN v.part < 0 THEN v.value END) AS fused_bytes,
    sum(CASE WHEN v.part >= 0 THEN v.value END) AS parts_bytes
  FROM counter_value v JOIN counter n ON n.run = v.run AND n.counter = v.counter AND n.name IN ('dram_read', 'dram_write')
  GROUP BY v.run, v.step
  HAVING count(DISTINCT n.name) = 2) d ON d.run = t.run AND d.step = t.step
WHERE t.opcode = 'fusion';

-- What the fusions of a run do together, where their parts ran too. Runs without --unfused, --defuse or tried pairs are not here.
CREATE VIEW IF NOT EXISTS fusion_total AS
SELECT
  run AS run,                        -- run
  sum(unfused_bytes IS NOT NULL) AS asked,              -- fusions that were to run as their parts too
  sum(verdict IS NOT NULL) AS measured,                 -- those that did
  sum(unfused_bytes IS NOT NULL AND unfused_launches IS NULL) AS refused,  -- those that can't be taken apart: see fusion_cost.why
  sum(coalesce(verdict, '') = 'pays') AS pays,          -- verdicts
  sum(coalesce(verdict, '') = 'neutral') AS neutral,    -- within noise, or below 1 %
  sum(coalesce(verdict, '') = 'costs') AS costs,        -- slower than their parts
  sum(measured_saved_ns) AS measured_saved_ns,          -- time that they save in a pass
  sum(CASE WHEN verdict IS NOT NULL THEN predicted_saved_ns END) AS predicted_saved_ns  -- that their traffic predicts
FROM fusion_cost
GROUP BY run
HAVING sum(unfused_bytes IS NOT NULL) > 0;

-- How much of a run was executed by what: steps, work, traffic and time by class.
CREATE VIEW IF NOT EXISTS coverage AS
SELECT
  t.run AS run,                      -- run
  t.class AS class,                  -- kernel, library, copy, stand-in, reference, host, skip
  count(*) AS steps,                 -- steps
  100.0 * count(*) / a.steps AS steps_percent,                               -- share of the steps
  sum(t.flops * t.calls) AS flops,                                           -- nominal work of a pass
  100.0 * sum(t.flops * t.calls) / nullif(a.flops, 0) AS flops_percent,      -- share of it
  sum(t.bytes * t.calls) AS bytes,                                           -- traffic of a pass
  100.0 * sum(t.bytes * t.calls) / nullif(a.bytes, 0) AS bytes_percent,      -- share of it
  sum(t.pass_ns) AS pass_ns,                                                 -- time in a pass
  100.0 * sum(t.pass_ns) / nullif(a.pass_ns, 0) AS share_percent             -- share of the time
FROM step_time t JOIN run_time a ON a.run = t.run
GROUP BY t.run, t.class;

-- Live memory at each step: buffers that are in use, aliases counted once; parameters and constants stay all the time. (The casts give the join an index.)
CREATE VIEW IF NOT EXISTS memory AS
SELECT
  s.run AS run,                      -- run
  s.step AS step,                    -- number in plan order
  s.name AS name,                    -- instruction
  sum(coalesce(c.change, 0)) OVER (PARTITION BY s.run ORDER BY s.step) AS live_bytes  -- bytes of all live buffers
FROM step s
LEFT JOIN (
  SELECT run AS run, at AS at, sum(bytes) AS change
  FROM (SELECT run AS run, CAST(CASE WHEN kind IN ('parameter', 'constant') THEN 0 ELSE max(first_step, 0) END AS INTEGER) AS at, bytes AS bytes
        FROM buffer WHERE alias_of IS NULL
        UNION ALL
        SELECT run AS run, CAST(max(last_step, 0) + 1 AS INTEGER) AS at, -bytes AS bytes FROM buffer WHERE alias_of IS NULL AND kind NOT IN ('parameter', 'constant'))
  GROUP BY run, at) c ON c.run = s.run AND c.at = s.step;

-- Does every import balance: records read, kept, dropped, stored.
CREATE VIEW IF NOT EXISTS import_account AS
SELECT
  s.id AS source,                    -- file
  s.path AS path,                    -- as given
  s.format AS format,                -- importer
  s.bytes AS bytes,                  -- size
  (SELECT count(*) FROM module m WHERE m.source = s.id) AS modules,   -- modules in it
  s.read AS read,                    -- records found
  s.kept AS kept,                    -- records kept
  s.dropped AS dropped,              -- records dropped
  (SELECT coalesce(sum(c.instructions), 0) FROM module m JOIN computation c ON c.module = m.id WHERE m.source = s.id) AS stored,  -- instructions in this file
  (SELECT count(*) FROM note n WHERE n.source = s.id) AS notes,       -- notes about it
  s.read = s.kept + s.dropped AS balanced  -- 1: nothing was lost silently
FROM source s;

-- Clocks around each pass of a GPU, and what slowed it down, in words. Of two readings the lower clocks, the higher power and temperature.
CREATE VIEW IF NOT EXISTS throttling AS
WITH
  reason(bit, name) AS (VALUES  -- as NVML numbers them; an idle GPU and clocks that somebody has set are none of its own troubles
    (2, 'clocks set'), (4, 'power cap'), (8, 'hardware'), (16, 'sync boost'), (32, 'heat (driver)'), (64, 'heat (hardware)'),
    (128, 'power brake'), (256, 'display clocks')),
  bits AS (
    SELECT c.run AS run, c.pass AS pass, r.bit AS bit, r.name AS name FROM clocks c JOIN reason r ON c.slowed_by & r.bit
    GROUP BY c.run, c.pass, r.bit)
SELECT
  p.run AS run,                                            -- the run
  p.pass AS pass,                                          -- the pass
  p.end_ns - p.begin_ns AS pass_ns,                        -- how long it took
  min(c.multiprocessor_mhz) AS multiprocessor_mhz,         -- clock of the multiprocessors
  min(c.memory_mhz) AS memory_mhz,                         -- clock of the memory
  max(c.power_mw) / 1000.0 AS power_w,                     -- what the card drew
  max(c.temperature_c) AS temperature_c,                   -- of the chip
  coalesce((SELECT group_concat(b.name, ', ') FROM bits b WHERE b.run = p.run AND b.pass = p.pass), '') AS slowed_by  -- empty: nothing
FROM pass p
JOIN clocks c ON c.run = p.run AND c.pass = p.pass
GROUP BY p.run, p.pass;
