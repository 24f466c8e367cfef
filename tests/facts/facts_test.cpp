// What the facts say about small kernels, one access or branch per line.
//
// In every kernel p (%rd1) and q (%rd2) point to global memory, n (%r9) is a number, %r1 is tid.x,
// %r2 is tid.y, %r3 is the index of the thread in the grid (along x), and %r8 is a number that each
// thread has read itself. An access is reported as
//   kind space bytes: sectors LEAST..MOST (TYPICAL) of IDEAL verdict, lines .., stride ..
// or, of shared memory, by wavefronts, and a branch by what parts lanes at it.

#include "emulator/facts/kernel_facts.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <set>

using namespace ptxasw::test;
using namespace ptxasw::facts;

namespace {

struct Case {
  const char *name;
  const char *body;
  const char *facts;
  std::optional<BlockShape> block = BlockShape{256, 1, 1};
  unsigned base_alignment = 256;
};

std::string describe(const Count &count) {
  std::string text = count.least == count.most ? fmt::format("{}", count.most)
                                               : fmt::format("{}..{}", count.least, count.most);
  if (count.typical != count.most)
    text += fmt::format(" ({})", count.typical);
  return text;
}

std::string describe(const KernelFacts &facts, const Access &access) {
  const Traffic &traffic = facts.traffic(access);
  std::string text = fmt::format("{} {} {}: ", to_string(access.site.kind), to_string(access.space),
                                 access.site.bytes);
  if (access.space == StateSpace::shared)
    text += fmt::format("wavefronts {} of {} {}", describe(traffic.wavefronts),
                        traffic.ideal_wavefronts, to_string(traffic.wavefronts.verdict));
  else
    text += fmt::format("sectors {} of {} {}, lines {}", describe(traffic.sectors),
                        traffic.ideal_sectors, to_string(traffic.sectors.verdict),
                        describe(traffic.lines));
  if (const auto stride = facts.lane_stride(access))
    text += fmt::format(", stride {}", *stride);
  if (traffic.lanes != 32)
    text += fmt::format(", {} lanes", traffic.lanes);
  if (traffic.clash)
    text += fmt::format(", lanes {} and {} in bank {}", traffic.clash->lanes[0],
                        traffic.clash->lanes[1], traffic.clash->bank);
  return text + '\n';
}

std::string describe(const Branch &branch) {
  std::string text = fmt::format("branch {}", to_string(branch.parting));
  if (branch.parting == Parting::by_lane)
    text +=
        fmt::format(", lanes {} and {} of warp {}", branch.lanes[0], branch.lanes[1], branch.warp);
  return text + (branch.leaves == no_index ? "\n" : ", leaves a loop\n");
}

std::string facts_of(const Case &c) {
  std::string text = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n) {
.reg .b64 %rd<32>; .reg .b32 %r<32>; .reg .pred %p<8>;
.shared .align 16 .b8 tile[4096]; .local .b8 stack[64];
ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;
mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mad.lo.s32 %r3, %r4, %r5, %r1;
mul.wide.u32 %rd31, %r1, 4; add.s64 %rd31, %rd2, %rd31; ld.global.u32 %r8, [%rd31];
)";
  text += c.body;
  text += "\nret;\n}\n";
  const auto module = parse(text, c.name);
  REQUIRE_MESSAGE(module, c.name);
  const KernelFacts facts(**module, (*module)->functions[0],
                          {.block = c.block, .base_alignment = c.base_alignment});
  REQUIRE(facts.complete());
  std::string result;
  for (const Access &access : facts.accesses())
    if (access.site.space != StateSpace::param && access.number != 3)
      result += describe(facts, access);
  for (const Branch &branch : facts.branches())
    result += describe(branch);
  return result;
}

/// Trims the blank lines and indentation of a raw string.
std::string lines_of(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty())
      result += std::string(line) + '\n';
  }
  return result;
}

