// The words behind `ptxasw`, by CLI11: the only file that compiles it, which takes longer than all
// commands together.

#include "wrapper/commands/words.h"

#include "wrapper/commands/commands.h"
#include "wrapper/commands/help.h"
#include "wrapper/commands/version.h"
#include "wrapper/settings/gone.h"
#include "wrapper/settings/suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <fmt/core.h>
#include <limits>
#include <span>

namespace ptxasw::wrapper {
namespace {

constexpr char what_it_is[] =
    "Find out why a CUDA kernel is slow, and run a faster version of it, without touching the "
    "source.\nStarted under the name `ptxas` it takes the place of NVIDIA's.";

/// `--arch sm_XX`: the name, and what follows it.
std::pair<std::string, std::string> split_name(std::string_view name) {
  const std::size_t blank = std::min(name.find(' '), name.size());
  return {std::string(name.substr(0, blank)),
          std::string(name.substr(std::min(blank + 1, name.size())))};
}

template <typename Target>
CLI::Option *add(CLI::App &app, std::string_view name, Target &to, std::string_view meaning) {
  const auto [option, values] = split_name(name);
  CLI::Option *added = app.add_option(option, to, std::string(meaning));
  if (!values.empty())
    added->option_text(values);
  return added;
}

/// One value each time the option is given.
CLI::Option *one_at_a_time(CLI::Option *option) {
  return option->type_size(1)->allow_extra_args(false)->multi_option_policy(
      CLI::MultiOptionPolicy::TakeAll);
}

/// At least 1. Not CLI::PositiveNumber, whose message ends with the largest floating number. What
/// is no number at all is told where it is converted.
const CLI::Validator from_one(
    [](std::string &text) {
      std::uint64_t number = 0;
      return CLI::detail::lexical_cast(text, number) && number == 0 ? "it begins at 1"
                                                                    : std::string();
    },
    "POSITIVE");

/// A number whose default, where it means something, and bounds help shows.
template <typename Number>
void add_number(CLI::App &app, std::string_view name, Number &to, std::string_view meaning,
                Number least, Number most) {
  CLI::Option *option = add(app, name, to, meaning);
  if (most != std::numeric_limits<Number>::max())
    option->check(CLI::Range(least, most));
  else if (least > 0)
    option->check(from_one);
  if (to != 0 && to != std::numeric_limits<Number>::max())
    option->capture_default_str();
}

/// Adds one setting as an option; what the user gives is collected in `given`.
void add_setting(CLI::App &app, const SettingSpec &spec, std::vector<OwnOption> &given) {
  const std::string name(spec.name);
  const std::string meaning(spec.meaning);
  if (spec.is_switch) {
    app.add_flag_callback((name == "verbose" ? "-v,--" : "--") + name,
                          [&given, name] {
                            given.push_back({name, std::nullopt});
                          },
                          meaning);
    return;
  }
  one_at_a_time(app.add_option_function<std::vector<std::string>>(
                       "--" + name,
                       [&given, name](const std::vector<std::string> &values) {
                         for (const std::string &value : values)
                           given.push_back({name, value});
                       },
                       meaning)
                    ->option_text(std::string(spec.values)))
      ->group(spec.is_experiment ? "" : "OPTIONS"); // help has no experiments
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
  if (!words.empty() && words[0].starts_with('-'))
    words.clear();
  words.resize(std::min<std::size_t>(words.size(), 1)); // of a command, or of all
  words.emplace_back("--help");
}

/// What was spelled otherwise once, and what is written now.
struct FormerSpelling {
  std::string_view name, now;
};
constexpr FormerSpelling former_commands[] = {
    {"bound", "cost"},
    {"config", "status --settings"},
    {"occupancy", "cost"},
    {"stats", "status --totals"},
    {"trace", "explain --trace"},
};
/// Of options: where what is written now is an option of the command.
constexpr FormerSpelling former_spellings[] = {
    {"--check", "--status"}, // of `overlay`
    {"--check", "--why"},
    {"--explain", "--why"},
    {"--first", "--unmeasured"},
    {"--most", "--siblings N"},
    {"--only", "--choose TEXT"},
    {"--shuffle", "--shuffle-siblings WHICH"},
    {"--tool", "--assembler AS"},
    {"--tool", "--compiler GCC"},
    {"--json", "--tuner-json FILE"},
    {"--last", "--last-run"},
    {"--launch", "--launch-log"},
    {"--profile", "--by-instruction"},
    {"--registers", "--registers-per-thread N"},
    {"--threads", "--jobs N"},
    {"--arg", "--launch NAME=VALUE"},
    {"--assume", "--launch base-align=BYTES"},
    {"--assume-block", "--launch block=32x8"},
    {"--at", "--launch NAME=NUMBER"},
    {"--base-align", "--launch base-align=BYTES"},
    {"--block", "--launch block=32x8"},
    {"--error-on", "-Werror=CODE"},
    {"--dynamic-shared", "--launch shared=BYTES"},
    {"--grid", "--launch grid=64x64"},
    {"--names", "--launch NAME=NUMBER with the names of the source, or param_0 of the PTX"},
    {"--shape", "--launch shape=32x8"},
    {"--shared", "--launch shared=BYTES"},
    {"--threads", "--launch threads=2048x2048"},
};

/// What is wrong with the name of the command; empty if nothing is.
std::string unknown_command(const std::vector<std::string> &words) {
  if (words.empty())
    return "";
  std::vector<std::string_view> names;
  for (const Command *command : commands())
    names.push_back(command->name);
  if (words[0].starts_with('-')) {
    const auto command = std::find_first_of(words.begin(), words.end(), names.begin(), names.end());
    return command == words.end() || words[0] == "--help" || words[0] == "-h" ||
                   words[0] == "--version"
               ? ""
               : fmt::format("options stand behind the command: ptxasw {0} {1}", *command,
                             words[0]);
  }
  if (std::find(names.begin(), names.end(), words[0]) != names.end())
    return "";
  for (const FormerSpelling &former : former_commands)
    if (former.name == words[0])
      return fmt::format("`{}` is written `{}` now", former.name, former.now);
  const std::string_view near = nearest(words[0], names);
  return fmt::format("there is no command `{}`; {}`ptxasw help` lists them", words[0],
                     near.empty() ? "" : fmt::format("did you mean `{}`? ", near));
}

/// `--block` of `--block=3`.
std::string_view name_of(std::string_view word) { return word.substr(0, word.find('=')); }

/// What is wrong with words that a command has no use for: the first of them, as it was written.
std::string unexpected_word(const std::vector<std::string> &words,
                            const std::vector<std::string> &left,
                            const CommandDescription &command) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const std::string &word) {
    return std::find(left.begin(), left.end(), word) != left.end();
  });
  const std::string word = found != words.end() ? *found : left.empty() ? "" : left.front();
  if (!word.starts_with('-') && command.runs_another)
    return fmt::format("write the program after `--`: ptxasw {} -- {}", command.name, word);
  if (!word.starts_with('-'))
    return fmt::format("`{}` is one word too many for `ptxasw {}`", word, command.name);
  std::vector<std::string_view> names;
  for (const OptionDescription &option : command.options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  for (const FormerSpelling &former : former_spellings)
    if (former.name == name_of(word) &&
        std::any_of(names.begin(), names.end(), [&](std::string_view name) {
          return former.now.starts_with(name) &&
                 (former.now == name || former.now[name.size()] == ' ' || name == "-W");
        }))
      return fmt::format("`{}` is written `{}` now", former.name, former.now);
  const std::string_view near = nearest(name_of(word), names);
  const bool is_tool = command.name == "ptxasw"; // no command of its own was named
  return fmt::format("`ptxasw{}{}` has no option `{}`{}", is_tool ? "" : " ",
                     is_tool ? "" : command.name, name_of(word),
                     near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
}

/// `1 - 9` as `1 to 9`.
std::string between(std::string range) {
  if (const std::size_t dash = range.find(" - "); dash != std::string::npos)
    range.replace(dash, 3, " to ");
  return range;
}

/// `TEXT:{a,b}`, `UINT:INT in [0 - 9]`: how CLI11 spells what a value may be.
void describe_value(const CLI::Option &option, OptionDescription &description) {
  const std::string type = option.get_type_name();
  const std::size_t colon = std::min(type.find(':'), type.size());
  const std::string kind = type.substr(0, colon);
  const std::string check = colon < type.size() ? type.substr(colon + 1) : "";
  std::string words = option.get_option_text();
  if (check.starts_with('{'))
    description.choices = CLI::detail::split(check.substr(1, check.size() - 2), ',');
  if (!description.choices.empty() && words.empty())
    words = CLI::detail::join(description.choices, "|");
  else if (const std::size_t range = check.find('['); range != std::string::npos)
    description.limits = between(check.substr(range + 1, check.size() - range - 2));
  if (!words.empty()) {
    description.value = words;
    std::replace(words.begin(), words.end(), '|', ',');
    const bool listed =
        words.find(',') != std::string::npos &&
        words.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-,") == std::string::npos;
    if (listed && description.choices.empty())
      description.choices = CLI::detail::split(words, ',');
  } else if (kind == "UINT" || kind == "INT") {
    description.value = "N";
  } else {
    description.value = option.get_lnames().empty() ? option.get_name() : option.get_lnames()[0];
    std::transform(description.value.begin(), description.value.end(), description.value.begin(),
                   [](unsigned char c) { return std::toupper(c); });
  }
}

CommandDescription describe(const CLI::App &command) {
  CommandDescription description{command.get_name(),
                                 command.get_description(),
                                 command.get_group(),
                                 command.get_footer(),
                                 {},
                                 false};
  // By convention a command that runs another one shows it: "ptxasw run -- make".
  description.runs_another =
      (description.summary + description.footer).find(" -- ") != std::string::npos;
  for (const CLI::Option *option : command.get_options()) {
    if (option->get_group().empty())
      continue;
    OptionDescription one;
    for (const std::string &name : option->get_snames())
      one.names.push_back("-" + name);
    for (const std::string &name : option->get_lnames())
      one.names.push_back("--" + name);
    if (option->get_items_expected_max() > 0)
      describe_value(*option, one);
    one.meaning = option->get_description();
    one.standard = option->get_default_str();
    one.required = option->get_required();
    one.repeatable = option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
                     option->get_expected_max() > 1;
    description.options.push_back(std::move(one));
  }
  std::stable_partition(description.options.begin(), description.options.end(),
                        [](const OptionDescription &one) { return one.names.empty(); });
  return description;
}

/// All commands, declared; what waits for the words, by command. Of options only those of commands
/// that `which` names, or all where it is empty: to declare them takes several milliseconds, which
/// is half of what a short command takes.
std::vector<Run> declare_commands(CLI::App &app, std::vector<OwnOption> &given,
                                  std::span<const std::string> which = {}) {
  app.set_version_flag("--version", version_text, "which ptxasw, ptxas and Z3 these are");
  app.require_subcommand(1);
  std::vector<Run> runs;
  for (const Command *command : commands()) {
    Words of_command(*app.add_subcommand(std::string(command->name), std::string(command->meaning)),
                     given);
    const bool is_asked =
        which.empty() || std::find(which.begin(), which.end(), command->name) != which.end();
    runs.push_back(is_asked ? command->declare(of_command) : Run());
  }
  return runs;
}

} // namespace

