#pragma once

// The constants of the cost model, as measured.

#include <span>
#include <string_view>

namespace ptxasw::inline analysis::cost {

/// What kernelgen-bench/probe measured: the median of its samples, the least and the most.
struct Measured {
  double value = 0, least = 0, most = 0;
};

/// A GPU that was measured.
struct Gpu {
  std::string_view name;   ///< "H100"
  std::string_view target; ///< "sm_90"
  std::string_view date;   ///< of the measurement
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

} // namespace ptxasw::analysis::cost
