// From the words to the command; whatever happens ends with a message and an exit code.

#include "wrapper/commands/cli.h"

#include "wrapper/commands/commands.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fmt/core.h>
#include <new>
#include <span>

namespace ptxasw::wrapper {
namespace {

/// Of a command whose `--` may be left out: where someone else's command begins, the first word
/// that is neither an option nor the value of one.
std::vector<std::string>::iterator find_program(std::vector<std::string> &words) {
  if (words.empty() || words.front() != faster_command.name)
    return words.end();
  const std::vector<CommandDescription> all = describe_commands(std::span(words).first(1));
  const auto command = std::find_if(all.begin(), all.end(), [&](const CommandDescription &one) {
    return one.name == words.front();
  });
  auto word = words.begin() + 1;
  for (; word != words.end() && word->starts_with('-') && *word != "--"; ++word)
    for (const OptionDescription &option : command->options)
      if (!option.value.empty() && word + 1 != words.end() &&
          std::find(option.names.begin(), option.names.end(), *word) != option.names.end()) {
        ++word;
        break;
      }
  return word;
}

/// Words after `--` are someone else's command.
std::vector<std::string> split_off_command(std::vector<std::string> &words) {
  std::vector<std::string> command;
  if (const auto program = find_program(words); program != words.end() && *program != "--") {
    command.assign(program, words.end());
    words.erase(program, words.end());
    return command;
  }
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes != words.end())
    command.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return command;
}

int run_subcommand(std::vector<std::string> words) {
  std::vector<std::string> foreign = split_off_command(words);
  const auto request = parse_words(std::move(words));
  if (!request)
    return request.error();
  return request->run({request->given, std::move(foreign)});
}

} // namespace

int command_line_interface(const std::vector<std::string> &words) {
  try {
    const int code = run_subcommand(words);
    // A full disk is noticed when the buffer is written at last.
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return complain(fmt::format("cannot write standard output: {}", std::strerror(errno)));
    return code;
  } catch (const std::bad_alloc &) {
    return complain("out of memory");
  } catch (const std::exception &error) { // also of fmt, when standard output cannot be written
    return complain(error.what());
  }
}

} // namespace ptxasw::wrapper
