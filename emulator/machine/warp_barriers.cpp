// Barriers of a block and of a cluster (PTX ISA 9.7.13), and what can be wrong with them although a
// GPU gets past them (9.7.13.1): lanes of a warp that reach an aligned one by different paths or
// not at all, threads of the block that exit without coming to one for all of them, threads that do
// not agree on how many they are, arrivals that no thread waits for.

#include "emulator/machine/warp_barriers.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {
namespace {

/// Among the barriers of a block: the one of its cluster.
constexpr std::uint8_t cluster_id = 16;

} // namespace

// bar{.cta}.sync a{, b}; bar.red d, a{, b}, p; bar.arrive a, b (PTX ISA 9.7.13.1).
NextStep Barriers::arrive(WarpContext &context, std::size_t index, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const bool red = in.opcode->has(Modifier::red), arrive = in.opcode->has(Modifier::arrive);
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const std::uint64_t id = context.value(in.inputs[0], first);
  if (in.inputs[0].kind != WarpOperand::Kind::immediate)
    for_each_lane(mask, [&](unsigned lane) {
      if (context.value(in.inputs[0], lane) != id)
        context.fail(FaultKind::unsupported, lane, "lanes of a warp at different barriers at once");
    });
  if (id >= 16)
    context.fail(FaultKind::deadlock, first, fmt::format("barrier {}: there are 16", id));
  BarrierState &barrier = context.warp->block->barriers[id];
  if (barrier.arrived[context.warp->index] & mask)
    context.fail(FaultKind::deadlock, first,
                 fmt::format("arrives twice at barrier {} before it completes", id));
  const std::size_t operands = in.inputs.size() - (red ? 1 : 0);
  if (run_.options.check_barriers)
    check_arrival(context, barrier, id, mask,
                  operands > 1 ? static_cast<std::uint32_t>(context.value(in.inputs[1], first))
                               : 0);
  barrier.used = true;
  context.warp->block->used_barriers |= 1u << id;
  barrier.awaited |= !arrive;
  barrier.expected =
      operands > 1 ? static_cast<std::uint32_t>(context.value(in.inputs[1], first)) : 0;
  barrier.arrived[context.warp->index] |= mask;
  if (run_.races)
    for_each_lane(mask, [&](unsigned lane) {
      run_.races->order().arrive(context.moment(lane), barrier.past);
    });
  if (red)
    for_each_lane(mask, [&](unsigned lane) {
      ++barrier.count;
      barrier.true_count += context.value(in.inputs.back(), lane) & 1;
    });
  if (arrive) {
    scheduler_.advance(context.warp->fragments[index]);
  } else {
    context.warp->fragments[index].state = Fragment::State::at_barrier;
    context.warp->fragments[index].barrier = static_cast<std::uint8_t>(id);
  }
  complete(context);
  return NextStep::stop;
}

void Barriers::arrive(WarpState &warp, unsigned id) {
  BlockState &block = *warp.block;
  BarrierState &barrier = block.barriers[id];
  barrier.used = barrier.awaited = true;
  block.used_barriers |= 1u << id;
  barrier.expected = 0;
  barrier.arrived[warp.index] |= warp.live;
  warp.waits = true;
  warp.barrier = static_cast<std::uint8_t>(id);
  complete({run_, &warp});
}

void Barriers::complete(const WarpContext &context) {
  BlockState &block = *context.warp->block;
  for (std::uint32_t left = block.used_barriers; left != 0; left &= left - 1) {
    const auto id = static_cast<unsigned>(std::countr_zero(left));
    BarrierState &barrier = block.barriers[id];
    const auto has_all = [&](const WarpState &warp) {
      return (warp.live & ~barrier.arrived[warp.index]) == 0;
    };
    // The last warps come last, mostly.
    if (barrier.expected == 0 && !std::all_of(block.warps.rbegin(), block.warps.rend(), has_all))
      continue;
    std::uint32_t arrived = 0;
    bool everybody = true;
    for (std::uint32_t w = 0; w < block.warps.size(); ++w) {
      const LaneMask live = block.warps[w].live, here = barrier.arrived[w];
      everybody &= (live & ~here) == 0;
      // A warp counts as 32 threads once all that it has are there.
      if (here != 0)
        arrived += (live & ~here) == 0 ? warp_lanes : lane_count(here);
    }
    if (barrier.expected == 0 ? everybody : arrived >= barrier.expected) {
      if (run_.options.check_barriers)
        check_release(context, block, id);
      release(block, id);
    }
  }
}

LaneMask Barriers::waiting_lanes(const WarpState &warp, unsigned id) {
  if (warp.is_whole)
    return warp.waits && warp.barrier == id ? warp.live : 0;
  LaneMask waiting = 0;
  for (const Fragment &fragment : warp.fragments)
    if (fragment.state == Fragment::State::at_barrier && fragment.barrier == id)
      waiting |= fragment.mask;
  return waiting;
}

