// Every word that a user can write behind `ptxasw`, in one file: nothing else knows CLI11.

#include "wrapper/options.h"

#include "wrapper/settings.h"
#include "wrapper/suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/core.h>

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

void add_shape_option(CLI::App &command, std::optional<BlockShape> &shape, const std::string &name,
                      const std::string &meaning) {
  command
      .add_option_function<std::string>(
          name,
          [&shape, name](const std::string &text) {
            shape = parse_block_shape(text);
            if (!shape)
              throw CLI::ValidationError(name, fmt::format("`{}` is no shape of a block", text));
          },
          meaning)
      ->option_text("X[,Y[,Z]]");
}

void add_block_option(CLI::App &command, std::optional<BlockShape> &shape) {
  add_shape_option(command, shape, "--assume-block", "what holds if every block has this shape");
}

void add_independent(CLI::App &app, IndependentRequest &request) {
  CLI::App *command = app.add_subcommand(
      "independent", "whether a kernel writes the same however its threads are cut into blocks");
  command->add_option("input", request.input, "PTX to read, - for standard input")->required();
  command->add_option("--kernel", request.kernels, "only this kernel; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command->add_flag("--json", request.json, "as JSON");
}

void add_occupancy(CLI::App &app, OccupancyRequest &request) {
  CLI::App *command = app.add_subcommand(
      "occupancy",
      "how many blocks of a kernel a multiprocessor holds, and what is in the way of more");
  command->add_option("input", request.input,
                      "PTX, which the real ptxas assembles for its registers");
  command->add_option("--kernel", request.kernels, "only this kernel; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  command->add_option("--arch", request.arch, "otherwise the target that the PTX names")
      ->option_text("sm_XX");
  add_shape_option(*command, request.block, "--block",
                   "only this shape; otherwise every number of warps");
  command->add_option("--registers", request.registers, "of a thread, instead of asking ptxas")
      ->check(CLI::Range(0, 256));
  command->add_option("--static-shared", request.static_shared,
                      "bytes of a block, with --registers");
  command->add_option("--dynamic-shared", request.dynamic_shared, "bytes of a block at the launch");
  command->add_flag("--opt-in", request.opted_in,
                    "the program raised the limit of dynamic shared memory for the kernel");
  command->add_flag("--json", request.json, "as JSON");
  command->footer("Exit codes: 0, or 1 if the file, the architecture or ptxas does not say.");
}

CLI::App *add_bisect(CLI::App &app, BisectRequest &request) {
  CLI::App *command = app.add_subcommand(
      "bisect", "find the rewrite that makes a command fail: ptxasw bisect -- make -B check");
  command->footer("The command compiles and checks, and exits with 0 if the result is right. It is "
                  "run many times with\nparts of the rewrites, as settings in its environment.");
  command
      ->add_option("--repeat", request.repeats,
                   "runs of the command for each answer, if it fails only sometimes")
      ->check(CLI::Range(1, 1000));
  command->add_flag("--show-output", request.show_output, "let the command write");
  return command;
}

void add_emulate(CLI::App &app, EmulateRequest &request) {
  CLI::App *emulate = app.add_subcommand("emulate", "run a kernel of a PTX file on the CPU");
  emulate->add_option("file", request.file, "PTX")->required();
  emulate->add_option("--kernel", request.kernel, "which kernel; otherwise the first");
  emulate->add_option("--grid", request.grid, "X,Y,Z")->delimiter(',')->expected(1, 3);
  emulate->add_option("--block", request.block, "X,Y,Z")->delimiter(',')->expected(1, 3);
  emulate->add_option("--shared", request.shared, "bytes of dynamic shared memory");
  emulate
      ->add_option("--arg", request.arguments,
                   "one a parameter, in order: a number, zeros:BYTES, random:TYPE:COUNT[:SEED] or "
                   "file:PATH")
      ->type_size(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  emulate
      ->add_option("--dump", request.dumps,
                   "a buffer after the run: ARG[:TYPE[:COUNT]] prints, ARG:file:PATH writes")
      ->type_size(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  emulate->add_option("--schedule", request.schedule,
                      "of diverged lanes: reconverge, apart, random[:SEED]");
  emulate->add_option("--check", request.checks, "races,bounds,uninit (bounds are always checked)")
      ->delimiter(',')
      ->check(CLI::IsMember({"races", "bounds", "uninit"}));
  emulate
      ->add_option("--steps", request.step_limit,
                   "thread-instructions at most; beyond them the run ends with exit code 1")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  emulate
      ->add_option("--memory", request.memory_limit,
                   "MiB that the emulation of what the kernel touches may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  emulate->footer("Exit codes: 0 the run ended, 1 a fault or a race, 2 it could not be tried.");
  emulate->add_flag("--profile", request.profile,
                    "executions, active lanes, sectors and bank conflicts by instruction");
}

void add_explain(CLI::App &app, ExplainRequest &request) {
  CLI::App *command = app.add_subcommand(
      "explain", "say of every global load what its address is and why it was or was not replaced");
  command->add_option("input", request.input, "PTX to read, - for standard input");
  command->add_option("--kernel", request.kernels, "only this kernel; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  add_block_option(*command, request.assume_block);
  command->add_flag("--json", request.json, "as JSON");
  command->add_flag("--opcodes", request.opcodes, "instead, what is known of the instruction set");
}

void add_trace(CLI::App &app, TraceRequest &request) {
  CLI::App *command = app.add_subcommand("trace", "print the symbolic memory trace of a PTX file");
  command->add_option("input", request.input, "PTX to read, - for standard input")->required();
  command->add_option("--kernel", request.kernels, "only this kernel; may be repeated")
      ->type_size(1)
      ->allow_extra_args(false);
  add_block_option(*command, request.assume_block);
  command->add_flag("--json", request.json, "as JSON");
}

void add_verify(CLI::App &app, VerifyRequest &request) {
  CLI::App *verify = app.add_subcommand(
      "verify", "run the kernels of two PTX files on the CPU and compare what they compute");
  verify->add_option("original", request.original, "PTX")->required();
  verify->add_option("rewritten", request.rewritten, "PTX that should compute the same")
      ->required();
  verify->add_option("--kernel", request.options.kernel, "only this kernel");
  verify->add_option("--runs", request.options.runs, "launches a kernel")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verify
      ->add_option("--search", request.options.search,
                   "launches a kernel at most, beyond the runs, to execute what has not run yet;\n"
                   "0: only the runs, and no question to Z3")
      ->capture_default_str();
  verify->add_option("--schedules", request.options.schedules, "random schedules a launch")
      ->capture_default_str();
  verify->add_option("--seed", request.options.seed, "of launches, contents and schedules")
      ->capture_default_str();
  verify->add_option("--steps", request.options.step_limit, "thread-instructions a run at most")
      ->capture_default_str();
  verify
      ->add_option_function<std::vector<std::string>>(
          "--assume",
          [&request](const std::vector<std::string> &promises) {
            for (const std::string &promise : promises)
              (promise == "no-wrap" ? request.options.no_wrap : request.options.no_alias) = true;
          },
          "promises that the rewriting was given: launches keep them")
      ->delimiter(',')
      ->check(CLI::IsMember({"no-wrap", "no-alias"}));
  verify->add_flag("-v,--verbose", request.verbose, "unused launches and lines not covered");
  verify->footer(
      "Exit codes: 0 all kernels agree and all that changed was exercised, 1 one differs, "
      "2 one cannot\nbe compared or a file cannot be read, 3 no difference, but something "
      "that changed never ran.");
}

/// Every command, its options bound to the request.
void add_commands(CLI::App &app, Request &request) {
  app.set_version_flag("--version", "ptxasw " PTXASW_VERSION);
  app.require_subcommand(1);

  CLI::App *rewrite = app.add_subcommand("rewrite", "rewrite a PTX file");
  rewrite->add_option("input", request.input, "PTX to read, - for standard input")->required();
  rewrite->add_option("-o,--output", request.output, "PTX to write, - for standard output")
      ->required();
  add_settings(*rewrite, request.given, false);

  add_trace(app, request.trace);

  CLI::App *overlay = app.add_subcommand(
      "overlay", "make a directory of links to the CUDA toolkit with ptxasw as its ptxas");
  overlay->add_option("directory", request.directory, "where to make it")->required();
  overlay->add_option("--cuda", request.cuda,
                      "the toolkit to link to, instead of searching for it");
  overlay->add_flag("--remove", request.remove, "take the overlay away again");
  overlay->add_flag("--check", request.check,
                    "only say whether it still hangs together (exit code 1: no)");

  CLI::App *status = app.add_subcommand("status", "which ptxas would run, and why");
  status->add_flag("--last", request.last, "only what the log says about the last run");

  CLI::App *stats = app.add_subcommand(
      "stats", "what all runs did that the log tells of: outcomes, rewrites, reasons, time");
  stats->add_flag("--json", request.json, "for programs");

  CLI::App *config = app.add_subcommand("config", "every setting, its value and its origin");
  config->add_flag("--markdown", request.markdown,
                   "the table of all settings, for the documentation");
  config->add_flag("--cache-key", request.cache_key,
                   "only what must be part of the key of a cache of objects");

  CLI::App *run = app.add_subcommand(
      "run", "run a command with every ptxas it starts replaced: ptxasw run -- make");
  add_settings(*run, request.given, true);

  add_settings(*add_bisect(app, request.bisect), request.given, true);

  CLI::App *assemble = app.add_subcommand(
      "assemble", "stand in for GCC's nvptx assembler: ptxasw assemble --tool AS -- WORDS");
  assemble->add_option("--tool", request.real, "the assembler to run on the rewritten PTX")
      ->required();

  add_emulate(app, request.emulate);
  add_explain(app, request.explain);
  add_independent(app, request.independent);
  add_occupancy(app, request.occupancy);

  add_verify(app, request.verify);
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

} // namespace

tl::expected<Request, int> parse_options(std::vector<std::string> words) {
  translate_common_words(words);
  Request request;
  CLI::App app("Replaces redundant global loads in PTX by warp shuffles and assembles the result.\n"
               "Started under the name `ptxas` it takes the place of NVIDIA's.",
               "ptxasw");
  add_commands(app, request);
  if (const std::string wrong = unknown_command(app, words); !wrong.empty()) {
    fmt::print(stderr, "ptxasw: error: {}\n", wrong);
    return tl::unexpected(usage_error);
  }
  try {
    std::reverse(words.begin(), words.end()); // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::ParseError &error) {
    return tl::unexpected(app.exit(error) == 0 ? 0 : usage_error);
  }
  request.command = app.get_subcommands().front()->get_name();
  return request;
}

} // namespace ptxasw
