// The kernel's own code in blocks of other shapes: whatever is offered leaves the same memory, and
// of what is refused much does not.

#include "emulator/machine/warp_launch.h"
#include "synth/resize/resize.h"
#include "synth/siblings.h"
#include "synth/spread.h"
#include "tests/synth/versions.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace reshape_test {

using namespace ptxasw::test;

namespace {

/// A trap's text with the roles of x and another axis exchanged.
std::string turned(std::string text, char axis) {
  for (std::size_t at = 0; (at = text.find('%', at)) != std::string::npos; ++at)
    for (const std::string_view name : {"%tid.", "%ntid.", "%ctaid.", "%nctaid."})
      if (text.compare(at, name.size(), name) == 0) {
        char &which = text[at + name.size()];
        which = which == 'x' ? axis : which == axis ? 'x' : which;
      }
  return text;
}

/// What a kernel leaves in memory; nothing if it faults.
std::optional<GlobalMemory> result_of(const Module &module, const Function &kernel,
                                      const std::array<std::uint32_t, 3> &grid,
                                      const std::array<std::uint32_t, 3> &block,
                                      std::uint64_t seed) {
  std::optional<GlobalMemory> memory(std::in_place);
  const WarpProgram program(module);
  if (!program.place_variables(*memory))
    return std::nullopt;
  WarpLaunch launch;
  launch.grid = {grid[0], grid[1], grid[2]};
  launch.block = {block[0], block[1], block[2]};
  launch.parameters.resize(kernel_parameter_bytes(kernel));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::uint64_t bits = 100 + seed;
    if (bit_width(kernel.parameters[i].type) == 64) {
      const std::size_t buffer =
          memory->allocate("argument", 1 << 20, GlobalMemory::Fill::small, scramble(seed + i));
      bits = memory->allocations()[buffer].base + (1 << 18);
    }
    std::memcpy(launch.parameters.data() + kernel_parameter_offset(kernel, i), &bits,
                std::min<std::uint64_t>(kernel.parameters[i].size(), 8));
  }
  WarpOptions options;
  options.step_limit = 4'000'000;
  if (run_kernel(program, *program.find_kernel(std::string(kernel.name)), launch, *memory, options)
          .fault)
    return std::nullopt;
  return memory;
}

/// Launches of 256 threads along one axis, in blocks of 64 and of other extents.
struct Compared {
  unsigned same = 0, different = 0;
};
Compared compare_extents(const Module &module, std::size_t axis) {
  Compared result;
  const auto run = [&](std::uint32_t extent, std::uint64_t seed) {
    std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
    block[axis] = extent;
    grid[axis] = 256 / extent;
    return result_of(module, only(module), grid, block, seed);
  };
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    auto before = run(64, seed);
    for (const std::uint32_t extent : {1u, 4u, 32u, 128u, 256u})
      if (auto after = before && (axis < 2 || extent <= 64) ? run(extent, seed) : std::nullopt)
        ++(compare(*before, *after).differs ? result.different : result.same);
  }
  return result;
}

const char *const transpose = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p<4>;
	.reg .b32 %r<16>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [in];
	ld.param.u64 %d2, [out];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	mov.u32 %r6, %ctaid.y;
	mov.u32 %r7, %ntid.y;
	mov.u32 %r8, %tid.y;
	mad.lo.s32 %r9, %r6, %r7, %r8;
	setp.ge.s32 %p1, %r5, %r1;
	setp.ge.s32 %p2, %r9, %r1;
	or.pred %p3, %p1, %p2;
	@%p3 bra done;
	cvta.to.global.u64 %d1, %d1;
	cvta.to.global.u64 %d2, %d2;
	mad.lo.s32 %r10, %r9, %r1, %r5;
	mul.wide.s32 %d3, %r10, 4;
	add.s64 %d3, %d1, %d3;
	ld.global.f32 %r11, [%d3];
	mad.lo.s32 %r12, %r5, %r1, %r9;
	mul.wide.s32 %d4, %r12, 4;
	add.s64 %d4, %d2, %d4;
	st.global.f32 [%d4], %r11;
done:
	ret;
}
)";

