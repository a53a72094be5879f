// A computation that is being written, instruction by instruction.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/ir/attr.h"
#include "src/ir/module.h"

namespace importers::lowering {

/// A result of an instruction of the computation that is being written.
struct Value {
  ir::InstrId id = -1;
  bool operator==(const Value&) const = default;
};
using Values = std::vector<Value>;
using Dims = std::vector<int64_t>;
using Attrs = std::vector<std::pair<std::string_view, std::string>>;  ///< as HLO writes them: {"dimensions", "{0,1}"}

/// from, from + 1, … below to.
Dims counting(int64_t from, int64_t to);
/// The dimensions that arrays of `a` and of `b` are broadcast to, as numpy does: aligned at the end, sizes of 1 repeat.
Dims joined(const Dims& a, const Dims& b);

class Program;

/// A computation that is being written: the entry, or the body of a fusion. Shapes of results follow from operands and attributes by XLA's
/// rules (src/ir/infer.h); where they break one, Program::finish gives the Error, with the operator that it happened in.
class Body {
 public:
  ir::Shape shape(Value value) const;
  const ir::Shape& held(Value value) const;  ///< the same, until the next instruction
  ir::ShapeId shape_id(Value value) const;   ///< in the module
  ir::Type type(Value value) const { return held(value).type; }
  Dims dims(Value value) const { return held(value).dims; }
  int64_t rank(Value value) const { return held(value).rank(); }

  Value constant(ir::Type type, double value);                  ///< a scalar
  Value constant(const ir::Shape& shape, ir::Literal literal);  ///< an array
  Value fill(ir::Type type, const Dims& dims, double value);    ///< the same number everywhere
  Value like(Value other, double value) { return fill(type(other), dims(other), value); }
  Value iota(ir::Type type, const Dims& dims, int64_t dimension);
  Value convert(Value value, ir::Type type);  ///< the value itself if it has the type
  Value unary(ir::Op op, Value value);
  /// Operands of unlike dimensions are broadcast as numpy does; of unlike types: an error.
  Value binary(ir::Op op, Value a, Value b);
  std::pair<Value, Value> alike(Value a, Value b);  ///< both as `binary` takes them
  Value binary(ir::Op op, Value a, double b) { return binary(op, a, like(a, b)); }
  Value compare(ir::Direction direction, Value a, Value b);
  Value select(Value condition, Value yes, Value no);  ///< all of the same dimensions

  Value broadcast(Value value, const Dims& dims, const Dims& at);  ///< dimension i of `value` becomes dimension at[i]
  Value expand(Value value, const Dims& dims);                     ///< numpy's rule: aligned at the end, sizes of 1 repeat
  Value reshape(Value value, const Dims& dims);                    ///< the value itself if it has these
  Value transpose(Value value, const Dims& permutation);
  Value slice(Value value, const std::vector<ir::SliceDim>& dims);
  Value part(Value value, int64_t dimension, int64_t from, int64_t to);  ///< [from, to) of one dimension, all of the others
  Value roll(Value value, int64_t dimension, int64_t places);            ///< elements move on, those at the end to the beginning
  Value pad(Value value, Value with, const std::vector<ir::PadDim>& dims);
  Value reverse(Value value, const Dims& dimensions);
  Value concatenate(std::span<const Value> values, int64_t dimension);
  /// Sum, maximum, … over dimensions; `op` is add, multiply, maximum, minimum, and, or. Begins with the op's neutral element.
  Value reduce(ir::Op op, Value value, const Dims& dimensions);
  /// The same with the reduced dimensions kept as 1.
  Value reduce_keep(ir::Op op, Value value, const Dims& dimensions);
  Value reduce_window(ir::Op op, Value value, std::span<const ir::WindowDim> window);
  /// Gradient of reduce_window with maximum: each element of `source` is added where its window's greatest element lies.
  Value select_and_scatter(Value operand, std::span<const ir::WindowDim> window, Value source);
  Value tuple(std::span<const Value> values);
  Value element(Value tuple, int64_t index);

  /// Products. `result` is the type of the result; sums are f32 or wider whatever it is.
  Value dot(Value a, Value b, const ir::DotDims& dims, std::optional<ir::Type> result = {});
  struct Convolution {
    std::vector<ir::WindowDim> window;  ///< a spatial dimension each
    std::string labels;                 ///< "bf01_01io->bf01"
    int64_t feature_groups = 1, batch_groups = 1;
  };
  Value convolution(Value input, Value filter, const Convolution& convolution);

  /// Any op. `shape` where nothing tells it: custom-call, rng, collectives.
  Value op(ir::Op op, std::span<const Value> operands, const Attrs& attrs = {}, const ir::Shape* shape = nullptr,
           std::span<const ir::CompId> calls = {}, std::string_view calls_key = "to_apply");

 private:
  friend class Program;
  explicit Body(Program& program) : program_(program) {}
  bool is_entry() const;
  Value add(ir::Instr instr);
  Value parameter(std::string_view name, const ir::Shape& shape);

  Program& program_;
  ir::Computation comp_;
};

}  // namespace importers::lowering