const Case cases[] = {
    {"neighbours", R"(
       mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];
       ld.global.f32 %r10, [%rd3+4]; ld.global.f32 %r10, [%rd3+128];)",
     R"(
       load global 4: sectors 4 of 4 exact, lines 1, stride 4
       load global 4: sectors 5 of 4 exact, lines 2, stride 4
       load global 4: sectors 4 of 4 exact, lines 1, stride 4)"},
    {"a beginning nobody knows", R"(
       mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 4..5 (4) of 4 bound, lines 1..2 (1), stride 4)",
     BlockShape{256, 1, 1}, 1},
    {"a shape nobody knows", R"(
       mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];
       mul.wide.s32 %rd3, %r2, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 4 of 4 exact, lines 1, stride 4
       load global 4: sectors 1 of 1 exact, lines 1, stride 0)",
     std::nullopt},
    {"strides", R"(
       mul.wide.s32 %rd3, %r3, 8; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];
       mul.wide.s32 %rd3, %r3, 32; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];
       ld.global.v4.f32 {%r10, %r11, %r12, %r13}, [%rd3];
       ld.global.u8 %r10, [%rd3];)",
     R"(
       load global 4: sectors 8 of 4 exact, lines 2, stride 8
       load global 4: sectors 32 of 4 exact, lines 8, stride 32
       load global 16: sectors 32 of 16 exact, lines 8, stride 32
       load global 1: sectors 32 of 1 exact, lines 8, stride 32)"},
    {"a stride that is a parameter", R"(
       mul.lo.s32 %r10, %r1, %r9; mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1;
       st.global.f32 [%rd3], %r10;)",
     R"(
       store global 4: sectors 1..32 of 4 bound, lines 1..32)"},
    {"rows of 16", R"(
       mad.lo.s32 %r10, %r2, %r9, %r1; mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1;
       ld.global.f32 %r10, [%rd3];
       mad.lo.s32 %r10, %r2, 32, %r1; mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1;
       ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 2..6 (4) of 4 bound, lines 1..4 (2), stride 4
       load global 4: sectors 4 of 4 exact, lines 2, stride 4)",
     BlockShape{16, 16, 1}},
    {"what each lane has read", R"(
       mul.wide.s32 %rd3, %r8, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 1..32 of 4 unknown, lines 1..32)"},
    {"what one word says, what lanes vote, and what one lane has", R"(
       mul.wide.u32 %rd3, %r4, 4; add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r10, [%rd3];
       add.s32 %r10, %r10, %r1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r11, [%rd3];
       setp.lt.s32 %p1, %r8, 9; vote.sync.ballot.b32 %r10, %p1, -1; popc.b32 %r10, %r10;
       mad.lo.s32 %r10, %r10, 32, %r1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r11, [%rd3];
       shfl.sync.idx.b32 %r10, %r8, 0, 31, -1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r11, [%rd3];
       shfl.sync.idx.b32 %r10, %r8, %r1, 31, -1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r11, [%rd3];)",
     R"(
       load global 4: sectors 1 of 1 exact, lines 1, stride 0
       load global 4: sectors 4..5 (4) of 4 bound, lines 1..2 (1), stride 4
       load global 4: sectors 4 of 4 exact, lines 1, stride 4
       load global 4: sectors 1 of 1 exact, lines 1, stride 0
       load global 4: sectors 1..32 of 4 unknown, lines 1..32)"},
    {"a row for each warp", R"(
       shr.u32 %r10, %r3, 5; and.b32 %r11, %r3, 31;
       mul.wide.u32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r12, [%rd3];
       add.s32 %r12, %r12, %r11;
       mul.wide.s32 %rd3, %r12, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];)",
     R"(
       load global 4: sectors 1 of 1 exact, lines 1, stride 0
       load global 4: sectors 4..5 (4) of 4 bound, lines 1..2 (1), stride 4)"},
    {"a row for each warp, by a signed index that may be negative", R"(
       shr.s32 %r10, %r3, 31; shr.u32 %r10, %r10, 27; add.s32 %r10, %r3, %r10;
       shr.s32 %r10, %r10, 5;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r12, [%rd3];)",
     R"(
       load global 4: sectors 1..32 of 4 unknown, lines 1..32)"},
    {"bits of the lane", R"(
       xor.b32 %r10, %r3, 1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       and.b32 %r10, %r3, 15; shr.u32 %r11, %r3, 4; mad.lo.s32 %r10, %r11, 64, %r10;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       add.s32 %r10, %r3, 5; and.b32 %r10, %r10, 31; and.b32 %r11, %r3, -32; add.s32 %r10, %r10, %r11;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       shr.s32 %r10, %r3, 1; xor.b32 %r10, %r10, %r3;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       mul.wide.s32 %rd3, %r3, 4; xor.b64 %rd3, %rd3, 12; add.s64 %rd3, %rd3, %rd1;
       ld.global.f32 %r13, [%rd3];)",
     R"(
       load global 4: sectors 4 of 4 exact, lines 1
       load global 4: sectors 4 of 4 bound, lines 2
       load global 4: sectors 4 of 4 exact, lines 1
       load global 4: sectors 4 of 4 exact, lines 1
       load global 4: sectors 4 of 4 exact, lines 1)"},
    {"bits of the lane where rows are whole warps of unknown number", R"(
       xor.b32 %r10, %r3, 1;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       and.b32 %r10, %r3, 15; shr.u32 %r11, %r3, 4; mad.lo.s32 %r10, %r11, 64, %r10;
       mul.wide.s32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r13, [%rd3];
       shr.u32 %r10, %r3, 5;
       mul.wide.u32 %rd3, %r10, 4; add.s64 %rd3, %rd3, %rd2; ld.global.u32 %r12, [%rd3];)",
     R"(
       load global 4: sectors 4 of 4 exact, lines 1
       load global 4: sectors 4 of 4 bound, lines 2
       load global 4: sectors 1 of 1 exact, lines 1, stride 0)",
     std::nullopt},
    {"lanes that a branch leaves out", R"(
       mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1;
       setp.lt.s32 %p1, %r1, 8; @%p1 bra A; ret;
       A: ld.global.f32 %r10, [%rd3];
       setp.eq.s32 %p2, %r1, 0; @%p2 ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 1 of 1 exact, lines 1, stride 4, 8 lanes
       load global 4: sectors 1 of 1 exact, lines 1, stride 4, 1 lanes
       branch by-lane, lanes 0 and 8 of warp 0)"},
    {"branches", R"(
       setp.lt.s32 %p1, %r3, %r9; @!%p1 bra E;
       setp.lt.s32 %p1, %r4, %r9; @%p1 bra A; A:
       and.b32 %r10, %r1, 31; setp.ne.s32 %p1, %r10, 0; @%p1 bra B; B:
       shr.u32 %r10, %r1, 5; setp.ne.s32 %p1, %r10, 0; @%p1 bra C; C:
       rem.s32 %r10, %r1, %r9; setp.ne.s32 %p1, %r10, 0; @%p1 bra D; D:
       setp.ne.s32 %p1, %r8, %r1; @%p1 bra E; E:)",
     R"(
       branch at-edge
       branch never
       branch by-lane, lanes 0 and 1 of warp 0
       branch never
       branch by-launch
       branch by-data)"},
    {"a loop", R"(
       mov.u32 %r10, 0; mul.wide.s32 %rd3, %r3, 4; add.s64 %rd3, %rd3, %rd1;
       L: ld.global.f32 %r11, [%rd3]; add.s64 %rd3, %rd3, 1024;
       add.s32 %r10, %r10, 1; setp.lt.s32 %p1, %r10, %r9; @%p1 bra L;)",
     R"(
       load global 4: sectors 4 of 4 exact, lines 1, stride 4
       branch never, leaves a loop)"},
    {"a loop that lanes leave one by one, and one that strides over the grid", R"(
       mov.u32 %r10, 0;
       L: add.s32 %r10, %r10, 1; setp.lt.s32 %p1, %r10, %r1; @%p1 bra L;
       M: add.s32 %r3, %r3, 8192; setp.lt.s32 %p1, %r3, %r9; @%p1 bra M;)",
     R"(
       branch by-launch, leaves a loop
       branch at-edge, leaves a loop)"},
    {"banks", R"(
       mov.u32 %r10, tile; shl.b32 %r11, %r1, 2; add.s32 %r12, %r10, %r11;
       ld.shared.f32 %r13, [%r12]; ld.shared.f32 %r13, [tile+8];
       shl.b32 %r11, %r1, 3; add.s32 %r12, %r10, %r11; ld.shared.f32 %r13, [%r12];
       shl.b32 %r11, %r1, 7; add.s32 %r12, %r10, %r11; st.shared.f32 [%r12+4], %r13;
       mad.lo.s32 %r12, %r1, 132, %r10; ld.shared.f32 %r13, [%r12];
       ld.shared.u8 %r13, [%r12];)",
     R"(
       load shared 4: wavefronts 1 of 1 exact, stride 4
       load shared 4: wavefronts 1 of 1 exact, stride 0
       load shared 4: wavefronts 2 of 1 exact, stride 8, lanes 0 and 16 in bank 0
       store shared 4: wavefronts 32 of 1 exact, stride 128, lanes 0 and 1 in bank 1
       load shared 4: wavefronts 1 of 1 exact, stride 132
       load shared 1: wavefronts 1 of 1 exact, stride 132)"},
    {"wide accesses of shared memory, in pieces", R"(
       mov.u32 %r10, tile; shl.b32 %r11, %r1, 3; and.b32 %r11, %r11, 2047; add.s32 %r12, %r10, %r11;
       ld.shared.f64 %rd3, [%r12]; st.shared.f64 [%r12], %rd3; ld.shared.f64 %rd3, [tile];
       st.shared.f64 [tile], %rd3;
       shl.b32 %r11, %r1, 4; add.s32 %r12, %r10, %r11; ld.shared.v4.u32 {%r13, %r14, %r15, %r16}, [%r12];)",
     R"(
       load shared 8: wavefronts 2 of 2 exact, stride 8
       store shared 8: wavefronts 2 of 2 exact, stride 8
       load shared 8: wavefronts 1..2 (1) of 1 bound, stride 0
       store shared 8: wavefronts 2 of 1 exact, stride 0
       load shared 16: wavefronts 4 of 4 exact, stride 16)"},
    {"all lanes but one", R"(
       setp.eq.s32 %p1, %r3, 0; selp.b32 %r10, 0, -1, %p1; add.s32 %r11, %r3, %r10;
       mul.wide.s32 %rd3, %r11, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];
       setp.lt.s32 %p1, %r3, %r9; selp.b32 %r10, 0, -1, %p1; add.s32 %r11, %r3, %r10;
       mul.wide.s32 %rd3, %r11, 4; add.s64 %rd3, %rd3, %rd1; ld.global.f32 %r10, [%rd3];)",
     R"(
       load global 4: sectors 4..6 (5) of 4 bound, lines 1..3 (2)
       load global 4: sectors 1..32 of 4 unknown, lines 1..32)"},
    {"addresses that say where they come from", R"(
       mov.u64 %rd3, tile; cvta.shared.u64 %rd4, %rd3; mul.wide.u32 %rd5, %r1, 4;
       add.s64 %rd4, %rd4, %rd5; ld.f32 %r10, [%rd4]; ld.f32 %r10, [%rd1];)",
     R"(
       load shared 4: wavefronts 1 of 1 exact, stride 4
       load generic 4: sectors 1 of 1 exact, lines 1, stride 0)"},
};

} // namespace

