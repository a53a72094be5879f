// Nodes are read one by one, each a small tree that is dropped again. A piece that ends inside a message is no piece: so where all pieces
// can be read, each begins and ends between fields, and together they are what the whole is.
#include "importers/tensorflow/graph_nodes.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/inline.h"
#include "importers/tensorflow/node_kind.h"
#include "importers/tensorflow/text_proto.h"
#include "src/base/parallel.h"
#include "src/base/text.h"

namespace importers::tensorflow {
namespace {

constexpr size_t kMostGraphNotes = 20;

template <typename T>
void append_to(std::vector<T>& all, std::vector<T>& more) {
  if (all.empty()) return all.swap(more);
  all.insert(all.end(), std::move_iterator(more.begin()), std::move_iterator(more.end()));
}

/// Walks over the nodes of protobuf text.
class TextNodes {
 public:
  TextNodes(const Input& input, const GraphPieces::Piece& piece, GraphSink& sink)
      : proto_(input.path, piece.bytes), sink_(sink), text_(piece.bytes), line_(piece.line) {}

  base::Status run() {
    while (true) {
      const Event event = proto_.next();
      if (event == Event::end) return {};
      if (event == Event::bad) return proto_.error();
      if (event != Event::open) continue;
      const std::string_view name = proto_.field().name;
      if (name == "node") {
        const size_t at = proto_.field().at;
        ASSIGN_OR_RETURN(const Message message, proto_.message());
        sink_.node(message, line_of(at));
      } else if (name == "library") {
        RETURN_IF_ERROR(library());
      } else if (!holds_graph(name)) {
        RETURN_IF_ERROR(proto_.skip());
      }
    }
  }

 private:
  using Event = TextProto::Event;

  int64_t line_of(size_t at) {
    for (; (placed_ = text_.find('\n', placed_)) < at; ++placed_) ++line_;
    placed_ = at;
    return line_;
  }

  /// Calls each(field, at) for the messages of the one that is open; it must pass over them.
  template <typename Each>
  base::Status each_message(Each each) {
    for (const size_t inside = proto_.depth(); proto_.depth() >= inside;) {
      const Event event = proto_.next();
      if (event == Event::bad) return proto_.error();
      if (event == Event::open) RETURN_IF_ERROR(each(proto_.field().name, proto_.field().at));
    }
    return {};
  }

  base::Status library() {
    return each_message([&](std::string_view field, size_t) { return field == "function" ? function() : proto_.skip(); });
  }

  base::Status function() {
    sink_.function();
    return each_message([&](std::string_view field, size_t at) -> base::Status {
      ASSIGN_OR_RETURN(const Message part, proto_.message());
      sink_.function_part(field, part, line_of(at));
      return {};
    });
  }

  TextProto proto_;
  GraphSink& sink_;
  std::string_view text_;
  size_t placed_ = 0;
  int64_t line_;
};

class NodeReader final : public GraphSink {
 public:
  NodeReader(const Input& input, const GraphPieces& pieces) : input_(input), pieces_(pieces) { out_.texts.push_back(made_); }

  base::Result<GraphNodes> read(size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      RETURN_IF_ERROR(pieces_.read(input_, pieces_.pieces[k], *this));
      if (k == begin) make_room((begin == 0 ? pieces_.pieces.size() : end) - begin);
    }
    return std::move(out_);
  }

  void node(const Message& message, int64_t line) override {
    ++out_.read;
    out_.dropped += add_node(message, line, out_.nodes, out_.told) ? 0 : 1;
  }

  void function() override { out_.functions.emplace_back(); }

  void function_part(std::string_view field, const Message& part, int64_t line) override {
    Function& function = out_.functions.back();
    if (field == "signature") read_signature(part, function);
    if (field == "node_def") add_body_node(part, line, function);
    function.weight += weight(part);
    if (field == "ret") function.returns.emplace_back(part.text("key"), value_text(part));
    if (field == "control_ret") function.control.push_back(value_text(part));
  }

 private:
  /// Has it name and op?
  bool add_node(const Message& message, int64_t line, std::vector<Node>& nodes, std::vector<ToldShapes>& all_told) {
    Node& node = nodes.emplace_back();
    ToldShapes& told = all_told.emplace_back();
    size_t inputs = 0, attributes = 0;
    message.each([&](const Field& field, Message) { inputs += field.name == "input", attributes += field.name == "attr"; });
    node.written.reserve(inputs);
    node.attributes.reserve(attributes);
    message.each([&](const Field& field, Message part) {
      if (field.name == "name") node.name = unquoted(field.value);
      if (field.name == "op") node.type = unquoted(field.value);
      if (field.name == "device") node.device = text(field.value);
      if (field.name == "input") node.written.push_back(text(field.value));
      if (field.name == "attr") add_attribute(node, told, part);
    });
    node.line = line;
    node.launches = node_launches(node.type);
    if (!node.name.empty() && !node.type.empty()) return true;
    out_.notes.add("dropped-record", node.name.empty() ? "a node has no name" : "a node has no op", line);
    nodes.pop_back();
    all_told.pop_back();
    return false;
  }

  static void read_signature(const Message& signature, Function& function) {
    function.name = signature.text("name");
    signature.each([&](const Field& field, Message part) {
      if (field.name != "input_arg" && field.name != "output_arg") return;
      const bool is_list = part.has("number_attr") || part.has("type_list_attr");
      (field.name == "input_arg" ? function.inputs : function.outputs).push_back({part.text("name"), is_list});
    });
  }

