#pragma once

// The PTX that compilers put into programs: fat binaries, and the files that hold them.
//
// `nvcc` wraps what it makes for the device in a fat binary: entries that are PTX or machine code
// for one architecture each, one of which the driver chooses. Programs, objects and libraries hold
// them in the sections `.nv_fatbin` and, with relocatable device code, `__nv_relfatbin`.

#include "grammar/namespaces.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::ptx {

/// An entry of a fat binary. `stored` and `whole` lie in the bytes that it was read from.
struct FatImage {
  enum class Kind : std::uint8_t { ptx, machine_code, other };
  enum class Compression : std::uint8_t { none, lz4, zstandard, unknown };
  Kind kind = Kind::other;
  Compression compression = Compression::none;
  unsigned sm = 0; ///< 90 of sm_90a
  char suffix = 0; ///< 'a', 'f' of sm_90a, sm_100f; 0: none
  std::uint32_t binary =
      0;               ///< which of the fat binaries that were read: its images are alternatives
  std::string options; ///< the compiler's, as they are noted
  std::string source;  ///< the name of the source file, if it is noted
  std::string where;   ///< in a file: section, behind the member of an archive
  std::string_view stored;
  std::string_view whole; ///< the fat binary that it is in
  std::uint64_t size = 0; ///< bytes when unpacked

  /// Returns true if it is a part of a program, to be linked with others (`-rdc=true`).
  bool is_relocatable() const { return options.find("--compile-only") != std::string::npos; }
  /// Its bytes; those of PTX without the zeros behind the text. Or why they cannot be had.
  tl::expected<std::string, std::string> unpack() const;
};

/// The images in fat binaries that lie one behind the other, zeros between them.
tl::expected<std::vector<FatImage>, std::string> read_fat_binaries(std::string_view bytes);

/// Returns true if bytes begin like a file of read_fat_file().
bool is_fat_file(std::string_view bytes);

/// The images in a file: an ELF file (program, object, shared library; 64 bits, little-endian), an
/// archive of such, or a fat binary alone. None is not an error; bytes that are no such file are.
tl::expected<std::vector<FatImage>, std::string> read_fat_file(std::string_view bytes);

/// The images behind the wrapper that a running program hands to `__cudaRegisterFatBinary`, of this
/// process: version 1, and version 2 with a list of relocatable ones. Their sizes are taken from
/// their headers.
tl::expected<std::vector<FatImage>, std::string> read_fat_wrapper(const void *wrapper);

/// The same of a fat binary of this process, without a wrapper.
tl::expected<std::vector<FatImage>, std::string> read_fat_memory(const void *fat_binary);

/// Of each fat binary the PTX that a GPU of that architecture would be given: for the highest one
/// that is not above `sm`; one with a suffix only where nothing else is. 0: the highest of all.
std::vector<const FatImage *> choose_ptx(std::span<const FatImage> images, unsigned sm = 0);

} // namespace ptxasw::ptx
