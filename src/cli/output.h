// How commands print: format and width chosen once, results to stdout.
#pragma once

#include <string>

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

report::Style style_of_stdout();
/// Writes to stdout; a full disk is an Error. What follows in a pipe whose reader has gone is dropped: a success, because that is how
/// `| head` asks for less.
base::Status print_out(std::string_view text);
/// To stderr. Where it is closed or full the text is lost: there is nowhere left to say so.
void print_err(std::string_view text);
base::Status print_rows(const model::Rows& rows, const OutputOptions& options);

}  // namespace cli
