#pragma once

#include "emulator/machine/warp_verify.h"

#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

/// A module around a kernel `k(out, n)` with registers %r %d %f %g(f64) %h(16 bits) %p; %out holds
/// the address of this thread's 4 bytes, %base that of the buffer, %t its number in the block,
/// %n the second parameter. `declarations` go before the kernel.
std::string in_warp_kernel(std::string_view body, std::string_view declarations = "");

/// Parses; an error fails the running test.
std::unique_ptr<Module> parse_module(const std::string &text);

/// What a run of `k` left in its buffer, by 32-bit word, and how it ended.
struct WarpRun {
  std::vector<std::uint32_t> words;
  WarpOutcome outcome;
};

/// Runs kernel `k` of a module on one block, unless told otherwise, with a zeroed buffer.
WarpRun run_warp(const std::string &text, std::uint32_t block = 32, std::uint32_t n = 0,
                 WarpOptions options = {}, std::uint32_t grid = 1);

/// Every schedule that tests try: the regular ones and some random ones.
std::vector<WarpOptions> all_schedules();

/// Runs `k` under all schedules, or those with seeds up to `seeds`, checked for races and for reads
/// of what nobody wrote. A finding, and a run that leaves other words, fail the test. The words.
std::vector<std::uint32_t> equal_runs(const std::string &text, std::uint32_t block,
                                      std::uint32_t grid, std::uint64_t seeds = ~0ull);

std::string read_text(const std::string &path);

} // namespace ptxasw::test
