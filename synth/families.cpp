// The families that families.def lists, and the options that ask for their variants.

#include "synth/same_launch.h"
#include "synth/spread.h"

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

FamilyAnswer propose(const Family &family, const KernelContext &context, Place place) {
  if ((place == Place::inside && !family.threads_apart) ||
      (place == Place::in_place && !family.in_place))
    return {};
  const std::optional<Refusal> obstacle =
      place == Place::inside ? spread_obstacle(context) // siblings may keep blocks whole
      : place == Place::beside && family.same_launch
          ? same_launch_obstacle(context)
          : module_obstacle(context.module, context.kernel);
  if (obstacle)
    return {{}, {*obstacle}};
  if (place != Place::in_place)
    return family.propose(context);
  FamilyAnswer answer;
  if (!family.parts)
    answer = family.propose(context);
  else
    for (const std::string &variant : family.parts(context))
      answer.proposals.push_back(same_launch_proposal(context.kernel, family.name, variant));
  std::erase_if(answer.proposals, [](const Proposal &one) { return !one.promise.empty(); });
  return answer;
}

std::optional<std::string> with_version(const KernelContext &context, const Family &family,
                                        const Proposal &proposal, Place place) {
  if (place == Place::in_place)
    return family.in_place(context, proposal.variant);
  return fmt::format("{}\n\n{}\n", context.module.text(), family.write(context, proposal));
}

tl::expected<ProvedVersion, proof::NotProved>
proved_version(const KernelContext &context, const Family &family, const Proposal &proposal,
               std::optional<std::string> text, Place place) {
  const bool beside = place == Place::beside;
  auto written = parse(std::move(text).value_or(""), "version");
  ProvedVersion made{written ? std::move(*written) : nullptr};
  const auto named = [&](std::string_view name) {
    return made.module ? kernel_named(*made.module, name) : nullptr;
  };
  const Function *const kernel = named(context.kernel.name);
  made.version = beside ? named(proposal.sibling.name) : kernel;
  if (!kernel || !made.version)
    return proof::not_proved("what was written is not understood");
  made.kernel.emplace(*made.module, *kernel);
  return (beside ? family.prove(*made.kernel, *made.version, proposal)
          : family.prove_in_place
              ? family.prove_in_place(context.module, context.kernel, *made.module, *made.version)
              : proof::Proved())
      .map([&] { return std::move(made); });
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
    for (const Family &family : families()) { // those that share one stand side by side
      if (options.empty() || options.back().name != family.option)
        options.push_back({family.option,
                           family.setting.empty() ? family.option : family.setting,
                           std::string(family.values),
                           family.help,
                           {}});
      auto &variants = options.back().variants;
      variants.insert(variants.end(), family.variants().begin(), family.variants().end());
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
