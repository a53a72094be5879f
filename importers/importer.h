// Importers: bytes to model::Imported. One row of a table each; the strongest match wins, table order breaks ties.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/model/records.h"

namespace importers {

struct Input {
  std::string path;        ///< as given; for messages
  std::string_view bytes;  ///< decompressed
};

struct Match {
  enum How { none, weak, likely, sure } how = none;  ///< weak: only where a person says that it is a program
  std::string reason;                                ///< why not, or why
};

struct Importer {
  std::string_view name, about;
  Match (*match)(const Input&);
  base::Result<model::Imported> (*read)(const Input&);
};

std::span<const Importer> importers();
/// How well the best importer knows these bytes.
Match::How match(const Input& input);
/// Reads with the importer that matches best; if none does, the Error gives every importer's reason.
base::Result<model::Imported> import(const Input& input);

}  // namespace importers
