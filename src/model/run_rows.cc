// A description is written whole each time: what a run knows of its steps grows, and it is small beside the samples.
#include "src/model/run_rows.h"

#include <fmt/format.h>

#include "src/base/text.h"
#include "src/model/checks.h"
#include "src/model/content.h"
#include "src/model/counter_rows.h"
#include "src/model/fusion_rows.h"

namespace model {
namespace {

using Limits = CeilingRecord::Limits;
using Provenance = CeilingRecord::Provenance;

base::Status write_settings(Database& database, std::string_view sql, int64_t owner, std::span<const Setting> settings) {
  ASSIGN_OR_RETURN(Statement insert, database.prepare(sql));
  for (const Setting& setting : settings) {
    const std::string name = base::escaped(setting.name), value = base::escaped(setting.value);
    RETURN_IF_ERROR(insert.run(owner, std::string_view(name), std::string_view(value)));
  }
  return {};
}

/// All of them, those that have fields of their own first. What is not above 0 was not measured.
std::vector<CeilingRecord> all_ceilings(const DeviceRecord& device) {
  std::vector<CeilingRecord> all = {
      {Limits::memory, "triad", device.triad_bytes_per_s, Provenance::measured, "a + 3·b on f32, ordinary stores"},
      {Limits::memory, "triad, streaming stores", device.triad_streaming_bytes_per_s, Provenance::measured,
       "a + 3·b on f32, streaming stores"},
      {Limits::compute, "f32×f32→f32", device.product_flops_per_s, Provenance::measured, "a large product"}};
  for (const auto& [operands, rate] : device.products)
    all.push_back({Limits::compute, operands, rate, Provenance::measured, "a large product"});
  all.insert(all.end(), device.ceilings.begin(), device.ceilings.end());
  return all;
}

base::Status write_ceilings(Database& database, int64_t device, std::span<const CeilingRecord> ceilings) {
  ASSIGN_OR_RETURN(Statement clear, database.prepare("DELETE FROM ceiling WHERE device = ?1"));
  RETURN_IF_ERROR(clear.run(device));
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT OR REPLACE INTO ceiling (device, limits, name, provenance, per_s, source) VALUES (?1,?2,?3,?4,?5,?6)"));
  for (const CeilingRecord& c : ceilings) {
    if (!(c.per_s > 0)) continue;
    const std::string name = base::escaped(c.name), source = base::escaped(c.source);
    RETURN_IF_ERROR(insert.run(device, text(c.limits), std::string_view(name), text(c.provenance), c.per_s, std::string_view(source)));
  }
  return {};
}

base::Result<int64_t> write_device(Database& database, const DeviceRecord& device, int64_t existing) {
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT OR REPLACE INTO device (id, name, model, driver, libraries, threads) "
                                                      "VALUES (nullif(?1, 0),?2,?3,?4,?5,?6)"));
  const std::string name = base::escaped(device.name), what = base::escaped(device.model), driver = base::escaped(device.driver),
                    libraries = base::escaped(device.libraries);
  RETURN_IF_ERROR(insert.run(existing, std::string_view(name), std::string_view(what), std::string_view(driver),
                             std::string_view(libraries), device.threads));
  const int64_t row = database.last_id();
  RETURN_IF_ERROR(
      write_settings(database, "INSERT OR REPLACE INTO device_detail (device, name, value) VALUES (?1,?2,?3)", row, device.details));
  RETURN_IF_ERROR(write_ceilings(database, row, all_ceilings(device)));
  return row;
}

base::Status write_trials(Database& database, int64_t run, int64_t kernel, std::span<const TrialRecord> trials) {
  if (trials.empty()) return {};
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO kernel_trial (run, kernel, rank, implementation, median_ns, executions, chosen) "
                                    "VALUES (?1,?2,?3,?4,?5,?6,?7)"));
  for (const TrialRecord& trial : trials) {
    const std::string implementation = base::escaped(trial.implementation);
    RETURN_IF_ERROR(insert.run(run, kernel, static_cast<int64_t>(trial.rank), std::string_view(implementation), trial.median_ns,
                               static_cast<int64_t>(trial.executions), static_cast<int64_t>(trial.chosen ? 1 : 0)));
  }
  return {};
}

