// A scope is written before the first operator in it, its parents before it.
#include "src/model/operator_rows.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "src/base/text.h"
#include "src/model/operators.h"

namespace model {
namespace {

std::optional<std::string> or_null(std::string text) { return text.empty() ? std::nullopt : std::optional(std::move(text)); }
std::optional<int64_t> or_null(int64_t number) { return number == 0 ? std::nullopt : std::optional(number); }

std::string as_json(const std::vector<std::string>& names) {
  return names.empty() ? "" : nlohmann::json(names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

int64_t OperatorRows::add(const Operator& op) {
  const std::string name = base::escaped(op.name), scope = base::escaped(op.scope);
  given_.try_emplace(name, next_.op);
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(base::escaped(op.type)), std::string_view(name),
                 operator_name(name, op.type).short_name, scope_row(path_parts(scope)), text(op.phase),
                 text(op.type.empty() ? Known::no : op.type_from), text(op.launches), or_null(base::escaped(op.device)),
                 or_null(base::escaped(op.shape)), text(op.shape.empty() ? Known::no : op.shape_from), or_null(op.attributes),
                 or_null(as_json(op.inputs)), or_null(op.line), or_null(base::escaped(op.note)));
  return next_.op++;
}

int64_t OperatorRows::row_of(const std::string& name, const std::string& type) {
  if (const auto given = given_.find(name); given != given_.end()) return given->second;
  const auto [row, fresh] = named_.try_emplace(name + '\0' + type, next_.op);
  if (!fresh) return row->second;
  const OperatorName parsed = operator_name(name, type);
  const std::optional<std::string_view> none;
  tables_.op.add(next_.op, place_.source, or_null(place_.module), position_++, or_null(type), std::string_view(name), parsed.short_name,
                 scope_row(parsed.scope), text(parsed.phase), text(type.empty() ? Known::no : Known::given), text(Launches::device), none,
                 none, text(Known::no), none, none, none, none);
  return next_.op++;
}

int64_t OperatorRows::scope_row(std::span<const std::string_view> parts) {
  std::string path;
  int64_t row = 0;
  if (parts.empty()) return scope_row(path, 0, 0);
  for (size_t depth = 0; depth < parts.size(); ++depth) {
    path.append(depth == 0 ? "" : "/").append(parts[depth]);
    row = scope_row(path, row, static_cast<int64_t>(depth));
  }
  return row;
}

int64_t OperatorRows::scope_row(const std::string& path, int64_t parent, int64_t depth) {
  const auto [row, fresh] = scopes_.try_emplace(path, next_.scope);
  if (!fresh) return row->second;
  tables_.scope.add(next_.scope, or_null(place_.module), or_null(parent), depth, std::string_view(path));
  return next_.scope++;
}

}  // namespace model
