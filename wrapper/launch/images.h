#pragma once

// The PTX of what a program hands to the driver, kept for `ptxasw faster`.

#include <string>

namespace ptxasw::inline wrapper::launch {

/// What is kept of an image.
struct KeptImage {
  /// PTX; or a fat binary (grammar/fat_binary.h) that has the entries of the program's, those that
  /// are not PTX without what is stored. Empty: there is nothing, and `why` says so.
  std::string bytes;
  std::string why;   ///< a stable name: `no-ptx`
  std::string words; ///< for people
};

/// Takes over what a program hands to cuModuleLoadData and the like: PTX that a NUL ends, a fat
/// binary, the wrapper of one, or machine code (compiled.h). Nothing of anything else is read but
/// its first bytes.
KeptImage keep_image(const void *image);

} // namespace ptxasw::wrapper::launch
