// Building fusions in the place of library calls.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "replay/editor.h"

namespace replay::apart {

using Id = ir::InstrId;

inline ir::Shape with_type(ir::Shape shape, ir::Type type) {
  shape.type = type;
  return shape;
}
/// What libraries compute in.
inline ir::Type wide(ir::Type type) { return ir::is_complex(type) || type == ir::Type::f64 ? type : ir::Type::f32; }

/// The body of a fusion in the making: all arrays have the sizes and layout of one shape and are computed in one type.
class Body {
 public:
  Body(ir::Module& module, const std::string& name, ir::Shape shape) : edit_(module, begin(module, name)), shape_(std::move(shape)) {}
  ir::CompId comp() const { return edit_.comp(); }
  Editor& edit() { return edit_; }
  const ir::Shape& shape() const { return shape_; }
  ir::Module& module() { return edit_.module(); }

  Id parameter(const ir::Shape& shape) {
    const Id id = edit_.add(ir::Op::parameter, shape, {});
    edit_.instr(id).number = static_cast<int64_t>(edit_.module().comp(comp()).parameters.size());
    edit_.module().comp(comp()).parameters.push_back(id);
    return id;
  }
  Id as(Id x, ir::Type type) { return edit_.shape(x).type == type ? x : edit_.add(ir::Op::convert, with_type(edit_.shape(x), type), {x}); }
  Id constant(double value) {
    const Id id = edit_.add(ir::Op::constant, ir::array_shape(shape_.type, {}), {});
    edit_.instr(id).literal = edit_.module().add(ir::scalar_literal(shape_.type, value));
    return edit_.spread(id, shape_);
  }
  Id op(ir::Op op, Id a) { return edit_.add(op, shape_, {a}); }
  Id op(ir::Op op, Id a, Id b) { return edit_.add(op, shape_, {a, b}); }
  Id scaled(Id a, double by) { return by == 1 ? a : op(ir::Op::multiply, a, constant(by)); }
  Id spread(Id x, const std::vector<int64_t>& dims) {
    return edit_.add(ir::Op::broadcast, shape_, {as(x, shape_.type)}, {{"dimensions", braced(dims)}});
  }

 private:
  static ir::CompId begin(ir::Module& module, const std::string& name) {
    ir::Computation made;
    made.name = module.strings.intern(name);
    ir::Instr placeholder;  // the name that new instructions build on
    placeholder.name = module.strings.intern(name);
    placeholder.op = ir::Op::constant;
    placeholder.shape = module.intern(ir::array_shape(ir::Type::s32, {}));
    placeholder.literal = module.add(ir::scalar_literal(ir::Type::s32, int64_t{0}));
    made.instrs.push_back(placeholder);
    module.computations.push_back(std::move(made));
    return static_cast<ir::CompId>(module.computations.size()) - 1;
  }

  Editor edit_;
  ir::Shape shape_;
};

/// Elements along some dimensions combined by an op; the others stay.
struct Reduced {
  ir::Op op;
  double start;
  std::vector<int64_t> dims;
};
Id reduced(Body& body, const Reduced& how, Id x);

/// Ends a body and stands for it in the caller: one value, or a tuple.
Id fused(Editor& edit, Body& body, const std::vector<Id>& results, const std::vector<Id>& operands);
Id element(Editor& edit, Id tuple, size_t k);
/// The array that a call gives, alone or before its workspace.
std::optional<ir::Shape> first_result(const ir::Shape& call);
/// `results`, then whatever else the call's tuple holds, from `product`, which has it behind its first element.
void become_result(Editor& edit, Id id, const std::vector<Id>& results, Id product);

/// x where it is above 0.
Id where_positive(Body& body, Id x, Id otherwise);
/// The shape of a call with its first result in f32, and what follows the first `results` ones.
ir::Shape product_shape(const ir::Shape& shape, size_t results);
void set_attr(Editor& edit, Id id, std::string_view key, const std::string& text);
/// The sums alone of a call of cuDNN's forward convolution, in f32.
Id plain_convolution(Editor& edit, Id id);

/// backend_config, or the object that it holds under `nested_key`, with keys in lower case and without '_': both spellings are one.
nlohmann::json flat_config(const ir::Module& module, const ir::Instr& call, std::string_view nested_key);
/// Numbers may be strings.
double number_in(const nlohmann::json& config, const char* key, double otherwise);
/// In lower case; "" where there is none.
std::string word_in(const nlohmann::json& config, const char* key);

/// decompose_graph.cc: a convolution with the operations that follow it. Left as it is: one of which a node is not known.
void take_convolution_graph_apart(Editor& edit, Id id);
/// decompose_attention.cc: cuDNN's fused attention, forward.
void take_attention_apart(Editor& edit, Id id);
/// decompose_norm.cc: layer normalisation as cuDNN (forward) and oneDNN are called for it.
void take_cudnn_norm_apart(Editor& edit, Id id);
void take_onednn_norm_apart(Editor& edit, Id id);
/// decompose_shards.cc: a program's arrays cut for one device, and together again.
void take_shards_apart(Editor& edit, Id id);

}  // namespace replay::apart
