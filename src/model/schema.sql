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
  sha256  TEXT NOT NULL,           -- of its bytes: the same bytes with the same options are imported once
  bytes   INTEGER NOT NULL,        -- its size
  read    INTEGER NOT NULL,        -- records found in it (HLO: instructions; else operators or symbols)
  kept    INTEGER NOT NULL,        -- records that are stored
  dropped INTEGER NOT NULL,        -- records that are not; read = kept + dropped
  options TEXT NOT NULL DEFAULT '',  -- what a person chose for it: "batch=2 image=64"
  UNIQUE (sha256, options)
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

-- Strings of a module that are needed often.
CREATE TABLE IF NOT EXISTS string (
  id   INTEGER PRIMARY KEY,  -- row id
  text TEXT NOT NULL               -- a file name
) STRICT;

-- The shape of a result, with its layout. Instructions share it.
CREATE TABLE IF NOT EXISTS shape (
  id     INTEGER PRIMARY KEY,  -- row id
  dtype  TEXT NOT NULL,            -- element type; tuple where there are several
  text   TEXT NOT NULL,            -- as HLO writes it, without layout
  layout TEXT NOT NULL,            -- {1,0}; of tuples the shape with all layouts
  bytes  INTEGER NOT NULL          -- size
) STRICT;

-- A line of the program that was compiled. Instructions share it.
CREATE TABLE IF NOT EXISTS place (
  id   INTEGER PRIMARY KEY,  -- row id
  file INTEGER NOT NULL REFERENCES string(id),  -- the file
  line INTEGER NOT NULL                         -- line in it
) STRICT;

-- An instruction. The view program shows it with all ids resolved.
CREATE TABLE IF NOT EXISTS instruction (
  id          INTEGER PRIMARY KEY,  -- row id
  computation INTEGER NOT NULL REFERENCES computation(id),  -- computation it stands in, at the place id - first_instruction
  name        TEXT NOT NULL,                                -- without %
  opcode      TEXT NOT NULL,                                -- HLO opcode: add, dot, fusion, ...
  kind        TEXT NOT NULL,                                -- fusion kind or custom-call target, else empty
  shape       INTEGER NOT NULL REFERENCES shape(id),        -- of the result
  op          INTEGER REFERENCES op(id),                    -- framework operator in its metadata, or NULL
  place       INTEGER REFERENCES place(id),                 -- source line in its metadata, or NULL
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
  module INTEGER REFERENCES module(id),           -- module it stands in; NULL: of a list or log that is no module
  parent INTEGER REFERENCES scope(id),            -- scope around it; NULL: outermost
  depth  INTEGER NOT NULL,                        -- 0: outermost
  name   TEXT NOT NULL                            -- whole path; empty: operators without a scope
) STRICT;

-- A framework operator: TF node, Paddle op, JAX primitive.
CREATE TABLE IF NOT EXISTS op (
  id         INTEGER PRIMARY KEY,  -- row id
  source     INTEGER NOT NULL REFERENCES source(id),  -- file it came in
  module     INTEGER REFERENCES module(id),           -- module it stands in; NULL: of a list or log that is no module
  position   INTEGER NOT NULL,                        -- order in the program, from 0; of HLO: of first appearance
  type       TEXT,                                    -- MatMul, Softmax, ...; NULL: not known
  name       TEXT NOT NULL,                           -- its name, as written
  short_name TEXT NOT NULL,                           -- the last two parts of it
  scope      INTEGER NOT NULL REFERENCES scope(id),   -- where in the model
  phase      TEXT NOT NULL,                           -- forward, backward, optimizer, communication, auxiliary or host
  type_from  TEXT NOT NULL,                           -- where the type is known from: given, inferred:name, inferred:model; empty: not known
  launches   TEXT NOT NULL,                           -- what it makes a machine do: device, host, nothing
  device     TEXT,                                    -- device as written; NULL: not told
  shape      TEXT,                                    -- its results as HLO writes shapes; NULL: not known, or see its instructions
  shape_from TEXT NOT NULL,                           -- where the shape is known from, as type_from
  attributes TEXT,                                    -- the program's own words about it, a JSON object; NULL: none
  inputs     TEXT,                                    -- what it reads, a JSON array of names as written; NULL: none told
  line       INTEGER,                                 -- in the file; NULL: not told
  note       TEXT                                     -- what is special about it; NULL: nothing
) STRICT;

