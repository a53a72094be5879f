// Hashes of the project: XXH3 for identities inside it, SHA-256 for files. Both come from libraries.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace base {

uint64_t hash64(std::string_view bytes);
/// 32 hexadecimal digits of XXH3-128: the key of a step, a kernel.
std::string hash128_hex(std::string_view bytes);
/// 64 hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace base
