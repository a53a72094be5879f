// One record on one device, stage by stage.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/corpus/replayed.h"
#include "tests/unit/reference/oracle.h"

namespace corpus {

/// In the order in which a record goes through them; `equal` is the end.
enum class Stage : uint8_t { parse, round_trip, verify, plan, replay, compare, equal };
std::string_view text(Stage stage);
inline constexpr int kStages = static_cast<int>(Stage::equal) + 1;

/// What kept a record from `equal`.
enum class Kind : uint8_t { none, refused, differs, crash, hang };
std::string_view text(Kind kind);

struct Row {
  std::string file, device;
  Stage stage = Stage::parse;  ///< at which it ended
  Kind kind = Kind::none;
  std::string where;   ///< instruction or output, "" if the whole module
  std::string reason;  ///< "" if equal
  double seconds = 0;
  std::map<std::string, int> classes;  ///< steps by class
  std::string explained;               ///< by differences.tsv, "" if it is not there
};

/// Called when a stage begins, so that a crash has a place.
using Entered = std::function<void(Stage)>;
/// `path`: of the module's text.
Row check(const oracle::Json& record, const std::string& path, const std::string& device, const Entered& entered);

/// "" if a recorded output agrees with what a replay left, else what is wrong.
std::string compare(const oracle::Json& output, const Outputs& outputs, oracle::Against against);

oracle::Json to_json(const Row& row);
Row from_json(const oracle::Json& json);

}  // namespace corpus
