// What is proposed. Without wide accesses, for each number of copies, and limit of registers, first
// rows whose loads several of them share, in blocks of one row and of many, then several blocks by
// one along each axis that they are numbered on. The order is that of what measures best most
// often. With wide accesses: what has a plan of them.

#include "synth/coarsen/coarsen.h"

#include "emulator/facts/global_index.h"
#include "emulator/semantics/one_value.h"
#include "grammar/next.h"
#include "synth/coarsen/allocations.h"
#include "synth/coarsen/skew.h"
#include "synth/coarsen/wide.h"
#include "synth/same_launch.h"
#include "synth/spread.h"

#include <algorithm>
#include <fmt/core.h>
#include <iterator>
#include <sstream>
#include <tuple>

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

// Limits have shown to be worth having where copies share loads and, for few copies, along y and z.
// Streams of bytes take 16 copies; of rows and planes so many take all registers. Along x there are
// no rows, and neighbours share nothing.
constexpr char retile_variants[] =
    "y4-rows-r64 z4-rows-r64 y4-neighbours-r64 z4-neighbours-r64 y4-r64 z4-r64 y2-rows-r64 "
    "z2-rows-r64 y2-neighbours-r64 z2-neighbours-r64 y2-r64 z2-r64 y4-rows z4-rows y4-neighbours "
    "z4-neighbours x4 y4 z4 y2-rows z2-rows y2-neighbours z2-neighbours x2 y2 z2 y8-rows-r64 "
    "z8-rows-r64 y8-neighbours-r64 z8-neighbours-r64 y8-rows z8-rows y8-neighbours z8-neighbours "
    "x8 y8 z8 y4-rows-r128 z4-rows-r128 y4-neighbours-r128 z4-neighbours-r128 x16 "
    "y4-rows-once-r64 z4-rows-once-r64";

// Straight code (`once`) needs few registers, and some limit makes the assembler move loads
// together; ends under predicates gain by a limit for planes, and cost by it for rows. Blocks of
// many rows are no reason for neighbours there: versions may have any number of rows. Rows one
// behind the other gain in straight code alone (docs/internals/siblings.md).
constexpr char wide_variants[] =
    "wide-x4y2-rows wide-x4y2-rows-r64 wide-x4y4-rows-r128 wide-x4y4-rows wide-x2y2-rows "
    "wide-x2y4-rows wide-x2y4-rows-r64 wide-x4y2-neighbours wide-x4y2-neighbours-r64 "
    "wide-x4y4-neighbours-r128 wide-x4y4-neighbours wide-x2y2-neighbours wide-x2y4-neighbours "
    "wide-x2y4-neighbours-r64 wide-x4z2-rows wide-x4z2-rows-r64 wide-x4z4-rows-r128 "
    "wide-x4z4-rows wide-x2z2-rows wide-x2z4-rows wide-x2z4-rows-r64 wide-x4z2-neighbours "
    "wide-x4z2-neighbours-r64 wide-x4z4-neighbours-r128 wide-x4z4-neighbours wide-x2z2-neighbours "
    "wide-x2z4-neighbours wide-x2z4-neighbours-r64 wide-x4 wide-x2 wide-x8 wide-x16 wide "
    "wide-y4-rows wide-y4-rows-r128 wide-y4-neighbours wide-y4-neighbours-r128 wide-z4-rows "
    "wide-z4-rows-r128 wide-z4-neighbours wide-z4-neighbours-r128 wide-x4-once wide-x2-once "
    "wide-x2y4-rows-once-r64 wide-x2y2-rows-once-r64 wide-x4y4-rows-once-r80 wide-x4y2-rows-once "
    "wide-x2z4-rows-once-r64 wide-x2z2-rows-once-r64 wide-x4z4-rows-once-r80 "
    "wide-x4z2-rows-once-r64 wide-x4y4-rows-skewed-once wide-x4y8-rows-skewed-once "
    "wide-x4y4-rows-skewed-once-r72 wide-x2y4-rows-skewed-once-r64";

template <const auto &words> const std::vector<std::string> &variants() {
  static const auto all = [] {
    std::istringstream text(words);
    return std::vector<std::string>(std::istream_iterator<std::string>(text), {});
  }();
  return all;
}

/// What a variant says: a form and a limit of registers, 0 for none. With a limit the assembler
/// uses all registers up to it, and keeps more loads on their way.
std::pair<CoarsenForm, unsigned> form_and_limit(std::string variant) {
  CoarsenForm form;
  unsigned limit = 0;
  std::replace(variant.begin(), variant.end(), '-', ' ');
  std::istringstream words(variant);
  for (std::string word; words >> word;) {
    std::istringstream sizes(word);
    char letter = 0;
    unsigned number = 0;
    if (word == "rows" || word == "neighbours") {
      form.kind = word == "rows" ? CoarsenForm::Kind::rows : CoarsenForm::Kind::neighbours;
    } else if (word == "wide" || word == "once" || word == "skewed") {
      (word == "wide" ? form.wide : word == "once" ? form.once : form.skewed) = true;
    } else {
      while (sizes >> letter >> number)
        if (letter == 'r' || (letter == 'x' && form.wide))
          (letter == 'r' ? limit : form.along_x) = number;
        else
          std::tie(form.axis, form.copies) = std::pair(letter - 'x', number);
    }
  }
  return {form, limit};
}

