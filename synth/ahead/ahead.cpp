// Software pipelining of loads (loads ahead; Lam 1988): of a loop, the loads of K iterations before
// any of what they read is used (unrolled, with the loads first), where it is known that all K
// iterations will run; the rest of the iterations by the loop as it was. All loops of a kernel of
// which it is possible are written at once: each is innermost, so none has part of another one.
//
// The proof of loads ahead: kernel and version run beside each other (synth/prove/walk.h), and
// must do the same loads, with all else that can be seen, in the same order, but for loads that the
// version does before stores that write none of their bytes (Liberties::loads_ahead). What the
// version may have besides is branches of its own, by predicates that it alone has: they decide
// nothing but what it computes ahead. Such a predicate is computed from the same registers by the
// same instructions as the one by which the kernel will go on or leave the loop, so it is the same
// term, and once the version has branched by it, it is decided for the kernel, too. Where it is
// not, the kernel's own branch is walked both ways while the version goes on to its next load,
// which is not the kernel's on one of them, and the proof ends.
//
// So whatever a thread of the version loads, the kernel's thread loads, too, from the same place,
// and finds the same there; what is computed from it, which nobody sees, comes later.

#include "synth/ahead/sites.h"
#include "synth/prove/walk.h"
#include "synth/same_launch.h"

namespace ptxasw::synth {
namespace {

constexpr Refusal many_tests{"budget", "so many iterations need too many tests of where stores go"};

std::optional<Refusal> obstacle_of(const Module &module, const Function &kernel) {
  if (kernel.instructions.size() > changed_instructions_budget)
    return refusals::too_large;
  return lanes_obstacle(module, kernel);
}

/// The loops that may be written with so many iterations: among these there are few pairs of a load
/// and a store in front of it.
std::vector<ahead::AheadLoop> loops_for(const KernelContext &context, unsigned iterations) {
  constexpr std::size_t most_tests = 32;
  std::vector<ahead::AheadLoop> loops = ahead::ahead_loops(context).sites;
  std::erase_if(loops, [&](const ahead::AheadLoop &loop) {
    std::size_t tests = 0;
    for (const ahead::Meeting &meeting : loop.meetings)
      tests += iterations * (meeting.store < meeting.load ? iterations + 1 : iterations - 1) / 2;
    return tests > most_tests;
  });
  return loops;
}

/// The module's text with the loads of a kernel's loops ahead; nothing if there is no such loop.
std::optional<std::string> loads_ahead(const KernelContext &context, std::string_view variant) {
  const std::vector<ahead::AheadLoop> loops = loops_for(context, number_in(variant));
  return loops.empty() ? std::nullopt
                       : ahead::write_ahead_loops(context, loops, number_in(variant));
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

proof::Proved prove_loads_ahead(const Module &before, const Function &kernel, const Module &after,
                                const Function &changed) {
  return proof::prove_same(before, kernel, after, changed, {.loads_ahead = true});
}

} // namespace

const Family ahead_family = {
    .name = "ahead",
    .option = "ahead",
    .help =
        "add versions in which loops do the loads of this number of iterations before what they "
        "read is used",
    .if_measured = true,
    .same_launch = true,
    .variants = listed<ahead_variants>,
    .propose = propose_ahead,
    .write = write_same_launch<loads_ahead>,
    .prove = prove_same_launch<prove_loads_ahead>,
    .in_place = loads_ahead,
    .prove_in_place = prove_loads_ahead,
};

} // namespace ptxasw::synth
