// The table of all settings: name, values, meaning, who may set it, how it is stored and shown.
// Flags, environment, files, cache keys and the documentation are generated from its
// columns.

#include "wrapper/settings/settings.h"

#include "synth/in_kernel/in_kernel.h"

#include "wrapper/os/files.h"
#include "wrapper/settings/gone.h"
#include "wrapper/settings/suggest.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

bool set_shuffle(Settings &settings, std::string_view value) {
  if (value == "auto")
    settings.rewrite.shuffle = ShuffleMode::automatic;
  else if (value == "always")
    settings.rewrite.shuffle = ShuffleMode::always;
  else if (value == "never")
    settings.rewrite.shuffle = ShuffleMode::never;
  else
    return false;
  return true;
}

std::string get_shuffle(const Settings &settings) {
  switch (settings.rewrite.shuffle) {
  case ShuffleMode::always:
    return "always";
  case ShuffleMode::never:
    return "never";
  case ShuffleMode::automatic:
    break;
  }
  return "auto";
}

bool set_variant(Settings &settings, std::string_view value) {
  if (value == "full")
    settings.rewrite.variant = Variant::full;
  else if (value == "no-load")
    settings.rewrite.variant = Variant::no_load;
  else if (value == "no-corner")
    settings.rewrite.variant = Variant::no_corner;
  else
    return false;
  return true;
}

std::string get_variant(const Settings &settings) {
  switch (settings.rewrite.variant) {
  case Variant::no_load:
    return "no-load";
  case Variant::no_corner:
    return "no-corner";
  case Variant::full:
    break;
  }
  return "full";
}

bool set_max_delta(Settings &settings, std::string_view value) {
  int number = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > 31)
    return false;
  settings.rewrite.max_delta = number;
  return true;
}

std::string get_max_delta(const Settings &settings) {
  return std::to_string(settings.rewrite.max_delta);
}

/// Calls `take` for every part of a list; false as soon as one is refused. Parts are separated by
/// commas, or by `+`: nvcc's -Xptxas cuts what it is given at commas.
template <typename Take> bool each_part(std::string_view list, Take take) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find_first_of(",+"), list.size());
    if (!take(list.substr(0, comma)))
      return false;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return true;
}

bool set_widths(Settings &settings, std::string_view value) {
  if (value == "auto") {
    settings.rewrite.widths.reset();
    return true;
  }
  Widths widths{false, false, false, false, false};
  const bool known = each_part(value, [&](std::string_view name) {
    bool *const width = name == "8"        ? &widths.b8
                        : name == "16"     ? &widths.b16
                        : name == "32"     ? &widths.b32
                        : name == "64"     ? &widths.b64
                        : name == "vector" ? &widths.vector
                                           : nullptr;
    if (width)
      *width = true;
    return width != nullptr;
  });
  settings.rewrite.widths = widths;
  return known && !value.empty();
}

std::string get_widths(const Settings &settings) {
  if (!settings.rewrite.widths)
    return "auto";
  const Widths &widths = *settings.rewrite.widths;
  std::string list;
  for (const auto &[on, name] :
       {std::pair(widths.b8, "8"), std::pair(widths.b16, "16"), std::pair(widths.b32, "32"),
        std::pair(widths.b64, "64"), std::pair(widths.vector, "vector")})
    if (on)
      list += (list.empty() ? "" : ",") + std::string(name);
  return list;
}

/// The number that the whole of a text is.
std::optional<unsigned> parse_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return number;
}

bool set_first(Settings &settings, std::string_view value) {
  const auto number = parse_number(value);
  settings.rewrite.range.first = number.value_or(1);
  return number && *number >= 1;
}

std::string get_first(const Settings &settings) {
  return std::to_string(settings.rewrite.range.first);
}

bool set_last(Settings &settings, std::string_view value) {
  const auto number = parse_number(value);
  settings.rewrite.range.last = number.value_or(RewriteRange().last);
  return number || value.empty();
}

std::string get_last(const Settings &settings) {
  const unsigned last = settings.rewrite.range.last;
  return last == RewriteRange().last ? std::string() : std::to_string(last);
}

