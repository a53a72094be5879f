// profile query DB SQL
#include <CLI/CLI.hpp>
#include <iostream>
#include <iterator>
#include <memory>

#include "src/cli/command.h"
#include "src/cli/output.h"

namespace cli {

Action define_query(CLI::App& app) {
  struct Options {
    std::string database, sql;
    OutputOptions output;
  };
  auto options = std::make_shared<Options>();
  app.add_option("DB", options->database, "database")->required();
  app.add_option("SQL", options->sql,
                 "query, or - to read it from stdin; profile schema shows tables and views. Tables spell out columns by the end of their "
                 "names (_ns, _bytes, "
                 "_percent, …): 1500 in median_ns is \"1.50 µs\" under \"median\"; json, jsonl and csv have names and numbers as they are")
      ->required();
  options->output.define(app);
  return [options]() -> base::Result<base::Exit> {
    ASSIGN_OR_RETURN(const model::Reader reader, model::Reader::open(options->database));
    if (options->sql == "-") options->sql.assign(std::istreambuf_iterator<char>(std::cin), {});
    ASSIGN_OR_RETURN(model::Cursor cursor, reader.start(options->sql));
    RETURN_IF_ERROR(print_rows(cursor, options->output));
    return base::Exit::ok;
  };
}

}  // namespace cli
