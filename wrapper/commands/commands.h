#pragma once

// The list of all subcommands. A command is a file of this folder, a line here and a line in
// commands.cpp.

#include "wrapper/commands/command.h"

#include <span>

namespace ptxasw::wrapper {

extern const Command advise_command;
extern const Command assemble_command;
extern const Command bisect_command;
extern const Command check_command;
extern const Command cost_command;
extern const Command describe_command;
extern const Command emulate_command;
extern const Command explain_command;
extern const Command faster_command;
extern const Command independent_command;
extern const Command launch_command;
extern const Command lint_command;
extern const Command merge_command;
extern const Command offload_command;
extern const Command optimize_command;
extern const Command overlay_command;
extern const Command prove_command;
extern const Command report_command;
extern const Command rewrite_command;
extern const Command run_command;
extern const Command siblings_command;
extern const Command status_command;
extern const Command tune_command;
extern const Command verify_command;

/// All of them, in the order in which help lists them.
std::span<const Command *const> commands();

} // namespace ptxasw::wrapper
