// Shapes and attribute values. Shapes are cached by their text: a large program has few distinct ones.
// An attribute's value stays text: comments and needless white space go, strings and dictionaries stay as they are.
#include <fmt/format.h>

#include <algorithm>

#include "importers/hlo/parser.h"
#include "importers/hlo/words.h"
#include "src/base/hash.h"
#include "src/base/text.h"
#include "src/ir/escape.h"

namespace importers::hlo {
namespace {

/// The end of a shape at `at` found by brackets alone, or npos. Only a shortcut to the cache: the parser decides.
size_t shape_end(std::string_view text, size_t at) {
  if (text[at] == '(') {
    int depth = 0;
    for (size_t i = at; i < text.size(); ++i) {
      if (text[i] == '"') return std::string_view::npos;
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return i + 1;
    }
    return std::string_view::npos;
  }
  size_t i = text.find(']', at);
  if (i == std::string_view::npos) return i;
  ++i;
  if (i + 1 >= text.size() || text[i] != '{' || (!base::is_digit(text[i + 1]) && text[i + 1] != ':')) return i;
  i = text.find('}', i);
  return i == std::string_view::npos ? i : i + 1;
}

/// Whether white space between two bytes separates anything: not beside punctuation.
bool keeps_space(char before, char after) {
  constexpr std::string_view kAfterNone = ",{[(:=<>", kBeforeNone = ",}]):=<>-";
  return kAfterNone.find(before) == std::string_view::npos && kBeforeNone.find(after) == std::string_view::npos;
}

bool fits(const ir::Shape& shape) {
  int64_t bytes = std::max<int64_t>(1, ir::bytes(shape.type));
  for (const int64_t dim : shape.dims) {
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(dim, 1), &bytes) || bytes > kMaxBytes) return false;
  }
  return true;
}

bool is_permutation(const std::vector<int64_t>& order, size_t rank) {
  std::vector<bool> seen(rank);
  for (const int64_t dim : order) {
    if (dim < 0 || dim >= static_cast<int64_t>(rank) || seen[static_cast<size_t>(dim)]) return false;
    seen[static_cast<size_t>(dim)] = true;
  }
  return order.size() == rank;
}

struct Field {
  std::string_view key;
  ir::StringId ir::Origin::*string;
  int32_t ir::Origin::*number;
};
constexpr Field kFields[] = {
    {"op_type", &ir::Origin::op_type, nullptr},
    {"op_name", &ir::Origin::op_name, nullptr},
    {"source_file", &ir::Origin::source_file, nullptr},
    {"source_line", nullptr, &ir::Origin::source_line},
    {"source_column", nullptr, &ir::Origin::source_column},
    {"source_end_line", nullptr, &ir::Origin::source_end_line},
    {"source_end_column", nullptr, &ir::Origin::source_end_column},
    {"stack_frame_id", nullptr, &ir::Origin::stack_frame_id},
};

}  // namespace

/// A shape begins with '(' or with a type word and '['; a name may be spelled like a type.
bool Parser::at_shape() {
  const size_t begin = lexer_.at();
  if (lexer_.peek() == '(') return true;
  const std::string_view word = lexer_.word();
  const bool yes = (word == "b" && lexer_.raw() == '(') || (lexer_.peek() == '[' && ir::find_type(word));
  lexer_.move_to(begin);
  return yes;
}

/// kNoShape where none stands.
std::optional<ir::ShapeId> Parser::parse_shape_if_any() {
  if (lexer_.peek() == '%') return kNoShape;
  const size_t begin = lexer_.at();
  const bool bracket = lexer_.raw() == '(' || (!lexer_.word().empty() && lexer_.raw() == '[');
  lexer_.move_to(begin);
  if (bracket) {
    if (const auto known = take_known_shape()) return known;
  }
  return at_shape() ? parse_shape() : kNoShape;
}

/// A shape that stood in the text before.
std::optional<ir::ShapeId> Parser::take_known_shape() {
  const size_t begin = lexer_.at(), end = shape_end(lexer_.text(), begin);
  if (end == std::string_view::npos) return std::nullopt;
  const auto known = shape_cache_.find(lexer_.text().substr(begin, end - begin));
  if (known == shape_cache_.end()) return std::nullopt;
  lexer_.move_to(end);
  return known->second;
}

