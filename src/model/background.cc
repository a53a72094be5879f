// A deque under a mutex. The running job stays in front until it is done: it counts as pending.
#include "src/model/background.h"

#include <utility>

namespace model {
namespace {

constexpr size_t kMostPending = 16;

}  // namespace

Background::Background() : thread_([this] { work(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Background::submit(Job job) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.size() < kMostPending; });
  jobs_.push_back(std::move(job));
  changed_.notify_all();
}

base::Status Background::status() {
  const std::lock_guard lock(mutex_);
  return outcome();
}

base::Status Background::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return jobs_.empty(); });
  return outcome();
}

base::Status Background::outcome() const {
  if (thrown_ != nullptr) std::rethrow_exception(thrown_);
  return status_;
}

void Background::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    Job job = std::move(jobs_.front());
    const bool runs = status_.ok() && thrown_ == nullptr;
    lock.unlock();
    base::Status done;
    std::exception_ptr thrown;
    try {
      if (runs) done = job();
    } catch (...) {  // memory that ran out, say: for the thread that waits
      thrown = std::current_exception();
    }
    lock.lock();
    if (!done.ok()) status_ = std::move(done);
    if (thrown != nullptr) thrown_ = thrown;
    jobs_.pop_front();
    changed_.notify_all();
    lock.unlock();
    job = nullptr;  // what it holds may be large: nobody waits until that is freed
    lock.lock();
  }
}

}  // namespace model
