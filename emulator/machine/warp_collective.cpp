// Instructions in which lanes take part together.
//
// A lane that reaches a `.sync` instruction waits until every lane that its member mask names, and
// that has not exited, waits at the same instruction with the same mask (for bar.warp.sync: at
// any). Then they act together; the scheduling policy decides if they stay together afterwards.

#include "emulator/machine/warp_machine.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw {

LaneMask WarpMachine::named_lanes(const WarpInstruction &instruction, unsigned lane) const {
  if (instruction.action == WarpAction::matrix)
    return ~LaneMask{0};
  return static_cast<LaneMask>(value(instruction.inputs.back(), lane));
}

WarpMachine::Next WarpMachine::arrive_at_sync(std::size_t index, LaneMask mask) {
  for_each_lane(mask, [&](unsigned lane) {
    if (!(named_lanes(*instruction_, lane) >> lane & 1))
      fail(FaultKind::missing_lane, lane,
           fmt::format("`{}` with member mask {:#010x}, which does not name this lane",
                       instruction_->opcode->text, named_lanes(*instruction_, lane)));
  });
  warp_->fragments[index].state = Fragment::State::at_sync;
  // The usual case first: all named lanes are here.
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const LaneMask named = named_lanes(*instruction_, first);
  bool uniform = (named & warp_->live) == mask;
  for_each_lane(mask, [&](unsigned lane) { uniform &= named_lanes(*instruction_, lane) == named; });
  if (uniform) {
    perform_sync(mask, named);
    warp_->fragments[index].state = Fragment::State::ready;
    return Next::advance;
  }
  complete_syncs(*warp_);
  return Next::stop;
}

void WarpMachine::complete_syncs(WarpState &warp) {
  WarpState *const warp_before = warp_;
  CallLevel *const level_before = level_;
  const std::size_t depth_before = depth_;
  const WarpInstruction *const instruction_before = instruction_;
  const std::uint32_t function_before = function_;
  for (bool progress = true; progress;) {
    progress = false;
    for (std::size_t i = 0; i < warp.fragments.size() && !progress; ++i) {
      if (warp.fragments[i].state != Fragment::State::at_sync)
        continue;
      enter(warp, warp.fragments[i]);
      const WarpInstruction &here = *instruction_;
      const std::size_t depth = depth_;
      for (LaneMask rest = warp.fragments[i].mask; rest && !progress;) {
        const auto lane = static_cast<unsigned>(std::countr_zero(rest));
        const LaneMask named = named_lanes(here, lane);
        // All lanes that wait at this instruction with this mask.
        LaneMask group = 0;
        for (const Fragment &other : warp.fragments) {
          if (other.state != Fragment::State::at_sync)
            continue;
          enter(warp, other);
          const bool matches = here.action == WarpAction::warp_sync
                                   ? instruction_->action == WarpAction::warp_sync
                                   : instruction_ == &here && depth_ == depth;
          if (matches)
            for_each_lane(other.mask, [&](unsigned l) {
              if (named_lanes(*instruction_, l) == named)
                group |= 1u << l;
            });
        }
        rest &= ~group;
        if ((named & warp.live & ~group) != 0)
          continue;
        enter(warp, warp.fragments[i]);
        perform_sync(group, named);
        ++meetings_;
        for (std::size_t j = warp.fragments.size(); j-- > 0;) {
          if (warp.fragments[j].state != Fragment::State::at_sync ||
              (warp.fragments[j].mask & group) == 0)
            continue;
          const std::size_t done =
              split(warp, j, warp.fragments[j].mask & group, warp.fragments[j].stack.back().pc + 1);
          warp.fragments[done].state = Fragment::State::ready;
          warp.fragments[done].met = meetings_;
          advance(warp.fragments[done]);
        }
        progress = true;
      }
    }
  }
  warp_ = warp_before;
  depth_ = depth_before;
  level_ = level_before;
  instruction_ = instruction_before;
  function_ = function_before;
}

