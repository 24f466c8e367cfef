// What is proposed. Without wide accesses, for each number of copies, and limit of registers, first
// rows whose loads several of them share, in blocks of one row and of many, then several blocks by
// one along each axis that they are numbered on. The order is that of what measures best most
// often. With wide accesses: what has a plan of them.

#include "synth/coarsen/coarsen.h"

#include "emulator/facts/global_index.h"
#include "emulator/semantics/one_value.h"
#include "grammar/next.h"
#include "synth/coarsen/rooms.h"
#include "synth/coarsen/skew.h"
#include "synth/coarsen/wide.h"
#include "synth/same_launch.h"
#include "synth/spread.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

constexpr Refusal unused{"axis-unused", "the kernel does not ask for its block's index"};
constexpr Refusal no_room{"shared-memory", "several times the shared or local memory is too much"};
constexpr Refusal too_large{"budget", "the sibling would be too large"};
constexpr Refusal torn_warp{"warp-collective",
                            "lanes of a warp may part before what they do together"};
constexpr Refusal nothing{"nothing-adjacent",
                          "no accesses of a thread, or of neighbouring ones, lie side by side"};

/// Instructions that one sibling of so many copies may have. Of those of eight and more, none that
/// is larger has won where versions were timed (docs/results), and ptxas takes seconds for each.
/// Rows one behind the other are straight code, which ptxas is done with soon.
std::size_t size_budget(const CoarsenForm &form) {
  return form.skewed         ? 1'250 * form.total()
         : form.total() >= 8 ? 10'000
         : form.wide         ? 30'000
                             : 100'000;
}

Proposal proposal_for(const KernelContext &context, const CoarsenShape &shape) {
  const Function &kernel = context.kernel;
  CoarsenForm form = shape.form;
  // Straight code is what has been measured in blocks of several rows.
  form.tall = form.once && !form.within_block() && may_be_tall(context);
  Proposal proposal =
      same_launch_proposal(kernel, form.wide ? "vectorise" : "retile", coarsen_variant(shape));
  proposal.registers = shape.registers;
  proposal.sibling = coarsened(context, form);
  proposal.sibling.family = proposal.family;
  std::string word = proposal.variant;
  std::replace(word.begin(), word.end(), '-', '_');
  if (!form.wide)
    word =
        fmt::format("retile_{}_{}{}{}", name_of(form.kind), "xyz"[form.axis], form.copies,
                    form.once ? "_once" : "") +
        (shape.registers == 0 ? "" : fmt::format("{}r{}", form.once ? "_" : "", shape.registers));
  proposal.sibling.name = fmt::format("{}__ptxasw_{}", kernel.name, word);
  return proposal;
}

/// Instructions of a sibling, about: the copies together and alone, and what leaves at each branch,
/// by the registers that are live there. For wide versions and those of eight copies and more a
/// quarter of all registers counts instead: their budget is from times of versions, by that
/// measure.
std::size_t size_of(const KernelContext &context, const CoarsenForm &form) {
  const bool timed = form.wide || form.total() >= 8;
  return form.total() * context.once(timed ? "size as timed" : "size", [&] {
    const auto &[module, kernel] = std::tie(context.module, context.kernel);
    std::size_t size = 2 * kernel.instructions.size();
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
      if (i == 0 || kernel.instructions[i].guard != no_register)
        size +=
            6 + (timed ? kernel.registers.size() / 4
                       : live_before(module, kernel, context.cfg(), context.liveness(), i).size());
    return size;
  });
}

/// Instructions of a sibling where copies go alone and meet again.
std::size_t detours_size(const Sharing &sharing, unsigned copies) {
  std::size_t size = 0;
  for (const Detour &detour : sharing.detours())
    size += copies *
            static_cast<std::size_t>(std::count(detour.inside.begin(), detour.inside.end(), true));
  return size;
}

/// Returns true if a sibling whose copies share so much and part so would be too large.
bool is_too_large(const Sharing &sharing, const KernelContext &context, const CoarsenForm &form) {
  return size_of(context, form) + detours_size(sharing, form.copies) > size_budget(form);
}

/// Returns true if a kernel asks for what tells the copies along the form's axis apart, and its
/// threads may be where the form has them.
bool may_divide(const KernelContext &context, const CoarsenForm &form, bool spread) {
  return form.copies == 1 || (mentions_special(context.module, context.kernel, form.index()) &&
                              (spread || !form.within_block()));
}

/// Returns true if a kernel has loops that a form would have one round of.
bool may_be_once(const KernelContext &context, const CoarsenForm &form) {
  return !form.once || !rounds_over_grid(context).empty();
}

/// Returns true if the kernel may be launched in a block that a version asks for.
bool may_be_launched(const Function &kernel, const Sibling &sibling) {
  const PerformanceDirective *const block = kernel.directive("reqntid");
  const auto &blocks = sibling.needs.blocks;
  return !block || blocks.empty() ||
         std::find(blocks.begin(), blocks.end(), std::to_array(block->values)) != blocks.end();
}

