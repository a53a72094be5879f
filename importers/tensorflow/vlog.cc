// A line is taken apart only as far as it is needed: node and type of every one, attributes and inputs when an operator is seen first.
// Threads write between one another, so a kernel's end is joined to its begin by step and node id.
#include "importers/tensorflow/vlog.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "importers/tensorflow/attribute_text.h"
#include "importers/tensorflow/device_rows.h"
#include "importers/tensorflow/log.h"
#include "importers/tensorflow/node_kind.h"
#include "importers/tensorflow/text_proto.h"

namespace importers::tensorflow {
namespace {

constexpr std::string_view kProcess = "Process node: ";
constexpr std::string_view kDone[] = {"Synchronous kernel done: ", "Async kernel done: "};
constexpr std::string_view kMemory = "__LOG_MEMORY__ MemoryLogTensorOutput ";
constexpr std::string_view kVlogTimer = "executor log: begin and end of kernels";
constexpr int64_t kFolding = -1;  ///< the step of constant folding
constexpr std::string_view kVlogWhy =
    "the executor's log has no values of constants, and not every shape; give a GraphDef of the run (with shapes) to replay it";

bool is_vlog_name_char(char c) { return c != ' ' && c != '{' && c != '}'; }

/// End of what opens at `at` (a bracket or a quote), or npos.
size_t end_of_group(std::string_view text, size_t at) {
  int depth = 0;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if ((c == ']' || c == '}' || c == ')') && --depth == 0) {
      return at;
    }
  }
  return std::string_view::npos;
}

struct Execution {
  int64_t id = 0, step = 0;
  std::string_view node;  ///< text of the summary and what follows
};

/// "12 step 8 {{node …"
std::optional<Execution> execution(std::string_view text) {
  const size_t step = text.find(" step ");
  if (step == text.npos || step > 20) return std::nullopt;
  const size_t node = text.find(' ', step + 6);
  if (node == text.npos) return std::nullopt;
  const auto id = whole(text.substr(0, step)), number = whole(text.substr(step + 6, node - step - 6));
  if (!id || !number) return std::nullopt;
  return Execution{*id, *number, text.substr(node + 1)};
}

/// The device behind the node; in old logs an attribute.
std::string_view device_of(std::string_view text) {
  constexpr std::string_view kBehind = " device: ", kAttribute = "_device=\"";
  if (const size_t at = text.rfind(kBehind); at != text.npos) return text.substr(at + kBehind.size());
  const size_t at = text.rfind(kAttribute);
  if (at == text.npos) return {};
  const size_t begin = at + kAttribute.size();
  return text.substr(begin, std::min(text.find('"', begin), text.size()) - begin);
}

bool is_dead(std::string_view rest) { return rest.starts_with(" is dead") && !rest.starts_with(" is dead: 0"); }

class VlogReader {
 public:
  explicit VlogReader(const Input& input) : input_(input), log_(input, "tensorflow-vlog", "executions") {}

  base::Result<model::Imported> run() {
    each_log_line(input_.bytes, [&](const LogLine& line) { return take(line), true; });
    add_shapes();
    if (folded_ > 0) log_.note("constant-folding", fmt::format("{} executions of step -1 (constant folding) are passed over", folded_));
    if (executions_ > 0 && log_.timings() == 0)
      log_.note("no-times", "the log has no lines of kernels that are done: it tells an order and no times");
    if (executions_ == 0) log_.note("no-executor-lines", "the log has memory lines alone: types are told by names");
    return log_.finish(kVlogWhy);
  }

 private:
  void take(const LogLine& line) {
    if (line.text.starts_with(kProcess)) return process(line, line.text.substr(kProcess.size()));
    for (const std::string_view done : kDone) {
      if (line.text.starts_with(done)) return end(line, line.text.substr(done.size()));
    }
    if (line.text.starts_with(kMemory)) memory(line);
  }

