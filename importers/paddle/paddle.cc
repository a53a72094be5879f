// The importer: every program of a file becomes a module with its operators; one that cannot be replayed hands over its operators alone,
// and says why.
#include "importers/paddle/paddle.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <span>
#include <unordered_map>

#include "importers/paddle/describe.h"
#include "importers/paddle/listing.h"
#include "importers/paddle/lowering.h"
#include "src/base/hash.h"
#include "src/base/parallel.h"
#include "src/base/text.h"

namespace importers::paddle {
namespace {

constexpr size_t kLongestNote = 4096;

/// Notes with lines: offsets are sorted and the text is walked once.
std::vector<model::Note> placed(std::string_view text, std::vector<PlacedNote> notes) {
  std::ranges::stable_sort(notes, {}, &PlacedNote::offset);
  std::vector<model::Note> made;
  size_t at = 0, begin = 0;
  int64_t line = 1;
  for (PlacedNote& note : notes) {
    for (; at < std::min(note.offset, text.size()); ++at) {
      if (text[at] == '\n') ++line, begin = at + 1;
    }
    made.push_back({line, static_cast<int64_t>(note.offset - begin) + 1, std::move(note.code), std::move(note.text)});
  }
  return made;
}

std::string stem(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash != std::string_view::npos) path.remove_prefix(slash + 1);
  const std::string_view name = path.substr(0, path.find('.'));
  return name.empty() ? "program" : std::string(name);
}

struct Made {
  std::vector<model::Operator> operators;
  base::Result<ir::Module> module;
  std::unique_ptr<Lowering> lowering;  ///< done with; freed after the module has been taken, while its rows are made
};

/// Notes about operators stand at them too.
void tell_operators(std::vector<Described>& described, std::span<const PlacedNote> notes) {
  std::unordered_map<size_t, size_t> by_offset;
  for (size_t k = 0; k < described.size() && !notes.empty(); ++k) by_offset.emplace(described[k].op->offset, k);
  for (const PlacedNote& placed : notes) {
    const auto found = by_offset.find(placed.offset);
    if (found == by_offset.end()) continue;
    std::string& note = described[found->second].record.note;
    if (note.size() < kLongestNote) note += (note.empty() ? "" : "; ") + placed.text;
  }
}

Made lower(const paddle::Program& program, const Input& input, std::string_view text, const std::string& name,
           std::vector<PlacedNote>& notes) {
  const size_t before = notes.size();
  auto making = std::async(beside(program), [&] { return std::make_unique<Lowering>(program, input, name, notes); });
  Describer describer(program, text);
  std::vector<Described> described = describer.named();
  Lowering::Names names(described.size());
  for (const Described& one : described) names[one.op->number] = one.record.name;
  auto lowering = making.get();
  auto describing = std::async(beside(program), [&] {
    for (Described& one : described) describer.describe(one);
  });
  lowering->run(names);
  describing.get();
  tell_operators(described, std::span(notes).subspan(before));
  std::vector<model::Operator> operators(described.size());
  base::for_all(operators.size(), kWorthThread, [&](size_t k) {
    model::Operator& record = described[k].record;
    record.shape = lowering->shape_of(*described[k].op);
    record.shape_from = record.shape.empty() ? model::Known::no : model::Known::given;
    operators[k] = std::move(record);
  });
  auto module = lowering->finish();
  return {std::move(operators), std::move(module), std::move(lowering)};
}

base::Status hand_over(const Input& input, const paddle::Program& program, const std::string& name, Listing& listing,
                       model::Imported& imported, const TakeModule& take) {
  Made made = lower(program, input, listing.text, name, listing.notes);
  if (!made.module.ok()) {
    listing.notes.push_back({program.offset, "no-module", fmt::format("cannot be replayed: {}", made.module.error().message)});
    std::ranges::move(made.operators, std::back_inserter(imported.operators));
    return {};
  }
  ++imported.source.modules;
  imported.source.computations += static_cast<int64_t>(made.module->computations.size());
  return take(imported.source, {*std::move(made.module), std::move(made.operators)}, "");
}

std::string options_text(const Options& options) {
  std::string text;
  if (options.batch > 0) text += fmt::format("batch={}", options.batch);
  if (options.scale > 1) text += fmt::format("{}scale={}", text.empty() ? "" : " ", options.scale);
  return text;
}

}  // namespace

base::Result<model::Imported> read(const Input& input, const TakeModule& take) {
  auto sha256 = std::async(std::launch::async, base::sha256_hex, input.bytes);
  ASSIGN_OR_RETURN(Listing listing, read_listing(input));
  model::Imported imported;
  imported.source.path = input.path;
  imported.source.format = "paddle";
  imported.source.sha256 = sha256.get();
  imported.source.options = options_text(input.options);
  imported.source.bytes = static_cast<int64_t>(input.bytes.size());
  imported.source.records = "variables and operators";
  imported.source.read = listing.read;
  imported.source.dropped = listing.dropped;
  imported.source.kept = listing.read - listing.dropped;
  size_t number = 0;
  for (const paddle::Program& program : listing.programs) {
    const std::string name = listing.programs.size() == 1 ? stem(input.path) : fmt::format("{}_{}", stem(input.path), ++number);
    if (!program.title.empty() || listing.programs.size() > 1)
      listing.notes.push_back(
          {program.offset, "program-found", fmt::format("{} program '{}': {}", name_of(program.form), name, base::escaped(program.title))});
    RETURN_IF_ERROR(hand_over(input, program, name, listing, imported, take));
  }
  imported.notes = placed(listing.text, std::move(listing.notes));
  return imported;
}

}  // namespace importers::paddle
