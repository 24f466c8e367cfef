// `ptxasw describe`: all commands and options for other programs. Man pages, completions and tables
// of the documentation are made from what the commands declare, so nothing can be missing.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/completion.h"
#include "wrapper/commands/man_page.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const OptionDescription &option) {
  return {{"names", option.names},       {"value", option.value},
          {"meaning", option.meaning},   {"limits", option.limits},
          {"default", option.standard},  {"choices", option.choices},
          {"required", option.required}, {"repeatable", option.repeatable}};
}

Json to_json(const CommandDescription &command) {
  Json options = Json::array();
  for (const OptionDescription &option : command.options)
    options.push_back(to_json(option));
  return {{"name", command.name},   {"summary", command.summary},
          {"group", command.group}, {"footer", command.footer},
          {"options", options},     {"runs_another", command.runs_another}};
}

/// `ptxasw rewrite INPUT -o OUTPUT`: the words by their place and what else must be there.
std::string usage(const CommandDescription &command) {
  std::string out = "ptxasw " + command.name;
  for (const OptionDescription &option : command.options)
    if (option.required)
      out += (option.names.empty() ? " " : " " + option.names.front() + " ") + option.value;
    else if (option.names.empty())
      out += " [" + option.value + "]";
  return command.runs_another ? out + " -- COMMAND" : out;
}

/// A bar would end the cell.
std::string cell(const std::string &text) {
  std::string out;
  for (const char c : text)
    out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string markdown(const std::vector<CommandDescription> &commands) {
  std::string out = "| command | what it does |\n|---|---|\n";
  for (const CommandDescription &command : commands)
    if (!command.name.empty())
      out += fmt::format("| `{}` | {} |\n", cell(usage(command)), cell(command.summary));
  return out;
}

/// The table of all settings.
std::string markdown_settings() {
  const Settings defaults;
  std::string out =
      "| flag | environment | key in ptxasw.toml | values | default | what it does |\n"
      "|---|---|---|---|---|---|\n";
  for (const SettingSpec &spec : setting_table()) {
    const std::string value = spec.get(defaults);
    out += fmt::format("| `--ptxasw-{0}` | `{1}` | `{0}` | `{2}` | {3} | {4} |\n", spec.name,
                       environment_name(spec), cell(std::string(spec.values)),
                       value.empty() ? "" : fmt::format("`{}`", value), spec.meaning);
  }
  return out;
}

/// A settings file in which nothing is set, each key with its meaning, possible values and default.
std::string example_settings() {
  std::string out = "# Settings of ptxasw. Take away the # of what is to hold.\n";
  const Settings defaults;
  for (const SettingSpec &spec : setting_table()) {
    const std::string value = spec.get(defaults);
    const bool bare =
        value == "true" || value == "false" ||
        (!value.empty() && value.find_first_not_of("0123456789") == std::string::npos);
    out += fmt::format("\n# {}\n# One of: {}{}\n# {} = {}\n", spec.meaning, spec.values,
                       spec.in_project ? "" : ". Only in your own file, not in a project's.",
                       spec.name, bare ? value : "\"" + value + "\"");
  }
  return out;
}

/// What `ptxasw describe` was asked.
struct DescribeRequest {
  std::string form;    ///< how to write it
  std::string command; ///< of man: whose page; empty: the one of all
};

int run(const DescribeRequest &request, const Invocation &) {
  const std::string &form = request.form, &command = request.command;
  const std::vector<CommandDescription> commands = describe_commands();
  const auto one = std::find_if(commands.begin(), commands.end(),
                                [&](const CommandDescription &c) { return c.name == command; });
  if (one == commands.end()) {
    return complain(fmt::format("there is no command `{}`", command));
  }
  std::string text;
  if (form == "json") {
    Json all = Json::array();
    for (const CommandDescription &each : commands)
      all.push_back(to_json(each));
    text = Json{{"version", PTXASW_VERSION}, {"commands", all}}.dump(1) + "\n";
  } else if (form == "man") {
    text = command.empty() ? man_page(commands) : man_page(*one);
  } else if (form == "markdown") {
    text = markdown(commands);
  } else if (form == "settings") {
    text = markdown_settings();
  } else if (form == "toml") {
    text = example_settings();
  } else {
    text = form == "bash"  ? bash_completion(commands)
           : form == "zsh" ? zsh_completion(commands)
                           : fish_completion(commands);
  }
  fmt::print("{}", text);
  return 0;
}

void declare(Words &words, DescribeRequest &request) {
  words.one_of("form", request.form,
               {"json", "man", "bash", "zsh", "fish", "markdown", "settings", "toml"},
               "how to write them");
  words.text("command", request.command, "of man: whose page; otherwise that of ptxasw itself");
  words.footer(
      "man: a page in the macros of man(7). bash, zsh, fish: completion. markdown: a "
      "table of commands. settings: one of settings. toml: an example of a file with them.");
  words.examples({"ptxasw describe bash > ~/.local/share/bash-completion/completions/ptxasw",
                  "ptxasw describe man lint | man -l -"});
}

} // namespace

const Command describe_command = {"describe", "print all commands and options for other programs",
                                  bind<DescribeRequest, declare, run>};

} // namespace ptxasw::wrapper
