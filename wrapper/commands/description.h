#pragma once

// Commands and their options as data: words.cpp makes it of what commands declare, and whatever is
// written about them comes from it.

#include "grammar/namespaces.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// One option, or one word by its place, of a command.
struct OptionDescription {
  std::vector<std::string> names; ///< with their dashes, `-v` and `--verbose`; empty: by its place
  std::string value;    ///< what to write for its value, `X[,Y[,Z]]`; empty: it takes none
  std::string meaning;  ///< a line for people, without a full stop
  std::string limits;   ///< of a number, for people; empty: none
  std::string standard; ///< what holds if it is not given; empty: nothing to say
  std::vector<std::string> choices; ///< the words that its value consists of; empty: it is free
  bool required = false;
  bool repeatable = false;
};

/// One command, as the table of options (words.cpp) has it: man pages, completions and the table of
/// commands in docs/commands.md are made only from this.
struct CommandDescription {
  std::string name;
  std::string summary; ///< what it does, in a line
  std::string group;   ///< the heading that it stands under
  std::string footer;  ///< exit codes and the like; may be empty
  std::vector<OptionDescription> options;
  bool runs_another = false; ///< takes someone else's command after `--`
};

} // namespace ptxasw::wrapper
