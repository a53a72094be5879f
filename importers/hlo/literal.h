// Elements of constants by type.
#pragma once

#include <string_view>

#include "importers/hlo/lexer.h"
#include "src/ir/literal.h"

namespace importers::hlo {

/// Reads elements at a cursor and appends their bytes. False: element_error() says why, the cursor is at the place.
class LiteralReader {
 public:
  explicit LiteralReader(Lexer& lexer) : lexer_(lexer) {}
  bool element(ir::Literal& out, ir::Type type);
  bool level(ir::Literal& out, const ir::Shape& shape, size_t dim);
  bool at_sparse(const ir::Shape& shape);
  /// `{[0, 1]: 5, [2, 3]: 6}`, of sparse arrays: sets elements of an array of zeros.
  bool sparse(ir::Literal& out, const ir::Shape& shape);
  std::string_view element_error() const;

 private:
  std::optional<int64_t> position(const ir::Shape& shape);
  bool real(ir::Literal& out, ir::Type type);
  bool nan(ir::Literal& out, ir::Type type, bool negative);
  bool integer(ir::Literal& out, ir::Type type);
  bool digit(ir::Literal& out, ir::Type type);
  static bool in_range(const ir::TypeInfo& info, int64_t value);

  Lexer& lexer_;
  std::string_view what_;
};

}  // namespace importers::hlo
