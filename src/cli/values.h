// Values on the command line: numbers are read whole or refused, so that a slip of the finger is not taken for another number; a name
// that is empty ("$UNSET") is not taken for none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace CLI {
class Validator;
}

namespace cli {

/// A decimal whole number within [low, high]: no 0x10, no 1e3, no 2.5, nothing after it.
CLI::Validator whole_number(int64_t low, int64_t high);
/// The same up to 2^64 - 1.
CLI::Validator unsigned_number();
/// A finite decimal number within [low, high].
CLI::Validator number(double low, double high);
/// `what` is "a name", "a file", …
CLI::Validator not_empty(std::string_view what);

}  // namespace cli
