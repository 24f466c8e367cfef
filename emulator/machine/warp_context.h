#pragma once

// Lanes of a warp at an instruction. Whatever executes it is handed this: which instruction it is,
// the registers it reads and writes, and how to say what is wrong with it and where. It is made
// anew for every instruction, so nothing has to be put back after another warp's turn.

#include "emulator/machine/warp_state.h"

#include <string>

namespace ptxasw::emulator {

/// Makes everything of a depth of calls zeros.
void start_level(const MachineRun &run, CallLevel &level);
/// The registers, parameters and local memory of a depth of calls; made when first asked for.
CallLevel &call_level(const MachineRun &run, WarpState &warp, std::size_t depth);

struct WarpContext {
  MachineRun &run;
  WarpState *warp = nullptr;
  CallLevel *level = nullptr; ///< of `depth`
  std::size_t depth = 0;      ///< of calls
  std::uint32_t function = 0;
  const WarpInstruction *instruction = nullptr;

  /// Where a fragment is. The registers of its depth are there from then on.
  static WarpContext of(MachineRun &run, WarpState &warp, const Fragment &fragment);

  /// The lanes whose guard holds.
  LaneMask guard_mask(LaneMask mask) const;
  std::uint64_t value(const WarpOperand &operand, unsigned lane) const;
  std::uint64_t address(const WarpAddress &address, unsigned lane) const;
  /// The same for the lanes of a mask.
  void addresses(const WarpAddress &address, LaneMask mask, std::uint64_t (&to)[warp_lanes]) const;
  /// Writes a result of some bits to a register, which may be wider.
  void assign(const WarpOperand &operand, unsigned lane, std::uint64_t bits, unsigned width,
              bool sign_extends);

  // The real numbers behind the registers, if they are followed: warp_real.cpp
  ExactReal real_of(const WarpOperand &operand, unsigned lane) const;
  /// The same, or the number that the bits are.
  ExactReal real_of(const WarpOperand &operand, unsigned lane, ScalarType type) const;
  void set_real(const WarpOperand &operand, unsigned lane, ExactReal real);
  ExactMemory::Space real_space(unsigned lane, std::uint64_t address) const;
  ExactMemory::Space frame_space(unsigned lane, std::size_t frame) const;

  /// The function that a lane executes at a depth of calls up to this one.
  std::uint32_t function_at(unsigned lane, std::size_t at_depth) const;
  std::uint32_t thread_of(unsigned lane) const; ///< in the grid
  ThreadMoment moment(unsigned lane) const;
  [[noreturn]] void fail(FaultKind kind, unsigned lane, std::string message,
                         std::uint64_t address = 0) const;
  WarpFault place(FaultKind kind, unsigned lane, std::string message, std::uint64_t address) const;
  InstructionProfile &profile() const;

private:
  std::uint64_t special(SpecialRegister which, unsigned lane) const;
};

// Every lane of every instruction goes through these.

inline WarpContext WarpContext::of(MachineRun &run, WarpState &warp, const Fragment &fragment) {
  const Activation &where = fragment.stack.back();
  const std::size_t depth = fragment.stack.size() - 1;
  return {run,
          &warp,
          depth < warp.levels.size() ? &warp.levels[depth] : &call_level(run, warp, depth),
          depth,
          where.function,
          &run.program.function(where.function).code[where.pc]};
}

inline LaneMask WarpContext::guard_mask(LaneMask mask) const {
  if (instruction->guard == no_register)
    return mask;
  LaneMask result = 0;
  const std::uint64_t *guard = &level->registers[std::size_t{instruction->guard} * warp_lanes];
  for_each_lane(mask, [&](unsigned lane) {
    if ((guard[lane] != 0) != instruction->guard_negated)
      result |= 1u << lane;
  });
  return result;
}

inline std::uint64_t WarpContext::value(const WarpOperand &operand, unsigned lane) const {
  switch (operand.kind) {
  case WarpOperand::Kind::reg: {
    const std::uint64_t bits = level->registers[std::size_t{operand.reg} * warp_lanes + lane];
    return operand.negated ? bits ^ 1 : bits;
  }
  case WarpOperand::Kind::immediate:
    return operand.negated ? operand.value ^ 1 : operand.value;
  case WarpOperand::Kind::special:
    return special(operand.special, lane);
  case WarpOperand::Kind::local_address:
    return window::local + depth * run.max_local + operand.value;
  default:
    return 0;
  }
}

inline std::uint64_t WarpContext::address(const WarpAddress &address, unsigned lane) const {
  const std::uint64_t base = value(address.base, lane);
  const std::uint64_t sum = base + static_cast<std::uint64_t>(address.offset);
  // 32-bit addresses stay within 32 bits.
  return address.base.kind == WarpOperand::Kind::reg && address.base.width == 32 ? sum & mask64(32)
                                                                                 : sum;
}

inline void WarpContext::addresses(const WarpAddress &from, LaneMask mask,
                                   std::uint64_t (&to)[warp_lanes]) const {
  if (from.base.kind != WarpOperand::Kind::reg || from.base.width == 32 || from.base.negated) {
    for_each_lane(mask, [&](unsigned lane) { to[lane] = address(from, lane); });
    return;
  }
  const std::uint64_t *const row = &level->registers[std::size_t{from.base.reg} * warp_lanes];
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    to[lane] = row[lane] + static_cast<std::uint64_t>(from.offset);
}

inline void WarpContext::assign(const WarpOperand &operand, unsigned lane, std::uint64_t bits,
                                unsigned width, bool sign_extends) {
  if (operand.kind != WarpOperand::Kind::reg)
    return;
  bits &= mask64(width);
  if (sign_extends && width < operand.width)
    bits = static_cast<std::uint64_t>(as_signed(bits, width));
  level->registers[std::size_t{operand.reg} * warp_lanes + lane] = bits & mask64(operand.width);
  if (!level->reals.empty())
    set_real(operand, lane, {});
}

} // namespace ptxasw::emulator
