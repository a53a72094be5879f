// One thread beside ours that does jobs in order: SQLite writes there while the next rows are made and the next module is read.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

#include "src/base/result.h"

namespace model {

class Background {
 public:
  using Job = std::function<base::Status()>;
  Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();  ///< finishes the job that runs, drops the others

  /// Waits while many are pending, which bounds their memory. After a job has failed no other runs.
  void submit(Job job);
  /// The first failure so far; what a job has thrown is thrown here.
  base::Status status();
  /// The same when all are done. What they use may be touched again then.
  base::Status wait();

 private:
  void work();
  base::Status outcome() const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> jobs_;  ///< the first one runs
  base::Status status_;
  std::exception_ptr thrown_;
  bool stops_ = false;
  std::thread thread_;  ///< last: starts when all else is there
};

}  // namespace model
