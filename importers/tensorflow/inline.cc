// First each function that is called is judged: what its nodes read is looked up once, and the size of all that it calls is added up, so
// that a file whose calls multiply is refused before anything is copied. Then the calls are replaced, outermost first.
#include "importers/tensorflow/inline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "importers/tensorflow/lower.h"
#include "importers/tensorflow/node_kind.h"
#include "importers/tensorflow/op_types.h"
#include "importers/tensorflow/output_names.h"
#include "src/base/hash.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr size_t kMostFields = size_t{1} << 23;  ///< of all copies together, as Function::weight counts them
constexpr size_t kDeepestCalls = 64;

struct CallType {
  std::string_view type, attribute;  ///< that names the function
};
constexpr CallType kCallTypes[] = {{"PartitionedCall", "f"}, {"StatefulPartitionedCall", "f"}};

bool is_own_op(std::string_view type) { return find_op_type(type) != nullptr || is_lowered(type); }

/// Ops that write variables, and calls that may.
bool changes_state(std::string_view type) {
  const auto holds = [&](std::string_view word) { return type.find(word) != type.npos; };
  const bool branches = type == "If" || type == "Case" || type == "While";
  return holds("Assign") || holds("Apply") || holds("Scatter") || type.starts_with("Stateful") || branches || !is_own_op(type);
}

/// What a text in a body names.
struct BodySource {
  enum class Of : uint8_t { argument, node, unknown } of = Of::unknown;
  bool control = false;
  int32_t index = -1;  ///< of the argument or the node
  int32_t port = 0;
};

using NameIndex = std::unordered_map<std::string_view, size_t>;

/// A function that is called, and what is known before it is copied.
struct Callee {
  enum class State : uint8_t { fresh, open, done } state = State::fresh;
  const Function* function = nullptr;
  std::vector<std::vector<BodySource>> inputs;  ///< by node
  std::vector<BodySource> returns, control;
  std::vector<bool> needed;                      ///< by node: does it serve what a call returns or waits for?
  std::vector<bool> starts;                      ///< by node: does it wait for nothing in the body but constants?
  std::vector<std::pair<size_t, size_t>> calls;  ///< node, body
  std::string why;                               ///< it cannot be followed; empty: it can
  size_t fields = 0, depth = 1, longest = 0;     ///< with all that it calls; bytes of names
  NameIndex outputs;                             ///< made when it is first asked for
  bool used = false;
};

size_t capped_sum(size_t a, size_t b) { return std::min(a + b, kMostFields + 1); }  // of two that are no larger than that, or fit anyhow

/// The functions of a file, each looked into when it is called first.
class Library {
 public:
  Library(const std::vector<Function>& functions, GraphNotes& notes) : notes_(notes), bodies_(functions.size()) {
    for (size_t i = 0; i < functions.size(); ++i) {
      bodies_[i].function = &functions[i];
      by_name_.try_emplace(functions[i].name, i);
    }
  }

  /// The function that a node calls by its attribute or by its op; nothing: it is no call that is followed.
  std::optional<std::string_view> called(const Node& node) const {
    const auto* const row = std::ranges::find(kCallTypes, std::string_view(node.type), &CallType::type);
    const std::string* name = row != std::end(kCallTypes)                             ? find_attribute<std::string>(node, row->attribute)
                              : by_name_.contains(node.type) && !is_own_op(node.type) ? &node.type
                                                                                      : nullptr;
    return name != nullptr && !saves_variables(*name) ? std::optional<std::string_view>(*name) : std::nullopt;
  }

