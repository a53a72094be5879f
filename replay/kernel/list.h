// The flat list: what a part executes, line by line, with lanes as part of every type. Target-neutral; a renderer prints it in a language.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replay/kernel/graph.h"

namespace kernel {

using ValueId = int32_t;  ///< a line's result; -1: none

struct Line {
  enum class Kind : uint8_t {
    constant,  ///< imm in all lanes; has no line of its own in most languages
    argument,  ///< imm: 0 begin, 1 end, 2 thread; on a GPU 3 the block's number, 4 the thread's in its block
    ramp,      ///< 0, imm, 2·imm, …: one number a lane
    op,        ///< code on args; compare and call: imm
    splat,     ///< args[0] in all lanes
    lane,      ///< lane imm of args[0]
    shuffle,   ///< lanes `order` of args[0], args[1]
    loop,      ///< i64 from args[0] while < args[1] in steps of imm; the result is the counter
    end,       ///< of a loop or an if
    branch,    ///< the lines up to `end` run if args[0]
    variable,  ///< a cell of the type
    set,       ///< args[0] (a variable) = args[1]
    get,       ///< of variable args[0]
    pointer,   ///< element args[0] of array imm; the type is that of an element
    load,      ///< args[0] + imm elements; args[1]: mask, lanes without it give 0
    store,     ///< args[1] to args[0] + imm elements; args[2]: mask
    gather,    ///< elements args[0] (a vector of i64) of array imm; args[1]: mask
    scatter,   ///< args[1] to elements args[0] of array imm; args[2]: mask
    prefetch,  ///< the line of args[0] + imm elements
    fence,     ///< after streaming stores
    same,      ///< i1: are arrays imm and args[0] the same memory
    barrier,   ///< GPU: all threads of the block
    down,      ///< GPU: args[0] of the lane imm further on in the warp; anything where there is none
    leader,    ///< GPU: args[0] of the first lane of each imm lanes
  } kind = Kind::op;
  Code code = Code::add;
  Reg reg = Reg::i64;
  int lanes = 1;
  ValueId id = -1;
  std::vector<ValueId> args;
  int64_t imm = 0;
  std::vector<int> order;
  bool streaming = false;  ///< of a store
};

class List {
 public:
  std::vector<Line> lines;

  const Line& line(ValueId id) const { return lines[static_cast<size_t>(where_[static_cast<size_t>(id)])]; }
  int lanes(ValueId id) const { return line(id).lanes; }
  Reg reg(ValueId id) const { return line(id).reg; }
  size_t values() const { return where_.size(); }

  ValueId add(Line line);  ///< gives the line an id
  void put(Line line) { lines.push_back(std::move(line)); }

  ValueId integer(int64_t value) { return constant(Reg::i64, 1, value); }
  ValueId constant(Reg reg, int lanes, int64_t imm);
  ValueId argument(int number) { return add({Line::Kind::argument, {}, Reg::i64, 1, -1, {}, number, {}, false}); }
  ValueId ramp(Reg reg, int lanes, int64_t step) { return add({Line::Kind::ramp, {}, reg, lanes, -1, {}, step, {}, false}); }
  /// Operands of one lane count; folds sums and products of integer constants.
  ValueId op(Code code, Reg reg, int lanes, std::vector<ValueId> args, int64_t imm = 0);
  ValueId add(ValueId a, ValueId b) { return op(Code::add, reg(a), lanes(a), {a, b}); }
  ValueId mul(ValueId a, int64_t b) { return op(Code::mul, reg(a), lanes(a), {a, constant(reg(a), lanes(a), b)}); }
  ValueId splat(ValueId a, int lanes);
  ValueId lane(ValueId a, int which) { return lanes(a) == 1 ? a : add({Line::Kind::lane, {}, reg(a), 1, -1, {a}, which, {}, false}); }
  ValueId shuffle(ValueId a, ValueId b, std::vector<int> order);
  ValueId loop(ValueId from, ValueId to, int64_t step) { return add({Line::Kind::loop, {}, Reg::i64, 1, -1, {from, to}, step, {}, false}); }
  void end() { put({Line::Kind::end, {}, Reg::i64, 1, -1, {}, 0, {}, false}); }
  void branch(ValueId condition) { put({Line::Kind::branch, {}, Reg::i1, 1, -1, {condition}, 0, {}, false}); }
  ValueId variable(Reg reg, int lanes) { return add({Line::Kind::variable, {}, reg, lanes, -1, {}, 0, {}, false}); }
  void set(ValueId variable, ValueId value) { put({Line::Kind::set, {}, reg(value), lanes(value), -1, {variable, value}, 0, {}, false}); }
  void barrier() { put({Line::Kind::barrier, {}, Reg::i64, 1, -1, {}, 0, {}, false}); }
  ValueId down(ValueId a, int64_t by) { return add({Line::Kind::down, {}, reg(a), 1, -1, {a}, by, {}, false}); }
  ValueId leader(ValueId a, int64_t of) { return add({Line::Kind::leader, {}, reg(a), 1, -1, {a}, of, {}, false}); }
  ValueId get(ValueId variable) { return add({Line::Kind::get, {}, reg(variable), lanes(variable), -1, {variable}, 0, {}, false}); }
  ValueId pointer(int array, Reg reg, ValueId element) { return add({Line::Kind::pointer, {}, reg, 1, -1, {element}, array, {}, false}); }
  ValueId load(ValueId pointer, int lanes, int64_t offset, ValueId mask = -1);
  void store(ValueId pointer, ValueId value, int64_t offset, ValueId mask = -1, bool streaming = false);

 private:
  bool constant_value(ValueId id, int64_t& value) const;
  std::vector<int32_t> where_;
};

/// "  v12 = add 16 x f32 v3 v11", loops indented.
std::string print(const List& list);

}  // namespace kernel