void WarpMachine::perform_sync(LaneMask group, LaneMask named) {
  switch (instruction_->action) {
  case WarpAction::shuffle:
    return shuffle(group, named);
  case WarpAction::vote:
    return vote(group);
  case WarpAction::match:
    return match(group);
  case WarpAction::reduce:
    return reduce(group);
  case WarpAction::matrix:
    return matrix(group);
  case WarpAction::elect:
    for_each_lane(group, [&](unsigned lane) {
      const auto leader = static_cast<unsigned>(std::countr_zero(group));
      assign(instruction_->outputs[0], lane, leader, 32, false);
      assign(instruction_->second_output, lane, lane == leader, 1, false);
    });
    return;
  default: // bar.warp.sync
    if (races_)
      races_->order().warp_barrier(warp_->block->index * block_warps_ + warp_->index, group,
                                   outcome_.steps);
    return;
  }
}

// PTX ISA 9.7.9.6, its pseudocode.
void WarpMachine::shuffle(LaneMask group, LaneMask named) {
  const WarpInstruction &in = *instruction_;
  const Opcode &opcode = *in.opcode;
  std::uint64_t results[warp_lanes];
  bool inside[warp_lanes];
  ExactReal reals[warp_lanes];
  for_each_lane(group, [&](unsigned lane) {
    const auto b = static_cast<unsigned>(value(in.inputs[1], lane) & 31);
    const auto c = static_cast<unsigned>(value(in.inputs[2], lane));
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
      results[lane] = value(in.inputs[0], static_cast<unsigned>(from));
      reals[lane] = real_of(in.inputs[0], static_cast<unsigned>(from));
      return;
    }
    if (named >> from & 1)
      fail(FaultKind::missing_lane, lane,
           fmt::format("`{}` reads lane {}, which its member mask {:#010x} names but which has "
                       "exited or does not exist",
                       opcode.text, from, named));
    // A lane that takes no part: the value is undefined, so it is something unexpected.
    results[lane] =
        scramble(options_.seed ^ (outcome_.steps - warp_->block->first_step) ^ lane << 20);
  });
  for_each_lane(group, [&](unsigned lane) {
    assign(in.outputs[0], lane, results[lane], 32, false);
    if (reals[lane].known())
      set_real(in.outputs[0], lane, reals[lane]);
    assign(in.second_output, lane, inside[lane], 1, false);
  });
}

void WarpMachine::vote(LaneMask group) {
  const WarpInstruction &in = *instruction_;
  LaneMask set = 0;
  for_each_lane(group, [&](unsigned lane) {
    if (value(in.inputs[0], lane) & 1)
      set |= 1u << lane;
  });
  const Opcode &opcode = *in.opcode;
  const bool ballot = opcode.has(Modifier::ballot);
  const std::uint64_t result = ballot                      ? set
                               : opcode.has(Modifier::all) ? set == group
                               : opcode.has(Modifier::any) ? set != 0
                                                           : set == 0 || set == group;
  for_each_lane(
      group, [&](unsigned lane) { assign(in.outputs[0], lane, result, ballot ? 32 : 1, false); });
}

void WarpMachine::match(LaneMask group) {
  const WarpInstruction &in = *instruction_;
  const std::uint64_t bits = mask64(in.form.form.width);
  LaneMask equal[warp_lanes] = {};
  for_each_lane(group, [&](unsigned lane) {
    for_each_lane(group, [&](unsigned other) {
      if ((value(in.inputs[0], lane) & bits) == (value(in.inputs[0], other) & bits))
        equal[lane] |= 1u << other;
    });
  });
  const bool all = in.opcode->has(Modifier::all);
  for_each_lane(group, [&](unsigned lane) {
    const bool everybody = equal[lane] == group;
    assign(in.outputs[0], lane, all ? (everybody ? group : 0) : equal[lane], 32, false);
    assign(in.second_output, lane, everybody, 1, false);
  });
}

