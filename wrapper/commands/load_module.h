#pragma once

// Reads PTX for a command, and finds the kernels in it that the user named. What is wrong is said
// here, once, in the same words for all commands; who gets null just ends.

#include "grammar/module.h"
#include "wrapper/commands/shard.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// The one module of an input (load_inputs()). Says on standard error what is wrong with it, and
/// then returns null. Says, too, where a `;` seems to be missing.
std::unique_ptr<Module> load_module(const std::string &path);

/// False, with a message for the first, if loads, stores or atomics have words that no such
/// instruction has, as `ld.globl.f32`: what they do is not known.
bool are_known(const Module &module, const std::string &path);

/// Says on standard error where an instruction lacks its `;`: the next one looks like a part of its
/// last operand. Both stay as they are, so this is no error; ptxas will say what it thinks of them.
/// Returns how many do.
unsigned warn_of_missing_semicolons(const Module &module, const std::string &path);

/// True if the module has a kernel with a body.
bool has_kernel(const Module &module);

/// What is wrong with a module that has none.
std::string no_kernel(const std::string &path);

/// What is wrong with a module whose target is needed and not there.
std::string no_target(const std::string &path);

/// The names of the functions that are asked for by name, base name or pattern (is_called()), each
/// once; none if nothing is asked for. Says on standard error which is missing, and what there is,
/// and then returns nothing. `path`: what the modules are called.
std::optional<std::vector<std::string>> kernels_called(const std::vector<const Module *> &modules,
                                                       const std::vector<std::string> &wanted,
                                                       const std::string &path);

/// The one kernel that is asked for so; "" if nothing is asked for. Says on standard error which
/// kernels there are, if it is none or more than one, and then returns nothing.
std::optional<std::string> kernel_called(const Module &module, const std::string &wanted,
                                         const std::string &path);

/// The functions with a body that a command is to look at: the part of `names`, or of all functions
/// if there are none, that belongs to `shard`. An empty list means all; a part without any function
/// is the name that no function has, the empty one. Says on standard error which name is missing
/// from the module, and then returns nothing.
std::optional<std::vector<std::string>> choose_kernels(const Module &module,
                                                       const std::vector<std::string> &names,
                                                       const Shard &shard, const std::string &path);

} // namespace ptxasw::wrapper
