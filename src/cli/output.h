// How commands print: format and width chosen once, results to stdout.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include "src/base/result.h"
#include "src/model/store.h"
#include "src/report/report.h"

namespace CLI {
class App;
}

namespace cli {

/// Options that commands which print tables share.
struct OutputOptions {
  std::string format = "table";
  void define(CLI::App& app);
};

/// Where memory runs out in spite of the plan.
inline constexpr std::string_view kNoMemory = "not enough memory; free some, raise the limit (ulimit -v), or try --computation NAME";
/// What `work` returns; an Error where memory runs out in it.
template <typename Work>
base::Status within_memory(Work work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return base::Error{std::string(kNoMemory)};
  }
}

report::Style style_of_stdout();
/// Is there a terminal that moves its cursor and shows colours? TERM=dumb, or none, is one that only types.
bool draws(int descriptor);
/// Writes to stdout; a full disk is an Error. What follows in a pipe whose reader has gone is dropped: a success, because that is how
/// `| head` asks for less.
base::Status print_out(std::string_view text);
/// True once that reader has gone: nobody will read what still has to be found.
bool reader_has_gone();
/// To stderr. Where it is closed or full the text is lost: there is nowhere left to say so.
void print_err(std::string_view text);
base::Status print_rows(const model::Rows& rows, const OutputOptions& options);
/// Row by row, for results that may not fit into memory. Ends early when the reader has gone.
base::Status print_rows(model::Cursor& cursor, const OutputOptions& options);

}  // namespace cli
