#pragma once

// Which parameters and variables an address may be made from, by the text alone.

#include "grammar/module.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace ptxasw::facts {

/// A parameter's word of 8 bytes, or a variable.
using Origin = std::uint64_t;
/// Among the origins of what may be any pointer.
inline constexpr Origin from_anywhere = ~Origin{0};
/// Among those of what memory held: a pointer that was there before the kernel, or a number.
inline constexpr Origin from_memory = from_anywhere - 1;
/// With this bit: a distance that is made of it.
inline constexpr Origin as_distance = Origin{1} << 63;

/// By register, from where what it holds may have got there. What is copied, added, subtracted or
/// chosen keeps its origins. What is multiplied, shifted up or widened from 32 bits is a distance,
/// but remembers that it was made of them, since a pointer that lost its low bits might come back
/// that way; and what is shifted down or divided may then be any pointer. So may 8 bytes that are
/// put together from parts. Memory may give back whatever the kernel stores.
class Origins {
public:
  Origins(const Module &module, const Function &function);
  /// Of the address that is an operand of an instruction: an operand of kind address. Empty: none
  /// is known. Found once.
  const std::set<Origin> &of_address(const Operand &address) const;
  /// Returns true if an address begins at one parameter or variable, and at nothing else.
  static bool are_one(const std::set<Origin> &origins);
  /// Returns true if two addresses cannot be the same, if what parameters and variables lead to
  /// never overlaps. Each must begin at something, and the other neither there nor at a distance
  /// made of it.
  static bool are_apart(const std::set<Origin> &a, const std::set<Origin> &b);

private:
  using Sources = std::set<Origin>;
  Sources of(const Operand &operand) const;
  Sources of_symbol(const Operand &operand) const;
  Sources of_parameter(const Operand &address, std::uint64_t offset) const;
  /// Returns true if 8 bytes are put together from parts.
  bool joins_parts(const Instruction &instruction) const;
  /// What an instruction computes that is no load.
  Sources computed(const Instruction &instruction) const;
  bool step(const Instruction &instruction);
  bool add(const Operand &to, const Sources &sources);
  bool keep(const Instruction &store);

  Sources distance_of(const Operand &operand) const;

  const Module &module_;
  const Function &function_;
  std::vector<Sources> registers_;
  Sources memory_{from_memory}; ///< of what any memory may hold
  mutable std::map<const Operand *, Sources> of_addresses_;
};

} // namespace ptxasw::facts
