// Makes a module from a framework's operators: one operator, one library call or one fusion.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/lowering/body.h"
#include "importers/lowering/key.h"
#include "src/base/hash.h"
#include "src/base/result.h"

namespace importers::lowering {

/// The operator that instructions are made for.
struct At {
  std::string_view name, type;  ///< name: unique in the program, model::Operator::name
  std::string_view source_file = {};
  int32_t source_line = 0;
};

/// Bodies of fusions that do the same are one computation.
class Program {
 public:
  explicit Program(std::string_view name);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// From here on instructions of the entry belong to this operator and are named after it.
  void at(const At& at);
  /// What is written for it follows from this text and the shapes of operands alone: operators alike are fused by one call of `write`,
  /// which then must do nothing but write.
  void alike(std::string_view key);
  Body& entry() { return entry_; }  ///< data movement and library calls are written here
  const Body& entry() const { return entry_; }
  const ir::Module& module() const { return module_; }

  /// A parameter of the program. `input`: how a replay fills it, a recipe like {"integers": [0, 999]}; "": by use.
  Value parameter(std::string_view name, const ir::Shape& shape, std::string_view input = "");
  /// One operator as one kernel: `write` gets the operands as values of the body and returns the results.
  using WriteBody = std::function<Values(Body&, std::span<const Value>)>;
  Values fuse(std::span<const Value> operands, const WriteBody& write);
  Value fuse1(std::span<const Value> operands, const std::function<Value(Body&, std::span<const Value>)>& write);  ///< for one result
  /// What has no lowering: a custom call that a replay skips with `target` as the reason.
  Values unknown(std::string_view target, std::span<const Value> operands, std::span<const ir::Shape> results);
  /// Computations of two scalars: `op` of them (reduce, reduce-window, all-reduce), and whether the first is at least the second.
  ir::CompId reducer(ir::Op op, ir::Type type);
  ir::CompId greater_or_equal(ir::Type type);
  ir::CompId scalar_function(std::string_view name, ir::Type type, const std::function<Value(Body&, Value, Value)>& write);

  /// Of sort with values: whether the first of two keys comes before the second. Parameters: key, key, value, value.
  ir::CompId order(ir::Direction direction, ir::Type key, ir::Type value);

  /// A result of the program, in order. In place: the value takes the parameter's memory; the last one for a parameter counts.
  void result(Value value);
  void result_in_place(Value value, Value parameter);

  base::Result<ir::Module> finish();

 private:
  friend class Body;
  struct Result {
    Value value, parameter;  ///< parameter.id -1: not in place
  };
  std::string& spelled(std::string_view text);
  ir::StringId unique(std::string_view name);
  void broke(std::string what);
  struct Fused {
    ir::CompId body = 0;
    size_t results = 1;
  };
  Fused written(const Values& distinct, const std::vector<uint32_t>& places, const WriteBody& write);
  Fused written_once(const Values& distinct, const std::vector<uint32_t>& places, const WriteBody& write);
  ir::LiteralId scalar(ir::Type type, double value);
  ir::CompId shared(ir::Computation comp, Value root);
  ir::CompId add(ir::Computation comp, std::string_view name, Value root);
  std::string aliases() const;

  ir::Module module_;
  Body entry_;
  std::string at_name_ = "program", at_type_;
  ir::OriginId origin_ = ir::OriginId::none;
  std::vector<uint32_t> names_;  ///< by StringId: taken, with the number that the next of its kind gets; 0: free
  std::map<std::pair<ir::Op, ir::Type>, ir::CompId> functions_;  ///< of two scalars
  struct Hash {
    size_t operator()(std::string_view key) const { return base::hash64(key); }
  };
  std::unordered_map<std::string, ir::CompId, Hash> bodies_;  ///< of fusions, by what they do
  std::unordered_map<std::string, Fused, Hash> fused_;        ///< by what operators alike are told by, and which of their fusions it is
  std::map<std::pair<ir::Type, uint64_t>, ir::LiteralId> scalars_;  ///< by the bits of their double
  std::vector<Result> results_;
  std::unordered_map<ir::InstrId, size_t> in_place_;  ///< results_ by parameter
  std::string name_, error_;                          ///< name_: the one in hand
  Key key_;                                           ///< of the fusion in hand
  std::string alike_;                                 ///< of the operator in hand; "": none is like it
  uint32_t fusions_ = 0;                              ///< that it has made
};

}  // namespace importers::lowering
