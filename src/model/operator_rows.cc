// A scope is written before the first operator in it, its parents before it. Operators that follow each other mostly share scopes: only
// those are looked up in which an operator and the one before it differ.
#include "src/model/operator_rows.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "src/base/hash.h"
#include "src/base/json_text.h"
#include "src/base/text.h"
#include "src/model/operators.h"
#include "src/model/row_batch.h"

namespace model {
namespace {

/// A JSON array of texts; nothing for none.
void append_list(std::string& out, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    out += out.empty() ? '[' : ',';
    base::append_json(out, text);
  }
  if (!out.empty()) out += ']';
}

}  // namespace

void OperatorRows::give(const Operator& op) {
  const base::Shown name(op.name), scope(op.scope), type(op.type), device(op.device), shape(op.shape), note(op.note);
  inputs_.clear();
  append_list(inputs_, op.inputs);
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(type), name.text(), short_name(name),
                 scope_row(scope), text(op.phase), text(op.type.empty() ? Known::no : op.type_from), text(op.launches), or_null(device),
                 or_null(shape), text(op.shape.empty() ? Known::no : op.shape_from), or_null(op.attributes), or_null(inputs_),
                 or_null(op.line), or_null(note));
  ++next_.op;
  if (place_.module != 0) keep(op.name);
}

void OperatorRows::keep(std::string_view name) {
  constexpr size_t kBlock = size_t{1} << 18;  // bytes
  if (names_.empty() || names_.back().capacity() - names_.back().size() < name.size())
    names_.emplace_back().reserve(std::max(kBlock, name.size()));
  std::string& block = names_.back();
  const size_t begin = block.size();
  block += name;
  given_.push_back({base::hash64(name), std::string_view(block).substr(begin)});
}

void OperatorRows::index() {
  constexpr size_t kAhead = 16;
  index_.reserve(given_.size());
  for (; indexed_ < given_.size(); ++indexed_) {
    if (indexed_ + kAhead < given_.size()) index_.prefetch(given_[indexed_ + kAhead].hash);
    const auto& [hash, name] = given_[indexed_];
    index_.find_or_add(hash, indexed_, [&](size_t other) { return given_[other].name == name; });
  }
}

int64_t OperatorRows::row_of(std::string_view name, std::string_view type) {
  if (indexed_ < given_.size()) index();
  if (const int64_t given = index_.find(base::hash64(name), [&](size_t at) { return given_[at].name == name; }); given >= 0)
    return first_given_ + given;
  const base::Shown shown(name), shown_type(type);
  const OperatorName parsed = operator_name(shown, shown_type);
  const std::optional<std::string_view> none;
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(shown_type), shown.text(), parsed.short_name,
                 scope_row(parsed.scope), text(parsed.phase), text(type.empty() ? Known::no : Known::given), text(Launches::device), none,
                 none, text(Known::no), none, none, none, none);
  return next_.op++;
}

int64_t OperatorRows::scope_row(std::string_view path) {
  if (!open_.empty() && path == scope_path_) return open_.back().row;
  const std::vector<std::string_view> parts = path_parts(path);  // a name may be all slashes
  return scope_row(std::span(parts).first(std::min(parts.size(), kDeepestScope)));
}

int64_t OperatorRows::scope_row(std::span<const std::string_view> parts) {
  if (parts.empty()) return scope_row("", 0, 0);
  const auto begin = [&](size_t depth) { return depth == 0 ? 0 : open_[depth - 1].end + 1; };
  size_t depth = 0;
  while (depth < std::min(parts.size(), open_.size()) &&
         std::string_view(scope_path_).substr(begin(depth), open_[depth].end - begin(depth)) == parts[depth])
    ++depth;
  scope_path_.resize(depth == 0 ? 0 : open_[depth - 1].end);
  open_.resize(depth);
  for (; depth < parts.size(); ++depth) {
    scope_path_.append(depth == 0 ? "" : "/").append(parts[depth]);
    const int64_t parent = depth == 0 ? 0 : open_.back().row;
    open_.push_back({scope_path_.size(), scope_row(scope_path_, parent, static_cast<int64_t>(depth))});
  }
  return open_.back().row;
}

int64_t OperatorRows::scope_row(std::string_view path, int64_t parent, int64_t depth) {
  const auto id = static_cast<size_t>(paths_.intern(path));
  if (id >= scope_rows_.size()) scope_rows_.resize(id + 1);
  if (scope_rows_[id] != 0) return scope_rows_[id];
  tables_.scope.add(next_.scope, or_null(place_.module), or_null(parent), depth, path);
  return scope_rows_[id] = next_.scope++;
}

}  // namespace model