  void process(const LogLine& line, std::string_view text) {
    const auto run = execution(text);
    const auto node = run ? node_summary(run->node) : std::nullopt;
    if (!node) return log_.drop(line.begin, "expected `id step n name = Op[attributes](inputs)`");
    if (run->step == kFolding) return ++folded_, log_.pass_over();
    log_.keep();
    ++executions_;
    const size_t known = log_.size();
    const int32_t op = log_.op(node->name, node->type, device_of(run->node), line.number);
    if (log_.size() > known) describe(log_[op], *node);
    if (is_dead(node->rest)) return;
    if (line.at_ns) running_[{run->step, run->id}] = {op, *line.at_ns};
  }

  void describe(model::Operator& op, const NodeSummary& node) {
    nlohmann::json attributes = nlohmann::json::object();
    std::string_view shapes, type;
    for (const auto& [key, value] : summary_attributes(node.attributes)) {
      if (key == "_output_shapes") shapes = value;
      if (key == "T" || (key == "dtype" && type.empty())) type = value;
      if (key != "_output_shapes" && key != "_device") attributes[std::string(key)] = unquoted(value);
    }
    op.attributes = attributes.empty() ? "" : attributes.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    op.shape = summary_shapes(shapes, type);
    if (!op.shape.empty()) op.shape_from = model::Known::given;
    for (std::string_view rest = node.inputs; !rest.empty();) {
      const size_t comma = std::min(rest.find(", "), rest.size());
      op.inputs.emplace_back(rest.substr(0, comma));
      rest.remove_prefix(std::min(comma + 2, rest.size()));
    }
  }

  void end(const LogLine& line, std::string_view text) {
    const auto run = execution(text);
    if (!run) return log_.drop(line.begin, "expected `id step n name = Op[attributes](inputs)`");
    if (run->step == kFolding) return log_.pass_over();
    const auto begun = running_.find({run->step, run->id});
    if (begun == running_.end()) return log_.drop(line.begin, "a kernel is done whose begin the log does not have");
    log_.keep();
    if (line.at_ns) {
      const auto pass = static_cast<int32_t>(passes_.try_emplace(run->step, passes_.size()).first->second);
      const Begun& from = begun->second;
      log_.time(log_[from.op].device, kVlogTimer, {from.op, pass, from.at_ns, *line.at_ns - from.at_ns});
    }
    running_.erase(begun);
  }

  void memory(const LogLine& line) {
    TextProto proto(input_.path, input_.bytes.substr(0, line.begin + line.text.size()), line.begin + kMemory.size());
    if (proto.open_message()) {
      if (const auto message = proto.message(); message.ok()) return output(*message, line);
    }
    log_.drop(line.begin, "expected `{ step_id: … kernel_name: … tensor { … } }`");
  }

  void output(const Message& message, const LogLine& line) {
    const std::string name = message.text("kernel_name");
    const auto index = static_cast<size_t>(std::clamp<int64_t>(message.integer("index"), 0, 1 << 10));
    if (message.integer("step_id") < -1 && message.integer("step_id") >= -6) return;  // of no step
    Outputs& known = outputs_[name];
    if (known.shapes.empty()) known.line = line.number, order_.push_back(name);
    known.shapes.resize(std::max(known.shapes.size(), index + 1));
    known.shapes[index] = tensor_text(message.message("tensor"));
    ++memory_lines_;
  }

  void add_shapes() {
    const bool alone = executions_ == 0;
    if (alone) log_.keep(memory_lines_);
    for (const std::string& name : order_) {
      const Outputs& outputs = outputs_[name];
      const int32_t op = alone ? log_.op(name, "", "", outputs.line) : log_.find(name);
      if (op >= 0 && log_[op].shape.empty()) set_shapes(log_[op], outputs.shapes);
    }
  }

  struct Begun {
    int32_t op;
    int64_t at_ns;
  };
  struct Outputs {
    std::vector<std::string> shapes;
    int64_t line = 0;
  };
  struct HashPair {
    size_t operator()(const std::pair<int64_t, int64_t>& pair) const {
      return static_cast<size_t>(static_cast<uint64_t>(pair.first) * 0x9E3779B97F4A7C15U + static_cast<uint64_t>(pair.second));
    }
  };

