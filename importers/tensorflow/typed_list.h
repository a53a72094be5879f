// A list of names and what they tell each other: op types, ids, what runs before what.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/tensorflow/names.h"
#include "importers/tensorflow/node_list.h"
#include "src/model/operator_records.h"

namespace importers::tensorflow {

struct TypedList {
  NodeList list;
  NameContext context;
  std::vector<std::string_view> types;                                  ///< by name; "": no rule covers it
  std::unordered_map<size_t, std::vector<std::string_view>> run_after;  ///< by name that has such: nodes before it (resource_deps)

  size_t size() const { return list.names.size(); }
  std::string_view name(size_t at) const { return list.names[at].name; }
  model::Phase phase(size_t at) const { return phase_of(name(at), types[at], context); }
};

TypedList typed(NodeList list);
/// What the store gets of a name.
model::Operator operator_of(const TypedList& typed, size_t at);

}  // namespace importers::tensorflow
