#pragma once

// What a user can set, and the table from which flags, environment variables, keys of files, cache
// keys and documentation are made. Who adds a setting adds a row in settings.cpp.
//   for (const SettingSpec &spec : setting_table()) spec.get(settings);

#include "synth/rewrite.h"
#include "synth/siblings.h"
#include "wrapper/settings/lint_choices.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// Where the value of a setting came from; a later one beats an earlier one.
enum class Origin : std::uint8_t { built_in, user_file, project_file, environment, flag };

/// Everything a user can set about ptxasw, with its origin.
struct Settings {
  RewriteOptions rewrite;
  SiblingOptions siblings = {.kernels = {}, .most = 0, .budget = 3};
  bool siblings_given = false; ///< their largest number was said, 0 or not
  std::string profile;         ///< of `ptxasw tune`: only the siblings that won there; empty: none
  std::string report;          ///< JSON report file, or an existing directory; empty: none
  bool registers = false;      ///< the report says what ptxas makes of the original and the result
  bool verbose = false;        ///< human summary on stderr
  std::string real;            ///< path of the real ptxas; empty: search
  std::string log;             ///< file that gets one line per run; empty: none
  std::string journal;         ///< file that gets the report as one line per module; empty: none
  bool lint = false;           ///< a run as ptxas reports what the kernels cost
  LintChoices lint_choices;
  std::string inject_fault; ///< for tests of the fall-back: what to do instead of the rewrite

  std::string user_file;    ///< the user's own ptxasw.toml that was read; empty: none
  std::string project_file; ///< the one in or above the current directory; empty: none
  /// What was found in settings files and left alone, and why; one line each.
  std::vector<std::string> ignored;
  /// By setting, in the order of the table; empty: all are built in.
  std::vector<Origin> origins;

  Origin origin(std::size_t setting) const {
    return origins.empty() ? Origin::built_in : origins[setting];
  }
};

/// One setting. This one line gives the flag `--ptxasw-NAME`, the environment variable
/// `PTXASW_NAME`, the key in ptxasw.toml, a line of `ptxasw status` and of the documentation.
struct SettingSpec {
  std::string_view name;      ///< lower case with dashes
  std::string_view values;    ///< what may be given, for people
  std::string_view meaning;   ///< one line, for people
  bool decides_code = false;  ///< what is emitted depends on it: part of every build cache's key
  bool names_input = false;   ///< it names a file, and with `decides_code` the bytes of that count
  bool in_rewrite = false;    ///< also an option of `ptxasw rewrite`
  bool is_switch = false;     ///< the flag may stand without a value and then means "true"
  bool is_experiment = false; ///< help does not show it
  bool in_project = false;    ///< a file in or above the current directory may set it: it neither
                              ///< names a program to run nor a file to write (SECURITY.md)
  /// Stores the value; false if it is not one of `values`.
  std::function<bool(Settings &settings, std::string_view value)> set;
  /// The effective value, spelled as `set` would take it.
  std::function<std::string(const Settings &settings)> get;
  /// For a list, to which repeats add: empties it before another origin replaces it.
  std::function<void(Settings &settings)> clear = nullptr;
};

/// The table of all settings, those of families of versions among them.
std::span<const SettingSpec> setting_table();

/// The shape of a block as `X`, `XxY` or `XxYxZ`, or with commas; extents that are not written
/// are 1. Nothing if no block can have it.
std::optional<BlockShape> parse_block_shape(std::string_view text);

/// `PTXASW_MAX_DELTA` for `max-delta`.
std::string environment_name(const SettingSpec &spec);

/// Stores one setting. `spelling` is how the user wrote the name and appears in the error.
/// Errors: no such setting (with the nearest name), not a possible value, or one that is gone.
tl::expected<void, std::string> apply_setting(Settings &settings, std::string_view name,
                                              std::string_view value, Origin origin,
                                              std::string_view spelling);

/// Stores every `PTXASW_...` variable of an environment block.
/// Errors: as `apply_setting`, for the first one in the block.
tl::expected<void, std::string> apply_environment(Settings &settings, char *const *environment);

/// What decides the emitted code, in one line without spaces around '=': goes into `--version`,
/// which build caches take as part of their key.
std::string describe_configuration(const Settings &settings);

/// Errors: flags or the environment ask for a gate that looks at nothing, as `lint` is off. (In a
/// file it may be meant for `ptxasw lint`.)
tl::expected<void, std::string> check_gate(const Settings &settings);

/// The warning when a variant other than the full one is asked for.
inline constexpr char wrong_on_purpose_warning[] =
    "ptxasw: warning: this variant computes wrong results on purpose; it is for measurements "
    "only\n";

/// Variables that begin like this are for the launch helper (docs/launch.md), not settings.
inline constexpr char launch_prefix[] = "PTXASW_LAUNCH_";
/// And of those that the runtime for programs without a GPU reads (docs/check.md).
inline constexpr char runtime_prefix[] = "PTXASW_RUNTIME_";

/// `off` makes `ptxasw faster` run the program as it is.
inline constexpr char faster_variable[] = "PTXASW_FASTER";

/// Names a file that gets a byte for each kernel whose warnings a run as ptxas has looked for.
inline constexpr char checked_variable[] = "PTXASW_CHECKED";

/// Set in the environment of the real ptxas; finding it in our own means that we called ourselves.
inline constexpr char guard_variable[] = "PTXASW_GUARD";

/// The same in the environment of GCC's offloading compiler.
inline constexpr char offload_guard_variable[] = "PTXASW_OFFLOAD_GUARD";

} // namespace ptxasw::wrapper
