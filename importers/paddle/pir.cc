// PIR text of Paddle 2.6 to 3.x: regions `{ … }` of operators `(%2) = "pd_op.add" (%0, %1) {attributes} : (types) -> types`. Blanks and
// line breaks are free but for the end of an operator's result types. Regions are kept on a stack of our own, so that depth costs no calls.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "importers/paddle/cursor.h"
#include "importers/paddle/listing.h"
#include "importers/paddle/name_index.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr size_t kDeepestRegion = 200;
constexpr size_t kEnoughToTell = 4096;  ///< operators, how long one is

/// A type in a note: that of a list may be as long as the text.
std::string type_text(std::string_view type) {
  constexpr size_t kMost = 80;
  return base::escaped(type.substr(0, kMost)) + (type.size() > kMost ? "…" : "");
}

class PirReader {
 public:
  PirReader(Cursor cursor, std::string_view title, Listing& listing) : cursor_(cursor), title_(title), listing_(listing) {}

  base::Result<size_t> run() {
    listing_.programs.push_back({Form::pir, title_, {}, cursor_.at()});
    program().blocks.push_back({});
    open_.push_back({0, 0, cursor_.take('{')});
    while (!open_.empty() && !cursor_.skip_space().at_end()) RETURN_IF_ERROR(step());
    if (!open_.empty() && (open_.size() > 1 || open_[0].braced)) cut_short();
    return cursor_.at();
  }

 private:
  struct Region {
    int32_t block;
    size_t owner;  ///< the operator whose region it is, in the block below
    bool braced;   ///< an excerpt may lack the program's own braces
  };

  Program& program() { return listing_.programs.back(); }
  Block& block() { return program().blocks[static_cast<size_t>(open_.back().block)]; }
  void note(size_t offset, std::string code, std::string text) { listing_.notes.push_back({offset, std::move(code), std::move(text)}); }

  void cut_short() {
    program().gaps = true;
    note(cursor_.text().size() - 1, "cut-short", "a region has no '}': what follows is missing");
  }

  /// The next operator, the end of a region, or text between operators.
  base::Status step() {
    if (cursor_.peek() == '}' && open_.back().braced) return close();
    if (cursor_.peek() == '^' && cursor_.peek(1) != '\0') return arguments();
    if (begins_operator()) return operation();
    return remark();
  }

  bool begins_operator() const {
    if (cursor_.peek() == '"') return true;
    if (cursor_.peek() == '(') return true;
    return cursor_.peek() == '%';
  }

  /// Text that is no operator: dots and comments are passed over anywhere; an excerpt without braces ends at anything else.
  base::Status remark() {
    const std::string_view text = cursor_.line();
    const bool gap = text.starts_with("..") || text.starts_with("…");
    const bool log =
        text.size() > 5 && std::string_view("IWEF").find(text[0]) != std::string_view::npos && text[1] >= '0' && text[1] <= '9';
    if (!gap && !log && text[0] != '#' && !text.starts_with("//")) {
      if (open_.size() > 1 || open_[0].braced) return cursor_.error(fmt::format("expected an operator or '}}', got {}", cursor_.found()));
      open_.clear();
      return {};
    }
    if (gap) program().gaps = true;
    note(cursor_.at(), gap ? "left-out" : "text-skipped", fmt::format("'{}' is not read", base::escaped(text.substr(0, 40))));
    cursor_.skip_line();
    return {};
  }

  /// `}`, and `} else {` between the two regions of an `if`.
  base::Status close() {
    cursor_.take('}');
    const Region closed = open_.back();
    open_.pop_back();
    if (open_.empty()) return {};
    const size_t at = cursor_.at();
    if (cursor_.skip_space().take("else") && cursor_.skip_space().take('{')) return open(closed.owner);
    cursor_.move_to(at);
    return {};
  }

  base::Status open(size_t owner) {
    if (open_.size() == kDeepestRegion) return cursor_.error("regions lie too deep");
    const auto inner = static_cast<int32_t>(program().blocks.size());
    block().operators[owner].blocks.push_back(inner);
    const int32_t parent = open_.back().block;
    program().blocks.emplace_back().parent = parent;
    open_.push_back({inner, owner, true});
    return {};
  }

