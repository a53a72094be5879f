// The comment grammar of README.md: `// key name: value`, and lines without a key that go on.
#include "tests/ops/op_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "replay/element.h"
#include "src/base/file.h"

namespace ops {
namespace {

constexpr std::string_view kKeys[] = {"input", "expect", "tolerance", "devices"};

/// A comment: key, name ("" if none) and value.
struct Line {
  std::string key, name, value;
};

std::vector<Line> comment_lines(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line) && line.starts_with("//");) {
    const std::string body = line.substr(2);
    const size_t colon = body.find(':');
    std::istringstream head(body.substr(0, colon == std::string::npos ? 0 : colon));
    Line made;
    head >> made.key >> made.name;
    const bool known = std::find(std::begin(kKeys), std::end(kKeys), std::string_view(made.key)) != std::end(kKeys);
    if (known) {
      made.value = body.substr(colon + 1);
      lines.push_back(made);
    } else if (!lines.empty() && body.find('{') != std::string::npos) {
      lines.back().value += "," + body;
    }
  }
  return lines;
}

/// "{1, (2, 3), nan}" as numbers.
base::Result<std::vector<Number>> parse_numbers(std::string_view text) {
  std::vector<Number> out;
  bool inside = false;
  std::vector<double> parts;
  std::string word;
  const auto end_word = [&]() -> base::Status {
    if (word.empty()) return {};
    char* end = nullptr;
    double value = word == "true" ? 1 : word == "false" ? 0 : std::strtod(word.c_str(), &end);
    if (end != nullptr && *end != '\0') return base::Error{"no number: " + word};
    if (inside)
      parts.push_back(value);
    else
      out.push_back({value, 0, value == 0 && (word[0] == '-' || word[0] == '+')});
    word.clear();
    return {};
  };
  for (const char c : text) {
    if (std::string_view(" {},()\t").find(c) == std::string_view::npos) {
      word += c;
      continue;
    }
    RETURN_IF_ERROR(end_word());
    if (c == '(') inside = true, parts.clear();
    if (c == ')') {
      if (parts.size() != 2) return base::Error{"a complex value has two parts"};
      inside = false;
      out.push_back({parts[0], parts[1], false});
    }
  }
  RETURN_IF_ERROR(end_word());
  return out;
}

base::Result<replay::Recipe> parse_input(const std::string& text) {
  if (text.find('"') != std::string::npos) {
    ASSIGN_OR_RETURN(const replay::Recipes recipes, replay::parse_recipes(R"({"params":{"p":)" + text + "}}", "input"));
    return recipes.params.at("p");
  }
  ASSIGN_OR_RETURN(const std::vector<Number> numbers, parse_numbers(text));
  replay::Recipe recipe;
  recipe.kind = replay::Recipe::Kind::values;
  for (const Number& n : numbers) recipe.values.push_back({n.re, n.im});
  return recipe;
}

double default_tolerance(ir::Type type) {
  switch (type) {
    case ir::Type::f64:
    case ir::Type::c128:
      return 1e-12;
    case ir::Type::f32:
    case ir::Type::c64:
      return 1e-6;
    case ir::Type::f16:
      return 1e-3;
    case ir::Type::bf16:
      return 8e-3;
    default:
      return 0;
  }
}

bool same(double ours, double expected, double tolerance, bool signed_zero) {
  if (std::isnan(expected)) return std::isnan(ours);
  if (ours == expected) return !signed_zero || std::signbit(ours) == std::signbit(expected);
  return std::isfinite(expected) && std::fabs(ours - expected) <= tolerance * std::max(std::fabs(expected), 1e-30);
}

}  // namespace

base::Result<OpFile> read_op_file(const std::string& path) {
  OpFile file;
  file.path = path;
  ASSIGN_OR_RETURN(file.text, base::read_file(path));
  for (const Line& line : comment_lines(file.text)) {
    if (line.key == "input") {
      ASSIGN_OR_RETURN(file.inputs.params[line.name], parse_input(line.value));
    } else if (line.key == "expect") {
      ASSIGN_OR_RETURN(file.expected[line.name], parse_numbers(line.value));
    } else if (line.key == "tolerance") {
      file.tolerance = std::strtod(line.value.c_str(), nullptr);
    } else {
      std::istringstream names(line.value);
      for (std::string name; names >> name;) file.devices.push_back(name);
    }
  }
  if (file.expected.empty()) return base::Error{path + ": expects nothing; add a line `// expect: {…}`"};
  return file;
}

std::string check(const replay::Tensor& array, const std::vector<Number>& expected, double tolerance) {
  const ir::Type type = array.shape.type;
  if (static_cast<size_t>(ir::elements(array.shape)) != expected.size()) {
    return fmt::format("{} values are expected, there are {}", expected.size(), ir::elements(array.shape));
  }
  if (tolerance < 0) tolerance = default_tolerance(type);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const double re = replay::load_real(type, array.data.data(), at),
                 im = ir::is_complex(type) ? replay::load_real(type, array.data.data(), at, 1) : 0;
    if (same(re, expected[i].re, tolerance, expected[i].signed_zero) && same(im, expected[i].im, tolerance, false)) continue;
    return fmt::format("[{}] {} {} for {} {}", i, re, im, expected[i].re, expected[i].im);
  }
  return "";
}

}  // namespace ops
