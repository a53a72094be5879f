// The tables. Sources: XLA's hlo_parser.cc of 2026-08 and its history back to 2017.
#include "importers/hlo/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <vector>

#include "importers/hlo/lexer.h"
#include "src/base/text.h"
#include "src/ir/attr.h"

namespace importers::hlo {
namespace {

/// Rows in the order of their keys' lengths: few have the same one, so that a key is found, or known to be none, at the first bytes.
template <size_t N>
struct Table {
  static constexpr size_t kLongest = 63;
  std::array<Attribute, N> rows;
  std::array<uint8_t, kLongest + 2> begin{};  ///< of the rows of a length

  constexpr explicit Table(const std::array<Attribute, N>& unsorted) : rows(unsorted) {
    std::ranges::sort(rows, {}, [](const Attribute& row) { return row.key.size(); });
    for (const Attribute& row : rows) ++begin[row.key.size() + 1];
    for (size_t i = 1; i < begin.size(); ++i) begin[i] = static_cast<uint8_t>(begin[i] + begin[i - 1]);
  }
  const Attribute* find(std::string_view key) const {
    if (key.empty() || key.size() > kLongest) return nullptr;
    for (size_t i = begin[key.size()]; i < begin[key.size() + 1]; ++i) {
      if (rows[i].key[0] == key[0] && rows[i].key == key) return &rows[i];
    }
    return nullptr;
  }
};
template <size_t N>
constexpr Table<N> by_length(const std::array<Attribute, N>& rows) {
  return Table<N>(rows);
}

constexpr auto kAttributes = by_length(std::to_array<Attribute>({
    {"sharding", Form::braces, ""},
    {"frontend_attributes", Form::braces, ""},
    {"statistics", Form::braces, ""},
    {"parameter_replication", Form::braces, ""},
    {"control-predecessors", Form::braces, ""},
    {"origin", Form::any, ""},
    {"metadata", Form::braces, ""},
    {"backend_config", Form::any, ""},
    {"to_apply", Form::any, ""},
    {"calls", Form::any, ""},
    {"called_computations", Form::any, ""},
    {"condition", Form::any, ""},
    {"body", Form::any, ""},
    {"true_computation", Form::any, ""},
    {"false_computation", Form::any, ""},
    {"branch_computations", Form::any, ""},
    {"select", Form::any, ""},
    {"scatter", Form::any, ""},
    {"dimensions", Form::numbers, ""},
    {"inferred_dimension", Form::integer, ""},
    {"iota_dimension", Form::integer, ""},
    {"index", Form::integer, ""},
    {"slice", Form::braces, ""},
    {"dynamic_slice_sizes", Form::numbers, ""},
    {"padding", Form::any, ""},
    {"window", Form::braces, ""},
    {"dim_labels", Form::any, ""},
    {"feature_group_count", Form::integer, ""},
    {"batch_group_count", Form::integer, ""},
    {"convolution_kind", Form::any, ""},
    {"conv_kind", Form::any, ""},
    {"sparsity_config", Form::any, ""},
    {"sparsity", Form::any, ""},
    {"lhs_contracting_dims", Form::numbers, ""},
    {"rhs_contracting_dims", Form::numbers, ""},
    {"lhs_batch_dims", Form::numbers, ""},
    {"rhs_batch_dims", Form::numbers, ""},
    {"lhs_ragged_dims", Form::numbers, ""},
    {"rhs_group_dims", Form::numbers, ""},
    {"operand_precision", Form::braces, ""},
    {"algorithm", Form::word, ""},
    {"direction", Form::one_of, "EQ NE GE GT LE LT"},
    {"type", Form::any, ""},
    {"result_accuracy", Form::braces, ""},
    {"exponent_bits", Form::integer, ""},
    {"mantissa_bits", Form::integer, ""},
    {"fft_type", Form::one_of, "FFT IFFT RFFT IRFFT"},
    {"fft_length", Form::numbers, ""},
    {"kind", Form::word, ""},
    {"output_to_operand_aliasing", Form::braces, ""},
    {"custom_call_target", Form::string, ""},
    {"operand_layout_constraints", Form::braces, ""},
    {"custom_call_has_side_effect", Form::boolean, ""},
    {"api_version", Form::word, ""},
    {"schedule", Form::word, ""},
    {"padding_type", Form::word, ""},
    {"literal", Form::any, ""},
    {"opaque", Form::any, ""},
    {"replica_groups", Form::any, ""},
    {"channel_id", Form::integer, ""},
    {"use_global_device_ids", Form::boolean, ""},
    {"constrain_layout", Form::boolean, ""},
    {"mode", Form::any, ""},
    {"source_target_pairs", Form::braces, ""},
    {"slice_sizes", Form::braces, ""},
    {"has_dynamic_root", Form::any, ""},
    {"is_host_transfer", Form::boolean, ""},
    {"async_execution_thread", Form::any, ""},
    {"async_group_id", Form::any, ""},
    {"cross_program_prefetch_index", Form::integer, ""},
    {"is_cross_program_prefetch", Form::boolean, ""},
    {"infeed_config", Form::any, ""},
    {"outfeed_config", Form::any, ""},
    {"outfeed_shape", Form::any, ""},
    {"offset_dims", Form::numbers, ""},
    {"collapsed_slice_dims", Form::numbers, ""},
    {"start_index_map", Form::numbers, ""},
    {"index_vector_dim", Form::integer, ""},
    {"operand_batching_dims", Form::numbers, ""},
    {"start_indices_batching_dims", Form::numbers, ""},
    {"update_window_dims", Form::numbers, ""},
    {"inserted_window_dims", Form::numbers, ""},
    {"scatter_dims_to_operand_dims", Form::numbers, ""},
    {"input_batching_dims", Form::numbers, ""},
    {"scatter_indices_batching_dims", Form::numbers, ""},
    {"indices_are_sorted", Form::boolean, ""},
    {"unique_indices", Form::boolean, ""},
    {"is_stable", Form::boolean, ""},
    {"k", Form::integer, ""},
    {"largest", Form::boolean, ""},
    {"num_carries", Form::integer, ""},
    {"is_reverse", Form::boolean, ""},
    {"is_associative", Form::any, ""},
    {"epsilon", Form::any, ""},
    {"feature_index", Form::integer, ""},
    {"distribution", Form::one_of, "rng_uniform rng_normal"},
    {"delta", Form::integer, ""},
    {"left_side", Form::boolean, ""},
    {"lower", Form::boolean, ""},
    {"unit_diagonal", Form::boolean, ""},
    {"transpose_a", Form::one_of, "NO_TRANSPOSE TRANSPOSE ADJOINT"},
    {"domain", Form::any, ""},
    {"is_composite", Form::boolean, ""},
    {"operation_queue_id", Form::any, ""},
    {"wait_on_operation_queues", Form::any, ""},
    {"barrier", Form::any, ""},
    {"replica_group_ids", Form::any, ""},
    {"all_reduce_id", Form::integer, ""},
    {"channel_name", Form::any, ""},
    {"cost_estimate_ns", Form::integer, ""},
    {"outer_dimension_partitions", Form::numbers, ""},
    {"output_window_dims", Form::numbers, ""},
    {"elided_window_dims", Form::numbers, ""},
    {"gather_dims_to_operand_dims", Form::numbers, ""},
    {"window_bounds", Form::numbers, ""},
    {"device_ids", Form::any, ""},
}));

constexpr auto kHeaderAttributes = by_length(std::to_array<Attribute>({
    {"is_scheduled", Form::boolean, ""},
    {"input_output_alias", Form::aliases, ""},
    {"buffer_donor", Form::braces, ""},
    {"alias_passthrough_params", Form::boolean, ""},
    {"entry_computation_layout", Form::braces, ""},
    {"allow_spmd_sharding_propagation_to_parameters", Form::any, ""},
    {"allow_spmd_sharding_propagation_to_output", Form::any, ""},
    {"replica_count", Form::integer, ""},
    {"num_partitions", Form::integer, ""},
    {"frontend_attributes", Form::braces, ""},
    {"origin_recovery_table", Form::any, ""},
    {"debug_attributes", Form::any, ""},
}));

constexpr std::string_view kComputationAttributes[] = {
    "to_apply", "calls",   "called_computations", "condition", "body", "true_computation", "false_computation", "branch_computations",
    "select",   "scatter",
};

constexpr OldOpcode kOldOpcodes[] = {
    {"equal-to", ir::Op::compare, "direction", "EQ"},
    {"not-equal-to", ir::Op::compare, "direction", "NE"},
    {"less-than", ir::Op::compare, "direction", "LT"},
    {"less-than-or-equal-to", ir::Op::compare, "direction", "LE"},
    {"greater-than", ir::Op::compare, "direction", "GT"},
    {"greater-than-or-equal-to", ir::Op::compare, "direction", "GE"},
    {"cross-replica-sum", ir::Op::all_reduce, "", ""},
    {"tuple-select", ir::Op::select, "", ""},
    {"generate-token", ir::Op::after_all, "", ""},
    {"all-reduce-scatter", ir::Op::reduce_scatter, "", ""},
    {"host-compute", ir::Op::custom_call, "custom_call_target", "\"host-compute\""},
    {"trace", ir::Op::custom_call, "custom_call_target", "\"trace\""},
};

struct OtherType {
  std::string_view word, ours;
};
constexpr OtherType kOtherTypes[] = {
    {"float", "f32"}, {"float32", "f32"},   {"fp32", "f32"},        {"double", "f64"},  {"float64", "f64"},   {"fp64", "f64"},
    {"half", "f16"},  {"float16", "f16"},   {"fp16", "f16"},        {"bfloat", "bf16"}, {"bfloat16", "bf16"}, {"bool", "pred"},
    {"i1", "pred"},   {"char", "s8"},       {"int8", "s8"},         {"i8", "s8"},       {"si8", "s8"},        {"short", "s16"},
    {"int16", "s16"}, {"i16", "s16"},       {"si16", "s16"},        {"int", "s32"},     {"int32", "s32"},     {"i32", "s32"},
    {"si32", "s32"},  {"long", "s64"},      {"int64", "s64"},       {"i64", "s64"},     {"si64", "s64"},      {"uint8", "u8"},
    {"ui8", "u8"},    {"uint16", "u16"},    {"ui16", "u16"},        {"uint32", "u32"},  {"ui32", "u32"},      {"uint64", "u64"},
    {"ui64", "u64"},  {"complex64", "c64"}, {"complex128", "c128"}, {"f8", "f8e4m3fn"}, {"fp8", "f8e4m3fn"},
};

}  // namespace

std::string_view our_type(std::string_view word) {
  const auto row = std::ranges::find(kOtherTypes, word, &OtherType::word);
  return row == std::end(kOtherTypes) ? "" : row->ours;
}

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

const Attribute* find_attribute(std::string_view key) { return kAttributes.find(key); }
const Attribute* find_header_attribute(std::string_view key) { return kHeaderAttributes.find(key); }

std::string_view nearest_attribute(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Attribute& row : kAttributes.rows) keys.push_back(row.key);
  return base::nearest(key, keys);
}

