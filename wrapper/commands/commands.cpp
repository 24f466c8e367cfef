// The array of all subcommands. Help, the parser of words and the dispatcher know commands only
// from here.

#include "wrapper/commands/commands.h"

namespace ptxasw::wrapper {
namespace {

constexpr const Command *all_of_them[] = {
    // Rewriting
    &rewrite_command, &overlay_command, &run_command, &assemble_command, &offload_command,
    &bisect_command, &siblings_command, &optimize_command,
    // What is known about a kernel
    &explain_command, &independent_command, &prove_command, &cost_command, &advise_command,
    &lint_command, &report_command,
    // Running kernels on the CPU
    &emulate_command, &verify_command, &check_command,
    // Choosing versions when a program runs
    &faster_command, &launch_command, &tune_command,
    // This installation
    &status_command, &describe_command, &merge_command};

} // namespace

// Called, so that tests can put another list in the place of this one.
[[gnu::noinline]] std::span<const Command *const> commands() { return all_of_them; }

} // namespace ptxasw::wrapper