// Returns true if nobody of the block who has not exited has only arrived, or stands elsewhere.
bool Barriers::all_wait(const BlockState &block, unsigned id) {
  return std::all_of(block.warps.begin(), block.warps.end(),
                     [&](const WarpState &warp) { return waiting_lanes(warp, id) == warp.live; });
}

void Barriers::release(BlockState &block, unsigned id) {
  const bool ends_epoch = id != cluster_id && all_wait(block, id);
  if (ends_epoch) {
    const KnownPast *of_arrived = nullptr;
    for (WarpState &warp : block.warps) {
      const LaneMask exited = warp.all & ~warp.live;
      if (!run_.races || exited == 0)
        continue;
      if ((block.barriers[id].arrived[warp.index] & exited) != 0)
        of_arrived = &block.barriers[id].past;
      if (const LaneMask left = exited & ~std::exchange(warp.left, exited)) {
        WarpContext there{run_, &warp};
        run_.races->order().leave_epochs(there.moment(0), left);
      }
    }
    ++block.epoch;
    if (run_.races)
      run_.races->order().block_barrier(block.index, of_arrived);
  }
  const std::uint64_t meeting = scheduler_.meet();
  for (WarpState &warp : block.warps) {
    if (warp.is_whole && warp.waits && warp.barrier == id) {
      warp.waits = false;
      scheduler_.move_to(warp.at, warp.at.pc + 1);
    }
    for (Fragment &fragment : warp.fragments) {
      if (fragment.state != Fragment::State::at_barrier || fragment.barrier != id)
        continue;
      WarpContext context = WarpContext::of(run_, warp, fragment);
      if (id == cluster_id)
        leave_cluster(context, fragment.mask);
      else if (run_.races && !ends_epoch)
        for_each_lane(fragment.mask, [&](unsigned lane) {
          run_.races->order().leave(context.moment(lane), block.barriers[id].past);
        });
      if (!context.instruction->outputs.empty()) {
        const BarrierState &barrier = block.barriers[id];
        const Opcode &opcode = *context.instruction->opcode;
        const bool popc = opcode.has(Modifier::popc);
        const std::uint64_t result = popc ? barrier.true_count
                                     : opcode.has(Modifier::and_)
                                         ? barrier.true_count == barrier.count
                                         : barrier.true_count != 0;
        for_each_lane(fragment.mask, [&](unsigned lane) {
          context.assign(context.instruction->outputs[0], lane, result, popc ? 32 : 1, false);
        });
      }
      fragment.state = Fragment::State::ready;
      fragment.met = meeting;
      scheduler_.advance(fragment);
    }
  }
  if (id != cluster_id) {
    block.barriers[id].clear(run_.block_warps);
    block.used_barriers &= ~(1u << id);
  }
}

// barrier.cluster.arrive, barrier.cluster.wait (PTX ISA 9.7.13.3): a thread arrives, goes on, and
// waits for all threads of the cluster that have not exited.
NextStep Barriers::arrive_at_cluster(WarpContext &context, std::size_t index, LaneMask mask) {
  BlockState &block = *context.warp->block;
  LaneMask &arrived = block.cluster_arrived[context.warp->index],
           &due = block.cluster_due[context.warp->index];
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  if (context.instruction->opcode->has(Modifier::arrive)) {
    if (due & mask)
      context.fail(FaultKind::deadlock, first,
                   "arrives twice at the cluster's barrier without waiting");
    arrived |= mask;
    due |= mask;
    if (run_.races)
      for_each_lane(mask, [&](unsigned lane) {
        run_.races->order().arrive_at_mbarrier(context.moment(lane),
                                               RunOrder::cluster_barrier(run_.cluster_of(block)),
                                               context.instruction->opcode->has(Modifier::relaxed));
      });
    scheduler_.advance(context.warp->fragments[index]);
    complete_cluster(context);
    return NextStep::stop;
  }
  if ((due & mask) != mask)
    context.fail(FaultKind::deadlock, first,
                 "waits at the cluster's barrier without having arrived");
  if ((arrived & mask) == 0) { // all others have come since
    leave_cluster(context, mask);
    scheduler_.advance(context.warp->fragments[index]);
    return NextStep::stop;
  }
  context.warp->fragments[index].state = Fragment::State::at_barrier;
  context.warp->fragments[index].barrier = cluster_id;
  return NextStep::stop;
}

