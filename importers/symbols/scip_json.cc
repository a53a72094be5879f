// The same index as JSON: names of members in snake_case or camelCase according to the version that printed it.
#include <fmt/format.h>

#include <algorithm>

#include "importers/symbols/finish.h"
#include "importers/symbols/json_walk.h"
#include "importers/symbols/scip.h"
#include "importers/symbols/scip_index.h"

namespace importers::symbols {
namespace {

/// What is read, under both spellings.
enum class Member { none, tool, version, path, range, enclosing, symbol, roles, described, documentation, display };
struct MemberRow {
  std::string_view path;
  Member member;
};
constexpr MemberRow kMembers[] = {
    {"metadata/tool_info/name", Member::tool},
    {"metadata/toolInfo/name", Member::tool},
    {"metadata/tool_info/version", Member::version},
    {"metadata/toolInfo/version", Member::version},
    {"documents/relative_path", Member::path},
    {"documents/relativePath", Member::path},
    {"documents/occurrences/range", Member::range},
    {"documents/occurrences/enclosing_range", Member::enclosing},
    {"documents/occurrences/enclosingRange", Member::enclosing},
    {"documents/occurrences/symbol", Member::symbol},
    {"documents/occurrences/symbol_roles", Member::roles},
    {"documents/occurrences/symbolRoles", Member::roles},
    {"documents/symbols/symbol", Member::described},
    {"documents/symbols/documentation", Member::documentation},
    {"documents/symbols/display_name", Member::display},
    {"documents/symbols/displayName", Member::display},
    {"external_symbols/symbol", Member::described},
    {"externalSymbols/symbol", Member::described},
    {"external_symbols/documentation", Member::documentation},
    {"externalSymbols/documentation", Member::documentation},
    {"external_symbols/display_name", Member::display},
    {"externalSymbols/displayName", Member::display},
};

class ScipWalk : public JsonWalk {
 public:
  explicit ScipWalk(Collector& out) : out_(out), documents_(out) {}

  void open(std::string_view path, bool is_object) override {
    if (!is_object) return;
    if (path == "documents/occurrences") occurrence_ = {};
    if (is_symbol(path)) symbol_ = {};
    if (path == "documents") file_.clear();
  }
  void close(std::string_view path, bool is_object) override {
    if (!is_object) return;
    if (path == "documents/occurrences") documents_.add(std::move(occurrence_));
    if (is_symbol(path)) documents_.add(std::move(symbol_));
    if (path == "documents") documents_.end_document(file_);
  }
  void value(std::string_view path, const JsonValue& value) override {
    const auto row = std::ranges::find(kMembers, path, &MemberRow::path);
    if (row == std::end(kMembers)) return;
    if (value.is_integer()) number(row->member, value.integer);
    if (value.is_text()) text(row->member, value.text);
  }
  void end() { documents_.end(); }

 private:
  static bool is_symbol(std::string_view path) {
    return path == "documents/symbols" || path == "external_symbols" || path == "externalSymbols";
  }

  void number(Member member, int64_t number) {
    if (member == Member::range) occurrence_.range.add(number);
    if (member == Member::enclosing) occurrence_.enclosing.add(number);
    if (member == Member::roles) occurrence_.roles = number;
  }
  void text(Member member, std::string_view text) {
    if (member == Member::tool) out_.index().tool = text;
    if (member == Member::version) out_.index().tool += " " + std::string(text);
    if (member == Member::path) file_ = text;
    if (member == Member::symbol) occurrence_.symbol = text;
    if (member == Member::described) symbol_.symbol = text;
    if (member == Member::documentation && symbol_.documentation.empty()) symbol_.documentation = text;
    if (member == Member::display) symbol_.display_name = text;
  }

  Collector& out_;
  ScipDocuments documents_;
  ScipOccurrence occurrence_;
  ScipSymbol symbol_;
  std::string file_;
};

}  // namespace

Match match_scip_json(const Input& input) {
  const std::string_view head = input.bytes.substr(0, 4096);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '{') return {Match::none, "no JSON object"};
  const auto has = [&](std::string_view name) { return head.find(name) != std::string_view::npos; };
  if (has("\"metadata\"") && (has("\"tool_info\"") || has("\"toolInfo\""))) return {Match::sure, "an object with metadata and tool_info"};
  if (has("\"documents\"") && (has("\"relative_path\"") || has("\"relativePath\"") || has("\"occurrences\"")))
    return {Match::likely, "an object with documents and occurrences"};
  return {Match::none, "an object without metadata and documents"};
}

base::Result<model::Imported> read_scip_json(const Input& input, const TakeModule&) {
  Collector out(input, "scip-json");
  ScipWalk walk(out);
  RETURN_IF_ERROR(walk_json(input.bytes, walk, input.path, input.bytes, 0));
  walk.end();
  return finish(out, input);
}

}  // namespace importers::symbols
