// What every command that reads PTX does first.

#include "wrapper/commands/load_module.h"

#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>
#include <unistd.h>

namespace ptxasw {

std::unique_ptr<Module> load_module(const std::string &path) {
  const bool from_stdin = path == "-";
  const auto text = read_input(path);
  if (!text) {
    fmt::print(stderr, "ptxasw: error: {}\n", text.error());
    return nullptr;
  }
  auto module = parse(std::string(*text), from_stdin ? "<stdin>" : path);
  if (!module) {
    fmt::print(stderr, "{}", format(module.error()));
    return nullptr;
  }
  return std::move(*module);
}

bool has_kernels(const Module &module, const std::vector<std::string> &names,
                 const std::string &path) {
  for (const std::string &name : names)
    if (std::none_of(module.functions.begin(), module.functions.end(),
                     [&](const Function &function) { return function.name == name; })) {
      fmt::print(stderr, "ptxasw: error: there is no kernel `{}` in `{}`\n", name, path);
      return false;
    }
  return true;
}

} // namespace ptxasw
