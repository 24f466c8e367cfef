#pragma once

// Memory as a lane of the warp emulator sees it. Internal to it.

#include "emulator/machine/warp_context.h"
#include "emulator/semantics/banks.h"

#include <array>

namespace ptxasw::inline emulator {

/// The space that a generic address lies in.
StateSpace space_of(std::uint64_t address);

/// What a launch's lanes reach: the global memory that it was given, its blocks' shared memory, and
/// each lane's own. An access that is out of bounds, misaligned, or not allowed by the options of
/// the run is a fault of the context's instruction.
class MemoryView {
public:
  MemoryView(MachineRun &run, GlobalMemory &memory);

  std::uint64_t read(const WarpContext &context, unsigned lane, std::uint64_t address,
                     unsigned size, StateSpace space);
  void write(const WarpContext &context, unsigned lane, std::uint64_t address, unsigned size,
             StateSpace space, std::uint64_t bits);
  /// Where an access goes for which nothing has to be checked or noted; null: read() and write()
  /// say.
  std::uint8_t *quick_location(const WarpContext &context, std::uint64_t address,
                               std::uint64_t size, StateSpace space, bool is_store);
  /// Counts what the lanes of a mask touch with one access, if requested.
  void note_access(const WarpContext &context, LaneMask mask, unsigned bytes, Pairing pairing) {
    note_access(context, mask, bytes, pairing, context.instruction->address,
                context.instruction->space);
  }
  void note_access(const WarpContext &context, LaneMask mask, unsigned bytes, Pairing pairing,
                   const WarpAddress &where, StateSpace space);
  GlobalMemory &global() { return memory_; }
  const GlobalMemory &global() const { return memory_; }

private:
  /// Returns true if all of some bytes of a block's shared memory are a variable's. No access
  /// reaches from one variable to another, as the gaps between them are wider.
  bool is_shared_variable(std::uint64_t offset, std::uint64_t size) const {
    return offset < run_.shared_bytes && run_.shared_bytes - offset >= size &&
           run_.shared_variables[offset] && run_.shared_variables[offset + size - 1];
  }
  /// `stored`: what is about to be written; null: it is a load.
  std::uint8_t *locate(const WarpContext &context, unsigned lane, std::uint64_t address,
                       unsigned size, StateSpace space, const std::uint64_t *stored);
  void check_race(const WarpContext &context, unsigned lane, std::uint64_t address,
                  const std::uint8_t *bytes, unsigned size, std::uint32_t memory,
                  const std::uint64_t *stored);
  /// Counts what the run goes on after; `make` describes it if it is the first at its lines.
  template <class Make>
  void note(const WarpContext &context, FaultKind kind, std::uint32_t other_line, const Make &make);
  /// The place of an earlier access.
  WarpFault place(const RaceDetector::Access &access) const;

  MachineRun &run_;
  GlobalMemory &memory_;
  std::array<std::uint8_t, 64> nowhere_{}; ///< what is not there, of runs that go on
  const bool is_plain_; ///< accesses are neither checked for races and the like nor noted
};

inline std::uint8_t *MemoryView::quick_location(const WarpContext &context, std::uint64_t address,
                                                std::uint64_t size, StateSpace space,
                                                bool is_store) {
  if (!is_plain_ || address % size != 0)
    return nullptr;
  if (space == StateSpace::shared) {
    const std::uint64_t offset = address - window::shared;
    return is_shared_variable(offset, size) ? context.warp->block->shared.data() + offset : nullptr;
  }
  return space == StateSpace::global ? memory_.quick_bytes(address, size, is_store) : nullptr;
}

} // namespace ptxasw::emulator