void Barriers::complete_cluster(const WarpContext &context) {
  const auto &own = context.warp->block->cluster_arrived;
  if (run_.cluster.count() == 1 &&
      std::all_of(own.begin(), own.end(), [](LaneMask lanes) { return lanes == 0; }))
    return;
  const std::uint32_t(&of)[3] = context.warp->block->ctaid;
  std::vector<BlockState *> blocks;
  bool used = false;
  const auto in_cluster = [&](const std::uint32_t(&ctaid)[3]) {
    for (int axis = 0; axis < 3; ++axis)
      if (ctaid[axis] / run_.cluster[axis] != of[axis] / run_.cluster[axis])
        return false;
    return true;
  };
  for (const auto &block : run_.active) {
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
  // Blocks that have not started have not arrived.
  if ((run_.cluster_of(*blocks[0]) + std::uint64_t{1}) * run_.cluster.count() > run_.started)
    return;
  if (run_.races)
    run_.races->order().end_phase(RunOrder::cluster_barrier(run_.cluster_of(*blocks[0])));
  for (BlockState *block : blocks) {
    std::fill(block->cluster_arrived.begin(), block->cluster_arrived.end(), 0);
    release(*block, cluster_id);
  }
}

// Lanes that have waited at the cluster's barrier go on.
void Barriers::leave_cluster(const WarpContext &context, LaneMask lanes) {
  BlockState &block = *context.warp->block;
  block.cluster_due[context.warp->index] &= ~lanes;
  if (run_.races)
    for_each_lane(lanes, [&](unsigned lane) {
      run_.races->order().leave_mbarrier(context.moment(lane),
                                         RunOrder::cluster_barrier(run_.cluster_of(block)));
    });
}

void Barriers::report(const WarpContext &context, FaultKind kind, unsigned lane,
                      std::string message) {
  if (!run_.outcome.barrier)
    run_.outcome.barrier = context.place(kind, lane, std::move(message), 0);
}

void Barriers::check_arrival(const WarpContext &context, BarrierState &barrier, std::uint64_t id,
                             LaneMask mask, std::uint32_t expected) {
  const WarpInstruction &in = *context.instruction;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  if (barrier.used && barrier.expected != expected)
    report(context, FaultKind::barrier_mismatch, first,
           fmt::format("barrier {} for {} threads, where others came for {} (0: all)", id, expected,
                       barrier.expected));
  if (expected % warp_lanes != 0)
    report(context, FaultKind::barrier_mismatch, first,
           fmt::format("barrier {} for {} threads, no multiple of a warp", id, expected));
  const BarrierState::Arrival here{&in, context.function};
  if (!barrier.first.at)
    barrier.first = here;
  if (in.opcode->op != Op::bar && !in.opcode->has(Modifier::aligned))
    return;
  barrier.aligned.resize(run_.block_warps);
  BarrierState::Arrival &aligned = barrier.aligned[context.warp->index];
  if (!aligned.at)
    aligned = here;
  else if (aligned.at != &in)
    report(context, FaultKind::divergent_barrier, first,
           fmt::format("lanes of the warp wait at two aligned barriers: lines {} and {}",
                       aligned.at->line, in.line));
}

// Whoever a barrier is for and did not come to it has exited, before or after the others came: it
// is for all lanes of a warp if it is aligned, for the whole block if it says no number.
void Barriers::check_release(const WarpContext &context, BlockState &block, unsigned id) {
  const BarrierState &barrier = block.barriers[id];
  for (WarpState &warp : block.warps) {
    const bool is_aligned =
        warp.index < barrier.aligned.size() && barrier.aligned[warp.index].at != nullptr;
    if (!is_aligned && barrier.expected != 0)
      continue;
    const LaneMask absent = warp.all & ~barrier.arrived[warp.index];
    if (absent == 0)
      continue;
    const BarrierState::Arrival &of = is_aligned ? barrier.aligned[warp.index] : barrier.first;
    WarpContext there = context;
    there.warp = &warp;
    there.instruction = of.at;
    there.function = of.function;
    report(there, FaultKind::divergent_barrier, static_cast<unsigned>(std::countr_zero(absent)),
           fmt::format("`{}` is for all {}, and lanes {:#010x} of warp {} exited without coming "
                       "to it",
                       of.at->opcode->text,
                       barrier.expected != 0 ? "lanes of the warp" : "threads of the block", absent,
                       warp.index));
  }
  if (!barrier.awaited)
    report(context, FaultKind::lonely_arrival,
           static_cast<unsigned>(std::countr_zero(context.warp->live | 0x80000000)),
           fmt::format("barrier {} completes although no thread waits at it", id));
}

void Barriers::check_unused_arrivals(const BlockState &block) {
  for (unsigned id = 0; id < 16; ++id)
    if (block.barriers[id].used && !run_.outcome.barrier) {
      WarpFault fault;
      fault.kind = FaultKind::lonely_arrival;
      fault.message = fmt::format("block {},{},{} ended with arrivals at barrier {} that no "
                                  "thread waited for",
                                  block.ctaid[0], block.ctaid[1], block.ctaid[2], id);
      fault.kernel = run_.kernel_function().name;
      std::copy(std::begin(block.ctaid), std::end(block.ctaid), std::begin(fault.block));
      run_.outcome.barrier = std::move(fault);
    }
}

} // namespace ptxasw::emulator
