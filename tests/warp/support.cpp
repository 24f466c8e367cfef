#include "support.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <fstream>
#include <sstream>

namespace ptxasw::test {

std::string in_warp_kernel(std::string_view body, std::string_view declarations) {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
{}
.visible .entry k(.param .u64 p_out, .param .u32 p_n)
{{
	.reg .b32 %r<40>, %t, %n;
	.reg .b64 %d<20>, %out, %base;
	.reg .b16 %h<10>;
	.reg .f32 %f<20>;
	.reg .f64 %g<10>;
	.reg .pred %p<10>;
	ld.param.u64 %base, [p_out];
	ld.param.u32 %n, [p_n];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %out, %t, 4;
	add.s64 %out, %out, %base;
{}
	ret;
}}
)",
                     declarations, body);
}

std::unique_ptr<Module> parse_module(const std::string &text) {
  auto module = parse(text, "test.ptx");
  if (!module)
    FAIL(format(module.error()));
  return std::move(*module);
}

WarpRun run_warp(const std::string &text, std::uint32_t block, std::uint32_t n, WarpOptions options,
                 std::uint32_t grid) {
  const auto module = parse_module(text);
  const WarpProgram program(*module);
  GlobalMemory memory;
  CHECK(program.place_variables(memory));
  WarpLaunch launch;
  launch.grid[0] = grid;
  launch.block[0] = block;
  const std::uint64_t size = 4096;
  const std::size_t index = memory.allocate("out", size, GlobalMemory::Fill::zeros, 0);
  const std::uint64_t base = memory.allocations()[index].base;
  launch.parameters.resize(12);
  std::memcpy(launch.parameters.data(), &base, 8);
  std::memcpy(launch.parameters.data() + 8, &n, 4);
  if (options.step_limit == ~std::uint64_t{0})
    options.step_limit = 10'000'000;
  WarpRun run;
  run.outcome = run_kernel(program, *program.find_kernel("k"), launch, memory, options);
  run.words.resize(size / 4);
  memory.read(base, {reinterpret_cast<std::uint8_t *>(run.words.data()), size});
  return run;
}

std::vector<WarpOptions> all_schedules() {
  std::vector<WarpOptions> list(2);
  list[1].schedule = WarpSchedule::apart;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    list.emplace_back().schedule = WarpSchedule::random;
    list.back().seed = seed;
  }
  return list;
}

std::vector<std::uint32_t> equal_runs(const std::string &text, std::uint32_t block,
                                      std::uint32_t grid, std::uint64_t seeds) {
  std::vector<std::uint32_t> first;
  for (WarpOptions options : all_schedules()) {
    if (options.seed > seeds)
      continue;
    options.check_races = options.check_uninitialized = true;
    const WarpRun run = run_warp(text, block, 0, options, grid);
    if (run.outcome.fault)
      FAIL(format(*run.outcome.fault));
    if (run.outcome.race)
      FAIL(format(*run.outcome.race));
    if (first.empty())
      first = run.words;
    CHECK(run.words == first);
  }
  return first;
}

std::string read_text(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace ptxasw::test
