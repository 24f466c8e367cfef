// A rule of thumb, made from the siblings that were measured on an H100 and an H200
// (docs/results): what spills took up to eight times as long as its kernel; what leaves a
// multiprocessor a quarter of its threads twice; neighbouring blocks along x, in a grid of several
// axes, one and a half times, as rows and their halo go. It decides nothing but when, and in which
// order, siblings are tried.

#include "wrapper/launch/risk.h"

#include <algorithm>

namespace ptxasw::inline wrapper::launch {
namespace {

constexpr double any = 0.1, along_one_axis = 0.2, along_x = 0.9, fewer_threads = 0.2,
                 few_threads = 0.7, spills = 3;
constexpr unsigned harmless_spills = 64; ///< bytes of a thread

/// Threads that a multiprocessor holds by their registers: 65,536 of them for at most 2,048
/// threads, on nearly all that CUDA 13 knows. A block's warps get them eight at a time per thread.
std::uint64_t threads_at_once(unsigned registers, std::uint64_t block) {
  constexpr std::uint64_t all_registers = 65536, most_threads = 2048;
  const std::uint64_t each = std::max(8u, (registers + 7) / 8 * 8);
  const std::uint64_t threads = std::max<std::uint64_t>((block + 31) / 32 * 32, 32);
  return std::min(all_registers / (each * threads), most_threads / threads) * threads;
}

} // namespace

double risk_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
               const SiblingLimits &limits) {
  double risk = any;
  const bool has_one_axis =
      launch.grid.y == 1 && launch.grid.z == 1 && launch.block.y == 1 && launch.block.z == 1;
  if (sibling.grid[0] > 1)
    risk += has_one_axis ? along_one_axis : along_x;
  if (limits.local > own.local + harmless_spills)
    risk += spills;
  const std::uint64_t block = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::uint64_t before = threads_at_once(own.registers, block);
  const std::uint64_t after = threads_at_once(limits.registers, threads_of_block(launch, sibling));
  if (after * 4 <= before)
    risk += few_threads;
  else if (after * 5 < before * 2)
    risk += fewer_threads;
  return risk;
}

} // namespace ptxasw::wrapper::launch
