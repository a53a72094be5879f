// A program: computations of instructions. Values and indices, no pointers: copying a module is `=`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/ir/hash_index.h"
#include "src/ir/literal.h"
#include "src/ir/op.h"
#include "src/ir/shape.h"

namespace ir {

using InstrId = int32_t;  ///< position in its computation
using CompId = int32_t;   ///< position in the module
enum class StringId : uint32_t { empty = 0 };
enum class ShapeId : uint32_t {};
enum class LiteralId : uint32_t { none = 0xffffffff };
enum class OriginId : uint32_t { none = 0xffffffff };

/// All strings of a module, each once, in one block of bytes. A view is valid until the next intern().
class Strings {
 public:
  Strings();
  StringId intern(std::string_view text);
  std::string_view view(StringId id) const {
    const auto i = static_cast<uint32_t>(id);
    return std::string_view(bytes_).substr(begin_[i], begin_[i + 1] - begin_[i]);
  }
  size_t size() const { return begin_.size() - 1; }

 private:
  std::string bytes_;
  std::vector<uint32_t> begin_;  ///< of string i; one more entry marks the end
  HashIndex index_;              ///< of strings but the empty one, by id
};

/// Where an instruction comes from: the fields of `metadata={…}`.
struct Origin {
  StringId op_type{}, op_name{}, source_file{};
  int32_t source_line = 0, source_column = 0, source_end_line = 0, source_end_column = 0;
  int32_t stack_frame_id = 0;
  StringId rest{};  ///< other fields as written: "profile_type={1} deduplicated_name=\"x\""
  bool operator==(const Origin&) const = default;
};

/// `key=text`, kept as written (comments and white space between tokens dropped). If calls ≥ 0, the value is that many computations, taken
/// in order from Instr::calls, and text is empty; a list in braces prints as one where `braces`.
struct Attr {
  StringId key{}, text{};
  int32_t calls = -1;
  bool braces = false;
};

struct Instr {
  StringId name{};
  Op op = Op::parameter;
  ShapeId shape{};
  OriginId origin = OriginId::none;
  LiteralId literal = LiteralId::none;  ///< of a constant
  int64_t number = 0;                   ///< of a parameter
  std::vector<InstrId> operands;
  std::vector<CompId> calls;
  std::vector<Attr> attrs;  ///< in the order written; metadata is in `origin`
  uint32_t offset = 0;      ///< in the text that it was read from: line and column of messages; not compared
};

struct Computation {
  StringId name{};
  std::vector<Instr> instrs;
  InstrId root = 0;
  StringId execution_thread{};
  std::vector<InstrId> parameters;  ///< instruction of parameter i
};

class Module {
 public:
  StringId name{};
  std::vector<Computation> computations;
  CompId entry = 0;
  std::vector<Attr> attrs;  ///< of the header
  StringId stack_frames{};  ///< the four tables between header and first computation, as written; empty if none

  Strings strings;
  std::vector<Shape> shapes;  ///< interned
  std::vector<Literal> literals;
  std::vector<Origin> origins;  ///< interned

  ShapeId intern(const Shape& shape);
  OriginId intern(const Origin& origin);
  LiteralId add(Literal literal);

  std::string_view text(StringId id) const { return strings.view(id); }
  const Shape& shape(ShapeId id) const { return shapes[static_cast<uint32_t>(id)]; }
  const Shape& shape(const Instr& instr) const { return shape(instr.shape); }
  const Literal& literal(const Instr& instr) const { return literals[static_cast<uint32_t>(instr.literal)]; }
  const Origin* origin(const Instr& instr) const {
    return instr.origin == OriginId::none ? nullptr : &origins[static_cast<uint32_t>(instr.origin)];
  }
  Computation& comp(CompId id) { return computations[static_cast<size_t>(id)]; }
  const Computation& comp(CompId id) const { return computations[static_cast<size_t>(id)]; }
  const Instr& instr(CompId comp_id, InstrId id) const { return comp(comp_id).instrs[static_cast<size_t>(id)]; }
  std::string_view name_of(const Instr& instr) const { return text(instr.name); }

  /// By name, with or without '%'; -1 if there is none.
  CompId find_computation(std::string_view name) const;
  /// Same content: strings, shapes, literals and origins are compared by value, not by id.
  bool operator==(const Module& other) const;

 private:
  HashIndex shape_index_, origin_index_;
};

struct InstrRef {
  CompId comp = 0;
  InstrId instr = 0;
  auto operator<=>(const InstrRef&) const = default;
};

}  // namespace ir
