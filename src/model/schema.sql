-- The store of profile: one SQLite file with programs, replays and their timings.
-- Times are nanoseconds (_ns), sizes are bytes; ids are row ids of this file. Views are the stable interface for your own SQL:
-- tables may change with a migration (PRAGMA user_version), views keep their names and columns.
-- Everything here works in the sqlite3 shell and in Python. The file is run again after a migration: hence IF NOT EXISTS.

-- ---------------------------------------------------------------- programs

-- A file that was imported.
CREATE TABLE IF NOT EXISTS source (
  id      INTEGER PRIMARY KEY,  -- row id
  path    TEXT NOT NULL,           -- as it was given
  format  TEXT NOT NULL,           -- importer that read it: hlo, ...
  sha256  TEXT NOT NULL UNIQUE,    -- of its bytes: the same bytes are imported once
  bytes   INTEGER NOT NULL,        -- its size
  read    INTEGER NOT NULL,        -- records found in it (HLO: instructions)
  kept    INTEGER NOT NULL,        -- records that are stored
  dropped INTEGER NOT NULL         -- records that are not; read = kept + dropped
) STRICT;

-- What an import or a replay could go on without.
CREATE TABLE IF NOT EXISTS note (
  id     INTEGER PRIMARY KEY,  -- row id
  source INTEGER REFERENCES source(id),  -- the file it is about, or NULL
  run    INTEGER REFERENCES run(id),     -- the replay it is about, or NULL
  line   INTEGER,                        -- place in the file, from 1; NULL: not about a place
  "column" INTEGER,                      -- byte in the line, from 1; NULL: not about a place
  code   TEXT NOT NULL,                  -- short and stable: elided-constant, unknown-attribute, ...
  text   TEXT NOT NULL                   -- the sentence
) STRICT;

-- A long text, kept once: program texts and kernel sources.
CREATE TABLE IF NOT EXISTS content (
  id    INTEGER PRIMARY KEY,  -- row id
  hash  TEXT NOT NULL UNIQUE,      -- XXH3-128 of the text
  bytes INTEGER NOT NULL,          -- length of the text
  plain TEXT,                      -- the text, or NULL where it is compressed
  zstd  BLOB                       -- the text as a zstd frame where it is longer than 64 KiB, else NULL
) STRICT;

-- A program: one HLO module.
CREATE TABLE IF NOT EXISTS module (
  id      INTEGER PRIMARY KEY,  -- row id
  source  INTEGER NOT NULL REFERENCES source(id),   -- file it came in
  position INTEGER NOT NULL,                        -- place in the file, from 0
  name    TEXT NOT NULL,                            -- name in its header
  content INTEGER NOT NULL REFERENCES content(id),  -- its HLO text, which replay reads
  entry   INTEGER                                   -- computation that runs first
) STRICT;

-- A computation of a module: the entry, a fusion's body, a reducer, a loop's body.
CREATE TABLE IF NOT EXISTS computation (
  id       INTEGER PRIMARY KEY,  -- row id
  module   INTEGER NOT NULL REFERENCES module(id),  -- module it stands in
  position INTEGER NOT NULL,                        -- place in the module, from 0
  name     TEXT NOT NULL,                           -- without %
  first_instruction INTEGER NOT NULL,               -- its instructions have the ids first_instruction + position
  instructions INTEGER NOT NULL,                    -- how many
  root     INTEGER                                  -- instruction whose value is the result
) STRICT;

-- Strings of a module that many instructions share.
CREATE TABLE IF NOT EXISTS string (
  id   INTEGER PRIMARY KEY,  -- row id
  text TEXT NOT NULL               -- a shape, a layout, a file name
) STRICT;

