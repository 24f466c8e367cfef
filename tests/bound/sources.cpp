// Modules for the tests of bounds: files of the tree in the order of their names, then random
// kernels.

#include "sources.h"

#include "../random/random_kernel.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <iterator>

namespace ptxasw::test {
namespace {

std::string read_file(const std::filesystem::path &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::filesystem::path> ptx_files(const std::filesystem::path &path) {
  if (!std::filesystem::is_directory(path))
    return {path};
  std::vector<std::filesystem::path> result;
  for (const auto &entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.path().extension() == ".ptx")
      result.push_back(entry.path());
  std::sort(result.begin(), result.end());
  return result;
}

} // namespace

std::vector<Source> sources(const std::vector<std::string> &paths, unsigned random_kernels) {
  std::vector<Source> result;
  for (const std::string &path : paths)
    for (const auto &file : ptx_files(path))
      result.push_back({file.string(), read_file(file)});
  for (std::uint64_t seed = 1; seed <= random_kernels; ++seed)
    result.push_back(
        {fmt::format("random kernel {}", seed), module_text(*random_kernel(seed).body)});
  return result;
}

} // namespace ptxasw::test
