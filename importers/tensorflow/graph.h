// A TensorFlow graph, wherever it comes from: a GraphDef's text, or the names of a list and the model that they tell.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "src/ir/literal.h"
#include "src/ir/shape.h"
#include "src/model/operator_records.h"

namespace importers::tensorflow {

/// A constant of the graph.
struct Array {
  ir::Shape shape;
  ir::Literal literal;
};

/// A value that lies elsewhere, for it is large and most attributes are none; copies share it.
template <typename T>
class Boxed {
 public:
  Boxed(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  const T& operator*() const { return *value_; }

 private:
  std::shared_ptr<const T> value_;
};

/// Types (DT_FLOAT) are ir::Type, shapes are their sizes (-1: not known), functions and everything else are texts as written.
using Attribute = std::variant<bool, int64_t, double, std::string, ir::Type, std::vector<int64_t>, std::vector<double>,
                               std::vector<std::string>, Boxed<Array>>;

/// The attributes of a node, sorted by name: a node has few.
class Attributes {
 public:
  using Entry = std::pair<std::string, Attribute>;

  Attributes() = default;
  Attributes(std::initializer_list<Entry> entries) {
    for (const Entry& entry : entries) set(entry.first, entry.second);
  }
  void reserve(size_t count) { entries_.reserve(count); }
  /// Adds it or replaces it.
  void set(std::string name, Attribute value) {
    const size_t at = place(name);
    if (is_at(at, name)) return static_cast<void>(entries_[at].second = std::move(value));
    entries_.emplace(entries_.begin() + static_cast<std::ptrdiff_t>(at), std::move(name), std::move(value));
  }
  void erase(std::string_view name) {
    const size_t at = place(name);
    if (is_at(at, name)) entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  /// nullptr: there is none.
  const Attribute* find(std::string_view name) const {
    const size_t at = place(name);
    return is_at(at, name) ? &entries_[at].second : nullptr;
  }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }

 private:
  /// Of the first that is not before it.
  size_t place(std::string_view name) const {
    size_t at = 0;
    while (at < entries_.size() && entries_[at].first < name) ++at;
    return at;
  }
  bool is_at(size_t at, std::string_view name) const { return at < entries_.size() && entries_[at].first == name; }
  std::vector<Entry> entries_;
};

/// Output `port` of a node of the graph.
struct Edge {
  int32_t node = -1;
  int32_t port = 0;
};

/// A node that calls a function of the graph's library: `followed`, its inputs are what the body returns, one for each of its outputs;
/// `results`, the same of one that nobody reads, so that they are results of the program; `kept`, it stays a call, and its note says why;
/// `left_out`, it is no part of the program.
enum class Call : uint8_t { none, followed, results, kept, left_out };

struct Node {
  std::string name, type;        ///< type "Conv2D"; "": not known, and then it is not lowered
  std::vector<Edge> inputs;      ///< of data, in order
  std::vector<int32_t> control;  ///< nodes that must run before
  Attributes attributes;
  std::vector<ir::Shape> shapes;          ///< of its outputs as the program tells them or the model implies; empty: not told
  std::vector<std::string_view> written;  ///< its inputs as the program writes them: "x:1", "^init"
  std::string_view device;                ///< as written
  std::string note;                       ///< what is special about it
  std::string input;                      ///< of a variable or feed: how a replay fills it, a recipe; "": by use
  int64_t line = 0;
  model::Launches launches = model::Launches::device;
  Call call = Call::none;
};

/// The attribute of that name; nullptr where there is none, or one of another kind.
template <typename T>
const T* find_attribute(const Node& node, std::string_view name) {
  const Attribute* found = node.attributes.find(name);
  if constexpr (std::is_same_v<T, Array>) {
    const auto* boxed = std::get_if<Boxed<Array>>(found);
    return boxed == nullptr ? nullptr : &**boxed;
  } else {
    return std::get_if<T>(found);
  }
}

/// Its value, with the one that holds where the program leaves it out.
template <typename T>
T attribute(const Node& node, std::string_view name, T otherwise) {
  const T* value = find_attribute<T>(node, name);
  return value == nullptr ? otherwise : *value;
}

using Texts = std::deque<std::string>;

struct Graph {
  std::string name;
  std::vector<Node> nodes;                            ///< in the program's order, which need not be that of the data
  std::vector<std::shared_ptr<const Texts>> texts{};  ///< what of the nodes' views is not in the program's own text, which must stay
};

}  // namespace importers::tensorflow
