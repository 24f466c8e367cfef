#pragma once

// A command line of ptxas, as far as a run in its place depends on it. Where it may mean something
// else than it seems, it has a `doubt`, and the real ptxas gets it untouched.
//   const CommandLine line = parse_command_line({"-arch=sm_90", "saxpy.ptx", "-o", "saxpy.cubin"});

#include "wrapper/settings/load_settings.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ptxasw::wrapper {

/// Where the text of a module comes from.
enum class InputKind : std::uint8_t { file, standard_input, text };

/// One module on a ptxas command line.
struct Input {
  InputKind kind = InputKind::file;
  std::size_t argument = 0; ///< index into `CommandLine::arguments`
  std::size_t prefix = 0;   ///< bytes of that argument before the value, e.g. of "-ias="
};

/// A ptxas command line, as far as we need to understand it.
struct CommandLine {
  /// What the real ptxas is to get: our own options removed, options files expanded.
  /// Without the program's name.
  std::vector<std::string> arguments;
  std::vector<Input> inputs;
  std::vector<OwnOption> own;
  std::optional<std::string> output;
  std::string target = "sm_75"; ///< ptxas' default until -arch says otherwise
  std::string opt_level = "3";
  bool debug = false;
  bool instrument = false;
  bool verbose = false; ///< -v: ptxas reports what it does, and so do we, in a line
  bool help = false;
  bool version = false;
  bool list_versions = false;
  bool changed = false; ///< `arguments` is not what the caller wrote
  /// Why we may have misunderstood; then only the original line may be run.
  std::optional<std::string_view> doubt;
};

/// Understands a command line (without the program's name) as ptxas does: repeats override,
/// `-optf` files nest. Never fails; what looks wrong is left for ptxas to complain about.
CommandLine parse_command_line(const std::vector<std::string> &words);

/// The number in `sm_90a`; 0 if the target makes no code (`compute_90`, `lto_90`) or is unknown.
int target_number(std::string_view target);

} // namespace ptxasw::wrapper
