// Which kernels get versions with loads ahead. All loops of a kernel of which it is possible are
// written at once: each is innermost, so none has part of another one.

#include "synth/ahead/ahead.h"

#include "synth/ahead/sites.h"
#include "synth/same_launch.h"

namespace ptxasw::synth {
namespace {

constexpr Refusal many_tests{"budget", "so many iterations need too many tests of where stores go"};

std::optional<Refusal> obstacle_of(const Module &module, const Function &kernel) {
  if (kernel.instructions.size() > changed_instructions_budget)
    return refusals::too_large;
  return lanes_obstacle(module, kernel);
}

/// The loops that may be written with so many iterations: with few tests of where stores are.
std::vector<ahead::AheadLoop> loops_for(const KernelContext &context, unsigned iterations) {
  constexpr std::size_t most_tests = 32;
  std::vector<ahead::AheadLoop> loops = ahead::ahead_loops(context).sites;
  std::erase_if(loops,
                [&](const ahead::AheadLoop &loop) { return loop.tests(iterations) > most_tests; });
  return loops;
}

std::optional<std::string> variant_ahead(const KernelContext &context, std::string_view variant) {
  return loads_ahead(context, number_in(variant));
}

/// How many iterations.
constexpr std::string_view ahead_variants[] = {"k4", "k8", "k2"};

FamilyAnswer propose_ahead(const KernelContext &context) {
  FamilyAnswer answer;
  if (const auto obstacle = obstacle_of(context.module, context.kernel))
    return {{}, {*obstacle}};
  const Sites<ahead::AheadLoop> &found = ahead::ahead_loops(context);
  for (const std::string_view variant : ahead_variants)
    if (!loops_for(context, number_in(variant)).empty())
      answer.proposals.push_back(same_launch_proposal(context.kernel, "ahead", variant));
    else if (!found.sites.empty()) // why there is not this one, before what is of other loops
      add_refusal(answer.refusals, many_tests);
  for (const Refusal &one : found.refusals)
    add_refusal(answer.refusals, one);
  return answer;
}

} // namespace

std::optional<std::string> loads_ahead(const KernelContext &context, unsigned iterations) {
  const std::vector<ahead::AheadLoop> loops = loops_for(context, iterations);
  return loops.empty() ? std::nullopt : ahead::write_ahead_loops(context, loops, iterations);
}

const Family ahead_family = {
    .name = "ahead",
    .option = "ahead",
    .help =
        "add versions in which loops do the loads of this number of iterations before what they "
        "read is used",
    .same_launch = true,
    .variants = listed<ahead_variants>,
    .propose = propose_ahead,
    .write = write_same_launch<variant_ahead>,
    .prove = prove_same_launch<prove_loads_ahead>,
    .in_place = variant_ahead,
    .prove_in_place = prove_loads_ahead,
};

} // namespace ptxasw::synth
