// Queries off the UI thread: one worker with its own read-only connection a database, and answers that arrive between frames.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "src/base/result.h"
#include "src/model/store.h"

namespace ui {

class Loader {
 public:
  /// `here`: jobs run inside post(), for tests and pictures that need the same frames every time.
  enum class Mode { worker, here };
  using Job = std::function<void(const base::Result<model::Reader>&)>;

  Loader(std::string path, Mode mode);
  ~Loader();  ///< jobs that have not begun are dropped; the one that runs is interrupted and waited for
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  /// Jobs run in order. The reader is opened before the first one; where that failed they get the error.
  void post(Job job);
  /// The query that runs now ends with an error; jobs that wait are not touched.
  void interrupt();
  /// A job waits or runs, or has ended since the last watch(): what it answers has not been drawn, and may raise the next question.
  bool busy() const { return waiting_ > 0; }
  const std::string& path() const { return path_; }
  Mode mode() const { return mode_; }
  /// Called on the worker after each job, and where watch() has found a change: wakes a window that sleeps until there is input.
  void on_done(std::function<void()> wake);

  /// Opens the file again before the next job, and every Latest asks again; what it has stays until the answer is there.
  void reload();
  /// Once a second, on the worker: where another process has changed or replaced the file, or it could not be opened, as reload(). Call it
  /// every frame, before the answers are looked at.
  void watch();
  /// Another number for each database, and after each reload.
  int64_t serial() const { return serial_; }

 private:
  /// What changes with a file: its identity, and SQLite's count of commits by others.
  struct Stamp {
    uint64_t device = 0, inode = 0;
    int64_t version = 0;
    bool operator==(const Stamp&) const = default;
  };
  Stamp stamp(const base::Result<model::Reader>& reader) const;
  const base::Result<model::Reader>& reader();
  struct Task {
    Job job;
    bool quiet = false;  ///< nobody waits for it: busy() does not count it, and it wakes a window only where it has found a change
  };
  void work(std::stop_token stop);
  void push(Task task);

  std::string path_;
  Mode mode_;
  std::mutex opening_;                                 ///< held while `reader_` is made or dropped, and by interrupt()
  std::optional<base::Result<model::Reader>> reader_;  ///< of the worker alone, or of post() in mode `here`
  Stamp stamp_;                                        ///< the worker's, of when it opened or last looked
  std::atomic<bool> reopen_ = false;
  std::atomic<int64_t> serial_;
  std::chrono::steady_clock::time_point next_look_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Task> tasks_;
  std::function<void()> wake_;
  int waiting_ = 0;             ///< jobs, of the thread that posts them
  std::atomic<int> ended_ = 0;  ///< of those, since the last watch()
  std::jthread worker_;
};

/// The newest answer to a question that changes: while the next one is on the way, the one before stays, so that nothing flickers.
template <typename T>
class Latest {
 public:
  using Work = std::function<base::Result<T>(const model::Reader&)>;

  /// Asks where `key` is not the key of the last question, or the database is another one or has changed. A question that nobody waits for
  /// any more is not answered.
  void want(Loader& loader, const std::string& key, Work work) {
    if (asked_ && *asked_ == key && serial_ == loader.serial()) return;
    asked_ = key;
    serial_ = loader.serial();
    pending_ = std::make_shared<Slot>();
    loader.post([slot = std::weak_ptr<Slot>(pending_), work = std::move(work)](const base::Result<model::Reader>& reader) {
      const std::shared_ptr<Slot> alive = slot.lock();
      if (!alive) return;
      alive->answer = reader.ok() ? work(*reader) : base::Result<T>(reader.error());
      alive->ready.store(true, std::memory_order_release);
    });
  }
  /// Asks again, whatever the key.
  void forget() { asked_.reset(); }

  /// nullptr: no answer yet, or the last one was an error.
  const T* value() {
    settle();
    return current_ && current_->ok() ? &**current_ : nullptr;
  }
  const base::Error* error() {
    settle();
    return current_ && !current_->ok() ? &current_->error() : nullptr;
  }
  bool waiting() {
    settle();
    return pending_ != nullptr;
  }
  /// Counts answers: what was made from a value is made again where this changes.
  int revision() {
    settle();
    return revision_;
  }

 private:
  struct Slot {
    std::atomic<bool> ready = false;
    std::optional<base::Result<T>> answer;
  };
  void settle() {
    if (!pending_ || !pending_->ready.load(std::memory_order_acquire)) return;
    current_ = std::move(pending_->answer);
    pending_.reset();
    ++revision_;
  }

  std::optional<std::string> asked_;
  int64_t serial_ = 0;
  std::shared_ptr<Slot> pending_;
  std::optional<base::Result<T>> current_;
  int revision_ = 0;
};

}  // namespace ui