std::vector<std::string> kinds(const std::string &text, std::size_t most = 6) {
  const auto module = parsed(text);
  std::vector<std::string> result;
  for (const Sibling &one : reshapes({*module, only(*module)}, most))
    result.push_back(one.kind);
  return result;
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

} // namespace

TEST_CASE("an axis is free only if no extent along it shows") {
  unsigned free = 0, same = 0, wrong = 0;
  for (const auto &file : std::filesystem::directory_iterator(TRAPS_DIR "/resize"))
    for (const std::string &text : {hazard(file.path()), twin(file.path())})
      for (const char axis : {'x', 'y', 'z'}) {
        const auto module = parsed(turned(text, axis));
        CAPTURE(file.path());
        CAPTURE(axis);
        const Compared found = compare_extents(*module, static_cast<std::size_t>(axis - 'x'));
        if (extent_obstacle({*module, only(*module)}, axis)) {
          wrong += found.different > 0;
          continue;
        }
        ++free;
        same += found.same;
        CHECK(found.different == 0);
      }
  CHECK(free > 100);
  CHECK(same > 500);
  CHECK(wrong > 60); // the traps are none if nothing goes wrong
}

TEST_CASE("blocks of several axes") {
  const auto module = parsed(transpose);
  const Function &kernel = only(*module);
  auto before = result_of(*module, kernel, {4, 8, 1}, {32, 16, 1}, 3);
  REQUIRE(before);
  const auto shapes = reshapes({*module, kernel}, 100);
  REQUIRE(shapes.size() > 4);
  for (const Sibling &one : shapes) {
    CAPTURE(one.kind);
    auto after = result_of(*module, kernel, {128 / one.extent[0], 128 / one.extent[1], 1},
                           {one.extent[0], one.extent[1], 1}, 3);
    if (128 % one.extent[0] == 0 && 128 % one.extent[1] == 0) {
      REQUIRE(after);
      CHECK_FALSE(compare(*before, *after).differs);
    }
  }
}

TEST_CASE("shapes are those whose warps touch the fewest sectors") {
  // What is read along x is written along y.
  CHECK(kinds(transpose) ==
        std::vector<std::string>{"8x32", "4x64", "8x16", "4x32", "8x8", "4x16"});
  // Along x alone.
  const std::string row =
      replaced(transpose, "mad.lo.s32 %r12, %r5, %r1, %r9;", "mov.u32 %r12, %r10;");
  CHECK(kinds(row) == std::vector<std::string>{"256x1", "32x8", "16x16", "128x1", "32x4", "16x8"});
  CHECK(kinds(row, 2) == std::vector<std::string>{"256x1", "32x8"});
  // An axis that is not free stays as it is.
  const std::string fixed =
      replaced(row, "mad.lo.s32 %r9, %r6, %r7, %r8;", "add.s32 %r9, %r7, %r8;");
  CHECK(kinds(fixed) == std::vector<std::string>{"256", "128", "64", "512"});
  // Without x there are none.
  CHECK(kinds(replaced(row, "mad.lo.s32 %r5, %r2, %r3, %r4;", "add.s32 %r5, %r3, %r4;")).empty());
}

TEST_CASE("a kernel that says which blocks it has gets no others") {
  CHECK(kinds(replaced(transpose, ".param .u32 n)\n", ".param .u32 n)\n.reqntid 32, 8\n")).empty());
  CHECK_FALSE(
      kinds(replaced(transpose, ".param .u32 n)\n", ".param .u32 n)\n.maxntid 64\n")).empty());
}

TEST_CASE("what the table says of it") {
  const auto module = parsed(transpose);
  const Sibling one = reshaped({*module, only(*module)}, {8, 32, 0});
  CHECK(one.name == "k__ptxasw_block_8x32");
  CHECK(one.own_code);
  CHECK(one.extent == std::array<std::uint32_t, 3>{8, 32, 0});
  CHECK(one.needs.extent_multiple == std::array<std::uint32_t, 3>{8, 32, 1});
  CHECK(one.needs.max_extent == std::array<std::uint32_t, 3>{0x7fffffff, 0x7fffffff, ~0u});
}

