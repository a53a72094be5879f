// A walk over the wire format by the field numbers of scip.proto; no generated code.
#include "importers/symbols/scip.h"

#include <fmt/format.h>

#include <algorithm>

#include "importers/symbols/finish.h"
#include "importers/symbols/scip_index.h"
#include "src/base/text.h"
#include "src/base/wire.h"

namespace importers::symbols {
namespace {

using base::WireField;
using base::WireReader;

/// Numbers of the fields that are read.
namespace index_field {
constexpr uint32_t metadata = 1, documents = 2, external_symbols = 3;
}
namespace metadata_field {
constexpr uint32_t tool_info = 2, project_root = 3, text_encoding = 4, tool_name = 1, tool_version = 2;
}
namespace document_field {
constexpr uint32_t relative_path = 1, occurrences = 2, symbols = 3;
}
namespace occurrence_field {
constexpr uint32_t range = 1, symbol = 2, roles = 3, enclosing_range = 7;
}
namespace symbol_field {
constexpr uint32_t symbol = 1, documentation = 3, display_name = 6;
}

bool is_bytes(const WireField& field) { return field.type == WireField::Type::bytes; }

ScipRange range_of(std::string_view packed) {
  ScipRange range;
  base::WireNumbers numbers(packed);
  while (const auto number = numbers.next()) range.add(static_cast<int32_t>(*number));
  return range;
}

class ScipReader {
 public:
  ScipReader(const Input& input, Collector& out) : input_(input), out_(out), documents_(out) {}

  base::Status run() {
    WireReader reader(input_.bytes);
    while (const auto field = reader.next()) {
      if (!is_bytes(*field)) continue;
      const size_t offset = reader.offset_of(*field);
      if (field->number == index_field::metadata) RETURN_IF_ERROR(metadata(field->bytes, offset));
      if (field->number == index_field::documents) RETURN_IF_ERROR(document(field->bytes, offset));
      if (field->number == index_field::external_symbols) RETURN_IF_ERROR(symbol(field->bytes, offset));
    }
    documents_.end();
    return whole(reader, "the index");
  }

 private:
  /// Did the reader come to the end?
  base::Status whole(const WireReader& reader, std::string_view what) const {
    if (reader.wrong().empty()) return {};
    return base::Error{fmt::format("{}: byte {}, in {}: {}; the file is cut or damaged: make the index again", base::escaped(input_.path),
                                   reader.at(), what, reader.wrong())};
  }

  base::Status metadata(std::string_view bytes, size_t offset) {
    WireReader reader(bytes, offset);
    while (const auto field = reader.next()) {
      if (field->number != metadata_field::tool_info || !is_bytes(*field)) continue;
      WireReader tool(field->bytes, reader.offset_of(*field));
      while (const auto part = tool.next()) {
        if (part->number == metadata_field::tool_name && is_bytes(*part)) out_.index().tool = part->bytes;
        if (part->number == metadata_field::tool_version && is_bytes(*part)) out_.index().tool += " " + std::string(part->bytes);
      }
    }
    return whole(reader, "metadata");
  }

  base::Status document(std::string_view bytes, size_t offset) {
    WireReader reader(bytes, offset);
    std::string path;
    while (const auto field = reader.next()) {
      if (!is_bytes(*field)) continue;
      if (field->number == document_field::relative_path) path = field->bytes;
      if (field->number == document_field::occurrences) RETURN_IF_ERROR(occurrence(field->bytes, reader.offset_of(*field)));
      if (field->number == document_field::symbols) RETURN_IF_ERROR(symbol(field->bytes, reader.offset_of(*field)));
    }
    documents_.end_document(path);
    return whole(reader, "a document");
  }

  base::Status occurrence(std::string_view bytes, size_t offset) {
    WireReader reader(bytes, offset);
    ScipOccurrence occurrence;
    occurrence.at = offset;
    while (const auto field = reader.next()) {
      switch (field->number) {
        case occurrence_field::range:  // packed, or one by one
          if (is_bytes(*field))
            occurrence.range = range_of(field->bytes);
          else
            occurrence.range.add(static_cast<int32_t>(field->value));
          break;
        case occurrence_field::enclosing_range:
          if (is_bytes(*field)) occurrence.enclosing = range_of(field->bytes);
          break;
        case occurrence_field::symbol:
          occurrence.symbol = field->bytes;
          break;
        case occurrence_field::roles:
          occurrence.roles = static_cast<int64_t>(field->value);
          break;
        default:
          break;
      }
    }
    documents_.add(std::move(occurrence));
    return whole(reader, "an occurrence");
  }

  base::Status symbol(std::string_view bytes, size_t offset) {
    WireReader reader(bytes, offset);
    ScipSymbol symbol;
    while (const auto field = reader.next()) {
      if (field->number == symbol_field::symbol) symbol.symbol = field->bytes;
      if (field->number == symbol_field::documentation && symbol.documentation.empty()) symbol.documentation = field->bytes;
      if (field->number == symbol_field::display_name) symbol.display_name = field->bytes;
    }
    documents_.add(std::move(symbol));
    return whole(reader, "a symbol");
  }

  const Input& input_;
  Collector& out_;
  ScipDocuments documents_;
};

/// ToolInfo: a message that begins with a name.
bool is_tool(std::string_view bytes) {
  WireReader reader(bytes);
  const auto name = reader.next();
  if (!name || name->number != metadata_field::tool_name || !is_bytes(*name) || name->bytes.empty()) return false;
  while (reader.next()) continue;
  return reader.wrong().empty() && std::ranges::all_of(name->bytes, [](char c) { return c >= ' ' && c < 0x7f; });
}

/// Metadata of an index: a tool with a name, or a project's root.
bool is_metadata(std::string_view bytes) {
  WireReader reader(bytes);
  bool is_scip = false;
  while (const auto field = reader.next()) {
    if (field->number > metadata_field::text_encoding) return false;
    is_scip |= field->number == metadata_field::tool_info && is_tool(field->bytes);
    is_scip |= field->number == metadata_field::project_root && field->bytes.starts_with("file://");
  }
  return reader.wrong().empty() && is_scip;
}

}  // namespace

Match match_scip(const Input& input) {
  WireReader reader(input.bytes);
  const auto first = reader.next();
  if (!first || first->number != index_field::metadata || !is_bytes(*first) || !is_metadata(first->bytes))
    return {Match::none, "no protobuf that begins with SCIP's metadata"};
  return {Match::sure, "a protobuf that begins with SCIP's metadata"};
}

base::Result<model::Imported> read_scip(const Input& input, const TakeModule&) {
  Collector out(input, "scip");
  RETURN_IF_ERROR(ScipReader(input, out).run());
  return finish(out, input);
}

}  // namespace importers::symbols