// NUMBER, NUMBER:LAST or NUMBER:FIRST-LAST
bool set_modules(Settings &settings, std::string_view value) {
  return each_part(value, [&](std::string_view part) {
    const std::size_t colon = std::min(part.find(':'), part.size());
    ModuleChoice choice{std::string(part.substr(0, colon)), {}};
    if (choice.module.size() != 16 ||
        choice.module.find_first_not_of("0123456789abcdef") != std::string::npos)
      return false;
    if (colon != part.size()) {
      const std::string_view range = part.substr(colon + 1);
      const std::size_t dash = range.find('-');
      const auto first = parse_number(dash == std::string_view::npos ? "1" : range.substr(0, dash));
      const auto last =
          parse_number(dash == std::string_view::npos ? range : range.substr(dash + 1));
      if (!first || !last || *first == 0)
        return false;
      choice.range = {*first, *last};
    }
    settings.rewrite.modules.push_back(std::move(choice));
    return true;
  });
}

void clear_modules(Settings &settings) { settings.rewrite.modules.clear(); }

std::string get_modules(const Settings &settings) {
  std::string list;
  for (const ModuleChoice &choice : settings.rewrite.modules) {
    list += (list.empty() ? "" : ",") + choice.module;
    const RewriteRange everything;
    if (choice.range.first != everything.first)
      list += fmt::format(":{}-{}", choice.range.first, choice.range.last);
    else if (choice.range.last != everything.last)
      list += fmt::format(":{}", choice.range.last);
  }
  return list;
}

/// Commas within brackets are a name's own: `f<int, 4>`.
bool set_kernel(Settings &settings, std::string_view value) {
  if (value.empty())
    return true;
  int depth = 0;
  std::string name;
  for (const char c : std::string(value) + ',') {
    depth += (c == '<' || c == '(') - (c == '>' || c == ')');
    if (depth > 0 || (c != ',' && c != '+')) { // as each_part() cuts
      name += c;
      continue;
    }
    if (name.empty())
      return false;
    settings.rewrite.kernels.push_back(std::move(name));
    name.clear();
  }
  return true;
}

void clear_kernel(Settings &settings) { settings.rewrite.kernels.clear(); }

std::string get_kernel(const Settings &settings) {
  std::string list;
  for (const std::string &name : settings.rewrite.kernels)
    list += (list.empty() ? "" : ",") + name;
  return list;
}

bool set_assume(Settings &settings, std::string_view value) {
  return each_part(value, [&](std::string_view name) {
    if (name == "no-wrap")
      settings.rewrite.assume_no_wrap = true;
    else if (name == "no-alias")
      settings.rewrite.assume_no_alias = true;
    else
      return false;
    return true;
  });
}

void clear_assume(Settings &settings) {
  settings.rewrite.assume_no_wrap = settings.rewrite.assume_no_alias = false;
}

std::string get_assume(const Settings &settings) {
  std::string list;
  if (settings.rewrite.assume_no_wrap)
    list = "no-wrap";
  if (settings.rewrite.assume_no_alias)
    list += list.empty() ? "no-alias" : ",no-alias";
  return list;
}

bool set_siblings(Settings &settings, std::string_view value) {
  const auto most = parse_number(value);
  if (most) {
    settings.siblings.most = *most;
    settings.siblings_given = true;
  }
  return most.has_value();
}

std::string get_siblings(const Settings &settings) {
  return std::to_string(settings.siblings.most);
}

bool set_siblings_budget(Settings &settings, std::string_view value) {
  const auto budget = value == "none" ? 0 : parse_number(value);
  settings.siblings.budget = budget.value_or(settings.siblings.budget);
  return budget.has_value();
}

std::string get_siblings_budget(const Settings &settings) {
  return settings.siblings.budget == 0 ? "none" : std::to_string(settings.siblings.budget);
}

std::string joined(std::span<const std::string> words) {
  std::string list;
  for (const std::string &word : words)
    list += (list.empty() ? "" : ",") + word;
  return list;
}

/// The setting of an option that asks for variants.
SettingSpec setting_of(const FamilyOption &option) {
  const std::string name(option.name);
  return {
      .name = option.setting,
      .values = option.values,
      .meaning = option.help,
      .decides_code = true,
      .in_rewrite = true,
      .in_project = true,
      .set =
          [&option, name](Settings &settings, std::string_view value) {
            return each_part(value, [&](std::string_view variant) {
              settings.siblings.wanted[name].emplace_back(variant);
              return option.has(variant);
            });
          },
      .get = [name](const Settings &settings) { return joined(settings.siblings.variants(name)); },
      .clear = [name](Settings &settings) { settings.siblings.wanted.erase(name); }};
}

