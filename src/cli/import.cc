// profile import FILE|FOLDER… [-o DB]
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <malloc.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "importers/importer.h"
#include "src/base/decompress.h"
#include "src/base/text.h"
#include "src/cli/command.h"
#include "src/cli/import_file.h"
#include "src/cli/output.h"
#include "src/cli/values.h"
#include "src/model/store.h"

namespace cli {
namespace {

struct ImportOptions {
  std::vector<std::string> paths;
  std::string database = "profile.db";
  bool fresh = false;
  importers::Options program;
};

/// An import makes and frees millions of small things: memory that was freed is kept for the next ones, and merged at once, not again and
/// again in lists of small pieces.
void keep_freed_memory() {
  constexpr int kMost = 1 << 30, kMostOfHeap = 32 << 20, kStep = 16 << 20;  // bytes
  mallopt(M_MXFAST, 0);
  mallopt(M_TRIM_THRESHOLD, kMost);
  mallopt(M_MMAP_THRESHOLD, kMostOfHeap);
  mallopt(M_TOP_PAD, kStep);
}

/// What became of the files of a folder.
struct Count {
  int64_t imported = 0, refused = 0, others = 0;
};

class Importing {
 public:
  Importing(const ImportOptions& options, std::string source_text) : options_(options), source_text_(std::move(source_text)) {}

  base::Status file(const std::string& path) {
    ASSIGN_OR_RETURN(const std::string bytes, program_bytes(path));
    return add({path == "-" ? "<stdin>" : path, bytes, options_.program, source_text_});
  }

  /// Files that are no programs are passed over; programs that are refused are told, and the others go on.
  base::Result<Count> folder(const std::string& path) {
    ASSIGN_OR_RETURN(const std::vector<std::string> files, files_of(path));
    Count count;
    for (const std::string& name : files) {
      const auto bytes = base::read_unpacked_file(name);
      if (bytes.ok() && (bytes->empty() || importers::match({name, *bytes}) < importers::Match::likely)) {
        ++count.others;
        continue;
      }
      const base::Status added = bytes.ok() ? add({name, *bytes, options_.program, source_text_}) : base::Status(bytes.error());
      RETURN_IF_ERROR(kept_);
      if (!added.ok()) print_err(fmt::format("profile: {}\n", added.error().message));
      ++(added.ok() ? count.imported : count.refused);
    }
    RETURN_IF_ERROR(print_out(fmt::format("{}: {} files imported, {} refused, {} of other formats passed over\n", base::escaped(path),
                                          count.imported, count.refused, count.others)));
    return count;
  }

 private:
  /// Modules are stored as they are read: a dump need not fit into memory as a program.
  base::Status add(const importers::Input& input) {
    std::optional<model::Import> import;
    const auto take = [&](const model::Source& source, importers::Program program, std::string_view text) {
      kept_ = begin(import, source);
      if (!kept_.ok()) return kept_;
      return kept_ = import->take(std::move(program.module), std::string(text), std::move(program.operators));
    };
    const auto ahead = [&](const model::Source& source, model::OperatorStream operators) {
      kept_ = begin(import, source);
      if (!kept_.ok()) return kept_;
      return kept_ = import->ahead(std::move(operators));
    };
    const auto imported = importers::import(input, {take, ahead});
    if (!imported.ok()) return imported.error();
    return kept_ = finish(import, *imported);
  }

  base::Status begin(std::optional<model::Import>& import, const model::Source& source) {
    if (import) return {};
    if (!store_) {  // opened once there is something to keep: a wrong path leaves no empty database
      ASSIGN_OR_RETURN(store_, model::Store::open(options_.database, options_.fresh ? model::OpenMode::fresh : model::OpenMode::append));
    }
    ASSIGN_OR_RETURN(import, store_->import(source));
    return {};
  }

  base::Status finish(std::optional<model::Import>& import, const model::Imported& imported) {
    RETURN_IF_ERROR(begin(import, imported.source));
    ASSIGN_OR_RETURN(const model::ImportIds ids, import->finish(imported));
    return print_out(import_account(imported) + (ids.existed ? " (already in the database)\n" : "\n") + module_places(imported));
  }

  const ImportOptions& options_;
  const std::string source_text_;
  std::optional<model::Store> store_;
  base::Status kept_;  ///< what the store said last: its errors end a folder, those of a program do not
};

}  // namespace

Action define_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  app.add_option("FILE", options->paths, "program dumps, or folders of them; - is stdin")->required();
  app.add_option("-o,--output", options->database, "database; it is appended to")->capture_default_str();
  app.add_flag("-f,--fresh", options->fresh, "replace an existing database");
  define_program_options(app, options->program);
  app.add_option("--as", options->program.as, format_help())->check(not_empty("a format"));
  return [options]() -> base::Result<base::Exit> {
    keep_freed_memory();
    ASSIGN_OR_RETURN(std::string text, source_text(options->program));
    Importing importing(*options, std::move(text));
    base::Exit exit = base::Exit::ok;
    for (const std::string& path : options->paths) {
      std::error_code unknown;
      if (!std::filesystem::is_directory(path, unknown)) {
        RETURN_IF_ERROR(importing.file(path));
        continue;
      }
      ASSIGN_OR_RETURN(const Count count, importing.folder(path));
      if (count.imported == 0)
        return base::Error{
            fmt::format("{}: no program in this folder was imported; dump with --xla_dump_hlo_as_text", base::escaped(path))};
      if (count.refused > 0) exit = base::Exit::partial;
    }
    return exit;
  };
}

}  // namespace cli
