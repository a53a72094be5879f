// Errors as values: what can fail because of the world returns Result<T>; what can fail only by our mistake asserts.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace base {

/// How the process ends; the numbers are the documented exit statuses of the command line.
enum class Exit { ok = 0, failed = 1, wrong_use = 2, regression = 3, cannot_judge = 4, partial = 5, missing_capability = 6 };

/// One line: where – what – what to do. Parsers add the source line and a caret below it.
struct [[nodiscard]] Error {
  std::string message;
  Exit exit = Exit::failed;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor): `return value;`
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor): `return Error{…};`

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& operator*() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& operator*() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }
  const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

/// A Result without a value.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return !failed_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    assert(failed_);
    return error_;
  }

 private:
  bool failed_ = false;
  Error error_;
};

}  // namespace base

#define BASE_CONCAT_(a, b) a##b
#define BASE_CONCAT(a, b) BASE_CONCAT_(a, b)
/// `RETURN_IF_ERROR(status_or_result);`
#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (auto&& status_ = (expression); !status_.ok()) return status_.error(); \
  } while (false)
/// `ASSIGN_OR_RETURN(auto x, f());`
#define ASSIGN_OR_RETURN(declaration, expression) ASSIGN_OR_RETURN_(BASE_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(name, declaration, expression) \
  auto name = (expression);                              \
  if (!name.ok()) return name.error();                   \
  declaration = *std::move(name)