bool set_in_kernel(Settings &settings, std::string_view value) {
  return each_part(value, [&](std::string_view variant) {
    settings.rewrite.in_kernel.emplace_back(variant);
    return variant == in_kernel_auto ||
           std::any_of(families().begin(), families().end(), [&](const Family &family) {
             return family.threads_apart && family_option(family.option).has(variant);
           });
  });
}

void clear_in_kernel(Settings &settings) { settings.rewrite.in_kernel.clear(); }

std::string get_in_kernel(const Settings &settings) { return joined(settings.rewrite.in_kernel); }

bool set_assume_block(Settings &settings, std::string_view value) {
  const auto shape = parse_block_shape(value);
  if (shape || value.empty())
    settings.rewrite.assume_block = shape;
  return shape || value.empty();
}

std::string get_assume_block(const Settings &settings) {
  const auto &shape = settings.rewrite.assume_block;
  return shape ? fmt::format("{}x{}x{}", shape->x, shape->y, shape->z) : std::string();
}

template <bool Settings::*member> bool set_switch(Settings &settings, std::string_view value) {
  if (value == "true" || value == "1" || value == "on" || value == "yes")
    settings.*member = true;
  else if (value == "false" || value == "0" || value == "off" || value == "no" || value.empty())
    settings.*member = false;
  else
    return false;
  return true;
}

template <bool Settings::*member> std::string get_switch(const Settings &settings) {
  return settings.*member ? "true" : "false";
}

// Words that add up: each is kept as it was written, to be shown again.
template <bool (LintChoices::*take)(std::string_view), std::string LintChoices::*written>
bool set_words(Settings &settings, std::string_view value) {
  return each_part(value, [&](std::string_view word) {
    std::string &all = settings.lint_choices.*written;
    all += (all.empty() ? "" : ",") + std::string(word);
    return (settings.lint_choices.*take)(word);
  });
}

template <std::string LintChoices::*written> std::string get_choice(const Settings &settings) {
  return settings.lint_choices.*written;
}

template <std::string LintChoices::*member>
bool set_lint_file(Settings &settings, std::string_view value) {
  settings.lint_choices.*member = value;
  return true;
}

void clear_warnings(Settings &settings) {
  settings.lint_choices.warnings.clear();
  settings.lint_choices.on = LintChoices::by_default();
  settings.lint_choices.named.fill(false);
  settings.lint_choices.silenced.clear();
}

void clear_errors(Settings &settings) {
  settings.lint_choices.errors.clear();
  settings.lint_choices.error.fill(false);
}

void clear_lint_assume(Settings &settings) {
  settings.lint_choices.assumed.clear();
  settings.lint_choices.base_alignment = 1;
}

void clear_lint_allow(Settings &settings) {
  settings.lint_choices.allowed.clear();
  settings.lint_choices.allowed_files.clear();
}

/// The first code of a setting that no warning has; empty if that is not what is wrong.
std::string unknown_code(std::string_view name, std::string_view value) {
  std::string why;
  LintChoices choices;
  if (name == "lint-allow" || name == "lint-warnings" || name == "lint-errors")
    each_part(value, [&](std::string_view word) {
      const bool known = name == "lint-warnings" ? choices.warn(word)
                                                 : choices.error_on(word.substr(0, word.find(':')));
      why = known ? "" : no_such_warning(word);
      return known;
    });
  return why;
}

void clear_lint_at(Settings &settings) {
  settings.lint_choices.launch.clear();
  settings.lint_choices.point = {};
}

bool set_threshold(Settings &settings, std::string_view value) {
  const auto number = parse_number(value);
  settings.lint_choices.options.threshold = number.value_or(0);
  return number && *number >= 100;
}

std::string get_threshold(const Settings &settings) {
  return std::to_string(settings.lint_choices.options.threshold);
}

bool set_fault(Settings &settings, std::string_view value) {
  constexpr std::string_view known[] = {"",      "parse", "throw",    "memory",
                                        "abort", "crash", "overflow", "reject"};
  settings.inject_fault = value;
  return std::find(std::begin(known), std::end(known), value) != std::end(known);
}

template <std::string Settings::*member> bool set_text(Settings &settings, std::string_view value) {
  settings.*member = value;
  return true;
}

template <std::string Settings::*member> std::string get_text(const Settings &settings) {
  return settings.*member;
}