bool names_computations(std::string_view key) { return std::ranges::find(kComputationAttributes, key) != std::end(kComputationAttributes); }

const OldOpcode* find_old_opcode(std::string_view text) {
  const auto it = std::ranges::find(kOldOpcodes, text, &OldOpcode::text);
  return it == std::end(kOldOpcodes) ? nullptr : &*it;
}

namespace {

std::string_view without_braces(std::string_view value) { return value.substr(1, value.size() - 2); }
bool in_braces(std::string_view value) { return value.size() >= 2 && value.front() == '{' && value.back() == '}'; }

bool is_integer(std::string_view text) {
  int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc() && end == text.data() + text.size();
}

/// Calls `is_good` for the parts between separators; an empty text has none.
template <typename Good>
bool all_parts(std::string_view text, char separator, Good is_good) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!is_good(text.substr(0, end))) return false;
    if (end + 1 == text.size()) return false;  // ends with a separator
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool is_one_of(std::string_view words, std::string_view value) {
  return !all_parts(words, ' ', [&](std::string_view word) { return word != value; });
}

bool has_form(const Attribute& row, std::string_view value) {
  switch (row.form) {
    case Form::any:
      return !value.empty();
    case Form::integer:
      return is_integer(value);
    case Form::boolean:
      return value == "true" || value == "false";
    case Form::numbers:
      return is_integer(value) || (in_braces(value) && all_parts(without_braces(value), ',', is_integer));
    case Form::braces:
      return in_braces(value);
    case Form::word:
      return !value.empty() && starts_word(value.front());
    case Form::string:
      return value.starts_with('"') || value.starts_with('\'');
    case Form::one_of:
      return is_one_of(row.words, value);
    case Form::aliases:
      return ir::parse_aliases(value).ok();
  }
  return true;
}

