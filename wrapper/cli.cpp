#include "wrapper/cli.h"

#include "wrapper/bisect_command.h"
#include "wrapper/commands.h"
#include "wrapper/emulate_command.h"
#include "wrapper/explain_command.h"
#include "wrapper/load_settings.h"
#include "wrapper/suggest.h"
#include "wrapper/trace_command.h"
#include "wrapper/verify_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/core.h>
#include <new>
#include <system_error>

namespace ptxasw {
namespace {

constexpr int usage_error = 2;

/// Adds the settings as options of a subcommand; what the user gives is collected in `given`.
void add_settings(CLI::App &command, std::vector<OwnOption> &given, bool all) {
  for (const SettingSpec &spec : setting_table()) {
    if (!all && !spec.in_rewrite)
      continue;
    const std::string name(spec.name);
    const std::string meaning(spec.meaning);
    if (spec.is_switch) {
      command.add_flag_callback((name == "verbose" ? "-v,--" : "--") + name,
                                [&given, name] {
                                  given.push_back({name, std::nullopt});
                                },
                                meaning);
      continue;
    }
    command
        .add_option_function<std::vector<std::string>>(
            "--" + name,
            [&given, name](const std::vector<std::string> &values) {
              for (const std::string &value : values)
                given.push_back({name, value});
            },
            meaning)
        ->option_text(std::string(spec.values))
        ->type_size(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }
}

/// Words after `--` are a command of somebody else.
std::vector<std::string> split_off_command(std::vector<std::string> &words) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  std::vector<std::string> command;
  if (dashes != words.end())
    command.assign(dashes + 1, words.end());
  words.erase(dashes, words.end());
  return command;
}

/// The spellings of help and version that people try, as the options that there are.
void translate_common_words(std::vector<std::string> &words) {
  if (words.empty())
    return;
  if (words[0] == "version" || words[0] == "-V")
    words[0] = "--version";
  if (words[0] != "help")
    return;
  words.erase(words.begin());
  words.resize(std::min<std::size_t>(words.size(), 1)); // of a command, or of all
  words.emplace_back("--help");
}

/// What is wrong with the name of the command; empty if nothing is.
std::string unknown_command(const CLI::App &app, const std::vector<std::string> &words) {
  if (words.empty() || words[0].starts_with('-'))
    return "";
  std::vector<std::string_view> names;
  for (const CLI::App *command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  if (std::find(names.begin(), names.end(), words[0]) != names.end())
    return "";
  const std::string_view near = nearest(words[0], names);
  return fmt::format("there is no command `{}`{}; `ptxasw help` lists them", words[0],
                     near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
}

int complain(const std::string &message) {
  fmt::print(stderr, "ptxasw: error: {}\n", message);
  return usage_error;
}

/// Children, being ptxas to somebody, get the settings by the environment.
void export_settings(const std::vector<OwnOption> &given, const Settings &settings) {
  for (const SettingSpec &spec : setting_table())
    if (std::any_of(given.begin(), given.end(),
                    [&](const OwnOption &option) { return option.name == spec.name; }))
      ::setenv(environment_name(spec).c_str(), spec.get(settings).c_str(), 1);
}

int run_subcommand(const std::vector<std::string> &all_words) {
  std::vector<std::string> words = all_words;
  const std::vector<std::string> foreign = split_off_command(words);
  translate_common_words(words);
  std::vector<OwnOption> given;
  std::string input, output, directory, cuda, real;
  bool remove = false, check = false, last = false, markdown = false, json = false;

  CLI::App app("Replaces redundant global loads in PTX by warp shuffles and assembles the result.\n"
               "Started under the name `ptxas` it takes the place of NVIDIA's.",
               "ptxasw");
  app.set_version_flag("--version", "ptxasw " PTXASW_VERSION);
  app.require_subcommand(1);

  CLI::App *rewrite = app.add_subcommand("rewrite", "rewrite a PTX file");
  rewrite->add_option("input", input, "PTX to read, - for standard input")->required();
  rewrite->add_option("-o,--output", output, "PTX to write, - for standard output")->required();
  add_settings(*rewrite, given, false);

  TraceRequest tracing;
  const CLI::App *trace = add_trace_command(app, tracing);

  CLI::App *overlay = app.add_subcommand(
      "overlay", "make a directory of links to the CUDA toolkit with ptxasw as its ptxas");
  overlay->add_option("directory", directory, "where to make it")->required();
  overlay->add_option("--cuda", cuda, "the toolkit to link to, instead of searching for it");
  overlay->add_flag("--remove", remove, "take the overlay away again");
  overlay->add_flag("--check", check, "only say whether it still hangs together (exit code 1: no)");

  CLI::App *status = app.add_subcommand("status", "which ptxas would run, and why");
  status->add_flag("--last", last, "only what the log says about the last run");

  CLI::App *stats = app.add_subcommand(
      "stats", "what all runs did that the log tells of: outcomes, rewrites, reasons, time");
  stats->add_flag("--json", json, "for programs");

  CLI::App *config = app.add_subcommand("config", "every setting, its value and its origin");
  config->add_flag("--markdown", markdown, "the table of all settings, for the documentation");

  CLI::App *run = app.add_subcommand(
      "run", "run a command with every ptxas it starts replaced: ptxasw run -- make");
  add_settings(*run, given, true);

  BisectRequest bisection;
  CLI::App *bisect = add_bisect_command(app, bisection);
  add_settings(*bisect, given, true);

  CLI::App *assemble = app.add_subcommand(
      "assemble", "stand in for GCC's nvptx assembler: ptxasw assemble --tool AS -- WORDS");
  assemble->add_option("--tool", real, "the assembler to run on the rewritten PTX")->required();

  EmulateRequest emulation;
  const CLI::App *emulate = add_emulate_command(app, emulation);
  VerifyRequest verification;
  ExplainRequest explanation;
  const CLI::App *explain = add_explain_command(app, explanation);

  const CLI::App *verify = add_verify_command(app, verification);

  if (const std::string wrong = unknown_command(app, words); !wrong.empty())
    return complain(wrong);
  try {
    std::reverse(words.begin(), words.end()); // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : usage_error;
  }
  if (*trace)
    return trace_command(tracing);
  if (*overlay && check)
    return check_overlay(directory);
  if (*overlay)
    return overlay_command(directory, cuda, remove);
  if (*emulate)
    return emulate_command(emulation);
  if (*explain)
    return explain_command(explanation);
  if (*verify)
    return verify_command(verification);
  auto settings = load_settings(given, "--");
  if (!settings && *status) { // it is there to find out what is wrong
    fmt::print("{:<15} {}\n", "settings", "WRONG: " + settings.error());
    settings = Settings{};
  }
  if (!settings)
    return complain(settings.error());
  if (*rewrite)
    return rewrite_command(*settings, input, output);
  if (*status)
    return status_command(*settings, last);
  if (*stats)
    return stats_command(*settings, json);
  if (*config)
    return config_command(*settings, markdown);
  if (*assemble)
    return assemble_command(*settings, real, foreign);
  if (foreign.empty())
    return complain(fmt::format("nothing to run; write the command after `--`: ptxasw {} -- make",
                                *bisect ? "bisect" : "run"));
  export_settings(given, *settings);
  return *bisect ? bisect_command(bisection, foreign) : run_command(*settings, foreign);
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
  } catch (const std::system_error &error) { // of fmt, when standard output cannot be written
    return complain(error.what());
  } catch (const std::exception &error) {
    return complain(error.what());
  }
}

} // namespace ptxasw
