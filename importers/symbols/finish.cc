// The order matters: places first (they need the text), then extents (they need lines), then targets (they need what is around a use).
#include "importers/symbols/finish.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "importers/symbols/hold.h"
#include "importers/symbols/targets.h"
#include "src/base/text.h"

namespace importers::symbols {
namespace {

constexpr size_t kLargestText = size_t{64} << 20;

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

/// Indexes in angle brackets name no file: it is the given source, or assumed to be named like the index.
std::string assumed_file(const Input& input) {
  if (!input.options.source.empty()) return input.options.source;
  const std::string_view name = base_name(input.path);
  return std::string(name.substr(0, name.find('.'))) + ".py";
}

void name_file(Collector& out, const Input& input) {
  auto& symbols = out.index().symbols;
  const auto is_unnamed = [](const model::Symbol& symbol) { return symbol.file == ir::StringId::empty; };
  if (std::ranges::none_of(symbols, is_unnamed)) return;
  const std::string file = assumed_file(input);
  if (input.options.source.empty())
    out.note("assumed-file", fmt::format("the index names no source file; '{}' is assumed; --source FILE tells", base::escaped(file)));
  const ir::StringId id = out.intern(file);
  for (model::Symbol& symbol : symbols) {
    if (is_unnamed(symbol)) symbol.file = id;
  }
}

}  // namespace

bool same_file(std::string_view a, std::string_view b) {
  const auto strip = [](std::string_view path) { return path.starts_with("./") ? path.substr(2) : path; };
  a = strip(a), b = strip(b);
  if (a.size() < b.size()) std::swap(a, b);
  if (b.empty() || !a.ends_with(b)) return false;
  return a.size() == b.size() || b.front() == '/' || a[a.size() - b.size() - 1] == '/';
}

base::Result<model::Imported> finish(Collector& out, const Input& input) {
  std::optional<SourceText> source;
  std::vector<bool> in_text;
  if (!input.source_text.empty()) {
    if (input.source_text.size() > kLargestText)
      return base::Error{fmt::format("{}: a source file of more than {}; give the file that the index is about",
                                     base::escaped(input.options.source), base::human_bytes(kLargestText))};
    source.emplace(input.source_text);
    in_text = hold_against(out, input.options.source, *source);
    if (in_text.empty()) source.reset();
  }
  name_file(out, input);
  mend_spans(out);
  find_extents(out, source ? &*source : nullptr, in_text);
  find_targets(out, source ? &*source : nullptr, in_text);
  return out.finish();
}

}  // namespace importers::symbols
