// The four tables between the header and the first computation (since 2025-12): an instruction's metadata then has only a frame's number.
// The text is kept as written; the innermost line of each frame is looked up, so that an origin has its file and line.
#include <fmt/format.h>

#include "importers/hlo/parser.h"
#include "src/ir/escape.h"

namespace importers::hlo {
namespace {

/// `{file_name_id=1 line=10 …}`: the number after a key, 0 if it is not there.
int64_t field(std::string_view group, std::string_view key) {
  Lexer lexer(group);
  lexer.take('{');
  while (!lexer.at_end() && lexer.peek() != '}') {
    const bool wanted = lexer.word() == key;
    if (!lexer.take('=')) return 0;
    const auto value = lexer.integer();
    if (!value || wanted) return value.value_or(0);
    lexer.take(',');
  }
  return 0;
}

int32_t narrow(int64_t value) { return value == static_cast<int32_t>(value) ? static_cast<int32_t>(value) : 0; }

template <typename T>
const T* at(const std::vector<T>& table, int64_t id) {
  return id >= 1 && id <= static_cast<int64_t>(table.size()) ? &table[static_cast<size_t>(id - 1)] : nullptr;
}

}  // namespace

/// Entries are a number, which says nothing beside its place, and a string or a group in braces.
bool Parser::parse_stack_frames() {
  static constexpr std::string_view kTables[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
  std::vector<std::string_view> entries[std::size(kTables)];
  lexer_.skip();
  const size_t begin = lexer_.at();
  size_t end = begin;
  for (size_t table = 0; table < std::size(kTables); ++table) {
    if (!lexer_.take_word(kTables[table])) continue;
    end = lexer_.at();
    while (lexer_.peek() >= '0' && lexer_.raw() <= '9') {
      if (!lexer_.integer()) return expected("a number");
      const char next = lexer_.peek();
      const std::string_view entry = next == '"' ? lexer_.quoted() : next == '{' ? lexer_.group() : std::string_view();
      if (entry.empty()) return expected(fmt::format("an entry of {}", kTables[table]));
      entries[table].push_back(entry);
      end = lexer_.at();
    }
  }
  module_.stack_frames = module_.strings.intern(lexer_.text().substr(begin, end - begin));
  std::vector<ir::StringId> files;
  for (const std::string_view file : entries[0]) files.push_back(module_.strings.intern(ir::unescaped(file)));
  std::vector<FramePlace> locations;
  for (const std::string_view location : entries[2]) {
    const ir::StringId* file = at(files, field(location, "file_name_id"));
    const FramePlace place{file == nullptr ? ir::StringId::empty : *file, narrow(field(location, "line")),
                           narrow(field(location, "column"))};
    locations.push_back(file == nullptr ? FramePlace() : place);
  }
  for (const std::string_view frame : entries[3]) {
    const FramePlace* place = at(locations, field(frame, "file_location_id"));
    frames_.push_back(place == nullptr ? FramePlace() : *place);
  }
  return true;
}

/// Fills in the file and line of a frame where the metadata does not say them.
void Parser::place_origin(ir::Origin& origin) const {
  const FramePlace* place = at(frames_, origin.stack_frame_id);
  if (place == nullptr || origin.source_file != ir::StringId::empty) return;
  origin.source_file = place->file;
  origin.source_line = place->line;
  origin.source_column = place->column;
}

}  // namespace importers::hlo