std::vector<SettingSpec> make_table() {
  std::vector<SettingSpec> table = {
      {.name = "shuffle",
       .values = "auto|always|never",
       .meaning = "replace loads by shuffles: as is best for the target, always, or never",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_shuffle,
       .get = get_shuffle},
      {.name = "variant",
       .values = "full|no-load|no-corner",
       .meaning = "what to emit; all but `full` compute wrong results on purpose (experiments)",
       .decides_code = true,
       .in_rewrite = true,
       .is_experiment = true,
       .in_project = true,
       .set = set_variant,
       .get = get_variant},
      {.name = "max-delta",
       .values = "0..31",
       .meaning = "largest lane distance to use; 0 leaves plain register copies only",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_max_delta,
       .get = get_max_delta},
      {.name = "widths",
       .values = "auto|8,16,32,64,vector",
       .meaning = "bits of the loads to replace, and whether also vectors of them",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_widths,
       .get = get_widths},
      {.name = "kernel",
       .values = "KERNEL[,...]",
       .meaning = "only this kernel: its name, with or without parameters, or a pattern such as "
                  "'heat*'",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_kernel,
       .get = get_kernel,
       .clear = clear_kernel},
      {.name = "assume",
       .values = "no-wrap,no-alias",
       .meaning = "promises that save run-time tests: indices never wrap, stores never hit what a "
                  "later load reads",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_assume,
       .get = get_assume,
       .clear = clear_assume},
      {.name = "assume-block",
       .values = "X|XxY|XxYxZ",
       .meaning = "a promise that saves run-time tests: every launch has blocks of this shape",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_assume_block,
       .get = get_assume_block},
      {.name = "first",
       .values = "1...",
       .meaning =
           "make only rewrites from this number on; the report numbers them from 1 in each module",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_first,
       .get = get_first},
      {.name = "last",
       .values = "0...",
       .meaning = "make only rewrites up to this number",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_last,
       .get = get_last},
      {.name = "modules",
       .values = "NUMBER[:FIRST-LAST][,...]",
       .meaning = "rewrite only these modules, by the number in the report, and of each only these "
                  "rewrites",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_modules,
       .get = get_modules,
       .clear = clear_modules},
      {.name = "siblings",
       .values = "0...",
       .meaning =
           "the largest number of versions to add beside each kernel, for launches to choose "
           "from; not given: all that the settings of these versions name",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_siblings,
       .get = get_siblings},
      {.name = "siblings-budget",
       .values = "0...|none",
       .meaning = "of these the best, while ptxas takes about this many times as long, or a second "
                  "more",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_siblings_budget,
       .get = get_siblings_budget},
      {.name = "in-kernel",
       .values = "auto|x2|y4-rows|wide-x4|...[,...]",
       .meaning =
           "where the shape of blocks is known, the kernel itself as the first of these versions "
           "that it can be",
       .decides_code = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_in_kernel,
       .get = get_in_kernel,
       .clear = clear_in_kernel},
      {.name = "profile",
       .values = "FILE",
       .meaning = "add the versions that won in this profile of `ptxasw tune`, and no others",
       .decides_code = true,
       .names_input = true,
       .in_rewrite = true,
       .in_project = true,
       .set = set_text<&Settings::profile>,
       .get = get_text<&Settings::profile>},
      {.name = "report",
       .values = "FILE",
       .meaning =
           "write a JSON report; into an existing directory one file per run, named by input, "
           "target and module",
       .in_rewrite = true,
       .set = set_text<&Settings::report>,
       .get = get_text<&Settings::report>},
      {.name = "registers",
       .values = "true|false",
       .meaning = "report the registers, spills and shared memory of each kernel before and after, "
                  "as the real ptxas has them",
       .in_rewrite = true,
       .is_switch = true,
       .in_project = true,
       .set = set_switch<&Settings::registers>,
       .get = get_switch<&Settings::registers>},
      {.name = "verbose",
       .values = "true|false",
       .meaning = "print a summary on stderr",
       .in_rewrite = true,
       .is_switch = true,
       .in_project = true,
       .set = set_switch<&Settings::verbose>,
       .get = get_switch<&Settings::verbose>},
      {.name = "real",
       .values = "PATH",
       .meaning = "the real ptxas, instead of searching for it",
       .set = set_text<&Settings::real>,
       .get = get_text<&Settings::real>},
      {.name = "log",
       .values = "FILE",
       .meaning = "append one line per run: what was done, and why not more",
       .set = set_text<&Settings::log>,
       .get = get_text<&Settings::log>},
      {.name = "journal",
       .values = "FILE",
       .meaning = "append the report of every module as one line of JSON",
       .in_rewrite = true,
       .set = set_text<&Settings::journal>,
       .get = get_text<&Settings::journal>},
      {.name = "lint",
       .values = "true|false",
       .meaning = "warn of what makes kernels slow, as `ptxasw lint` does, in every run",
       .is_switch = true,
       .in_project = true,
       .set = set_switch<&Settings::lint>,
       .get = get_switch<&Settings::lint>},
      {.name = "lint-warnings",
       .values = "pedantic|all|none|CODE|no-CODE|no-CODE:KERNEL[,...]",
       .meaning = "which warnings to give, as -W of `ptxasw lint`",
       .in_project = true,
       .set = set_words<&LintChoices::warn, &LintChoices::warnings>,
       .get = get_choice<&LintChoices::warnings>,
       .clear = clear_warnings},
      {.name = "lint-errors",
       .values = "all|CODE[,...]",
       .meaning = "warnings that make the run fail, as -Werror of `ptxasw lint`",
       .in_project = true,
       .set = set_words<&LintChoices::error_on, &LintChoices::errors>,
       .get = get_choice<&LintChoices::errors>,
       .clear = clear_errors},
      {.name = "lint-allow",
       .values = "CODE:FILES[,...]",
       .meaning =
           "warnings that are not given in source files of this path, in which * is any text",
       .in_project = true,
       .set = set_words<&LintChoices::allow, &LintChoices::allowed>,
       .get = get_choice<&LintChoices::allowed>,
       .clear = clear_lint_allow},
      {.name = "lint-threshold",
       .values = "100...",
       .meaning = "warn of accesses that cost at least this percentage of the ideal",
       .in_project = true,
       .set = set_threshold,
       .get = get_threshold},
      {.name = "lint-assume",
       .values = "base-align=BYTES",
       .meaning = "for warnings: the alignment of pointer parameters in bytes",
       .in_project = true,
       .set = set_words<&LintChoices::assume, &LintChoices::assumed>,
       .get = get_choice<&LintChoices::assumed>,
       .clear = clear_lint_assume},
      {.name = "lint-at",
       .values = "NAME=NUMBER|KERNEL:NAME=NUMBER|block=XxYxZ[,...]",
       .meaning = "for warnings: numbers of a launch, as --launch of `ptxasw lint`",
       .in_project = true,
       .set = set_words<&LintChoices::at, &LintChoices::launch>,
       .get = get_choice<&LintChoices::launch>,
       .clear = clear_lint_at},
      {.name = "lint-baseline",
       .values = "FILE",
       .meaning =
           "fail if a kernel is worse than this file of `ptxasw lint --update-baseline` says",
       .in_project = true,
       .set = set_lint_file<&LintChoices::baseline>,
       .get = get_choice<&LintChoices::baseline>},
      {.name = "lint-json",
       .values = "FILE",
       .meaning =
           "write what `ptxasw lint --json` would; into an existing directory one file per run",
       .set = set_lint_file<&LintChoices::json>,
       .get = get_choice<&LintChoices::json>},
      {.name = "lint-sarif",
       .values = "FILE",
       .meaning = "the same as SARIF 2.1.0",
       .set = set_lint_file<&LintChoices::sarif>,
       .get = get_choice<&LintChoices::sarif>},
      {.name = "inject-fault",
       .values = "parse|throw|memory|abort|crash|overflow|reject",
       .meaning = "fail on purpose, to test that the build still succeeds",
       .is_experiment = true,
       .set = set_fault,
       .get = get_text<&Settings::inject_fault>},
  };
  const auto behind =
      std::find_if(table.begin(), table.end(),
                   [](const SettingSpec &spec) { return spec.name == "siblings-budget"; }) +
      1;
  std::vector<SettingSpec> versions;
  for (const FamilyOption &option : family_options())
    versions.push_back(setting_of(option));
  table.insert(behind, versions.begin(), versions.end());
  return table;
}

} // namespace

