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
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++waiting_;
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
  const auto now = std::chrono::steady_clock::now();
  if (mode_ == Mode::here || now < next_look_ || busy()) return;
  next_look_ = now + kBetweenLooks;
  post([this](const base::Result<model::Reader>& reader) {
    const Stamp before = stamp_;
    stamp_ = stamp(reader);
    if (stamp_ == before && reader.ok()) return;
    reopen_ = stamp_.inode != before.inode || stamp_.device != before.device || !reader.ok();
    serial_ = next_serial();
  });
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
    Job job;
    std::function<void()> wake;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); }) || stop.stop_requested()) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      wake = wake_;
    }
    job(reader());
    --waiting_;
    if (wake) wake();
  }
}

}  // namespace ui
