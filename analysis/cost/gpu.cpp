// Written from docs/results/*/shapes/probe.json, the files of kernelgen-bench/probe; the comments
// are the names of the numbers there. The sizes of the caches are where its windows stop fitting:
// latency rises beyond 208 KiB of the L1's 256 (`latency.window*`), and bytes per cycle fall beyond
// 40 to 44 MiB of the H100's L2 and 48 to 52 of the H200's (`l2.bytes.*`).

#include "analysis/cost/gpu.h"

#include "analysis/architecture.h"

#include <algorithm>
#include <cctype>

namespace ptxasw::analysis::cost {
namespace {

// clang-format off
const Gpu table[] = {
    {"H100", "sm_90", "2026-11-22", 132, 256, 44,
     /* clock */ {1.975, 1.965, 1.977},
     /* latency.l1 */ {32.07, 32.07, 32.08},
     /* latency.l2 */ {275.5, 275.5, 275.6},
     /* latency.dram */ {654.1, 649.8, 656.6},
     /* l2.bytes.24mb */ {3556, 3503, 3598},
     /* l2.bytes.multiprocessor */ {77.69, 77.26, 78.65},
     /* dram.read */ {3058, 3047, 3076},
     /* dram.copy */ {2817, 2813, 2826},
     /* dram.sparse_write32 */ {0.02237, 0.02232, 0.02247},
     /* dram.sparse256 */ {0.03011, 0.02991, 0.03022},
     /* dram.sparse_write256 */ {0.06927, 0.06881, 0.07018},
     /* start.64 */ {0.6061, 0.6059, 0.607},
     /* turnover.512 */ {358.7, 257.6, 487.2},
     /* stream1.1024 against stream1.256 */ 20.5,
     /* launch */ {7392, 6816, 8736}},
    {"H200", "sm_90", "2026-11-22", 132, 256, 50,
     /* clock */ {1.979, 1.978, 1.98},
     /* latency.l1 */ {32.07, 32.06, 32.08},
     /* latency.l2 */ {275.6, 275.6, 275.6},
     /* latency.dram */ {625, 621.3, 625.9},
     /* l2.bytes.24mb */ {3651, 3565, 3714},
     /* l2.bytes.multiprocessor */ {76.97, 76.28, 77.73},
     /* dram.read */ {4271, 4236, 4290},
     /* dram.copy */ {3899, 3844, 3961},
     /* dram.sparse_write32 */ {0.01649, 0.01645, 0.01661},
     /* dram.sparse256 */ {0.02445, 0.02432, 0.02474},
     /* dram.sparse_write256 */ {0.05914, 0.05812, 0.06007},
     /* start.64 */ {0.6074, 0.607, 0.608},
     /* turnover.512 */ {395.8, 205.7, 1369},
     /* stream1.1024 against stream1.256 */ 16.9,
     /* launch */ {6560, 5824, 7552}},
};

// Data sheets and architecture white papers of NVIDIA: multiprocessors, boost clock in GHz, GB/s, MiB of L2.
constexpr DocumentedGpu documented[] = {
    {"V100",     "sm_70",   80, 1.530,  900,  6},
    {"T4",       "sm_75",   40, 1.590,  320,  4},
    {"A100",     "sm_80",  108, 1.410, 1555, 40},
    {"A100 80GB", "sm_80", 108, 1.410, 2039, 40},
    {"RTX 3090", "sm_86",   82, 1.695,  936,  6},
    {"A10",      "sm_86",   72, 1.695,  600,  6},
    {"RTX 4090", "sm_89",  128, 2.520, 1008, 72},
    {"L4",       "sm_89",   58, 2.040,  300, 48},
    {"L40S",     "sm_89",  142, 2.520,  864, 96},
    {"RTX 5090", "sm_120", 170, 2.407, 1792, 96},
};
// The H100 that was measured.
constexpr double h100_bandwidth = 3350;
// clang-format on

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

} // namespace

std::span<const Gpu> gpus() { return table; }

const Gpu *find_gpu(std::string_view name) {
  const std::string_view target = base_target(name);
  const auto found = std::find_if(std::begin(table), std::end(table), [&](const Gpu &gpu) {
    return same_word(gpu.name, name) || gpu.target == target;
  });
  return found == std::end(table) ? nullptr : &*found;
}

std::span<const DocumentedGpu> documented_gpus() { return documented; }

const DocumentedGpu *find_documented_gpu(std::string_view name) {
  const auto letters = [](std::string_view text) {
    std::string result;
    std::copy_if(text.begin(), text.end(), std::back_inserter(result),
                 [](unsigned char c) { return std::isalnum(c); });
    return result;
  };
  const std::string_view target = base_target(name);
  const auto found =
      std::find_if(std::begin(documented), std::end(documented), [&](const DocumentedGpu &gpu) {
        return same_word(letters(gpu.name), letters(name)) || gpu.target == target;
      });
  return found == std::end(documented) ? nullptr : &*found;
}

std::optional<Gpu> gpu_of(const DocumentedGpu &documented) {
  const Architecture *const architecture = find_architecture(documented.target);
  if (!architecture)
    return std::nullopt;
  Gpu gpu = table[0];
  const double wider = documented.bandwidth / h100_bandwidth;
  const double more = static_cast<double>(documented.multiprocessors) / gpu.multiprocessors;
  const auto scale = [](Measured &measured, double factor) {
    for (double *one : {&measured.value, &measured.least, &measured.most})
      *one *= factor;
  };
  gpu.name = documented.name;
  gpu.target = architecture->name;
  gpu.date.clear();
  gpu.multiprocessors = documented.multiprocessors;
  gpu.l1_kib = architecture->l1 / 1024.0;
  gpu.l2_mib = documented.l2_mib;
  gpu.clock = {documented.clock, documented.clock, documented.clock};
  scale(gpu.l2_bytes, more);
  for (Measured *of_memory : {&gpu.dram_read, &gpu.dram_copy})
    scale(*of_memory, wider);
  for (Measured *of_sector : {&gpu.partial_writes, &gpu.late_read, &gpu.late_write})
    scale(*of_sector, 1 / wider);
  return gpu;
}

} // namespace ptxasw::analysis::cost