-- Which operators a fusion does the work of, where its parts name others than its own. The view op_instruction has those of all instructions.
CREATE TABLE IF NOT EXISTS op_share (
  instruction INTEGER NOT NULL REFERENCES instruction(id),  -- the fusion
  op    INTEGER NOT NULL REFERENCES op(id),                 -- an operator in it
  share REAL NOT NULL,               -- part of the fusion that is the operator's, by bytes that its parts produce; the shares of a fusion sum to 1
  PRIMARY KEY (instruction, op)
) STRICT, WITHOUT ROWID;

-- Which source lines a fusion does the work of, where its parts name others than the fusion itself.
CREATE TABLE IF NOT EXISTS place_share (
  instruction INTEGER NOT NULL REFERENCES instruction(id),  -- the fusion
  op    INTEGER NOT NULL,            -- an operator in it, as in op; 0: none
  place INTEGER NOT NULL REFERENCES place(id),              -- source line
  share REAL NOT NULL,               -- part of the fusion that comes from there, by bytes that its parts produce; the shares of a fusion sum to 1
  PRIMARY KEY (instruction, op, place)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- source code

-- An index of source code: how it counts, and the text that it was held against.
CREATE TABLE IF NOT EXISTS symbol_index (
  source  INTEGER PRIMARY KEY REFERENCES source(id),  -- file it came in
  tool    TEXT,                    -- program that made it; NULL: not told
  text_path TEXT,                  -- source file that was given with it; NULL: none, or one that it does not fit
  newline TEXT,                    -- line ends of the file that the tool saw: lf or crlf; NULL: no offsets, or no text
  unit    TEXT,                    -- what its offsets and columns count: bytes, characters, utf-16, or any (all ASCII); NULL: no text
  tested  INTEGER NOT NULL,        -- records of that text with a place and a name
  fitted  INTEGER NOT NULL         -- those whose name stands there
) STRICT;

-- A name that a source file defines.
CREATE TABLE IF NOT EXISTS symbol (
  id       INTEGER PRIMARY KEY,  -- row id
  source   INTEGER NOT NULL REFERENCES source(id),  -- index it came in
  position INTEGER NOT NULL,     -- record of the index, from 0
  name     TEXT NOT NULL,        -- as it stands in the source
  kind     TEXT NOT NULL,        -- the index's own word: METHOD, member, type, ...
  sort     TEXT NOT NULL,        -- what that means: function, type, module, variable, parameter or other
  type     TEXT,                 -- its type, or its signature, as the index writes it; NULL: not told
  file     TEXT NOT NULL,        -- source file as the index names it
  line     INTEGER,              -- where the name stands, from 1; NULL: not told
  "column" INTEGER,              -- from 1, in bytes where the text was given, else as the index counts; NULL: not told
  end_line INTEGER,              -- last line of a function or type; NULL: not known
  begin_offset INTEGER,          -- of the name in its file, from 0, as the index counts (see symbol_index); NULL: not told
  end_offset   INTEGER,          -- first that is not the name's
  within   INTEGER REFERENCES symbol(id),  -- function or type around it; NULL: the file
  scope    TEXT,                 -- what the index says is around it; NULL: nothing
  key      TEXT,                 -- the index's own name for it: a SCIP symbol; NULL: none
  value    TEXT                  -- the string that the source assigns to it; NULL: none, or no text
) STRICT;

-- A place where a name is used: read, written, imported, documented. Of a use that may mean several definitions there is a row for each.
CREATE TABLE IF NOT EXISTS symbol_use (
  id       INTEGER PRIMARY KEY,  -- row id
  source   INTEGER NOT NULL REFERENCES source(id),  -- index it came in
  position INTEGER NOT NULL,     -- record of the index, from 0
  symbol   INTEGER REFERENCES symbol(id),  -- definition that it means; NULL: the index does not hold it
  rule     TEXT,                 -- how that was found: given, place, function, later, type, module, nearest; NULL: it was not
  confidence REAL,               -- that it is the right one, 0 to 1
  role     TEXT NOT NULL,        -- reference, write, import or documentation
  name     TEXT NOT NULL,        -- as in symbol
  type     TEXT,                 -- as in symbol
  file     TEXT NOT NULL,        -- as in symbol
  line     INTEGER,              -- as in symbol
  "column" INTEGER,              -- as in symbol
  begin_offset INTEGER,          -- as in symbol
  end_offset   INTEGER,          -- as in symbol
  within   INTEGER REFERENCES symbol(id)   -- function or type around it; NULL: the file
) STRICT;

-- A string that a function gives as name or scope to what it builds: tf.name_scope("tower"), name="batch_index".
CREATE TABLE IF NOT EXISTS symbol_literal (
  symbol INTEGER NOT NULL REFERENCES symbol(id),  -- the function
  value  TEXT NOT NULL,          -- the string
  line   INTEGER NOT NULL,       -- where it stands
  constant INTEGER REFERENCES symbol(id)  -- variable that holds the string; NULL: it stands there itself
) STRICT;

-- The function, type or module of a source line that a program names. Lines that no index has are not here.
CREATE TABLE IF NOT EXISTS place_symbol (
  place  INTEGER PRIMARY KEY REFERENCES place(id),  -- the line
  symbol INTEGER NOT NULL REFERENCES symbol(id),    -- innermost function or type that holds it
  confidence REAL NOT NULL                          -- that the files are the same, by how much of their paths agrees
) STRICT;

-- The symbols that an operator comes from. The rule line is what the program says; all others are guesses from names.
CREATE TABLE IF NOT EXISTS op_symbol (
  op     INTEGER NOT NULL REFERENCES op(id),      -- the operator
  rank   INTEGER NOT NULL,                        -- 0: the likeliest
  symbol INTEGER NOT NULL REFERENCES symbol(id),  -- a function or type
  rule   TEXT NOT NULL,                           -- line: source line; function: jit(f); literal: scope or name given in it; constant: such a one that a variable holds; name: a scope that is named like it
  confidence REAL NOT NULL,                       -- 0 to 1
  PRIMARY KEY (op, rank)
) STRICT, WITHOUT ROWID;

-- ---------------------------------------------------------------- replays

-- The machine as a run found it, or of a predicted run the machine that is described.
CREATE TABLE IF NOT EXISTS device (
  id        INTEGER PRIMARY KEY,  -- row id
  name      TEXT NOT NULL,                        -- cpu, cuda, null, reference
  model     TEXT NOT NULL,                        -- processor or card
  driver    TEXT NOT NULL,                        -- version of runtime or driver
  libraries TEXT NOT NULL,                        -- libraries and versions
  threads   INTEGER NOT NULL                      -- threads that ran
) STRICT;

-- The limits of a run's device: as the run measured them, and beside those what is published. The view run_limit has both in one row.
CREATE TABLE IF NOT EXISTS ceiling (
  device INTEGER NOT NULL REFERENCES device(id),  -- the device
  limits TEXT NOT NULL CHECK (limits IN ('memory', 'cache', 'compute')),  -- what it limits
  name   TEXT NOT NULL,                           -- memory: what was moved: triad; cache: L1 read, L1 copy; compute: types of operands and sums, as step.precision begins: f16×f16→f32
  provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'published')),  -- measured: in this run; published: by the maker or others
  per_s  REAL NOT NULL,                           -- bytes, of compute floating-point operations
  source TEXT NOT NULL,                           -- how it was measured, or where it is published
  PRIMARY KEY (device, limits, name, provenance)
) STRICT, WITHOUT ROWID;

