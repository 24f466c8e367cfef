// Rules of thumb, made from the siblings that were measured on an H100 and an H200 (docs/results).
// They decide nothing but when, and in which order, siblings are tried.
//
// What is feared: what spills took up to eight times as long as its kernel; what leaves a
// multiprocessor a quarter of its threads twice; neighbouring blocks along x, in a grid of several
// axes, one and a half times, as rows and their halo go. What computes more than a kernel that is
// bound by computing takes longer by as much, and promises nothing, so that no trial is made of it
// before launches have paid for it: threads that compute something twice, and warps of which lanes
// are idle.
//
// What is promised: the mean of the logarithms of what each kind of sibling gained, none counted
// for more than a half, as a sum of what the kind does and of what is left of the threads
// (kernelgen-bench/siblings/order counts them). Where any sibling won, the first by this order was
// the best, within 3 per cent, in 62 cases of 100 and faster than its kernel in 88, if what is
// promised to a kernel is made from all others; by what is feared it was 33 and 65. Loads ahead are
// counted from loops over a grid (kernelgen-bench/gridloops): where all threads ran at once, they
// gained in 158 cases of 165, and elsewhere in 36 of 108.
//
// What versions for one round promise is guessed: more than any other, so that they are tried
// first. It cannot be counted from what is recorded: tall-suite.txt (docs/results/h200) times the
// kernel under `ptxasw faster`, with these numbers, and tall.jsonl has no other kinds beside these.
// More copies promise more, and rows one behind the other most: those made their kernels 2.9 to 4.7
// times as fast, and are proposed only where three rows share loads.

#include "wrapper/launch/risk.h"

#include <algorithm>
#include <cmath>

