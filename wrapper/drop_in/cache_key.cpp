// A hash over everything that decides the output: our bytes, version and settings, Z3, the real
// ptxas, and files that its options name. The result depends on nothing else, so equal keys mean
// equal objects.

#include "wrapper/drop_in/cache_key.h"

#include "emulator/symbolic/solver.h"
#include "wrapper/drop_in/command_line.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/files.h"
#include "wrapper/settings/load_settings.h"

#include <cstdint>
#include <cstdlib>
#include <fmt/core.h>
#include <sys/stat.h>

namespace ptxasw::wrapper {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find_first_of(separators));
    if (!part.empty())
      parts.emplace_back(part);
    text.remove_prefix(std::min(part.size() + 1, text.size()));
  }
  return parts;
}

/// What nvcc hands to ptxas: the values of -Xptxas, which it cuts at commas.
std::vector<std::string> words_for_ptxas(std::vector<std::string> words) {
  for (const char *variable : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char *flags = std::getenv(variable))
      for (std::string &word : split(flags, " \t\n'\""))
        words.push_back(std::move(word));
  std::vector<std::string> result;
  const auto take = [&](std::string_view list) {
    for (std::string &word : split(list, ", \t\n"))
      result.push_back(std::move(word));
  };
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const std::string_view option : {"-Xptxas", "--ptxas-options"}) {
      const std::string_view word = words[i];
      if (word == option && i + 1 < words.size())
        take(words[i + 1]);
      else if (word.starts_with(option) && word.substr(option.size()).starts_with('='))
        take(word.substr(option.size() + 1));
    }
  return result;
}

} // namespace

tl::expected<std::string, std::string> cache_key(const std::vector<std::string> &words) {
  const CommandLine line = parse_command_line(words_for_ptxas(words));
  const auto settings = load_settings(line.own);
  if (!settings)
    return tl::unexpected(settings.error());
  std::uint64_t hash = 0xcbf29ce484222325; // FNV-1a
  const auto add = [&](std::string_view bytes) {
    for (const char c : bytes)
      hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0x100) * 0x100000001b3; // an end
  };
  add(PTXASW_VERSION);
  add(describe_configuration(*settings));
  add(solver_version());
  add(read_regular_file(own_path()).value_or(""));
  // A caller may have one of its own, which is found when it is started; the key must be one all
  // the same.
  const auto real = find_real(settings->real, invoked_path());
  struct stat info {};
  if (real && ::stat(real->path.c_str(), &info) == 0)
    add(fmt::format("{} {} {}.{}", real->path, info.st_size, info.st_mtim.tv_sec,
                    info.st_mtim.tv_nsec));
  for (const std::string &argument : line.arguments) {
    add(argument);
    const std::size_t equals = argument.find('=');
    for (const std::string &name :
         {argument, equals == std::string::npos ? std::string() : argument.substr(equals + 1)})
      if (const auto contents = name.empty() ? std::nullopt : read_regular_file(name))
        add(*contents);
  }
  return fmt::format("ptxasw-{:016x}", hash);
}

} // namespace ptxasw::wrapper
