// Kernels whose addresses rest on one value for a warp (soundness.md, "One value for several
// lanes"), and what becomes of them when the value is one no more: they are left alone, or what is
// written computes the same on every launch that has no race.

#include "emulator/machine/warp_verify.h"
#include "synth/rewrite.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>

namespace one_value_test {

using namespace ptxasw::test;

namespace {

struct Mutant {
  const char *golden; ///< in tests/synth/golden, rewritten as it is
  const char *line;   ///< one that has this in it
  const char *instead;
  bool refused; ///< or harmless
};

constexpr const char *list = "ld.global.u32 %r13, [%rd10];";
constexpr const char *broadcast = "shfl.sync.idx.b32 %r13|%p1, %r3, 7, 31, -1;";
constexpr const char *vote = "vote.sync.ballot.b32 %r12, %p1, -1;";

const Mutant mutants[] = {
    // Another source for each lane, for each group, or one that no mask is known to name.
    {"index-by-broadcast", broadcast, "shfl.sync.idx.b32 %r13, %r3, %r3, 31, -1;", true},
    {"index-by-broadcast", broadcast, "shfl.sync.idx.b32 %r13, %r3, 7, 0x101f, -1;", true},
    {"index-by-broadcast", broadcast, "shfl.sync.idx.b32 %r13, %r3, 7, 3, -1;", true},
    {"index-by-broadcast", broadcast, "shfl.sync.bfly.b32 %r13, %r3, 7, 31, -1;", true},
    {"index-by-broadcast", broadcast, "shfl.sync.down.b32 %r13, %r3, 7, 31, -1;", true},
    {"index-by-broadcast", broadcast, "shfl.sync.idx.b32 %r13, %r3, 7, 31, %r2;", true},
    {"index-by-broadcast", broadcast,
     "mov.u32 %r13, 0; setp.lt.u32 %p2, %r3, 5; @%p2 bra A; "
     "shfl.sync.idx.b32 %r13, %r3, 7, 31, 0xffffffe0; A:",
     true},
    {"index-by-broadcast", broadcast,
     "mov.u32 %r13, 0; setp.lt.u32 %p2, %r3, %r2; @%p2 shfl.sync.idx.b32 %r13, %r3, 0, 31, -1;",
     true},
    {"index-by-broadcast", broadcast, "shfl.sync.idx.b32 %r13, %r3, %r2, 31, -1;", false},
    {"index-by-broadcast", broadcast, "redux.sync.add.s32 %r13, %r3, -1;", false},
    {"index-by-vote", vote, "vote.sync.ballot.b32 %r12, %p1, %r2;", false},
    {"index-by-vote", vote, "activemask.b32 %r12;", true},
    {"index-by-vote", vote, "match.any.sync.b32 %r12, %r3, -1;", true},
    {"index-by-vote", vote,
     "and.b32 %r11, %r3, 16; shl.b32 %r12, 0xffff, %r11; "
     "vote.sync.ballot.b32 %r12, %p1, %r12;",
     true},
    {"index-by-vote", vote, "vote.sync.any.pred %p2, %p1, -1; selp.b32 %r12, 5, 9, %p2;", false},
    {"index-by-vote", vote, "selp.b32 %r12, 5, 9, %p1;", true},
    // Stores, and what may order those of others.
    {"index-from-a-list", list, "st.global.u32 [%rd10], %r3; ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "st.global.u32 [%rd9+64], %r3; ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "st.global.u32 [%rd2], %r3; ld.global.u32 %r13, [%rd10];", false},
    {"index-from-a-list", list, "membar.gl; ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "bar.warp.sync -1; ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "red.global.add.u32 [%rd2], 1; ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "bar.sync 0; ld.global.u32 %r13, [%rd10];", false},
    {"index-from-a-list", list,
     "setp.lt.u32 %p2, %r3, 5; @%p2 bra A; bar.sync 1, 32; A: ld.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "ld.volatile.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "ld.relaxed.gpu.global.u32 %r13, [%rd10];", true},
    {"index-from-a-list", list, "atom.global.add.u32 %r13, [%rd10], 0;", true},
    // The end of a loop that may wait for the word, and rounds that lanes leave by themselves.
    {"index-from-a-list", list,
     "A: ld.global.u32 %r13, [%rd10]; setp.eq.u32 %p2, %r13, 77; @%p2 bra A;", true},
    {"index-from-a-list", list,
     "and.b32 %r11, %r3, 3; A: ld.global.u32 %r13, [%rd10]; add.s64 %rd10, %rd10, 4; "
     "add.s32 %r11, %r11, -1; setp.ge.s32 %p2, %r11, 0; @%p2 bra A;",
     true},
    {"index-from-a-list", list,
     "and.b32 %r11, %r2, 3; A: ld.global.u32 %r13, [%rd10]; add.s64 %rd10, %rd10, 4; "
     "add.s32 %r11, %r11, -1; setp.ge.s32 %p2, %r11, 0; @%p2 bra A;",
     false},
    // A word for each half of a warp.
    {"index-from-a-list-by-warp", "shr.u32 %r12, %r6, 5;", "shr.u32 %r12, %r6, 4;", true},
    {"index-from-a-list-by-warp", "shr.u32 %r12, %r6, 5;", "shr.u32 %r12, %r6, 6;", false},
    {"index-from-a-list-by-warp", "shr.u32 %r12, %r6, 5;",
     "add.u32 %r12, %r6, 1; shr.u32 %r12, %r12, 5;", true},
    {"index-from-a-list-by-warp", ".reqntid 256, 1, 1", ".reqntid 16, 16, 1", false},
    {"index-from-a-list-by-warp", ".reqntid 256, 1, 1", ".reqntid 48, 1, 1", true},
    {"index-from-a-list-by-warp", ".reqntid 256, 1, 1", ".maxntid 256, 1, 1", true},
};

std::string golden(std::string_view name) {
  const std::string text = file_text(std::filesystem::path(SOURCE_DIR "/tests/synth/golden") /
                                     (std::string(name) + ".ptx"));
  return text.substr(text.find(".version"));
}

} // namespace

TEST_CASE("mutants of kernels whose addresses rest on one value are refused or harmless") {
  unsigned refused = 0, agreed = 0, unchecked = 0;
  RewriteOptions always;
  always.shuffle = ShuffleMode::always;
  for (const Mutant &mutant : mutants) {
    CAPTURE(std::string(mutant.instead));
    std::string text = golden(mutant.golden);
    REQUIRE(rewrite_module(text, "k.ptx", always)->text.find("shfl.sync.down") !=
            std::string::npos);
    const std::size_t at = text.find(mutant.line);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string_view(mutant.line).size(), mutant.instead);
    const auto module = parsed(text);
    const auto result = rewrite_module(text, "k.ptx", always);
    REQUIRE(result);
    CHECK(result->changed == !mutant.refused);
    if (!result->changed) {
      ++refused;
      continue;
    }
    VerifyOptions how;
    how.runs = 8;
    how.small = true;
    const KernelVerdict verdict = verify(*module, *parsed(result->text), how)[0];
    CHECK_MESSAGE(verdict.kind != KernelVerdict::Kind::differ, verdict.counter_example);
    ++(verdict.agreed > 0 ? agreed : unchecked);
  }
  MESSAGE("refused ", refused, ", harmless ", agreed, ", without a launch that is usable ",
          unchecked);
}

} // namespace one_value_test
