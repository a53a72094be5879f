// From the view fusion_total.
#include "src/cli/fusion_line.h"

#include <fmt/format.h>

#include "src/base/text.h"

namespace cli {

base::Result<std::string> fusion_line(const model::Reader& reader, int64_t run, std::optional<double> predicted_ns) {
  const model::Cell id{model::Cell::Kind::integer, run, 0, ""};
  ASSIGN_OR_RETURN(const model::Rows found,
                   reader.query("SELECT measured, refused, pays, neutral, costs, measured_saved_ns, predicted_saved_ns FROM fusion_total "
                                "WHERE run = CASE WHEN ?1 = 0 THEN (SELECT max(id) FROM run) ELSE ?1 END",
                                {{id}}));
  if (found.rows.empty()) return std::string();
  const auto& cells = found.rows[0];
  std::string line = fmt::format("Fusions: {} measured beside their parts: {} pay, {} neutral, {} cost", cells[0].integer, cells[2].integer,
                                 cells[3].integer, cells[4].integer);
  if (cells[5].kind != model::Cell::Kind::null) {
    line += fmt::format("; together they save {} a pass", base::human_seconds(cells[5].real * 1e-9));
    if (!predicted_ns && cells[6].kind != model::Cell::Kind::null) predicted_ns = cells[6].real;
    if (predicted_ns) line += fmt::format(" (predicted {})", base::human_seconds(*predicted_ns * 1e-9));
  }
  if (cells[1].integer > 0) line += fmt::format("; {} could not be taken apart", cells[1].integer);
  return line + "\n";
}

}  // namespace cli