  void add_body_node(const Message& message, int64_t line, Function& function) {
    if (!add_node(message, line, function.nodes, function.told)) return;
    message.each([&](const Field& field, Message entry) {
      const Message value = field.name == "attr" ? entry.message("value") : Message();
      if (value.has("placeholder"))
        function.placeholders.push_back({function.nodes.size() - 1, entry.text("key"), value.text("placeholder")});
    });
  }

  /// Long texts count as several fields; constants are shared.
  static size_t weight(const Message& message) {
    constexpr size_t kUsual = 32;  // bytes
    size_t sum = 0;
    message.each(
        [&](const Field& field, Message part) { sum += 1 + field.value.size() / kUsual + (field.name == "tensor" ? 0 : weight(part)); });
    return sum;
  }

  std::string_view value_text(const Message& entry) {
    const Field* value = entry.find("value");
    return value == nullptr ? std::string_view() : text(value->value);
  }

  /// For as many nodes as so many pieces like the first hold, and some more: they are large to move. The first reader's room is for the
  /// nodes of all, which follow its own.
  void make_room(size_t pieces) {
    constexpr size_t kMostRoom = size_t{1} << 22;
    const size_t nodes = std::min(out_.nodes.size() * (pieces + pieces / 8), kMostRoom);
    out_.nodes.reserve(nodes);
    out_.told.reserve(nodes);
  }

  /// unquoted(value), as a view.
  std::string_view text(std::string_view value) {
    const bool plain = is_quoted(value) && value.find_first_of("\"\\", 1) == value.size() - 1;
    if (is_quoted(value) && !plain) return made_->emplace_back(unquoted(value));
    const std::string_view inner = plain ? value.substr(1, value.size() - 2) : value;
    const std::string_view all = input_.bytes;
    const bool stays = std::less_equal<>()(all.data(), inner.data()) && std::less<>()(inner.data(), all.data() + all.size());
    return stays ? inner : made_->emplace_back(inner);
  }

  static void add_attribute(Node& node, ToldShapes& told, Message entry) {
    std::string key = entry.text("key");
    const Message value = entry.message("value");
    if (key == "_output_shapes") {
      told.outputs = all_shapes(value.message("list"));
    } else if (key == "_handle_shapes") {
      told.held = all_shapes(value.message("list"));
    } else if (auto read = attribute_value(value)) {
      node.attributes.set(std::move(key), *std::move(read));
    }
  }

  static std::vector<std::optional<Sizes>> all_shapes(Message list) {
    std::vector<std::optional<Sizes>> shapes;
    list.each([&](const Field&, Message shape) { shapes.push_back(shape_sizes(shape)); });
    return shapes;
  }

  const Input& input_;
  const GraphPieces& pieces_;
  const std::shared_ptr<Texts> made_ = std::make_shared<Texts>();
  GraphNodes out_;
};

base::Status read_text(const Input& input, const GraphPieces::Piece& piece, GraphSink& sink) { return TextNodes(input, piece, sink).run(); }

}  // namespace

bool holds_graph(std::string_view field) { return field == "graph_def" || field == "meta_graphs" || field == "graph"; }

GraphPieces text_pieces(std::string_view text, bool cut) {
  constexpr std::string_view kNode = "\nnode {";
  GraphPieces made{{}, read_text};
  int64_t line = 1;
  while (true) {
    const size_t end = std::min(cut ? text.find(kNode, kGraphPiece) : text.size(), text.size() - 1) + 1;
    made.pieces.push_back({text.substr(0, end), line});
    if (end >= text.size()) return made;
    line += std::ranges::count(text.substr(0, end), '\n');
    text.remove_prefix(end);
  }
}

void GraphNotes::add(std::string code, std::string text, int64_t line) {
  if (notes_.size() >= kMostGraphNotes && line != kOfAll) {
    ++more_;
  } else {
    notes_.push_back({line, line > 0 ? 1 : 0, std::move(code), std::move(text)});
  }
}

void GraphNotes::append(GraphNotes after) {
  for (model::Note& note : after.notes_) add(std::move(note.code), std::move(note.text), note.line);
  more_ += after.more_;
}

std::vector<model::Note> GraphNotes::take() {
  if (more_ > 0) add("more", fmt::format("{} more notes like those before are left out", more_));
  for (model::Note& note : notes_) note.line = std::max<int64_t>(note.line, 0);
  return std::move(notes_);
}

void GraphNodes::append(GraphNodes after) {
  append_to(nodes, after.nodes);
  append_to(told, after.told);
  append_to(functions, after.functions);
  append_to(texts, after.texts);
  notes.append(std::move(after.notes));
  read += after.read;
  dropped += after.dropped;
}

base::Result<GraphNodes> read_graph_nodes(const Input& input, const GraphPieces& pieces) {
  constexpr size_t kLeast = 4;  // pieces that are worth a thread
  auto parts =
      base::in_parts(pieces.pieces.size(), kLeast, [&](size_t begin, size_t end) { return NodeReader(input, pieces).read(begin, end); });
  GraphNodes all;
  for (base::Result<GraphNodes>& part : parts) {
    if (!part.ok()) return part.error();
    all.append(*std::move(part));
  }
  inline_calls(all);
  return all;
}

}  // namespace importers::tensorflow
