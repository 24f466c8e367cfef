// Who wants versions needs the PTX later, when the program's own copy may be gone; so it is copied
// as the image is loaded (kept_image.cpp). Of machine code alone the PTX may be known
// (compiled.cpp).

#include "wrapper/launch/images.h"

#include "wrapper/launch/compiled.h"
#include "wrapper/launch/jit.h"

#include <cstdint>
#include <cstring>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::uint32_t wrapper_magic = 0x466243b1;

constexpr const char elf_magic[] = "\x7f"
                                   "ELF";
constexpr const char no_ptx[] = "no-ptx", too_large[] = "too-large";

template <typename Number> Number image_number(const char *from) {
  Number result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

KeptImage nothing(const char *why, const char *words) { return {"", why, words}; }

KeptImage keep_code(const char *file) {
  CompiledCode code = compiled_code(file);
  if (code.ptx.empty() && *code.why)
    return nothing(code.why, code.words);
  if (code.ptx.empty())
    return nothing(
        no_ptx, "there is machine code of it and no PTX; if CuPy or PyTorch kept it, they compile "
                "anew with CUPY_CACHE_IN_MEMORY=1 or USE_PYTORCH_KERNEL_CACHE=0");
  return {std::move(code.ptx), "", ""};
}

} // namespace

KeptImage keep_image(const void *image) {
  const char *bytes = static_cast<const char *>(image);
  if (!bytes)
    return nothing(no_ptx, "there is no image");
  // Text is looked at byte by byte, so that none behind its end is read.
  if (begins_ptx(bytes, largest_kept_ptx)) {
    const std::size_t size = ::strnlen(bytes, largest_kept_ptx);
    if (size == largest_kept_ptx)
      return nothing(too_large, "its PTX is too large");
    return {std::string(bytes, size), "", ""};
  }
  for (std::size_t i = 0; i < 4; ++i)
    if (bytes[i] == 0)
      return nothing(no_ptx, "its image is not understood");
  auto magic = image_number<std::uint32_t>(bytes);
  if (magic == wrapper_magic) {
    const auto version = image_number<std::uint32_t>(bytes + 4);
    // FATBINC_LINK_VERSION of CUDA's fatbinary_section.h, "array of prelinked fatbins": what nvcc's
    // device linker writes. Every program that nvcc links has one; kernels are in it only with
    // -rdc, as linked machine code (seen with nvcc 13.0).
    if (version == 2)
      return nothing("relocatable", "it is linked from several modules (-rdc)");
    bytes = version == 1 ? image_number<const char *>(bytes + 8) : nullptr;
    if (!bytes)
      return nothing(no_ptx, "its image is not understood");
    magic = image_number<std::uint32_t>(bytes);
  }
  if (magic == fat_image_magic)
    return keep_fat(bytes);
  if (std::memcmp(bytes, elf_magic, 4) == 0)
    return keep_code(bytes);
  return nothing(no_ptx, "its image is not understood");
}

} // namespace ptxasw::wrapper::launch
