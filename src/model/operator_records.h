// Records of framework operators, and of times that logs hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace model {

/// Phases of a training step, the words of op.phase. Auxiliary: constants, shapes, layouts.
enum class Phase : uint8_t { forward, backward, optimizer, communication, auxiliary, host };
std::string_view text(Phase phase);
/// Where something about an operator is known from: the program, its name, or a known model of that name.
enum class Known : uint8_t { no, given, by_name, by_model };
std::string_view text(Known known);
/// What an operator makes a machine do.
enum class Launches : uint8_t { device, host, nothing };
std::string_view text(Launches launches);

/// A framework operator as its program gives it: a TensorFlow node, a Paddle op. Instructions point to it by their metadata's op_name.
struct Operator {
  std::string name;   ///< unique in its program
  std::string type;   ///< "MatMul"; "" if it is not known
  std::string scope;  ///< part of the model that it stands in, with slashes; "": none
  Phase phase = Phase::forward;
  Known type_from = Known::given;
  Launches launches = Launches::device;
  std::string device;  ///< as written: "/job:localhost/replica:0/task:0/device:GPU:0"; "": not told
  std::string shape;   ///< of its results as HLO writes it: "f32[32,64]", "(f32[64], f32[64])"; "": not known
  Known shape_from = Known::no;
  std::string
      attributes;    ///< JSON object: the program's own words; "recompute": true, "ring": 28, "link_bytes": 512 have a meaning to reports
  std::string note;  ///< what is special about it; "": nothing
  std::vector<std::string> inputs;  ///< as written
  int64_t line = 0;
};

/// Operators that are made when their rows are, each once and in order, on another thread: what `make` reads must stay as it is.
struct OperatorStream {
  size_t count = 0;
  std::function<Operator(size_t)> make;
};

/// Times that a log holds: of passes over the operators of its file.
struct Recording {
  struct Timing {
    int32_t op = 0;  ///< index into Imported::operators
    int32_t pass = 0;
    int64_t begin_ns = 0, duration_ns = 0;  ///< begin: since the recording's start; several of one operator in a pass are executions of it
  };
  std::string device;  ///< as written
  std::string timer;   ///< what its times are: "executor log", "step_stats nanos"
  int64_t started_unix_ns = 0;
  std::vector<Timing> timings;
};

}  // namespace model