// Limits of a block: PTX ISA 11.4 leaves them to the target; they are these for all that exist
// (CUDA C++ Programming Guide, technical specifications per compute capability).
std::optional<BlockShape> parse_block_shape(std::string_view text) {
  BlockShape shape;
  std::uint32_t *const extents[] = {&shape.x, &shape.y, &shape.z};
  constexpr std::uint32_t most[] = {1024, 1024, 64};
  for (std::size_t count = 0; count < std::size(extents); ++count) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const auto extent = parse_number(text.substr(0, end));
    if (!extent || *extent < 1 || *extent > most[count])
      return std::nullopt;
    *extents[count] = *extent;
    if (end == text.size())
      return shape.x * shape.y * shape.z <= 1024 ? std::optional(shape) : std::nullopt;
    text.remove_prefix(end + 1);
  }
  return std::nullopt;
}

std::span<const SettingSpec> setting_table() {
  static const std::vector<SettingSpec> table = make_table();
  return table;
}

std::string environment_name(const SettingSpec &spec) {
  std::string name = "PTXASW_";
  for (const char c : spec.name)
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  return name;
}

tl::expected<void, std::string> apply_setting(Settings &settings, std::string_view name,
                                              std::string_view value, Origin origin,
                                              std::string_view spelling) {
  const std::span<const SettingSpec> table = setting_table();
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SettingSpec &spec = table[i];
    if (spec.name != name)
      continue;
    if (spec.clear && settings.origin(i) != origin)
      spec.clear(settings);
    if (!spec.set(settings, value)) {
      std::string why = gone_value(name, value);
      if (why.empty())
        why = unknown_code(name, value);
      return tl::unexpected(
          why.empty() ? fmt::format("`{}`: `{}` is not one of {}", spelling, value, spec.values)
                      : fmt::format("`{}`: {}", spelling, why));
    }
    settings.origins.resize(table.size());
    settings.origins[i] = origin;
    return {};
  }
  if (std::string gone = gone_setting(name, spelling); !gone.empty())
    return tl::unexpected(std::move(gone));
  std::vector<std::string_view> names;
  names.reserve(table.size());
  for (const SettingSpec &spec : table)
    names.push_back(spec.name);
  const std::string_view near = nearest(name, names);
  std::string message = fmt::format("unknown setting `{}`", spelling);
  if (!near.empty()) {
    const SettingSpec &spec = *std::find_if(table.begin(), table.end(),
                                            [&](const SettingSpec &s) { return s.name == near; });
    message += fmt::format("; did you mean `{}`?",
                           origin == Origin::environment ? environment_name(spec)
                           : origin == Origin::flag      ? fmt::format("--ptxasw-{}", near)
                                                         : std::string(near));
  }
  return tl::unexpected(message);
}