std::optional<ir::ShapeId> Parser::parse_shape() {
  lexer_.skip();
  const size_t begin = lexer_.at();
  const auto shape = parse_shape_at(0);
  if (!shape) return std::nullopt;
  const ir::ShapeId id = module_.intern(*shape);
  const size_t end = shape_end(lexer_.text(), begin);
  if (lexer_.at() == end) shape_cache_.emplace(lexer_.text().substr(begin, end - begin), id);
  return id;
}

std::optional<ir::Shape> Parser::parse_shape_at(int depth) {
  if (depth > kMaxDepth) return fail(lexer_.at(), fmt::format("shapes nest deeper than {}", kMaxDepth)), std::nullopt;
  ir::Shape shape;
  lexer_.skip();
  const size_t begin = lexer_.at();
  const std::string_view word = lexer_.word();
  if (word.empty() || (word == "b" && lexer_.raw() == '(')) {
    shape.type = word.empty() ? ir::Type::tuple : ir::Type::buffer;
    if (!lexer_.take('(')) return expected("a shape"), std::nullopt;
    while (!lexer_.take(')')) {
      if (!shape.elements.empty() && !expect(',')) return std::nullopt;
      auto element = parse_shape_at(depth + 1);
      if (!element) return std::nullopt;
      shape.elements.push_back(*std::move(element));
    }
    if (word.empty() || shape.elements.size() == 1) return shape;
    return fail(begin, "a buffer has one shape: write b(f32[2])"), std::nullopt;
  }
  const auto type = ir::find_type(word);
  if (!type) return no_type(begin, word), std::nullopt;
  shape.type = *type;
  if (!parse_dims(shape) || !parse_layout(shape)) return std::nullopt;
  if (!shape.is_array() && !shape.dims.empty())
    return fail(begin, fmt::format("'{}' has no dimensions: write {}[]", word, word)), std::nullopt;
  if (!fits(shape)) return fail(begin, "this array is too large for any machine; check its dimensions"), std::nullopt;
  return shape;
}

bool Parser::no_type(size_t offset, std::string_view word) {
  constexpr size_t kShown = 40;
  const std::string_view ours = our_type(word);
  const std::string hint = ours.empty() ? "types are f32, bf16, s32, pred, …" : fmt::format("did you mean '{}'?", ours);
  return fail(offset, fmt::format("no type '{}'; {}", base::escaped(word.substr(0, kShown)), hint));
}

bool Parser::parse_dims(ir::Shape& shape) {
  if (!expect('[')) return false;
  while (!lexer_.take(']')) {
    if (!shape.dims.empty() && !lexer_.take(',')) return expected("',' or ']' after a size");
    const size_t place = lexer_.at();
    const bool unbounded = lexer_.take('?');
    const bool bounded = !unbounded && lexer_.take("<=");
    const auto size = unbounded ? std::optional<int64_t>(-1) : lexer_.integer();
    if (!size) return expected("a size");
    if (*size < 0 && !unbounded) return fail(place, "a size cannot be negative");
    if ((unbounded || bounded) && shape.dynamic.empty()) shape.dynamic.assign(shape.dims.size(), false);
    if (unbounded || bounded || !shape.dynamic.empty()) shape.dynamic.push_back(unbounded || bounded);
    shape.dims.push_back(*size);
    if (shape.rank() > kMaxDepth) return fail(place, fmt::format("arrays have at most {} dimensions here", kMaxDepth));
  }
  return true;
}

