#pragma once

// The table of ptxas' options: which take a value, and which concern ptxasw.

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace ptxasw::wrapper {

/// What a ptxas option means to us. Most mean nothing; we only need to know whether they take a
/// value, so that a value is not mistaken for an input file.
enum class OptionMeaning : std::uint8_t {
  none,
  target,       ///< -arch
  output,       ///< -o
  opt_level,    ///< -O
  input_text,   ///< PTX given on the command line
  options_file, ///< more options in a file
  debug,        ///< -g: code for a debugger
  verbose,      ///< what ptxas does is reported
  instrument,   ///< the code is instrumented; leave it as the tool expects it
  help,
  version,
  list_versions,
};

/// How an option takes its value.
enum class Takes : std::uint8_t {
  nothing,
  value,    ///< `-x value` or `-x=value`
  attached, ///< `-x=value` or `-xvalue`
  either,   ///< `-x value`, `-x=value` or `-xvalue`
};

/// One option of ptxas.
struct PtxasOption {
  std::string_view long_name;  ///< after two dashes
  std::string_view short_name; ///< after one dash
  Takes takes;
  OptionMeaning meaning;
};

/// An argument recognised as an option.
struct OptionMatch {
  const PtxasOption *option;
  std::optional<std::string_view> value; ///< the value inside the same argument
};

/// Recognises one argument that starts with a dash; nothing if it is not in the table.
std::optional<OptionMatch> match_option(std::string_view argument);

} // namespace ptxasw::wrapper