-- An instruction. The view program shows it with all ids resolved.
CREATE TABLE IF NOT EXISTS instruction (
  id          INTEGER PRIMARY KEY,  -- row id
  computation INTEGER NOT NULL REFERENCES computation(id),  -- computation it stands in
  position    INTEGER NOT NULL,                             -- place in the computation, from 0
  name        TEXT NOT NULL,                                -- without %
  opcode      TEXT NOT NULL,                                -- HLO opcode: add, dot, fusion, ...
  kind        TEXT NOT NULL,                                -- fusion kind or custom-call target, else empty
  dtype       TEXT NOT NULL,                                -- element type of the result; tuple where there are several
  shape       INTEGER NOT NULL REFERENCES string(id),       -- result as HLO writes it, without layout
  layout      INTEGER NOT NULL REFERENCES string(id),       -- its layout: {1,0}; of tuples the shape with all layouts
  result_bytes INTEGER NOT NULL,                            -- size of the result
  op          INTEGER REFERENCES op(id),                    -- framework operator in its metadata, or NULL
  source_file INTEGER REFERENCES string(id),                -- source file in its metadata, or NULL
  source_line INTEGER,                                      -- line in that file, or NULL
  attributes  TEXT,                                         -- the other attributes as a JSON object, texts as written; NULL: none
  operands    TEXT,                                         -- positions of what it reads as a JSON array, in order; NULL: none. See the view operand
  users       TEXT,                                         -- positions of what reads it as a JSON array; NULL: none. See the view instruction_user
  work        INTEGER                                       -- its costs in the table work. See the view cost
) STRICT;

-- Computations that an instruction calls: body of a fusion, reducer, condition, branches.
CREATE TABLE IF NOT EXISTS call (
  instruction INTEGER NOT NULL REFERENCES instruction(id),  -- the caller
  position    INTEGER NOT NULL,                             -- which callee, from 0
  computation INTEGER NOT NULL REFERENCES computation(id),  -- what is called
  PRIMARY KEY (instruction, position)
) STRICT, WITHOUT ROWID;

-- What one execution of an instruction costs on paper; instructions of equal costs share the rows. The view cost has them by instruction.
CREATE TABLE IF NOT EXISTS work (
  work   INTEGER NOT NULL,           -- as in instruction.work
  method TEXT NOT NULL,              -- xla: as XLA's cost analysis; nominal: 2 a multiply-add, products in custom calls too; traffic: bytes that must move
  flops  REAL NOT NULL,              -- floating-point operations
  transcendentals REAL NOT NULL,     -- exp, tanh, ...
  bytes_read REAL NOT NULL,          -- bytes that it reads
  bytes_written REAL NOT NULL,       -- bytes that it writes
  known  INTEGER NOT NULL,           -- 0: a custom call whose meaning is not known to the method
  PRIMARY KEY (work, method)
) STRICT, WITHOUT ROWID;

-- A part of the model as its operators' names give it: "model/encoder/layer_0". Gradients stand in the scope of what they differentiate.
CREATE TABLE IF NOT EXISTS scope (
  id     INTEGER PRIMARY KEY,  -- row id
  module INTEGER NOT NULL REFERENCES module(id),  -- module it stands in
  parent INTEGER REFERENCES scope(id),            -- scope around it; NULL: outermost
  depth  INTEGER NOT NULL,                        -- 0: outermost
  name   TEXT NOT NULL                            -- whole path; empty: operators without a scope
) STRICT;

-- A framework operator: TF node, Paddle op, JAX primitive, as named in the program's metadata.
CREATE TABLE IF NOT EXISTS op (
  id         INTEGER PRIMARY KEY,  -- row id
  module     INTEGER NOT NULL REFERENCES module(id),  -- module it stands in
  position   INTEGER NOT NULL,                        -- order of first appearance, from 0
  type       TEXT NOT NULL,                           -- MatMul, Softmax, ...; empty where not told
  name       TEXT NOT NULL,                           -- op_name as written
  short_name TEXT NOT NULL,                           -- its last two parts
  scope      INTEGER NOT NULL REFERENCES scope(id),   -- where in the model
  phase      TEXT NOT NULL                            -- forward, backward, optimizer, communication or host; judged by name and type
) STRICT;

