#pragma once

#include "grammar/module.h"

#include <memory>
#include <string>
#include <vector>

namespace ptxasw {

/// Reads and parses a PTX file, "-" for standard input. Says on standard error what is wrong with
/// it, and returns null then.
std::unique_ptr<Module> load_module(const std::string &path);

/// Whether the module has all these functions; says on standard error which one it has not.
bool has_kernels(const Module &module, const std::vector<std::string> &names,
                 const std::string &path);

} // namespace ptxasw
