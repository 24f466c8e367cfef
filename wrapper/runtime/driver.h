#pragma once

// The CUDA Driver API over the Runtime API's functions: one device, one memory, one set of streams
// for both, as with NVIDIA's. What the two call by different types has the same values
// (CUstream and cudaStream_t, CUlimit and cudaLimit, CUresult and cudaError_t).

#define __CUDA_API_VERSION_INTERNAL // NOLINT(bugprone-reserved-identifier): every version by its
                                    // own name
#include <cuda.h>

#include "wrapper/runtime/launch.h"
#include "wrapper/runtime/stream.h"

namespace ptxasw::wrapper {

/// What the Driver API calls an error of ours.
CUresult result_of(cudaError_t error);
/// Success if this thread may call: cuInit was called, and a context is current.
CUresult ready(bool needs_context);

/// A call of the Driver API: what goes wrong in it is no error of the Runtime API's.
template <class Body> CUresult driver(Body body, bool needs_context = true) {
  const bool used = Device::is_used();
  const cudaError_t before = Device::last_error();
  CUresult result = ready(needs_context);
  if (result == CUDA_SUCCESS)
    result = result_of(body());
  Device::last_error() = before;
  Device::is_used() = used;
  return result;
}

inline void *host_pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

/// A function or kernel of the Driver API is what the Runtime API's handles point to.
inline CUkern_st *kernel_of(CUfunction function) { return reinterpret_cast<CUkern_st *>(function); }
inline CUfunction function_of(CUkern_st *kernel) { return reinterpret_cast<CUfunction>(kernel); }

} // namespace ptxasw::wrapper
