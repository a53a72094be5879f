// The lowering of one program: what each variable holds, and the module that is being made.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "importers/lowering/key.h"
#include "importers/paddle/lower.h"
#include "importers/paddle/name_index.h"
#include "importers/paddle/recipe.h"
#include "importers/paddle/signature.h"
#include "importers/paddle/sizes.h"

namespace importers::paddle {

inline constexpr size_t kWorthThread = 512;  ///< operators
/// How work beside other work on the program is run: on a thread of its own where there are operators enough.
std::launch beside(const Program& program);

class Lowering {
 public:
  Lowering(const Program& program, const Input& input, std::string_view name, std::vector<PlacedNote>& notes);

  using Names = std::vector<std::string_view>;  ///< by number
  /// The operators of the program's own block, and of blocks that they run, under their unique names. `done(count)`: after each of its
  /// own, how many have been.
  void run(const Names& names, const std::function<void(size_t)>& done);
  /// Results of the program, and the module. Error: an operator broke a rule of shapes.
  base::Result<ir::Module> finish();

  /// What the operator's results turned out to be, as HLO writes shapes; "" if none.
  std::string shape_of(const Operator& given);
  int64_t unknown() const { return unknown_; }  ///< operators that became calls by their names

 private:
  friend class Call;
  using Structural = void (Lowering::*)(const Operator&);
  static Structural structural(std::string_view type);
  /// A variable: what declares it, and what it holds now.
  struct Held {
    std::string_view name;
    const Variable* variable = nullptr;
    std::optional<Tensor> tensor;  ///< nothing: nobody has read or written it
    Value parameter;               ///< of the entry
    bool is_read = false;          ///< by some operator
    bool is_spare = false;         ///< nobody reads it, but other parts of its slot
  };

  void run(const Block& block);
  void run(const Operator& given);
  void lower(const Normal& normal);
  std::string_view key_of(const Operator& op);
  bool make_key(const Operator& op);
  bool add(lowering::Key& key, std::string_view operand);
  bool add(lowering::Key& key, const Tensor& tensor) const;
  void call_by_name(const Operator& op, std::string_view why);
  const Held* known(std::string_view name) const;
  int64_t place_of(std::string_view name) const;
  Held& held(std::string_view name);
  const Variable* declared(std::string_view name) const;
  ir::Shape shape_by_declaration(const Variable& variable);
  const Tensor* find(std::string_view name) const;
  Tensor& tensor(std::string_view name);
  Tensor& read(std::string_view name);
  Tensor& make_parameter(std::string_view name, std::string_view shown);
  void bind(std::string_view name, Tensor tensor);
  void bind_aliases(const Normal& normal);
  void keep_state(Held& name);
  void compare(std::string_view name, std::string_view slot, const Tensor& tensor);
  void find_spare(const Operator& op);
  void add_results();
  void note(std::string code, std::string text) { notes_.push_back({offset_, std::move(code), std::move(text)}); }
  void flatten(const Tensor& tensor, Values& values) const;
  void spread(const Tensor& tensor, Values& values);

  // PIR's own operators
  void parameter(const Operator& op);
  void combine(const Operator& op);
  void take_apart(const Operator& op);
  void index(const Operator& op);
  void give(const Operator& op);
  void constant(const Operator& op);
  // operators that run blocks
  const Block* inner(const Operator& op, size_t k) const;
  std::vector<std::string_view> run_region(const Block& block);
  void group(const Operator& op);
  void yield(const Operator& op);
  void branch(const Operator& op);
  void conditional_block(const Operator& op);
  void select_input(const Operator& op);
  void loop(const Operator& op);
  void loop_of_region(const Operator& op);
  bool another_trip(std::string_view condition, int64_t trips);
  void choose(std::string_view result, std::string_view condition, const Tensor& yes, const Tensor& no);

  const Program& program_;
  std::vector<PlacedNote>& notes_;
  Normal last_;  ///< the operator that was lowered last
  lowering::Program out_;
  Sizes sizes_;
  Recipes recipes_;
  std::deque<Held> held_;
  NameIndex index_;                                   ///< of held_
  mutable std::array<uint32_t, 64> recent_{};         ///< in held_, by where a name stands: an operator asks for its own again and again
  std::vector<std::pair<Value, Value>> states_;       ///< parameter, what it holds at the end
  std::vector<std::string_view> written_;             ///< persistable variables without a parameter, in order
  std::vector<std::string_view> made_;                ///< variables in the order in which they are first written
  std::unordered_map<std::string_view, Known> told_;  ///< content of the results of the operator at hand
  std::unordered_set<std::string> failed_;            ///< keys of operators that could not be lowered: each tells why
  std::vector<std::string_view> yields_;              ///< of the region that has just been lowered
  const Names* names_ = nullptr;
  int depth_ = 0;
  std::unordered_set<const Block*> ran_;
  int64_t repeated_ = 0;                 ///< operators that have been written again
  size_t spread_ = 0;                    ///< elements of lists that operators have been given
  lowering::Key key_;                    ///< of the operator at hand
  std::deque<std::string> shape_texts_;  ///< by ShapeId; "": not asked for yet
  size_t offset_ = 0;
  std::string failure_;
  int64_t unknown_ = 0;
};

}  // namespace importers::paddle