  /// A body that has been judged; nullptr: there is no function of that name.
  Callee* body(std::string_view name) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return nullptr;
    if (bodies_[found->second].state == Callee::State::fresh) judge(found->second);
    return &bodies_[found->second];
  }

  size_t size() const { return bodies_.size(); }
  size_t used() const { return static_cast<size_t>(std::ranges::count(bodies_, true, &Callee::used)); }

 private:
  /// All that it calls is judged before it is.
  void judge(size_t root) {
    std::vector<std::pair<size_t, size_t>> open;  // body, its next call
    const auto enter = [&](size_t at) {
      bodies_[at].state = Callee::State::open;
      look_into(bodies_[at]);
      open.emplace_back(at, 0);
    };
    enter(root);
    while (!open.empty()) {
      auto& [at, next] = open.back();
      if (next == bodies_[at].calls.size()) {
        add_up(bodies_[at]);
        open.pop_back();
        continue;
      }
      const size_t callee = bodies_[at].calls[next++].second;
      if (bodies_[callee].state == Callee::State::open) bodies_[callee].why = "calls itself";
      if (bodies_[callee].state == Callee::State::fresh) enter(callee);
    }
  }

  void add_up(Callee& body) const {
    body.state = Callee::State::done;
    body.fields = capped_sum(body.fields, body.function->weight);
    for (const auto& [node, callee] : body.calls) {
      const Callee& inner = bodies_[callee];
      body.depth = std::max(body.depth, inner.depth + 1);
      if (!inner.why.empty()) continue;
      body.fields = capped_sum(body.fields, inner.fields + body.function->nodes[node].written.size() * inner.depth);
      body.longest = std::max(body.longest, body.function->nodes[node].name.size() + 1 + inner.longest);
    }
    if (body.depth > kDeepestCalls) body.why = fmt::format("nests more than {} calls in each other", kDeepestCalls);
  }

  void look_into(Callee& body) {
    const Function& function = *body.function;
    NameIndex arguments, nodes;
    for (size_t i = 0; i < function.inputs.size(); ++i) arguments.try_emplace(function.inputs[i].name, i);
    for (size_t i = 0; i < function.nodes.size(); ++i) {
      nodes.try_emplace(function.nodes[i].name, i);
      const auto name = called(function.nodes[i]);
      const auto found = name ? by_name_.find(*name) : by_name_.end();
      if (found != by_name_.end()) body.calls.emplace_back(i, found->second);
    }
    const auto is_list = [](const Function::Argument& argument) { return argument.is_list; };
    if (std::ranges::any_of(function.inputs, is_list) || std::ranges::any_of(function.outputs, is_list))
      body.why = "takes or returns lists of tensors";
    for (const Node& node : function.nodes) {
      std::vector<BodySource>& inputs = body.inputs.emplace_back();
      for (const std::string_view text : node.written) inputs.push_back(source(body, node, text, arguments, nodes));
      body.starts.push_back(starts(function, inputs) && node.type != "Const");
    }
    look_at_results(body, arguments, nodes);
    find_needed(body);
  }

  /// As TensorFlow prunes functions: where no node is named that a call waits for, those that change something are kept besides.
  static void find_needed(Callee& body) {
    const std::vector<Node>& nodes = body.function->nodes;
    std::vector<size_t> open;
    body.needed.resize(nodes.size());
    const auto need = [&](const BodySource& source) {
      if (source.of != BodySource::Of::node || body.needed[static_cast<size_t>(source.index)]) return;
      body.needed[static_cast<size_t>(source.index)] = true;
      open.push_back(static_cast<size_t>(source.index));
    };
    std::ranges::for_each(body.returns, need);
    std::ranges::for_each(body.control, need);
    for (size_t i = 0; i < nodes.size() && body.control.empty(); ++i) {
      if (changes_state(nodes[i].type)) need({BodySource::Of::node, false, static_cast<int32_t>(i), 0});
    }
    while (!open.empty()) {
      const size_t at = open.back();
      open.pop_back();
      std::ranges::for_each(body.inputs[at], need);
    }
  }

  void look_at_results(Callee& body, const NameIndex& arguments, const NameIndex& nodes) {
    const Function& function = *body.function;
    Node signature;
    signature.name = function.name;
    NameIndex returns;
    for (size_t i = 0; i < function.returns.size(); ++i) returns.try_emplace(function.returns[i].first, i);
    for (const Function::Argument& output : function.outputs) {
      const auto found = returns.find(output.name);
      const std::string_view text = found == returns.end() ? std::string_view() : function.returns[found->second].second;
      body.returns.push_back(source(body, signature, text, arguments, nodes));
    }
    for (const std::string_view name : function.control) {
      const auto found = nodes.find(name);
      if (found != nodes.end()) body.control.push_back({BodySource::Of::node, true, static_cast<int32_t>(found->second), 0});
    }
  }

  static bool starts(const Function& function, const std::vector<BodySource>& inputs) {
    return std::ranges::all_of(inputs, [&](const BodySource& source) {
      return source.of != BodySource::Of::node || function.nodes[static_cast<size_t>(source.index)].type == "Const";
    });
  }

  /// "x": argument; "node:output", "node:output:1"; "^node".
  BodySource source(Callee& body, const Node& reader, std::string_view text, const NameIndex& arguments, const NameIndex& nodes) {
    const Function& function = *body.function;
    BodySource source;
    source.control = text.starts_with('^');
    const std::string_view whole = text.substr(source.control ? 1 : 0), name = whole.substr(0, whole.find(':'));
    const bool plain = name.size() == whole.size();
    const auto argument = arguments.find(name);
    const auto node = nodes.find(name);
    if (argument != arguments.end() && (plain || whole.substr(name.size()) == ":0")) {
      source.of = BodySource::Of::argument;
      source.index = static_cast<int32_t>(argument->second);
    } else if (node != nodes.end() && plain == source.control) {
      source.index = static_cast<int32_t>(node->second);
      const auto port = plain ? std::optional(0) : port_of(function, node->second, whole.substr(name.size() + 1));
      if (port) source.of = BodySource::Of::node, source.port = *port;
    }
    if (source.of == BodySource::Of::unknown) refuse(body, reader, text, source.index);
    return source;
  }

  void refuse(Callee& body, const Node& reader, std::string_view text, int32_t node) {
    const Function& function = *body.function;
    const std::string why = node < 0 ? "which is not in it"
                                     : fmt::format("and no output of that name is known of a {}",
                                                   base::escaped(function.nodes[static_cast<size_t>(node)].type));
    notes_.add("missing-input",
               fmt::format("in function '{}' '{}' reads '{}', {}", base::escaped(function.name), base::escaped(reader.name),
                           base::escaped(text), why),
               reader.line);
    if (body.why.empty()) body.why = "reads what is not known";
  }

  /// `output`: "values:0" or "values".
  std::optional<int32_t> port_of(const Function& function, size_t at, std::string_view output) {
    const InputName written = input_name(output);
    const Node& node = function.nodes[at];
    const auto found = is_own_op(node.type) ? by_name_.end() : by_name_.find(node.type);
    if (found == by_name_.end()) return output_port(node.type, written.node, written.port, function.told[at].outputs.size());
    const NameIndex& outputs = outputs_of(bodies_[found->second]);
    const auto named = outputs.find(written.node);
    return named == outputs.end() ? std::nullopt : std::optional(static_cast<int32_t>(named->second));
  }

  static const NameIndex& outputs_of(Callee& body) {
    const std::vector<Function::Argument>& outputs = body.function->outputs;
    if (body.outputs.empty()) {
      for (size_t i = 0; i < outputs.size(); ++i) body.outputs.try_emplace(outputs[i].name, i);
    }
    return body.outputs;
  }

  GraphNotes& notes_;
  std::vector<Callee> bodies_;
  NameIndex by_name_;
};