-- Which operators a fusion does the work of: those of its parts, or its own. The view op_instruction has those of all instructions.
CREATE TABLE IF NOT EXISTS op_share (
  instruction INTEGER NOT NULL REFERENCES instruction(id),  -- the fusion
  op    INTEGER NOT NULL REFERENCES op(id),                 -- an operator in it
  share REAL NOT NULL,               -- part of the fusion that is the operator's, by bytes that its parts produce; the shares of a fusion sum to 1
  PRIMARY KEY (instruction, op)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- replays

-- The machine as a run found it, with ceilings measured in that run.
CREATE TABLE IF NOT EXISTS device (
  id        INTEGER PRIMARY KEY,  -- row id
  name      TEXT NOT NULL,                        -- cpu, cuda, null, reference
  model     TEXT NOT NULL,                        -- processor or card
  driver    TEXT NOT NULL,                        -- version of runtime or driver
  libraries TEXT NOT NULL,                        -- libraries and versions
  threads   INTEGER NOT NULL,                     -- threads that ran
  triad_bytes_per_s           REAL,               -- memory ceiling: a + s*b on f32 with ordinary stores; NULL: not measured
  triad_streaming_bytes_per_s REAL,               -- the same with streaming stores; NULL: not measured
  product_flops_per_s         REAL                -- compute ceiling: a large f32 product; NULL: not measured
) STRICT;

-- Compute ceilings of other operand types, where the machine multiplies them at another rate than f32.
CREATE TABLE IF NOT EXISTS device_product (
  device   INTEGER NOT NULL REFERENCES device(id),  -- the device
  operands TEXT NOT NULL,                           -- types of operands and sums, as step.precision begins: f16×f16→f32
  flops_per_s REAL NOT NULL,                        -- a large product, measured in the run
  PRIMARY KEY (device, operands)
) STRICT, WITHOUT ROWID;

-- What else is known of a run's device: caches, governor, load, quota.
CREATE TABLE IF NOT EXISTS device_detail (
  device INTEGER NOT NULL REFERENCES device(id),  -- the device
  name   TEXT NOT NULL,                           -- what
  value  TEXT NOT NULL,                           -- as text
  PRIMARY KEY (device, name)
) STRICT, WITHOUT ROWID;

-- A replay of a module.
CREATE TABLE IF NOT EXISTS run (
  id     INTEGER PRIMARY KEY,  -- row id
  module INTEGER REFERENCES module(id),   -- what was replayed
  device INTEGER REFERENCES device(id),   -- where
  status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),  -- interrupted: stopped or killed; its samples count
  writer TEXT NOT NULL,                   -- boot id, process id and start time of the writer: tells a killed run from one in progress
  started_unix_ns  INTEGER NOT NULL,      -- start, since 1970
  finished_unix_ns INTEGER,               -- end; NULL while it runs or if it was killed
  plan_ns    INTEGER NOT NULL,            -- time to make the plan
  compile_ns INTEGER NOT NULL,            -- time to compile kernels
  arena_bytes INTEGER NOT NULL,           -- temporaries and scratch, packed by live range
  peak_bytes  INTEGER NOT NULL,           -- most memory that the plan holds at a time, parameters and constants included
  peak_step   TEXT NOT NULL               -- step where the arena is fullest
) STRICT;

