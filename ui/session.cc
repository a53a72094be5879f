// The selection and its history; what it needs is asked of the loader, and drawn when it has come.
#include "ui/session.h"

#include <algorithm>
#include <utility>

namespace ui {
namespace {

constexpr size_t kMostHistory = 1000;

}  // namespace

void Session::open(std::string path) {
  if (std::ranges::any_of(documents_, [&](const auto& open) { return open->loader.path() == path; })) return;
  documents_.push_back(std::make_unique<Document>(std::move(path), mode_));
  if (wake_) documents_.back()->loader.on_done(wake_);
}

Document* Session::document() { return selection_.document < documents_.size() ? documents_[selection_.document].get() : nullptr; }

void Session::select(Selection selection) {
  if (selection == selection_) return;
  if (selection_.run != 0) before_.push_back(selection_);
  if (before_.size() > kMostHistory) before_.erase(before_.begin());
  after_.clear();
  selection_ = std::move(selection);
  ++revision_;
}

void Session::select_run(size_t document, int64_t run) {
  if (document == selection_.document && run == selection_.run) return;
  Selection next;
  next.document = document;
  next.run = run;
  select(std::move(next));
}

void Session::select_step(int32_t step) {
  if (step >= 0 && data() != nullptr && data()->find(step) == nullptr) return;
  Selection next = selection_;
  next.step = step;
  if (const RunData* run = data()) {
    const StepInfo* info = run->find(step);
    if (info != nullptr && !info->source_file.empty()) {
      next.file = info->source_file;
      next.line = info->source_line;
    }
  }
  select(std::move(next));
}

bool Session::back() {
  if (before_.empty()) return false;
  after_.push_back(std::exchange(selection_, before_.back()));
  before_.pop_back();
  ++revision_;
  return true;
}

bool Session::forward() {
  if (after_.empty()) return false;
  before_.push_back(std::exchange(selection_, after_.back()));
  after_.pop_back();
  ++revision_;
  return true;
}

const RunInfo* Session::run() {
  Document* open = document();
  const std::vector<RunInfo>* runs = open == nullptr ? nullptr : open->runs.value();
  if (runs == nullptr) return nullptr;
  const auto found = std::ranges::find(*runs, selection_.run, &RunInfo::run);
  return found == runs->end() ? nullptr : &*found;
}

std::shared_ptr<const RunData> Session::shared_data() {
  Document* open = document();
  const std::shared_ptr<const RunData>* data = open == nullptr ? nullptr : open->data.value();
  return data != nullptr && (*data)->run == selection_.run ? *data : nullptr;
}

const RunData* Session::data() { return shared_data().get(); }

const StepInfo* Session::step() {
  const RunData* run = data();
  return run == nullptr ? nullptr : run->find(selection_.step);
}

void Session::select_later(int64_t run, std::string step) { later_ = Later{run, std::move(step)}; }

void Session::reload() {
  for (const auto& open : documents_) open->loader.reload();
}

bool Session::busy() const {
  return std::ranges::any_of(documents_, [](const auto& open) { return open->loader.busy(); });
}

/// The run that was asked for, else the newest of the first database that has one.
void Session::settle_run() {
  Document* open = document();
  const std::vector<RunInfo>* runs = open == nullptr ? nullptr : open->runs.value();
  if (runs != nullptr && selection_.run != 0 && run() == nullptr) {
    const size_t here = selection_.document;
    selection_ = {};
    selection_.document = here, ++revision_;
  }
  if (later_ && later_->run != 0 && runs != nullptr) {
    if (std::ranges::find(*runs, later_->run, &RunInfo::run) == runs->end()) {
      message = "There is no run " + std::to_string(later_->run) + ".";
    } else {
      selection_.run = later_->run, ++revision_;
    }
    later_->run = 0;
  }
  if (selection_.run != 0) return;
  for (size_t i = 0; i < documents_.size(); ++i) {
    const std::vector<RunInfo>* there = documents_[i]->runs.value();
    if (there == nullptr || there->empty()) continue;
    selection_.document = i, selection_.run = there->front().run, ++revision_;
    return;
  }
}

void Session::settle_step() {
  const RunData* run = data();
  if (run == nullptr || run->serial != document()->loader.serial()) return;
  if (selection_.step >= 0 && run->find(selection_.step) == nullptr) selection_.step = -1, ++revision_;
  if (!later_) return;
  const std::string wanted = std::exchange(later_, {})->step;
  if (wanted.empty()) return;
  const auto is_wanted = [&](const StepInfo& step) { return step.name == wanted || std::to_string(step.step) == wanted; };
  const auto found = std::ranges::find_if(run->steps, is_wanted);
  if (found == run->steps.end()) {
    message = "The run has no step '" + wanted + "'.";
  } else {
    select_step(found->step);
  }
}

void Session::update() {
  for (const auto& open : documents_) {
    open->loader.watch();
    open->runs.want(open->loader, "runs", read_runs);
  }
  settle_run();
  Document* open = document();
  if (open == nullptr || selection_.run == 0) return;
  const int64_t run = selection_.run, serial = open->loader.serial();
  open->data.want(open->loader, std::to_string(run),
                  [run, serial](const model::Reader& reader) -> base::Result<std::shared_ptr<const RunData>> {
                    ASSIGN_OR_RETURN(RunData data, read_run(reader, run));
                    data.serial = serial;
                    return std::make_shared<const RunData>(std::move(data));
                  });
  settle_step();
}

bool Session::edits_text(const Key& key) {
  if (key.alt || key.key == kEscape || key.key == kF1) return false;
  constexpr std::string_view kOfEditors = "ACVXYZ";
  return !key.ctrl || (key.key >= kLeft && key.key != kF1) ||
         (key.key < 128 && kOfEditors.find(static_cast<char>(key.key)) != std::string_view::npos);
}

int Session::pressed(int key) const {
  return static_cast<int>(std::ranges::count_if(keys, [&](const Key& k) { return k.key == key && !k.ctrl && !k.alt; }));
}

bool Session::pressed_with_ctrl(int key) const {
  return std::ranges::any_of(keys, [&](const Key& k) { return k.key == key && k.ctrl; });
}

}  // namespace ui
