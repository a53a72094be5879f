// Records and their account. Places of dropped records are counted in one walk over the text: drops come in order.
#include "importers/symbols/collector.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "src/base/hash.h"
#include "src/base/text.h"

namespace importers::symbols {
namespace {

struct KindRow {
  std::string_view kind;
  model::SymbolSort sort;
};

/// Words of PySonar (capitals), ctags (letters and long names), SCIP (suffixes and SymbolInformation.Kind) and LSIF (SymbolKind).
constexpr KindRow kKinds[] = {
    {"function", model::SymbolSort::function},
    {"f", model::SymbolSort::function},
    {"method", model::SymbolSort::function},
    {"constructor", model::SymbolSort::function},
    {"subroutine", model::SymbolSort::function},
    {"singletonmethod", model::SymbolSort::function},
    {"prototype", model::SymbolSort::function},
    {"p", model::SymbolSort::function},
    {"program", model::SymbolSort::function},
    {"class", model::SymbolSort::type},
    {"c", model::SymbolSort::type},
    {"struct", model::SymbolSort::type},
    {"s", model::SymbolSort::type},
    {"union", model::SymbolSort::type},
    {"enum", model::SymbolSort::type},
    {"g", model::SymbolSort::type},
    {"interface", model::SymbolSort::type},
    {"trait", model::SymbolSort::type},
    {"typedef", model::SymbolSort::type},
    {"t", model::SymbolSort::type},
    {"type", model::SymbolSort::type},
    {"module", model::SymbolSort::module},
    {"namespace", model::SymbolSort::module},
    {"package", model::SymbolSort::module},
    {"n", model::SymbolSort::module},
    {"i", model::SymbolSort::module},
    {"parameter", model::SymbolSort::parameter},
    {"z", model::SymbolSort::parameter},
    {"variable", model::SymbolSort::variable},
    {"v", model::SymbolSort::variable},
    {"local", model::SymbolSort::variable},
    {"l", model::SymbolSort::variable},
    {"scope", model::SymbolSort::variable},
    {"attribute", model::SymbolSort::variable},
    {"property", model::SymbolSort::variable},
    {"field", model::SymbolSort::variable},
    {"constant", model::SymbolSort::variable},
    {"term", model::SymbolSort::variable},
    {"macro", model::SymbolSort::other},
};

/// The first letters of a word, small.
class Lower {
 public:
  explicit Lower(std::string_view text) : size_(std::min(text.size(), letters_.size())) {
    std::ranges::transform(text.substr(0, size_), letters_.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  }
  operator std::string_view() const { return {letters_.data(), size_}; }

 private:
  std::array<char, 32> letters_{};
  size_t size_;
};

struct EndingRow {
  std::string_view ending, language;
};
constexpr EndingRow kEndings[] = {{".py", "python"}, {".pyi", "python"},  {".c", "c"},           {".h", "c++"},        {".cc", "c++"},
                                  {".cpp", "c++"},   {".cu", "c++"},      {".java", "java"},     {".go", "go"},        {".rs", "rust"},
                                  {".f", "fortran"}, {".f90", "fortran"}, {".js", "javascript"}, {".ts", "typescript"}};

}  // namespace

std::string_view language_of(std::string_view file) {
  const auto found = std::ranges::find_if(kEndings, [&](const EndingRow& row) { return file.ends_with(row.ending); });
  return found == std::end(kEndings) ? "" : found->language;
}

model::SymbolSort sort_of(std::string_view kind, std::string_view language) {
  const Lower lower_kind(kind), lower_language(language);
  const std::string_view word = lower_kind, tongue = lower_language;
  if (word == "m" || word == "member") return tongue == "c" || tongue == "c++" ? model::SymbolSort::variable : model::SymbolSort::function;
  if (word == "i" && tongue == "fortran") return model::SymbolSort::function;
  const auto found = std::ranges::find(kKinds, word, &KindRow::kind);
  return found == std::end(kKinds) ? model::SymbolSort::other : found->sort;
}

Collector::Collector(const Input& input, std::string_view format) : input_(input), format_(format) {}

ir::StringId Collector::intern(std::string_view text) { return index_.strings.intern(text); }

model::Symbol& Collector::add(model::Symbol symbol) {
  ++read_;
  return index_.symbols.emplace_back(symbol);
}

void Collector::drop(size_t offset, std::string_view why) {
  if (dropped_ == 0) first_reason_ = why, first_dropped_ = offset;
  ++read_;
  if (++dropped_ > kMostNotes) return;
  for (; placed_ < std::min(offset, input_.bytes.size()); ++placed_) {
    if (input_.bytes[placed_] == '\n') ++line_, line_begin_ = placed_ + 1;
  }
  notes_.push_back({line_, static_cast<int64_t>(offset - std::min(offset, line_begin_)) + 1, "dropped-record", std::string(why)});
}

void Collector::note(std::string code, std::string text) { notes_.push_back({0, 0, std::move(code), std::move(text)}); }

base::Result<model::Imported> Collector::finish() {
  if (read_ == dropped_ && dropped_ > 0) return base::error_at(input_.path, input_.bytes, first_dropped_, first_reason_);
  if (dropped_ > kMostNotes)
    note("dropped-records", fmt::format("{} more records are dropped like the {} before", dropped_ - kMostNotes, kMostNotes));
  model::Imported imported;
  model::Source& source = imported.source;
  source.path = input_.path;
  source.format = format_;
  source.sha256 = base::sha256_hex(input_.bytes);
  source.bytes = static_cast<int64_t>(input_.bytes.size());
  source.records = "records";
  if (!input_.options.source.empty()) source.options = "source=" + input_.options.source;
  source.read = read_;
  source.dropped = dropped_;
  source.kept = read_ - dropped_;
  imported.notes = std::move(notes_);
  imported.symbols = std::move(index_);
  return imported;
}

int32_t from_one(int64_t from_zero) { return from_zero >= 0 && from_zero < INT32_MAX - 1 ? static_cast<int32_t>(from_zero) + 1 : 0; }

}  // namespace importers::symbols
