// The rows of one module.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "src/ir/module.h"
#include "src/model/row_batch.h"

namespace model {

/// Ids that the next rows get. They are known beforehand: operands and callees are written without a look-up, and rows while others wait.
struct NextIds {
  int64_t module = 1, computation = 1, instruction = 1, shape = 1, place = 1, string = 1, work = 1, op = 1, scope = 1;
  static base::Result<NextIds> read(const Database& database);
};

/// What modules are written to.
struct ProgramTables {
  RowBatch computation, instruction, call, shape, place, string, work, op, scope, op_share, place_share;
  static base::Result<ProgramTables> make(Database& database, Background& background);
  void flush();
};

class OperatorRows;

/// Writes everything of a module but its own row, whose id is next.module, and moves the other ids on. Operators that have not been given
/// are taken from the instructions' metadata. Returns the row of each computation's first instruction.
std::vector<int64_t> write_module(const ir::Module& module, OperatorRows& operators, NextIds& next, ProgramTables& tables);

}  // namespace model