/// Copies bodies into a graph.
class Inliner {
 public:
  explicit Inliner(GraphNodes& graph) : graph_(graph), library_(graph.functions, graph.notes) {}

  void run() {
    if (std::ranges::none_of(graph_.nodes, [&](const Node& node) { return library_.called(node).has_value(); })) return finish();
    for (const Node& node : graph_.nodes) names_.try_emplace(base::hash64(node.name), 0);
    std::vector<Node> nodes = std::exchange(graph_.nodes, {});
    std::vector<ToldShapes> told = std::exchange(graph_.told, {});
    graph_.nodes.reserve(nodes.size());
    graph_.told.reserve(nodes.size());
    leave_signatures(nodes);
    for (size_t i = 0; i < nodes.size(); ++i) expand(std::move(nodes[i]), std::move(told[i]), true);
    graph_.texts.push_back(made_);
    finish();
  }

 private:
  /// The calls of a SavedModel's signatures are programs of their own: the default one is taken.
  void leave_signatures(std::vector<Node>& nodes) {
    std::vector<Node*> calls;
    for (Node& node : nodes) {
      const auto name = library_.called(node);
      if (name && name->find("_signature_wrapper_") != name->npos) calls.push_back(&node);
    }
    if (calls.size() < 2) return;
    const auto is_default = [](const Node* call) {
      return std::ranges::any_of(call->written, [](std::string_view input) { return input.starts_with("serving_default_"); });
    };
    const auto found = std::ranges::find_if(calls, is_default);
    const Node* const taken = found == calls.end() ? calls.front() : *found;
    graph_.notes.add("signatures", fmt::format("the file has {} signatures, programs of their own; '{}' is taken", calls.size(),
                                               base::escaped(taken->name)));
    for (Node* const call : calls) {
      if (call == taken) continue;
      call->call = Call::left_out;
      call->note = "another signature, which is not replayed";
    }
  }

