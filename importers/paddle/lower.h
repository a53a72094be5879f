// From operators to the one IR: a row of a table for each type of operator, and what its function sees of the operator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/lowering/arithmetic.h"
#include "importers/lowering/builder.h"
#include "importers/paddle/listing.h"

namespace importers::paddle {

using lowering::Body;
using lowering::counting;
using lowering::Dims;
using lowering::joined;
using lowering::Value;
using lowering::Values;

/// Content that the text alone tells: scalars and small arrays, row-major.
using Known = std::shared_ptr<const std::vector<double>>;
inline constexpr size_t kMostKnown = 4096;

/// What a variable holds at a point of the program. Each write makes a new one: versions of what is changed in place.
struct Tensor {
  Value value;               ///< id -1: none
  Dims dims;                 ///< where there is no value: XShape, which holds sizes and no data
  std::vector<Tensor> list;  ///< of a list (`vec`): no element is a list
  bool is_list = false;
  Value parameter;  ///< PIR: the entry's parameter whose memory this is; id -1: none
  Known known;
};

class Lowering;

/// An operator while it is lowered. Slots and attributes go by the names of the old IR.
class Call {
 public:
  Call(Lowering& lowering, const Operator& op) : lowering_(lowering), op_(op) {}

  const Operator& op() const { return op_; }
  lowering::Program& program();
  Body& entry();

  bool has(std::string_view slot) const;    ///< an operand stands there
  bool wants(std::string_view slot) const;  ///< a result is asked for there
  size_t count(std::string_view slot) const;
  Value in(std::string_view slot, size_t k = 0);
  Values all(std::string_view slot);  ///< lists taken apart
  Dims dims(std::string_view slot, size_t k = 0);
  ir::Type type(std::string_view slot, size_t k = 0);
  Known known(std::string_view slot, size_t k = 0);
  /// Integers that stand in an attribute, or, where a slot is given, in an operand or a list of operands that the text tells.
  std::optional<Dims> sizes(std::string_view attribute, std::initializer_list<std::string_view> slots = {});
  /// A number from an operand that the text tells, else from the attribute.
  double number(std::string_view attribute, double otherwise, std::string_view slot = {});
  int64_t integer(std::string_view attribute, int64_t otherwise, std::string_view slot = {});
  /// All numbers of an attribute, or of an operand that the text tells; none where nothing tells them.
  std::vector<double> numbers(std::string_view attribute, std::string_view slot);
  bool flag(std::string_view attribute, bool otherwise = false);
  double scaled(double value) const;  ///< a whole number that is one of the program's sizes, as --scale makes it
  std::string_view text(std::string_view attribute) const;
  /// The type that an attribute names by number or word; nothing for -1 and where it is absent.
  std::optional<ir::Type> named_type(std::string_view attribute) const;

  void set(std::string_view slot, Value value, size_t k = 0);
  /// The same elements in the declared dimensions, where those hold as many: versions of Paddle differ in how they shape some results.
  Value as_declared(std::string_view slot, Value value);
  void set_list(std::string_view slot, const Values& values);  ///< each a result of the slot, or the one result a list of them
  void set_known(std::string_view slot, std::vector<double> values);
  void join_known(std::string_view slot);                   ///< that of X's scalars and vectors one after another, where all tell theirs
  void set_sizes(std::string_view slot, const Dims& dims);  ///< XShape
  /// One kernel of these operands.
  Value fuse1(std::initializer_list<Value> operands, const std::function<Value(Body&, std::span<const Value>)>& write);
  /// Whether X and Y broadcast as `elementwise_*` does; fails if not.
  bool pair_fits(int64_t axis);
  /// Why the operator cannot be lowered: it becomes a call by its name.
  void fail(std::string why);
  bool failed() const;
  void note(std::string code, std::string text);

 private:
  std::optional<std::vector<double>> told_by(std::string_view slot);  ///< content of a slot's operands, one after another
  const Slot* slot_of(std::span<const Slot> slots, std::string_view name) const;
  Lowering& lowering_;
  const Operator& op_;
};

/// A type of operator. `needs`: slots that must hold an operand, with blanks between.
struct Row {
  std::string_view type;
  void (*lower)(Call&);
  std::string_view needs;
};
/// Rows by family; none has a type twice.
std::span<const Row> activation_rows();
std::span<const Row> attention_rows();
std::span<const Row> convolution_rows();
std::span<const Row> elementwise_rows();
std::span<const Row> image_rows();
std::span<const Row> indexed_rows();
std::span<const Row> loss_rows();
std::span<const Row> moved_rows();
std::span<const Row> normal_rows();
std::span<const Row> pool_rows();
std::span<const Row> product_rows();
std::span<const Row> random_rows();
std::span<const Row> reduction_rows();
std::span<const Row> shape_rows();
std::span<const Row> training_rows();
std::vector<std::span<const Row>> families();
const Row* find_row(std::string_view type);

// What functions of rows share.
using In = std::span<const Value>;
std::optional<ir::Type> ir_type(std::string_view dtype);  ///< of Paddle's name
/// Small floats are computed in f32 and rounded once at the end, as the GPU kernels do.
ir::Type wide(ir::Type type);
Value widen(Body& body, Value value);
inline int64_t rank_of(const Dims& dims) { return static_cast<int64_t>(dims.size()); }
inline int64_t at(const Dims& dims, int64_t i) { return dims[static_cast<size_t>(i)]; }
void copy(Call& c);  ///< Out = X
Value softmax_of(Body& b, Value x, int64_t axis);
Value softmax_slope(Body& b, Value p, Value dp, int64_t axis);  ///< dx = (dp − Σ dp·p)·p
/// y under x as `elementwise_*` aligns them: at the end (-1), or y's first dimension under x's dimension `axis`.
Value aligned(Body& body, Value x, Value y, int64_t axis);
Dims aligned(Dims y, size_t rank_of_x, int64_t axis);
/// Whether numpy broadcasts them.
bool broadcast_fits(const Dims& a, const Dims& b);
/// Sum over what broadcasting `dims` to the value's dimensions has repeated.
Value reduce_to(Body& body, Value value, const Dims& dims);
/// Counted from 0, sorted, each once; nothing if one lies outside.
std::optional<Dims> axes_of(const Dims& axes, int64_t rank);
int64_t axis_of(int64_t axis, int64_t rank);
Dims permutation_back(const Dims& permutation);
/// Products without overflow: more elements than any machine holds are all the same.
int64_t elements_of(const Dims& dims);
/// Do these fit into a window: strides, dilations, paddings whose products with sizes stay within 64 bits?
bool fit_windows(const Dims& numbers);

}  // namespace importers::paddle
