// The four kinds of objects are told by their members, so that arrays of any of them, also mixed, are read alike.
#include "importers/symbols/pysonar.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "importers/symbols/collector.h"
#include "importers/symbols/finish.h"
#include "importers/symbols/json_walk.h"

namespace importers::symbols {
namespace {

/// A place with a name: a symbol, a reference, a docstring, or either end of a tested reference.
struct Node {
  std::string name, sym, path, file, kind, type, signature;
  int64_t start = -1, end = -1, def_end = -1, line = 0, column = 0;
  bool has_body = false;
  bool is_placed() const { return start >= 0 && end >= start && !file.empty(); }
};

struct PysonarTextField {
  std::string_view name;
  std::string Node::*member;
};
constexpr PysonarTextField kPysonarTexts[] = {{"name", &Node::name},
                                              {"sym", &Node::sym},
                                              {"path", &Node::path},
                                              {"file", &Node::file},
                                              {"kind", &Node::kind},
                                              {"type", &Node::type},
                                              {"funcData/signature", &Node::signature}};
struct PysonarNumberField {
  std::string_view name;
  int64_t Node::*member;
};
constexpr PysonarNumberField kPysonarNumbers[] = {{"start", &Node::start},  {"identStart", &Node::start}, {"end", &Node::end},
                                                  {"identEnd", &Node::end}, {"defEnd", &Node::def_end},   {"line", &Node::line},
                                                  {"col", &Node::column}};

class PysonarWalk : public JsonWalk {
 public:
  explicit PysonarWalk(Collector& out) : out_(out) {}

  void open(std::string_view path, bool is_object) override {
    if (!is_object) return;
    if (path.empty()) node_ = {}, use_ = {}, definitions_.clear();
    if (path == "dests") definition_ = {};
  }
  void close(std::string_view path, bool is_object) override {
    if (!is_object) return;
    if (path == "dests") definitions_.push_back(std::move(definition_));
    if (path.empty()) end_object();
  }
  void value(std::string_view path, const JsonValue& value) override {
    if (path.starts_with("ref/")) return set(use_, path.substr(4), value);
    if (path.starts_with("dests/")) return set(definition_, path.substr(6), value);
    set(node_, path, value);
  }

 private:
  static void set(Node& node, std::string_view name, const JsonValue& value) {
    for (const PysonarTextField& field : kPysonarTexts) {
      if (name == field.name && value.is_text()) node.*field.member = value.text;
    }
    for (const PysonarNumberField& field : kPysonarNumbers) {
      if (name == field.name && value.is_integer()) node.*field.member = value.integer;
    }
    node.has_body |= name == "body";
  }

  void end_object() {
    if (!use_.name.empty() || !definitions_.empty()) return end_tested();
    if (!node_.is_placed() || (node_.sym.empty() && node_.name.empty()))
      return out_.drop(0, "an object of the array has no name, file, start and end");
    if (node_.sym.empty()) return add(node_, model::SymbolRole::definition, node_.path);
    add(node_, node_.has_body ? model::SymbolRole::documentation : model::SymbolRole::reference, node_.sym);
  }

  /// A use and all that it may mean: a record for each, of which the confidence is shared.
  void end_tested() {
    if (!use_.is_placed()) return out_.drop(0, "a ref has no file, start and end");
    std::vector<int32_t> targets;
    for (const Node& node : definitions_) {
      if (node.is_placed())
        targets.push_back(definition_of(node));
      else
        out_.drop(0, "a dest has no file, start and end");
    }
    for (size_t i = 0; i < std::max<size_t>(1, targets.size()); ++i) {
      if (i == 0)
        add(use_, model::SymbolRole::reference, "");
      else
        out_.index().symbols.push_back(model::Symbol(out_.index().symbols.back()));
      if (targets.empty()) break;
      model::Symbol& symbol = out_.index().symbols.back();
      symbol.target = targets[i];
      symbol.rule = model::TargetRule::given;
      symbol.confidence = 1.0F / static_cast<float>(targets.size());
    }
  }

  /// A definition that several uses mean stands once.
  int32_t definition_of(const Node& node) {
    const auto [found, fresh] = known_.try_emplace(fmt::format("{}|{}|{}", node.start, node.file, node.name), 0);
    if (!fresh) return out_.keep(), found->second;
    found->second = static_cast<int32_t>(out_.index().symbols.size());
    add(node, model::SymbolRole::definition, "");
    return found->second;
  }

  void add(const Node& node, model::SymbolRole role, std::string_view key) {
    const std::string_view name = node.name.empty() ? std::string_view(node.sym).substr(node.sym.rfind('/') + 1) : node.name;
    const std::string_view qualified = node.path.empty() ? node.sym : node.path;
    model::Symbol symbol;
    symbol.name = out_.intern(name);
    symbol.kind = out_.intern(node.kind);
    symbol.type = out_.intern(node.type.empty() ? node.signature : node.type);
    symbol.file = out_.intern(node.file);
    symbol.scope = out_.intern(qualified.substr(0, std::min(qualified.rfind('/'), qualified.size())));
    symbol.key = out_.intern(key);
    symbol.role = role;
    symbol.sort = sort_of(node.kind);
    symbol.begin_offset = node.start;
    symbol.end_offset = node.end;
    symbol.last_offset = node.def_end;
    if (node.line > 0 && node.line < INT32_MAX) symbol.line = static_cast<int32_t>(node.line);
    if (node.column > 0 && node.column < INT32_MAX) symbol.column = static_cast<int32_t>(node.column);
    out_.add(symbol);
  }

  Collector& out_;
  Node node_, use_, definition_;
  std::vector<Node> definitions_;
  std::map<std::string, int32_t> known_;
};

}  // namespace

Match match_pysonar(const Input& input) {
  const std::string_view head = input.bytes.substr(0, 16384);
  const size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '[') return {Match::none, "no JSON array"};
  const auto has = [&](std::string_view name) { return head.find(name) != std::string_view::npos; };
  if (has("\"identStart\"") && has("\"path\"")) return {Match::sure, "an array of objects with identStart"};
  if (has("\"ref\"") && has("\"dests\"")) return {Match::sure, "an array of objects with ref and dests"};
  if (has("\"sym\"") && has("\"file\"") && (has("\"start\"") || has("\"body\"")))
    return {Match::sure, "an array of objects with sym and file"};
  return {Match::none, "an array without sym, identStart or ref and dests"};
}

base::Result<model::Imported> read_pysonar(const Input& input, const TakeModule&) {
  Collector out(input, "pysonar");
  out.index().tool = "PySonar2";
  PysonarWalk walk(out);
  RETURN_IF_ERROR(walk_json(input.bytes, walk, input.path, input.bytes, 0));
  return finish(out, input);
}

}  // namespace importers::symbols
