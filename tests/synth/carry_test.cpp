// Carried loads: what is found, how it is written, and that the proof refuses whatever one changes
// in the text unless it changes nothing.

#include "emulator/facts/loop_guess.h"
#include "synth/promote/sites.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>

namespace carry_test {

using namespace ptxasw::test;
using namespace promote;

namespace {

std::unique_ptr<Module> trap(const std::string &name) {
  return parsed(hazard(std::filesystem::path(TRAPS_DIR "/carry") / (name + ".ptx")));
}

/// The first loop of the last function with its loads carried in place.
std::string carried(const Module &module) {
  const auto sites = promotion_sites({module, only(module)}, Wanted::carried);
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

TEST_CASE("what the round before has read is carried, and a loop is done once") {
  const auto module = trap("chain");
  const auto sites = promotion_sites({*module, only(*module)}, Wanted::carried);
  REQUIRE(sites.sites.size() == 1);
  CHECK(sites.sites[0].loads.size() == 2);
  CHECK(promotion_sites({*module, only(*module)}).sites.empty()); // none of them stays where it is
  const std::string text = carried(*module);
  CHECK(proof(*module, text).empty());
  CHECK(carried(*module) == text); // the same input gives the same text
  const auto after = parsed(text);
  CHECK(promotion_sites({*after, only(*after)}, Wanted::carried).sites.empty());
  CHECK(promotion_sites({*after, only(*after)}).sites.empty());
}

TEST_CASE("a value of the round before is not one of this round") {
  const auto module = trap("source-first");
  const std::string text = carried(*module);
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    const auto at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    return proof(*module, changed);
  };
  // The load itself, where the loop goes on without it, may always stand.
  CHECK(fault("mov.b32 %x, %carry0_b32_1;", "ld.global.u32 %x, [%u];").empty());
  CHECK_FALSE(fault("mov.b32 %x, %carry0_b32_1;", "mov.b32 %x, %carry0_b32_0;").empty());
  CHECK_FALSE(fault("mov.b32 %x, %carry0_b32_1;", "").empty());
  CHECK_FALSE(fault("mov.b32 %carry0_b32_1, %carry0_b32_0;", "").empty());
  // The first round reads for itself.
  CHECK_FALSE(fault("ld.global.u32 %x, [%u];", "mov.b32 %x, %carry0_b32_1;").empty());
}

TEST_CASE("bytes that a load may leave undefined are not carried") {
  const std::string text = twin(std::filesystem::path(TRAPS_DIR "/carry") / "source-in-part.ptx");
  const std::string version = carried(*parsed(text));
  const auto with = [&](const std::string &of, std::string_view load) {
    return with_line(of, load, "\t.pragma \"used_bytes_mask 0x3\";", true);
  };
  const auto fault = [&](std::string_view load) {
    return proof(*parsed(with(text, load)), with(version, load));
  };
  CHECK(proof(*parsed(text), version).empty());
  CHECK_FALSE(fault("ld.global.u32 %y, [%u+4];").empty()); // what the next round takes
  CHECK(fault("ld.global.u32 %x, [%u];").empty());         // the one that takes it
}

TEST_CASE("the proof refuses to carry what may decide the end") {
  const std::string text = twin(std::filesystem::path(TRAPS_DIR "/carry") / "polls.ptx");
  const std::string version = carried(*parsed(text));
  const auto with = [](const std::string &of) {
    return with_line(of, "setp.eq.u32 %q0, %x, 77;", "\t@%q0 bra $end;");
  };
  CHECK(proof(*parsed(text), version).empty());
  CHECK_FALSE(proof(*parsed(with(text)), with(version)).empty());
}

namespace {

const LineChanges line_changes{"carry0_",
                               {{"@%", "@!%"},
                                {"@!%", "@%"},
                                {"@!?%[a-z0-9_]+ ", ""},
                                {"_0\\b", "_1"},
                                {"_1\\b", "_0"},
                                {"_1\\b", "_2"},
                                {"_2\\b", "_1"},
                                {"_2\\b", "_3"},
                                {"_3\\b", "_2"},
                                {"add\\.", "sub."},
                                {"sub\\.", "add."},
                                {"setp\\.ge", "setp.le"},
                                {"setp\\.le", "setp.ge"},
                                {"setp\\.eq", "setp.ne"},
                                {"setp\\.eq", "setp.ge"},
                                {"and\\.pred", "or.pred"},
                                {"or\\.pred", "and.pred"},
                                {"max", "min"},
                                {"min", "max"},
                                {", 4;", ", 3;"},
                                {", -4;", ", -3;"},
                                {", 4;", ", 5;"},
                                {", 8;", ", 4;"},
                                {", 1;", ", 2;"},
                                {", 0;", ", 1;"},
                                {", 0;", ", 4;"},
                                {"268435456", "4294967296"},
                                {"2147483647", "2147483648"},
                                {"2147483646", "2147483647"},
                                {"-1;", "0;"},
                                {"mul\\.lo", "add"},
                                {"cvt\\.s64\\.s32", "cvt.u64.u32"},
                                {"%u", "%v"},
                                {"%v", "%u"},
                                {"%pa", "%po"},
                                {"bra \\$carry0_b", "bra $carry0_again; // "},
                                {"bra\\.uni \\$carry0_again", "bra.uni $carry0_back"}},
                               8,
                               [](const Module &module, const Module &after) {
                                 return prove_promoted(module, only(module), after, only(after));
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"source-first", "in-place", "guarded-store", "at-the-source", "index",
                           "between", "guessed-in-vain", "overlap-other-step"}) {
    CAPTURE(name);
    const auto module = trap(name);
    try_mutants(*module, carried(*module), line_changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 400));
}

TEST_CASE("a guess follows what was computed before the loop") {
  const auto module = parsed(R"(.version 7.8
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
	.reg .b64 %d<8>;
	.reg .b32 %r<8>;
	.reg .pred %p;
	ld.param.u64 %d0, [a];
	ld.param.u32 %r0, [n];
	shl.b32 %r1, %r0, 2;
	mul.lo.s32 %r2, %r0, 4;
	mul.wide.s32 %d1, %r0, 4;
	add.s64 %d2, %d0, %d1;
	not.b32 %r3, %r0;
	not.b32 %r4, %r0;
	mov.u32 %r5, 0;
$loop:
	add.s32 %r5, %r5, 1;
	setp.lt.s32 %p, %r5, %r0;
	@%p bra $loop;
	ret;
}
)");
  const Function &kernel = only(*module);
  const ControlFlowGraph cfg(*module, kernel);
  REQUIRE(cfg.loops().size() == 1);
  const facts::Guess guess(*module, kernel, cfg, 0);
  facts::Atoms atoms;
  const auto reg = [&](const std::string &name) {
    for (RegisterId i = 0; i < kernel.registers.size(); ++i)
      if (kernel.registers[i].name == name)
        return bit_width(kernel.registers[i].type) == 64 ? atoms.word(i) : atoms.narrow(i);
    return facts::Polynomial();
  };
  CHECK(guess.is_zero(reg("%r1") - reg("%r2"), atoms));
  CHECK(guess.is_zero(reg("%d2") - reg("%d0") - reg("%r1"), atoms));
  CHECK(guess.is_zero(reg("%r3") - reg("%r4"), atoms)); // one instruction, equal operands
  CHECK_FALSE(guess.is_zero(reg("%r3") - reg("%r0"), atoms));
  CHECK_FALSE(guess.is_zero(reg("%d2") - reg("%d0"), atoms));
}

} // namespace carry_test
