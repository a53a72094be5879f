// A scope that all names have tells none from another. The rest is left out by how many names share it, as long as what is left stands in
// no other name.
#include "ui/distinct.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <list>
#include <map>
#include <set>
#include <utility>

#include "src/base/text.h"
#include "src/report/display.h"
#include "ui/plot_data.h"

namespace ui {
namespace {

constexpr std::string_view kLeftOut = "…";
/// Names that are longer, in bytes and scopes, are one part: labels are made in every frame.
constexpr size_t kMostBytes = 1024, kMostParts = 32;

struct Part {
  std::string_view text;
  char before = 0;  ///< what stands between it and the part before: '/' or '.'
  bool kept = true;
};
using Parts = std::vector<Part>;

bool is_number(std::string_view text) { return std::ranges::all_of(text, base::is_digit); }

/// Where the part that begins at `begin` ends: the number in "fusion.12" belongs to it.
size_t end_of_part(std::string_view name, size_t begin) {
  size_t end = std::min(name.find_first_of("/.", begin), name.size());
  while (end < name.size() && name[end] == '.') {
    const size_t next = std::min(name.find_first_of("/.", end + 1), name.size());
    if (next == end + 1 || !is_number(name.substr(end + 1, next - end - 1))) break;
    end = next;
  }
  return end;
}

Parts parts_of(std::string_view name) {
  Parts parts;
  if (name.size() > kMostBytes) return {{name}};
  for (size_t begin = 0; begin <= name.size();) {
    const size_t end = end_of_part(name, begin);
    parts.push_back({name.substr(begin, end - begin), begin == 0 ? '\0' : name[begin - 1]});
    begin = end + 1;
  }
  return parts.size() > kMostParts ? Parts{{name}} : parts;
}

std::string joined(const Parts& parts) {
  std::string out;
  bool before = true;  // was the part before kept?
  for (const Part& part : parts) {
    const bool beside_dots = part.before == '.' && !(part.kept && before);  // the "…" divides as well as a point
    if (part.before != 0 && !beside_dots && (part.kept || before)) out += part.before;
    if (part.kept || before) out += part.kept ? part.text : kLeftOut;
    before = part.kept;
  }
  return out;
}

struct Name {
  std::string_view whole;
  Parts parts;
};

/// In how many of the names each scope stands.
std::map<std::string_view, size_t> counts_of(const std::vector<Name>& names) {
  std::map<std::string_view, size_t> counts;
  for (const auto& [whole, parts] : names) {
    std::set<std::string_view> own;
    for (const Part& part : parts) own.insert(part.text);
    for (const std::string_view text : own) ++counts[text];
  }
  return counts;
}

/// Do the kept parts, in their order, stand in no other name?
bool is_told(const Name& name, std::span<const Name> all) {
  return std::ranges::none_of(all, [&](const Name& other) {
    if (other.whole == name.whole) return false;
    auto at = other.parts.begin();
    for (const Part& part : name.parts) {
      if (!part.kept) continue;
      at = std::ranges::find(at, other.parts.end(), part.text, &Part::text);
      if (at == other.parts.end()) return false;
      ++at;
    }
    return true;
  });
}

/// Leaves out the scope that most names have, of several the one nearest the middle, and not one that tells the name. False: there is none.
bool leave_one_out(Name& name, std::span<const Name> all, const std::map<std::string_view, size_t>& counts) {
  std::vector<Part*> order;
  for (size_t i = 0; i + 1 < name.parts.size(); ++i) {
    if (name.parts[i].kept) order.push_back(&name.parts[i]);
  }
  const auto from_middle = [&](const Part* part) { return std::abs(2 * (part - name.parts.data()) - std::ssize(name.parts)); };
  std::ranges::stable_sort(order, {},
                           [&](const Part* part) { return std::pair(-static_cast<int64_t>(counts.at(part->text)), from_middle(part)); });
  const bool told = is_told(name, all);
  for (Part* part : order) {
    part->kept = false;
    if (!told || is_told(name, all)) return true;
    part->kept = true;
  }
  return false;
}

size_t width_of(const std::string& text) { return report::display_width(report::displayable(text)); }

/// Parts that are long are cut, that of most names first.
std::string fitted(Name name, size_t most, const std::map<std::string_view, size_t>& counts) {
  constexpr size_t kLeastPart = 9;
  std::vector<Part*> order;
  for (Part& part : name.parts) {
    if (part.kept && part.text.size() > kLeastPart) order.push_back(&part);
  }
  std::ranges::stable_sort(order, std::greater<>(), [&](const Part* part) { return std::pair(counts.at(part->text), part->text.size()); });
  std::list<std::string> cut;
  for (Part* part : order) {
    const size_t width = width_of(joined(name.parts)), length = part->text.size();
    if (width <= most) break;
    part->text = cut.emplace_back(short_text(part->text, std::max(kLeastPart, length - std::min(width - most, length))));
  }
  return short_text(joined(name.parts), most);
}

}  // namespace

std::vector<std::string> distinct_names(std::span<const std::string_view> names, size_t most) {
  std::vector<Name> all;
  for (const std::string_view name : names) all.push_back({name, parts_of(name)});
  const auto counts = counts_of(all);
  const bool several = std::ranges::any_of(names, [&](std::string_view name) { return name != names.front(); });
  std::vector<std::string> out;
  for (size_t n = 0; n < all.size(); ++n) {
    Name name = all[n];  // the others are held against whole names
    for (size_t i = 0; several && i + 1 < name.parts.size(); ++i) name.parts[i].kept = counts.at(name.parts[i].text) < all.size();
    while (width_of(joined(name.parts)) > most && leave_one_out(name, all, counts)) {}
    out.push_back(fitted(std::move(name), most, counts));
  }
  return out;
}

const std::vector<std::string>& DistinctNames::of(std::span<const std::string_view> names, size_t most) {
  if (most == most_ && std::ranges::equal(names, names_)) return texts_;
  names_.assign(names.begin(), names.end());
  most_ = most;
  return texts_ = distinct_names(names, most);
}

}  // namespace ui
