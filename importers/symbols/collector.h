// Where readers put what they find: records, notes, and the account of both. A line that cannot be read is dropped and said; where nothing
// can be read the file is refused.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "importers/importer.h"
#include "src/model/symbol_index.h"

namespace importers::symbols {

class Collector {
 public:
  /// `format` as in the table of importers. Input and format must outlive the collector.
  Collector(const Input& input, std::string_view format);

  model::SymbolIndex& index() { return index_; }
  ir::StringId intern(std::string_view text);
  /// Adds a record, and counts it as read and kept.
  model::Symbol& add(model::Symbol symbol);
  /// The same place of the input was read and says nothing of its own (a repetition, an attribute of another record).
  void keep(int64_t records = 1) { read_ += records; }
  /// A record that cannot be used. `offset`: in the input.
  void drop(size_t offset, std::string_view why);
  /// Of the whole file.
  void note(std::string code, std::string text);
  bool full() const { return index_.symbols.size() >= kMostSymbols; }

  /// What was collected, with its account; an Error if nothing could be read.
  base::Result<model::Imported> finish();

 private:
  static constexpr int64_t kMostNotes = 50;  ///< of dropped records one by one; the rest are counted
  static constexpr size_t kMostSymbols = size_t{1} << 31;

  const Input& input_;
  std::string_view format_;
  model::SymbolIndex index_;
  std::vector<model::Note> notes_;
  int64_t read_ = 0, dropped_ = 0;
  size_t placed_ = 0, line_begin_ = 0;  ///< where the line counter stands
  int64_t line_ = 1;
  std::string first_reason_;
  size_t first_dropped_ = 0;
};

/// A line or column that protocols count from 0, counted from 1; 0 where it is none.
int32_t from_one(int64_t from_zero);
/// What a kind's word means; `language` and the index's format decide where words differ ("member" is a method in Python, data in C++).
model::SymbolSort sort_of(std::string_view kind, std::string_view language = "Python");
/// "python" for "dir/x.py"; "" where the ending tells nothing.
std::string_view language_of(std::string_view file);

}  // namespace importers::symbols