FamilyAnswer propose_retile(const KernelContext &context) {
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  // What ties threads of a block together may stay where blocks stay whole.
  const bool only_apart = !coarsen_obstacles(context).empty();
  if (only_apart)
    answer.refusals = coarsen_obstacles(context, Blocks::whole);
  if (!answer.refusals.empty())
    return answer;
  const bool spread = !only_apart && may_be_spread(context);
  const std::vector<Room> rooms = rooms_of(context.module, kernel);
  bool fits = true, large = false;
  for (const CoarsenShape &shape : coarsen_shapes()) {
    const CoarsenForm &form = shape.form;
    if (form.wide || !may_divide(context, form, spread) || !may_be_once(context, form) ||
        (only_apart && form.kind != CoarsenForm::Kind::apart))
      continue;
    if (!rooms_fit(rooms, form.copies)) {
      fits = false;
      continue;
    }
    const Sharing sharing(context, form);
    if (const auto torn = sharing.meetings().torn(sharing.detours())) {
      if (answer.refusals.empty())
        answer.refusals.push_back(torn_warp.at(kernel.instructions[*torn].line));
      continue;
    }
    if (is_too_large(sharing, context, form)) {
      large = true;
      continue;
    }
    if (form.merges() && merged_loads(context, form).empty())
      continue;
    Proposal proposal = proposal_for(context, shape);
    if (may_be_launched(kernel, proposal.sibling))
      answer.proposals.push_back(std::move(proposal));
  }
  if (answer.proposals.empty() && answer.refusals.empty())
    answer.refusals.push_back(large ? too_large : fits ? unused : no_room);
  return answer;
}

FamilyAnswer propose_vectorise(const KernelContext &context) {
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  if (const auto obstacle = spread_obstacle(context))
    return {{}, {*obstacle}};
  const bool spread = may_be_spread(context);
  const auto shows = facts::block_shape_shows(context.module, kernel);
  const bool has_points = spread && !shows && mentions_special(context.module, kernel, "%tid.x");
  bool large = false;
  for (const CoarsenShape &shape : coarsen_shapes()) {
    CoarsenForm form = shape.form;
    if (!form.wide || !may_divide(context, form, spread) || !may_be_once(context, form) ||
        (form.along_x > 1 && !has_points))
      continue;
    if (size_of(context, form) > size_budget(form)) {
      large = true;
      continue;
    }
    form.shift = wide_shift(context, form.along_x);
    const BestPlan &best = best_plan(context, form);
    if (!best.plan.is_wide() || (form.skewed && Skew(context, form).stretches().empty()))
      continue;
    Proposal proposal = proposal_for(context, shape);
    proposal.sibling.needs.aligned = best.needs.aligned;
    proposal.sibling.needs.divisible = best.needs.divisible;
    proposal.sibling.needs.bounded = best.needs.bounded;
    if (may_be_launched(kernel, proposal.sibling))
      answer.proposals.push_back(std::move(proposal));
  }
  if (answer.proposals.empty())
    answer.refusals.push_back(large             ? too_large
                              : spread && shows ? refusals::local_index.at(*shows)
                                                : nothing);
  return answer;
}

template <bool wide> const std::vector<std::string> &variants() {
  static const auto all = [] {
    std::vector<std::string> words;
    for (const CoarsenShape &shape : coarsen_shapes())
      if (shape.form.wide == wide)
        words.push_back(coarsen_variant(shape));
    return words;
  }();
  return all;
}

} // namespace

bool may_be_tall(const KernelContext &context) {
  return mentions_special(context.module, context.kernel, "%ctaid.y") &&
         !extent_obstacle(context, 'y');
}

std::vector<Refusal> coarsen_obstacles(const KernelContext &context, Blocks blocks) {
  std::vector<Refusal> all = spread_obstacles(context, blocks);
  if (blocks == Blocks::whole)
    for (const Refusal &one : rooms_obstacles(context.module, context.kernel, calls_of(context)))
      add_kind(all, one);
  return all;
}

// Two entries, as users hear of wide accesses under their own name, and looking for them takes
// longer than all else.
const Family retile_family = {
    .name = "retile",
    .option = "retile",
    .values = "[wide[-]][xN][yN|zN][-rows|-neighbours][-skewed][-once][-rN][,...]",
    .help = "of versions that merge blocks only these, N along this axis; a wrong name lists all",
    .by_default = true,
    .threads_apart = true,
    .variants = variants<false>,
    .propose = propose_retile,
    .write = write_coarsen,
    .prove = prove_coarsen,
};

const Family vectorise_family = {
    .name = "vectorise",
    .option = "retile",
    .help = {},
    .by_default = true,
    .threads_apart = true,
    .variants = variants<true>,
    .propose = propose_vectorise,
    .write = write_coarsen,
    .prove = prove_coarsen,
};

} // namespace ptxasw::synth
