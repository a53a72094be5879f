// The keys that work everywhere: one table for what they do and for what `?` says of them.
#pragma once

#include <span>

#include "ui/panel.h"
#include "ui/session.h"

namespace ui {

class Shell;

/// False: the key means nothing to the shell.
bool take_global_key(Shell& shell, Session& session, const Session::Key& key);
std::span<const KeyHelp> global_keys();

}  // namespace ui
