// Promoted loads: what is found, how it is written, and that the proof refuses whatever one changes
// in the text unless it changes nothing.

#include "synth/promote/sites.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>

namespace promote_test {

using namespace ptxasw::test;
using namespace promote;

namespace {

/// The first loop of the last function, promoted in place.
std::string promoted(const Module &module) {
  const auto sites = promotion_sites({module, only(module)});
  REQUIRE_FALSE(sites.sites.empty());
  const auto text = write_promoted({module, only(module)}, sites.sites[0]);
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text) {
  const auto after = parsed(text);
  return fault_of(prove_promoted(module, only(module), *after, only(*after)));
}

} // namespace

TEST_CASE("the loop is left as it was but for its first round's way back") {
  const auto module = parsed(hazard(std::filesystem::path(TRAPS_DIR "/promote") / "pointer.ptx"));
  const auto sites = promotion_sites({*module, only(*module)});
  REQUIRE(sites.sites.size() == 1);
  CHECK(sites.sites[0].loads.size() == 1);
  CHECK_FALSE(sites.sites[0].conditions.empty());
  const std::string text = promoted(*module);
  CHECK(proof(*module, text).empty());
  CHECK(promoted(*module) == text); // the same input gives the same text
  // Nothing is left to promote, and the test can be taken as true.
  const auto after = parsed(text);
  CHECK(promotion_sites({*after, only(*after)}).sites.empty());
  const std::string apart = promote_family.without_tests(*after);
  CHECK(apart.size() < text.size());
  CHECK(promote_family.without_tests(*module) == module->text());
}

TEST_CASE("the proof wants all else to be as it was") {
  const auto module = parsed(hazard(std::filesystem::path(TRAPS_DIR "/promote") / "pointer.ptx"));
  const std::string text = promoted(*module);
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    return proof(*module, changed);
  };
  CHECK(fault("sm_70", "sm_75") == "something beside the kernel changed");
  CHECK_FALSE(fault("{\n", "{\n\t.shared .b32 own;\n").empty());
  CHECK(fault("\tret;", "\n\tret;").empty());
  // Where the arrays are taken to be apart, nothing is proved.
  CHECK_FALSE(proof(*module, promote_family.without_tests(*parsed(text))).empty());
}

TEST_CASE("two generic addresses may be of one byte of shared memory") {
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
	.reg .b64 %rd<8>;
	.reg .b32 %r<8>;
	.reg .pred %p1;
	.shared .align 4 .b8 allocation[64];
	ld.param.u64 %rd4, [out];
	ld.param.u32 %r4, [n];
	mov.u64 %rd3, allocation;
	cvta.shared.u64 %rd1, %rd3;
	mapa.u64 %rd2, %rd1, 0;
	mov.u32 %r3, 0;
	mov.u32 %r5, 0;
$loop:
	ld.u32 %r2, [%rd1];
	add.s32 %r5, %r5, %r2;
	st.u32 [%rd2], %r5;
	add.s32 %r3, %r3, 1;
	setp.lt.u32 %p1, %r3, %r4;
	@%p1 bra $loop;
	st.u32 [%rd4], %r5;
	ret;
}
)";
  const auto module = parsed(text);
  CHECK(promotion_sites({*module, only(*module)}).sites.empty());
  // Where one of the two is global, the test of addresses says if they meet.
  const auto global = [](std::string ptx) {
    return ptx.replace(ptx.find("st.u32 [%rd2]"), 2, "st.global");
  };
  const auto told = parsed(global(text));
  const std::string written = promoted(*told);
  CHECK(proof(*told, written).empty());
  // The same text without the word, in both rounds.
  std::string generic = written;
  for (std::size_t at = 0; (at = generic.find("st.global")) != std::string::npos;)
    generic.erase(at + 2, 7);
  CHECK_FALSE(proof(*module, generic).empty());
}

TEST_CASE("the proof refuses what may wait, however it came to be written") {
  const auto written = [](const char *name, std::string_view line, std::string_view added) {
    const std::string text =
        twin(std::filesystem::path(TRAPS_DIR "/promote") / (std::string(name) + ".ptx"));
    const auto module = parsed(text);
    CHECK(proof(*module, promoted(*module)).empty());
    return proof(*parsed(with_line(text, line, added)), with_line(promoted(*module), line, added));
  };
  CHECK_FALSE(written("polls", "setp.eq.u32 %q0, %x, 77;", "@%q0 bra $end;").empty());
  CHECK_FALSE(written("polls-by-leaving", "setp.eq.u32 %q0, %r3, 0;", "@%q0 ret;").empty());
  // What nothing of it decides may stand in both.
  CHECK(written("polls", "add.u32 %y, %x, %j;", "add.u32 %z, %z, %x;").empty());
}

namespace {

const LineChanges line_changes{"promote0_",
                               {{"@%", "@!%"},
                                {"@!%", "@%"},
                                {"@!?%[a-z0-9_]+ ", ""},
                                {"_0\\b", "_1"},
                                {"_1\\b", "_0"},
                                {"_2\\b", "_3"},
                                {"_3\\b", "_2"},
                                {"_4\\b", "_3"},
                                {"_5\\b", "_4"},
                                {"add\\.", "sub."},
                                {"sub\\.", "add."},
                                {"setp\\.ge", "setp.le"},
                                {"setp\\.le", "setp.ge"},
                                {"and\\.pred", "or.pred"},
                                {"or\\.pred", "and.pred"},
                                {"max", "min"},
                                {"min", "max"},
                                {", 4;", ", 3;"},
                                {", -4;", ", -3;"},
                                {", 4;", ", 5;"},
                                {", 1;", ", 2;"},
                                {", 2;", ", 1;"},
                                {", 0;", ", 1;"},
                                {", 0;", ", -1;"},
                                {"268435456", "4294967296"},
                                {"2147483647", "2147483648"},
                                {"-1;", "0;"},
                                {"mul\\.lo", "add"},
                                {"div", "mul.lo"},
                                {"cvt\\.s64\\.s32", "cvt.u64.u32"},
                                {"%pa", "%po"},
                                {"%po", "%pa"},
                                {"bra \\$promote0_b", "bra $promote0_again; // "},
                                {"bra\\.uni \\$promote0_again", "bra.uni $promote0_back"}},
                               8,
                               [](const Module &module, const Module &after) {
                                 return prove_promoted(module, only(module), after, only(after));
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"overlap", "store-at-the-place", "until-equal", "own-step"}) {
    CAPTURE(name);
    const auto module =
        parsed(hazard(std::filesystem::path(TRAPS_DIR "/promote") / (std::string(name) + ".ptx")));
    try_mutants(*module, promoted(*module), line_changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 200));
}

} // namespace promote_test
