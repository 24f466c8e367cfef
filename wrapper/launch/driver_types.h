#pragma once

// What the helper knows of the CUDA driver's interface: enough to stand between a program and
// cuLaunchKernel without a toolkit at build time. tests/launch checks it against cuda.h where there
// is one.

#include "grammar/namespaces.h"

#include <cstddef>
#include <cstdint>

namespace ptxasw::wrapper::launch {

/// CUresult. Only these values are distinguished.
using Result = int;
inline constexpr Result success = 0, not_initialized = 3, invalid_image = 200, invalid_handle = 400,
                        not_ready = 600;

/// CUfunction, CUkernel, CUmodule, CUlibrary, CUcontext, CUstream, CUevent, CUgraphNode.
using Handle = void *;
using DevicePointer = std::uint64_t;

/// Extents of a grid in blocks, or of a block in threads.
struct Extents {
  unsigned x = 1, y = 1, z = 1;
  bool operator==(const Extents &) const = default;
};

/// CUlaunchAttribute: a number and 64 bytes that it gives a meaning to.
struct LaunchAttribute {
  int id = 0;
  int padding = 0;
  union {
    unsigned char bytes[64];
    int number;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  Extents grid, block;
  unsigned shared_bytes = 0;
  Handle stream = nullptr;
  LaunchAttribute *attributes = nullptr;
  unsigned attribute_count = 0;
};

/// CUDA_KERNEL_NODE_PARAMS_v1; version 2 goes on with a kernel and a context.
struct KernelNode {
  Handle function = nullptr;
  Extents grid, block;
  unsigned shared_bytes = 0;
  void **parameters = nullptr;
  void **extra = nullptr;
};
struct KernelNode2 : KernelNode {
  Handle kernel = nullptr;
  Handle context = nullptr;
};

/// CUlaunchAttributeID, those that change nothing about which threads there are.
enum : int {
  attribute_ignore = 0,
  attribute_access_policy = 1,
  attribute_cooperative = 2,
  attribute_synchronization_policy = 3,
  attribute_programmatic_serialization = 6,
  attribute_priority = 8,
  attribute_memory_domain_map = 9,
  attribute_memory_domain = 10,
};

/// Words of the `extra` array of a launch: CU_LAUNCH_PARAM_...
inline void *const extra_end = nullptr;
inline void *const extra_buffer = reinterpret_cast<void *>(1);
inline void *const extra_size = reinterpret_cast<void *>(2);

/// CUfunction_attribute.
inline constexpr int attribute_max_threads = 0, attribute_static_shared = 1, attribute_local = 3,
                     attribute_registers = 4, attribute_most_dynamic_shared = 8;
/// CUdevice_attribute.
inline constexpr int device_multiprocessors = 16, device_major = 75, device_minor = 76,
                     device_most_shared = 97;
/// CUstreamCaptureMode, CUstreamCaptureStatus.
inline constexpr int capture_relaxed = 2, capture_none = 0;
/// CUevent_flags, CUstream_flags.
inline constexpr unsigned event_default = 0, stream_non_blocking = 1;
/// CUjit_option, those that change no code: where messages go, what is measured, the target as it
/// is anyway, line numbers.
enum : int {
  jit_wall_time = 2,
  jit_info_log = 3,
  jit_info_log_size = 4,
  jit_error_log = 5,
  jit_error_log_size = 6,
  jit_target_from_context = 8,
  jit_log_verbose = 12,
  jit_line_info = 13,
};
/// CUjitInputType.
inline constexpr int jit_input_ptx = 1;
/// Flags of cuGetProcAddress.
inline constexpr std::uint64_t per_thread_stream = 2;

} // namespace ptxasw::wrapper::launch
