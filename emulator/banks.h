#pragma once

// What shared memory makes of one warp's access: 32 banks of 4 bytes each (CUDA C++ Programming
// Guide, "Shared Memory" of each compute capability from 5.0 on).

#include <cstdint>
#include <optional>
#include <span>

namespace ptxasw {

inline constexpr unsigned shared_banks = 32;
inline constexpr unsigned bank_bytes = 4;

/// One lane's part of an access.
struct SharedAccess {
  std::uint32_t lane = 0;
  std::uint64_t address = 0;
};

/// Passes that the access needs: as many as the bank with the most distinct words. Zero for none.
unsigned shared_wavefronts(std::span<const SharedAccess> accesses, unsigned bytes);

/// Two lanes that want different words of one bank.
struct BankClash {
  std::uint32_t lanes[2] = {};
  std::uint32_t bank = 0; ///< of those with the most words, the first
  bool operator==(const BankClash &) const = default;
};

/// The first two lanes that meet in the bank with the most words; nothing if no bank has two.
std::optional<BankClash> bank_clash(std::span<const SharedAccess> accesses, unsigned bytes);

} // namespace ptxasw
