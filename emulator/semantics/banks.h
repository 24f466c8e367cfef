#pragma once

// How shared memory serves one warp's access: 32 banks of 4 bytes each (CUDA C++ Programming Guide,
// "Shared Memory" of each compute capability from 5.0 on). How wide accesses are cut up is not
// documented; it was measured on an H100 (docs/results/lint).
//   shared_wavefronts(accesses, 4, Pairing::never) // 1 if no two lanes are in one bank

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>
#include <span>

namespace ptxasw::emulator {

inline constexpr unsigned shared_banks = 32;
inline constexpr unsigned bank_bytes = 4;

/// One lane's part of an access.
struct SharedAccess {
  std::uint32_t lane = 0;
  std::uint64_t address = 0;
};

/// Says if lanes that access the same place in pairs (2n and 2n + 1, all of them) may be served
/// together: wide loads do so, stores never.
enum class Pairing : std::uint8_t { never, allowed };

/// Passes that the access needs. Up to 4 bytes per lane it is one piece of 32 lanes, 8 bytes make
/// two halves of 16, 16 bytes four quarters of 8; where pairs are served together half as many. A
/// piece needs as many passes as its bank with the most distinct words. Zero for no lanes.
unsigned shared_wavefronts(std::span<const SharedAccess> accesses, unsigned bytes, Pairing pairing);

/// Two lanes that want different words of one bank.
struct BankClash {
  std::uint32_t lanes[2] = {};
  std::uint32_t bank = 0; ///< of those with the most words, the first
  bool operator==(const BankClash &) const = default;
};

/// The first two lanes that meet in the bank with the most words; nothing if no bank has two.
std::optional<BankClash> bank_clash(std::span<const SharedAccess> accesses, unsigned bytes);

} // namespace ptxasw::emulator