base::Status write_kernels(Database& database, int64_t run, std::span<const KernelRecord> kernels) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO kernel (run, kernel, key, name, language, implementation, content, compile_ns, code_bytes) "
                       "VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"));
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelRecord& kernel = kernels[i];
    const std::string name = base::escaped(kernel.name), implementation = base::escaped(kernel.implementation);
    ASSIGN_OR_RETURN(const int64_t content, add_content(database, kernel.source));
    RETURN_IF_ERROR(insert.run(run, static_cast<int64_t>(i), std::string_view(kernel.key), std::string_view(name),
                               std::string_view(kernel.language), std::string_view(implementation), content, kernel.compile_ns,
                               kernel.code_bytes));
    RETURN_IF_ERROR(write_trials(database, run, static_cast<int64_t>(i), kernel.trials));
  }
  return {};
}

base::Status write_steps(Database& database, int64_t run, std::span<const StepRecord> steps) {
  Background background;
  ASSIGN_OR_RETURN(StepRows rows, StepRows::make(database, background));
  for (const StepRecord& step : steps) rows.add(run, step);
  rows.flush();
  return background.wait();
}

base::Status write_buffers(Database& database, int64_t run, std::span<const BufferRecord> buffers) {
  ASSIGN_OR_RETURN(Statement insert,
                   database.prepare("INSERT INTO buffer (run, buffer, name, kind, bytes, \"offset\", first_step, last_step, alias_of) "
                                    "VALUES (?1,?2,?3,?4,?5,nullif(?6, -1),?7,?8,nullif(?9, -1))"));
  for (const BufferRecord& buffer : buffers) {
    const std::string name = base::escaped(buffer.name);
    RETURN_IF_ERROR(insert.run(run, buffer.buffer, std::string_view(name), std::string_view(buffer.kind), buffer.bytes, buffer.offset,
                               buffer.first_step, buffer.last_step, buffer.alias_of));
  }
  return {};
}

base::Status write_run_notes(Database& database, int64_t run, std::span<const Note> notes) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO note (run, line, \"column\", code, text) VALUES (?1, nullif(?2, 0), nullif(?3, 0), ?4, ?5)"));
  for (const Note& note : notes) {
    const std::string what = base::escaped(note.text);
    RETURN_IF_ERROR(insert.run(run, note.line, note.column, std::string_view(note.code), std::string_view(what)));
  }
  return {};
}

base::Status clear_description(Database& database, int64_t run) {
  for (const std::string_view table : {"kernel", "kernel_trial", "step", "step_kernel", "buffer", "note", "run_option", "fusion",
                                       "fusion_part", "counter", "counter_value"}) {
    ASSIGN_OR_RETURN(Statement clear, database.prepare(fmt::format("DELETE FROM {} WHERE run = ?1", table)));
    RETURN_IF_ERROR(clear.run(run));
  }
  return {};
}

}  // namespace

std::string_view text(CeilingRecord::Limits limits) {
  constexpr std::string_view kNames[] = {"memory", "cache", "compute"};
  return kNames[static_cast<size_t>(limits)];
}

std::string_view text(CeilingRecord::Provenance provenance) { return provenance == Provenance::measured ? "measured" : "published"; }

std::string_view text(RunKind kind) {
  constexpr std::string_view kNames[] = {"replay", "recorded", "predicted"};
  return kNames[static_cast<size_t>(kind)];
}

base::Status write_description(Database& database, int64_t run, const Run& what) {
  RETURN_IF_ERROR(clear_description(database, run));
  ASSIGN_OR_RETURN(const int64_t known_device, database.integer(fmt::format("SELECT device FROM run WHERE id = {}", run)));
  ASSIGN_OR_RETURN(const int64_t device, write_device(database, what.device, known_device));
  ASSIGN_OR_RETURN(
      Statement update,
      database.prepare("UPDATE run SET device = ?2, plan_ns = ?3, compile_ns = ?4, arena_bytes = ?5, peak_bytes = ?6, peak_step = ?7 "
                       "WHERE id = ?1"));
  const std::string peak_step = base::escaped(what.peak_step);
  RETURN_IF_ERROR(update.run(run, device, what.plan_ns, what.compile_ns, what.arena_bytes, what.peak_bytes, std::string_view(peak_step)));
  RETURN_IF_ERROR(write_settings(database, "INSERT OR REPLACE INTO run_option (run, name, value) VALUES (?1,?2,?3)", run, what.options));
  RETURN_IF_ERROR(write_kernels(database, run, what.kernels));
  RETURN_IF_ERROR(write_steps(database, run, what.steps));
  RETURN_IF_ERROR(write_buffers(database, run, what.buffers));
  RETURN_IF_ERROR(write_fusions(database, run, what.fusions));
  RETURN_IF_ERROR(write_counters(database, run, what.counters));
  return write_run_notes(database, run, what.notes);
}

