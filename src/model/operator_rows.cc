// A scope is written before the first operator in it, its parents before it. Operators of one scope stand together: its row is looked up
// once for all of them.
#include "src/model/operator_rows.h"

#include <algorithm>
#include <optional>
#include <vector>

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

int64_t OperatorRows::add(const Operator& op) {
  const base::Shown name(op.name), scope(op.scope), type(op.type), device(op.device), shape(op.shape), note(op.note);
  if (place_.module != 0) given_.try_emplace(op.name, next_.op);
  inputs_.clear();
  append_list(inputs_, op.inputs);
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(type), name.text(), short_name(name),
                 scope_row(scope), text(op.phase), text(op.type.empty() ? Known::no : op.type_from), text(op.launches), or_null(device),
                 or_null(shape), text(op.shape.empty() ? Known::no : op.shape_from), or_null(op.attributes), or_null(inputs_),
                 or_null(op.line), or_null(note));
  return next_.op++;
}

int64_t OperatorRows::row_of(std::string_view name, std::string_view type) {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const base::Shown shown(name), shown_type(type);
  const OperatorName parsed = operator_name(shown, shown_type);
  const std::optional<std::string_view> none;
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(shown_type), shown.text(), parsed.short_name,
                 scope_row(parsed.scope), text(parsed.phase), text(type.empty() ? Known::no : Known::given), text(Launches::device), none,
                 none, text(Known::no), none, none, none, none);
  return next_.op++;
}

int64_t OperatorRows::scope_row(std::string_view path) {
  if (last_scope_row_ == 0 || path != last_scope_) {
    const std::vector<std::string_view> parts = path_parts(path);  // a name may be all slashes
    last_scope_row_ = scope_row(std::span(parts).first(std::min(parts.size(), kDeepestScope)));
    last_scope_ = path;
  }
  return last_scope_row_;
}

int64_t OperatorRows::scope_row(std::span<const std::string_view> parts) {
  int64_t row = 0;
  if (parts.empty()) return scope_row("", 0, 0);
  scope_path_.clear();
  for (size_t depth = 0; depth < parts.size(); ++depth) {
    scope_path_.append(depth == 0 ? "" : "/").append(parts[depth]);
    row = scope_row(scope_path_, row, static_cast<int64_t>(depth));
  }
  return row;
}

int64_t OperatorRows::scope_row(std::string_view path, int64_t parent, int64_t depth) {
  const auto [row, fresh] = scopes_.try_emplace(std::string(path), next_.scope);
  if (!fresh) return row->second;
  tables_.scope.add(next_.scope, or_null(place_.module), or_null(parent), depth, path);
  return next_.scope++;
}

}  // namespace model
