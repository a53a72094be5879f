// HLO text.
#pragma once

#include "importers/importer.h"
#include "src/ir/module.h"

namespace importers::hlo {

Match match(const Input& input);
base::Result<model::Imported> read(const Input& input, const TakeModule& take);
base::Result<model::Imported> read(const Input& input);  ///< with its modules
/// One module. `source` names the text in messages. What today's parsers don't know is kept and noted, not refused.
base::Result<ir::Module> parse(std::string_view text, std::string_view source, std::vector<model::Note>* notes = nullptr);

}  // namespace importers::hlo
