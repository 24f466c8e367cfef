// Lines that threads walk, in what nvcc makes of kernelgen-bench/chunks: how many streams each
// kernel has, and the blocks that leave the cache to fewer threads.

#include "analysis/lint/reuse.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <sstream>

using namespace ptxasw::test;

namespace {

std::unique_ptr<Module> walks(const std::string &name) {
  std::ostringstream text;
  text << std::ifstream(std::string(WALKS_DIR) + "/" + name).rdbuf();
  auto module = parse(text.str(), name);
  REQUIRE(module);
  return std::move(*module);
}

/// The most bytes per warp that a loop of each kernel walks.
std::map<std::string, std::uint64_t> walked(const Module &module, const BlockShape &block) {
  std::map<std::string, std::uint64_t> result;
  for (const Function &function : module.functions) {
    if (!function.is_entry)
      continue;
    const facts::KernelFacts facts(module, function, {.block = block});
    std::uint64_t &most = result[std::string(function.name)];
    for (const lint::WalkedLoop &loop : lint::walked_loops(facts))
      most = std::max(most, loop.bytes_per_warp());
  }
  return result;
}

constexpr std::uint64_t line_per_lane = 32 * 128;

} // namespace

TEST_CASE("programs of map-reduce frameworks walk one line a thread") {
  const auto module = walks("maps.ptx");
  unsigned kernels = 0;
  for (const auto &[key, bytes] : walked(*module, {256, 1, 1})) {
    const auto &name = key; // clang 14 captures no binding
    CAPTURE(name);
    if (name.find("fill") != std::string::npos) { // neighbouring lanes side by side
      CHECK(bytes == 0);
      continue;
    }
    // Their tasks are a loop that lanes leave by their own numbers: it is not known which rows
    // lanes come to together.
    const bool unknown = name == "mm_map" || name == "ss_map";
    ++kernels;
    CHECK(bytes == (unknown ? 0 : line_per_lane));
  }
  CHECK(kernels == 8);
}

TEST_CASE("each array is a stream") {
  const auto module = walks("chunks.ptx");
  for (const auto &[key, bytes] : walked(*module, {32, 1, 1})) {
    const auto &name = key;
    CAPTURE(name);
    const std::size_t arrays = name.find("ILi"); // of a template's number
    const std::uint64_t streams = name.find("fill") != std::string::npos ? 0
                                  : arrays != std::string::npos
                                      ? static_cast<std::uint64_t>(name[arrays + 3] - '0')
                                      : 1;
    CHECK(bytes == streams * line_per_lane);
  }
}

TEST_CASE("a warp that is not full holds the lines of its lanes") {
  const Architecture *const hopper = find_architecture("sm_90");
  REQUIRE(hopper);
  const lint::Residence odd = lint::residence(*hopper, 33, 0); // 32 blocks of two warps
  CHECK(odd.all == 32 * 33);
  CHECK(lint::lines_of(odd.all, line_per_lane) == 132 * 1024);
  CHECK(lint::lines_of(33, line_per_lane) == 33 * 128);
  // As many as of a block of one such warp.
  const auto module = walks("chunks.ptx");
  CHECK(walked(*module, {16, 1, 1}) == walked(*module, {32, 1, 1}));
  CHECK(walked(*module, {33, 1, 1}) == walked(*module, {32, 1, 1}));
}

TEST_CASE("small blocks leave the L1 to fewer threads") {
  const Architecture *const hopper = find_architecture("sm_90");
  REQUIRE(hopper);
  const lint::Residence large = lint::residence(*hopper, 256, 0),
                        small = lint::residence(*hopper, 32, 0),
                        shared = lint::residence(*hopper, 256, 32 * 1024);
  CHECK(large.all == 2048);
  CHECK(large.l1 == 248 * 1024);
  CHECK(small.all == 1024);
  CHECK(small.l1 == 224 * 1024);
  CHECK(shared.all == 48 * 32); // six blocks of 33 KB
  CHECK(shared.l1 == 58 * 1024);
  for (const Architecture &one : architectures())
    CHECK(one.l1 >= one.shared);
}