void Words::text(std::string_view name, std::string &to, std::string_view meaning) {
  add(app_, name, to, meaning);
}

void Words::required(std::string_view name, std::string &to, std::string_view meaning) {
  add(app_, name, to, meaning)->required();
}

void Words::required_list(std::string_view name, std::vector<std::string> &to,
                          std::string_view meaning) {
  add(app_, name, to, meaning)->required();
}

void Words::inputs(std::string_view name, std::vector<std::string> &to, std::string_view meaning) {
  add(app_, name, to, meaning);
}

void Words::flag(std::string_view name, bool &to, std::string_view meaning) {
  app_.add_flag(std::string(name), to, std::string(meaning));
}

void Words::list(std::string_view name, std::vector<std::string> &to, std::string_view meaning) {
  one_at_a_time(add(app_, name, to, meaning));
}

void Words::one_of(std::string_view name, std::string &to, const std::vector<std::string> &choices,
                   std::string_view meaning) {
  add(app_, name, to, meaning)->required(to.empty())->check(CLI::IsMember(choices));
}

void Words::choices(std::string_view name, std::vector<std::string> &to,
                    const std::vector<std::string> &choices, std::string_view meaning) {
  const std::string setting(split_name(name).first.substr(2));
  one_at_a_time(add(app_, name, to, meaning))
      ->delimiter(',')
      ->check([setting](const std::string &word) { return gone_value(setting, word); })
      ->check(CLI::IsMember(choices));
}

