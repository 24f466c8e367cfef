// Instructions in which lanes take part together.
//
// A lane that reaches a `.sync` instruction waits until every lane that its member mask names, and
// that has not exited, waits at the same instruction with the same mask (for bar.warp.sync: at
// any). Then they act together; the scheduling policy decides if they stay together afterwards.

#include "emulator/machine/warp_collective.h"

#include "emulator/machine/warp_group.h"
#include "emulator/machine/warp_matrix_unit.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {

LaneMask Collectives::named_lanes(const WarpContext &context, unsigned lane) {
  if (context.instruction->action == WarpAction::matrix ||
      context.instruction->action == WarpAction::group_product ||
      context.instruction->action == WarpAction::tensor_memory)
    return ~LaneMask{0};
  return static_cast<LaneMask>(context.value(context.instruction->inputs.back(), lane));
}

NextStep Collectives::arrive(WarpContext &context, std::size_t index, LaneMask mask) {
  for_each_lane(mask, [&](unsigned lane) {
    if (!(named_lanes(context, lane) >> lane & 1))
      context.fail(FaultKind::missing_lane, lane,
                   fmt::format("`{}` with member mask {:#010x}, which does not name this lane",
                               context.instruction->opcode->text, named_lanes(context, lane)));
  });
  context.warp->fragments[index].state = Fragment::State::at_sync;
  // The usual case first: all named lanes are here.
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const LaneMask named = named_lanes(context, first);
  bool uniform = (named & context.warp->live) == mask;
  for_each_lane(mask, [&](unsigned lane) { uniform &= named_lanes(context, lane) == named; });
  if (uniform) {
    perform(context, mask, named);
    context.warp->fragments[index].state = Fragment::State::ready;
    return NextStep::advance;
  }
  complete(*context.warp);
  return NextStep::stop;
}

// All lanes that wait where `here` does, with a mask.
LaneMask Collectives::waiting_with(const WarpContext &here, LaneMask named) const {
  LaneMask group = 0;
  for (const Fragment &other : here.warp->fragments) {
    if (other.state != Fragment::State::at_sync)
      continue;
    const WarpContext there = WarpContext::of(run_, *here.warp, other);
    const bool matches = here.instruction->action == WarpAction::warp_sync
                             ? there.instruction->action == WarpAction::warp_sync
                             : there.instruction == here.instruction && there.depth == here.depth;
    if (matches)
      for_each_lane(other.mask, [&](unsigned lane) {
        if (named_lanes(there, lane) == named)
          group |= 1u << lane;
      });
  }
  return group;
}

// Those who have acted together go on, as fragments that have met.
void Collectives::let_go(WarpState &warp, LaneMask group) {
  const std::uint64_t meeting = scheduler_.meet();
  for (std::size_t j = warp.fragments.size(); j-- > 0;) {
    if (warp.fragments[j].state != Fragment::State::at_sync ||
        (warp.fragments[j].mask & group) == 0)
      continue;
    const std::size_t done = scheduler_.split(warp, j, warp.fragments[j].mask & group,
                                              warp.fragments[j].stack.back().pc + 1);
    warp.fragments[done].state = Fragment::State::ready;
    warp.fragments[done].met = meeting;
    scheduler_.advance(warp.fragments[done]);
  }
}

bool Collectives::complete_one(WarpState &warp) {
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    if (warp.fragments[i].state != Fragment::State::at_sync)
      continue;
    WarpContext here = WarpContext::of(run_, warp, warp.fragments[i]);
    for (LaneMask rest = warp.fragments[i].mask; rest;) {
      const LaneMask named = named_lanes(here, static_cast<unsigned>(std::countr_zero(rest)));
      const LaneMask group = waiting_with(here, named);
      rest &= ~group;
      if ((named & warp.live & ~group) != 0)
        continue;
      perform(here, group, named);
      let_go(warp, group);
      return true;
    }
  }
  return false;
}

void Collectives::complete(WarpState &warp) {
  while (complete_one(warp)) {
  }
}

void Collectives::perform(WarpContext &context, LaneMask group, LaneMask named) {
  switch (context.instruction->action) {
  case WarpAction::shuffle:
    return shuffle(context, group, named);
  case WarpAction::vote:
    return vote(context, group);
  case WarpAction::match:
    return match(context, group);
  case WarpAction::reduce:
    return reduce(context, group);
  case WarpAction::matrix: {
    // What the instruction itself accesses lies between the two.
    const bool orders = run_.options.matrices_order;
    if (orders)
      order_lanes(context, group, run_.outcome.steps);
    execute_matrix(context, memory_, group);
    if (orders)
      order_lanes(context, group, run_.outcome.steps + 1);
    return;
  }
  case WarpAction::group_product:
    return execute_group_product(context, memory_, group);
  case WarpAction::tensor_memory:
    return tensor_.together(context, group);
  case WarpAction::elect:
    for_each_lane(group, [&](unsigned lane) {
      const auto leader = static_cast<unsigned>(std::countr_zero(group));
      context.assign(context.instruction->outputs[0], lane, leader, 32, false);
      context.assign(context.instruction->second_output, lane, lane == leader, 1, false);
    });
    return;
  default: // bar.warp.sync
    return order_lanes(context, group, run_.outcome.steps);
  }
}

// What these lanes did before `time` lies before what they do from then on.
void Collectives::order_lanes(const WarpContext &context, LaneMask group, std::uint64_t time) {
  if (!run_.races)
    return;
  ThreadMoment first_lane = context.moment(0);
  first_lane.time = time;
  run_.races->order().warp_barrier(first_lane, group);
}