-- What else is known of a run's device: caches, governor, load, quota.
CREATE TABLE IF NOT EXISTS device_detail (
  device INTEGER NOT NULL REFERENCES device(id),  -- the device
  name   TEXT NOT NULL,                           -- what
  value  TEXT NOT NULL,                           -- as text
  PRIMARY KEY (device, name)
) STRICT, WITHOUT ROWID;

-- A replay of a module, a run that a log tells of, or a prediction.
CREATE TABLE IF NOT EXISTS run (
  id     INTEGER PRIMARY KEY,  -- row id
  module INTEGER REFERENCES module(id),   -- what was replayed; NULL: recorded
  device INTEGER REFERENCES device(id),   -- where
  status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')),  -- interrupted: stopped or killed; its samples count
  writer TEXT NOT NULL,                   -- boot id, process id and start time of the writer: tells a killed run from one in progress
  started_unix_ns  INTEGER NOT NULL,      -- start, since 1970
  finished_unix_ns INTEGER,               -- end; NULL while it runs or if it was killed
  plan_ns    INTEGER NOT NULL,            -- time to make the plan
  compile_ns INTEGER NOT NULL,            -- time to compile kernels
  arena_bytes INTEGER NOT NULL,           -- temporaries and scratch, packed by live range
  peak_bytes  INTEGER NOT NULL,           -- most memory that the plan holds at a time, parameters and constants included
  peak_step   TEXT NOT NULL,              -- step where the arena is fullest
  kind   TEXT NOT NULL DEFAULT 'replay' CHECK (kind IN ('replay', 'recorded', 'predicted')),  -- recorded: its times come from a log; predicted: from a formula and the description of a machine, nothing ran
  source INTEGER REFERENCES source(id)    -- of a recorded run: the log
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

-- By what else a library could have done the work of a kernel, each timed alone before the passes (--autotune); the fastest ran in them.
CREATE TABLE IF NOT EXISTS kernel_trial (
  run      INTEGER NOT NULL REFERENCES run(id),  -- the run
  kernel   INTEGER NOT NULL,                     -- number of the kernel in the run
  rank     INTEGER NOT NULL,                     -- in the library's own order, from 1
  implementation TEXT NOT NULL,                  -- as of kernel
  median_ns  REAL NOT NULL,                      -- of an execution, back to back with others: the gap of a launch is in it
  executions INTEGER NOT NULL,                   -- that were timed
  chosen   INTEGER NOT NULL CHECK (chosen IN (0, 1)),  -- 1: this one ran
  PRIMARY KEY (run, kernel, rank)
) STRICT, WITHOUT ROWID;

-- A step of a run: one instruction of the plan, or an operator of a log.
CREATE TABLE IF NOT EXISTS step (
  run   INTEGER NOT NULL REFERENCES run(id),  -- the run
  step  INTEGER NOT NULL,                     -- number in plan order, from 0
  name  TEXT NOT NULL,                        -- instruction
  computation TEXT NOT NULL,                  -- where it stands
  opcode TEXT NOT NULL,                       -- HLO opcode
  kind   TEXT NOT NULL,                       -- fusion kind or custom-call target, else empty
  class  TEXT NOT NULL,                       -- what its time is: kernel, library, copy, stand-in, reference, host, skip; recorded
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
  op INTEGER REFERENCES op(id),               -- of a recorded run: the operator that was timed
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

-- What a GPU said of itself before and after a pass. NULL: it does not tell.
CREATE TABLE IF NOT EXISTS clocks (
  run    INTEGER NOT NULL REFERENCES run(id),  -- the run
  pass   INTEGER NOT NULL,                     -- the pass
  moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),  -- of the pass
  multiprocessor_mhz INTEGER,                  -- clock of the multiprocessors
  memory_mhz    INTEGER,                       -- clock of the memory
  power_mw      INTEGER,                       -- what the card draws, averaged by the card
  temperature_c INTEGER,                       -- of the chip
  slowed_by     INTEGER,                       -- bits of NVML's throttle reasons, in words in the view throttling
  PRIMARY KEY (run, pass, moment)
) STRICT, WITHOUT ROWID;

-- What a GPU was asked to count while steps ran (replay --counters). How it counted, or why it did not: run_option counters_how.
CREATE TABLE IF NOT EXISTS counter (
  run     INTEGER NOT NULL REFERENCES run(id),  -- the run
  counter INTEGER NOT NULL,                     -- number in the run, from 0
  name    TEXT NOT NULL,                        -- as asked for: dram_read, ...
  metric  TEXT NOT NULL,                        -- what CUPTI calls it: dram__bytes_read.sum
  unit    TEXT NOT NULL,                        -- bytes, percent or count
  why     TEXT NOT NULL,                        -- why it was not counted; empty: it was
  PRIMARY KEY (run, counter)
) STRICT, WITHOUT ROWID;

-- What was counted of one execution of a step, or of a part of a fusion that ran as its parts too: its first in a pass of its own, which is not timed.
CREATE TABLE IF NOT EXISTS counter_value (
  run     INTEGER NOT NULL,                     -- the run
  step    INTEGER NOT NULL,                     -- the step
  part    INTEGER NOT NULL,                     -- as in fusion_part; -1: the step itself
  counter INTEGER NOT NULL,                     -- as in counter
  value   REAL NOT NULL,                        -- in the counter's unit
  PRIMARY KEY (run, step, part, counter)
) STRICT, WITHOUT ROWID;

-- Every raw timing. One step: FROM pass p CROSS JOIN sample s ON s.run = p.run AND s.pass = p.pass AND s.step = ? AND s.variant = 0 (rows lie in the order in which they came).
CREATE TABLE IF NOT EXISTS sample (
  run         INTEGER NOT NULL,              -- the run
  pass        INTEGER NOT NULL,              -- the pass
  step        INTEGER NOT NULL,              -- the step
  variant     INTEGER NOT NULL,              -- 0: the step as the program runs it; 1: a fusion's parts, one by one; 2: the fusion again, in turns with its parts
  round       INTEGER NOT NULL,              -- of variants 1 and 2: which comparison in this pass, from 0; a round is fused, parts, parts, fused or the other way round, by lot; the faster of two is kept
  begin_ns    INTEGER NOT NULL,              -- begin, since the run's start
  duration_ns INTEGER NOT NULL,              -- of all executions together
  executions  INTEGER NOT NULL,              -- how many: short steps are repeated within a pass, loop bodies run often
  PRIMARY KEY (run, pass, step, variant, round)
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

-- A fusion that was to run as its parts too (--unfused, --defuse, profile fuse): what they are on paper.
CREATE TABLE IF NOT EXISTS fusion (
  run    INTEGER NOT NULL REFERENCES run(id),  -- the run
  step   INTEGER NOT NULL,                     -- the fusion's step
  tried  INTEGER NOT NULL,                     -- 1: the program has its parts apart, and profile fuse fused them
  parts  INTEGER NOT NULL,                     -- launches that its parts take; 0: they could not run
  bytes  REAL NOT NULL,                        -- traffic of the parts as they run: operands are broadcast where they are used
  scratch_bytes INTEGER NOT NULL,              -- memory for what flows between them, beside the program's
  extra_flops   REAL NOT NULL,                 -- work that the fusion does again where the parts do it once: values that are used in several places
  why    TEXT NOT NULL,                        -- why the parts were not run; empty: they were
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- The parts of a fusion in the order in which they ran.
CREATE TABLE IF NOT EXISTS fusion_part (
  run    INTEGER NOT NULL REFERENCES run(id),  -- the run
  step   INTEGER NOT NULL,                     -- the fusion's step
  part   INTEGER NOT NULL,                     -- which, from 0
  name   TEXT NOT NULL,                        -- instruction in the fusion
  opcode TEXT NOT NULL,                        -- its HLO opcode
  class  TEXT NOT NULL,                        -- as of steps: kernel, library, copy
  flops  REAL NOT NULL,                        -- nominal, of one execution
  bytes  REAL NOT NULL,                        -- traffic of one execution
  kernel INTEGER,                              -- what it launches; NULL: a copy
  median_ns REAL,                              -- time of one execution, each measured alone in the first passes; NULL: not measured
  worst_error REAL,                            -- of --verify, in units of the tolerance (at most 1 passes); NULL: not verified
  PRIMARY KEY (run, step, part)
) STRICT, WITHOUT ROWID;

-- Fused against parts: what the pairs of a run say. Pair: the samples of variants 2 and 1 of one pass and round. Written when the run ends.
CREATE TABLE IF NOT EXISTS fusion_stat (
  run    INTEGER NOT NULL REFERENCES run(id),  -- the run
  step   INTEGER NOT NULL,                     -- the fusion's step
  n      INTEGER NOT NULL,                     -- pairs
  fused_ns   REAL NOT NULL,                    -- median of one execution of the fusion, beside its parts
  unfused_ns REAL NOT NULL,                    -- median of one execution of all parts
  ratio      REAL NOT NULL,                    -- median over the pairs of parts / fused: above 1 the fusion pays
  ratio_low  REAL,                             -- 95 % interval of it, lower end; NULL: there is one pair
  ratio_high REAL,                             -- upper end
  p_value    REAL NOT NULL,                    -- of a difference this clear by chance, corrected for the number of fusions (Benjamini-Hochberg)
  verdict    TEXT NOT NULL,                    -- pays, costs: p_value below 0.05 and a ratio at least 1 % from 1; else neutral
  PRIMARY KEY (run, step)
) STRICT, WITHOUT ROWID;

-- The timeline, folded for drawing: chunks of at most 512 records. Window: begin_ns BETWEEN the last begin at or before its begin AND its end.
CREATE TABLE IF NOT EXISTS slice_level (
  run      INTEGER NOT NULL REFERENCES run(id),  -- the run
  track    INTEGER NOT NULL,                     -- lane, from 0: steps that overlap, other variants and other devices lie in different ones
  level    INTEGER NOT NULL,                     -- -1: slices (begin i64, duration i64, step i32, variant i32); n: buckets of 2^n ns (index u32, count u32, step of the longest i32, its share and busy share u16)
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
