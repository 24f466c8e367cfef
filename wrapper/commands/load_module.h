#pragma once

#include "grammar/module.h"
#include "wrapper/commands/shard.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw {

/// Reads and parses a PTX file, "-" for standard input. Says on standard error what is wrong with
/// it, and returns null then.
std::unique_ptr<Module> load_module(const std::string &path);

/// True if the module has all these functions; says on standard error which one it has not.
bool has_kernels(const Module &module, const std::vector<std::string> &names,
                 const std::string &path);

/// The functions with a body that a command is to look at: those of `names`, or all if there are
/// none, and of these the part that is `shard`'s. An empty list is all; a part without any function
/// is the name that no function has, the empty one. Says on standard error which name the module
/// has not, and returns nothing then.
std::optional<std::vector<std::string>> choose_kernels(const Module &module,
                                                       const std::vector<std::string> &names,
                                                       const Shard &shard, const std::string &path);

} // namespace ptxasw
