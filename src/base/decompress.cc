// Both libraries are fed the whole input and asked for pieces of output, so that a bomb is stopped at the limit and never held.
#include "src/base/decompress.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "src/base/file.h"
#include "src/base/text.h"

namespace base {
namespace {

constexpr std::string_view kGzip("\x1f\x8b", 2), kZstd("\x28\xb5\x2f\xfd", 4);
constexpr size_t kPiece = size_t{1} << 20;  ///< zlib counts in 32 bits

Error wrong(std::string_view path, std::string_view what) { return {fmt::format("{}: {}", escaped(path), what)}; }

Error too_large(std::string_view path, size_t packed, size_t limit) {
  return wrong(path, fmt::format("unpacks to more than {}, the limit for {} compressed bytes; unpack it and give the plain file",
                                 human_bytes(static_cast<double>(limit)), packed));
}

/// Room for the next piece: never more than one byte above the limit.
size_t grow(std::string& out, size_t limit) {
  const size_t room = std::min(kPiece, limit + 1 - out.size());
  out.resize(out.size() + room);
  return room;
}

struct EndInflate {
  void operator()(z_stream* stream) const { inflateEnd(stream); }
};

Result<std::string> gunzip(std::string_view bytes, std::string_view path, size_t limit) {
  z_stream state{};
  if (inflateInit2(&state, 15 + 16) != Z_OK) return wrong(path, "cannot unpack: zlib does not start; free some memory");
  const std::unique_ptr<z_stream, EndInflate> end(&state);
  std::string out;
  size_t fed = 0;
  for (int said = Z_OK;;) {
    if (state.avail_in == 0) {
      const size_t piece = std::min(kPiece, bytes.size() - fed);
      state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + fed));  // zlib does not write to it
      state.avail_in = static_cast<uInt>(piece);
      fed += piece;
    }
    if (said == Z_STREAM_END) {  // another member may follow; padding of zeros may too
      const size_t at = fed - state.avail_in;
      if (bytes.find_first_not_of('\0', at) == std::string_view::npos) return out;
      if (compression_of(bytes.substr(at)) != "gzip")
        return wrong(path, fmt::format("gzip data ends at byte {} of {}, and something else follows; compress it again", at, bytes.size()));
      inflateReset(&state);
    }
    const size_t used = out.size(), room = grow(out, limit);
    state.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    state.avail_out = static_cast<uInt>(room);
    said = inflate(&state, Z_NO_FLUSH);
    out.resize(used + room - state.avail_out);
    if (out.size() > limit) return too_large(path, bytes.size(), limit);
    const bool cut = said == Z_BUF_ERROR || (said == Z_OK && state.avail_in == 0 && state.avail_out > 0 && fed == bytes.size());
    if (cut) return wrong(path, fmt::format("gzip data is cut after {} bytes; copy the file again", bytes.size()));
    if (said != Z_OK && said != Z_STREAM_END)
      return wrong(path, fmt::format("gzip data is damaged near byte {} of {}; copy the file again", fed - state.avail_in, bytes.size()));
  }
}

struct FreeZstd {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

Result<std::string> unzstd(std::string_view bytes, std::string_view path, size_t limit) {
  const std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (context == nullptr) return wrong(path, "cannot unpack: zstd does not start; free some memory");
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string out;
  size_t left = 1;  // 0: a frame is complete
  while (in.pos < in.size || left != 0) {
    const size_t used = out.size(), room = grow(out, limit), before = in.pos;
    ZSTD_outBuffer piece{out.data() + used, room, 0};
    left = ZSTD_decompressStream(context.get(), &piece, &in);
    out.resize(used + piece.pos);
    if (out.size() > limit) return too_large(path, bytes.size(), limit);
    if (ZSTD_isError(left) != 0)
      return wrong(path, fmt::format("zstd data is damaged near byte {} of {} ({}); copy the file again", in.pos, bytes.size(),
                                     ZSTD_getErrorName(left)));
    if (piece.pos == 0 && in.pos == before && left != 0)
      return wrong(path, fmt::format("zstd data is cut after {} bytes; copy the file again", bytes.size()));
  }
  return out;
}

}  // namespace

size_t UnpackLimit::of(size_t packed_bytes) const {
  const size_t grown = packed_bytes > most_bytes / ratio ? most_bytes : packed_bytes * ratio;
  return std::min(most_bytes, std::max(floor_bytes, grown));
}

std::string_view compression_of(std::string_view bytes) {
  return bytes.starts_with(kGzip) ? "gzip" : bytes.starts_with(kZstd) ? "zstd" : "";
}

Result<std::string> decompressed(std::string bytes, std::string_view path, UnpackLimit limit) {
  const std::string_view how = compression_of(bytes);
  if (how.empty()) return bytes;
  return how == "gzip" ? gunzip(bytes, path, limit.of(bytes.size())) : unzstd(bytes, path, limit.of(bytes.size()));
}

Result<std::string> read_unpacked_file(const std::string& path) {
  ASSIGN_OR_RETURN(std::string bytes, read_file(path));
  return decompressed(std::move(bytes), path == "-" ? "<stdin>" : path);
}

}  // namespace base