namespace ptxasw::wrapper::launch {
namespace {

constexpr double any = 0.1, along_one_axis = 0.2, along_x = 0.9, fewer_threads = 0.2,
                 few_threads = 0.7, spills = 3;
constexpr unsigned harmless_spills = 64; ///< bytes of a thread

/// What kinds of siblings gained, in grids of one axis and of several.
struct Gain {
  std::string_view kind; ///< behind `__ptxasw_` in a sibling's name
  double one_axis, several;
};
/// What loads ahead gained in loops over a grid, where all threads run at once and where more wait:
/// they keep busy what few threads leave idle.
struct GainAhead {
  std::string_view kind;
  double at_once, more;
};
constexpr GainAhead gains_ahead[] = {
    {"ahead_k2", 0.13, -0.13}, {"ahead_k4", 0.18, -0.18}, {"ahead_k8", 0.24, -0.22}};
constexpr Gain gains[] = {
    {"retile_apart_x8", 0.07, -0.29},
    {"retile_apart_x4", 0.08, -0.29},
    {"retile_apart_x2", 0.04, -0.23},
    {"retile_apart_y2", 0, -0.11},
    {"retile_rows_y4r128", 0, 0.13},
    {"retile_rows_y8", 0, 0.03},
    {"retile_neighbours_y4", 0, 0.07},
    {"retile_neighbours_y4r128", 0, 0.20},
    {"wide", 0.04, 0.04},
    {"wide_x2", -0.03, -0.03},
    {"wide_x4", -0.02, 0.05},
    {"wide_x8", -0.08, -0.08},
    {"wide_x2y4_rows", 0, 0.05},
    {"wide_x4y4_rows_r128", 0, 0.06},
    {"wide_x4y4_neighbours_r128", 0, 0.07},
    {"wide_x2y4_rows_once_r64", 0, 0.45},
    {"wide_x2z4_rows_once_r64", 0, 0.4},
    {"wide_x4_once", 0, 0.35},
    {"wide_x2z2_rows_once_r64", 0, 0.4},
    {"wide_x4y4_rows_once_r80", 0, 0.5},
    {"wide_x4y2_rows_once", 0, 0.5},
    {"wide_x4z2_rows_once_r64", 0, 0.45},
    {"wide_x4y8_rows_skewed_once", 0, 0.6},
    {"wide_x4y4_rows_skewed_once", 0, 0.6},
    {"wide_x4y4_rows_skewed_once_r72", 0, 0.6},
    {"wide_x2y4_rows_skewed_once_r64", 0, 0.6},
};
/// And by what is left of the threads: most, half at most, a quarter at most; and if it spills.
constexpr double by_most = 0.18, by_half = 0.09, by_quarter = -0.10, by_spills = -0.38;
/// Of what was not counted: it takes as long as the kernel, and so do other shapes of blocks that
/// are no worse for memory; unless they give work to multiprocessors that have none.
constexpr double not_counted = -0.18, another_shape = -0.10, more_multiprocessors = 0.5;
/// Blocks of few threads begin too slowly: of a stream of bytes, 16 a thread, blocks of 128 threads
/// reach the rate of a copy on an H200, those of 64 reach 0.80 of it, and those of 32 reach 0.40.
/// In a grid of several axes other blocks may have warps of another shape, which may matter more:
/// of a transpose, four columns of eight rows are better than one row of 32.
constexpr std::uint64_t enough_threads = 128, fewest_threads = 64;
constexpr double few_in_a_block = 0.05, fewest_in_a_block = 0.3;

/// A kernel that computes for so many cycles for each byte is not slowed down by memory: a
/// multiprocessor gets up to 20 bytes in a cycle on an H200, and fewer on most other GPUs, so that
/// memory takes at most half the time. What then computes so many times as much takes longer.
constexpr double bound_by_compute = 1 / 10.0, more_work = 1.5;

/// Threads that a multiprocessor holds by their registers: 65,536 of them for at most 2,048
/// threads, on nearly all that CUDA 13 knows. A block's warps get them eight at a time per thread.
std::uint64_t threads_at_once(unsigned registers, std::uint64_t block) {
  constexpr std::uint64_t all_registers = 65536, most_threads = 2048;
  if (block > most_threads)
    return 0;
  const std::uint64_t each = std::max(8u, (registers + 7) / 8 * 8);
  const std::uint64_t threads = std::max<std::uint64_t>((block + 31) / 32 * 32, 32);
  return std::min(all_registers / (each * threads), most_threads / threads) * threads;
}

/// The share of the threads of a multiprocessor that is left.
double threads_left(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
                    const SiblingLimits &limits) {
  const std::uint64_t block = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const std::uint64_t before = threads_at_once(own.registers, block);
  const std::uint64_t after = threads_at_once(limits.registers, threads_of_block(launch, sibling));
  return before == 0 ? 1 : static_cast<double>(after) / static_cast<double>(before);
}

/// `at_once`: all threads of the launch run at the same time.
double gain_of(const Sibling &sibling, bool has_one_axis, bool at_once) {
  if (sibling.own_code)
    return another_shape;
  const std::string_view name = sibling.code_of.empty() ? sibling.name : sibling.code_of;
  const std::size_t at = name.rfind("__ptxasw_");
  const std::string_view kind = at == std::string_view::npos ? "" : name.substr(at + 9);
  for (const Gain &gain : gains)
    if (gain.kind == kind)
      return has_one_axis ? gain.one_axis : gain.several;
  for (const GainAhead &gain : gains_ahead)
    if (gain.kind == kind)
      return at_once ? gain.at_once : gain.more;
  return not_counted;
}

} // namespace

Prior prior_of(const Launch &launch, const Sibling &sibling, const SiblingLimits &own,
               const SiblingLimits &limits, unsigned multiprocessors, const TextsOfBoth &texts) {
  const bool has_one_axis =
      launch.grid.y == 1 && launch.grid.z == 1 && launch.block.y == 1 && launch.block.z == 1;
  const bool is_spilling = limits.local > own.local + harmless_spills;
  const double left = threads_left(launch, sibling, own, limits);
  const std::uint64_t blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z,
                      block = std::uint64_t{launch.block.x} * launch.block.y * launch.block.z;
  const bool at_once = blocks * block <= multiprocessors * threads_at_once(own.registers, block);
  Prior prior{any, gain_of(sibling, has_one_axis, at_once) + (is_spilling    ? by_spills
                                                              : left <= 0.25 ? by_quarter
                                                              : left <= 0.5  ? by_half
                                                                             : by_most)};
  if (const std::uint64_t threads = threads_of_block(launch, sibling);
      threads < std::min(block, enough_threads))
    prior.slow_blocks = threads < fewest_threads ? fewest_in_a_block : few_in_a_block;
  prior.warps_matter = !has_one_axis;
  if (sibling.own_code && blocks < multiprocessors && blocks_of(launch, sibling) > blocks)
    prior.promise = more_multiprocessors;
  if (sibling.grid[0] > 1)
    prior.fear += has_one_axis ? along_one_axis : along_x;
  if (is_spilling)
    prior.fear += spills;
  if (left <= 0.25)
    prior.fear += few_threads;
  else if (left < 0.4)
    prior.fear += fewer_threads;
  if (const double work = texts.times * warps_of(launch, sibling);
      texts.cycles_per_byte >= bound_by_compute && work >= more_work) {
    prior.work = work;
    prior.fear += work - 1;
    prior.promise = std::min(prior.promise, -std::log(work));
  }
  return prior;
}

void order_blocks(std::vector<Prior> &priors, const std::vector<std::size_t> &in_own_blocks) {
  std::vector<std::size_t> first(priors.size()); // of each code, by the version in own blocks
  const auto promise = [&](std::size_t version) {
    const Prior &prior = priors[version];
    return prior.promise - (prior.warps_matter ? 0 : prior.slow_blocks);
  };
  for (std::size_t version = 1; version < priors.size(); ++version) {
    std::size_t &one = first[in_own_blocks[version]];
    if (one == 0 || promise(version) > promise(one) ||
        (promise(version) == promise(one) && version == in_own_blocks[version]))
      one = version;
  }
  for (std::size_t version = 1; version < priors.size(); ++version)
    priors[version].after =
        first[in_own_blocks[version]] == version ? 0 : first[in_own_blocks[version]];
  // Nobody knows if few threads or other warps are worse: one of each is tried at once.
  std::vector<std::size_t> other(priors.size());
  for (std::size_t version = 1; version < priors.size(); ++version) {
    std::size_t &one = other[in_own_blocks[version]];
    if (priors[first[in_own_blocks[version]]].slow_blocks > 0 && priors[version].slow_blocks == 0 &&
        (one == 0 || promise(version) > promise(one)))
      one = version;
  }
  for (const std::size_t version : other)
    if (version != 0)
      priors[version].after = 0;
}

} // namespace ptxasw::wrapper::launch