base::Result<int64_t> add_run(Database& database, const Run& run) {
  ASSIGN_OR_RETURN(
      Statement insert,
      database.prepare("INSERT INTO run (module, status, writer, started_unix_ns, plan_ns, compile_ns, arena_bytes, peak_bytes, peak_step, "
                       "kind, source) VALUES (nullif(?1, 0), 'running', ?2, ?3, 0, 0, 0, 0, '', ?4, nullif(?5, 0))"));
  const std::string writer = this_writer();
  RETURN_IF_ERROR(insert.run(run.module, std::string_view(writer), run.started_unix_ns, text(run.kind), run.source));
  const int64_t id = database.last_id();
  RETURN_IF_ERROR(write_description(database, id, run));
  return id;
}

base::Result<StepRows> StepRows::make(Database& database, Background& background) {
  ASSIGN_OR_RETURN(RowBatch steps, RowBatch::make(database, background, "step",
                                                  "run, step, name, computation, opcode, kind, class, key, why, precision, instruction, "
                                                  "trips, flops, bytes, transcendentals, saved_bytes, worst_error, verified_elements, op"));
  ASSIGN_OR_RETURN(RowBatch launches, RowBatch::make(database, background, "step_kernel", "run, step, position, kernel"));
  return StepRows(std::move(steps), std::move(launches));
}

void StepRows::add(int64_t run, const StepRecord& step) {
  const auto or_none = [](auto value, bool known) { return known ? std::optional(value) : std::nullopt; };
  const base::Shown name(step.name), computation(step.computation), kind(step.kind), why(step.why);
  steps_.add(run, step.step, name.text(), computation.text(), std::string_view(step.opcode), kind.text(), std::string_view(step.cls),
             std::string_view(step.key), why.text(), std::string_view(step.precision), or_none(step.instruction, step.instruction > 0),
             step.trips, step.flops, step.bytes, step.transcendentals, step.saved_bytes, or_none(step.worst_error, step.worst_error >= 0),
             step.verified_elements, or_none(step.op, step.op > 0));
  int64_t position = 0;
  for (const int32_t kernel : step.kernels) launches_.add(run, step.step, position++, kernel);
}

void StepRows::flush() {
  steps_.flush();
  launches_.flush();
}

base::Result<RunInserts> RunInserts::make(const Database& database) {
  ASSIGN_OR_RETURN(Statement pass, database.prepare("INSERT INTO pass (run, pass, begin_ns, end_ns) VALUES (?1,?2,?3,?4)"));
  ASSIGN_OR_RETURN(
      Statement sample,
      database.prepare(
          "INSERT INTO sample (run, pass, step, variant, round, begin_ns, duration_ns, executions) VALUES (?1,?2,?3,?4,?5,?6,?7,?8)"));
  ASSIGN_OR_RETURN(Statement clocks, database.prepare("INSERT INTO clocks (run, pass, moment, multiprocessor_mhz, memory_mhz, power_mw, "
                                                      "temperature_c, slowed_by) VALUES (?1,?2,?3,?4,?5,?6,?7,?8)"));
  return RunInserts(std::move(pass), std::move(clocks), std::move(sample));
}

base::Status RunInserts::add_clocks(int64_t run, const Pass& pass, std::string_view moment, const std::optional<Clocks>& clocks) {
  if (!clocks) return {};
  insert_clocks_.bind(1, run);
  insert_clocks_.bind(2, pass.pass);
  insert_clocks_.bind(3, moment);
  int parameter = 4;
  for (const auto& value : {clocks->multiprocessor_mhz, clocks->memory_mhz, clocks->power_mw, clocks->temperature_c, clocks->slowed_by}) {
    value ? insert_clocks_.bind(parameter, *value) : insert_clocks_.bind(parameter, Null{});
    ++parameter;
  }
  RETURN_IF_ERROR(insert_clocks_.step());
  return {};
}

base::Status RunInserts::add(int64_t run, const Pass& pass, std::span<const Sample> samples) {
  RETURN_IF_ERROR(insert_pass_.run(run, pass.pass, pass.begin_ns, pass.end_ns));
  RETURN_IF_ERROR(add_clocks(run, pass, "before", pass.before));
  RETURN_IF_ERROR(add_clocks(run, pass, "after", pass.after));
  for (const Sample& s : samples) {
    RETURN_IF_ERROR(insert_sample_.run(run, pass.pass, s.step, s.variant, s.round, s.begin_ns, s.duration_ns, s.executions));
  }
  return {};
}

}  // namespace model
