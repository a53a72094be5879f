// schema.sql describes the newest version and may be run again: what exists is skipped. A migration therefore drops all views
// (ALTER TABLE would check and rewrite them), changes the old tables step by step, and runs schema.sql for everything new.
#include "src/model/schema.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "embedded/model_sql.h"
#include "src/model/checks.h"
#include "src/model/store.h"

namespace model {
namespace {

base::Status drop_views(Database& database) {
  std::string drops;
  {
    ASSIGN_OR_RETURN(Statement views, database.prepare("SELECT format('DROP VIEW \"%w\";', name) FROM sqlite_schema WHERE type = 'view'"));
    while (true) {
      ASSIGN_OR_RETURN(const bool row, views.step());
      if (!row) break;
      drops += views.text(0);
    }
  }
  return database.execute(drops);
}

base::Status run_migrations(Database& database, std::span<const Migration> steps, int64_t from, int64_t to) {
  for (int64_t version = from; version < to; ++version) {
    bool found = false;
    for (const Migration& step : steps) {
      if (step.from != version) continue;
      RETURN_IF_ERROR(database.execute(step.sql));
      found = true;
    }
    if (!found) {
      return base::Error{
          fmt::format("{}: schema {} is too old for this version of profile; replay again into a new file", database.path(), version)};
    }
  }
  return {};
}

}  // namespace

std::string_view schema() {
  static_assert(embedded::kFiles[0].name == "schema" && embedded::kFiles[1].name == "views");
  static const std::string kWhole = std::string(embedded::kFiles[0].text) + "\n" + std::string(embedded::kFiles[1].text);
  return kWhole;
}

/// Operands, users and costs were rows of their own. They move as they are: only new imports share costs.
constexpr std::string_view kToVersion4 = R"(
  ALTER TABLE instruction ADD COLUMN operands TEXT;
  ALTER TABLE instruction ADD COLUMN users TEXT;
  ALTER TABLE instruction ADD COLUMN work INTEGER;
  UPDATE instruction SET work = id,
    operands = (SELECT nullif(json_group_array(read), '[]') FROM (
      SELECT operand - instruction.id + instruction.position AS read FROM operand WHERE instruction = instruction.id ORDER BY operand.position)),
    users = (SELECT nullif(json_group_array(reader), '[]') FROM (
      SELECT DISTINCT o.instruction - instruction.id + instruction.position AS reader FROM operand o WHERE o.operand = instruction.id ORDER BY 1));
  DROP TABLE operand;
  CREATE TABLE work (work INTEGER NOT NULL, method TEXT NOT NULL, flops REAL NOT NULL, transcendentals REAL NOT NULL, bytes_read REAL NOT NULL,
    bytes_written REAL NOT NULL, known INTEGER NOT NULL, PRIMARY KEY (work, method)) STRICT, WITHOUT ROWID;
  INSERT INTO work SELECT instruction, method, flops, transcendentals, bytes_read, bytes_written, known FROM cost;
  DROP TABLE cost;
  ALTER TABLE op_instruction RENAME TO op_share;
  DELETE FROM op_share WHERE (SELECT opcode FROM instruction WHERE id = op_share.instruction) <> 'fusion';
  DROP INDEX op_instruction_of;
  DROP INDEX instruction_name;
)";