  const Input& input_;
  Log log_;
  std::unordered_map<std::pair<int64_t, int64_t>, Begun, HashPair> running_;  ///< by step and id
  std::unordered_map<int64_t, size_t> passes_;                                ///< by step
  std::unordered_map<std::string, Outputs> outputs_;
  std::vector<std::string> order_;  ///< of outputs_
  int64_t executions_ = 0, folded_ = 0, memory_lines_ = 0;
};

}  // namespace

std::optional<NodeSummary> node_summary(std::string_view text) {
  constexpr std::string_view kFunction = "{{function_node ", kNode = "{{node ";
  if (text.starts_with(kFunction)) {
    const size_t close = text.find("}}");
    if (close == text.npos) return std::nullopt;
    text.remove_prefix(close + 2);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  const size_t equals = text.find(" = ");
  if (equals == text.npos) return std::nullopt;
  NodeSummary node;
  node.name = text.substr(0, equals);
  if (node.name.starts_with(kNode) && node.name.ends_with("}}")) node.name = node.name.substr(kNode.size(), equals - kNode.size() - 2);
  const std::string_view call = text.substr(equals + 3);
  const size_t open = call.find('[');
  const size_t close = open == call.npos ? open : end_of_group(call, open);
  if (close == call.npos || close + 1 >= call.size() || call[close + 1] != '(') return std::nullopt;
  const size_t end = call.find(')', close);
  if (end == call.npos || node.name.empty() || !std::ranges::all_of(node.name, is_vlog_name_char)) return std::nullopt;
  node.type = call.substr(0, open);
  node.attributes = call.substr(open + 1, close - open - 1);
  node.inputs = call.substr(close + 2, end - close - 2);
  node.rest = call.substr(end + 1);
  return node;
}

std::vector<std::pair<std::string_view, std::string_view>> summary_attributes(std::string_view text) {
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  while (!text.empty()) {
    const size_t equals = text.find('=');
    if (equals == text.npos) break;
    int depth = 0;
    size_t at = equals + 1;
    for (; at < text.size() && (depth > 0 || text.substr(at, 2) != ", "); ++at) {
      if (text[at] == '"') {
        for (++at; at < text.size() && text[at] != '"'; ++at) at += text[at] == '\\';
      } else {
        depth += std::string_view("[{(<").find(text[at]) != std::string_view::npos;
        depth -= depth > 0 && std::string_view("]})>").find(text[at]) != std::string_view::npos;
      }
    }
    at = std::min(at, text.size());
    attributes.emplace_back(text.substr(0, equals), text.substr(equals + 1, at - equals - 1));
    text.remove_prefix(std::min(at + 2, text.size()));
  }
  return attributes;
}

std::string summary_shapes(std::string_view shapes, std::string_view type) {
  const auto element = element_type(type);
  if (shapes.size() < 2 || !element || *element >= ir::Type::token) return "";
  if (shapes.find('?') != shapes.npos || shapes.find("unknown") != shapes.npos || shapes.find('-') != shapes.npos) return "";
  std::string result;
  int64_t count = 0;
  for (size_t at = shapes.find('[', 1); at != shapes.npos; at = shapes.find('[', at + 1), ++count) {
    const size_t close = shapes.find(']', at);
    if (close == shapes.npos) return "";
    result += fmt::format("{}{}{}", count == 0 ? "" : ", ", ir::text(*element), shapes.substr(at, close - at + 1));
  }
  return count > 1 ? fmt::format("({})", result) : result;
}

Match match_vlog(const Input& input) {
  const std::string_view head = input.bytes.substr(0, size_t{1} << 26);
  if (head.find("Process node: ") != head.npos) return {Match::sure, "lines of the executor: 'Process node:'"};
  if (head.find(kMemory) != head.npos) return {Match::likely, "lines of the memory log: '__LOG_MEMORY__'"};
  return {Match::none, "no line has 'Process node:'"};
}

base::Result<model::Imported> read_vlog(const Input& input, const TakeModule&) { return VlogReader(input).run(); }

}  // namespace importers::tensorflow