void Words::number(std::string_view name, unsigned &to, std::string_view meaning, unsigned least,
                   unsigned most) {
  add_number(app_, name, to, meaning, least, most);
}

void Words::number(std::string_view name, std::uint64_t &to, std::string_view meaning,
                   std::uint64_t least) {
  add_number(app_, name, to, meaning, least, ~std::uint64_t{0});
}

void Words::number(std::string_view name, std::optional<std::uint32_t> &to,
                   std::string_view meaning, std::uint32_t least, std::uint32_t most) {
  add(app_, name, to, meaning)->check(CLI::Range(least, most));
}

void Words::shard(Shard &to, std::string_view meaning) {
  app_.add_option_function<std::string>(
          "--shard",
          [&to](const std::string &text) {
            const auto shard = parse_shard(text);
            if (!shard)
              throw CLI::ValidationError("--shard",
                                         fmt::format("`{}` is no part of a whole", text));
            to = *shard;
          },
          std::string(meaning))
      ->option_text("I/N");
}

void Words::settings(bool all) {
  for (const SettingSpec &spec : setting_table())
    // A command that takes --launch knows the shape of blocks from there.
    if (all || (spec.in_rewrite && spec.name != "assume-block"))
      add_setting(app_, spec, given_);
  gone("--halo");
  gone("--shared");
}

