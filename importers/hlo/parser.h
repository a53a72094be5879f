// The parser of one module, generic over all opcodes: `name = shape op(operands), attr=text, …`.
// Split over four files: parser.cc (module, header, computations), instruction.cc, value.cc (shapes, attribute texts), literal.cc;
// resolve.cc turns names into ids afterwards, so that nothing needs to be defined before it is used.
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "importers/hlo/lexer.h"
#include "importers/hlo/literal.h"
#include "importers/hlo/parts.h"
#include "src/base/result.h"
#include "src/ir/hash_index.h"
#include "src/model/records.h"

namespace importers::hlo {

class Parser {
 public:
  /// The module begins at `begin`; Instr::offset counts from there, places of messages from the text's start.
  Parser(std::string_view text, std::string_view source, size_t begin = 0) : lexer_(text, begin), source_(source), begin_(begin) {}

  /// One module. After it the text may go on: see end().
  base::Result<ir::Module> run();
  size_t end() const { return lexer_.at(); }
  bool saw_entry() const { return entry_ >= 0; }
  const std::vector<PlacedNote>& notes() const { return notes_.all(); }

 private:
  // parser.cc
  bool parse_module();
  bool parse_header();
  bool parse_computation();
  bool parse_single_instruction();
  bool at_computation();
  std::optional<ir::CompId> parse_body(ir::StringId name, std::optional<ir::Shape> declared);

  // instruction.cc
  bool parse_instruction(Scope& scope);
  std::optional<ir::InstrId> parse_rhs(Scope& scope, ir::Instr instr);
  bool no_instruction(size_t offset, std::string_view name);
  bool at_attribute(std::string_view key);
  bool parse_opcode(ir::Instr& instr, std::string_view word, size_t offset);
  bool parse_arguments(Scope& scope, ir::Instr& instr);
  bool parse_operand(Scope& scope);
  bool parse_pairs(const std::function<bool(std::string_view key, size_t offset)>& take);
  bool is_new(const std::vector<ir::Attr>& attrs, ir::StringId key, size_t offset);
  bool parse_header_attribute(std::string_view key, size_t offset);
  bool parse_attributes(ir::Instr& instr);
  bool parse_attribute(ir::Instr& instr, std::string_view key, size_t offset);
  bool parse_calls(ir::Instr& instr, ir::Attr attr);
  bool parse_call(ir::Instr& instr, ir::Attr& attr);
  bool at_body();
  bool wrap_async(ir::Instr& instr);

  // value.cc
  std::optional<ir::ShapeId> parse_shape();
  std::optional<ir::ShapeId> parse_shape_if_any();
  std::optional<ir::ShapeId> take_known_shape();
  std::optional<ir::Shape> parse_shape_at(int depth);
  bool no_type(size_t offset, std::string_view word);
  bool parse_dims(ir::Shape& shape);
  bool parse_layout(ir::Shape& shape);
  bool parse_sparse_layout();
  bool at_shape();
  std::optional<std::string_view> parse_value(std::string_view key);
  std::string_view take_plain_value();
  bool ends_value();
  bool append_group(std::string_view key);
  std::optional<ir::OriginId> parse_origin();
  std::optional<ir::Origin> parse_metadata();
  bool parse_metadata_field(ir::Origin& origin, std::string& rest);
  bool parse_stack_frames();
  void place_origin(ir::Origin& origin) const;

  // literal.cc
  std::optional<ir::Literal> parse_literal(const ir::Shape& shape, int depth);
  bool parse_elements(ir::Literal& literal, const ir::Shape& shape, LiteralReader& reader);
  bool repeats_shape();
  bool fill(ir::Literal& literal, const ir::Shape& shape, size_t place);
  bool parse_lone_number(ir::Literal& literal, const ir::Shape& shape, LiteralReader& reader);

  // resolve.cc
  std::optional<ir::CompId> finish(Scope scope, ir::StringId name, size_t offset);
  bool name_instructions(Scope& scope);
  bool resolve_operands(Scope& scope);
  bool resolve_predecessors(const Scope& scope, const ir::Instr& instr);
  std::optional<ir::InstrId> resolve(Scope& scope, const Use& use);
  std::optional<ir::InstrId> element_of(Scope& scope, const Use& use);
  bool unknown_operand(const Scope& scope, const Use& use);
  bool order_instructions(Scope& scope);
  bool number_parameters(const Scope& scope, ir::Computation& comp);
  bool resolve_calls();
  bool resolve_calls_of(ir::Instr& instr, std::unordered_map<ir::StringId, ir::CompId>& by_name);
  bool unknown_computation(const CallUse& use);
  bool order_computations();
  void reorder_computations(const std::vector<int32_t>& order);
  bool infer_shapes();
  bool infer_shape_of(const ir::Computation& comp, ir::Instr& instr);
  bool has_room_for(const ir::Shape& shape, int depth);
  ir::StringId fresh_name(std::string_view base);
  bool fail(size_t offset, std::string what);
  bool expected(std::string_view what);  ///< fails with "expected 'what', got …" at the cursor
  bool expect(char c);

  Lexer lexer_;
  std::string_view source_;
  size_t begin_;
  ir::Module module_;
  Notes notes_;
  std::optional<base::Error> error_;
  int depth_ = 0;
  ir::CompId entry_ = -1;
  bool single_ = false, omitted_shape_ = false;  ///< unknown operands become parameters; some result shape is to be inferred
  std::vector<CallUse> call_uses_;
  std::vector<FramePlace> frames_;  ///< by stack_frame_id - 1
  std::vector<size_t> comp_offsets_;
  std::vector<std::optional<ir::Shape>> declared_;                  ///< result shape in the computation's header
  std::unordered_map<std::string_view, ir::ShapeId> shape_cache_;   ///< by text
  std::vector<std::pair<std::string_view, ir::OriginId>> origins_;  ///< by the text of their metadata, through origin_index_
  ir::HashIndex origin_index_;
  NamedInstructions named_;
  Counters counters_;
  std::string value_;                  ///< reused by parse_value
  std::vector<ir::InstrId> operands_;  ///< of the instructions whose arguments are being read, the innermost last
};

}  // namespace importers::hlo