  /// `^%arg_0 {stop_gradient:true}, %arg_1`: the region's arguments, or `^block:` of early prints.
  base::Status arguments() {
    cursor_.take('^');
    if (cursor_.peek() != '%') return cursor_.skip_line(), base::Status();
    do {
      const size_t begin = cursor_.skip_blanks().at();
      if (!cursor_.take('%')) return cursor_.error(fmt::format("expected a block argument, got {}", cursor_.found()));
      cursor_.word();
      Variable variable;
      variable.name = cursor_.since(begin);
      variable.offset = begin;
      block().variables.push_back(std::move(variable));
      ++listing_.read;
      if (cursor_.skip_blanks().peek() == '{' && cursor_.group().empty()) return cursor_.error("this '{' has no '}'");
    } while (cursor_.skip_blanks().take(','));
    return {};
  }

  base::Status operation() {
    Operator op;
    op.offset = cursor_.at();
    RETURN_IF_ERROR(results(op));
    RETURN_IF_ERROR(name(op));
    RETURN_IF_ERROR(operands(op));
    if (cursor_.skip_space().peek() == '{' && !at_region()) RETURN_IF_ERROR(attributes(op));
    RETURN_IF_ERROR(types(op));
    ++listing_.read;
    block().operators.push_back(std::move(op));
    if (block().operators.size() == kEnoughToTell && open_.size() == 1) make_room();
    if (cursor_.skip_blanks().take('{')) return open(block().operators.size() - 1);
    return {};
  }

  /// For as many as the text holds if it goes on as it has begun, and some more: they are large to move.
  void make_room() {
    const size_t read = cursor_.at() - program().offset + 1, left = cursor_.text().size() - cursor_.at();
    const auto reserve = [&](auto& list) { list.reserve(list.size() + list.size() * (left / read + 1) * 9 / 8); };
    reserve(block().operators), reserve(block().variables), reserve(spelt_);
  }

  /// `(%0, %1) = `; a few early prints leave the brackets or the whole away.
  base::Status results(Operator& op) {
    if (cursor_.peek() == '"') return {};
    arguments_.clear();
    const bool bracket = cursor_.take('(');
    while (cursor_.skip_space().peek() == '%') {
      ASSIGN_OR_RETURN(const std::string_view value, this->value());
      arguments_.push_back(value);
      if (!cursor_.skip_space().take(',')) break;
    }
    if (bracket && !cursor_.take(')')) return cursor_.error(fmt::format("expected ')' after the results, got {}", cursor_.found()));
    if (!cursor_.skip_space().take('=')) return cursor_.error(fmt::format("expected '=' after the results, got {}", cursor_.found()));
    cursor_.skip_space();
    if (arguments_.empty()) return {};
    slots_.assign({{{}, listing_.keep(arguments_)}});
    op.outputs = listing_.keep(slots_);
    return {};
  }

  base::Result<std::string_view> value() {
    const size_t begin = cursor_.at();
    cursor_.take('%');
    if (cursor_.word().empty()) return cursor_.error(begin, "expected a value like %0");
    return cursor_.since(begin);
  }

  base::Status name(Operator& op) {
    if (cursor_.peek() == '"') {
      const auto quoted = cursor_.quoted();
      if (!quoted) return cursor_.error("this '\"' has no end");
      op.type = *quoted;
    } else {
      op.type = cursor_.word("_.");
    }
    if (op.type.empty()) return cursor_.error(fmt::format("expected the name of an operator, got {}", cursor_.found()));
    if (cursor_.skip_blanks().take("[id:")) {
      op.id = cursor_.integer().value_or(-1);
      if (!cursor_.take(']')) return cursor_.error(fmt::format("expected ']', got {}", cursor_.found()));
    }
    return {};
  }

  /// `(%0, <<NULL VALUE>>, cond=%3, inputs=%4, %5)`
  base::Status operands(Operator& op) {
    if (!cursor_.skip_space().take('(')) return cursor_.error(fmt::format("expected '(' and operands, got {}", cursor_.found()));
    slots_.assign(1, {});
    arguments_.clear();
    while (!cursor_.skip_space().take(')')) {
      if (cursor_.take("<<NULL VALUE>>")) {
        arguments_.emplace_back();
      } else {
        if (cursor_.peek() != '%') RETURN_IF_ERROR(keyword());
        if (cursor_.skip_space().peek() == ')') continue;  // `inputs=` of a loop that carries nothing
        ASSIGN_OR_RETURN(const std::string_view value, this->value());
        arguments_.push_back(value);
      }
      if (!cursor_.skip_space().take(',') && cursor_.peek() != ')')
        return cursor_.error(fmt::format("expected ',' or ')', got {}", cursor_.found()));
    }
    end_slot();
    if (slots_.size() > 1 && slots_.front().arguments.empty()) slots_.erase(slots_.begin());
    op.inputs = listing_.keep(slots_);
    return {};
  }

