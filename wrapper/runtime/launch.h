#pragma once

// A launch: what kernel, in what shape, with which parameters.

#include "wrapper/runtime/modules.h"

#include <vector>

namespace ptxasw::wrapper {

struct KernelCall {
  CUkern_st *kernel = nullptr;
  const void *function = nullptr; ///< what the program calls it
  Extents grid, block;
  std::uint32_t shared = 0; ///< dynamic, bytes
  std::vector<std::uint8_t> parameters;
  bool cooperative = false;
  std::optional<Extents> cluster; ///< blocks of a cluster, if the launch says so
};

/// The kernel's number in its program; nothing if the program has none of that name.
std::optional<std::uint32_t> find_in_program(const CUkern_st &kernel);
/// Fills a call from what the API gets, or says what is wrong with it. `arguments` may be null for
/// a kernel without parameters.
cudaError_t prepare(const void *function, dim3 grid, dim3 block, void **arguments,
                    std::size_t shared, KernelCall &call);
/// Runs it. What a kernel does wrong is no error of the launch: the device is lost to it, and later
/// calls say so.
cudaError_t run(const KernelCall &call);
/// Blocks of a kernel on a multiprocessor, its registers estimated.
std::uint32_t blocks_on_multiprocessor(const CUkern_st &kernel, std::uint64_t threads,
                                       std::uint64_t dynamic_shared);
/// Registers of 32 bits that are in use at a time in a kernel, at most: an estimate of what ptxas
/// would give it.
std::uint32_t registers_of(const CUkern_st &kernel);
std::uint64_t static_shared_of(const CUkern_st &kernel);
/// The most threads of a block.
std::uint32_t most_threads_of(const CUkern_st &kernel);

} // namespace ptxasw::wrapper
