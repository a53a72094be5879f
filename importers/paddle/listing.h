// A Paddle program as it is written, whatever the form: blocks of variables and operators. Nothing is looked up or inferred yet.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "importers/importer.h"

namespace importers::paddle {

/// What a variable or a value holds. Views point into the text, or into what the listing has kept.
struct Type {
  enum class Kind : uint8_t {
    absent,  ///< `<<NULL TYPE>>`, or not written
    tensor,
    list,  ///< `vec[…]`: a list of tensors that is passed as one value
    other  ///< no data: STEP_SCOPES, READER, …
  } kind = Kind::absent;
  std::string_view holder;        ///< "LOD_TENSOR", "builtin.tensor", "gpu_tensor", "STEP_SCOPES"
  std::string_view dtype;         ///< Paddle's name: "float32", "bfloat16", "bool"; "" unknown
  std::span<const int64_t> dims;  ///< -1: open; XShape begins with 0
  std::vector<Type> elements;     ///< of a list
};

struct Variable {
  std::string_view name;  ///< PIR: "%12", "%arg_0"
  Type type;
  bool persistable = false, parameter = false, trainable = false;
  std::string_view distribution;  ///< dist_attr with its braces, as written
  size_t offset = 0;
};

/// Operands or results under one name of the operator's definition. PIR prints no names: one slot "" holds all.
struct Slot {
  std::string_view name;
  std::span<const std::string_view> arguments;  ///< variables in order; "" stands for `<<NULL VALUE>>`
};
/// The first variable of the slot, "" where there is none.
std::string_view first_argument(std::span<const Slot> slots, std::string_view slot);

/// `value` is written as Python or PIR prints it (attribute.h reads it); strings of PIR and protobuf keep their quotes.
struct Attribute {
  std::string_view name, value;
};

struct Operator {
  std::string_view type;  ///< "matmul_v2", "pd_op.matmul", "matmul(phi_kernel)"
  int64_t id = -1;        ///< PIR's [id:N]
  std::span<const Slot> outputs, inputs;
  std::span<const Attribute> attributes;
  std::string_view distribution;
  std::vector<int32_t> blocks;  ///< sub-blocks: indices into Program::blocks
  std::string_view file;        ///< protobuf text alone has the Python source
  int64_t file_line = 0;
  size_t offset = 0;
  size_t number = 0;  ///< in its program, block after block

  std::string_view attribute(std::string_view name) const;  ///< "" if there is none
};

struct Block {
  int32_t parent = -1;
  std::vector<Variable> variables;  ///< PIR: results and block arguments, in order
  std::vector<Variable> missing;    ///< PIR: values that are used, but made in a part that was left out; typed by their first use
  std::vector<Operator> operators;
};

enum class Form : uint8_t { readable, protobuf, pir, python };
std::string_view name_of(Form form);

struct Program {
  Form form = Form::readable;
  std::string_view title;     ///< "after PdOp2CinnOpConverter pass" where a log gives one
  std::vector<Block> blocks;  ///< the first is the program's own
  size_t offset = 0;
  bool gaps = false;  ///< something was left out of the text
};

struct PlacedNote {
  size_t offset;
  std::string code, text;
};

/// All programs of a file.
struct Listing {
  std::unique_ptr<const std::string> cleaned;  ///< the text without byte order marks, where it had some
  std::string_view text;                       ///< what offsets count in
  std::deque<std::string> made;                ///< spellings that stand nowhere in the text as one piece
  /// What the lists of operators and types are kept in: a program has millions, which are made one by one and go together.
  std::unique_ptr<std::pmr::monotonic_buffer_resource> lists = std::make_unique<std::pmr::monotonic_buffer_resource>();
  std::vector<Program> programs;
  std::vector<PlacedNote> notes;
  std::vector<int64_t> sizes;     ///< of the type that is being read
  int64_t read = 0, dropped = 0;  ///< variables and operators

  std::string_view keep(std::string spelling) { return made.emplace_back(std::move(spelling)); }
  template <typename T>
  std::span<const T> keep(const std::vector<T>& list);
};

template <typename T>
std::span<const T> Listing::keep(const std::vector<T>& list) {
  static_assert(std::is_trivially_destructible_v<T>, "goes without being destroyed");
  auto* kept = static_cast<T*>(lists->allocate(list.size() * sizeof(T), alignof(T)));
  std::uninitialized_copy(list.begin(), list.end(), kept);
  return {kept, list.size()};
}

/// Any bytes give a listing or an error with its place. Linear.
base::Result<Listing> read_listing(const Input& input);
/// How the text begins and what that makes it.
Match match(const Input& input);

// Each reads programs of its form from `at` on into the listing and returns where it stopped.
class Cursor;
base::Result<size_t> read_readable(Cursor cursor, Listing& listing);
base::Result<size_t> read_protobuf(Cursor cursor, Listing& listing);
base::Result<size_t> read_pir(Cursor cursor, std::string_view title, Listing& listing);
base::Result<size_t> read_python(Cursor cursor, Listing& listing);

/// A PIR type at the cursor: `builtin.tensor<2x3xf32>`, `vec[…]`, `<<NULL TYPE>>`; an unknown one is kept as `other`.
base::Result<Type> read_type(Cursor& cursor, Listing& listing, int depth = 0);
/// Paddle's name of a data type that is spelt "FP32", "VarType.FP32", "paddle.float32", "f32" or 5; "" if it has none.
std::string_view dtype_name(std::string_view spelling);

}  // namespace importers::paddle
