// Melded branches: what is found, how it is written, and that the proof refuses whatever one
// changes in the text unless it changes nothing.

#include "synth/meld/sites.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>

namespace meld_test {

using namespace ptxasw::test;
using namespace meld;

namespace {

/// The first branch of the last function, melded in place.
std::string melded(const Module &module, Cutoff cutoff = Cutoff::all) {
  const auto sites = meld_sites({module, only(module)}, cutoff);
  REQUIRE_FALSE(sites.sites.empty());
  const auto text = write_melded({module, only(module)}, sites.sites[0]);
  REQUIRE(text);
  return *text;
}

/// A kernel with two arms; `head` comes before the branch by %p, `tail` where they meet.
std::string kernel(const std::string &when, const std::string &otherwise,
                   const std::string &head = "", const std::string &tail = "") {
  return ".version 7.8\n.target sm_70\n.address_size 64\n"
         ".visible .entry k(.param .u64 a, .param .u64 out)\n{\n"
         "\t.reg .b64 %a, %o, %d<8>;\n\t.reg .b32 %t, %r<20>;\n\t.reg .pred %p, %q<4>;\n"
         "\tld.param.u64 %a, [a];\n\tld.param.u64 %o, [out];\n\tmov.u32 %t, %tid.x;\n"
         "\tmul.wide.u32 %d0, %t, 16;\n\tadd.s64 %a, %a, %d0;\n\tadd.s64 %o, %o, %d0;\n"
         "\tsetp.lt.u32 %p, %t, 7;\n" +
         head + "\t@%p bra $when;\n" + otherwise + "\tbra $end;\n$when:\n" + when + "$end:\n" +
         tail + "\tret;\n}\n";
}

const std::string add_one = "\tld.global.u32 %r1, [%a];\n\tadd.s32 %r2, %r1, 1;\n"
                            "\tst.global.u32 [%o], %r2;\n";
const std::string add_two = "\tld.global.u32 %r3, [%a];\n\tadd.s32 %r4, %r3, 2;\n"
                            "\tst.global.u32 [%o], %r4;\n";

} // namespace

TEST_CASE("what differs is chosen, what is the same is not") {
  const auto module = parsed(kernel(add_one, add_two));
  const auto sites = meld_sites({*module, only(*module)}, Cutoff::all);
  REQUIRE(sites.sites.size() == 1);
  CHECK(sites.sites[0].line == 16);
  CHECK(sites.sites[0].gain == 12);
  const std::string text = melded(*module);
  const auto after = parsed(text);
  CHECK(meld_family.prove_in_place(*module, only(*module), *after, only(*after)).has_value());
  const auto count = [&](std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
      ++found;
    return found;
  };
  CHECK(count("ld.global") == 1);
  CHECK(count("st.global") == 1);
  CHECK(count("bra") == 0);
  // Outside of the arms no byte changes.
  CHECK(text.starts_with(module->text().substr(0, only(*module).body.begin + 1)));
  CHECK(text.ends_with("$end:\n\tret;\n}\n"));
}

TEST_CASE("nothing is melded where nothing is gained") {
  for (const std::string &otherwise : {std::string("\txor.b32 %r5, %r5, 1;\n"), std::string()}) {
    const auto module = parsed(kernel(add_one, otherwise));
    CHECK(meld_sites({*module, only(*module)}, Cutoff::all).sites.empty());
    CHECK(propose(*find_family("meld"), {*module, only(*module)}).proposals.empty());
  }
}

TEST_CASE("of several branches each can be melded alone") {
  std::string text = kernel(add_one, add_two);
  const std::string second =
      "\t@%p bra $w2;\n" + add_two + "\tbra $e2;\n$w2:\n" + add_one + "$e2:\n\tret;\n}\n";
  text.replace(text.rfind("\tret;"), std::string::npos, second);
  const auto module = parsed(text);
  const auto sites = meld_sites({*module, only(*module)}, Cutoff::all);
  REQUIRE(sites.sites.size() == 2);
  for (const Site &site : sites.sites) {
    const auto one = write_melded({*module, only(*module)}, site);
    REQUIRE(one);
    const auto after = parsed(*one);
    CHECK(meld_family.prove_in_place(*module, only(*module), *after, only(*after)).has_value());
    CHECK(meld_sites({*after, only(*after)}, Cutoff::all).sites.size() == 1);
  }
}

TEST_CASE("the same input gives the same text") {
  const auto module = parsed(kernel(add_one, add_two)), again = parsed(kernel(add_one, add_two));
  CHECK(melded(*module) == melded(*again));
}

TEST_CASE("the proof knows variables apart that have one name") {
  const auto with = [](const std::string &first, const std::string &second) {
    return parsed(kernel(add_one, add_two, "",
                         "\t{\n\t.local .b32 v;\n\tst.local.b32 [v], %r2;\n" + first +
                             "\t}\n\t{\n" + "\t.local .b32 v;\n" + second +
                             "\tst.global.b32 [%o], %r5;\n\t}\n"));
  };
  const std::string load = "\tld.local.b32 %r5, [v];\n";
  const auto one = with(load, ""), other = with("", load);
  CHECK(meld_family.prove_in_place(*one, only(*one), *one, only(*one)).has_value());
  CHECK_FALSE(meld_family.prove_in_place(*one, only(*one), *other, only(*other)).has_value());
}

TEST_CASE("what one arm says of a load's bytes does not become the other's") {
  const auto arm = [](const std::string &name, const std::string &pragma, int second) {
    return "\tmov.u32 %r9, 0;\n" + name + ":\n" + pragma +
           fmt::format("\tld.global.v2.u32 {{%r1, %r2}}, [%a];\n\tadd.u32 %r9, %r9, %r1;\n"
                       "\tadd.u32 %r9, %r9, %r{};\n\tst.global.u32 [%o], %r9;\n"
                       "\tsetp.lt.u32 %q1, %r9, 100;\n\t@%q1 bra {};\n",
                       second, name);
  };
  const std::string half = "\t.pragma \"used_bytes_mask 0xf\";\n";
  const auto module = parsed(kernel(arm("$a1", half, 1), arm("$b1", "", 2)));
  const std::string text = melded(*module);
  const std::size_t load = text.find("\tld.global.v2.u32");
  CHECK(text.find("ld.global", load + 4) == std::string::npos);
  CHECK(text.find("used_bytes_mask") == std::string::npos);
  const auto after = parsed(text);
  CHECK(meld_family.prove_in_place(*module, only(*module), *after, only(*after)).has_value());
  const auto wrong = parsed(std::string(text).insert(load, half));
  CHECK_FALSE(meld_family.prove_in_place(*module, only(*module), *wrong, only(*wrong)).has_value());
  CHECK(meld_family.prove_in_place(*module, only(*module), *module, only(*module)).has_value());
}

TEST_CASE("the proof refuses what lanes must agree on or are asked for") {
  const auto same = [](const std::string &tail) {
    const auto module = parsed(kernel(add_one, add_two, "", tail));
    return fault_of(meld_family.prove_in_place(*module, only(*module), *module, only(*module)));
  };
  CHECK(same("\t@%p bra $out;\n$out:\n").empty());
  CHECK_FALSE(same("\t@%p bra.uni $out;\n$out:\n").empty());
  CHECK(same("\tbra.uni $out;\n$out:\n").empty());
  CHECK_FALSE(same("\tactivemask.b32 %r5;\n").empty());
  CHECK_FALSE(same("\tvote.ballot.b32 %r5, %p;\n").empty());
  CHECK(same("\tvote.sync.ballot.b32 %r5, %p, -1;\n").empty());
  // Two loads with lanes of their own became one with lanes of both.
  const std::string uniform = "\tldu.global.u32 %r1, [%a];\n",
                    plain = "\tst.global.u32 [%o], %r1;\n";
  const auto apart = parsed(kernel(uniform + plain, uniform + plain));
  const auto together = parsed(std::string(apart->text())
                                   .replace(apart->text().find("\t@%p bra $when;"),
                                            std::string::npos, uniform + plain + "\tret;\n}\n"));
  CHECK_FALSE(
      meld_family.prove_in_place(*apart, only(*apart), *together, only(*together)).has_value());
}

TEST_CASE("the proof wants all else to be as it was") {
  const auto module = parsed(kernel(add_one, add_two));
  const std::string text = melded(*module);
  const auto fault = [&](const std::string &from, const std::string &to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto after = parsed(changed);
    return fault_of(meld_family.prove_in_place(*module, only(*module), *after, only(*after)));
  };
  CHECK(fault("sm_70", "sm_75") == "something beside the kernel changed");
  CHECK_FALSE(fault("{\n", "{\n\t.shared .b32 own;\n").empty());
  CHECK_FALSE(fault("{\n", "{\n\t.pragma \"nounroll\";\n").empty());
  CHECK(fault("\tret;", "\n\tret;").empty());
  // A version beside the kernel promises of what its parameters point at what the kernel does.
  const auto beside = [&](const std::string &from, const std::string &to) {
    std::string other = text.substr(text.find(".visible"));
    other.replace(other.find("k("), 1, "other");
    other.replace(other.find(from), from.size(), to);
    const auto both = parsed(std::string(module->text()) + other);
    return fault_of(meld_family.prove_in_place(*both, both->functions[both->functions.size() - 2],
                                               *both, only(*both)));
  };
  CHECK(beside("", "").empty());
  CHECK_FALSE(beside(".u64 a", ".u64 .ptr .global .align 16 a").empty());
}

namespace {

const LineChanges line_changes{"meld0_",
                               {{"@%", "@!%"},
                                {"@!%", "@%"},
                                {"@!?%[a-z0-9_]+ ", ""},
                                {"_0\\b", "_1"},
                                {"_1\\b", "_0"},
                                {"_2\\b", "_1"},
                                {"_3\\b", "_2"},
                                {"%r([0-9])", "%r1$1"},
                                {"add\\.", "sub."},
                                {"setp\\.gt", "setp.ge"},
                                {"setp\\.lt", "setp.le"},
                                {"\\+4\\]", "+8]"},
                                {", 1;", ", 2;"},
                                {", 0, ", ", 4, "},
                                {"ld\\.global", "ld.volatile.global"},
                                {"%pa", "%po"},
                                {"%po", "%pa"},
                                {"selp\\.(b\\d+) ([^,]*), ([^,]*), ([^,]*)", "selp.$1 $2, $4, $3"}},
                               4,
                               [](const Module &module, const Module &after) {
                                 return meld_family.prove_in_place(module, only(module), after,
                                                                   only(after));
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"swapped", "predicate-overwritten", "guarded", "offsets", "widths",
                           "inner-branch", "loop-rounds", "loop-crossed", "vectors"}) {
    CAPTURE(name);
    const auto module =
        parsed(hazard(std::filesystem::path(TRAPS_DIR "/meld") / (std::string(name) + ".ptx")));
    try_mutants(*module, melded(*module), line_changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 200));
}

} // namespace meld_test