void WarpMachine::reduce(LaneMask group) {
  const WarpInstruction &in = *instruction_;
  const Opcode &opcode = *in.opcode;
  const bool is_signed = in.form.form.is_signed;
  const auto first = static_cast<unsigned>(std::countr_zero(group));
  auto result = static_cast<std::uint32_t>(value(in.inputs[0], first));
  for_each_lane(group & (group - 1), [&](unsigned lane) {
    const auto b = static_cast<std::uint32_t>(value(in.inputs[0], lane));
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
  for_each_lane(group, [&](unsigned lane) { assign(in.outputs[0], lane, result, 32, false); });
}

// bar{.cta}.sync a{, b}; bar.red d, a{, b}, p; bar.arrive a, b (PTX ISA 9.7.13.1).
WarpMachine::Next WarpMachine::arrive_at_barrier(std::size_t index, LaneMask mask) {
  const WarpInstruction &in = *instruction_;
  const bool red = in.opcode->has(Modifier::red), arrive = in.opcode->has(Modifier::arrive);
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t id = value(in.inputs[0], first);
  for_each_lane(mask, [&](unsigned lane) {
    if (value(in.inputs[0], lane) != id)
      fail(FaultKind::unsupported, lane, "lanes of a warp at different barriers at once");
  });
  if (id >= 16)
    fail(FaultKind::deadlock, first, fmt::format("barrier {}: there are 16", id));
  BarrierState &barrier = warp_->block->barriers[id];
  if (barrier.arrived[warp_->index] & mask)
    fail(FaultKind::deadlock, first,
         fmt::format("arrives twice at barrier {} before it completes", id));
  const std::size_t operands = in.inputs.size() - (red ? 1 : 0);
  if (options_.check_barriers)
    check_arrival(barrier, id, mask,
                  operands > 1 ? static_cast<std::uint32_t>(value(in.inputs[1], first)) : 0);
  barrier.used = true;
  barrier.awaited |= !arrive;
  barrier.expected = operands > 1 ? static_cast<std::uint32_t>(value(in.inputs[1], first)) : 0;
  barrier.arrived[warp_->index] |= mask;
  if (races_)
    for_each_lane(mask, [&](unsigned lane) { races_->order().arrive(moment(lane), barrier.past); });
  if (red)
    for_each_lane(mask, [&](unsigned lane) {
      ++barrier.count;
      barrier.true_count += value(in.inputs.back(), lane) & 1;
    });
  if (arrive) {
    advance(warp_->fragments[index]);
  } else {
    warp_->fragments[index].state = Fragment::State::at_barrier;
    warp_->fragments[index].barrier = static_cast<std::uint8_t>(id);
  }
  complete_barriers(*warp_->block);
  return Next::stop;
}

void WarpMachine::complete_barriers(BlockState &block) {
  for (unsigned id = 0; id < 16; ++id) {
    BarrierState &barrier = block.barriers[id];
    if (!barrier.used)
      continue;
    std::uint32_t arrived = 0;
    bool everybody = true;
    for (std::uint32_t w = 0; w < block.warps.size(); ++w) {
      const LaneMask live = block.warps[w].live, here = barrier.arrived[w];
      everybody &= (live & ~here) == 0;
      // A warp counts as 32 threads once all that it has are there.
      if (here != 0)
        arrived += (live & ~here) == 0 ? warp_lanes : static_cast<unsigned>(std::popcount(here));
    }
    if (barrier.expected == 0 ? everybody : arrived >= barrier.expected)
      release(block, id);
  }
}

namespace {

/// Among the barriers of a block: the one of its cluster.
constexpr std::uint8_t cluster_id = 16;

} // namespace

// Returns true if nobody of the block has only arrived, or stands elsewhere.
bool WarpMachine::all_wait(const BlockState &block, unsigned id) {
  return std::all_of(block.warps.begin(), block.warps.end(), [&](const WarpState &warp) {
    LaneMask waiting = 0;
    for (const Fragment &fragment : warp.fragments)
      if (fragment.state == Fragment::State::at_barrier && fragment.barrier == id)
        waiting |= fragment.mask;
    return waiting == warp.live;
  });
}

void WarpMachine::release(BlockState &block, unsigned id, bool orders) {
  if (options_.check_barriers && id != cluster_id)
    check_release(block, id);
  WarpState *const warp_before = warp_;
  CallLevel *const level_before = level_;
  const std::size_t depth_before = depth_;
  const WarpInstruction *const instruction_before = instruction_;
  const std::uint32_t function_before = function_;
  const bool ends_epoch = orders && (id == cluster_id || all_wait(block, id));
  if (ends_epoch) {
    ++block.epoch;
    if (races_)
      races_->order().block_barrier(block.index);
  }
  ++meetings_;
  for (WarpState &warp : block.warps)
    for (Fragment &fragment : warp.fragments) {
      if (fragment.state != Fragment::State::at_barrier || fragment.barrier != id)
        continue;
      enter(warp, fragment);
      if (races_ && !ends_epoch && id != cluster_id)
        for_each_lane(fragment.mask, [&](unsigned lane) {
          races_->order().leave(moment(lane), block.barriers[id].past);
        });
      if (id == cluster_id)
        block.cluster_due[warp.index] &= ~fragment.mask;
      if (!instruction_->outputs.empty()) {
        const BarrierState &barrier = block.barriers[id];
        const Opcode &opcode = *instruction_->opcode;
        const bool popc = opcode.has(Modifier::popc);
        const std::uint64_t result = popc ? barrier.true_count
                                     : opcode.has(Modifier::and_)
                                         ? barrier.true_count == barrier.count
                                         : barrier.true_count != 0;
        for_each_lane(fragment.mask, [&](unsigned lane) {
          assign(instruction_->outputs[0], lane, result, popc ? 32 : 1, false);
        });
      }
      fragment.state = Fragment::State::ready;
      fragment.met = meetings_;
      advance(fragment);
    }
  if (id != cluster_id) {
    BarrierState &barrier = block.barriers[id];
    barrier.used = barrier.awaited = false;
    barrier.aligned.clear();
    barrier.past.clear();
    barrier.expected = barrier.true_count = barrier.count = 0;
    std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
  }
  warp_ = warp_before;
  depth_ = depth_before;
  level_ = level_before;
  instruction_ = instruction_before;
  function_ = function_before;
}

// barrier.cluster.arrive, barrier.cluster.wait (PTX ISA 9.7.13.3): a thread arrives, goes on, and
// waits for all threads of the cluster that have not exited.
WarpMachine::Next WarpMachine::arrive_at_cluster_barrier(std::size_t index, LaneMask mask) {
  BlockState &block = *warp_->block;
  LaneMask &arrived = block.cluster_arrived[warp_->index], &due = block.cluster_due[warp_->index];
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  if (instruction_->opcode->has(Modifier::arrive)) {
    if (due & mask)
      fail(FaultKind::deadlock, first, "arrives twice at the cluster's barrier without waiting");
    arrived |= mask;
    due |= mask;
    block.cluster_relaxed |= instruction_->opcode->has(Modifier::relaxed);
    advance(warp_->fragments[index]);
    complete_cluster(block.ctaid);
    return Next::stop;
  }
  if ((due & mask) != mask)
    fail(FaultKind::deadlock, first, "waits at the cluster's barrier without having arrived");
  if ((arrived & mask) == 0) { // all others have come since
    due &= ~mask;
    advance(warp_->fragments[index]);
    return Next::stop;
  }
  warp_->fragments[index].state = Fragment::State::at_barrier;
  warp_->fragments[index].barrier = cluster_id;
  return Next::stop;
}

void WarpMachine::complete_cluster(const std::uint32_t (&of)[3]) {
  std::vector<BlockState *> blocks;
  bool used = false;
  const auto in_cluster = [&](const std::uint32_t(&ctaid)[3]) {
    for (int axis = 0; axis < 3; ++axis)
      if (ctaid[axis] / cluster_[axis] != of[axis] / cluster_[axis])
        return false;
    return true;
  };
  for (const auto &block : active_) {
    if (!in_cluster(block->ctaid))
      continue;
    blocks.push_back(block.get());
    for (std::size_t w = 0; w < block->warps.size(); ++w) {
      used |= block->cluster_arrived[w] != 0;
      if ((block->warps[w].live & ~block->cluster_arrived[w]) != 0)
        return;
    }
  }
  if (!used)
    return;
  if (cluster_.count() > 1) { // blocks that have not started have not arrived
    const auto last_on = [&](int axis) {
      const std::uint64_t size = cluster_[axis];
      return of[axis] / size * size + size - 1;
    };
    const std::uint64_t last =
        (last_on(2) * launch_.grid.y + last_on(1)) * launch_.grid.x + last_on(0);
    if (last >= started_)
      return;
  }
  const bool relaxed = std::any_of(blocks.begin(), blocks.end(),
                                   [](const BlockState *block) { return block->cluster_relaxed; });
  std::vector<std::pair<std::uint32_t, std::uint32_t>> epochs;
  for (BlockState *block : blocks) {
    std::fill(block->cluster_arrived.begin(), block->cluster_arrived.end(), 0);
    release(*block, cluster_id, !relaxed);
    block->cluster_relaxed = false;
    epochs.emplace_back(block->index, block->epoch);
  }
  if (races_ && !relaxed)
    races_->order().blocks_meet(epochs);
}

} // namespace ptxasw
