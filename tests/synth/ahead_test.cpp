// Loads ahead: what is found, how it is written, and that the proof refuses whatever one changes in
// the text unless it changes nothing.

#include "synth/ahead/ahead.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>
#include <filesystem>

namespace ahead_test {

using namespace ptxasw;

namespace {

std::unique_ptr<Module> trap(const std::string &name) {
  return parsed(hazard(std::filesystem::path(TRAPS_DIR "/ahead") / (name + ".ptx")));
}

std::string ahead_by(const Module &module, unsigned iterations) {
  const auto text = loads_ahead({module, only(module)}, iterations);
  REQUIRE(text);
  return *text;
}

std::string proof(const Module &module, const std::string &text) {
  const auto after = parsed(text);
  return prove_loads_ahead(module, only(module), *after, only(*after));
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
                                 return prove_loads_ahead(module, only(module), after, only(after));
                               }};

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  for (const char *name : {"two-ends", "chased", "predicate-kept", "test-at-the-head"}) {
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
