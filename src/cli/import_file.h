// Bytes of a path into records: what `import` and `replay` share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"
#include "src/base/result.h"
#include "src/model/records.h"

namespace CLI {
class App;
}

namespace cli {

/// --batch, --image, --scale, --source.
void define_program_options(CLI::App& app, importers::Options& options);
/// What --as takes as a format, and the sentence about it.
std::vector<std::string_view> format_names();
std::string format_help();

/// Text of options.source; "" if none is given.
base::Result<std::string> source_text(const importers::Options& options);
/// Bytes of a file that may be a program: of anything but a database; unpacked if they are compressed.
base::Result<std::string> program_bytes(const std::string& path);
base::Result<model::Imported> read_program(const std::string& path, const importers::Options& options = {});
/// The files below a folder, by name; a path to a file is itself. Links to folders are not followed.
base::Result<std::vector<std::string>> files_of(const std::string& path);
/// "bert.hlo.txt: hlo, 1 module, 276 computations; 3,612 instructions read, 3,612 kept, 0 dropped; notes: 1 elided-constant"
std::string import_account(const model::Imported& imported);
/// Where the modules of a file stand that has several, or other text around them: a line each; "" for a plain dump.
std::string module_places(const model::Imported& imported);
bool is_database(const std::string& path);

}  // namespace cli
