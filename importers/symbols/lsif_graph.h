// The graph of an LSIF dump, and the records that it means.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/symbols/collector.h"

namespace importers::symbols {

/// A vertex or an edge as one object tells it; ids are numbers or texts, here both as texts.
struct LsifElement {
  std::string id, type, label, uri, tag_type, tag_text, identifier, tool, tool_version, property, out, in, document;
  std::vector<std::string> ins;
  int64_t begin_line = -1, begin_column = -1, end_line = -1, end_column = -1, full_end_line = -1, tag_kind = -1;
};

class LsifGraph {
 public:
  explicit LsifGraph(Collector& out) : out_(out) {}
  /// `at`: offset in the input. Every element counts as a record; what means nothing to a symbol index is kept and not used.
  void add(const LsifElement& element, size_t at);
  /// Adds the records, when the graph is whole: edges may come before their vertices.
  void end();

 private:
  using Id = uint32_t;
  struct Range {
    Id id;
    model::Symbol symbol;
  };
  struct Item {
    Id result, range;
  };

  Id id_of(std::string_view id) { return static_cast<Id>(out_.intern(id)); }
  void add_range(const LsifElement& element, size_t at);
  void add_edge(const LsifElement& element);
  Id result_set(Id range) const;
  /// Record of the definition of every set of results, by the set.
  std::unordered_map<Id, int32_t> definitions() const;

  Collector& out_;
  std::vector<Range> ranges_;
  std::unordered_map<Id, size_t> range_of_;                          ///< by id: index into ranges_
  std::unordered_map<Id, ir::StringId> documents_;                   ///< by id: path
  std::unordered_map<Id, Id> document_of_;                           ///< range → document
  std::unordered_map<Id, Id> next_;                                  ///< range or set → set
  std::unordered_map<Id, Id> definition_result_, reference_result_;  ///< set → result
  std::unordered_map<Id, Id> moniker_of_;                            ///< range or set → moniker
  std::unordered_map<Id, ir::StringId> monikers_;
  std::unordered_map<Id, std::vector<Id>> definition_items_;  ///< result → ranges
};

}  // namespace importers::symbols
