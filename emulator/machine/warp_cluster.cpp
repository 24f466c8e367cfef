// mapa, getctarank (PTX ISA 9.7.9.22, 9.7.9.23) and clusterlaunchcontrol (9.7.13.16).
//
// What try_cancel answers is opaque to programs; ours is, in 16 bytes, the index of the first block
// of the cluster that was taken along three axes, and 1, or zeros where none was left.

#include "emulator/machine/warp_cluster.h"

#include <fmt/core.h>

namespace ptxasw::emulator {

void ClusterUnit::map_address(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t blocks = run_.cluster.count();
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t address = context.value(in.inputs[0], lane);
    if (space_of(address) != StateSpace::shared)
      context.fail(FaultKind::out_of_bounds, lane,
                   fmt::format("{:#x} is no address of shared memory", address), address);
    const std::uint64_t offset = address - window::shared;
    if (in.opcode->op == Op::getctarank) {
      const std::uint64_t rank = blocks == 1                   ? 0
                                 : offset < window::block_slot ? run_.rank_of(*context.warp->block)
                                                               : offset / window::block_slot - 1;
      return context.assign(in.outputs[0], lane, rank, 32, false);
    }
    const std::uint64_t rank = context.value(in.inputs[1], lane) & mask64(32);
    if (rank >= blocks)
      context.fail(FaultKind::out_of_bounds, lane,
                   fmt::format("block {} of a cluster of {}", rank, blocks), address);
    context.assign(in.outputs[0], lane, run_.shared_of_rank(rank, address),
                   bit_width(in.opcode->type), false);
  });
}

void ClusterUnit::query(const WarpContext &context, unsigned lane, WarpContext &to) const {
  const WarpInstruction &in = *context.instruction;
  const std::uint64_t low = context.value(in.inputs[0], lane),
                      high = context.value(in.inputs[1], lane);
  const bool is_taken = high >> 32 != 0;
  if (in.opcode->has(Modifier::is_canceled))
    return to.assign(in.outputs[0], lane, is_taken, 1, false);
  if (!is_taken)
    context.fail(FaultKind::unsupported, lane,
                 "the first block of a cluster that was not taken: undefined");
  const std::uint64_t places[] = {low & mask64(32), low >> 32, high & mask64(32), 0};
  const unsigned first = in.opcode->has(Modifier::get_first_ctaid_y)   ? 1
                         : in.opcode->has(Modifier::get_first_ctaid_z) ? 2
                                                                       : 0;
  for (std::size_t i = 0; i < in.outputs.size(); ++i)
    to.assign(in.outputs[i], lane, places[first + i], 32, false);
}

void ClusterUnit::cancel_launch(WarpContext &context, LaneMask mask) {
  const WarpInstruction &in = *context.instruction;
  if (in.opcode->has(Modifier::query_cancel))
    return for_each_lane(mask, [&](unsigned lane) { query(context, lane, context); });
  const auto cluster = static_cast<std::uint32_t>(run_.cluster.count());
  for_each_lane(mask, [&](unsigned lane) {
    const std::uint64_t all =
        run_.launch.blocks.empty() ? run_.launch.grid.count() : run_.launch.blocks.size();
    std::uint64_t answer[2] = {};
    if (run_.started < all) {
      std::uint32_t ctaid[3];
      run_.find_block(run_.started, ctaid);
      answer[0] = std::uint64_t{ctaid[1]} << 32 | ctaid[0];
      answer[1] = std::uint64_t{1} << 32 | ctaid[2];
      run_.started += cluster;
      for (std::uint32_t i = 0; run_.options.count && i < cluster; ++i)
        run_.outcome.counts.emplace_back(run_.block_warps);
    }
    WarpInstruction signal = in;
    signal.weak = false;
    WarpContext at_barrier = context;
    at_barrier.instruction = &signal;
    const bool everywhere = in.opcode->has(Modifier::multicast_all) && cluster > 1;
    const std::uint64_t to = context.address(in.address, lane),
                        barrier = context.address(in.third_address, lane);
    for (std::uint32_t rank = 0; rank < (everywhere ? cluster : 1); ++rank) {
      const auto there = [&](std::uint64_t address) {
        return everywhere ? run_.shared_of_rank(rank, address) : address;
      };
      for (unsigned i = 0; i < 2; ++i)
        memory_.write(context, lane, there(to) + 8ul * i, 8, StateSpace::shared, answer[i]);
      async_.complete_transactions(at_barrier, lane, there(barrier), 16);
    }
  });
}

} // namespace ptxasw::emulator
