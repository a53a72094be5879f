// XSpace { planes = 1 }, XPlane { name = 2, lines = 3, event_metadata = 4, stat_metadata = 5 }, XLine { name = 2, timestamp_ns = 3,
// events = 4, display_name = 11 }, XEvent { metadata_id = 1, offset_ps = 2, duration_ps = 3, stats = 4 }. Lines stand before the names
// that their events refer to, so a plane is walked twice.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "importers/tensorflow/profile_events.h"
#include "importers/tensorflow/xprof.h"
#include "src/base/text.h"
#include "src/base/wire.h"

namespace importers::tensorflow {
namespace {

constexpr int64_t kPicosOfNano = 1000;
constexpr int64_t kXplaneYear2000 = 946'684'800'000'000'000;  ///< ns since 1970
constexpr int64_t kMostPicos = INT64_MAX / 4;

/// Stats that tell what an event is of.
enum class Stat : uint8_t { other, annotation, hlo, group };
struct StatRow {
  std::string_view name;
  Stat stat;
};
constexpr StatRow kStats[] = {{"tf_op", Stat::annotation},
                              {"kernel_annotation", Stat::annotation},
                              {"annotation", Stat::annotation},
                              {"long_name", Stat::annotation},
                              {"hlo_op", Stat::hlo},
                              {"group_id", Stat::group}};

struct Plane {
  std::string_view name;
  std::vector<std::string_view> lines;
  std::unordered_map<int64_t, std::string_view> events, stats;  ///< names by metadata id
};

struct Line {
  std::string_view name;
  int64_t begin_ns = 0;
  std::vector<std::string_view> events;
};

/// Entry of a map<int64, X…Metadata>: id and name.
std::pair<int64_t, std::string_view> metadata(std::string_view entry) {
  std::pair<int64_t, std::string_view> result;
  base::WireReader outer(entry);
  while (const auto outer_field = outer.next()) {
    if (outer_field->number == 1) result.first = outer_field->integer();
    if (outer_field->number != 2 || !outer_field->is_bytes()) continue;
    base::WireReader inner(outer_field->bytes);
    while (const auto inner_field = inner.next()) {
      if (inner_field->number == 1 && !inner_field->is_bytes()) result.first = inner_field->integer();
      if (inner_field->number == 2) result.second = inner_field->bytes;
    }
  }
  return result;
}

/// False where the bytes are no protobuf.
bool read(std::string_view bytes, Plane& plane) {
  base::WireReader wire(bytes);
  while (const auto field = wire.next()) {
    if (!field->is_bytes()) continue;
    if (field->number == 2) plane.name = field->bytes;
    if (field->number == 3) plane.lines.push_back(field->bytes);
    if (field->number == 4) plane.events.insert(metadata(field->bytes));
    if (field->number == 5) plane.stats.insert(metadata(field->bytes));
  }
  return wire.wrong().empty();
}

bool read(std::string_view bytes, Line& line) {
  base::WireReader wire(bytes);
  while (const auto field = wire.next()) {
    if (field->number == 2 || (field->number == 11 && !field->bytes.empty())) line.name = field->bytes;
    if (field->number == 3) line.begin_ns = field->integer();
    if (field->number == 4 && field->is_bytes()) line.events.push_back(field->bytes);
  }
  return wire.wrong().empty();
}

class XplaneReader {
 public:
  explicit XplaneReader(const Input& input) : input_(input), events_(input, "tensorflow-xplane") {}

  base::Result<model::Imported> run() {
    find_start();
    base::WireReader space(input_.bytes);
    while (const auto space_field = space.next()) {
      if (space_field->number != 1 || !space_field->is_bytes()) continue;
      Plane plane;
      if (!read(space_field->bytes, plane) || !lines(plane)) return broken(space.offset_of(*space_field));
    }
    if (!space.wrong().empty()) return broken(space.at());
    return events_.finish();
  }

 private:
  /// Newer profiles count from their start, which the plane "Task Environment" tells: XPlane { stats = 6 }.
  void find_start() {
    base::WireReader space(input_.bytes);
    while (const auto space_field = space.next()) {
      Plane plane;
      if (space_field->number != 1 || !space_field->is_bytes() || !read(space_field->bytes, plane) || plane.name != "Task Environment")
        continue;
      base::WireReader wire(space_field->bytes);
      while (const auto field = wire.next()) {
        if (field->number != 6 || !field->is_bytes()) continue;
        int64_t id = 0, number = 0;
        base::WireReader stat(field->bytes);
        while (const auto part = stat.next()) (part->number == 1 ? id : number) = part->integer();
        if (name_in(plane.stats, id) == "profile_start_time") start_ns_ = std::clamp<int64_t>(number, 0, kMostPicos);
      }
    }
  }