tl::expected<void, std::string> apply_environment(Settings &settings, char *const *environment) {
  constexpr std::string_view prefix = "PTXASW_";
  for (; *environment; ++environment) {
    const std::string_view entry = *environment;
    if (!entry.starts_with(prefix))
      continue;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view variable = entry.substr(0, equals);
    if (variable == guard_variable || variable == offload_guard_variable ||
        variable == checked_variable || variable == faster_variable ||
        variable.starts_with(launch_prefix) || variable.starts_with(runtime_prefix))
      continue;
    const std::string_view value = entry.substr(std::min(equals + 1, entry.size()));
    std::string name(variable.substr(prefix.size()));
    for (char &c : name)
      c = c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (value.empty()) // `PTXASW_REPORT= make` is how a shell unsets for one command
      continue;
    auto applied = apply_setting(settings, name, value, Origin::environment, variable);
    if (!applied)
      return applied;
  }
  return {};
}

tl::expected<void, std::string> check_gate(const Settings &settings) {
  const std::span<const SettingSpec> table = setting_table();
  for (std::size_t i = 0; i < table.size() && !settings.lint; ++i) {
    const SettingSpec &spec = table[i];
    if ((spec.name == "lint-errors" || spec.name == "lint-baseline") &&
        settings.origin(i) >= Origin::environment && !spec.get(settings).empty())
      return tl::unexpected(
          fmt::format("`{}` without `lint`: nothing would be checked", spec.name));
  }
  return {};
}

std::string describe_configuration(const Settings &settings) {
  std::string line;
  for (const SettingSpec &spec : setting_table()) {
    if (!spec.decides_code)
      continue;
    std::string value = spec.get(settings);
    if (spec.names_input && !value.empty()) {
      const auto bytes = read_regular_file(value);
      value = bytes ? module_number(*bytes) : "unreadable";
    }
    line += fmt::format("{}{}={}", line.empty() ? "" : " ", spec.name, value.empty() ? "-" : value);
  }
  return line;
}

} // namespace ptxasw::wrapper
