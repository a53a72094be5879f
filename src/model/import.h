// A file's programs become rows, module by module.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/result.h"
#include "src/model/database.h"
#include "src/model/records.h"

namespace model {

/// Ids that an import got: one a module, and the instruction row of (module index, comp, instr).
struct ImportIds {
  int64_t source = 0;
  bool existed = false;  ///< the same bytes had been imported before
  std::vector<int64_t> modules;
  std::vector<std::vector<int64_t>> first_instruction;  ///< [module][comp]: rows of a computation are consecutive: id = first + instr
};

/// An import in one transaction. A module is written while the next one is read: a file of any size needs the memory of its largest
/// modules. What does not reach finish() leaves nothing.
class Import {
 public:
  /// The database must not be used by others before finish(). Of bytes that it has already nothing is written.
  static base::Result<Import> begin(Database& database, const Source& source);
  Import(Import&&) noexcept;
  Import& operator=(Import&&) noexcept;
  ~Import();

  /// `text`: what replay reads later; empty: as ir::print writes the module. `operators`: those that instructions name; others are taken
  /// from their metadata.
  base::Status add(const ir::Module& module, std::string_view text, std::span<const Operator> operators = {});
  /// The same, but its rows are made while the caller goes on. Waits for those of the module before; errors may be told by a later call.
  base::Status take(ir::Module module, std::string text, std::vector<Operator> operators);
  /// Operators of the module that is taken next, in as many parts as one likes, which need not be given with it: they and their rows are
  /// made while it is still being lowered. If none follows they are the file's own, before Imported::operators. Errors may be told by a
  /// later call.
  base::Status ahead(OperatorStream operators);
  /// Everything of the file but its modules, which were added.
  base::Result<ImportIds> finish(const Imported& imported);

 private:
  struct Impl;
  explicit Import(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace model
