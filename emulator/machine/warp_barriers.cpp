// What can be wrong with barriers although a GPU gets past them (PTX ISA 9.7.13.1): lanes of a warp
// that reach an aligned one by different paths or not at all, threads that do not agree on how many
// they are, arrivals that no thread waits for.

#include "emulator/machine/warp_machine.h"

#include <fmt/core.h>

namespace ptxasw {

void WarpMachine::report_barrier(FaultKind kind, unsigned lane, std::string message) {
  if (!outcome_.barrier)
    outcome_.barrier = place(kind, lane, std::move(message), 0);
}

void WarpMachine::check_arrival(BarrierState &barrier, std::uint64_t id, LaneMask mask,
                                std::uint32_t expected) {
  const WarpInstruction &in = *instruction_;
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  if (barrier.used && barrier.expected != expected)
    report_barrier(FaultKind::barrier_mismatch, first,
                   fmt::format("barrier {} for {} threads, where others came for {} (0: all)", id,
                               expected, barrier.expected));
  if (expected % warp_lanes != 0)
    report_barrier(FaultKind::barrier_mismatch, first,
                   fmt::format("barrier {} for {} threads, no multiple of a warp", id, expected));
  if (in.opcode->op != Op::bar && !in.opcode->has(Modifier::aligned))
    return;
  barrier.aligned.resize(block_warps_);
  BarrierState::Aligned &aligned = barrier.aligned[warp_->index];
  if (!aligned.at) {
    aligned.at = &in;
    aligned.due = warp_->live;
  } else if (aligned.at != &in) {
    report_barrier(FaultKind::divergent_barrier, first,
                   fmt::format("lanes of the warp wait at two aligned barriers: lines {} and {}",
                               aligned.at->line, in.line));
  }
}

// Lanes that lived when the first of their warp came, and never came themselves, have exited.
void WarpMachine::check_release(const BlockState &block, unsigned id) {
  const BarrierState &barrier = block.barriers[id];
  WarpState *const warp_before = warp_;
  const WarpInstruction *const instruction_before = instruction_;
  for (const WarpState &warp : block.warps) {
    if (warp.index >= barrier.aligned.size() || !barrier.aligned[warp.index].at)
      continue;
    const LaneMask absent = barrier.aligned[warp.index].due & ~barrier.arrived[warp.index];
    if (absent == 0)
      continue;
    warp_ = const_cast<WarpState *>(&warp);
    instruction_ = barrier.aligned[warp.index].at;
    report_barrier(FaultKind::divergent_barrier, static_cast<unsigned>(std::countr_zero(absent)),
                   fmt::format("`{}` is for all lanes of the warp, and lanes {:#010x} exited "
                               "without coming to it",
                               instruction_->opcode->text, absent));
  }
  warp_ = warp_before;
  instruction_ = instruction_before;
  if (!barrier.awaited)
    report_barrier(FaultKind::lonely_arrival,
                   static_cast<unsigned>(std::countr_zero(warp_->live | 0x80000000)),
                   fmt::format("barrier {} completes although no thread waits at it", id));
}

void WarpMachine::check_unused_arrivals(const BlockState &block) {
  for (unsigned id = 0; id < 16; ++id)
    if (block.barriers[id].used && !outcome_.barrier) {
      WarpFault fault;
      fault.kind = FaultKind::lonely_arrival;
      fault.message = fmt::format("block {},{},{} ended with arrivals at barrier {} that no "
                                  "thread waited for",
                                  block.ctaid[0], block.ctaid[1], block.ctaid[2], id);
      fault.kernel = program_.function(kernel_).function->name;
      std::copy(std::begin(block.ctaid), std::end(block.ctaid), std::begin(fault.block));
      outcome_.barrier = std::move(fault);
    }
}

} // namespace ptxasw
