// Any bytes at all as a file that holds fat binaries: what is read lies within them, and is
// unpacked or refused.

#include "grammar/fat_binary.h"

#include <cstdlib>

namespace {

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace ptxasw::test;
  const std::string_view bytes(reinterpret_cast<const char *>(data), size);
  const auto images = read_fat_file(bytes);
  if (!images) {
    require(!images.error().empty());
    return 0;
  }
  for (const FatImage &image : *images) {
    require(image.stored.data() >= bytes.data() &&
            image.stored.data() + image.stored.size() <= bytes.data() + bytes.size());
    constexpr std::uint64_t far_more = 1 << 22; // is right, and takes its time
    if (image.size > far_more)
      continue;
    const auto text = image.unpack();
    require(text ? text->size() <= image.size : !text.error().empty());
  }
  for (const FatImage *image : choose_ptx(*images, 90))
    require(image->kind == FatImage::Kind::ptx && image->sm <= 90);
  return 0;
}
