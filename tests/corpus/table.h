// What came of all records: a table by directory, reasons by count.
#pragma once

#include <string>
#include <vector>

#include "tests/corpus/check.h"

namespace corpus {

/// One line a directory and one for all, in Markdown: how many came through each stage, and what became of the others.
std::string table(const std::vector<Row>& rows, const std::string& device);
/// "  12  differs  sum #, expected #  (first_file.hlo: fusion.3)": reasons with numbers taken out, most frequent first, `most` of them.
std::string reasons(const std::vector<Row>& rows, const std::string& device, size_t most);
/// A reason with every number, and every name in it that holds one, replaced by '#'.
std::string pattern_of(const std::string& reason);

}  // namespace corpus