TEST_CASE("versions in blocks of other shapes") {
  const auto module = parsed(transpose);
  const Sibling shape = reshaped({*module, only(*module)}, {128, 1, 0});
  Sibling wide;
  wide.name = "k__ptxasw_wide_x4";
  wide.family = "wide";
  wide.kind = "x4";
  wide.grid = {4, 1, 1};
  wide.appended = {'x'};
  wide.needs.extent_multiple = {96, 1, 1};
  wide.needs.max_extent = {1000, ~0u, ~0u};
  Sibling resized = wide; // has blocks of its own
  resized.extent = {64, 0, 0};
  const auto made = in_other_blocks({wide, resized}, {shape}, 5);
  REQUIRE(made.size() == 1);
  CHECK(made[0].name == "k__ptxasw_wide_x4_in_128x1");
  CHECK(made[0].code_of == wide.name);
  CHECK(made[0].kind == "x4 in 128x1");
  CHECK(made[0].grid == wide.grid);
  CHECK(made[0].appended == wide.appended);
  CHECK(made[0].extent == std::array<std::uint32_t, 3>{128, 1, 0});
  CHECK(made[0].needs.extent_multiple == std::array<std::uint32_t, 3>{384, 1, 1});
  CHECK(made[0].needs.max_extent == std::array<std::uint32_t, 3>{1000, 0x7fffffff, ~0u});
  CHECK(in_other_blocks({wide, wide}, {shape, shape}, 3).size() == 3);
  // The shape is that of the version's blocks, of which the kernel's are several.
  wide.kind = "wide-x16y2-neighbours";
  wide.block = {16, 2, 1};
  const Sibling several = in_other_blocks({wide}, {shape}, 1).at(0);
  CHECK(several.extent == std::array<std::uint32_t, 3>{2048, 2, 0});
  CHECK(several.needs.extent_multiple == std::array<std::uint32_t, 3>{6144, 2, 1});
  // A block has 1,024 threads at most, but for the points along x.
  const Sibling large = reshaped({*module, only(*module)}, {512, 2, 0});
  CHECK(in_other_blocks({wide}, {large}, 1).at(0).extent ==
        std::array<std::uint32_t, 3>{512, 2, 0});
  wide.kind = "neighbours";
  CHECK(in_other_blocks({wide}, {shape}, 1).at(0).extent ==
        std::array<std::uint32_t, 3>{128, 1, 0});
}

TEST_CASE("versions in blocks of several rows") {
  Sibling tall;
  tall.name = "k__ptxasw_wide_x4_once";
  tall.kind = "wide-once";
  tall.block = {4, 1, 1};
  tall.tall = true;
  tall.needs.extent_multiple = {96, 1, 1};
  tall.needs.max_extent = {1000, ~0u, ~0u};
  Sibling others[] = {tall, tall, tall};
  others[0].tall = false;
  others[1].block[0] = 1; // without points along x, its blocks are the kernel's there
  others[2].extent[0] = 64;
  const auto made = in_tall_blocks({others[0], tall, others[1], others[2]});
  REQUIRE(made.size() == 2);
  CHECK(made[0].name == "k__ptxasw_wide_x4_once_in_32x4");
  CHECK(made[0].kind == "wide-once in 32x4");
  CHECK(made[0].code_of == tall.name);
  CHECK(made[0].rows == 4);
  CHECK(made[0].extent == std::array<std::uint32_t, 3>{128, 1, 0});
  CHECK(made[0].needs.extent_multiple == std::array<std::uint32_t, 3>{384, 1, 1});
  CHECK(made[0].needs.max_extent == std::array<std::uint32_t, 3>{1000, 0x7fffffff, ~0u});
  CHECK(made[1].rows == 8);
  CHECK(made[1].extent == std::array<std::uint32_t, 3>{64, 1, 0});
}

