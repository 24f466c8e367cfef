// Each resource bounds the blocks of a multiprocessor separately; the least of the bounds counts.
// What a resource is divided into: warps whole, registers by partition and in units of a warp's
// granularity, shared memory in units of its granularity with the driver's part on top.

#include "analysis/occupancy.h"

#include "emulator/semantics/parameter_layout.h"

#include <algorithm>
#include <limits>

namespace ptxasw::analysis {
namespace {

constexpr std::uint64_t warp_threads = 32;

std::uint64_t warps_of(const BlockNeeds &needs) {
  return needs.threads / warp_threads + (needs.threads % warp_threads != 0);
}

std::uint64_t by_warps(const Architecture &a, const BlockNeeds &needs) {
  const std::uint64_t most = needs.most_threads == 0
                                 ? a.threads_per_block
                                 : std::min<std::uint64_t>(a.threads_per_block, needs.most_threads);
  return needs.threads == 0 || needs.threads > most ? 0 : a.warps / warps_of(needs);
}

std::optional<std::uint64_t> by_registers(const Architecture &a, const BlockNeeds &needs,
                                          std::uint64_t &allocated) {
  // A thread has at most 255; the calculator lets 256 pass.
  constexpr std::uint32_t most_registers = 256;
  const std::uint64_t of_warp =
      align(std::uint64_t{needs.registers} * warp_threads, a.registers_granularity);
  const std::uint64_t warps = warps_of(needs);
  allocated = of_warp * warps;
  if (needs.registers == 0 || warps == 0)
    return std::nullopt;
  if (needs.registers > most_registers ||
      of_warp * align(warps, a.partitions) > a.registers_per_block)
    return 0;
  const std::uint64_t resident = a.registers / a.partitions / of_warp * a.partitions;
  return resident / warps;
}

std::optional<std::uint64_t> by_shared(const Architecture &a, const BlockNeeds &needs,
                                       std::uint64_t &allocated) {
  constexpr std::uint64_t absurd = std::uint64_t{1} << 62;
  if (needs.static_shared > absurd || needs.dynamic_shared > absurd)
    return 0;
  const std::uint64_t wanted =
      needs.static_shared + needs.dynamic_shared + a.shared_reserved_per_block;
  allocated = align(wanted, a.shared_granularity);
  if (allocated == 0)
    return std::nullopt;
  const bool more = needs.opted_in && wanted > a.shared_per_block;
  const std::uint64_t most =
      (more ? a.shared_per_block_opt_in : a.shared_per_block) + a.shared_reserved_per_block;
  return allocated > most ? 0 : a.shared / allocated;
}

} // namespace

std::string_view to_string(OccupancyLimit limit) {
  switch (limit) {
  case OccupancyLimit::warps:
    return "warps";
  case OccupancyLimit::blocks:
    return "blocks";
  case OccupancyLimit::registers:
    return "registers";
  case OccupancyLimit::shared:
    return "shared memory";
  case OccupancyLimit::barriers:
    return "barriers";
  }
  return "";
}

std::vector<OccupancyLimit> Occupancy::reached() const {
  std::vector<OccupancyLimit> list;
  for (std::size_t i = 0; i < occupancy_limits; ++i)
    if (by_limit[i] && *by_limit[i] == blocks)
      list.push_back(static_cast<OccupancyLimit>(i));
  return list;
}

Occupancy occupancy(const Architecture &architecture, const BlockNeeds &needs) {
  Occupancy result;
  const auto bound = [&](OccupancyLimit limit, std::optional<std::uint64_t> blocks) {
    if (blocks)
      result.by_limit[static_cast<std::size_t>(limit)] = static_cast<std::uint32_t>(*blocks);
  };
  bound(OccupancyLimit::warps, by_warps(architecture, needs));
  bound(OccupancyLimit::blocks, architecture.blocks);
  bound(OccupancyLimit::registers, by_registers(architecture, needs, result.registers_per_block));
  bound(OccupancyLimit::shared, by_shared(architecture, needs, result.shared_per_block));
  if (architecture.barriers_per_block_slot > 0 && needs.barriers > 0)
    bound(OccupancyLimit::barriers, std::uint64_t{architecture.blocks} *
                                        architecture.barriers_per_block_slot / needs.barriers);
  result.blocks = std::numeric_limits<std::uint32_t>::max();
  for (const auto &limit : result.by_limit)
    if (limit)
      result.blocks = std::min(result.blocks, *limit);
  result.warps =
      result.blocks == 0 ? 0 : static_cast<std::uint32_t>(result.blocks * warps_of(needs));
  result.share = static_cast<double>(result.warps) / architecture.warps;
  return result;
}

} // namespace ptxasw::analysis