/// Operators of lists and logs stand in no module, and the same bytes can be different programs by what a person chose. Tables whose
/// columns get other rules are made anew; `references` to them hold by name.
constexpr std::string_view kToVersion5 = R"(
  CREATE TABLE source_5 (id INTEGER PRIMARY KEY, path TEXT NOT NULL, format TEXT NOT NULL, sha256 TEXT NOT NULL, bytes INTEGER NOT NULL,
    read INTEGER NOT NULL, kept INTEGER NOT NULL, dropped INTEGER NOT NULL, options TEXT NOT NULL DEFAULT '', UNIQUE (sha256, options)) STRICT;
  INSERT INTO source_5 SELECT id, path, format, sha256, bytes, read, kept, dropped, '' FROM source;
  DROP TABLE source;
  ALTER TABLE source_5 RENAME TO source;
  CREATE TABLE scope_5 (id INTEGER PRIMARY KEY, module INTEGER REFERENCES module(id), parent INTEGER REFERENCES scope(id),
    depth INTEGER NOT NULL, name TEXT NOT NULL) STRICT;
  INSERT INTO scope_5 SELECT id, module, parent, depth, name FROM scope;
  DROP TABLE scope;
  ALTER TABLE scope_5 RENAME TO scope;
  CREATE TABLE op_5 (id INTEGER PRIMARY KEY, source INTEGER NOT NULL REFERENCES source(id), module INTEGER REFERENCES module(id),
    position INTEGER NOT NULL, type TEXT, name TEXT NOT NULL, short_name TEXT NOT NULL, scope INTEGER NOT NULL REFERENCES scope(id),
    phase TEXT NOT NULL, type_from TEXT NOT NULL, launches TEXT NOT NULL, device TEXT, shape TEXT, shape_from TEXT NOT NULL,
    attributes TEXT, inputs TEXT, line INTEGER, note TEXT) STRICT;
  INSERT INTO op_5 (id, source, module, position, type, name, short_name, scope, phase, type_from, launches, shape_from)
    SELECT o.id, m.source, o.module, o.position, nullif(o.type, ''), o.name, o.short_name, o.scope, o.phase,
      CASE o.type WHEN '' THEN '' ELSE 'given' END, 'device', '' FROM op o JOIN module m ON m.id = o.module;
  DROP TABLE op;
  ALTER TABLE op_5 RENAME TO op;
  ALTER TABLE run ADD COLUMN kind TEXT NOT NULL DEFAULT 'replay' CHECK (kind IN ('replay', 'recorded'));
  ALTER TABLE run ADD COLUMN source INTEGER REFERENCES source(id);
  ALTER TABLE step ADD COLUMN op INTEGER REFERENCES op(id);
)";

/// Shapes and source lines stood in the instructions.
constexpr std::string_view kToVersion6 = R"(
  CREATE TABLE shape (id INTEGER PRIMARY KEY, dtype TEXT NOT NULL, text TEXT NOT NULL, layout TEXT NOT NULL, bytes INTEGER NOT NULL) STRICT;
  CREATE TEMP TABLE old_shape (shape INTEGER, layout INTEGER, dtype TEXT, bytes INTEGER, id INTEGER PRIMARY KEY, UNIQUE (shape, layout, dtype, bytes));
  INSERT INTO old_shape SELECT DISTINCT shape, layout, dtype, result_bytes, NULL FROM instruction;
  INSERT INTO shape SELECT o.id, o.dtype, s.text, l.text, o.bytes FROM old_shape o JOIN string s ON s.id = o.shape JOIN string l ON l.id = o.layout;
  CREATE TABLE place (id INTEGER PRIMARY KEY, file INTEGER NOT NULL REFERENCES string(id), line INTEGER NOT NULL) STRICT;
  CREATE TEMP TABLE old_place (file INTEGER, line INTEGER, id INTEGER PRIMARY KEY, UNIQUE (file, line));
  INSERT INTO old_place SELECT DISTINCT source_file, coalesce(source_line, 0), NULL FROM instruction WHERE source_file IS NOT NULL;
  INSERT INTO place SELECT id, file, line FROM old_place;
  CREATE TABLE instruction_6 (id INTEGER PRIMARY KEY, computation INTEGER NOT NULL REFERENCES computation(id), name TEXT NOT NULL,
    opcode TEXT NOT NULL, kind TEXT NOT NULL, shape INTEGER NOT NULL REFERENCES shape(id), op INTEGER REFERENCES op(id),
    place INTEGER REFERENCES place(id), attributes TEXT, operands TEXT, users TEXT, work INTEGER) STRICT;
  INSERT INTO instruction_6
    SELECT i.id, i.computation, i.name, i.opcode, i.kind, s.id, i.op, p.id, i.attributes, i.operands, i.users, i.work FROM instruction i
    JOIN old_shape s ON s.shape = i.shape AND s.layout = i.layout AND s.dtype = i.dtype AND s.bytes = i.result_bytes
    LEFT JOIN old_place p ON p.file = i.source_file AND p.line = coalesce(i.source_line, 0) ORDER BY i.id;
  DROP TABLE instruction;
  ALTER TABLE instruction_6 RENAME TO instruction;
  DROP TABLE old_shape;
  DROP TABLE old_place;
  DELETE FROM string WHERE id NOT IN (SELECT file FROM place);
)";

