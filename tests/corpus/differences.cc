// Reading the list and keeping account of which of its lines are needed.
#include "tests/corpus/differences.h"

#include <fmt/format.h>

#include <array>
#include <sstream>

#include "src/base/file.h"

namespace corpus {
namespace {

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

base::Result<Differences> Differences::read(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, base::read_file(path));
  Differences differences;
  std::istringstream in(text);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    const auto fields = fields_of(line);
    if (fields.size() != 4 || fields[3].empty())
      return base::Error{fmt::format("{}:{}: expected device, file, kind, reason, separated by tabs", path, number)};
    const std::vector<std::string> devices = fields[0] == "both" ? std::vector<std::string>{"reference", "cpu"} : std::vector{fields[0]};
    for (const std::string& device : devices) differences.lines_[{device, fields[1]}] = {fields[2], fields[3]};
  }
  return differences;
}

void Differences::explain(Row& row) {
  const auto it = lines_.find({row.device, row.file});
  if (it == lines_.end()) return;
  it->second.seen = true;
  if (it->second.kind != text(row.kind)) return;
  it->second.used = true;
  row.explained = it->second.reason;
}

std::vector<std::string> Differences::stale() const {
  std::vector<std::string> out;
  for (const auto& [key, line] : lines_) {
    if (line.seen && !line.used) out.push_back(key.first + " " + key.second + ": listed as " + line.kind);
  }
  return out;
}

}  // namespace corpus
