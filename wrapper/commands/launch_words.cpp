// A launch file names a kernel, so its numbers are given for that kernel's parameters alone.

#include "wrapper/commands/launch_words.h"

#include "wrapper/commands/launch_file.h"
#include "wrapper/lint/kernel_names.h"
#include "wrapper/settings/lint_choices.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

std::string extents_text(const Extents &extents) {
  return fmt::format("{}x{}x{}", extents.x, extents.y, extents.z);
}

/// The number that an argument is; nothing if it is, or holds, an address.
std::optional<std::uint64_t> number_of(const ArgumentDescription &argument) {
  if (argument.bytes.size() > 8)
    return std::nullopt;
  std::uint64_t number = 0;
  for (std::size_t i = argument.bytes.size(); i-- > 0;)
    number = number << 8 | argument.bytes[i];
  for (const FieldDescription &field : argument.fields) {
    if (field.kind != FieldDescription::Kind::bits || field.at != 0)
      return std::nullopt;
    number = field.bits;
  }
  return number;
}

/// The words that say what a launch file does.
tl::expected<std::vector<std::string>, std::string>
words_of_file(const std::string &path, const std::vector<const Module *> &modules) {
  const auto file = read_launch_file(path);
  if (!file)
    return tl::unexpected(file.error());
  const LaunchDescription &launch = file->first;
  std::vector<std::string> words{"block=" + extents_text(launch.block),
                                 "grid=" + extents_text(launch.grid)};
  for (const Module *module : modules)
    for (const Function &function : module->functions) {
      if (!function.is_entry || !function.has_body ||
          (!launch.kernel.empty() && launch.kernel != function.name))
        continue;
      const ParameterNames names(function, {});
      for (std::size_t i = 0; i < std::min(function.parameters.size(), launch.arguments.size());
           ++i)
        if (const auto number = number_of(launch.arguments[i]))
          words.push_back(fmt::format("{}:{}={}", function.name, names.own(i), *number));
      return words;
    }
  return tl::unexpected(fmt::format("{}: there is no kernel `{}`", path, launch.kernel));
}

/// A word whose name no parameter has, in the words of every kernel whose source has it.
void add_by_source(const std::string &word, const std::vector<const Module *> &modules,
                   Sources &sources, std::vector<std::string> &at) {
  const std::size_t equals = word.find('=');
  const std::string name = word.substr(0, equals);
  std::vector<std::string> found;
  for (const Module *module : modules) {
    std::optional<Places> places; // when it is needed
    for (const Function &function : module->functions) {
      if (!function.is_entry || !function.has_body)
        continue;
      const ParameterNames names(function, {});
      if (names.width(name)) {
        at.push_back(word);
        return;
      }
      if (!places)
        places.emplace(*module);
      const KernelNames of_source(function, *places, sources);
      for (std::size_t i = 0; i < function.parameters.size(); ++i)
        if (of_source.of_source(std::string(function.parameters[i].name)) == name)
          found.push_back(fmt::format("{}:{}{}", function.name, names.own(i), word.substr(equals)));
    }
  }
  if (found.empty())
    found = {word}; // point_fault() says what is wrong with it
  at.insert(at.end(), found.begin(), found.end());
}

} // namespace

tl::expected<LaunchWords, std::string> launch_words(const std::vector<std::string> &given,
                                                    const std::vector<const Module *> &modules,
                                                    Sources &sources) {
  LaunchWords result;
  for (const std::string &text : given) {
    if (text.find('=') == std::string::npos) {
      auto words = words_of_file(text, modules);
      if (!words)
        return tl::unexpected(words.error());
      result.at.insert(result.at.end(), words->begin(), words->end());
      continue;
    }
    for (const std::string &word : cut_at_commas({text})) {
      if (word.starts_with("base-align=")) {
        LintChoices choices;
        if (!choices.assume(word))
          return tl::unexpected(
              fmt::format("--launch {}: expected bytes, a power of two up to 4096", word));
        result.base_alignment = choices.base_alignment;
      } else if (word.starts_with("block=") || word.starts_with("grid=") ||
                 word.find('=') == std::string::npos) {
        result.at.push_back(word);
      } else {
        add_by_source(word, modules, sources, result.at);
      }
    }
  }
  return result;
}

tl::expected<std::optional<BlockShape>, std::string>
launch_block(const std::vector<std::string> &given, const Module &module) {
  Sources sources;
  const auto words = launch_words(given, {&module}, sources);
  if (!words)
    return tl::unexpected(words.error());
  LaunchPoint point;
  if (auto wrong = read_point(words->at, point))
    return tl::unexpected(std::move(*wrong));
  if (point.block)
    if (std::string wrong = launch_shape_error({}, *point.block); !wrong.empty())
      return tl::unexpected(std::move(wrong));
  return point.block;
}

} // namespace ptxasw::wrapper