// PTX ISA 9.7.9.6, its pseudocode.
void Collectives::shuffle(WarpContext &context, LaneMask group, LaneMask named) {
  const WarpInstruction &in = *context.instruction;
  const Opcode &opcode = *in.opcode;
  std::uint64_t results[warp_lanes];
  bool inside[warp_lanes];
  ExactReal reals[warp_lanes];
  for_each_lane(group, [&](unsigned lane) {
    const auto b = static_cast<unsigned>(context.value(in.inputs[1], lane) & 31);
    const auto c = static_cast<unsigned>(context.value(in.inputs[2], lane));
    const unsigned clamp = c & 31, segment = c >> 8 & 31;
    const unsigned highest = (lane & segment) | (clamp & ~segment);
    const unsigned lowest = lane & segment;
    int from;
    if (opcode.has(Modifier::up)) {
      from = static_cast<int>(lane) - static_cast<int>(b);
      inside[lane] = from >= static_cast<int>(highest);
    } else if (opcode.has(Modifier::down)) {
      from = static_cast<int>(lane + b);
      inside[lane] = from <= static_cast<int>(highest);
    } else if (opcode.has(Modifier::bfly)) {
      from = static_cast<int>(lane ^ b);
      inside[lane] = from <= static_cast<int>(highest);
    } else {
      from = static_cast<int>(lowest | (b & ~segment));
      inside[lane] = from <= static_cast<int>(highest);
    }
    if (!inside[lane])
      from = static_cast<int>(lane);
    if (group >> from & 1) {
      results[lane] = context.value(in.inputs[0], static_cast<unsigned>(from));
      reals[lane] = context.real_of(in.inputs[0], static_cast<unsigned>(from));
      return;
    }
    if (named >> from & 1)
      context.fail(
          FaultKind::missing_lane, lane,
          fmt::format("`{}` reads lane {}, which its member mask {:#010x} names but which has "
                      "exited or does not exist",
                      opcode.text, from, named));
    // A lane that takes no part: the value is undefined, so it is something unexpected.
    if (run_.options.check_barriers && !run_.outcome.barrier)
      run_.outcome.barrier = context.place(
          FaultKind::missing_lane, lane,
          fmt::format("`{}` reads lane {}, which its member mask {:#010x} does not name: what it "
                      "gets is undefined",
                      opcode.text, from, named),
          0);
    results[lane] = scramble(run_.options.seed ^
                             (run_.outcome.steps - context.warp->block->first_step) ^ lane << 20);
  });
  for_each_lane(group, [&](unsigned lane) {
    context.assign(in.outputs[0], lane, results[lane], 32, false);
    if (reals[lane].known())
      context.set_real(in.outputs[0], lane, reals[lane]);
    context.assign(in.second_output, lane, inside[lane], 1, false);
  });
}

void Collectives::vote(WarpContext &context, LaneMask group) {
  const WarpInstruction &in = *context.instruction;
  LaneMask set = 0;
  for_each_lane(group, [&](unsigned lane) {
    if (context.value(in.inputs[0], lane) & 1)
      set |= 1u << lane;
  });
  const Opcode &opcode = *in.opcode;
  const bool ballot = opcode.has(Modifier::ballot);
  const std::uint64_t result = ballot                      ? set
                               : opcode.has(Modifier::all) ? set == group
                               : opcode.has(Modifier::any) ? set != 0
                                                           : set == 0 || set == group;
  for_each_lane(group, [&](unsigned lane) {
    context.assign(in.outputs[0], lane, result, ballot ? 32 : 1, false);
  });
}

void Collectives::match(WarpContext &context, LaneMask group) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t bits = mask64(in.form.form.width);
  LaneMask equal[warp_lanes] = {};
  for_each_lane(group, [&](unsigned lane) {
    for_each_lane(group, [&](unsigned other) {
      if ((context.value(in.inputs[0], lane) & bits) == (context.value(in.inputs[0], other) & bits))
        equal[lane] |= 1u << other;
    });
  });
  const bool all = in.opcode->has(Modifier::all);
  for_each_lane(group, [&](unsigned lane) {
    const bool everybody = equal[lane] == group;
    context.assign(in.outputs[0], lane, all ? (everybody ? group : 0) : equal[lane], 32, false);
    context.assign(in.second_output, lane, everybody, 1, false);
  });
}

void Collectives::reduce(WarpContext &context, LaneMask group) {
  const WarpInstruction &in = *context.instruction;
  const Opcode &opcode = *in.opcode;
  const bool is_signed = in.form.form.is_signed;
  const auto first = static_cast<unsigned>(std::countr_zero(group));
  auto result = static_cast<std::uint32_t>(context.value(in.inputs[0], first));
  for_each_lane(group & (group - 1), [&](unsigned lane) {
    const auto b = static_cast<std::uint32_t>(context.value(in.inputs[0], lane));
    const bool less =
        is_signed ? static_cast<std::int32_t>(b) < static_cast<std::int32_t>(result) : b < result;
    if (opcode.has(Modifier::add))
      result += b;
    else if (opcode.has(Modifier::and_))
      result &= b;
    else if (opcode.has(Modifier::or_))
      result |= b;
    else if (opcode.has(Modifier::xor_))
      result ^= b;
    else if (opcode.has(Modifier::min))
      result = less ? b : result;
    else
      result = less ? result : b;
  });
  for_each_lane(group,
                [&](unsigned lane) { context.assign(in.outputs[0], lane, result, 32, false); });
}

} // namespace ptxasw::emulator
