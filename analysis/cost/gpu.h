#pragma once

// The constants of the cost model, as measured.
//   const Gpu *const gpu = find_gpu("H100"); // or "sm_90"

#include "grammar/namespaces.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ptxasw::analysis::cost {

/// What kernelgen-bench/probe measured: the median of its samples, the least and the most.
struct Measured {
  double value = 0, least = 0, most = 0;
};

/// A GPU that was measured, or what is taken for one.
struct Gpu {
  std::string name;   ///< "H100"
  std::string target; ///< "sm_90"
  std::string date;   ///< of the measurement; empty: of a GPU that was not measured (gpu_of())
  unsigned multiprocessors = 0;
  double l1_kib = 0;   ///< per multiprocessor, before shared memory is taken out
  double l2_mib = 0;   ///< that a kernel can use
  Measured clock;      ///< GHz, under load
  Measured latency_l1; ///< cycles, of a load
  Measured latency_l2;
  Measured latency_dram;
  Measured l2_bytes;           ///< per cycle, of the whole GPU
  Measured l2_bytes_each;      ///< the same, of one multiprocessor
  Measured dram_read;          ///< GB/s
  Measured dram_copy;          ///< GB/s, read and written together
  Measured partial_writes;     ///< ns for a sector that is written in part
  Measured late_read;          ///< ns for a sector that takes a DRAM read of its own
  Measured late_write;         ///< the same, for one that is written in part
  Measured block_start;        ///< ns per block, of the whole GPU
  Measured turnover;           ///< cycles from the end of a block to the work of the next
  double turnover_of_warp = 0; ///< extra cycles per warp of the block
  Measured launch;             ///< ns, of an empty kernel between two events
};

/// All GPUs that were measured.
std::span<const Gpu> gpus();

/// By name (`H100`, in any case), or the first of a target (`sm_90`); null if there is none.
const Gpu *find_gpu(std::string_view name);

/// What is printed of a GPU by who makes it.
struct DocumentedGpu {
  std::string_view name, target;
  unsigned multiprocessors = 0;
  double clock = 0;     ///< GHz, the highest that it is sold with
  double bandwidth = 0; ///< GB/s, of device memory
  double l2_mib = 0;
};

/// GPUs of whom only that is known here.
std::span<const DocumentedGpu> documented_gpus();

/// By name in any case, without regard to blanks and dashes, or the first of a target; null if
/// there is none.
const DocumentedGpu *find_documented_gpu(std::string_view name);

/// What the model takes for a GPU of which no more is known: shares of its bandwidth and of its
/// multiprocessors as the H100 has them, and the H100's latencies in cycles. Nothing if the target
/// is not known.
std::optional<Gpu> gpu_of(const DocumentedGpu &documented);

} // namespace ptxasw::analysis::cost
