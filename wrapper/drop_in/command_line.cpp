// A ptxas command line, read as ptxas reads it. What cannot be understood for sure is a doubt, and
// with a doubt the original line runs unchanged.

#include "wrapper/drop_in/command_line.h"

#include "wrapper/drop_in/options_file.h"
#include "wrapper/drop_in/ptxas_options.h"
#include "wrapper/os/files.h"

#include <charconv>

namespace ptxasw::wrapper {
namespace {

constexpr std::string_view own_prefix = "--ptxasw-";

// Deeper than anyone nests, shallow enough to end a file that names itself.
constexpr int deepest_options_file = 16;

class Reader {
public:
  explicit Reader(CommandLine &line) : line_(line) {}

  void read(const std::vector<std::string> &words, int depth) {
    for (std::size_t i = 0; i < words.size(); ++i)
      i += word(words, i, depth);
  }

  void finish() {
    // After an option that we do not know, a plain word is its value or an input. ptxas without
    // an input does nothing, so the only plain word of a line is the input. Otherwise we leave
    // such words alone; that misses a rewrite at worst.
    if (line_.inputs.empty() && unclear_.size() == 1)
      line_.inputs.push_back(unclear_.front());
  }

private:
  /// Reads the word at `i`; returns how many more words belong to it.
  std::size_t word(const std::vector<std::string> &words, std::size_t i, int depth) {
    const std::string &text = words[i];
    if (text == "-") {
      input({InputKind::standard_input, line_.arguments.size(), 0});
      keep(text);
      return 0;
    }
    if (!text.starts_with('-')) {
      input({InputKind::file, line_.arguments.size(), 0});
      keep(text);
      return 0;
    }
    if (text.starts_with(own_prefix)) {
      own(std::string_view(text).substr(own_prefix.size()));
      return 0;
    }
    const std::optional<OptionMatch> match = match_option(text);
    if (!match) {
      keep(text);
      after_unknown_ = text.find('=') == std::string::npos;
      return 0;
    }
    after_unknown_ = false;
    return option(*match, words, i, depth);
  }

  std::size_t option(const OptionMatch &match, const std::vector<std::string> &words, std::size_t i,
                     int depth) {
    const PtxasOption &option = *match.option;
    std::optional<std::string_view> value = match.value;
    std::size_t more = 0;
    if (option.takes == Takes::nothing) {
      if (value)
        line_.doubt = "a value for an option that takes none";
    } else if (!value) {
      if (option.takes == Takes::attached || i + 1 == words.size()) {
        line_.doubt = "an option without its value";
        keep(words[i]);
        return 0;
      }
      value = words[i + 1];
      more = 1;
    }
    if (option.meaning == OptionMeaning::options_file && open_up(*value, depth))
      return more;
    if (option.meaning == OptionMeaning::input_text)
      line_.inputs.push_back({InputKind::text, line_.arguments.size() + more,
                              more ? 0 : words[i].size() - value->size()});
    keep(words[i]);
    if (more)
      keep(words[i + 1]);
    meaning(option.meaning, value);
    return more;
  }

  void meaning(OptionMeaning meaning, std::optional<std::string_view> value) {
    switch (meaning) {
    case OptionMeaning::target:
      line_.target = *value;
      break;
    case OptionMeaning::output:
      line_.output = *value;
      break;
    case OptionMeaning::opt_level:
      line_.opt_level = *value;
      break;
    case OptionMeaning::debug:
      line_.debug = true;
      break;
    case OptionMeaning::verbose:
      line_.verbose = true;
      break;
    case OptionMeaning::instrument:
      line_.instrument = true;
      break;
    case OptionMeaning::help:
      line_.help = true;
      break;
    case OptionMeaning::version:
      line_.version = true;
      break;
    case OptionMeaning::list_versions:
      line_.list_versions = true;
      break;
    case OptionMeaning::none:
    case OptionMeaning::input_text:
    case OptionMeaning::options_file:
      break;
    }
  }

  /// Reads the options in a file in place of the option that names it.
  bool open_up(std::string_view path, int depth) {
    const auto text =
        depth < deepest_options_file ? read_regular_file(std::string(path)) : std::nullopt;
    const auto words = text ? split_options(*text) : std::nullopt;
    if (!words) {
      line_.doubt = "an options file that cannot be read with certainty";
      return false;
    }
    line_.changed = true;
    read(*words, depth + 1);
    return true;
  }

  void own(std::string_view body) {
    const std::size_t equals = body.find('=');
    OwnOption option{std::string(body.substr(0, equals)), std::nullopt};
    if (equals != std::string_view::npos)
      option.value = body.substr(equals + 1);
    line_.own.push_back(std::move(option));
    line_.changed = true;
  }

  void input(const Input &input) {
    (after_unknown_ ? unclear_ : line_.inputs).push_back(input);
    after_unknown_ = false;
  }

  void keep(const std::string &word) { line_.arguments.push_back(word); }

  CommandLine &line_;
  std::vector<Input> unclear_;
  bool after_unknown_ = false;
};

} // namespace

CommandLine parse_command_line(const std::vector<std::string> &words) {
  CommandLine line;
  Reader reader(line);
  reader.read(words, 0);
  reader.finish();
  return line;
}

int target_number(std::string_view target) {
  if (!target.starts_with("sm_"))
    return 0;
  int number = 0;
  const char *end = target.data() + target.size();
  const auto [stop, error] = std::from_chars(target.data() + 3, end, number);
  if (error != std::errc() || number < 10)
    return 0;
  const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
  return suffix.empty() || suffix == "a" || suffix == "f" ? number : 0;
}

} // namespace ptxasw::wrapper
