// profile schema
#include "src/cli/command.h"
#include "src/cli/output.h"
#include "src/model/store.h"

namespace cli {

Action define_schema(CLI::App&) {
  return []() -> base::Result<base::Exit> {
    RETURN_IF_ERROR(print_out(model::schema()));
    return base::Exit::ok;
  };
}

}  // namespace cli
