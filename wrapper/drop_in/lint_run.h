#pragma once

// Warnings and the gate, in a run as ptxas and in `ptxasw lint`.

#include "wrapper/drop_in/handover.h"
#include "wrapper/lint/baseline.h"
#include "wrapper/settings/settings.h"

namespace ptxasw::wrapper {

/// What the real ptxas says about modules. Errors: as assemble_for_messages.
tl::expected<AssemblerFacts, std::string> ask_assembler(const AskedTool &asked,
                                                        const std::vector<InputModule> &modules);

/// What ptxas advises, one line each, with an explanation.
std::string advice_text(const AssemblerFacts &assembled);

/// Compares states with a baseline file, or writes them to it. What is worse and what is better
/// goes to standard error. `resources`: as for compare(). Returns false if something is worse.
/// Errors: it is not there, or cannot be read, understood or written.
tl::expected<bool, std::string> pass_gate(const std::string &file, const std::string &target,
                                          const std::vector<KernelState> &states, bool update,
                                          bool resources = false);

/// Everything the settings ask for, over the modules of one run: warnings on standard error,
/// files, the gate. Returns an exit code: 1 if a warning counts as an error or something is
/// worse, 2 if that was to be found out and something could not be looked at.
int lint_run(const Settings &settings, const AssemblerFacts &assembled, const CommandLine &line,
             const std::vector<InputModule> &modules);

} // namespace ptxasw::wrapper
