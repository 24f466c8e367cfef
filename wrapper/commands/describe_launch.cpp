// What words say goes over what a launch file among them says; a number that neither gives is an
// error that names it.

#include "wrapper/commands/describe_launch.h"

#include "emulator/facts/amount.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/launch_guess.h"
#include "wrapper/lint/names.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// What to say to whoever gives a kernel too few arguments: how it is called, and a command to
/// begin with.
std::string needs_arguments(const Function &function, const Module &module, const std::string &file,
                            const ParameterNames &names, std::size_t missing) {
  std::string words = "grid=2,block=32";
  const std::vector<std::string> guessed = guessed_arguments(function);
  for (std::size_t i = 0; i < guessed.size(); ++i)
    words += fmt::format(",{}={}", names(names.own(i)), guessed[i]);
  return fmt::format("no value is given for `{4}`; the kernel needs arguments: {0}\n"
                     "  with sizes that are only guessed, in one command or in a launch file:\n"
                     "  ptxasw emulate {1} --kernel '{2}' --launch {3}\n"
                     "  ptxasw emulate {1} --kernel '{2}' --init launch.toml",
                     kernel_signature(function, module, file), file, short_name(function.name),
                     words, names(names.own(missing)));
}

} // namespace

tl::expected<void, std::string> describe_launch(const std::vector<std::string> &words,
                                                const std::string &kernel,
                                                const WarpProgram &program, const std::string &path,
                                                Sources &sources, LaunchDescription &launch) {
  const auto wrong = [](std::string why) { return tl::unexpected(std::move(why)); };
  const auto asked = read_launch(words, {&program.module()}, sources);
  if (!asked)
    return wrong(asked.error());
  if (asked->file)
    launch = *asked->file;
  if (!kernel.empty())
    launch.kernel = kernel;
  if (asked->point.block)
    launch.block = {asked->point.block->x, asked->point.block->y, asked->point.block->z};
  for (int axis = 0; axis < 3; ++axis)
    if (const auto grid = asked->point.numbers.find(fmt::format("nctaid.{}", "xyz"[axis]));
        grid != asked->point.numbers.end())
      launch.grid[axis] = static_cast<std::uint32_t>(facts::floor_of(grid->second));
  launch.shared = asked->shared.value_or(launch.shared);
  const auto found = program.find_kernel(launch.kernel);
  if (!found)
    return wrong(launch.kernel.empty()
                     ? fmt::format("there is no kernel in `{}`", path)
                     : fmt::format("there is no kernel `{}` in `{}`", launch.kernel, path));
  const Function &function = *program.function(*found).function;
  const ParameterNames names = source_names(function, program.module(), sources);
  std::vector<std::string> given(function.parameters.size());
  for (const ParameterValue &word : values_for(function, *asked)) {
    if (!word.member.empty())
      return wrong(fmt::format("--launch {}{}: members of structs are for launch files",
                               names.own(word.parameter), word.member));
    given[word.parameter] = word.value;
  }
  if (asked->file) {
    if (std::any_of(given.begin(), given.end(), [](const auto &one) { return !one.empty(); }))
      return wrong("--launch: the launch file has the arguments");
    return {};
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Variable &parameter = function.parameters[i];
    const std::string called = names(names.own(i));
    if (given[i].empty())
      return wrong(needs_arguments(function, program.module(), path, names, i));
    if (const auto added = add_argument(given[i], called, parameter, launch); !added)
      return wrong(fmt::format("--launch {}={}: {}", called, given[i], added.error()));
  }
  return {};
}

} // namespace ptxasw::wrapper