  void finish() {
    if (calls_ > 0)
      graph_.notes.add("functions-inlined",
                       fmt::format("{} calls of {} functions of the library are followed: {} nodes of their bodies stand "
                                   "under the names of the calls{}",
                                   calls_, library_.used(), copied_, unneeded_text()));
    if (library_.used() < library_.size())
      graph_.notes.add("functions-not-inlined", fmt::format("{} of {} functions of the library are not part of the graph: no call that is "
                                                            "followed leads to them",
                                                            library_.size() - library_.used(), library_.size()));
    graph_.read += copied_;
  }

  std::string unneeded_text() const {
    return unneeded_ == 0 ? "" : fmt::format("; {} more are left out, which serve nothing that is returned or changed", unneeded_);
  }

  /// Appends a node; of a call that can be followed the body before it.
  void expand(Node node, ToldShapes told, bool outermost) {
    const auto name = node.call == Call::left_out ? std::nullopt : library_.called(node);
    if (name) {
      Callee* const body = library_.body(*name);
      const std::string why = body == nullptr ? "is not in the library" : why_not(*body, node, outermost);
      node.call = why.empty() ? Call::followed : Call::kept;
      if (!why.empty()) node.note = fmt::format("the function '{}' that it calls {}", base::escaped(*name), why);
      if (why.empty()) copy(*body, node);
    }
    graph_.nodes.push_back(std::move(node));
    graph_.told.push_back(std::move(told));
  }

  std::string why_not(const Callee& body, const Node& call, bool outermost) {
    constexpr size_t kUsual = 64;  // bytes of a name
    const auto given = std::ranges::count_if(call.written, [](std::string_view input) { return !input.starts_with('^'); });
    if (!body.why.empty()) return body.why;
    if (static_cast<size_t>(given) != body.function->inputs.size())
      return fmt::format("takes {} arguments, not {}", body.function->inputs.size(), given);
    if (!outermost) return "";
    const size_t most = body.fields * (1 + (call.name.size() + body.longest) / kUsual) + call.written.size() * body.depth;
    if (most > left_) return fmt::format("would with all that it calls make the graph larger than {} fields", kMostFields);
    left_ -= most;
    return "";
  }

  /// One call's copy of a body.
  struct Frame {
    const Callee& body;
    std::vector<std::string_view> arguments, before, names;  ///< what it is given, what must run before it, its nodes
    std::string_view first = {};                             ///< its node that waits for these; others wait for it
  };