  /// `cond=`, `inputs=`: a slot of its own.
  base::Status keyword() {
    cursor_.take('^');
    const std::string_view word = cursor_.word();
    if (word.empty() || !(cursor_.take('=') || cursor_.take(':')))
      return cursor_.error(fmt::format("expected an operand, got {}", cursor_.found()));
    end_slot();
    slots_.push_back({word, {}});
    return {};
  }

  void end_slot() {
    slots_.back().arguments = listing_.keep(arguments_);
    arguments_.clear();
  }

  /// A region's '{' stands before a line break or an operator; that of attributes before a name or '}'.
  bool at_region() const {
    Cursor ahead = cursor_;
    ahead.take('{');
    const char next = ahead.skip_space().peek();
    return next == '(' || next == '^' || next == '%' || next == '"' || next == '\0' ||
           (next == '}' && ahead.since(cursor_.at()).find('\n') != std::string_view::npos);
  }

  base::Status attributes(Operator& op) {
    cursor_.take('{');
    attributes_.clear();
    while (!cursor_.skip_space().take('}')) {
      const std::string_view name = cursor_.word("_.@");
      if (name.empty() || !cursor_.skip_space().take(':'))
        return cursor_.error(fmt::format("expected an attribute 'name:value', got {}", cursor_.found()));
      cursor_.skip_space();
      ASSIGN_OR_RETURN(const std::string_view value, attribute_value());
      if (name == "op_dist_attr")
        op.distribution = value;
      else
        attributes_.push_back({name, value});
      if (!cursor_.skip_space().take(',') && cursor_.peek() != '}')
        return cursor_.error(fmt::format("expected ',' or '}}' after an attribute, got {}", cursor_.found()));
    }
    op.attributes = listing_.keep(attributes_);
    return {};
  }

  /// Up to a ',' or '}' outside brackets and strings.
  base::Result<std::string_view> attribute_value() {
    const size_t begin = cursor_.at();
    while (!cursor_.at_end() && cursor_.peek() != ',' && cursor_.peek() != '}') {
      const char c = cursor_.peek();
      if (c == '"') {
        if (!cursor_.quoted()) return cursor_.error("this string has no end");
      } else if (c == '(' || c == '[' || c == '{' || c == '<') {
        if (cursor_.group().empty()) return cursor_.error(fmt::format("this '{}' has no partner", c));
      } else {
        cursor_.move_to(cursor_.at() + 1);
      }
    }
    const std::string_view value = cursor_.since(begin);
    return value.substr(0, value.find_last_not_of(" \t\r\n") + 1);
  }

  /// `: (types) -> types`; `if` has no operand types, `while` no types at all.
  base::Status types(Operator& op) {
    const size_t at = cursor_.at();
    if (cursor_.skip_space().take(':'))
      RETURN_IF_ERROR(operand_types(op));
    else
      cursor_.move_to(at);
    const size_t before_arrow = cursor_.at();
    types_.clear();
    if (cursor_.skip_space().take("->")) {
      RETURN_IF_ERROR(result_types());
    } else {
      cursor_.move_to(before_arrow);
    }
    return define(op);
  }

  base::Status operand_types(const Operator& op) {
    if (!cursor_.skip_space().take('(')) return cursor_.error(fmt::format("expected '(' and types, got {}", cursor_.found()));
    size_t k = 0;
    while (!cursor_.skip_space().take(')')) {
      const size_t begin = cursor_.at();
      const std::string_view operand = operand_of(op, k++);
      if (!is_as_made(operand)) {
        ASSIGN_OR_RETURN(Type type, read_type(cursor_, listing_));
        if (!operand.empty()) compare(operand, begin, std::move(type));
      }
      if (!cursor_.skip_space().take(',') && cursor_.peek() != ')')
        return cursor_.error(fmt::format("expected ',' or ')', got {}", cursor_.found()));
    }
    return {};
  }

