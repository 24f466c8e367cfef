// The families that families.def lists, and the options that ask for their variants.

#include "synth/same_launch.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <fmt/ranges.h>

namespace ptxasw::synth {

// Called, so that tests can put another list in the place of this one.
[[gnu::noinline]] std::span<const Family> families() {
  static const Family all[] = {
#define PTXASW_FAMILY(name) name##_family,
#include "synth/families.def"
#undef PTXASW_FAMILY
  };
  return all;
}

FamilyAnswer propose(const Family &family, const KernelContext &context) {
  const auto obstacle = family.same_launch ? context.same_launch_obstacle()
                                           : module_obstacle(context.module, context.kernel);
  return obstacle ? FamilyAnswer{{}, {*obstacle}} : family.propose(context);
}

tl::expected<ProvedVersion, std::string>
proved_version(const KernelContext &context, const Family &family, const Proposal &proposal) {
  auto written = parse(
      fmt::format("{}\n\n{}\n", context.module.text(), family.write(context, proposal)), "version");
  if (!written)
    return tl::unexpected(std::string("what was written is not understood"));
  ProvedVersion made{std::move(*written), nullptr, nullptr};
  made.kernel = kernel_named(*made.module, context.kernel.name);
  made.sibling = kernel_named(*made.module, proposal.sibling.name);
  if (!made.kernel || !made.sibling)
    return tl::unexpected(std::string("what was written is not understood"));
  if (std::string fault = family.prove({*made.module, *made.kernel}, *made.sibling, proposal);
      !fault.empty())
    return tl::unexpected(std::move(fault));
  return made;
}

unsigned number_in(std::string_view variant) {
  unsigned number = 0;
  variant.remove_prefix(std::min(variant.find_first_of("0123456789"), variant.size()));
  std::from_chars(variant.data(), variant.data() + variant.size(), number);
  return number;
}

const Family *find_family(std::string_view name) {
  const auto found = std::find_if(families().begin(), families().end(),
                                  [&](const Family &one) { return one.name == name; });
  return found == families().end() ? nullptr : &*found;
}

std::span<const FamilyOption> family_options() {
  static const std::vector<FamilyOption> all = [] {
    std::vector<FamilyOption> options;
    for (const Family &family : families()) {
      auto option = std::find_if(options.begin(), options.end(), [&](const FamilyOption &one) {
        return one.name == family.option;
      });
      if (option == options.end())
        option =
            options.insert(options.end(), {family.option,
                                           family.setting.empty() ? family.option : family.setting,
                                           std::string(family.values),
                                           family.help,
                                           {}});
      option->variants.insert(option->variants.end(), family.variants().begin(),
                              family.variants().end());
    }
    for (FamilyOption &option : options)
      if (option.values.empty())
        option.values = fmt::format("{}{}", fmt::join(option.variants, "|"),
                                    option.variants.size() > 1 ? "[,...]" : "");
    return options;
  }();
  return all;
}

bool FamilyOption::has(std::string_view variant) const {
  return std::find(variants.begin(), variants.end(), variant) != variants.end();
}

const FamilyOption &family_option(std::string_view name) {
  return *std::find_if(family_options().begin(), family_options().end(),
                       [&](const FamilyOption &one) { return one.name == name; });
}

} // namespace ptxasw::synth
