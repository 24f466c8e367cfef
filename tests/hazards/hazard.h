#pragma once

#include "emulator/machine/warp_launch.h"
#include "trap.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ptxasw::test {

/// What a launch passes for one parameter.
struct Argument {
  enum class Kind : std::uint8_t {
    buffer, ///< `a=f32:256`: that many elements, 4 KiB more on either side
    exact,  ///< `a=exact-f32:256`: not a byte more
    far,    ///< `a=far-f32`: memory as far as any 32-bit index reaches
    alias,  ///< `b=a+4`: this many bytes from where `a` points
    number, ///< `n=100`
  };
  std::string name;
  Kind kind = Kind::number;
  GlobalMemory::Fill fill = GlobalMemory::Fill::zeros;
  std::string fill_name;
  std::uint64_t bytes = 0;
  std::string of;          ///< of an alias
  std::uint64_t value = 0; ///< of a number; bytes an alias is shifted by
};

struct HazardLaunch {
  Extents grid;
  Extents block{32, 1, 1};
  std::vector<Argument> arguments; ///< in the order of the parameters
};

/// How to replace D by a value of S without any further checks.
struct NaiveRewrite {
  int delta = 0;
  unsigned flip = 0;      ///< of a butterfly: the bits in which the two lanes' numbers differ
  bool with_rows = true;  ///< the lane's place in its row is tested
  bool with_lane = true;  ///< %laneid is the lane, not tid.x % 32
  bool with_mask = true;  ///< all lanes are there is tested
  bool with_copy = true;  ///< S's value is copied at S
  bool with_guard = true; ///< D's guard counts
  bool with_order = true; ///< the corner load comes before D's register is written
  bool early = false;     ///< the corner load is done at S, in all lanes
  bool hoist = false;     ///< S, which comes after D, is moved up to it
};

/// A trap of kernels/. See README.md for its form.
struct Hazard {
  std::string name;
  std::string rule;
  std::string text; ///< the module with the hazard
  std::string twin; ///< the module without; empty if there is none
  std::vector<HazardLaunch> launches;
  std::vector<HazardLaunch> twin_launches; ///< instead, for the twin; empty: the same
  std::string shapes = "1d";               ///< head, 1d or any: which other launches are legal
  bool has_naive = false;
  NaiveRewrite naive;
  std::map<std::string, std::string> expected, twin_expected;
};

/// A trap whose head is that of kernels/. Throws std::runtime_error with what is wrong with it.
Hazard hazard_of(const Trap &trap);

/// The naive rewrite of a module: the line ending in `// D` gets the value of the line ending in
/// `// S`. Throws std::runtime_error if there are no such lines.
std::string rewrite_naively(const std::string &text, const NaiveRewrite &how);

} // namespace ptxasw::test