void Words::gone(std::string_view name) {
  const std::string option(name);
  app_.add_option_function<std::string>(option,
                                        [option](const std::string &) {
                                          throw CLI::ValidationError(
                                              gone_setting(option.substr(2), option));
                                        })
      ->expected(0, 1)
      ->group("");
}

void Words::launch(std::vector<std::string> &to, std::string_view meaning) {
  list("--launch FILE|NAME=NUMBER,...", to,
       fmt::format("a launch: a launch file, or numbers such as block=32x8,grid=64,n=1024 and "
                   "base-align=256 (bytes); {}",
                   meaning));
}

void Words::output(OutputRequest &to, std::string_view json, std::string_view verbose) {
  flag("--json", to.json, json);
  flag("-v,--verbose", to.verbose, verbose);
  flag("-q,--quiet", to.quiet, "no notes, summaries and progress");
  colour(to.colour);
}

void Words::colour(std::string &to) {
  one_of("--color", to, {"auto", "always", "never"}, "auto: on a terminal, unless NO_COLOR is set");
}

void Words::footer(std::string_view text) { app_.footer(app_.get_footer() + std::string(text)); }

void Words::examples(const std::vector<std::string_view> &commands) {
  std::string text = app_.get_footer().empty() ? "Examples:" : "\n\nExamples:";
  for (const std::string_view command : commands)
    text += "\n  " + std::string(command);
  footer(text);
}

tl::expected<Request, int> parse_words(std::vector<std::string> words) {
  if (words.size() == 2 && words[0] == "help" && words[1] == "--all") {
    fmt::print("{}", main_help(describe_commands(), true));
    return tl::unexpected(0);
  }
  if (words.empty()) {
    fmt::print(stderr, "{}", main_help(describe_commands(), false));
    return tl::unexpected(exit_code::failed);
  }
  translate_common_words(words);
  if (const std::string wrong = unknown_command(words); !wrong.empty())
    return tl::unexpected(complain(wrong));
  Request request;
  CLI::App app(what_it_is, "ptxasw");
  std::vector<Run> runs = declare_commands(app, request.given, words);
  const std::vector<std::string> as_written = words;
  const auto command = [&]() -> const CLI::App & {
    const auto chosen = app.get_subcommands();
    return chosen.empty() ? app : *chosen.front();
  };
  try {
    std::reverse(words.begin(), words.end()); // CLI11 takes words from the back
    app.parse(words);
  } catch (const CLI::CallForHelp &) {
    fmt::print("{}", &command() == &app ? main_help(describe_commands(), false)
                                        : command_help(describe(command())));
    return tl::unexpected(0);
  } catch (const CLI::Success &version) {
    return tl::unexpected(app.exit(version));
  } catch (const CLI::ParseError &error) {
    const std::vector<std::string> left = app.remaining(true);
    const bool unknown = std::any_of(left.begin(), left.end(),
                                     [](const std::string &word) { return word.starts_with('-'); });
    // What is missing may be so because of a word that is wrong.
    if (dynamic_cast<const CLI::ExtrasError *>(&error) ||
        (unknown && dynamic_cast<const CLI::RequiredError *>(&error)))
      return tl::unexpected(complain(unexpected_word(as_written, left, describe(command()))));
    const std::string &name = command().get_name();
    return tl::unexpected(complain(fmt::format("{}; see `ptxasw {} --help`", error.what(),
                                               &command() == &app ? "COMMAND" : name)));
  }
  const std::string chosen = command().get_name();
  for (std::size_t i = 0; i < runs.size(); ++i)
    if (commands()[i]->name == chosen)
      request.run = std::move(runs[i]);
  return request;
}

std::vector<CommandDescription> describe_commands(std::span<const std::string> which) {
  std::vector<OwnOption> given;
  CLI::App app(what_it_is, "ptxasw");
  // What was declared points into them.
  const std::vector<Run> runs = declare_commands(app, given, which);
  std::vector<CommandDescription> all{describe(app)};
  all[0].name.clear();
  for (const CLI::App *command : app.get_subcommands(nullptr))
    all.push_back(describe(*command));
  return all;
}

} // namespace ptxasw::wrapper
