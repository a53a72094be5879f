// Fusions and configurations of library calls.
#include "replay/decompose_body.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "src/ir/attr.h"

namespace replay::apart {

using ir::Op;
using nlohmann::json;

Id fused(Editor& edit, Body& body, const std::vector<Id>& results, const std::vector<Id>& operands) {
  Id root = results[0];
  if (results.size() > 1) {
    std::vector<ir::Shape> shapes;
    for (const Id result : results) shapes.push_back(body.edit().shape(result));
    root = body.edit().add(Op::tuple, ir::tuple_shape(shapes), results);
  }
  body.module().comp(body.comp()).root = root;
  const Id fusion = edit.add(Op::fusion, body.edit().shape(root), operands, {{"kind", "kLoop"}});
  edit.set_call(fusion, "calls", body.comp());
  return fusion;
}

std::optional<ir::Shape> first_result(const ir::Shape& call) {
  const ir::Shape& first = call.is_tuple() && !call.elements.empty() ? call.elements[0] : call;
  return first.is_array() ? std::optional(first) : std::nullopt;
}

Id element(Editor& edit, Id tuple, size_t k) {
  return edit.add(Op::get_tuple_element, edit.shape(tuple).elements[k], {tuple}, {{"index", std::to_string(k)}});
}

void become_result(Editor& edit, Id id, const std::vector<Id>& results, Id product) {
  const ir::Shape shape = edit.shape(id);
  if (!shape.is_tuple()) return edit.become(id, results[0]);
  std::vector<Id> parts = results;
  for (size_t k = results.size(); k < shape.elements.size(); ++k) parts.push_back(element(edit, product, k - results.size() + 1));
  edit.become(id, Op::tuple, parts);
}

Id where_positive(Body& b, Id x, Id otherwise) {
  const ir::Shape pred = with_type(b.shape(), ir::Type::pred);
  const Id positive = b.edit().add(Op::compare, pred, {x, b.constant(0)}, {{"direction", "GT"}});
  return b.edit().add(Op::select, b.shape(), {positive, x, otherwise});
}

ir::Shape product_shape(const ir::Shape& shape, size_t results) {
  if (!shape.is_tuple()) return with_type(shape, wide(shape.type));
  std::vector<ir::Shape> parts = {with_type(shape.elements[0], wide(shape.elements[0].type))};
  parts.insert(parts.end(), shape.elements.begin() + static_cast<std::ptrdiff_t>(results), shape.elements.end());
  return ir::tuple_shape(parts);
}

void set_attr(Editor& edit, Id id, std::string_view key, const std::string& text) {
  for (ir::Attr& attr : edit.instr(id).attrs) {
    if (edit.module().text(attr.key) == key) attr.text = edit.module().strings.intern(text);
  }
}

Id plain_convolution(Editor& edit, Id id) {
  const Id product = edit.copy_of(id);
  edit.instr(product).shape = edit.module().intern(product_shape(edit.shape(id), 1));
  edit.instr(product).operands.resize(2);
  set_attr(edit, product, "custom_call_target", "\"__cudnn$convForward\"");
  set_attr(edit, product, "backend_config", "\"{}\"");
  return product;
}

namespace {

/// A computation of two scalars.
ir::CompId reducer(ir::Module& module, const std::string& name, Op op, ir::Type type) {
  Body body(module, name, ir::array_shape(type, {}));
  const Id a = body.parameter(body.shape()), b = body.parameter(body.shape());
  const Id root = body.op(op, a, b);
  module.comp(body.comp()).root = root;
  return body.comp();
}

}  // namespace

Id reduced(Body& body, const Reduced& how, Id x) {
  const ir::Type type = body.shape().type;
  std::vector<int64_t> kept;
  for (int64_t d = 0; d < body.shape().rank(); ++d)
    if (std::ranges::find(how.dims, d) == how.dims.end()) kept.push_back(body.shape().dims[static_cast<size_t>(d)]);
  const ir::CompId comp = reducer(body.module(), how.op == Op::add ? "rows.add" : "rows.max", how.op, type);
  const Id init = body.edit().add(Op::constant, ir::array_shape(type, {}), {});
  body.edit().instr(init).literal = body.module().add(ir::scalar_literal(type, how.start));
  const Id id = body.edit().add(Op::reduce, ir::array_shape(type, kept), {x, init}, {{"dimensions", braced(how.dims)}});
  body.edit().set_call(id, "to_apply", comp);
  return id;
}

json flat_config(const ir::Module& module, const ir::Instr& call, std::string_view nested_key) {
  json parsed = json::parse(ir::attr_string(module, call, "backend_config"), nullptr, false);
  if (parsed.is_object() && parsed.contains(nested_key)) parsed = json(parsed[std::string(nested_key)]);
  if (!parsed.is_object()) parsed = json::object();
  json out = json::object();
  for (const auto& [key, value] : parsed.items()) {
    std::string name;
    for (const char c : key) {
      if (c != '_') name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    out[name] = value;
  }
  return out;
}
double number_in(const json& config, const char* key, double otherwise) {
  const auto it = config.find(key);
  if (it == config.end()) return otherwise;
  if (it->is_number()) return it->get<double>();
  return it->is_string() ? std::strtod(it->get_ref<const std::string&>().c_str(), nullptr) : otherwise;
}
std::string word_in(const json& config, const char* key) {
  const auto it = config.find(key);
  if (it == config.end()) return "";
  std::string text = it->is_string() ? it->get<std::string>() : it->dump();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace replay::apart
