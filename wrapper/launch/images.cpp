// Who wants versions needs the PTX later, when the program's own copy may be gone; so it is copied
// as the image is loaded, packed as it is. Machine code is not: of an entry that is not PTX its
// header says which architecture it is for, which decides what the driver chooses. Of machine code
// alone the PTX may be known (compiled.cpp). Sizes are the image's own, as the driver reads them;
// grammar/fat_binary.cpp has the format.

#include "wrapper/launch/images.h"

#include "wrapper/launch/compiled.h"
#include "wrapper/launch/jit.h"

#include <cstdint>
#include <cstring>

namespace ptxasw::inline wrapper::launch {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1, fat_magic = 0xba55ed50;
constexpr std::size_t largest_text = std::size_t{16} << 20; ///< of PTX in one image, packed
constexpr std::size_t most_entries = 4096;

constexpr const char elf_magic[] = "\x7f"
                                   "ELF";
constexpr const char no_ptx[] = "no-ptx", too_large[] = "too-large";

template <typename Number> Number image_number(const char *from) {
  Number result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

KeptImage nothing(const char *why, const char *words) { return {"", why, words}; }

KeptImage keep_fat(const char *bytes) {
  const auto header = image_number<std::uint16_t>(bytes + 6);
  const auto size = image_number<std::uint64_t>(bytes + 8);
  if (header < 16)
    return nothing(no_ptx, "its image is not understood");
  KeptImage kept;
  kept.bytes.assign(bytes, header);
  bool has_ptx = false;
  std::size_t entries = 0;
  const char *const first = bytes + header;
  for (std::uint64_t at = 0; at < size;) {
    const char *const entry = first + at;
    if (size - at < 64 || ++entries > most_entries)
      return nothing(no_ptx, "its image is not understood");
    const auto kind = image_number<std::uint16_t>(entry);
    const auto entry_header = image_number<std::uint32_t>(entry + 4);
    const auto stored = image_number<std::uint64_t>(entry + 8);
    if (entry_header < 64 || entry_header > size - at || stored > size - at - entry_header)
      return nothing(no_ptx, "its image is not understood");
    const std::size_t begin = kept.bytes.size();
    kept.bytes.append(entry, entry_header);
    if (kind == 1) {
      has_ptx = true;
      if (stored > largest_text || kept.bytes.size() + stored > largest_text)
        return nothing(too_large, "its PTX is too large");
      kept.bytes.append(entry + entry_header, stored);
    } else {
      std::memset(kept.bytes.data() + begin + 8, 0, 8);
    }
    at += entry_header + stored;
  }
  if (!has_ptx)
    return nothing(no_ptx, "there is machine code of it and no PTX");
  const std::uint64_t all = kept.bytes.size() - header;
  std::memcpy(kept.bytes.data() + 8, &all, sizeof all);
  return kept;
}

KeptImage keep_code(const char *file) {
  CompiledCode code = compiled_code(file);
  if (code.ptx.empty() && *code.why)
    return nothing(code.why, code.words);
  if (code.ptx.empty())
    return nothing(no_ptx,
                   "there is machine code of it and no PTX; CuPy keeps such code, and compiles "
                   "anew with CUPY_CACHE_IN_MEMORY=1 or an empty directory as CUPY_CACHE_DIR");
  return {std::move(code.ptx), "", ""};
}

} // namespace

KeptImage keep_image(const void *image) {
  const char *bytes = static_cast<const char *>(image);
  if (!bytes)
    return nothing(no_ptx, "there is no image");
  // Text is looked at byte by byte, so that none behind its end is read.
  if (begins_ptx(bytes, largest_text)) {
    const std::size_t size = ::strnlen(bytes, largest_text);
    if (size == largest_text)
      return nothing(too_large, "its PTX is too large");
    return {std::string(bytes, size), "", ""};
  }
  for (std::size_t i = 0; i < 4; ++i)
    if (bytes[i] == 0)
      return nothing(no_ptx, "its image is not understood");
  auto magic = image_number<std::uint32_t>(bytes);
  if (magic == wrapper_magic) {
    const auto version = image_number<std::uint32_t>(bytes + 4);
    if (version == 2)
      return nothing("relocatable", "it is linked from several modules (-rdc)");
    bytes = version == 1 ? image_number<const char *>(bytes + 8) : nullptr;
    if (!bytes)
      return nothing(no_ptx, "its image is not understood");
    magic = image_number<std::uint32_t>(bytes);
  }
  if (magic == fat_magic)
    return keep_fat(bytes);
  if (std::memcmp(bytes, elf_magic, 4) == 0)
    return keep_code(bytes);
  return nothing(no_ptx, "its image is not understood");
}

} // namespace ptxasw::wrapper::launch
