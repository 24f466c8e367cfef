// GCC 12 compiles for sm_30 and PTX 6.0 unless told otherwise; later ones for something else. Its
// assembler has the result checked by the ptxas that is installed, which may not know that target
// any more. And a warp's active lanes can be asked for from PTX 6.2 on (`activemask`), which the
// rewrite needs; from sm_75 on GCC chooses a later version by itself.

#include "wrapper/drop_in/gcc_offload.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fmt/core.h>
#include <sstream>

namespace ptxasw::wrapper {
namespace {

constexpr unsigned late_enough_target = 75;
constexpr std::string_view late_enough_version = "6.2";
/// Bytes in which a module of GCC's says what it is for.
constexpr std::size_t longest_preamble = 4096;

/// All numbers N of words `sm_N` in a text, ascending; sm_90a counts as no such word.
std::vector<unsigned> targets_in(std::string_view text) {
  std::vector<unsigned> found;
  for (std::size_t at = text.find("sm_"); at != std::string_view::npos; at = text.find("sm_", at)) {
    at += 3;
    unsigned number = 0;
    const char *const begin = text.data() + at, *const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    const bool more = stop != end && ((*stop >= 'a' && *stop <= 'z') || *stop == '_');
    if (error == std::errc() && !more)
      found.push_back(number);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

/// The lines behind a heading that holds some words, up to an empty one.
std::string_view section(std::string_view text, std::string_view heading) {
  const std::size_t at = text.find(heading);
  if (at == std::string_view::npos)
    return {};
  text.remove_prefix(std::min(text.find('\n', at), text.size()));
  return text.substr(0, text.find("\n\n"));
}

std::vector<std::string> words_in(std::string_view text) {
  std::istringstream stream{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(std::move(word));
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// What stands behind an option among words; of several the last counts.
std::optional<std::string> value_of_option(const std::vector<std::string> &words,
                                           std::string_view option) {
  const auto found = std::find_if(words.rbegin(), words.rend(), [&](const std::string &word) {
    return word.starts_with(option);
  });
  return found == words.rend() ? std::nullopt : std::optional(found->substr(option.size()));
}

} // namespace

CommandLine parse_assembler_line(const std::vector<std::string> &words) {
  CommandLine line;
  line.arguments = words;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "-o" && i + 1 < words.size())
      line.output = words[++i];
    else if (words[i] == "-m")
      ++i;
    else if (!words[i].starts_with('-'))
      line.inputs.push_back({InputKind::file, i, 0});
    else
      line.verbose |= words[i] == "-v";
  return line;
}

std::string target_in(std::string_view text) {
  const std::vector<std::string> words = words_in(text.substr(0, longest_preamble));
  const auto directive = std::find(words.begin(), words.end(), ".target");
  if (directive == words.end() || directive + 1 == words.end())
    return "";
  return directive[1].substr(0, directive[1].find_first_of(",;/"));
}

std::vector<OffloadKernel> offload_kernels(std::string_view text) {
  constexpr std::string_view entry = "//:FUNC_MAP \"";
  std::vector<OffloadKernel> kernels;
  for (std::size_t at = text.find(entry); at != std::string_view::npos; at = text.find(entry, at)) {
    at += entry.size();
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    OffloadKernel kernel;
    const std::size_t quote = line.find('"');
    if (quote == std::string_view::npos)
      continue;
    kernel.name = line.substr(0, quote);
    unsigned *const numbers[] = {&kernel.gangs, &kernel.workers, &kernel.lanes};
    std::size_t known = 0;
    for (const std::string &word : words_in(line.substr(quote + 1))) {
      if (word == ",")
        continue;
      if (known == std::size(numbers))
        break;
      *numbers[known++] = static_cast<unsigned>(std::strtoul(word.c_str(), nullptr, 0));
    }
    // GCC marks where other lanes join in by a comment.
    const std::string begin = fmt::format("// BEGIN FUNCTION DEF: {}\n", kernel.name);
    if (const std::size_t body = text.find(begin); body != std::string_view::npos) {
      const std::size_t end = text.find("\n// BEGIN ", body + begin.size());
      kernel.forks = text.substr(body, end - body).find("// fork ") != std::string_view::npos;
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::optional<BlockShape> offload_block(const std::vector<OffloadKernel> &kernels) {
  if (kernels.empty())
    return std::nullopt;
  const OffloadKernel &first = kernels.front();
  const bool alike = std::all_of(kernels.begin(), kernels.end(), [&](const OffloadKernel &kernel) {
    return kernel.workers == first.workers && kernel.lanes == first.lanes;
  });
  if (!alike || first.workers == 0 || first.lanes == 0)
    return std::nullopt;
  return BlockShape{first.lanes, first.workers, 1};
}

OffloadTargets parse_offload_targets(std::string_view help) {
  OffloadTargets result;
  result.targets = targets_in(section(help, "PTX ISA target architectures"));
  for (std::string &word : words_in(section(help, "PTX ISA versions")))
    if (is_number(word))
      result.versions.push_back(std::move(word));
  const auto words_behind = [&](std::string_view option) {
    const std::size_t at = help.find(fmt::format("\n  {} ", option));
    return at == std::string_view::npos
               ? std::vector<std::string>()
               : words_in(help.substr(at + 1, help.find('\n', at + 1) - at - 1));
  };
  for (const char *option : {"-misa=", "-march="})
    if (const auto words = words_behind(option); words.size() == 2 && !result.by_default)
      if (const auto found = targets_in(words[1]); !found.empty())
        result.by_default = found.front();
  if (const auto words = words_behind("-mptx="); words.size() == 2)
    result.version_by_default = words[1];
  return result;
}

std::vector<std::string> offload_options(const OffloadTargets &gcc, std::string_view ptxas_help,
                                         const std::vector<std::string> &words) {
  std::vector<std::string> options;
  std::optional<unsigned> target = gcc.by_default;
  bool given = false;
  for (const std::string_view option : {"-misa=", "-march=", "-march-map="})
    if (const auto value = value_of_option(words, option)) {
      given = true;
      const auto found = targets_in(*value);
      target = found.empty() ? std::nullopt : std::optional(found.front());
    }
  const std::vector<unsigned> taken = targets_in(section(ptxas_help, "--gpu-name"));
  const auto takes = [&](unsigned sm) {
    return taken.empty() || std::binary_search(taken.begin(), taken.end(), sm);
  };
  if (!given && target && !takes(*target)) {
    const auto first = std::find_if(gcc.targets.begin(), gcc.targets.end(),
                                    [&](unsigned sm) { return sm > *target && takes(sm); });
    if (first != gcc.targets.end()) {
      target = *first;
      options.push_back(fmt::format("-misa=sm_{}", *target));
    }
  }
  const bool late_enough =
      is_number(gcc.version_by_default) && gcc.version_by_default >= late_enough_version;
  if (target && *target < late_enough_target && !late_enough && !value_of_option(words, "-mptx=")) {
    // One digit before the point, one behind it, ascending.
    const auto version =
        std::find_if(gcc.versions.begin(), gcc.versions.end(),
                     [](const std::string &one) { return one >= late_enough_version; });
    if (version != gcc.versions.end())
      options.push_back("-mptx=" + *version);
  }
  return options;
}

} // namespace ptxasw::wrapper