TEST_CASE("what is said of accesses and branches") {
  for (const Case &c : cases) {
    const std::string got = facts_of(c);
    CHECK_MESSAGE(got == lines_of(c.facts), std::string(c.name) << " gives\n" << got);
  }
}

// Row `row` of a matrix with a pitch that nobody knows, in blocks of 16x16: two rows a warp. What
// is certain is the least over pitches of the worst warp's sectors, here counted lane by lane.
TEST_CASE("what some warp touches whatever the pitch") {
  for (const int ahead : {0, 1, 4, 8, 9}) {
    const auto module = parse(fmt::format(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {{
.reg .b64 %rd<8>; .reg .b32 %r<16>;
ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; mov.u32 %r3, %ctaid.y;
mad.lo.s32 %r4, %r3, 16, %r2; mad.lo.s32 %r5, %r4, %r9, %r1;
mul.wide.s32 %rd2, %r5, 4; add.s64 %rd2, %rd2, %rd1;
ld.global.f32 %r6, [%rd2+{}];
ret;
}})",
                                          4 * ahead),
                              "rows");
    REQUIRE(module);
    const KernelFacts facts(**module, (*module)->functions[0],
                            {.block = BlockShape{16, 16, 1}, .base_alignment = 256});
    std::uint32_t least = ~0u;
    for (int pitch = 64; pitch < 128; ++pitch) {
      std::uint32_t worst = 0;
      for (int row = 0; row < 64; row += 2) {
        std::set<int> sectors;
        for (int lane = 0; lane < 32; ++lane)
          sectors.insert((4 * ((row + lane / 16) * pitch + lane % 16 + ahead)) / 32);
        worst = std::max(worst, static_cast<std::uint32_t>(sectors.size()));
      }
      least = std::min(least, worst);
    }
    CHECK_MESSAGE(facts.certain_sectors(facts.accesses().back()) == least, ahead);
  }
}

