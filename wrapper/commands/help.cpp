// Help is printed from the table of options that man pages and completions come from.

#include "wrapper/commands/help.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::wrapper {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t option_column = 24; ///< where meanings begin
constexpr std::size_t command_column = 14;

/// What the commands that people start with are for, in this order.
struct Job {
  std::string_view heading;
  std::string_view commands[4];
};
constexpr Job jobs[] = {
    {"Find what is slow", {"lint", "report", "cost"}},
    {"Test", {"check", "emulate", "verify", "prove"}},
    {"Speed up", {"faster", "siblings", "advise"}},
    {"Build and run", {"run", "overlay", "rewrite"}},
};

/// What the exit codes of all commands mean.
constexpr const char *exit_codes =
    "\nExit codes: 0 fine; 1 something was found, or differs; 2 it could not be done; 3 it is "
    "incomplete: not known, not emulated, or a budget was spent. Of several, 1 counts before 2 "
    "before 3. What runs a program otherwise ends as that does.";

/// Words from a column on, in lines that end at the width of help.
std::string filled(std::string_view text, std::size_t column) {
  std::string result;
  std::size_t at = column;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty())
      continue;
    if (at > column && at + 1 + word.size() > help_width) {
      result += '\n' + std::string(column, ' ');
      at = column;
    } else if (at > column) {
      result += ' ';
      ++at;
    }
    result += word;
    at += word.size();
  }
  return result;
}

/// A name and its meaning, beside or below it.
std::string row(const std::string &name, std::string_view meaning, std::size_t column) {
  std::string text = "  " + name;
  if (text.size() + 2 > column)
    text += '\n' + std::string(column, ' ');
  else
    text.resize(column, ' ');
  return text + filled(meaning, column) + '\n';
}

std::string option_row(const OptionDescription &option) {
  std::string name;
  for (const std::string &one : option.names)
    name += (name.empty() ? "" : ",") + one;
  if (!option.value.empty()) {
    std::string value = option.value;
    if (option.names.empty())
      std::transform(value.begin(), value.end(), value.begin(),
                     [](unsigned char c) { return std::tolower(c); });
    name += (name.empty() ? "" : " ") + value;
  }
  std::string meaning = option.meaning;
  // A list that no line holds is told in words.
  if (name.size() + 2 > help_width) {
    name.resize(name.rfind(' '));
    name += " WORDS";
    meaning += ": ";
    for (const char c : option.value)
      if (c == '|')
        meaning += ", ";
      else
        meaning += c;
  }
  if (!option.limits.empty())
    meaning += fmt::format("; {}", option.limits);
  if (!option.standard.empty())
    meaning += fmt::format(" [{}]", option.standard);
  return row(name, meaning, option_column);
}

/// Paragraphs; lines that begin with a blank stay as they are.
std::string paragraphs(std::string_view text) {
  std::string result, open;
  const auto close = [&] {
    if (!open.empty())
      result += filled(open, 0) + '\n';
    open.clear();
  };
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.starts_with(' ')) {
      close();
      result += std::string(line) + '\n';
    } else {
      open += (open.empty() ? "" : " ") + std::string(line);
    }
  }
  close();
  return result;
}

} // namespace

std::string command_help(const CommandDescription &command) {
  std::string usage = fmt::format("Usage: ptxasw {}", command.name);
  std::string words, options;
  for (const OptionDescription &option : command.options) {
    (option.names.empty() ? words : options) += option_row(option);
    if (option.names.empty()) {
      std::string value = option.value;
      std::transform(value.begin(), value.end(), value.begin(),
                     [](unsigned char c) { return std::tolower(c); });
      value += option.repeatable ? "..." : "";
      usage += option.required ? " " + value : fmt::format(" [{}]", value);
    }
  }
  usage += command.options.empty() ? "" : " [OPTIONS]";
  usage += command.runs_another ? " -- COMMAND" : "";
  std::string text = paragraphs(command.summary) + '\n' + paragraphs(usage) + '\n';
  text += words + (words.empty() ? "" : "\n") + options;
  if (!command.footer.empty())
    text += '\n' + paragraphs(command.footer);
  return text;
}

std::string main_help(const std::vector<CommandDescription> &commands, bool all) {
  std::string text =
      "Find out why a CUDA kernel is slow, and run a faster version of it, without touching the "
      "source. ptxasw works on the PTX that nvcc, clang, GCC and Triton write. "
      "Finding out needs no GPU.";
  text = filled(text, 0) + "\n\nUsage: ptxasw COMMAND [OPTIONS]\n";
  std::vector<std::string_view> shown;
  const auto add = [&](std::string_view name) {
    for (const CommandDescription &command : commands)
      if (!name.empty() && command.name == name) {
        text += row(command.name, command.summary, command_column);
        shown.push_back(command.name);
      }
  };
  for (const Job &job : jobs) {
    text += fmt::format("\n{}\n", job.heading);
    for (const std::string_view name : job.commands)
      add(name);
  }
  if (all) {
    text += "\nAll others\n";
    for (const CommandDescription &command : commands)
      if (std::find(shown.begin(), shown.end(), command.name) == shown.end())
        add(command.name);
  }
  text += "\nOptions\n";
  for (const OptionDescription &option : commands.at(0).options)
    text += option_row(option);
  text += filled(exit_codes, 0) + '\n';
  return text + (all ? "" : "\n`ptxasw help --all` lists all commands, ") +
         (all ? "\n`ptxasw COMMAND --help` says more of one.\n"
              : "`ptxasw COMMAND --help` says more\nof one. Start with: ptxasw lint kernel.cu\n");
}

} // namespace ptxasw::wrapper
