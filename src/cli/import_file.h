// Bytes of a path into records and into the store: what `import` and `replay` share.
#pragma once

#include <string>
#include <vector>

#include "src/base/result.h"
#include "src/model/store.h"

namespace cli {

struct ImportedFile {
  model::Imported imported;
  model::ImportIds ids;
};

base::Result<model::Imported> read_program(const std::string& path);
base::Result<ImportedFile> import_file(model::Store& store, const std::string& path);
/// "bert.hlo.txt: hlo, 1 module, 276 computations; 3,612 instructions read, 3,612 kept, 0 dropped; notes: 1 elided-constant"
std::string import_account(const model::Imported& imported);
bool is_database(const std::string& path);

}  // namespace cli
