// Reads a program file, and says what was read.
#include "src/cli/import_file.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>

#include "importers/importer.h"
#include "src/base/decompress.h"
#include "src/base/file.h"
#include "src/base/text.h"
#include "src/cli/values.h"

namespace cli {

void define_program_options(CLI::App& app, importers::Options& options) {
  constexpr int kMost = 1 << 20;
  app.add_option("--batch", options.batch, "examples in a step, where the program does not say (0: the importer's choice, which it notes)")
      ->check(whole_number(0, kMost));
  app.add_option("--image", options.image, "height and width of images, where the program does not say")->check(whole_number(0, 1 << 14));
  app.add_option("--scale", options.scale, "divide the large sizes of a model by this, to try it on a small machine")
      ->check(whole_number(1, kMost));
  app.add_option("--source", options.source, "the source file that a symbol index is about: its text tells places, functions and strings")
      ->check(not_empty("a file"));
}

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> formats;
  for (const importers::Importer& importer : importers::importers()) formats.push_back(importer.name);
  return formats;
}

std::string format_help() { return fmt::format("read it as this format, whatever it looks like: {}", fmt::join(format_names(), ", ")); }

base::Result<std::string> source_text(const importers::Options& options) {
  if (options.source.empty()) return std::string();
  return base::read_unpacked_file(options.source);
}

bool is_database(const std::string& path) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) return false;  // what is read from a pipe is gone
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return false;
  char head[16] = {};
  const size_t got = std::fread(head, 1, sizeof head, file);
  std::fclose(file);
  return std::string_view(head, got) == kMagic;
}

base::Result<std::vector<std::string>> files_of(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  fs::recursive_directory_iterator walk(path, failed);
  while (!failed && walk != fs::recursive_directory_iterator()) {
    if (walk->is_regular_file(failed)) files.push_back(walk->path().string());
    walk.increment(failed);
  }
  if (failed) return base::Error{fmt::format("{}: cannot be read: {}; make its folders readable", base::escaped(path), failed.message())};
  std::ranges::sort(files);
  return files;
}

base::Result<std::string> program_bytes(const std::string& path) {
  if (is_database(path)) {
    const std::string shown = base::escaped(path);
    return base::Error{fmt::format("{}: is a database, not a program; `profile --replay {}` runs what it holds", shown, shown)};
  }
  return base::read_unpacked_file(path);
}

base::Result<model::Imported> read_program(const std::string& path, const importers::Options& options) {
  ASSIGN_OR_RETURN(const std::string text, source_text(options));
  ASSIGN_OR_RETURN(const std::string bytes, program_bytes(path));
  return importers::import({path == "-" ? "<stdin>" : path, bytes, options, text});
}

namespace {

/// "1 module, 276 computations", or of an index "110 definitions, 238 uses".
std::string contents(const model::Imported& imported) {
  const model::Source& source = imported.source;
  if (imported.symbols) {
    int64_t definitions = 0, uses = 0, found = 0;
    for (const model::Symbol& symbol : imported.symbols->symbols) {
      const bool is_definition = symbol.role == model::SymbolRole::definition;
      ++(is_definition ? definitions : uses);
      found += !is_definition && symbol.target >= 0;
    }
    const std::string of_uses = uses == 0 ? "" : fmt::format(" ({} with their definition)", found);
    return fmt::format("{} definition{}, {} use{}{}; ", definitions, definitions == 1 ? "" : "s", uses, uses == 1 ? "" : "s", of_uses);
  }
  return fmt::format("{} module{}, {} computations; ", source.modules, source.modules == 1 ? "" : "s", source.computations);
}

}  // namespace

std::string import_account(const model::Imported& imported) {
  const model::Source& source = imported.source;
  std::string text = fmt::format("{}: {}, {}{} {} read, {} kept, {} dropped", base::escaped(source.path), source.format, contents(imported),
                                 source.read, source.records, source.kept, source.dropped);
  if (!source.options.empty()) text += fmt::format(" ({})", source.options);
  std::map<std::string, int> counts;
  for (const model::Note& note : imported.notes) {
    if (note.code != "module-found") ++counts[note.code];
  }
  const char* separator = "; notes: ";
  for (const auto& [code, count] : counts) {
    text += fmt::format("{}{} {}", separator, count, code);
    separator = ", ";
  }
  return text;
}

std::string module_places(const model::Imported& imported) {
  std::string text;
  for (const model::Note& note : imported.notes) {
    if (note.code == "module-found") text += fmt::format("  {}:{}: {}\n", base::escaped(imported.source.path), note.line, note.text);
  }
  return text;
}

}  // namespace cli
