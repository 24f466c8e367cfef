// PTX is copied packed as it is. Machine code is not: of an entry that is not PTX its header says
// which architecture it is for, which decides what the driver chooses. Sizes are the image's own,
// as the driver reads them; grammar/fat_binary.cpp has the format.
//
// Where the driver is told to compile PTX whatever machine code there is, no entry of machine code
// is kept: what counts is the environment of the program, which a script may have set.

#include "wrapper/launch/kept_image.h"

#include <cstdlib>
#include <cstring>
#include <optional>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::size_t most_entries = 4096;

template <typename Number> Number kept_number(const char *from) {
  Number result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

/// Returns true if the driver is told to ignore machine code in fat binaries (CUDA C++ Programming
/// Guide, "CUDA Environment Variables"); nothing if it is told something else than yes or no.
std::optional<bool> ignores_machine_code() {
  bool ignores = false;
  for (const char *variable : {"CUDA_FORCE_PTX_JIT", "CUDA_FORCE_JIT"}) {
    const char *const value = std::getenv(variable);
    const bool is_one = value && std::strcmp(value, "1") == 0;
    if (value && *value && !is_one && std::strcmp(value, "0") != 0)
      return std::nullopt;
    ignores = ignores || is_one;
  }
  return ignores;
}

KeptImage no_image(const char *why, const char *words) { return {"", why, words}; }

} // namespace

KeptImage keep_fat(const char *bytes) {
  const auto header = kept_number<std::uint16_t>(bytes + 6);
  const auto size = kept_number<std::uint64_t>(bytes + 8);
  if (header < 16)
    return no_image("no-ptx", "its image is not understood");
  const std::optional<bool> only_ptx = ignores_machine_code();
  if (!only_ptx)
    return no_image("options", "CUDA_FORCE_PTX_JIT, or CUDA_FORCE_JIT, is neither 0 nor 1");
  KeptImage kept;
  kept.bytes.assign(bytes, header);
  bool has_ptx = false;
  std::size_t entries = 0;
  const char *const first = bytes + header;
  for (std::uint64_t at = 0; at < size;) {
    const char *const entry = first + at;
    if (size - at < 64 || ++entries > most_entries)
      return no_image("no-ptx", "its image is not understood");
    const auto kind = kept_number<std::uint16_t>(entry);
    const auto entry_header = kept_number<std::uint32_t>(entry + 4);
    const auto stored = kept_number<std::uint64_t>(entry + 8);
    if (entry_header < 64 || entry_header > size - at || stored > size - at - entry_header)
      return no_image("no-ptx", "its image is not understood");
    at += entry_header + stored;
    if (kind == 2 && *only_ptx)
      continue;
    const std::size_t begin = kept.bytes.size();
    kept.bytes.append(entry, entry_header);
    if (kind == 1) {
      has_ptx = true;
      if (stored > largest_kept_ptx || kept.bytes.size() + stored > largest_kept_ptx)
        return no_image("too-large", "its PTX is too large");
      kept.bytes.append(entry + entry_header, stored);
    } else {
      std::memset(kept.bytes.data() + begin + 8, 0, 8);
    }
  }
  if (!has_ptx)
    return no_image("no-ptx", "there is machine code of it and no PTX");
  const std::uint64_t all = kept.bytes.size() - header;
  std::memcpy(kept.bytes.data() + 8, &all, sizeof all);
  return kept;
}

} // namespace ptxasw::wrapper::launch
