#pragma once

// The part of the warp emulator for `tcgen05` (PTX ISA 9.7.16). It follows the manual; no GPU that
// has these instructions was compared.

#include "emulator/machine/tensor_memory.h"
#include "emulator/machine/warp_async.h"

namespace ptxasw::emulator {

/// tcgen05: tensor memory, and products of matrices in it and in shared memory. Everything happens
/// at once, so waiting and fences do nothing; races in tensor memory are not looked for.
class TensorUnit {
public:
  TensorUnit(MachineRun &run, MemoryView &memory, AsyncUnit &async)
      : run_(run), memory_(memory), async_(async) {}

  /// What all lanes of a warp do together; fewer are a fault.
  void together(WarpContext &context, LaneMask group);
  /// What a thread asks for.
  void alone(WarpContext &context, LaneMask mask);

private:
  TensorMemory &memory_of(const WarpContext &context);
  std::uint32_t read(const WarpContext &context, unsigned lane, std::uint64_t row,
                     std::uint64_t column);
  void write(const WarpContext &context, unsigned lane, std::uint64_t row, std::uint64_t column,
             std::uint32_t value);
  std::size_t cell(const WarpContext &context, unsigned lane, std::uint64_t row,
                   std::uint64_t column);
  void allocate(WarpContext &context);
  void release(WarpContext &context);
  void move(WarpContext &context);
  void copy(const WarpContext &context, unsigned lane);
  void shift(const WarpContext &context, unsigned lane);
  void multiply(const WarpContext &context, unsigned lane);
  void commit(const WarpContext &context, unsigned lane);

  MachineRun &run_;
  MemoryView &memory_;
  AsyncUnit &async_;
};

} // namespace ptxasw::emulator