/// Samples of fusions beside their parts come in rounds.
constexpr std::string_view kToVersion7 = R"(
  CREATE TABLE sample_7 (run INTEGER NOT NULL, pass INTEGER NOT NULL, step INTEGER NOT NULL, variant INTEGER NOT NULL, round INTEGER NOT NULL,
    begin_ns INTEGER NOT NULL, duration_ns INTEGER NOT NULL, executions INTEGER NOT NULL,
    PRIMARY KEY (run, pass, step, variant, round)) STRICT, WITHOUT ROWID;
  INSERT INTO sample_7 SELECT run, pass, step, variant, 0, begin_ns, duration_ns, executions FROM sample;
  DROP TABLE sample;
  ALTER TABLE sample_7 RENAME TO sample;
)";

/// Ceilings were columns of the device and a table of products; a run could not be a prediction. A kind of run is checked by its table,
/// which is therefore made anew.
constexpr std::string_view kToVersion8 = R"(
  CREATE TABLE ceiling (device INTEGER NOT NULL REFERENCES device(id), limits TEXT NOT NULL CHECK (limits IN ('memory', 'cache', 'compute')),
    name TEXT NOT NULL, provenance TEXT NOT NULL CHECK (provenance IN ('measured', 'published')), per_s REAL NOT NULL, source TEXT NOT NULL,
    PRIMARY KEY (device, limits, name, provenance)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS device_product (device INTEGER, operands TEXT, flops_per_s REAL);  -- version 1 had none
  INSERT INTO ceiling
    SELECT id, 'memory', 'triad', 'measured', triad_bytes_per_s, 'a + 3·b on f32, ordinary stores' FROM device WHERE triad_bytes_per_s > 0
    UNION ALL
    SELECT id, 'memory', 'triad, streaming stores', 'measured', triad_streaming_bytes_per_s, 'a + 3·b on f32, streaming stores' FROM device
    WHERE triad_streaming_bytes_per_s > 0
    UNION ALL
    SELECT id, 'compute', 'f32×f32→f32', 'measured', product_flops_per_s, 'a large product' FROM device WHERE product_flops_per_s > 0
    UNION ALL
    SELECT device, 'compute', operands, 'measured', flops_per_s, 'a large product' FROM device_product WHERE operands <> 'f32×f32→f32';
  DROP TABLE device_product;
  ALTER TABLE device DROP COLUMN triad_bytes_per_s;
  ALTER TABLE device DROP COLUMN triad_streaming_bytes_per_s;
  ALTER TABLE device DROP COLUMN product_flops_per_s;
  CREATE TABLE run_8 (id INTEGER PRIMARY KEY, module INTEGER REFERENCES module(id), device INTEGER REFERENCES device(id),
    status TEXT NOT NULL CHECK (status IN ('running', 'complete', 'interrupted', 'failed')), writer TEXT NOT NULL,
    started_unix_ns INTEGER NOT NULL, finished_unix_ns INTEGER, plan_ns INTEGER NOT NULL, compile_ns INTEGER NOT NULL,
    arena_bytes INTEGER NOT NULL, peak_bytes INTEGER NOT NULL, peak_step TEXT NOT NULL,
    kind TEXT NOT NULL DEFAULT 'replay' CHECK (kind IN ('replay', 'recorded', 'predicted')), source INTEGER REFERENCES source(id)) STRICT;
  INSERT INTO run_8 SELECT id, module, device, status, writer, started_unix_ns, finished_unix_ns, plan_ns, compile_ns, arena_bytes,
    peak_bytes, peak_step, kind, source FROM run;
  DROP TABLE run;
  ALTER TABLE run_8 RENAME TO run;
)";

/// Version 1 is the first that was published. A new table or view alone needs no statement: schema.sql makes it.
std::span<const Migration> migrations() {
  static constexpr Migration kSteps[] = {{1, ""},          {2, ""}, {3, kToVersion4}, {4, kToVersion5}, {5, kToVersion6}, {6, kToVersion7},
                                         {7, kToVersion8}, {8, ""}, {9, ""},          {10, ""},         {11, ""}};
  return kSteps;
}

base::Status prepare_schema(Database& database, std::string_view schema_sql, std::span<const Migration> steps, int64_t version) {
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::begin(database));
  ASSIGN_OR_RETURN(const Identity identity, identify(database, version));  // again, now that nobody else can make it
  ASSIGN_OR_RETURN(const int64_t found, database.integer("PRAGMA user_version"));
  if (identity == Identity::ours && found == version) return {};
  if (identity == Identity::ours) {
    RETURN_IF_ERROR(drop_views(database));
    RETURN_IF_ERROR(run_migrations(database, steps, found, version));
  }
  RETURN_IF_ERROR(database.execute(schema_sql));
  RETURN_IF_ERROR(database.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version)));
  return transaction.commit();
}

}  // namespace model