Proposal proposal_for(const KernelContext &context, CoarsenForm form, unsigned limit,
                      std::string_view variant) {
  const Function &kernel = context.kernel;
  // Straight code is what has been measured in blocks of several rows.
  form.tall = form.once && !form.within_block() && may_be_tall(context);
  Proposal proposal = same_launch_proposal(kernel, form.wide ? "vectorise" : "retile", variant);
  proposal.registers = limit;
  proposal.sibling = coarsened(context, form);
  proposal.sibling.family = proposal.family;
  std::string word = proposal.variant;
  std::replace(word.begin(), word.end(), '-', '_');
  if (!form.wide)
    word = fmt::format("retile_{}_{}{}{}", name_of(form.kind), "xyz"[form.axis], form.copies,
                       form.once ? "_once" : "") +
           (limit == 0 ? "" : fmt::format("{}r{}", form.once ? "_" : "", limit));
  proposal.sibling.name = fmt::format("{}__ptxasw_{}", kernel.name, word);
  return proposal;
}

/// Instructions of a sibling, about: the copies together and alone, and what leaves at each branch,
/// by the registers that are live there. For wide versions and those of eight copies and more a
/// quarter of all registers counts instead: their budget is from times of versions, by that
/// measure.
std::size_t size_of(const KernelContext &context, const CoarsenForm &form, const Sharing &sharing) {
  const bool timed = form.wide || form.total() >= 8;
  std::size_t alone = 0; // where copies go alone and meet again
  for (const DivergentRegion &region : sharing.regions())
    alone += static_cast<std::size_t>(std::count(region.inside.begin(), region.inside.end(), true));
  return form.copies * alone + form.total() * context.once(timed ? "size as timed" : "size", [&] {
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

template <const auto &words> FamilyAnswer propose_coarsened(const KernelContext &context) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  constexpr bool wide = &words[0] == &wide_variants[0];
  FamilyAnswer answer;
  // What ties threads of a block together may stay where blocks stay whole.
  const auto only_apart = spread_obstacle(context);
  if (only_apart && wide)
    answer.refusals = {*only_apart};
  else if (only_apart)
    answer.refusals = coarsen_obstacles(context, Blocks::whole);
  if (!answer.refusals.empty())
    return answer;
  const bool spread = !only_apart && may_be_spread(context);
  const auto shows = wide ? facts::block_shape_shows(module, kernel) : std::nullopt;
  const bool has_points = spread && !shows && mentions_special(module, kernel, "%tid.x");
  const std::vector<Allocation> allocations = allocations_of(module, kernel);
  bool fits = true, large = false;
  for (const std::string &variant : variants<words>()) {
    auto [form, limit] = form_and_limit(variant);
    // It has to ask for what tells the copies apart, and its threads may be where the form has
    // them.
    if ((form.copies > 1 && !mentions_special(module, kernel, form.index())) ||
        (form.within_block() && !spread) || (form.once && rounds_over_grid(context).empty()) ||
        (form.along_x > 1 && !has_points) || (only_apart && form.kind != CoarsenForm::Kind::apart))
      continue;
    if (!allocations_fit(allocations, form.copies)) {
      fits = false;
      continue;
    }
    const Sharing &sharing = sharing_of(context, form);
    if (const auto torn = sharing.meetings().torn(sharing.regions())) {
      if (answer.refusals.empty())
        answer.refusals.push_back(torn_warp.at(kernel.instructions[*torn].line));
      continue;
    }
    if (size_of(context, form, sharing) > size_budget(form)) {
      large = true;
      continue;
    }
    form.shift = wide_shift(context, form.along_x);
    const BestPlan *const best = wide ? &best_plan(context, form) : nullptr;
    if (best ? !best->plan.is_wide() || (form.skewed && skew_of(context, form).stretches().empty())
             : form.merges() && merged_loads(context, form).empty())
      continue;
    Proposal proposal = proposal_for(context, form, limit, variant);
    if (best) {
      proposal.sibling.needs.aligned = best->needs.aligned;
      proposal.sibling.needs.divisible = best->needs.divisible;
      proposal.sibling.needs.bounded = best->needs.bounded;
    }
    const PerformanceDirective *const block = kernel.directive("reqntid");
    const auto &blocks = proposal.sibling.needs.blocks;
    if (!block || blocks.empty() ||
        std::find(blocks.begin(), blocks.end(), std::to_array(block->values)) != blocks.end())
      answer.proposals.push_back(std::move(proposal));
  }
  if (answer.proposals.empty() && answer.refusals.empty())
    answer.refusals.push_back(large             ? too_large
                              : spread && shows ? refusals::local_index.at(*shows)
                              : wide            ? nothing
                              : fits            ? unused
                                                : no_room);
  return answer;
}

} // namespace

bool may_be_tall(const KernelContext &context) {
  return mentions_special(context.module, context.kernel, "%ctaid.y") &&
         !extent_obstacle(context, 'y');
}

std::vector<Refusal> coarsen_obstacles(const KernelContext &context, Blocks blocks) {
  std::vector<Refusal> all = spread_obstacles(context, blocks);
  if (blocks == Blocks::whole)
    for (const Refusal &one : allocation_obstacles(context))
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
    .variants = variants<retile_variants>,
    .propose = propose_coarsened<retile_variants>,
    .write = write_coarsen,
    .prove = prove_coarsen,
};

const Family vectorise_family = {
    .name = "vectorise",
    .option = "retile",
    .help = {},
    .by_default = true,
    .threads_apart = true,
    .variants = variants<wide_variants>,
    .propose = propose_coarsened<wide_variants>,
    .write = write_coarsen,
    .prove = prove_coarsen,
};

} // namespace ptxasw::synth
