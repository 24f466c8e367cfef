#pragma once

// What is kept of a fat binary, so that there is PTX to ask about. `ptxasw faster` keeps the same
// of a program's file as the helper does of what the program loads.

#include "grammar/namespaces.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace ptxasw::wrapper::launch {

inline constexpr std::uint32_t fat_image_magic = 0xba55ed50;
inline constexpr std::size_t largest_kept_ptx = std::size_t{16} << 20; ///< of one image, packed

/// What is kept of an image.
struct KeptImage {
  /// PTX; or a fat binary (grammar/fat_binary.h) that has the entries of the program's that the
  /// driver looks at, those that are not PTX without what is stored. Empty: there is nothing, and
  /// `why` says so.
  std::string bytes;
  std::string why;   ///< a stable name: `no-ptx`
  std::string words; ///< for people
};

/// Of a fat binary in memory, which is as long as its header says.
KeptImage keep_fat(const char *bytes);

} // namespace ptxasw::wrapper::launch
