// Lists of node names, one a line: what graph passes dump when they say which nodes they chose.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "importers/importer.h"
#include "src/base/result.h"
#include "src/ir/hash_index.h"
#include "src/model/records.h"

namespace importers::tensorflow {

struct ListedName {
  std::string_view name;  ///< into the text
  int64_t line = 0;
  int64_t number = -1;  ///< written behind the name: node id, or cluster; -1: none
  int64_t times = 1;    ///< lines with this name
};

struct NodeList {
  std::vector<ListedName> names;                           ///< distinct, in the order of their first lines
  bool clusters = false;                                   ///< numbers repeat: XLA_CLUSTER_SPEC, which tells clusters and no ids
  std::vector<std::pair<int64_t, int64_t>> resource_deps;  ///< of the section unsafe_resource_deps_: ids, the first runs before the second
  int64_t read = 0, repeated = 0, refused = 0;             ///< lines with names; of them those that repeat one; lines that are no names
  std::vector<model::Note> notes;
  ir::HashIndex by_name;  ///< positions in `names`

  int64_t find(std::string_view name) const;  ///< its position; -1: it is not listed
};

/// Names are unique in a graph: a repeated one is the same node in another dump of the graph, which lists hold one after the other. Lines
/// that are no names are refused and noted. Any bytes; linear.
NodeList read_node_list(std::string_view text);

/// Do the first lines look like names of nodes?
Match match_node_list(std::string_view text);

}  // namespace importers::tensorflow