  base::Error broken(size_t at) const {
    return base::Error{fmt::format("{}:1:{}: byte {} begins a plane that is damaged or cut; copy the profile again",
                                   base::escaped(input_.path), at + 1, at)};
  }

  bool lines(const Plane& plane) {
    std::vector<Line> lines(plane.lines.size());
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!read(plane.lines[i], lines[i])) return false;
      if (lines[i].begin_ns >= 0 && lines[i].begin_ns < kXplaneYear2000) lines[i].begin_ns += start_ns_;
      events_.add_line(plane.name, lines[i].name);
    }
    for (const Line& line : lines) {
      for (const std::string_view bytes : line.events) {
        if (!event(plane, line, bytes)) return false;
      }
    }
    return true;
  }

  bool event(const Plane& plane, const Line& line, std::string_view bytes) {
    ProfileEvent found{plane.name, line.name, {}, {}, {}, {}, line.begin_ns, 0};
    std::string group;
    base::WireReader wire(bytes);
    while (const auto field = wire.next()) {
      if (field->number == 1) found.name = name_in(plane.events, field->integer());
      if (field->number == 2 && !field->is_bytes()) found.begin_ns = begin_ns(line.begin_ns, field->integer());
      if (field->number == 3) found.duration_ns = std::clamp<int64_t>(field->integer(), 0, kMostPicos) / kPicosOfNano;
      if (field->number == 4 && field->is_bytes() && !stat(plane, field->bytes, found, group)) return false;
    }
    found.group = group;
    if (wire.wrong().empty()) events_.add(found);
    return wire.wrong().empty();
  }

  static int64_t begin_ns(int64_t line_ns, int64_t offset_ps) {
    return std::clamp(line_ns, -kMostPicos, kMostPicos) + std::clamp(offset_ps, -kMostPicos, kMostPicos) / kPicosOfNano;
  }

  static std::string_view name_in(const std::unordered_map<int64_t, std::string_view>& names, int64_t id) {
    const auto found = names.find(id);
    return found == names.end() ? std::string_view() : found->second;
  }

  /// XStat { metadata_id = 1, uint64 = 3, int64 = 4, str = 5, ref = 7 }.
  static bool stat(const Plane& plane, std::string_view bytes, ProfileEvent& event, std::string& group) {
    Stat stat = Stat::other;
    std::string_view text;
    int64_t number = -1;
    base::WireReader wire(bytes);
    while (const auto field = wire.next()) {
      if (field->number == 1) {
        const auto row = std::ranges::find(kStats, name_in(plane.stats, field->integer()), &StatRow::name);
        stat = row == std::end(kStats) ? Stat::other : row->stat;
      }
      if (field->number == 3 || field->number == 4) number = field->integer();
      if (field->number == 5) text = field->bytes;
      if (field->number == 7) text = name_in(plane.stats, field->integer());
    }
    if (stat == Stat::annotation && event.annotation.empty()) event.annotation = text;
    if (stat == Stat::hlo) event.hlo = text;
    if (stat == Stat::group && number >= 0) group = std::to_string(number);
    return wire.wrong().empty();
  }

  const Input& input_;
  ProfileEvents events_;
  int64_t start_ns_ = 0;  ///< since 1970
};

/// Names that the profiler gives its planes.
bool is_plane(std::string_view name) {
  return name.starts_with("/host:") || name.starts_with("/device:") || name == "Task Environment" || name.starts_with("#Chip");
}

}  // namespace

Match match_xplane(const Input& input) {
  base::WireReader space(input.bytes);
  for (int planes = 0; planes < 16; ++planes) {
    const auto part = space.next();
    if (!part || !part->is_bytes() || part->number > 4) break;
    if (part->number != 1) continue;
    base::WireReader plane(part->bytes);
    while (const auto field = plane.next()) {
      if (field->number == 2 && field->is_bytes() && is_plane(field->bytes))
        return {Match::sure, "an XSpace with plane " + std::string(field->bytes)};
      if (field->number > 2) break;
    }
  }
  return {Match::none, "no binary XSpace"};
}

base::Result<model::Imported> read_xplane(const Input& input, const TakeModule&) { return XplaneReader(input).run(); }

}  // namespace importers::tensorflow
