// Two tables: first bytes that are like no others, and, for protobufs, what their first fields hold. Field numbers are those of the .proto
// files of each project.
#include "importers/binary.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "src/base/wire.h"

namespace importers {
namespace {

using base::WireField;
using base::WireReader;

struct Magic {
  size_t at;
  std::string_view bytes, what;
};
constexpr Magic kMagics[] = {
    {0, std::string_view("ML\xefR", 4), "this is MLIR bytecode; print it as HLO text (stablehlo-translate, xla-translate)"},
    {4, "TFL3", "this is a TensorFlow Lite model; give the log of its benchmark tool instead"},
    {0, std::string_view("\x93NUMPY", 6), "this is a NumPy array, not a program; --input NAME=FILE.npy gives it to a parameter"},
    {0, std::string_view("PK\x03\x04", 4), "this is a zip archive (a PyTorch or Keras file?); unpack it and give the program in it"},
    {0, std::string_view("\x89HDF", 4), "this is an HDF5 file of weights, not a program"},
    {0,
     std::string_view("\x7f"
                      "ELF",
                      4),
     "this is an executable or a library, not a program's dump"},
    {0,
     std::string_view("\xfd"
                      "7zXZ",
                      5),
     "this is compressed with xz; unpack it first (gzip and zstd are unpacked as they are read)"},
    {0, "BZh", "this is compressed with bzip2; unpack it first (gzip and zstd are unpacked as they are read)"},
    {0, std::string_view("\x1f\x8b", 2), "this is compressed twice; unpack it once"},
    {0, std::string_view("\x28\xb5\x2f\xfd", 4), "this is compressed twice; unpack it once"},
    {0, std::string_view("SQLite format 3\0", 16), "this is a database; `profile --replay` runs what it holds"},
};

/// The first fields of a message by number, as far as it can be read; a cut or unknown end does not matter.
class First {
 public:
  explicit First(std::string_view bytes) {
    WireReader reader(bytes);
    for (int i = 0; i < kMost; ++i) {
      const auto field = reader.next();
      if (!field) break;
      ++count_;
      if (field->number < fields_.size() && !fields_[field->number]) fields_[field->number] = field;
      is_known_ &= field->number < fields_.size();
    }
    is_sound_ = count_ > 0 && is_known_ && (reader.wrong().empty() || reader.wrong() == "a field is longer than what is left");
  }

  bool sound() const { return is_sound_; }
  bool number(uint32_t field) const { return has(field) && fields_[field]->type == WireField::Type::varint; }
  bool bytes(uint32_t field) const { return has(field) && fields_[field]->type == WireField::Type::bytes; }
  /// Bytes that are printable: a name.
  bool text(uint32_t field) const {
    return bytes(field) && !view(field).empty() && std::ranges::all_of(view(field), [](char c) { return c >= ' ' && c < 0x7f; });
  }
  std::string_view view(uint32_t field) const { return bytes(field) ? fields_[field]->bytes : std::string_view(); }
  First in(uint32_t field) const { return First(view(field)); }

 private:
  static constexpr int kMost = 64;
  bool has(uint32_t field) const { return fields_[field].has_value(); }
  std::array<std::optional<WireField>, 32> fields_;
  int count_ = 0;
  bool is_known_ = true, is_sound_ = false;
};

bool is_hlo_module(const First& m) { return m.text(1) && (m.text(2) || m.bytes(3)) && (m.number(5) || m.number(6)) && m.bytes(3); }
bool is_hlo(const First& m) { return is_hlo_module(m) || (m.bytes(1) && is_hlo_module(m.in(1))); }
bool is_paddle(const First& m) {
  const First block = m.in(1);
  return m.bytes(1) && block.sound() && block.number(1) && block.number(2) && (block.bytes(3) || block.bytes(4));
}
bool is_onnx(const First& m) { return m.number(1) && !m.bytes(1) && (m.bytes(7) || m.text(2)); }

struct Protobuf {
  bool (*is)(const First&);
  std::string_view what;
};
constexpr Protobuf kProtobufs[] = {
    {is_hlo, "this is a binary HLO dump (HloProto); set XLA_FLAGS=--xla_dump_hlo_as_text and give the .txt"},
    {is_paddle,
     "this is a binary Paddle program (ProgramDesc); print it: print(paddle.static.deserialize_program(open(FILE, 'rb').read()))"},
    {is_onnx, "this is an ONNX model, which is not read; give the HLO text that its compiler dumps"},
};

/// TFRecord files begin with a length and its checksum, then the first event: a time and "brain.Event:2".
bool is_events(std::string_view bytes) { return bytes.substr(0, 64).find("brain.Event:") != std::string_view::npos; }

}  // namespace

std::string binary_kind(std::string_view bytes) {
  for (const Magic& magic : kMagics) {
    if (bytes.substr(std::min(magic.at, bytes.size())).starts_with(magic.bytes)) return std::string(magic.what);
  }
  if (is_events(bytes)) return "this is a TensorBoard event file; give the program's text or the log that it was made of";
  const First message(bytes);
  if (!message.sound()) return "";
  const auto found = std::ranges::find_if(kProtobufs, [&](const Protobuf& row) { return row.is(message); });
  return found == std::end(kProtobufs) ? "" : std::string(found->what);
}

}  // namespace importers