std::string form_text(const Attribute& row) {
  static constexpr std::string_view kTexts[] = {
      "a value", "an integer",         "true or false", "numbers in braces, like {0,2}",        "a value in braces",
      "a word",  "a string in quotes", "one of ",       "a list like {{0}: (1, {}, may-alias)}"};
  return fmt::format("{}{}", kTexts[static_cast<size_t>(row.form)], row.words);
}

/// "; did you mean 'LE'?" for a value that is near one of the words.
std::string near_word(const Attribute& row, std::string_view value) {
  std::vector<std::string_view> words;
  all_parts(row.words, ' ', [&](std::string_view word) { return words.push_back(word), true; });
  const std::string_view near = base::nearest(value, words);
  return near.empty() ? "" : fmt::format("; did you mean '{}'?", near);
}

}  // namespace

std::string misspelt_attribute(const ir::Module& module, const ir::Instr& instr) {
  for (const ir::Attr& attr : instr.attrs) {
    const std::string_view key = module.text(attr.key), near = find_attribute(key) != nullptr ? "" : nearest_attribute(key);
    if (!near.empty()) return fmt::format("; attribute '{}' is not known, did you mean '{}'?", base::escaped(key), near);
  }
  return "";
}

std::string wrong_form(const Attribute& row, std::string_view value) {
  if (has_form(row, value)) return "";
  constexpr size_t kShown = 60;
  return fmt::format("{} is {}, got '{}'{}", row.key, form_text(row), base::escaped(value.substr(0, kShown)), near_word(row, value));
}

}  // namespace importers::hlo
