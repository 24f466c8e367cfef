#pragma once

// The parts of `ptxasw status` that have files of their own.

#include "wrapper/settings/load_settings.h"

#include <string>

namespace ptxasw::wrapper {

/// Prints every setting, its value and its origin.
void print_settings(const Settings &settings);

/// Prints what the log says about all runs together. Returns an exit code.
int print_log(const Settings &settings, bool json);

/// Prints what the launch helper's log adds up to: processes, launches, what was kept and why, what
/// was chosen. An empty path: no log is kept. Returns an exit code.
int print_launch_log(const std::string &path);

/// Prints what a program contains for the launch helper: the siblings of its kernels, and whether
/// the helper itself is linked in. Returns an exit code.
int print_program(const std::string &path);

} // namespace ptxasw::wrapper