TEST_CASE("verify compares versions in blocks of other shapes with the kernel") {
  using Extent = std::array<std::uint32_t, 3>;
  struct Verdicts {
    unsigned agree = 0, differ = 0;
  };
  const auto verdicts = [](const std::string &text, const std::vector<Extent> &extents) {
    Verdicts result;
    const auto module = parsed(text);
    const KernelContext context(*module, only(*module));
    SiblingOptions options;
    options.wanted["retile"] = {"x2", "y2"};
    const auto written = parsed(add_siblings(*module, options).text);
    std::vector<Sibling> versions, shapes;
    for (const SiblingTable &table : sibling_tables(*written))
      versions = table.siblings;
    REQUIRE(versions.size() == 2);
    for (const Extent &extent : extents)
      shapes.push_back(reshaped(context, extent));
    std::vector<Sibling> all = in_other_blocks(versions, shapes, 100);
    all.insert(all.end(), shapes.begin(), shapes.end());
    for (const Sibling &one : all) {
      VerifyOptions how;
      how.kernel = "k";
      how.stand_in = one;
      how.runs = 8;
      how.search = 40;
      how.small = true;
      const KernelVerdict verdict = verify(*written, *written, how).at(0);
      const bool differs = verdict.kind == KernelVerdict::Kind::differ;
      result.differ += differs;
      // So small a search need not find a launch for each line.
      result.agree += !differs && verdict.agreed >= how.runs &&
                      10 * verdict.not_exercised.size() <= verdict.changed;
    }
    return result;
  };
  const Verdicts right = verdicts(transpose, {{8, 4, 0}, {32, 2, 0}, {1, 16, 0}, {64, 0, 0}});
  CHECK(right.agree == 12);
  // Each thread adds its place in the block.
  const std::string places =
      replaced(transpose, "\tst.global", "\tadd.s32 %r11, %r11, %r4;\n\tst.global");
  const Verdicts wrong = verdicts(places, {{8, 4, 0}, {32, 2, 0}, {64, 0, 0}});
  CHECK(wrong.differ == 9);
}

TEST_CASE("a version of points is the same in blocks that the kernel could not have") {
  // Bytes, and how many threads there are; those beyond 110 * n do nothing.
  const auto module = parsed(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)
{
	.reg .pred %p;
	.reg .b16 %h<4>;
	.reg .b32 %r<8>;
	.reg .b64 %d<8>;
	ld.param.u64 %d1, [in];
	ld.param.u64 %d2, [out];
	ld.param.u32 %r1, [n];
	mul.lo.s32 %r1, %r1, 110;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.s32 %r5, %r2, %r3, %r4;
	mov.u32 %r6, %nctaid.x;
	mul.lo.s32 %r7, %r6, %r3;
	setp.ge.s32 %p, %r5, %r1;
	@%p bra done;
	cvta.to.global.u64 %d3, %d1;
	cvt.s64.s32 %d4, %r5;
	add.s64 %d5, %d3, %d4;
	ld.global.u8 %h1, [%d5];
	shr.u32 %r7, %r7, 8;
	cvt.u16.u32 %h2, %r7;
	add.s16 %h3, %h1, %h2;
	cvta.to.global.u64 %d6, %d2;
	add.s64 %d7, %d6, %d4;
	st.global.u8 [%d7], %h3;
done:
	ret;
}
)");
  SiblingOptions options;
  options.wanted["retile"] = {"wide-x16"};
  const auto written = parsed(add_siblings(*module, options).text);
  REQUIRE(written->functions.size() == 2);
  const Function &kernel = written->functions[0], &version = written->functions[1];
  constexpr std::uint32_t threads = 12288, points = 16;
  auto before = result_of(*written, kernel, {threads / 256, 1, 1}, {256, 1, 1}, 3);
  REQUIRE(before);
  // The kernel's blocks would have 2,048 and more threads.
  for (const std::uint32_t block : {16u, 128u, 256u, 768u}) {
    CAPTURE(block);
    auto after = result_of(*written, version, {threads / points / block, 1, 1}, {block, 1, 1}, 3);
    REQUIRE(after);
    CHECK_FALSE(compare(*before, *after).differs);
  }
  auto fewer = result_of(*written, version, {threads / points / 256 - 1, 1, 1}, {256, 1, 1}, 3);
  REQUIRE(fewer);
  CHECK(compare(*before, *fewer).differs);
}

} // namespace reshape_test
