// One thread takes jobs from a queue. The connection is opened by that thread: opening may wait for a lock, and a frame must not.
#include "ui/loader.h"

#include <sys/stat.h>

#include "src/report/query.h"

namespace ui {
namespace {

constexpr std::chrono::seconds kBetweenLooks{1};

int64_t next_serial() {
  static std::atomic<int64_t> last = 0;
  return ++last;
}

}  // namespace

Loader::Loader(std::string path, Mode mode) : path_(std::move(path)), mode_(mode), serial_(next_serial()) {
  if (mode_ == Mode::worker) worker_ = std::jthread([this](std::stop_token stop) { work(std::move(stop)); });
}

Loader::~Loader() {
  worker_.request_stop();
  interrupt();
  if (worker_.joinable()) worker_.join();
}

void Loader::post(Job job) {
  if (mode_ == Mode::here) return job(reader());
  push({std::move(job), false});
}

void Loader::push(Task task) {
  if (!task.quiet) ++waiting_;
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Loader::interrupt() {
  const std::lock_guard lock(opening_);
  if (reader_ && reader_->ok()) (*reader_)->interrupt();
}

void Loader::on_done(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Loader::reload() {
  reopen_ = true;
  serial_ = next_serial();
}

void Loader::watch() {
  waiting_ -= ended_.exchange(0);
  const auto now = std::chrono::steady_clock::now();
  if (mode_ == Mode::here || now < next_look_ || busy()) return;
  next_look_ = now + kBetweenLooks;
  const auto look = [this](const base::Result<model::Reader>& reader) {
    const Stamp before = stamp_;
    stamp_ = stamp(reader);
    if (stamp_ == before && reader.ok()) return;
    reopen_ = stamp_.inode != before.inode || stamp_.device != before.device || !reader.ok();
    serial_ = next_serial();
  };
  push({look, true});
}

Loader::Stamp Loader::stamp(const base::Result<model::Reader>& reader) const {
  Stamp now;
  struct stat file = {};
  if (::stat(path_.c_str(), &file) == 0) now.device = file.st_dev, now.inode = file.st_ino;
  if (!reader.ok()) return now;
  const auto version = report::ask(*reader, "data_version");
  if (version.ok() && !version->rows.empty()) now.version = version->rows[0][0].integer;
  return now;
}

const base::Result<model::Reader>& Loader::reader() {
  if (reader_ && !reopen_) return *reader_;
  reopen_ = false;
  base::Result<model::Reader> opened = model::Reader::open(path_);
  {
    const std::lock_guard lock(opening_);
    reader_.emplace(std::move(opened));
  }
  stamp_ = stamp(*reader_);
  return *reader_;
}

void Loader::work(std::stop_token stop) {
  while (true) {
    Task task;
    std::function<void()> wake;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !tasks_.empty(); }) || stop.stop_requested()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
      wake = wake_;
    }
    const int64_t before = serial_;
    task.job(reader());
    if (!task.quiet) ++ended_;
    if (wake && (!task.quiet || serial_ != before)) wake();
  }
}

}  // namespace ui