/// `{1,0:T(8,128)S(1)}`. A '{' that no integer or ':' follows belongs to something else.
bool Parser::parse_layout(ir::Shape& shape) {
  const size_t before = lexer_.at();
  if (lexer_.text().substr(before).starts_with("sparse{")) return parse_sparse_layout();
  if (!lexer_.take('{')) return true;
  const char next = lexer_.peek();
  if (next == '}' && lexer_.text()[before] == '{') return lexer_.take('}');  // `f32[]{}` of very old texts
  if (!base::is_digit(next) && next != ':') return lexer_.move_to(before), true;
  shape.has_layout = true;
  while (lexer_.peek() != ':' && lexer_.raw() != '}') {
    if (!shape.minor_to_major.empty() && !expect(',')) return false;
    const auto dim = lexer_.integer();
    if (!dim) return expected("a dimension number");
    shape.minor_to_major.push_back(*dim);
  }
  if (!is_permutation(shape.minor_to_major, shape.dims.size())) {
    const std::string array = ir::print(shape, ir::LayoutPrint::without);
    return fail(before, fmt::format("a layout of {} lists its {} dimensions, each once", array, shape.dims.size()));
  }
  if (lexer_.take(':')) {
    lexer_.skip();
    for (int depth = 0; depth > 0 || lexer_.peek() != '}'; lexer_.move_to(lexer_.at() + 1)) {
      const char c = lexer_.peek();
      if (c == '\0' || (c == '{' && depth == 0) || c == '"') return expected("'}' after a layout");
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      shape.layout_rest += c;
    }
  }
  if (shape.dims.empty()) shape.has_layout = !shape.layout_rest.empty();
  return expect('}');
}

/// `f32[2,3]sparse{10}` of 2018 and 2019: at most 10 elements are stored. The values are those of the dense array.
bool Parser::parse_sparse_layout() {
  notes_.add_once(lexer_.at(), "sparse-layout", "", "arrays with a sparse layout are read as dense ones");
  lexer_.take("sparse{");
  return lexer_.integer() ? expect('}') : expected("the number of elements that are stored");
}

/// One bracket group of a value, appended to value_ without comments and needless space.
bool Parser::append_group(std::string_view key) {
  const size_t begin = lexer_.at();
  const bool holds_dictionaries = key == "frontend_attributes";
  std::string closing;
  bool space = false;
  do {
    const size_t before = lexer_.at();
    const char c = lexer_.peek();
    space = space || lexer_.at() != before;
    if (lexer_.at_end() || c == '\0') return fail(begin, "this bracket has no partner");
    if (space && keeps_space(value_.back(), c)) value_ += ' ';
    space = false;
    if (c == '"' || c == '\'') {
      const std::string_view string = lexer_.quoted();
      if (string.empty()) return fail(lexer_.at(), "this string has no end; add a quote");
      value_.append(string);
      continue;
    }
    if (c == '{' && holds_dictionaries && value_.ends_with('=')) {
      const std::string_view dictionary = lexer_.dictionary();
      if (dictionary.empty()) return fail(lexer_.at(), "this bracket has no partner");
      value_.append(dictionary);
      continue;
    }
    if (c == '(')
      closing += ')';
    else if (c == '[')
      closing += ']';
    else if (c == '{')
      closing += '}';
    else if (c == closing.back())
      closing.pop_back();
    else if (c == ')' || c == ']' || c == '}')
      return fail(lexer_.at(), fmt::format("expected '{}', got '{}'", closing.back(), c));
    else if (c == '/')
      return expected("a value");
    value_ += c;
    lexer_.move_to(lexer_.at() + 1);
    if (!closing.empty()) value_ += lexer_.plain_run();
  } while (!closing.empty());
  return true;
}

/// Whether a value ends here, and does not go on behind white space.
bool Parser::ends_value() {
  const char c = lexer_.raw();
  if (c == ',' || c == '}' || c == ')') return true;
  if (!is_space(c)) return false;
  const size_t begin = lexer_.at();
  const char next = lexer_.peek();
  lexer_.move_to(begin);
  return starts_word(next) || next == '%' || next == '}';
}

/// Most values are their own text: a string, a word, a number, or one level of braces without blanks. "" (nothing moves) for all others.
std::string_view Parser::take_plain_value() {
  const size_t begin = lexer_.at();
  if (lexer_.raw() == '"') {
    lexer_.quoted();
  } else if (lexer_.raw() == '{') {
    lexer_.move_to(begin + 1);
    lexer_.plain_run();
    lexer_.move_to(lexer_.raw() == '}' ? lexer_.at() + 1 : begin);
  } else {
    lexer_.bare_run();
  }
  if (lexer_.at() > begin && ends_value()) return lexer_.text().substr(begin, lexer_.at() - begin);
  lexer_.move_to(begin);
  return {};
}

