// Texts up to 64 KiB stay readable for the sqlite3 shell; longer ones, and those that are not UTF-8 (Python would refuse them),
// become one zstd frame. Level 1: BERT's 0.7 MB shrink to a ninth in 2 ms; of programs the next levels make no less and take longer.
#include "src/model/content.h"

#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "src/base/hash.h"
#include "src/base/text.h"

namespace model {
namespace {

constexpr size_t kLongestPlain = size_t{64} << 10;
constexpr int64_t kLongestText = int64_t{1} << 32;  ///< of a damaged row we believe no larger size
constexpr int kLevel = 1;

/// Can be read as a text by every client: UTF-8 without controls other than white space.
bool is_plain(std::string_view text) {
  std::string spaces_only(text);
  std::replace_if(
      spaces_only.begin(), spaces_only.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
  return base::escaped(spaces_only) == spaces_only;
}

base::Result<std::string> compressed(std::string_view text) {
  const size_t bound = ZSTD_compressBound(text.size());
  const auto frame = std::make_unique_for_overwrite<char[]>(bound);  // not cleared: most of a large one is never touched
  const size_t size = ZSTD_compress(frame.get(), bound, text.data(), text.size(), kLevel);
  if (ZSTD_isError(size) != 0)
    return base::Error{fmt::format("cannot compress a program text: {}; free some memory", ZSTD_getErrorName(size))};
  return std::string(frame.get(), size);
}

base::Error damaged(const std::string& path, std::string_view what) {
  return {fmt::format("{}: is damaged: {}; import the program again into a new file", base::escaped(path), what)};
}

base::Result<std::string> decompressed(std::string_view frame, int64_t bytes, const std::string& path) {
  const base::Error cannot = damaged(path, "a stored text cannot be unpacked");
  if (bytes < 0 || bytes > kLongestText || ZSTD_getFrameContentSize(frame.data(), frame.size()) != static_cast<unsigned long long>(bytes))
    return cannot;
  std::string text(static_cast<size_t>(bytes), '\0');
  if (ZSTD_decompress(text.data(), text.size(), frame.data(), frame.size()) != text.size()) return cannot;
  return text;
}

/// Its row, or 0.
base::Result<int64_t> known_content(const Database& database, std::string_view hash) {
  ASSIGN_OR_RETURN(Statement find, database.prepare("SELECT id FROM content WHERE hash = ?1"));
  find.bind(1, hash);
  ASSIGN_OR_RETURN(const bool known, find.step());
  return known ? find.integer(0) : 0;
}

}  // namespace

base::Result<PackedText> packed(std::string_view text) {
  PackedText result{base::hash128_hex(text), static_cast<int64_t>(text.size()), {}, {}};
  if (text.size() <= kLongestPlain && is_plain(text)) {
    result.plain = text;
  } else {
    ASSIGN_OR_RETURN(result.zstd, compressed(text));
  }
  return result;
}

base::Result<int64_t> add_content(Database& database, std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t known, known_content(database, base::hash128_hex(text)));
  if (known != 0) return known;
  ASSIGN_OR_RETURN(const PackedText content, packed(text));
  return add_content(database, content);
}

base::Result<int64_t> add_content(Database& database, const PackedText& content) {
  ASSIGN_OR_RETURN(const int64_t known, known_content(database, content.hash));
  if (known != 0) return known;
  ASSIGN_OR_RETURN(Statement insert, database.prepare("INSERT INTO content (hash, bytes, plain, zstd) VALUES (?1, ?2, ?3, ?4)"));
  const std::string_view hash = content.hash;
  if (content.zstd.empty()) {
    RETURN_IF_ERROR(insert.run(hash, content.bytes, std::string_view(content.plain), Null{}));
  } else {
    RETURN_IF_ERROR(insert.run(hash, content.bytes, Null{}, std::as_bytes(std::span(content.zstd))));
  }
  return database.last_id();
}

base::Result<std::string> read_content(const Database& database, int64_t content) {
  ASSIGN_OR_RETURN(Statement find, database.prepare("SELECT bytes, plain, zstd, hash FROM content WHERE id = ?1"));
  find.bind(1, content);
  ASSIGN_OR_RETURN(const bool found, find.step());
  if (!found) return damaged(database.path(), fmt::format("text {} is missing", content));
  std::string text;
  if (find.kind(1) == Statement::Kind::text) {
    text = find.text(1);
  } else {
    ASSIGN_OR_RETURN(text, decompressed(find.text(2), find.integer(0), database.path()));
  }
  // SQLite keeps no checksums of its pages: a flipped byte of the program would be read as another program.
  if (base::hash128_hex(text) != find.text(3)) return damaged(database.path(), "a stored text is not what was written");
  return text;
}

}  // namespace model
