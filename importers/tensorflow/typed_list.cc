// Names are typed side by side, once it is known what all of them say about one.
#include "importers/tensorflow/typed_list.h"

#include <fmt/format.h>

#include <utility>

#include "src/base/parallel.h"

namespace importers::tensorflow {
namespace {

constexpr size_t kLeastNames = 1024;  ///< that are worth a thread

NameContext context_of(const NodeList& list) {
  auto parts = base::in_parts(list.names.size(), kLeastNames, [&](size_t begin, size_t end) {
    NameContext context;
    for (size_t at = begin; at < end; ++at) context.add(list.names[at].name);
    return context;
  });
  for (size_t part = 1; part < parts.size(); ++part) parts[0].add(std::move(parts[part]));
  return std::move(parts[0]);
}

void connect(TypedList& typed) {
  const NodeList& list = typed.list;
  if (list.resource_deps.empty()) return;
  std::unordered_map<int64_t, size_t> by_id;
  for (size_t at = 0; at < list.names.size(); ++at) {
    if (list.names[at].number >= 0) by_id.emplace(list.names[at].number, at);
  }
  for (const auto& [before, after] : list.resource_deps) {
    const auto from = by_id.find(before), to = by_id.find(after);
    if (from != by_id.end() && to != by_id.end()) typed.run_after[to->second].push_back(typed.name(from->second));
  }
}

}  // namespace

TypedList typed(NodeList list) {
  TypedList typed{std::move(list), {}, {}, {}};
  typed.context = context_of(typed.list);
  typed.types.resize(typed.size());
  base::for_all(typed.size(), kLeastNames, [&](size_t at) { typed.types[at] = type_of_name(typed.name(at), typed.context); });
  connect(typed);
  return typed;
}

model::Operator operator_of(const TypedList& typed, size_t at) {
  const ListedName& listed = typed.list.names[at];
  model::Operator op = operator_of_name(listed.name, typed.types[at], typed.context);
  op.line = listed.line;
  if (listed.number >= 0) op.attributes = fmt::format(R"({{"{}": {}}})", typed.list.clusters ? "cluster" : "id", listed.number);
  if (const auto found = typed.run_after.find(at); found != typed.run_after.end()) {
    for (const std::string_view before : found->second) op.inputs.push_back(fmt::format("^{}", before));
  }
  return op;
}

}  // namespace importers::tensorflow
