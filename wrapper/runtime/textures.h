#pragma once

// CUDA arrays: elements in memory of the device, row by row.

#include "wrapper/runtime/device.h"

#include <algorithm>

/// What a cudaArray_t and a CUarray point to.
struct cudaArray {
  cudaChannelFormatDesc format{};
  cudaExtent extent{}; ///< elements; 0 where it has no such axis, as the program asked
  unsigned flags = 0;
  char *address = nullptr;
  std::size_t pitch = 0; ///< bytes from row to row

  std::size_t element() const {
    return static_cast<std::size_t>(format.x + format.y + format.z + format.w) / 8;
  }
  std::size_t rows() const { return std::max<std::size_t>(extent.height, 1); }
  std::size_t slices() const { return std::max<std::size_t>(extent.depth, 1); }
};

namespace ptxasw::wrapper {

/// The array that a handle means; null: there is none.
const cudaArray *find_array(cudaArray_const_t handle);
/// What cudaMalloc3DArray and its siblings do.
cudaError_t make_array(cudaArray_t *to, const cudaChannelFormatDesc *format, cudaExtent extent,
                       unsigned flags);
cudaError_t free_array(cudaArray_t handle);
/// Arrays and objects are gone with the memory that they had.
void forget_textures();
/// A copy from or to arrays, which counts their elements, as one of bytes between pitched memory.
/// cudaErrorInvalidValue: it reaches beyond an array.
cudaError_t without_arrays(cudaMemcpy3DParms &copy);

} // namespace ptxasw::wrapper
