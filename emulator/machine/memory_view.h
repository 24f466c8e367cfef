#pragma once

// Memory as a lane of the warp emulator sees it. Internal to it.

#include "emulator/machine/warp_context.h"
#include "emulator/semantics/banks.h"

#include <array>
#include <fmt/core.h>
#include <string>
#include <string_view>

namespace ptxasw::emulator {

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
  /// `real`: the number behind the bits, if such are followed and there is one.
  void write(const WarpContext &context, unsigned lane, std::uint64_t address, unsigned size,
             StateSpace space, std::uint64_t bits, ExactReal real = {});
  /// Says what is wrong with an access: a fault, unless the run goes on; then it is not to be done.
  void refuse(const WarpContext &context, unsigned lane, FaultKind kind, const std::string &message,
              std::uint64_t address);
  /// Returns true if an address is a multiple of the access's width (PTX ISA 6.4.1), else refuses.
  bool is_aligned(const WarpContext &context, unsigned lane, std::uint64_t address,
                  std::uint64_t size, const char *what) {
    if (address % size == 0)
      return true;
    refuse(context, lane, FaultKind::misaligned,
           fmt::format("{} of {} bytes at {:#x}", what, size, address), address);
    return false;
  }
  /// Lanes of an access one after the other, and the place of the first one's bytes. Those of the
  /// others are at the same place, or follow.
  struct Together {
    std::uint8_t *bytes = nullptr;
    unsigned lanes = 0; ///< 0: read() and write() say of the first lane
    bool same = false;  ///< one place for all
  };
  /// Eight registers of 32 bits, or four of 64 (PTX ISA 9.7.9.11).
  static constexpr unsigned most_bytes = 32;
  /// As many lanes as can be located at once, from the lowest of a mask on: for these the access is
  /// checked and noted as by read() or write(), with nothing wrong. `size`: bytes of a lane, in
  /// elements of the instruction. `stored`: what is about to be written, a lane's bytes behind
  /// another's, from the lowest lane on; null: it is a load.
  Together locate_together(const WarpContext &context, LaneMask mask,
                           const std::uint64_t (&addresses)[warp_lanes], unsigned size,
                           const std::uint8_t *stored);
  /// Characters of a text from an address on, none of them its end, that a lane reads: some, with
  /// nothing wrong, and no more than `most`. Empty: read() says.
  std::string_view text_at(const WarpContext &context, unsigned lane, std::uint64_t address,
                           std::uint64_t most);
  /// The bytes of a load of the launch's parameters, which is the same for all lanes and right;
  /// null: it is something else.
  const std::uint8_t *launch_parameter(const WarpInstruction &in, unsigned size) const;
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
                       unsigned size, StateSpace space, const std::uint64_t *stored,
                       ExactReal real = {});
  /// `same`: if a store leaves what is there; nothing: the bytes say it.
  void check_race(const WarpContext &context, unsigned lane, std::uint64_t address,
                  const std::uint8_t *bytes, unsigned size, std::uint32_t memory,
                  const std::uint8_t *stored, std::optional<bool> same = {});
  RaceDetector::Access access_of(const WarpContext &context, unsigned lane, bool shared,
                                 bool is_store) const;
  void check_races(const WarpContext &context, unsigned lane, std::uint64_t address, unsigned size,
                   bool shared, const std::uint8_t *stored, Together &together);
  bool is_allowed(std::uint64_t address, unsigned size);
  /// Counts what the run goes on after; `make` describes it if it is the first at its lines.
  template <class Make>
  void note(const WarpContext &context, FaultKind kind, std::uint32_t other_line, const Make &make);
  /// A fault of the context's instruction, with its place and moment.
  WarpFault place(const WarpContext &context, FaultKind kind, unsigned lane, std::string message,
                  std::uint64_t address) const;
  /// The place of an earlier access.
  WarpFault place(const RaceDetector::Access &access) const;

  MachineRun &run_;
  GlobalMemory &memory_;
  std::array<std::uint8_t, 64> nowhere_{}; ///< what is not there, of runs that go on
  std::uint64_t allowed_number_ =
      ~std::uint64_t{0}; ///< the page of WarpOptions::allowed asked last
  const GlobalMemory::Page *allowed_page_ = nullptr;
};

} // namespace ptxasw::emulator
