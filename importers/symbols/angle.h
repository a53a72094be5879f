// The dump of PySonar2 in angle brackets: <<name>> <<line:begin-end>> <<type>> <<kind>> <<role>>, one record a line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "importers/importer.h"

namespace importers::symbols {

Match match_angle(const Input& input);
base::Result<model::Imported> read_angle(const Input& input, const TakeModule& take);

/// The one spelling of a type's two grammars, PySonar's own and the one reduced to class names: unions as "{? | int}", spaces as PySonar
/// sets them. Nothing if it is neither (unbalanced brackets, nothing between separators).
std::optional<std::string> canonical_type(std::string_view type);

}  // namespace importers::symbols
