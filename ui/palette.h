// Search over everything: steps by name, panels, runs, actions.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ui/session.h"

namespace ui {

class Shell;

class Palette {
 public:
  struct Entry {
    std::string title, detail;
    std::function<void(Shell&, Session&)> act;
  };

  void open(std::string text);
  void close() { open_ = false; }
  bool is_open() const { return open_; }
  void draw(Shell& shell, Session& session);

 private:
  void search(Shell& shell, Session& session);
  void draw_list(Shell& shell, Session& session);

  bool open_ = false, opened_ = false;
  std::string text_, searched_;
  int64_t serial_ = 0;    ///< of the data that was searched
  size_t next_step_ = 0;  ///< steps before it are searched
  std::vector<Entry> found_;
  size_t chosen_ = 0;
};

/// All words of `query` (separated by spaces) stand in `text`, in any order and letter case.
bool matches(std::string_view query, std::string_view text);

}  // namespace ui
