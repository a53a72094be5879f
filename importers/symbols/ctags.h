// Tags of ctags: the `tags` file of every implementation, and the JSON lines of Universal Ctags.
#pragma once

#include "importers/importer.h"

namespace importers::symbols {

Match match_tags(const Input& input);
base::Result<model::Imported> read_tags(const Input& input, const TakeModule& take);

Match match_tags_json(const Input& input);
base::Result<model::Imported> read_tags_json(const Input& input, const TakeModule& take);

}  // namespace importers::symbols