  /// The operand that the k-th of the operand types belongs to; "": that cannot be told.
  static std::string_view operand_of(const Operator& op, size_t k) {
    return op.inputs.size() == 1 && k < op.inputs[0].arguments.size() ? op.inputs[0].arguments[k] : std::string_view();
  }

  int64_t spelt(std::string_view name) const {
    return spelt_by_name_.find(name, [&](size_t at) { return spelt_[at].name == name; });
  }

  /// Takes a type that is spelled as at the operand's producer, as nearly all are.
  bool is_as_made(std::string_view operand) {
    const int64_t found = operand.empty() ? -1 : spelt(operand);
    if (found < 0) return false;
    const std::string_view made = spelt_[static_cast<size_t>(found)].type;
    const std::string_view rest = cursor_.rest();
    if (made.empty() || !rest.starts_with(made) || rest.size() == made.size()) return false;
    if (rest[made.size()] != ',' && rest[made.size()] != ')') return false;
    return cursor_.take(made);
  }

  /// An operand's type should be what its producer says; where it is not, the producer's counts. Without a producer the first use does.
  void compare(std::string_view name, size_t begin, Type type) {
    const int64_t found = spelt(name);
    if (found < 0 && !name.starts_with("%arg") && type.kind == Type::Kind::tensor) {
      spell(name, cursor_.since(begin));
      note(begin, "not-made", fmt::format("{} is used, but nothing here makes it: it becomes a parameter", name));
      Variable variable;
      variable.name = name;
      variable.type = std::move(type);
      variable.offset = begin;
      block().missing.push_back(std::move(variable));
    }
    if (found < 0) return;
    const std::string_view made = spelt_[static_cast<size_t>(found)].type;
    if (made.empty() || made == cursor_.since(begin)) return;
    note(begin, "type-differs", fmt::format("{} is {} where it is made, {} here", name, type_text(made), type_text(cursor_.since(begin))));
  }

  void spell(std::string_view name, std::string_view type) {
    const size_t next = spelt_.size();
    const size_t at = spelt_by_name_.find_or_add(name, next, [&](size_t other) { return spelt_[other].name == name; });
    if (at == next) spelt_.push_back({name, {}});
    spelt_[at].type = type;
  }

  base::Status result_types() {
    spellings_.clear();
    while (true) {
      const char next = cursor_.skip_blanks().peek();
      if (next == '\n' || next == '\0' || next == '{' || next == '}') return {};
      const size_t begin = cursor_.at();
      ASSIGN_OR_RETURN(Type type, read_type(cursor_, listing_));
      types_.push_back(std::move(type));
      spellings_.push_back(cursor_.since(begin));
      if (!cursor_.skip_blanks().take(',')) return {};
    }
  }

  base::Status define(const Operator& op) {
    if (op.outputs.empty()) return {};
    const std::span<const std::string_view> results = op.outputs[0].arguments;
    if (!types_.empty() && types_.size() != results.size())
      return cursor_.error(op.offset, fmt::format("{} results, but {} types", results.size(), types_.size()));
    for (size_t k = 0; k < results.size(); ++k) {
      Variable variable;
      variable.name = results[k];
      variable.offset = op.offset;
      spell(results[k], types_.empty() ? std::string_view() : spellings_[k]);
      if (!types_.empty()) variable.type = std::move(types_[k]);
      block().variables.push_back(std::move(variable));
      ++listing_.read;
    }
    return {};
  }

  Cursor cursor_;
  std::string_view title_;
  Listing& listing_;
  std::vector<Region> open_;
  struct Spelt {
    std::string_view name, type;
  };
  std::vector<Spelt> spelt_;  ///< a value's type as its producer prints it
  NameIndex spelt_by_name_;
  // Of the operator in hand.
  std::vector<std::string_view> arguments_;
  std::vector<Slot> slots_;
  std::vector<Attribute> attributes_;
  std::vector<Type> types_;
  std::vector<std::string_view> spellings_;  ///< of the types
};

}  // namespace

base::Result<size_t> read_pir(Cursor cursor, std::string_view title, Listing& listing) { return PirReader(cursor, title, listing).run(); }

}  // namespace importers::paddle
