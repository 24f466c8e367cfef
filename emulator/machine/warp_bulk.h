#pragma once

// The part of the warp emulator for bulk copies (PTX ISA 9.7.9.25 to 9.7.9.28).

#include "emulator/machine/bulk_copy.h"
#include "emulator/machine/tensor_map.h"
#include "emulator/machine/warp_async.h"

namespace ptxasw::emulator {

/// What the copy engine does: bulk copies and reductions, of bytes and of boxes of tensors, and
/// single accesses that tell an mbarrier. A copy happens at once.
class BulkUnit {
public:
  BulkUnit(MachineRun &run, MemoryView &memory, AsyncUnit &async)
      : run_(run), memory_(memory), async_(async) {}

  /// cp.async.bulk, cp.reduce.async.bulk, and both of tensors.
  void copy(WarpContext &context, LaneMask mask);
  /// st.async and red.async.
  void access(WarpContext &context, LaneMask mask);
  /// st.bulk.
  void store_zeros(WarpContext &context, LaneMask mask);
  /// tensormap.replace and tensormap.cp_fenceproxy.
  void change_map(WarpContext &context, LaneMask mask);

private:
  void copy_bytes(const WarpContext &context, unsigned lane, const BulkCopy &copy);
  void copy_tensor(const WarpContext &context, unsigned lane, const BulkCopy &copy);
  void copy_box(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                const TensorMap &map, std::span<const std::int64_t> corner, std::uint64_t shared);
  void move(const WarpContext &context, unsigned lane, const BulkCopy &copy, std::uint64_t from,
            std::uint64_t to, std::uint64_t size);
  void write_element(const WarpContext &context, unsigned lane, const BulkCopy &copy,
                     ScalarType type, std::uint64_t address, std::uint64_t bits);
  TensorMap read_map(const WarpContext &context, unsigned lane, std::uint64_t address);
  /// Calls f(address, mbarrier) for the destination in every block that a copy goes to.
  template <class F>
  void for_each_block(const WarpContext &context, unsigned lane, const BulkCopy &copy, F f);

  MachineRun &run_;
  MemoryView &memory_;
  AsyncUnit &async_;
};

} // namespace ptxasw::emulator
