#pragma once

#include "wrapper/settings.h"

#include <string>
#include <vector>

namespace ptxasw {

// The subcommands, after their options have been read. Each returns an exit code and has its own
// file, NAME_command.cpp.

/// Rewrites one module; "-" is standard input or output.
int rewrite_command(const Settings &settings, const std::string &input, const std::string &output);

/// Makes, refreshes or removes a directory that looks like a CUDA toolkit with us as its ptxas.
/// `cuda` is the toolkit; empty: the one that is found.
int overlay_command(const std::string &directory, const std::string &cuda, bool remove);

/// Whether an overlay still hangs together, in words: "healthy", or what is wrong with it.
std::string overlay_state(const std::string &directory);
/// Prints that; exit code 1 if it is not healthy.
int check_overlay(const std::string &directory);

/// Prints what would run, and how healthy that is. `last`: only what the log says about the last
/// run.
int status_command(const Settings &settings, bool last);

/// Adds up the log: runs, modules, kernels, rewrites, reasons, time. Exit code 1 without a log.
int stats_command(const Settings &settings, bool json);

/// Prints every setting with its value and origin; `markdown`: the table of the documentation.
int config_command(const Settings &settings, bool markdown);

/// Runs a command with every ptxas that it starts, directly or not, replaced by us.
int run_command(const std::vector<std::string> &command);

/// Stands in for the assembler of GCC's offloading compiler, which writes PTX.
int assemble_command(const Settings &settings, const std::string &real,
                     const std::vector<std::string> &words);

} // namespace ptxasw
