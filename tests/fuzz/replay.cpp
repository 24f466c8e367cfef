// The main function of a fuzz target where there is no libFuzzer: each file of the folders named
// goes through it once. What a fuzzer found and was kept stays found, in any build.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size);

int main(int argc, char **argv) {
  unsigned files = 0;
  for (int i = 1; i < argc; ++i)
    for (const auto &entry : std::filesystem::recursive_directory_iterator(argv[i]))
      if (entry.is_regular_file()) {
        std::ifstream file(entry.path(), std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(file)), {});
        LLVMFuzzerTestOneInput(reinterpret_cast<const unsigned char *>(text.data()), text.size());
        ++files;
      }
  std::printf("%u files\n", files);
  return files == 0;
}
