// Binary files that people take for programs: what they are, and how to get the text that is read.
#pragma once

#include <string>
#include <string_view>

namespace importers {

/// "this is a binary HLO dump (HloProto); set …"; "" for texts, for what importers read, and for what is not known. Protobufs are told
/// apart by their first fields; a prefix of the file is enough.
std::string binary_kind(std::string_view bytes);

}  // namespace importers
