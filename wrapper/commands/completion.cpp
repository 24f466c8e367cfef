// Self-contained scripts: ptxasw is not asked while someone types. A shell's own way of quoting
// differs in one thing that matters here, the single quote.

#include "wrapper/commands/completion.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>

namespace ptxasw::wrapper {
namespace {

std::string joined(const std::vector<std::string> &words, std::string_view between) {
  std::string out;
  for (const std::string &word : words)
    out += (out.empty() ? std::string() : std::string(between)) + word;
  return out;
}

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

/// Inside single quotes, of sh and zsh.
std::string quoted(const std::string &text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

/// A help text in one line.
std::string one_line(const std::string &text) { return replaced(text, "\n", " "); }

/// Every name of every option, in order.
std::vector<std::string> option_names(const CommandDescription &command) {
  std::vector<std::string> names;
  for (const OptionDescription &option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

/// Between brackets of _arguments.
std::string zsh_text(const std::string &text) {
  std::string out = replaced(one_line(text), "\\", "\\\\");
  for (const char *c : {"[", "]", ":"})
    out = replaced(out, c, std::string("\\") + c);
  return out;
}

/// `:message:action` of a value.
std::string zsh_value(const OptionDescription &option) {
  const std::string message = zsh_text(option.value);
  return option.choices.empty() ? fmt::format(":{}:_files", message)
                                : fmt::format(":{}:({})", message, joined(option.choices, " "));
}

std::string zsh_arguments(const CommandDescription &command) {
  std::string out;
  for (const OptionDescription &option : command.options) {
    if (option.names.empty())
      out += " \\\n        " + quoted((option.repeatable ? "*" : "") + zsh_value(option));
    for (const std::string &name : option.names)
      out +=
          " \\\n        " + quoted(fmt::format("{}{}{}[{}]{}", option.repeatable ? "*" : "", name,
                                               option.value.empty()     ? ""
                                               : name.starts_with("--") ? "="
                                                                        : "+",
                                               zsh_text(option.meaning),
                                               option.value.empty() ? "" : zsh_value(option)));
  }
  if (command.runs_another)
    out += " \\\n        '*::command:_normal'";
  return out;
}

std::string fish_text(const std::string &text) {
  return "'" + replaced(replaced(one_line(text), "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const std::string &condition, const OptionDescription &option) {
  std::string out = fmt::format("complete -c ptxasw -n {}", fish_text(condition));
  for (const std::string &name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    out += fmt::format(" -x -a '{}'", joined(option.choices, " "));
  else if (!option.value.empty())
    out += " -r -F";
  return out + " -d " + fish_text(option.meaning) + "\n";
}

/// The part of the bash script that needs no table. The words that bash has cut at `=` are put
/// together again by looking at the one before.
constexpr char bash_function[] = R"(_ptxasw() {
  local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' options='' values='' i
  COMPREPLY=()
  if [[ $current == = ]]; then
    current=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      if declare -F _command_offset >/dev/null; then
        _command_offset $((i + 1))
      else
        mapfile -t COMPREPLY < <(compgen -c -f -- "$current")
      fi
      return
    fi
    [[ -n $command || ${COMP_WORDS[i]} == -* ]] || command=${COMP_WORDS[i]}
  done
  case $command in
)";

constexpr char bash_end[] = R"(  *) return ;;
  esac
  if [[ -n $values ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  elif [[ $current == -* || -z $command ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}
complete -F _ptxasw ptxasw
)";

} // namespace

std::string bash_completion(const std::vector<CommandDescription> &commands) {
  std::string out =
      std::string("# Completion of ptxasw for bash; made by `ptxasw describe bash`.\n") +
      bash_function;
  std::vector<std::string> first = option_names(commands.front());
  for (const CommandDescription &command : commands)
    if (!command.name.empty())
      first.push_back(command.name);
  for (const CommandDescription &command : commands) {
    out += fmt::format("  {})\n    options={}\n", command.name.empty() ? "''" : command.name,
                       quoted(joined(command.name.empty() ? first : option_names(command), " ")));
    std::string values;
    for (const OptionDescription &option : command.options)
      if (!option.choices.empty() && !option.names.empty())
        values += fmt::format("    {}) values={} ;;\n", joined(option.names, " | "),
                              quoted(joined(option.choices, " ")));
    if (!values.empty())
      out += "    case $before in\n" + values + "    esac\n";
    out += "    ;;\n";
  }
  return out + bash_end;
}

std::string zsh_completion(const std::vector<CommandDescription> &commands) {
  std::string out =
      "#compdef ptxasw\n# Completion of ptxasw for zsh; made by `ptxasw describe zsh`.\n"
      "_ptxasw() {\n  local context state state_descr line\n  typeset -A opt_args\n"
      "  _arguments -C" +
      zsh_arguments(commands.front()) +
      " \\\n        '1:command:->command' \\\n        '*::word:->words'\n"
      "  case $state in\n  command)\n    local -a commands=(\n";
  for (const CommandDescription &command : commands)
    if (!command.name.empty())
      out += "      " +
             quoted(command.name + ":" + replaced(one_line(command.summary), ":", "\\:")) + "\n";
  out += "    )\n    _describe command commands\n    ;;\n  words)\n    case $line[1] in\n";
  for (const CommandDescription &command : commands)
    if (!command.name.empty())
      out += fmt::format("    {})\n      _arguments{}\n      ;;\n", command.name,
                         zsh_arguments(command));
  return out + "    esac\n    ;;\n  esac\n}\n_ptxasw \"$@\"\n";
}

std::string fish_completion(const std::vector<CommandDescription> &commands) {
  std::string out = "# Completion of ptxasw for fish; made by `ptxasw describe fish`.\n"
                    "complete -c ptxasw -n __fish_use_subcommand -f\n";
  for (const OptionDescription &option : commands.front().options)
    out += fish_option("__fish_use_subcommand", option);
  for (const CommandDescription &command : commands) {
    if (command.name.empty())
      continue;
    out += fmt::format("complete -c ptxasw -n __fish_use_subcommand -a {} -d {}\n", command.name,
                       fish_text(command.summary));
    for (const OptionDescription &option : command.options)
      if (!option.names.empty())
        out += fish_option("__fish_seen_subcommand_from " + command.name, option);
  }
  return out;
}

} // namespace ptxasw::wrapper
