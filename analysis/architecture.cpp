// Numbers: CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability", and
// for granularities, partitions, block and barrier counts the toolkit's own calculator
// (cuda_occupancy.h of CUDA 13.0), against which tests/analysis checks every row. A row that is not
// confirmed takes thread, shared memory and L1 limits from its nearest relative.

#include "analysis/architecture.h"

#include <algorithm>

namespace ptxasw::analysis {
namespace {

constexpr std::uint32_t kib = 1024;

// clang-format off
constexpr Architecture table[] = {
    // name, threads per block, warps, blocks, registers, of a block, granularity, partitions,
    // shared, of a block, opted in, reserved, granularity, with L1, barriers, multiprocessors, example
    {"sm_70",  1024, 64, 32, 65536, 65536, 256, 4,  96 * kib, 48 * kib,  96 * kib,   0, 256, 128 * kib, 0,  80, "V100",     true},
    {"sm_75",  1024, 32, 16, 65536, 65536, 256, 4,  64 * kib, 48 * kib,  64 * kib,   0, 256,  96 * kib, 0,  40, "T4",       true},
    {"sm_80",  1024, 64, 32, 65536, 65536, 256, 4, 164 * kib, 48 * kib, 163 * kib, kib, 128, 192 * kib, 0, 108, "A100",     true},
    {"sm_86",  1024, 48, 16, 65536, 65536, 256, 4, 100 * kib, 48 * kib,  99 * kib, kib, 128, 128 * kib, 0,  84, "GA102",    true},
    {"sm_87",  1024, 48, 16, 65536, 65536, 256, 4, 164 * kib, 48 * kib, 163 * kib, kib, 128, 192 * kib, 0,  16, "Orin",     true},
    {"sm_89",  1024, 48, 24, 65536, 65536, 256, 4, 100 * kib, 48 * kib,  99 * kib, kib, 128, 128 * kib, 0, 128, "RTX 4090", true},
    {"sm_90",  1024, 64, 32, 65536, 65536, 256, 4, 228 * kib, 48 * kib, 227 * kib, kib, 128, 256 * kib, 2, 132, "H100",     true},
    {"sm_100", 1024, 64, 32, 65536, 65536, 256, 4, 228 * kib, 48 * kib, 227 * kib, kib, 128, 256 * kib, 2, 148, "B200",     true},
    {"sm_103", 1024, 64, 32, 65536, 65536, 256, 4, 228 * kib, 48 * kib, 227 * kib, kib, 128, 256 * kib, 2, 160, "B300",     false},
    {"sm_110", 1024, 48, 24, 65536, 65536, 256, 4, 228 * kib, 48 * kib, 227 * kib, kib, 128, 256 * kib, 1,  20, "Thor",     false},
    {"sm_120", 1024, 48, 24, 65536, 65536, 256, 4, 100 * kib, 48 * kib,  99 * kib, kib, 128, 128 * kib, 1, 170, "RTX 5090", true},
};
// clang-format on

} // namespace

std::span<const Architecture> architectures() { return table; }

std::string_view base_target(std::string_view target) {
  if (target.ends_with('a') || target.ends_with('f'))
    target.remove_suffix(1);
  return target;
}

const Architecture *find_architecture(std::string_view target) {
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const Architecture &a) {
    return a.name == base_target(target);
  });
  return found == std::end(table) ? nullptr : &*found;
}

} // namespace ptxasw::analysis