-- Every option of a run: seed, inputs, rounding, timer, warm-ups, criterion, cold or warm, tool version.
CREATE TABLE IF NOT EXISTS run_option (
  run   INTEGER NOT NULL REFERENCES run(id),  -- the run
  name  TEXT NOT NULL,                        -- option
  value TEXT NOT NULL,                        -- as text
  PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

-- Code that ran: one of our kernels, or what a library was asked for.
CREATE TABLE IF NOT EXISTS kernel (
  run      INTEGER NOT NULL REFERENCES run(id),      -- the run
  kernel   INTEGER NOT NULL,                         -- number in the run, from 0
  key      TEXT NOT NULL,                            -- hash of what it computes: identity across runs
  name     TEXT NOT NULL,                            -- symbol
  language TEXT NOT NULL,                            -- llvm-ir, cuda, library
  implementation TEXT NOT NULL,                      -- what ran: "jit znver3", "dnnl gemm:jit f32"
  content    INTEGER NOT NULL REFERENCES content(id),  -- its source text
  compile_ns INTEGER NOT NULL,                       -- time to compile it
  code_bytes INTEGER NOT NULL,                       -- size of the machine code
  PRIMARY KEY (run, kernel)
) STRICT, WITHOUT ROWID;

-- A step of a run: one instruction of the plan.
CREATE TABLE IF NOT EXISTS step (
  run   INTEGER NOT NULL REFERENCES run(id),  -- the run
  step  INTEGER NOT NULL,                     -- number in plan order, from 0
  name  TEXT NOT NULL,                        -- instruction
  computation TEXT NOT NULL,                  -- where it stands
  opcode TEXT NOT NULL,                       -- HLO opcode
  kind   TEXT NOT NULL,                       -- fusion kind or custom-call target, else empty
  class  TEXT NOT NULL,                       -- what its time is: kernel, library, copy, stand-in, reference, host, skip
  key    TEXT NOT NULL,                       -- identity across runs, compilers and renames
  why    TEXT NOT NULL,                       -- of skip and stand-in: the reason
  precision TEXT NOT NULL,                    -- what ran: f16 x f16 -> f32 -> f16
  instruction INTEGER REFERENCES instruction(id),  -- the instruction, or NULL
  trips  REAL NOT NULL,                       -- executions in one pass on paper (loops)
  flops  REAL NOT NULL,                       -- nominal, of one execution
  bytes  REAL NOT NULL,                       -- traffic of one execution
  transcendentals REAL NOT NULL,              -- of one execution
  saved_bytes REAL NOT NULL,                  -- fusions: traffic of the parts run alone minus that of the fusion
  worst_error REAL,                           -- of --verify, in units of the tolerance (at most 1 passes); NULL: not verified
  verified_elements INTEGER NOT NULL,         -- elements compared with the reference
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- Which code a step launches, in order.
CREATE TABLE IF NOT EXISTS step_kernel (
  run      INTEGER NOT NULL,                  -- the run
  step     INTEGER NOT NULL,                  -- the step
  position INTEGER NOT NULL,                  -- which launch, from 0
  kernel   INTEGER NOT NULL,                  -- number of the kernel in the run
  PRIMARY KEY (run, step, position)
) STRICT, WITHOUT ROWID;

-- A pass over the whole program. Samples of one step or of a time range are found through it: see sample.
CREATE TABLE IF NOT EXISTS pass (
  run      INTEGER NOT NULL REFERENCES run(id),  -- the run
  pass     INTEGER NOT NULL,                     -- number, from 0; warm-ups are not stored
  begin_ns INTEGER NOT NULL,                     -- begin, since the run's start
  end_ns   INTEGER NOT NULL,                     -- end, since the run's start
  PRIMARY KEY (run, pass)
) STRICT, WITHOUT ROWID;

-- Every raw timing. One step: FROM pass p CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass AND s.step = ? (rows lie in the order in which they came).
CREATE TABLE IF NOT EXISTS sample (
  run         INTEGER NOT NULL,              -- the run
  pass        INTEGER NOT NULL,              -- the pass
  step        INTEGER NOT NULL,              -- the step
  variant     INTEGER NOT NULL,              -- 0: the step as the program has it; 1: a fusion's parts run alone
  begin_ns    INTEGER NOT NULL,              -- begin, since the run's start
  duration_ns INTEGER NOT NULL,              -- of all executions together
  executions  INTEGER NOT NULL,              -- how many: short steps are repeated within a pass, loop bodies run often
  PRIMARY KEY (run, pass, step, variant)
) STRICT, WITHOUT ROWID;

-- Statistics of a step's samples, each a time of one execution; written when the run ends.
CREATE TABLE IF NOT EXISTS step_stat (
  run       INTEGER NOT NULL REFERENCES run(id),  -- the run
  step      INTEGER NOT NULL,                     -- the step
  variant   INTEGER NOT NULL,                     -- as in sample
  n         INTEGER NOT NULL,                     -- samples
  calls     REAL NOT NULL,                        -- executions in one pass as the program runs it
  min_ns    REAL NOT NULL,                        -- fastest
  q1_ns     REAL NOT NULL,                        -- lower quartile, by linear interpolation
  median_ns REAL NOT NULL,                        -- median
  q3_ns     REAL NOT NULL,                        -- upper quartile
  mad_ns    REAL NOT NULL,                        -- median absolute deviation, unscaled
  ci_low_ns  REAL NOT NULL,                       -- 95 % interval of the median, lower end
  ci_high_ns REAL NOT NULL,                       -- upper end
  flags     TEXT NOT NULL,                        -- doubts: too-short few-samples drifting bimodal throttled, separated by spaces
  PRIMARY KEY (run, step, variant)
) STRICT, WITHOUT ROWID;

-- The timeline, folded for drawing: chunks of at most 512 records. Window: begin_ns BETWEEN the last begin at or before its begin AND its end.
CREATE TABLE IF NOT EXISTS slice_level (
  run      INTEGER NOT NULL REFERENCES run(id),  -- the run
  track    INTEGER NOT NULL,                     -- lane, from 0: steps that overlap lie in different ones
  level    INTEGER NOT NULL,                     -- -1: slices (begin i64, duration i64, step i32, 0 i32); n: buckets of 2^n ns (index u32, count u32, step of the longest i32, its share and busy share u16)
  begin_ns INTEGER NOT NULL,                     -- of the first record
  data     BLOB NOT NULL,                        -- records, little-endian
  PRIMARY KEY (run, track, level, begin_ns)
) STRICT, WITHOUT ROWID;

-- Memory of a plan.
CREATE TABLE IF NOT EXISTS buffer (
  run        INTEGER NOT NULL REFERENCES run(id),  -- the run
  buffer     INTEGER NOT NULL,                     -- number in the plan, from 0
  name       TEXT NOT NULL,                        -- instruction (and leaf) that makes it
  kind       TEXT NOT NULL,                        -- parameter, constant, temporary, output, scratch
  bytes      INTEGER NOT NULL,                     -- size
  "offset"   INTEGER,                              -- in the arena; NULL: outside
  first_step INTEGER NOT NULL,                     -- live from this step
  last_step  INTEGER NOT NULL,                     -- to this one
  alias_of   INTEGER,                              -- lives in that buffer's memory; NULL: in its own
  PRIMARY KEY (run, buffer)
) STRICT, WITHOUT ROWID;

CREATE INDEX IF NOT EXISTS module_source ON module(source);
CREATE INDEX IF NOT EXISTS computation_module ON computation(module);
CREATE INDEX IF NOT EXISTS run_module ON run(module);

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
  i.position AS position,            -- place there, from 0
  i.name AS name,                    -- name
  i.opcode AS opcode,                -- HLO opcode
  i.kind AS kind,                    -- fusion kind or custom-call target
  i.dtype AS dtype,                  -- element type of the result
  s.text AS shape,                   -- result without layout
  l.text AS layout,                  -- layout
  i.result_bytes AS result_bytes,    -- size of the result
  o.type AS op_type,                 -- type of the framework operator
  o.name AS op_name,                 -- its name
  o.phase AS phase,                  -- forward, backward, optimizer, communication, host
  f.text AS source_file,             -- source file
  i.source_line AS source_line,      -- line in it
  i.attributes AS attributes         -- other attributes, JSON
FROM instruction i
JOIN computation c ON c.id = i.computation
JOIN module m ON m.id = c.module
JOIN string s ON s.id = i.shape
JOIN string l ON l.id = i.layout
LEFT JOIN string f ON f.id = i.source_file
LEFT JOIN op o ON o.id = i.op;

-- What an instruction reads.
CREATE VIEW IF NOT EXISTS operand AS
SELECT
  i.id AS instruction,               -- the reader
  o.key AS position,                 -- which operand, from 0
  i.id - i.position + o.value AS operand  -- what is read
FROM instruction i, json_each(i.operands) o;

-- What reads an instruction.
CREATE VIEW IF NOT EXISTS instruction_user AS
SELECT
  i.id AS instruction,               -- what is read
  i.id - i.position + u.value AS user  -- the reader; once, however many of its operands it is
FROM instruction i, json_each(i.users) u;

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
SELECT id, op, 1.0 FROM instruction WHERE op IS NOT NULL AND opcode <> 'fusion';

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
  coalesce(t.flags, '') AS flags     -- doubts about the timing
FROM step s LEFT JOIN step_stat t ON t.run = s.run AND t.step = s.step AND t.variant = 0;

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

-- The machine's limits as measured in the run.
CREATE VIEW IF NOT EXISTS run_ceiling AS
SELECT
  r.id AS run,                       -- run
  nullif(max(coalesce(d.triad_bytes_per_s, 0), coalesce(d.triad_streaming_bytes_per_s, 0)), 0) AS memory_bytes_per_s,  -- the faster of the two triads
  d.product_flops_per_s AS compute_flops_per_s  -- a large f32 product
FROM run r
LEFT JOIN device d ON d.id = r.device;

-- How near each step is to the machine's limits: memory, and a large product of its types (of f32, where its own were not measured).
-- Over 100 % means: its data fits into a cache.
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
  t.median_ns AS median_ns,          -- time measured
  t.pass_ns AS pass_ns,              -- time in a pass
  t.bytes / nullif(t.median_ns, 0) AS gb_per_s,       -- rate of its traffic
  t.flops / nullif(t.median_ns, 0) AS gflop_per_s,    -- rate of its nominal work
  min(t.compute_flops_per_s, t.flops / nullif(t.bytes, 0) * t.memory_bytes_per_s) / 1e9 AS attainable_gflop_per_s,  -- what the roof allows at this intensity
  100.0 * nullif(max(coalesce(t.flops / t.compute_flops_per_s, 0), coalesce(t.bytes / t.memory_bytes_per_s, 0)), 0) * 1e9
    / nullif(t.median_ns, 0) AS roof_percent          -- attainable_ns as a share of the time measured
FROM (
  SELECT s.*, coalesce(p.flops_per_s, c.compute_flops_per_s) AS compute_flops_per_s, c.memory_bytes_per_s AS memory_bytes_per_s
  FROM step_time s
  JOIN run r ON r.id = s.run
  JOIN run_ceiling c ON c.run = s.run
  LEFT JOIN device_product p ON p.device = r.device AND substr(s.precision, 1, length(p.operands)) = p.operands
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
LEFT JOIN instruction i ON i.id = t.instruction
LEFT JOIN op o ON o.id = i.op
ORDER BY t.run, t.pass_ns IS NULL, t.pass_ns DESC, t.step;

-- Time of framework operators. A fusion's time is divided among its operators by op_share; steps without one stand under op NULL.
CREATE VIEW IF NOT EXISTS op_time AS
SELECT
  t.run AS run,                      -- run
  o.id AS op,                        -- operator
  coalesce(o.type, '') AS type,      -- its type
  coalesce(o.name, '(no metadata)') AS name,              -- its name
  coalesce(o.short_name, '(no metadata)') AS short_name,  -- the last two parts of it
  coalesce(o.phase, '') AS phase,    -- forward, backward, optimizer, communication, host
  o.scope AS scope,                  -- its scope
  count(*) AS steps,                 -- steps that do some of its work
  sum(t.pass_ns * coalesce(x.share, 1)) AS pass_ns,        -- time in a pass
  sum(t.flops * t.calls * coalesce(x.share, 1)) AS flops,  -- nominal work in a pass, divided like the time
  sum(t.bytes * t.calls * coalesce(x.share, 1)) AS bytes   -- traffic in a pass, divided like the time
FROM step_time t
LEFT JOIN instruction i ON i.id = t.instruction
LEFT JOIN op_share x ON x.instruction = t.instruction
LEFT JOIN op o ON o.id = coalesce(x.op, i.op)
GROUP BY t.run, o.id;

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

-- What each fusion costs and saves. saved_ns is an estimate: the saved traffic at the triad's rate.
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
  t.bytes + t.saved_bytes AS parts_bytes,  -- traffic of its parts run alone
  t.saved_bytes AS saved_bytes,      -- what fusing saves
  t.saved_bytes / c.memory_bytes_per_s * 1e9 * t.calls AS saved_ns,  -- estimated time saved in a pass
  t.flags AS flags                   -- doubts about the timing
FROM step_time t
JOIN run_ceiling c ON c.run = t.run
WHERE t.opcode = 'fusion';

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
