// Plain records between importers, replay, store and reports. Times are int64 ns, sizes bytes, ids row ids of the store (0 = not stored).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/module.h"
#include "src/model/counter_records.h"
#include "src/model/device_records.h"
#include "src/model/fusion_records.h"
#include "src/model/operator_records.h"
#include "src/model/symbol_index.h"

namespace model {

/// What an import could go on without. Counted on stderr, kept in table `note`, never dropped silently.
struct Note {
  int64_t line = 0, column = 0;  ///< 0: not about a place
  std::string code;              ///< short and stable: "elided-constant", "unknown-attribute"
  std::string text;
};

/// A file as it was read.
struct Source {
  std::string path, format, sha256;  ///< path as given
  std::string options;               ///< what a person chose for it: "batch=2 image=64"; the same bytes with others are another program
  int64_t bytes = 0;
  int64_t modules = 0, computations = 0;    ///< in it
  int64_t read = 0, kept = 0, dropped = 0;  ///< records; read = kept + dropped
  std::string records = "instructions";     ///< what they are: operators of frameworks, symbols of indexes
};

/// What an importer returns.
struct Imported {
  Source source;
  std::vector<ir::Module> modules;                      ///< none if the importer has handed them out one by one
  std::vector<std::string> module_texts;                ///< HLO text that the store keeps, one a module (as read if HLO)
  std::vector<std::vector<Operator>> module_operators;  ///< of each module; none where its metadata tells all, as in HLO
  std::vector<Operator> operators;                      ///< of programs that are no modules: lists and logs that cannot be replayed
  std::vector<Recording> recordings;                    ///< of `operators`
  std::optional<SymbolIndex> symbols;                   ///< of a source index: it holds no program
  std::vector<Note> notes;
};

/// One timing: all executions of a step within one pass.
struct Sample {
  int32_t step = 0, pass = 0, variant = 0;
  int64_t begin_ns = 0;     ///< since the run's start
  int64_t duration_ns = 0;  ///< of all executions together
  int32_t executions = 1;
  int32_t round = 0;  ///< of variants 1 and 2: which comparison within the pass
};

struct Pass {
  int32_t pass = 0;
  int64_t begin_ns = 0, end_ns = 0;
  std::optional<Clocks> before{}, after{};  ///< of devices that tell
};

/// Summary of a step's samples, per execution; a test recomputes it in SQL.
struct StepStat {
  int32_t step = 0, variant = 0;
  int64_t n = 0;     ///< samples (passes)
  double calls = 0;  ///< executions in one pass as the program runs it (a loop body's step: trips)
  double min_ns = 0, q1_ns = 0, median_ns = 0, q3_ns = 0, mad_ns = 0, ci_low_ns = 0, ci_high_ns = 0;  ///< 95 % interval of the median
  std::string flags;  ///< "too-short few-samples drifting bimodal throttled", separated by spaces
};

/// One of the ways in which a library could do its work, timed before the passes.
struct TrialRecord {
  int32_t rank = 1;            ///< in the library's own order
  std::string implementation;  ///< as of the kernel
  double median_ns = 0;        ///< of `executions` back to back, the gaps between their launches in it
  int32_t executions = 0;
  bool chosen = false;
};

struct KernelRecord {
  std::string key, name, language;  ///< language: "llvm-ir", "library"
  std::string implementation;       ///< what ran: "jit znver3", "dnnl gemm:jit f32", "packed f16→f32→f16 avx512"
  std::string source;               ///< text of the code (LLVM IR), or what a library was asked for
  int64_t compile_ns = 0, code_bytes = 0;
  std::vector<TrialRecord> trials{};  ///< of --autotune
};

struct StepRecord {
  int32_t step = 0;
  std::string name;          ///< instruction
  std::string computation;   ///< where it stands
  std::string opcode, kind;  ///< kind: fusion kind, custom-call target or ""
  std::string cls;           ///< kernel, library, copy, stand-in, reference, host, skip
  std::string key;           ///< identity across runs and renames
  std::string why;           ///< of skip and stand-in
  std::string precision;     ///< what ran: "f16×f16→f32→f16"
  int64_t instruction = 0;   ///< row id; set by the command that joins
  int64_t op = 0;            ///< of a recorded run: row id of the operator
  ir::InstrRef instr;
  std::vector<int32_t> kernels;                      ///< indices into Run::kernels, in launch order
  double trips = 1;                                  ///< executions in one pass
  double flops = 0, bytes = 0, transcendentals = 0;  ///< nominal flops; traffic bytes; of one execution
  double saved_bytes = 0;                            ///< fusions: traffic of the parts alone minus that of the fusion
  double worst_error = -1;                           ///< of --verify, in units of the tolerance (≤ 1 passes); -1: not verified
  int64_t verified_elements = 0;
};

struct BufferRecord {
  int32_t buffer = 0;
  std::string name, kind;  ///< kind: parameter, constant, temporary, output, scratch
  int64_t bytes = 0, offset = -1;
  int32_t first_step = 0, last_step = 0;  ///< live range
  int32_t alias_of = -1;
};

/// recorded: its times come from a log; predicted: nothing ran, a description of a machine and a formula tell its times.
enum class RunKind : uint8_t { replay, recorded, predicted };
std::string_view text(RunKind kind);

enum class RunStatus : uint8_t { running, complete, interrupted, failed };

/// A replay. The row is committed first; steps, kernels and buffers when known; samples as passes end.
struct Run {
  int64_t module = 0;  ///< row id
  int64_t source = 0;  ///< of a recorded run: row id of the log
  RunKind kind = RunKind::replay;
  DeviceRecord device;
  std::vector<Setting> options;  ///< every option, seed, inputs, rounding, timer, warm-ups, criterion, cold or warm, tool version
  int64_t started_unix_ns = 0;
  int64_t plan_ns = 0, compile_ns = 0;
  int64_t arena_bytes = 0, peak_bytes = 0;
  std::string peak_step;  ///< where the arena is fullest
  std::vector<KernelRecord> kernels;
  std::vector<StepRecord> steps;
  std::vector<BufferRecord> buffers;
  std::vector<FusionRecord> fusions;  ///< those that were to run as their parts too
  Counters counters;                  ///< of the hardware, where they were asked for
  std::vector<Note> notes;
};

}  // namespace model
