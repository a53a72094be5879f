// Both forms give the same objects; members are few, and all others (hovers, diagnostics) are passed over.
#include "importers/symbols/lsif.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "importers/symbols/finish.h"
#include "importers/symbols/json_walk.h"
#include "importers/symbols/lines.h"
#include "importers/symbols/lsif_graph.h"

namespace importers::symbols {
namespace {

struct LsifTextField {
  std::string_view path;
  std::string LsifElement::*member;
};
constexpr LsifTextField kLsifTexts[] = {{"id", &LsifElement::id},
                                        {"type", &LsifElement::type},
                                        {"label", &LsifElement::label},
                                        {"uri", &LsifElement::uri},
                                        {"tag/type", &LsifElement::tag_type},
                                        {"tag/text", &LsifElement::tag_text},
                                        {"identifier", &LsifElement::identifier},
                                        {"toolInfo/name", &LsifElement::tool},
                                        {"toolInfo/version", &LsifElement::tool_version},
                                        {"property", &LsifElement::property},
                                        {"outV", &LsifElement::out},
                                        {"inV", &LsifElement::in},
                                        {"document", &LsifElement::document}};
struct LsifNumberField {
  std::string_view path;
  int64_t LsifElement::*member;
};
constexpr LsifNumberField kLsifNumbers[] = {{"start/line", &LsifElement::begin_line},
                                            {"start/character", &LsifElement::begin_column},
                                            {"end/line", &LsifElement::end_line},
                                            {"end/character", &LsifElement::end_column},
                                            {"tag/fullRange/end/line", &LsifElement::full_end_line},
                                            {"tag/kind", &LsifElement::tag_kind}};

class LsifWalk : public JsonWalk {
 public:
  explicit LsifWalk(LsifGraph& graph) : graph_(graph) {}

  void at(size_t offset) { at_ = offset; }
  void open(std::string_view path, bool is_object) override {
    if (path.empty() && is_object) element_ = {};
  }
  void close(std::string_view path, bool is_object) override {
    if (path.empty() && is_object) graph_.add(element_, at_);
  }
  void value(std::string_view path, const JsonValue& value) override {
    if (value.is_integer()) {
      const auto number = std::ranges::find(kLsifNumbers, path, &LsifNumberField::path);
      if (number != std::end(kLsifNumbers)) element_.*number->member = value.integer;
    }
    const auto field = std::ranges::find(kLsifTexts, path, &LsifTextField::path);
    if (field == std::end(kLsifTexts) && path != "inVs") return;
    if (!value.is_text() && !value.is_integer()) return;
    std::string text = value.is_text() ? std::string(value.text) : std::to_string(value.integer);
    if (field == std::end(kLsifTexts))
      element_.ins.push_back(std::move(text));
    else
      element_.*field->member = std::move(text);
  }

 private:
  LsifGraph& graph_;
  LsifElement element_;
  size_t at_ = 0;
};

}  // namespace

Match match_lsif(const Input& input) {
  const std::string_view head = input.bytes.substr(0, 8192);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (head[begin] != '{' && head[begin] != '[')) return {Match::none, "no JSON"};
  const auto has = [&](std::string_view name) { return head.find(name) != std::string_view::npos; };
  if (has("\"metaData\"") && has("\"label\"")) return {Match::sure, "JSON with a vertex labelled metaData"};
  if (has("\"label\"") && (has("\"vertex\"") || has("\"edge\""))) return {Match::likely, "JSON with vertices or edges"};
  return {Match::none, "JSON without vertices and edges"};
}

base::Result<model::Imported> read_lsif(const Input& input, const TakeModule&) {
  Collector out(input, "lsif");
  LsifGraph graph(out);
  LsifWalk walk(graph);
  const size_t begin = input.bytes.find_first_not_of(" \t\r\n");
  if (begin != std::string_view::npos && input.bytes[begin] == '[') {
    RETURN_IF_ERROR(walk_json(input.bytes, walk, input.path, input.bytes, 0));
  } else {
    each_line(input.bytes, [&](const Line& line) {
      walk.at(line.begin);
      if (!line.text.starts_with('{') || !walk_json(line.text, walk, input.path, line.text, 0).ok())
        out.drop(line.begin, "this line is no JSON object");
      return !out.full();
    });
  }
  graph.end();
  return finish(out, input);
}

}  // namespace importers::symbols
