#pragma once

// How a command declares its words; what is declared gives its parser, its help, its man page and
// its completion. Commands do not see the library that parses (words.cpp):
//   words.required("input", request.input, "PTX file"); words.output(request.output);

#include "emulator/semantics/launch.h"
#include "wrapper/commands/command.h"
#include "wrapper/commands/description.h"
#include "wrapper/commands/shard.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace CLI {
class App;
}

namespace ptxasw::wrapper {

/// How a command answers.
struct OutputRequest {
  std::string colour = "auto"; ///< wants_colour()
  bool json = false, verbose = false, quiet = false;
};

/// The words that a command takes. A `name` is as the user writes it: `input` for a positional
/// word, `--json` or `-o,--output` for an option, followed by its value after a blank where the
/// type does not imply it: `--arch sm_XX`. What is read goes to `to`, whose previous value is the
/// default, shown if it is a number.
class Words {
public:
  explicit Words(CLI::App &app, std::vector<OwnOption> &given) : app_(app), given_(given) {}

  void text(std::string_view name, std::string &to, std::string_view meaning);
  void required(std::string_view name, std::string &to, std::string_view meaning);
  /// Positional, any number.
  void inputs(std::string_view name, std::vector<std::string> &to, std::string_view meaning);
  /// Positional, at least one.
  void required_list(std::string_view name, std::vector<std::string> &to, std::string_view meaning);
  void flag(std::string_view name, bool &to, std::string_view meaning);
  /// May be repeated, one value each time; values may hold commas.
  void list(std::string_view name, std::vector<std::string> &to, std::string_view meaning);
  /// One of `choices`; it must be there if `to` is empty.
  void one_of(std::string_view name, std::string &to, const std::vector<std::string> &choices,
              std::string_view meaning);
  /// Several words at once, cut at commas: each one of `choices`. Of those that are gone it says
  /// so, if the setting of that name has had them.
  void choices(std::string_view name, std::vector<std::string> &to,
               const std::vector<std::string> &choices, std::string_view meaning);
  /// From `least` to `most`; without a `most`, `least` is 0 or 1.
  void number(std::string_view name, unsigned &to, std::string_view meaning, unsigned least = 0,
              unsigned most = ~0U);
  void number(std::string_view name, std::uint64_t &to, std::string_view meaning,
              std::uint64_t least = 0);
  void number(std::string_view name, std::optional<std::uint32_t> &to, std::string_view meaning,
              std::uint32_t least, std::uint32_t most);
  /// `--shard I/N`: of kernels, in the order of the text, the I-th of N parts.
  void shard(Shard &to, std::string_view meaning = "only the I-th of N parts of the kernels; all "
                                                   "parts, one behind the other, are the whole");
  /// The settings, as options: all, or those that concern the rewriting of a file.
  void settings(bool all);
  /// An option that there was once (wrapper/settings/gone.h): an error that says so, and no word of
  /// help.
  void gone(std::string_view name);
  /// `--launch`: a launch file, or NAME=NUMBER,... (read_launch()). May be repeated. `meaning`:
  /// what the command does with it.
  void launch(std::vector<std::string> &to,
              std::string_view meaning = "what is said then holds for it");
  /// `--json`, `-v`, `-q` and `--color`; the first two with what they mean to the command.
  void output(OutputRequest &to, std::string_view json = "as JSON",
              std::string_view verbose = "leave nothing out");
  /// `--color`, of output().
  void colour(std::string &to);
  /// What help ends with: exit codes and the like.
  void footer(std::string_view text);
  /// Commands to copy, behind that.
  void examples(const std::vector<std::string_view> &commands);

private:
  CLI::App &app_;
  std::vector<OwnOption> &given_;
};

/// What the user asked `ptxasw` to do.
struct Request {
  Run run;
  std::vector<OwnOption> given; ///< settings, of commands that take them
};

/// Interprets the words after the program's name, without those after `--`.
/// Errors: an exit code, when everything has been said: 0 after help or version, 2 after an error.
tl::expected<Request, int> parse_words(std::vector<std::string> words);

/// Everything that can be asked for: the options of `ptxasw` itself as a command without a name,
/// then the commands in the order of commands(). If `which` is not empty, only commands that it
/// names have their options.
std::vector<CommandDescription> describe_commands(std::span<const std::string> which = {});

} // namespace ptxasw::wrapper
