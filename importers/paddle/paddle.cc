// The importer: every program of a file becomes a module with its operators; one that cannot be replayed hands over its operators alone,
// and says why.
#include "importers/paddle/paddle.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <span>
#include <utility>

#include "importers/paddle/describe.h"
#include "importers/paddle/listing.h"
#include "importers/paddle/lowering.h"
#include "src/base/hash.h"
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
    const size_t to = std::min(note.offset, text.size());
    for (; (at = text.find('\n', at)) < to; ++at) ++line, begin = at + 1;
    at = to;
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

/// Notes about operators stand at them too.
void tell_operators(std::span<Described> described, std::span<const PlacedNote> notes) {
  const auto offset_of = [](const PlacedNote* note) { return note->offset; };
  std::vector<const PlacedNote*> by_offset;
  for (const PlacedNote& note : notes) by_offset.push_back(&note);
  std::ranges::stable_sort(by_offset, {}, offset_of);
  for (size_t k = 0; k < described.size() && !notes.empty(); ++k) {
    std::string& note = described[k].note;
    for (const PlacedNote* placed : std::ranges::equal_range(by_offset, described[k].op->offset, {}, offset_of)) {
      if (note.size() < kLongestNote) note += (note.empty() ? "" : "; ") + placed->text;
    }
  }
}

/// Operators on their way to the store: in parts, each when it has been lowered.
class Handing {
 public:
  Handing(const std::shared_ptr<Listing>& listing, const paddle::Program& program, const TakeModule& take, const model::Source& source)
      : shared_(std::make_shared<Shared>(Shared{listing, {program, listing->text}, {}})),
        program_(program),
        notes_(listing->notes),
        noted_(notes_.size()),
        take_(take),
        source_(source),
        goes_ahead_(take.takes_ahead() && listing->programs.size() == 1) {}  // of several those without a module come last

  Lowering::Names names() {
    shared_->all = shared_->describer.named();
    Lowering::Names names(shared_->all.size());
    for (const Described& one : shared_->all) names[one.op->number] = one.name;
    return names;
  }

  /// Lowers all.
  base::Status run(const Lowering::Names& names, Lowering& lowering) {
    constexpr size_t kPart = 2048;
    base::Status handed;
    lowering.run(names, [&](size_t done) {
      tell_shapes(lowering, done);
      if (goes_ahead_ && handed.ok() && done % kPart == 0 && done < count()) handed = hand();
    });
    tell_shapes(lowering, count());
    return handed.ok() ? hand() : handed;
  }

  std::vector<model::Operator> left() { return std::move(left_); }  ///< those that do not go ahead of their module

 private:
  /// What the thread needs that makes rows.
  struct Shared {
    std::shared_ptr<const Listing> listing;
    Describer describer;
    std::vector<Described> all;
  };

  size_t count() const { return program_.blocks[0].operators.size(); }

  /// Of those before operator `done` of the program's own block, and of what stands in their blocks.
  void tell_shapes(Lowering& lowering, size_t done) {
    for (; told_ < shared_->all.size() && (done == count() || shared_->all[told_].op->number != done); ++told_) {
      shared_->all[told_].shape = lowering.shape_of(*shared_->all[told_].op);
    }
  }

  /// Those whose shapes are told.
  base::Status hand() {
    const size_t begin = std::exchange(handed_, told_);
    const std::span<Described> part = std::span(shared_->all).subspan(begin, told_ - begin);
    tell_operators(part, std::span(notes_).subspan(std::exchange(noted_, notes_.size())));
    const auto make = [shared = shared_, begin](size_t k) { return shared->describer.describe(shared->all[begin + k]); };
    if (!goes_ahead_) return left_ = TakeModule::made({part.size(), make}), base::Status();
    const auto none = take_.ahead(source_, {part.size(), make});
    return none.ok() ? base::Status() : base::Status(none.error());
  }

  const std::shared_ptr<Shared> shared_;
  const paddle::Program& program_;
  const std::vector<PlacedNote>& notes_;
  size_t noted_, told_ = 0, handed_ = 0;  ///< notes; of all
  const TakeModule& take_;
  const model::Source& source_;
  const bool goes_ahead_;
  std::vector<model::Operator> left_;
};

base::Status hand_over(const Input& input, const paddle::Program& program, const std::string& name, const std::shared_ptr<Listing>& listing,
                       model::Imported& imported, const TakeModule& take) {
  Handing handing(listing, program, take, imported.source);
  auto making = std::async(beside(program), [&] { return std::make_unique<Lowering>(program, input, name, listing->notes); });
  const Lowering::Names names = handing.names();
  const std::unique_ptr<Lowering> lowering = making.get();  // freed after the module has been taken, while its rows are made
  RETURN_IF_ERROR(handing.run(names, *lowering));
  auto module = lowering->finish();
  if (!module.ok()) {
    listing->notes.push_back({program.offset, "no-module", fmt::format("cannot be replayed: {}", module.error().message)});
    std::ranges::move(handing.left(), std::back_inserter(imported.operators));
    return {};
  }
  ++imported.source.modules;
  imported.source.computations += static_cast<int64_t>(module->computations.size());
  return take(imported.source, {*std::move(module), handing.left()}, "");
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
  ASSIGN_OR_RETURN(Listing read, read_listing(input));
  const auto listing = std::make_shared<Listing>(std::move(read));
  model::Imported imported;
  imported.source.path = input.path;
  imported.source.format = "paddle";
  imported.source.sha256 = sha256.get();
  imported.source.options = options_text(input.options);
  imported.source.bytes = static_cast<int64_t>(input.bytes.size());
  imported.source.records = "variables and operators";
  imported.source.read = listing->read;
  imported.source.dropped = listing->dropped;
  imported.source.kept = listing->read - listing->dropped;
  size_t number = 0;
  for (const paddle::Program& program : listing->programs) {
    const std::string name = listing->programs.size() == 1 ? stem(input.path) : fmt::format("{}_{}", stem(input.path), ++number);
    if (!program.title.empty() || listing->programs.size() > 1)
      listing->notes.push_back(
          {program.offset, "program-found", fmt::format("{} program '{}': {}", name_of(program.form), name, base::escaped(program.title))});
    RETURN_IF_ERROR(hand_over(input, program, name, listing, imported, take));
  }
  imported.notes = placed(listing->text, std::move(listing->notes));
  return imported;
}

}  // namespace importers::paddle
