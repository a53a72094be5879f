// Importers: bytes to model::Imported. One row of a table each; the strongest match wins, table order breaks ties.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/parallel.h"
#include "src/base/result.h"
#include "src/ir/print.h"
#include "src/model/records.h"

namespace importers {

/// What a person says about a program whose text leaves it open. 0 and "": the importer's own choice, which it notes.
struct Options {
  int64_t batch = 0;   ///< examples in a step
  int64_t image = 0;   ///< height and width of images
  int64_t scale = 1;   ///< the large sizes of a model are divided by this, to try it on a small machine
  std::string as;      ///< name of the importer
  std::string source;  ///< path of the source file that a symbol index is about
};

struct Input {
  std::string path;        ///< as given; for messages
  std::string_view bytes;  ///< decompressed
  Options options = {};
  std::string_view source_text = {};  ///< of options.source
};

struct Match {
  enum How { none, weak, likely, sure } how = none;  ///< weak: only where a person says that it is a program
  std::string reason;                                ///< why not, or why
};

/// A module as it is handed over, and the operators that its metadata names (frameworks; none of HLO).
struct Program {
  ir::Module module;
  std::vector<model::Operator> operators = {};
};

/// Takes a module as soon as it is read, so that no more than one is in memory. The text, what replay reads later, is valid during the
/// call; empty: as ir::print writes the module. An Error ends the import.
class TakeModule {
 public:
  using Module = std::function<base::Status(const model::Source& source, Program program, std::string_view text)>;
  using Operators = std::function<base::Status(const model::Source& source, model::OperatorStream operators)>;

  /// `ahead`: takes the operators of the next module before it, where the caller can make use of that.
  template <typename Take>
  TakeModule(Take module, Operators ahead = nullptr) : module_(std::move(module)), ahead_(std::move(ahead)) {}

  base::Status operator()(const model::Source& source, Program program, std::string_view text) const {
    return module_(source, std::move(program), text);
  }
  /// Hands operators of the next module over if the caller takes them ahead, and returns none; else they are made, to come with the module
  /// or with what is returned. If they are handed over and no module follows, they are the file's. The source's identity and options must
  /// be known.
  base::Result<std::vector<model::Operator>> ahead(const model::Source& source, model::OperatorStream operators) const {
    if (!ahead_) return made(operators);
    RETURN_IF_ERROR(ahead_(source, std::move(operators)));
    return std::vector<model::Operator>();
  }
  static std::vector<model::Operator> made(const model::OperatorStream& operators) {
    constexpr size_t kLeast = 1024;  // operators that are worth a thread
    std::vector<model::Operator> all(operators.count);
    base::for_all(all.size(), kLeast, [&](size_t i) { all[i] = operators.make(i); });
    return all;
  }
  bool takes_ahead() const { return ahead_ != nullptr; }

 private:
  Module module_;
  Operators ahead_;
};

struct Importer {
  std::string_view name, about;
  Match (*match)(const Input&);
  base::Result<model::Imported> (*read)(const Input&, const TakeModule&);  ///< the result has no modules: they have been taken
};

std::span<const Importer> importers();
/// How well the best importer knows these bytes.
Match::How match(const Input& input);
/// Reads with the importer that matches best; if none does, the Error gives every importer's reason.
base::Result<model::Imported> import(const Input& input, const TakeModule& take);

/// For callers that need all modules at once: reads and keeps them in the result.
template <typename Read>
base::Result<model::Imported> keep_modules(const Input& input, Read read) {
  model::Imported kept;
  ASSIGN_OR_RETURN(model::Imported imported, read(input, [&](const model::Source&, Program program, std::string_view text) {
                     kept.modules.push_back(std::move(program.module));
                     kept.module_operators.push_back(std::move(program.operators));
                     kept.module_texts.push_back(text.empty() ? ir::print(kept.modules.back()) : std::string(text));
                     return base::Status();
                   }));
  imported.modules = std::move(kept.modules);
  imported.module_operators = std::move(kept.module_operators);
  imported.module_texts = std::move(kept.module_texts);
  return imported;
}
base::Result<model::Imported> import(const Input& input);

}  // namespace importers
