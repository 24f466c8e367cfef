// The options of ptxas, one line each, as ptxas 13.0 takes them. Options that are not here exist
// (ptxas has hidden ones, later versions have new ones); they are forwarded as they are.

#include "wrapper/drop_in/ptxas_options.h"

namespace ptxasw::wrapper {
namespace {

// clang-format off
constexpr PtxasOption options[] = {
    {"Ofast-compile",                     "Ofc",                       Takes::value, OptionMeaning::none},
    {"allow-expensive-optimizations",     "allow-expensive-optimizations", Takes::value, OptionMeaning::none},
    {"compile-as-tools-patch",            "astoolspatch",              Takes::nothing, OptionMeaning::instrument},
    {"compile-only",                      "c",                         Takes::nothing, OptionMeaning::none},
    {"compiler-annotations",              "annotate",                  Takes::nothing, OptionMeaning::none},
    {"def-load-cache",                    "dlcm",                      Takes::value, OptionMeaning::none},
    {"def-store-cache",                   "dscm",                      Takes::value, OptionMeaning::none},
    {"device-debug",                      "g",                         Takes::nothing, OptionMeaning::debug},
    {"device-function-maxrregcount",      "func-maxrregcount",         Takes::value, OptionMeaning::none},
    {"device-stack-protector",            "device-stack-protector",    Takes::value, OptionMeaning::none},
    {"disable-optimizer-constants",       "disable-optimizer-consts",  Takes::nothing, OptionMeaning::none},
    {"disable-warnings",                  "w",                         Takes::nothing, OptionMeaning::none},
    {"dont-merge-basicblocks",            "no-bb-merge",               Takes::nothing, OptionMeaning::debug},
    {"entry",                             "e",                         Takes::value, OptionMeaning::none},
    {"extensible-whole-program",          "ewp",                       Takes::nothing, OptionMeaning::none},
    {"fmad",                              "fmad",                      Takes::value, OptionMeaning::none},
    {"force-load-cache",                  "flcm",                      Takes::value, OptionMeaning::none},
    {"force-store-cache",                 "fscm",                      Takes::value, OptionMeaning::none},
    {"g-tensor-memory-access-check",      "g-tmem-access-check",       Takes::nothing, OptionMeaning::none},
    {"generate-line-info",                "lineinfo",                  Takes::nothing, OptionMeaning::none},
    {"gno-tensor-memory-access-check",    "gno-tmem-access-check",     Takes::nothing, OptionMeaning::none},
    {"gpu-name",                          "arch",                      Takes::value, OptionMeaning::target},
    {"help",                              "h",                         Takes::nothing, OptionMeaning::help},
    {"input-as-string",                   "ias",                       Takes::value, OptionMeaning::input_text},
    {"legacy-bar-warp-wide-behavior",     "legacy-bar-warp-wide-behavior", Takes::nothing, OptionMeaning::none},
    {"list-version",                      "version-ls",                Takes::nothing, OptionMeaning::list_versions},
    {"machine",                           "m",                         Takes::either, OptionMeaning::none},
    {"make-errors-visible-at-exit",       "make-errors-visible-at-exit", Takes::nothing, OptionMeaning::none},
    {"maxntid",                           "maxntid",                   Takes::value, OptionMeaning::none},
    {"maxrregcount",                      "maxrregcount",              Takes::value, OptionMeaning::none},
    {"minnctapersm",                      "minnctapersm",              Takes::value, OptionMeaning::none},
    {"opt-level",                         "O",                         Takes::attached, OptionMeaning::opt_level},
    {"optimize-float-atomics",            "opt-fp-atomics",            Takes::nothing, OptionMeaning::none},
    {"options-file",                      "optf",                      Takes::value, OptionMeaning::options_file},
    {"output-file",                       "o",                         Takes::value, OptionMeaning::output},
    {"override-directive-values",         "override-directive-values", Takes::nothing, OptionMeaning::none},
    {"position-independent-code",         "pic",                       Takes::value, OptionMeaning::none},
    {"preserve-relocs",                   "preserve-relocs",           Takes::nothing, OptionMeaning::none},
    {"register-usage-level",              "regUsageLevel",             Takes::value, OptionMeaning::none},
    {"return-at-end",                     "ret-end",                   Takes::nothing, OptionMeaning::debug},
    {"sanitize",                          "sanitize",                  Takes::value, OptionMeaning::instrument},
    {"sp-bounds-check",                   "sp-bounds-check",           Takes::nothing, OptionMeaning::none},
    {"split-compile",                     "split-compile",             Takes::value, OptionMeaning::none},
    {"suppress-async-bulk-multicast-advisory-warning", "suppress-async-bulk-multicast-advisory-warning", Takes::nothing, OptionMeaning::none},
    {"suppress-debug-info",               "suppress-debug-info",       Takes::nothing, OptionMeaning::none},
    {"suppress-double-demote-warning",    "suppress-double-demote-warning", Takes::nothing, OptionMeaning::none},
    {"suppress-sparse-mma-advisory-info", "suppress-sparse-mma-advisory-info", Takes::nothing, OptionMeaning::none},
    {"suppress-stack-size-warning",       "suppress-stack-size-warning", Takes::nothing, OptionMeaning::none},
    {"verbose",                           "v",                         Takes::nothing, OptionMeaning::verbose},
    {"version",                           "V",                         Takes::nothing, OptionMeaning::version},
    {"warn-on-double-precision-use",      "warn-double-usage",         Takes::nothing, OptionMeaning::none},
    {"warn-on-local-memory-usage",        "warn-lmem-usage",           Takes::nothing, OptionMeaning::none},
    {"warn-on-spills",                    "warn-spills",               Takes::nothing, OptionMeaning::none},
    {"warning-as-error",                  "Werror",                    Takes::nothing, OptionMeaning::none},
};
// clang-format on

constexpr PtxasOption opt_level_in_words = {"opt-level", "O", Takes::value,
                                            OptionMeaning::opt_level};

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
      if (is_long && option.meaning == OptionMeaning::opt_level)
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

} // namespace ptxasw::wrapper
