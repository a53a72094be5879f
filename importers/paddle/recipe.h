// How a replay fills what the program is given: by the slots that a variable goes into.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "importers/paddle/listing.h"
#include "importers/paddle/signature.h"
#include "importers/paddle/sizes.h"

namespace importers::paddle {

class Recipes {
 public:
  Recipes() = default;
  Recipes(const Program& program, const Sizes& sizes);
  /// A recipe as ../shared/oracle/README.md of the project's data defines them; "": by use in the module.
  std::string of(std::string_view variable) const;

 private:
  std::unordered_map<std::string_view, std::string> recipes_;
};

}  // namespace importers::paddle