// Where a branch says that only block 0 comes here, or of block 1 only some lanes, other blocks'
// rows say nothing. Row r begins at byte 48 r: rows 0 and 8 touch 4 sectors, row 1 touches 5.
TEST_CASE("only warps that get to an access count") {
  const std::pair<const char *, std::uint32_t> guards[] = {
      {"setp.ne.s32 %p1, %r9, 0;", 5},  // a number of the launch
      {"setp.ne.s32 %p1, %r3, 0;", 4},  // block 0
      {"setp.eq.s32 %p1, %r3, 0;", 5},  // all but block 0
      {"setp.ge.s32 %p1, %r4, 40;", 4}, // block 0 and lanes 0 to 7 of block 1
      {"setp.ge.s32 %p1, %r4, 64;", 5}, // blocks 0 and 1
  };
  for (const auto &guard : guards) {
    const auto module = parse(R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 n) {
.reg .b64 %rd<8>; .reg .b32 %r<16>; .reg .pred %p<2>;
ld.param.u64 %rd1, [p]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r3, %ctaid.y;
mad.lo.s32 %r4, %r3, 32, %r1;
)" + std::string(guard.first) + R"( @%p1 bra DONE;
mad.lo.s32 %r5, %r3, 12, %r1;
mul.wide.s32 %rd2, %r5, 4; add.s64 %rd2, %rd2, %rd1;
ld.global.f32 %r6, [%rd2];
DONE: ret;
})",
                              "guarded");
    REQUIRE(module);
    const KernelFacts facts(**module, (*module)->functions[0],
                            {.block = BlockShape{32, 1, 1}, .base_alignment = 256});
    CHECK_MESSAGE(facts.certain_sectors(facts.accesses().back()) == guard.second,
                  std::string(guard.first));
  }
}