  /// Afterwards the call reads what the body returns.
  void copy(Callee& body, Node& call) {
    body.used = true;
    ++calls_;
    Frame frame{body, {}, {}, {}};
    for (const std::string_view input : call.written) (input.starts_with('^') ? frame.before : frame.arguments).push_back(input);
    for (size_t i = 0; i < body.needed.size(); ++i) {
      frame.names.push_back(body.needed[i] ? named(call.name, body.function->nodes[i].name) : std::string_view());
    }
    size_t placeholder = 0;
    for (size_t i = 0; i < frame.names.size(); ++i) {
      ++(body.needed[i] ? copied_ : unneeded_);
      if (!body.needed[i]) continue;
      Node node = body.function->nodes[i];
      node.name = frame.names[i];
      connect(frame, i, node);
      const std::vector<Function::Placeholder>& all = body.function->placeholders;
      while (placeholder < all.size() && all[placeholder].node < i) ++placeholder;
      for (; placeholder < all.size() && all[placeholder].node == i; ++placeholder) fill_in(all[placeholder], call, node);
      expand(std::move(node), body.function->told[i], false);
    }
    call.written.clear();
    for (const BodySource& source : body.returns) call.written.push_back(text(frame, source));
    for (const BodySource& source : body.control) call.written.push_back(text(frame, source));
    call.written.insert(call.written.end(), frame.before.begin(), frame.before.end());
  }

  static void fill_in(const Function::Placeholder& placeholder, const Node& call, Node& node) {
    if (const Attribute* value = call.attributes.find(placeholder.from)) node.attributes.set(placeholder.attribute, *value);
  }

  void connect(Frame& frame, size_t i, Node& node) {
    for (size_t k = 0; k < node.written.size(); ++k) node.written[k] = text(frame, frame.body.inputs[i][k]);
    if (frame.before.empty() || !frame.body.starts[i]) return;
    if (frame.first.empty()) {
      frame.first = made_->emplace_back(fmt::format("^{}", node.name));
      node.written.insert(node.written.end(), frame.before.begin(), frame.before.end());
    } else {
      node.written.push_back(frame.first);
    }
  }

  std::string_view text(const Frame& frame, const BodySource& source) {
    const auto at = static_cast<size_t>(source.index);
    const std::string_view plain = source.of == BodySource::Of::argument ? frame.arguments[at] : frame.names[at];
    if (source.control)
      return made_->emplace_back(fmt::format("^{}", source.of == BodySource::Of::argument ? input_name(plain).node : plain));
    return source.port == 0 ? plain : made_->emplace_back(fmt::format("{}:{}", plain, source.port));
  }

  /// A name that no other node has.
  std::string_view named(std::string_view scope, std::string_view name) {
    std::string& made = made_->emplace_back(fmt::format("{}/{}", scope, name));
    const size_t plain = made.size();
    const auto [first, is_new] = names_.try_emplace(base::hash64(made), 0);
    if (is_new) return made;
    int64_t& others = first->second;  // stays where it is, unlike the iterator
    do made.resize(plain), made += fmt::format("_{}", ++others);
    while (!names_.try_emplace(base::hash64(made), 0).second);
    return made;
  }

  GraphNodes& graph_;
  Library library_;
  const std::shared_ptr<Texts> made_ = std::make_shared<Texts>();
  std::unordered_map<uint64_t, int64_t> names_;  ///< by hash: how many others have been made of it
  size_t left_ = kMostFields;
  int64_t calls_ = 0, copied_ = 0, unneeded_ = 0;
};

}  // namespace

void inline_calls(GraphNodes& graph) {
  if (!graph.functions.empty()) Inliner(graph).run();
}

bool saves_variables(std::string_view function) {
  return function.find("_traced_save") != function.npos || function.find("_traced_restore") != function.npos;
}

}  // namespace importers::tensorflow
