// Prints what is in a file of fat binaries: a line an image, and with a number behind the file's
// name the PTX that is chosen for that architecture.

#include "grammar/fat_binary.h"

#include <cstdlib>
#include <fmt/core.h>
#include <fstream>
#include <iterator>

int main(int argc, char **argv) {
  using namespace ptxasw::test;
  std::ifstream file(argc > 1 ? argv[1] : "", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto images = read_fat_file(bytes);
  if (!images) {
    fmt::print(stderr, "{}\n", images.error());
    return 1;
  }
  if (argc < 3)
    for (const FatImage &image : *images)
      fmt::print("{} {} {} sm_{}{} {} {} {}\n", image.binary, image.where,
                 image.kind == FatImage::Kind::ptx            ? "ptx"
                 : image.kind == FatImage::Kind::machine_code ? "code"
                                                              : "other",
                 image.sm, image.suffix ? std::string(1, image.suffix) : "",
                 static_cast<int>(image.compression),
                 image.is_relocatable() ? "relocatable" : "whole", image.source);
  else
    for (const FatImage *image : choose_ptx(*images, static_cast<unsigned>(std::atoi(argv[2]))))
      fmt::print("{}", image->unpack().value());
  return 0;
}
