// Loads ahead: what is found, how it is written, and that the proof refuses whatever one changes in
// the text unless it changes nothing.

#include "synth/family.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>

namespace ahead_test {

using namespace ptxasw::test;

namespace {

std::unique_ptr<Module> trap(const std::string &name) {
  return parsed(hazard(std::filesystem::path(TRAPS_DIR "/ahead") / (name + ".ptx")));
}

std::string ahead_by(const Module &module, unsigned iterations) {
  const auto text = ahead_family.in_place({module, only(module)}, fmt::format("k{}", iterations));
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text) {
  const auto after = parsed(text);
  return fault_of(ahead_family.prove_in_place(module, only(module), *after, only(*after)));
}

/// The proof of a text with its first `from` replaced.
std::string fault(const Module &module, std::string text, const std::string &from,
                  const std::string &to) {
  const auto at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
  return proof(module, text);
}

} // namespace

TEST_CASE("loads come ahead by any number of iterations") {
  const auto module = trap("two-ends");
  for (const unsigned iterations : {2U, 3U, 4U, 8U, 16U})
    CHECK(proof(*module, ahead_by(*module, iterations)).empty());
  CHECK(ahead_by(*module, 4) == ahead_by(*module, 4));
  CHECK(proof(*module, std::string(module->text())).empty());
}

TEST_CASE("no load is done that may not be") {
  const auto module = trap("two-ends");
  const std::string text = ahead_by(*module, 2);
  // Without the test there may be no second iteration.
  CHECK_FALSE(fault(*module, text, "@!%ahead0_pred_1 bra $ahead0_rest0;", "").empty());
  CHECK_FALSE(fault(*module, text, "@%ahead0_pred_2 bra $ahead0_rest0;", "").empty());
  // The first one runs, up to its first end, which is tested, too.
  CHECK_FALSE(fault(*module, text, "@%ahead0_pred_0 bra $ahead0_rest0;", "").empty());
}

TEST_CASE("values go where they belong") {
  const auto module = trap("used-before");
  const std::string text = ahead_by(*module, 2);
  CHECK_FALSE(fault(*module, text, "mov.b32 %x, %ahead0_b32_3;", "").empty());
  CHECK_FALSE(
      fault(*module, text, "mov.b32 %x, %ahead0_b32_2;", "mov.b32 %x, %ahead0_b32_3;").empty());
  CHECK_FALSE(fault(*module, text, "ld.global.u32 %ahead0_b32_3, [%ahead0_b64_0];", "").empty());
  // Nor is anything loaded twice.
  CHECK_FALSE(
      fault(*module, text, "mov.b32 %x, %ahead0_b32_2;", "ld.global.u32 %x, [%u];").empty());
}

TEST_CASE("a loop that counts is not left by another way") {
  const auto module = trap("counts-down");
  const std::string text = ahead_by(*module, 2);
  // The rest is the loop as it was, and may do all.
  CHECK(fault(*module, text, "bra.uni $loop;", "bra.uni $ahead0_rest0;").empty());
  CHECK_FALSE(fault(*module, text, "bra.uni $loop;", "bra.uni $end;").empty());
  CHECK_FALSE(fault(*module, text, "@!%p bra $end;", "").empty());
}

TEST_CASE("no load passes a store that may write what it reads") {
  const auto module = trap("store-ahead-by-one");
  const std::string text = ahead_by(*module, 2);
  const std::string distance = "sub.s64 %ahead0_b64_4, %ahead0_b64_0, %ahead0_b64_1;";
  REQUIRE(text.find(distance) != std::string::npos);
  // Neither another test will do, nor the other way, nor a narrower one, nor none.
  CHECK_FALSE(fault(*module, text, "@%ahead0_pred_2 bra $ahead0_rest0;", "").empty());
  CHECK_FALSE(fault(*module, text, "@%ahead0_pred_2 bra", "@!%ahead0_pred_2 bra").empty());
  CHECK_FALSE(fault(*module, text, distance, "sub.s64 %ahead0_b64_4, %ahead0_b64_1, %ahead0_b64_0;")
                  .empty());
  for (const char *other : {"_b64_4, 2;", "_b64_4, 4;", "_b64_4, 0;", "_b64_4, -3;"})
    CHECK_FALSE(fault(*module, text, "_b64_4, 3;", other).empty());
  for (const char *other : {"_b64_5, 6;", "_b64_5, 4;", "_b64_5, 8;", "_b64_5, 1;"})
    CHECK_FALSE(fault(*module, text, "_b64_5, 7;", other).empty());
  CHECK_FALSE(fault(*module, text, "setp.lt.u64", "setp.lt.s64").empty());
  CHECK_FALSE(fault(*module, text, "setp.lt.u64", "setp.le.u64").empty());
}

TEST_CASE("a load that is done early is done once, from its place") {
  const auto module = trap("store-ahead-by-one");
  const std::string text = ahead_by(*module, 2);
  // The kernel has no such load, or another one, or needs its value.
  const std::string second = "ld.global.u32 %ahead0_b32_3, [%ahead0_b64_0];";
  REQUIRE(text.find(second) != std::string::npos);
  CHECK_FALSE(fault(*module, text, second, second + "\n" + second).empty());
  CHECK_FALSE(fault(*module, text, second, "").empty());
  CHECK_FALSE(
      fault(*module, text, second, "ld.global.u32 %ahead0_b32_3, [%ahead0_b64_0+4];").empty());
  CHECK_FALSE(
      fault(*module, text, second, "ld.global.nc.u32 %ahead0_b32_3, [%ahead0_b64_0];").empty());
  CHECK_FALSE(fault(*module, text, second, "ld.volatile.global.u32 %ahead0_b32_3, [%ahead0_b64_0];")
                  .empty());
  CHECK_FALSE(fault(*module, text, second, "@%p " + second).empty());
  CHECK_FALSE(fault(*module, text, "mov.b32 %x, %ahead0_b32_3;", "").empty());
  // What orders loads is not passed.
  for (const char *between : {"membar.gl;", "bar.sync 0;", "red.global.add.u32 [%po+120], 1;"})
    CHECK_FALSE(fault(*module, text, second, second + "\n" + between).empty());
}

TEST_CASE("nothing is tested of what nobody writes, and few stores are") {
  const auto read_only = trap("store-beside-read-only");
  const std::string text = ahead_by(*read_only, 4);
  CHECK(text.find("sub.s64 %ahead0") == std::string::npos);
  CHECK(proof(*read_only, text).empty());
  const auto module = trap("store-ahead-by-one");
  CHECK(ahead_family.in_place({*module, only(*module)}, "k8"));
  CHECK_FALSE(ahead_family.in_place({*module, only(*module)}, "k16")); // 120 tests
}

namespace {

const LineChanges line_changes{"ahead0_",
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
                                {"setp\\.lt", "setp.le"},
                                {"setp\\.lt", "setp.gt"},
                                {"setp\\.ge", "setp.gt"},
                                {"setp\\.ne", "setp.eq"},
                                {"setp\\.ne", "setp.gt"},
                                {"and\\.pred", "or.pred"},
                                {"sub\\.s64", "add.s64"},
                                {"\\.u64", ".s64"},
                                {", 3;", ", 2;"},
                                {", 7;", ", 6;"},
                                {", 7;", ", 8;"},
                                {", 4;", ", 8;"},
                                {", 1;", ", 2;"},
                                {"\\]", "+4]"},
                                {"ld\\.global", "ld.global.nc"},
                                {"ld\\.global\\.u32", "mov.u32"},
                                {"%u", "%v"},
                                {"%pa", "%po"},
                                {"%n", "%j"},
                                {"%j", "%n"},
                                {"%x, ", "%y, "},
                                {"bra \\$ahead0_rest0", "bra $loop; // "},
                                {"bra \\$ahead0_rest0", "bra $end; // "},
                                {"\\$ahead0_rest0;", "$end;"}},
                               4,
                               [](const Module &module, const Module &after) {
                                 return ahead_family.prove_in_place(module, only(module), after,
                                                                    only(after));
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"two-ends", "chased", "predicate-kept", "test-at-the-head",
                           "store-ahead-by-one", "store-between"}) {
    CAPTURE(name);
    const auto module = trap(name);
    try_mutants(*module, ahead_by(*module, 2), line_changes, count);
  }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 300));
  CHECK(more_than(count.harmless, 10));
}

} // namespace ahead_test
