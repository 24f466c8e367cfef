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

std::optional<std::vector<std::string>> choose_kernels(const Module &module,
                                                       const std::vector<std::string> &names,
                                                       const Shard &shard,
                                                       const std::string &path) {
  if (!has_kernels(module, names, path))
    return std::nullopt;
  if (shard.count == 1)
    return names;
  std::vector<std::string> all;
  for (const Function &function : module.functions)
    if (function.has_body &&
        (names.empty() || std::find(names.begin(), names.end(), function.name) != names.end()))
      all.emplace_back(function.name);
  const auto [begin, end] = shard.range(all.size());
  if (begin == end)
    return std::vector<std::string>{""};
  return std::vector<std::string>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                  all.begin() + static_cast<std::ptrdiff_t>(end));
}

} // namespace ptxasw
