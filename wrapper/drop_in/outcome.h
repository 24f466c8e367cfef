#pragma once

// How a run as ptxas ended, and the log that says so, one line a run. `ptxasw status` counts the
// lines by outcome; `ptxasw rewrite` appends to its journal by append_log().

#include "grammar/namespaces.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace ptxasw::wrapper {

/// The outcome of one run as ptxas. Everything but `rewritten` and `settings_ignored` means that
/// the real ptxas ran on the original input. The names are the stable spelling in the log.
enum class Outcome : std::uint8_t {
  rewritten,          ///< the real ptxas assembled our text
  nothing_found,      ///< analysed, no load was replaced
  switched_off,       ///< --ptxasw-shuffle=never
  information_only,   ///< help or version was asked for, or there was no input
  doubtful_arguments, ///< the command line may mean something other than we think
  no_code,            ///< the target makes no code (compute_..., lto_...)
  debug_build,        ///< -g, -O0 or another option that asks for unoptimised code
  instrumented,       ///< code for a checking tool
  discarded,          ///< the output goes to /dev/null: a syntax check
  target_decision,    ///< shuffle=auto, and the decision for this target is not to rewrite
  unreadable_input,   ///< an input is not a regular file or cannot be read
  not_ptx,            ///< our parser does not accept the text
  failed,             ///< an error in ptxasw (an exception)
  crashed,            ///< ptxasw itself crashed
  no_place,           ///< the rewritten text could not be handed over
  rejected,           ///< the real ptxas refused the rewritten text and accepts the original
  original_fails,     ///< the real ptxas refused both the rewritten text and the original
  settings_ignored,   ///< not an outcome: a line about a settings file, or a key in it, left alone
};

inline constexpr Outcome all_outcomes[] = {Outcome::rewritten,
                                           Outcome::nothing_found,
                                           Outcome::switched_off,
                                           Outcome::information_only,
                                           Outcome::doubtful_arguments,
                                           Outcome::no_code,
                                           Outcome::debug_build,
                                           Outcome::instrumented,
                                           Outcome::discarded,
                                           Outcome::target_decision,
                                           Outcome::unreadable_input,
                                           Outcome::not_ptx,
                                           Outcome::failed,
                                           Outcome::crashed,
                                           Outcome::no_place,
                                           Outcome::rejected,
                                           Outcome::original_fails,
                                           Outcome::settings_ignored};

std::string_view to_string(Outcome outcome);

/// One line of the log, with its newline: time, process, outcome, input, detail, and what was found
/// in numbers (findings.h), where modules were examined.
std::string log_line(Outcome outcome, std::string_view input, std::string_view detail,
                     std::string_view numbers = "");

/// Appends one line; a log that cannot be written is not a build error, but a warning, once.
void append_log(const std::string &file, const std::string &line);

} // namespace ptxasw::wrapper
