// The options of ptxas, one line each, as ptxas 13.0 takes them. Options that are not here exist
// (ptxas has hidden ones, later versions have new ones); they are forwarded as they are.

#include "wrapper/ptxas_options.h"

namespace ptxasw {
namespace {

// clang-format off
constexpr PtxasOption options[] = {
    {"Ofast-compile",                     "Ofc",                       Takes::value,   Effect::none},
    {"allow-expensive-optimizations",     "allow-expensive-optimizations", Takes::value, Effect::none},
    {"compile-as-tools-patch",            "astoolspatch",              Takes::nothing, Effect::instrument},
    {"compile-only",                      "c",                         Takes::nothing, Effect::none},
    {"compiler-annotations",              "annotate",                  Takes::nothing, Effect::none},
    {"def-load-cache",                    "dlcm",                      Takes::value,   Effect::none},
    {"def-store-cache",                   "dscm",                      Takes::value,   Effect::none},
    {"device-debug",                      "g",                         Takes::nothing, Effect::debug},
    {"device-function-maxrregcount",      "func-maxrregcount",         Takes::value,   Effect::none},
    {"device-stack-protector",            "device-stack-protector",    Takes::value,   Effect::none},
    {"disable-optimizer-constants",       "disable-optimizer-consts",  Takes::nothing, Effect::none},
    {"disable-warnings",                  "w",                         Takes::nothing, Effect::none},
    {"dont-merge-basicblocks",            "no-bb-merge",               Takes::nothing, Effect::debug},
    {"entry",                             "e",                         Takes::value,   Effect::none},
    {"extensible-whole-program",          "ewp",                       Takes::nothing, Effect::none},
    {"fmad",                              "fmad",                      Takes::value,   Effect::none},
    {"force-load-cache",                  "flcm",                      Takes::value,   Effect::none},
    {"force-store-cache",                 "fscm",                      Takes::value,   Effect::none},
    {"g-tensor-memory-access-check",      "g-tmem-access-check",       Takes::nothing, Effect::none},
    {"generate-line-info",                "lineinfo",                  Takes::nothing, Effect::none},
    {"gno-tensor-memory-access-check",    "gno-tmem-access-check",     Takes::nothing, Effect::none},
    {"gpu-name",                          "arch",                      Takes::value,   Effect::target},
    {"help",                              "h",                         Takes::nothing, Effect::help},
    {"input-as-string",                   "ias",                       Takes::value,   Effect::input_text},
    {"legacy-bar-warp-wide-behavior",     "legacy-bar-warp-wide-behavior", Takes::nothing, Effect::none},
    {"list-version",                      "version-ls",                Takes::nothing, Effect::list_versions},
    {"machine",                           "m",                         Takes::either,  Effect::none},
    {"make-errors-visible-at-exit",       "make-errors-visible-at-exit", Takes::nothing, Effect::none},
    {"maxntid",                           "maxntid",                   Takes::value,   Effect::none},
    {"maxrregcount",                      "maxrregcount",              Takes::value,   Effect::none},
    {"minnctapersm",                      "minnctapersm",              Takes::value,   Effect::none},
    {"opt-level",                         "O",                         Takes::attached, Effect::opt_level},
    {"optimize-float-atomics",            "opt-fp-atomics",            Takes::nothing, Effect::none},
    {"options-file",                      "optf",                      Takes::value,   Effect::options_file},
    {"output-file",                       "o",                         Takes::value,   Effect::output},
    {"override-directive-values",         "override-directive-values", Takes::nothing, Effect::none},
    {"position-independent-code",         "pic",                       Takes::value,   Effect::none},
    {"preserve-relocs",                   "preserve-relocs",           Takes::nothing, Effect::none},
    {"register-usage-level",              "regUsageLevel",             Takes::value,   Effect::none},
    {"return-at-end",                     "ret-end",                   Takes::nothing, Effect::debug},
    {"sanitize",                          "sanitize",                  Takes::value,   Effect::instrument},
    {"sp-bounds-check",                   "sp-bounds-check",           Takes::nothing, Effect::none},
    {"split-compile",                     "split-compile",             Takes::value,   Effect::none},
    {"suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning", Takes::nothing, Effect::none},
    {"suppress-debug-info",               "suppress-debug-info",       Takes::nothing, Effect::none},
    {"suppress-double-demote-warning",    "suppress-double-demote-warning", Takes::nothing, Effect::none},
    {"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", Takes::nothing, Effect::none},
    {"suppress-stack-size-warning",       "suppress-stack-size-warning", Takes::nothing, Effect::none},
    {"verbose",                           "v",                         Takes::nothing, Effect::none},
    {"version",                           "V",                         Takes::nothing, Effect::version},
    {"warn-on-double-precision-use",      "warn-double-usage",         Takes::nothing, Effect::none},
    {"warn-on-local-memory-usage",        "warn-lmem-usage",           Takes::nothing, Effect::none},
    {"warn-on-spills",                    "warn-spills",               Takes::nothing, Effect::none},
    {"warning-as-error",                  "Werror",                    Takes::nothing, Effect::none},
};
// clang-format on

constexpr PtxasOption opt_level_in_words = {"opt-level", "O", Takes::value, Effect::opt_level};

} // namespace

std::optional<OptionMatch> match_option(std::string_view argument) {
  const bool is_long = argument.starts_with("--");
  const std::string_view body = argument.substr(is_long ? 2 : 1);
  const std::size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  std::optional<std::string_view> value;
  if (equals != std::string_view::npos)
    value = body.substr(equals + 1);
  for (const PtxasOption &option : options)
    if (name == (is_long ? option.long_name : option.short_name)) {
      // `-O 3` is an error and `--opt-level 3` is not: only the short spelling needs the value
      // in the same word.
      if (is_long && option.effect == Effect::opt_level)
        return OptionMatch{&opt_level_in_words, value};
      return OptionMatch{&option, value};
    }
  if (is_long || body.empty())
    return std::nullopt;
  for (const PtxasOption &option : options)
    if ((option.takes == Takes::attached || option.takes == Takes::either) &&
        body.front() == option.short_name.front())
      return OptionMatch{&option, body.substr(1)};
  return std::nullopt;
}

} // namespace ptxasw
