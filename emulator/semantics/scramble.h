#pragma once

// Splitmix64 (Steele, Lea and Flood, OOPSLA 2014). It depends on its argument alone, so equal seeds
// give equal memory, launches and schedules on every machine.
//   scramble(seed ^ index) % choices

#include "grammar/namespaces.h"

#include <cstdint>

namespace ptxasw::emulator {

/// A hash of a number: what all pseudo-random contents and decisions here are drawn from.
constexpr std::uint64_t scramble(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

} // namespace ptxasw::emulator
