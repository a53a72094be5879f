// One thread takes jobs from a queue. The connection is opened by that thread: opening may wait for a lock, and a frame must not.
#include "ui/loader.h"

namespace ui {

Loader::Loader(std::string path, Mode mode) : path_(std::move(path)), mode_(mode) {
  if (mode_ == Mode::worker) worker_ = std::jthread([this](std::stop_token stop) { work(std::move(stop)); });
}

Loader::~Loader() {
  worker_.request_stop();
  if (worker_.joinable()) worker_.join();
}

void Loader::post(Job job) {
  if (mode_ == Mode::here) {
    if (!reader_) reader_.emplace(model::Reader::open(path_));
    job(*reader_);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
    ++waiting_;
  }
  changed_.notify_one();
}

void Loader::on_done(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void Loader::work(std::stop_token stop) {
  while (true) {
    Job job;
    std::function<void()> wake;
    {
      std::unique_lock lock(mutex_);
      if (!changed_.wait(lock, stop, [&] { return !jobs_.empty(); })) return;
      job = std::move(jobs_.front());
      jobs_.pop_front();
      wake = wake_;
    }
    if (!reader_) reader_.emplace(model::Reader::open(path_));
    job(*reader_);
    --waiting_;
    if (wake) wake();
  }
}

}  // namespace ui