/// The text of a value: it ends before a ',' or a closing bracket outside brackets, or where something else follows white space.
std::optional<std::string_view> Parser::parse_value(std::string_view key) {
  lexer_.skip();
  const std::string_view plain = key == "literal" ? std::string_view() : take_plain_value();
  if (!plain.empty()) return plain;
  value_.clear();
  if (lexer_.raw() == '{' && key == "backend_config") {
    const std::string_view dictionary = lexer_.dictionary();
    if (dictionary.empty()) return fail(lexer_.at(), "this dictionary has no end; add '}'"), std::nullopt;
    return dictionary;
  }
  while (!lexer_.at_end()) {
    const char c = lexer_.raw();
    const bool opens = c == '{' || c == '[' || c == '(';
    if (c == ',' || c == '}' || c == ')' || c == ']' || c == '\0') break;
    if (opens) {
      if (!append_group(key)) return std::nullopt;
    } else if (c == '"' || c == '\'') {
      const std::string_view string = lexer_.quoted();
      if (string.empty()) return fail(lexer_.at(), "this string has no end; add a quote"), std::nullopt;
      value_.append(string);
    } else if (is_space(c) || c == '/') {
      const size_t before = lexer_.at();
      const char next = lexer_.peek();
      if (lexer_.at() == before) return expected("a value"), std::nullopt;  // a lone '/'
      const bool literal = key == "literal" && (value_.ends_with(']') || value_.ends_with('}')) && next != '%';
      const bool goes_on =
          literal || next == '{' || next == '[' || next == '(' || (next == '<' && lexer_.raw(1) == '=') || value_.ends_with("<=");
      if (!goes_on) break;
      if (!value_.empty() && keeps_space(value_.back(), next)) value_ += ' ';
    } else {
      value_ += c;
      lexer_.move_to(lexer_.at() + 1);
    }
  }
  return value_;
}

/// Metadata that stood in the text before is found by its text: up to the first '}', which ends it if nothing in a string or a group does.
std::optional<ir::OriginId> Parser::parse_origin() {
  lexer_.skip();
  const std::string_view text = lexer_.text().substr(lexer_.at());
  const std::string_view key = text.substr(0, text.find('}') + 1);  // npos + 1 is 0
  const auto same = [&](uint32_t i) { return origins_[i].first == key; };
  const uint32_t known = origin_index_.find_or_add(base::hash64(key), origins_.size(), same);
  if (known < origins_.size()) return lexer_.move_to(lexer_.at() + key.size()), origins_[known].second;
  const size_t begin = lexer_.at();
  const auto origin = parse_metadata();
  if (!origin) return std::nullopt;
  const ir::OriginId id = module_.intern(*origin);
  const bool is_whole = lexer_.at() == begin + key.size();
  origins_.emplace_back(is_whole ? key : std::string_view(), id);
  return id;
}

/// `{op_type="x" op_name="y" source_line=3}`: fields separated by spaces or commas.
std::optional<ir::Origin> Parser::parse_metadata() {
  ir::Origin origin;
  std::string rest;
  if (!expect('{')) return std::nullopt;
  while (!lexer_.take('}')) {
    if (!parse_metadata_field(origin, rest)) return std::nullopt;
    lexer_.take(',');
  }
  origin.rest = module_.strings.intern(rest);
  place_origin(origin);
  return origin;
}

bool Parser::parse_metadata_field(ir::Origin& origin, std::string& rest) {
  const std::string_view key = lexer_.word();
  if (key.empty()) return expected("a field of metadata or '}'");
  if (!expect('=')) return false;
  lexer_.skip();
  const size_t place = lexer_.at();
  const auto value = parse_value(key);
  if (!value) return false;
  const auto field = std::ranges::find(kFields, key, &Field::key);
  if (field == std::end(kFields)) {
    rest += fmt::format("{}{}={}", rest.empty() ? "" : " ", key, *value);
    return true;
  }
  if (field->string != nullptr) {
    const bool plain =
        value->size() >= 2 && value->find('\\') == std::string_view::npos && (value->front() == '"' || value->front() == '\'');
    origin.*field->string =
        plain ? module_.strings.intern(value->substr(1, value->size() - 2)) : module_.strings.intern(ir::unescaped(*value));
    return true;
  }
  Lexer number(*value);
  const auto parsed = number.integer();
  if (!parsed || !number.at_end() || *parsed != static_cast<int32_t>(*parsed)) return fail(place, fmt::format("{} is a number", key));
  origin.*field->number = static_cast<int32_t>(*parsed);
  return true;
}

}  // namespace importers::hlo
