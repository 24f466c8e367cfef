// Read-only loads: what is found, how it is written, and that the proof refuses whatever one
// changes in the text unless it changes nothing.

#include "emulator/facts/origins.h"
#include "synth/cache/cache.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include "emulator/machine/warp_verify.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <regex>
#include <sstream>

namespace cache_test {

using namespace ptxasw::test;

namespace {

/// A kernel with the pointers `%pa`, `%pb`, `%po`, each at the thread's own element.
std::string kernel_with(const std::string &body, const std::string &version = "7.8",
                        const std::string &target = "sm_80") {
  return fmt::format(".version {}\n.target {}\n.address_size 64\n"
                     ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)\n{{\n"
                     "\t.reg .b64 %pa, %pb, %po, %e, %d<4>;\n\t.reg .b32 %i, %x, %y, %r<4>;\n"
                     "\t.reg .pred %p;\n"
                     "\tld.param.u64 %pa, [a];\n\tld.param.u64 %pb, [b];\n"
                     "\tld.param.u64 %po, [out];\n"
                     "\tmov.u32 %r1, %ctaid.x;\n\tmov.u32 %r2, %ntid.x;\n\tmov.u32 %r3, %tid.x;\n"
                     "\tmad.lo.u32 %i, %r1, %r2, %r3;\n\tmul.wide.u32 %e, %i, 4;\n"
                     "\tadd.s64 %pa, %pa, %e;\n\tadd.s64 %pb, %pb, %e;\n\tadd.s64 %po, %po, %e;\n"
                     "{}\tret;\n}}\n",
                     version, target, body);
}

const std::string plain = kernel_with("\tld.global.u32 %x, [%pa];\n\tld.global.u32 %y, [%pb];\n"
                                      "\tadd.u32 %x, %x, %y;\n\tst.global.u32 [%po], %x;\n");

/// Without a store.
const std::string silent = kernel_with("\tld.global.u32 %x, [%pa];\n");

SiblingResult with(const std::string &text, const std::vector<std::string> &variants) {
  SiblingOptions options;
  options.defaults = false;
  options.wanted["cache"] = variants;
  return add_siblings(*parsed(text), options);
}

/// By variant, whether it is proposed.
bool proposes(const std::string &text, std::string_view variant) {
  const auto module = parsed(text);
  const FamilyAnswer answer = propose(*find_family("cache"), {*module, module->functions[0]});
  return std::any_of(answer.proposals.begin(), answer.proposals.end(),
                     [&](const Proposal &proposal) { return proposal.variant == variant; });
}

Proposal proposal_of(std::string_view variant, bool promised) {
  Proposal proposal;
  proposal.family = proposal.sibling.family = "cache";
  proposal.variant = proposal.sibling.kind = variant;
  proposal.sibling.name = "k__ptxasw_cache_x";
  if (promised)
    proposal.promise = arrays_apart;
  return proposal;
}

/// What the proof says of a kernel and its body with changes, as a sibling.
std::string proof(const std::string &text, const std::string &changed, bool promised) {
  std::string body = changed.substr(changed.find(".visible"));
  body.replace(body.find(" k("), 2, " k__ptxasw_cache_x");
  const auto written = parse(text + "\n" + body, "test.ptx");
  return written ? fault_of(prove_cache({**written, (*written)->functions[0]},
                                        (*written)->functions[1], proposal_of("x", promised)))
                 : format(written.error());
}

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

} // namespace

TEST_CASE("variants need what they say") {
  CHECK(proposes(plain, "nc-apart"));
  CHECK_FALSE(proposes(plain, "nc")); // two arrays may be one
  CHECK(proposes(silent, "nc"));
  CHECK_FALSE(proposes(kernel_with("\tld.global.L1::evict_last.u32 %x, [%pa];\n"), "nc"));
}

TEST_CASE("old versions and targets have no read-only path") {
  const std::string body = "\tld.global.u32 %x, [%pa];\n";
  CHECK(proposes(kernel_with(body, "7.0", "sm_35"), "nc"));
  CHECK_FALSE(proposes(kernel_with(body, "7.0", "sm_30"), "nc"));
}

TEST_CASE("a promise is given by name only") {
  SiblingOptions options;
  options.defaults = false;
  options.names = {"k__ptxasw_cache_nc_apart", "k__ptxasw_cache_nc"};
  CHECK(add_siblings(*parsed(plain), options).kernels[0].written.empty());
  const SiblingResult named = add_siblings(*parsed(silent), options);
  REQUIRE(named.kernels[0].written.size() == 1);
  CHECK(named.kernels[0].written[0].variant == "nc");
  const SiblingResult asked = with(plain, {"nc-apart"});
  REQUIRE(asked.kernels[0].written.size() == 1);
  CHECK(asked.kernels[0].written[0].promise == arrays_apart);
  CHECK(asked.text.find("ld.global.nc.u32 %y, [%pb]") != std::string::npos);
  CHECK_FALSE(with(plain, {}).changed); // nothing by default
}

TEST_CASE("in place, too, but nobody has promised anything there") {
  const auto rests_on_promise = parsed(plain);
  const KernelContext promised(*rests_on_promise, rests_on_promise->functions[0]);
  CHECK(cache_family.propose(promised).proposals.size() == 1);
  CHECK(propose(cache_family, promised, Place::in_place).proposals.empty());
  CHECK_FALSE(cache_family.in_place(promised, "nc"));
  const auto module = parsed(silent);
  const auto text = cache_family.in_place({*module, module->functions[0]}, "nc");
  REQUIRE(text);
  const auto after = parsed(*text);
  CHECK(prove_requalified(*module, module->functions[0], *after, after->functions[0]).has_value());
  const auto elsewhere = parsed(replaced(*text, "sm_80", "sm_90"));
  CHECK(fault_of(prove_requalified(*module, module->functions[0], *elsewhere,
                                   elsewhere->functions[0])) ==
        "something beside the kernel changed");
}

TEST_CASE("origins of addresses") {
  const auto apart = [](const std::string &made) {
    return proof(kernel_with(made + "\tld.global.u32 %x, [%pa];\n\tst.global.u32 [%d1], %x;\n"),
                 kernel_with(made + "\tld.global.nc.u32 %x, [%pa];\n\tst.global.u32 [%d1], %x;\n"),
                 true)
        .empty();
  };
  CHECK(apart("\tmov.b64 %d1, %po;\n"));
  CHECK(apart("\tcvta.to.global.u64 %d1, %po;\n"));
  CHECK(apart("\tadd.s64 %d1, %e, %po;\n"));
  CHECK(apart("\tmad.wide.u32 %d1, %x, 4, %po;\n"));
  CHECK(apart("\tselp.b64 %d1, %po, %pb, %p;\n"));
  CHECK(apart("\tmul.lo.s64 %d2, %pb, 3;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK(apart("\tcvt.u64.u32 %d2, %x;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tmov.b64 %d1, %pa;\n"));
  CHECK_FALSE(apart("\tselp.b64 %d1, %po, %pa, %p;\n"));
  CHECK_FALSE(apart("\tmov.b64 %d1, %po;\n\t@%p mov.b64 %d1, %pa;\n"));
  CHECK_FALSE(apart("\tsub.s64 %d1, %pa, %pb;\n\tadd.s64 %d1, %d1, %po;\n"));
  CHECK_FALSE(apart("\tld.global.u64 %d1, [%pb];\n"));
  CHECK_FALSE(apart("\tld.global.u64 %d2, [%pb];\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tmov.b64 {%r1, %r2}, %pa;\n\tmov.b64 %d1, {%r1, %r2};\n"));
  CHECK_FALSE(apart("\txor.b64 %d1, %pa, %po;\n"));
  CHECK_FALSE(apart("\tand.b64 %d1, %pa, -16;\n"));
  CHECK_FALSE(apart("\tmov.u64 %d1, 4096;\n"));
  CHECK_FALSE(apart(""));
  CHECK_FALSE(apart("\tatom.global.exch.b64 %d1, [%po], %e;\n"));
  CHECK_FALSE(apart("\tmul.lo.s64 %d1, %po, 1;\n"));
  // What is made of the array's own pointer may come back to it.
  CHECK_FALSE(apart("\tmul.lo.s64 %d2, %pa, 3;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tshr.u64 %d2, %pa, 4;\n\tshl.b64 %d2, %d2, 4;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tshl.b64 %d2, %pa, 1;\n\tshr.u64 %d2, %d2, 1;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tdiv.u64 %d2, %pa, 1;\n\tadd.s64 %d1, %d2, %po;\n"));
  CHECK_FALSE(apart("\tsub.s64 %d2, %pa, %po;\n\tshr.s64 %d3, %d2, 2;\n\tshl.b64 %d3, %d3, 2;\n"
                    "\tadd.s64 %d1, %d3, %po;\n"));
  CHECK_FALSE(apart("\tsub.s64 %d2, %pa, %po;\n\tdiv.s64 %d3, %d2, 4;\n"
                    "\tmad.lo.s64 %d1, %d3, 4, %po;\n"));
  CHECK_FALSE(apart("\tsub.s64 %d2, %pa, %po;\n\tst.global.u64 [%pb], %d2;\n"
                    "\tld.global.u64 %d3, [%pb];\n\tadd.s64 %d1, %d3, %po;\n"));
  CHECK_FALSE(apart("\tsub.s64 %d2, %pa, %po;\n\tshr.s64 %d3, %d2, 2;\n"
                    "\tst.global.u64 [%pb], %d3;\n\tld.global.u64 %d3, [%pb];\n"
                    "\tshl.b64 %d3, %d3, 2;\n\tadd.s64 %d1, %d3, %po;\n"));
  CHECK_FALSE(apart("\tabs.f64 %d2, %pa;\n\tsub.s64 %d3, %d2, %po;\n\tadd.s64 %d1, %d3, %po;\n"));
  CHECK_FALSE(
      apart("\tcvt.u32.u64 %r1, %pa;\n\tcvt.u64.u32 %d2, %r1;\n\tadd.s64 %d1, %d2, %po;\n"));
}

TEST_CASE("a load that is not proved stays, and the others are changed") {
  // What the text does not show of an address, its expression may: a pointer shifted by nothing.
  const std::string odd = kernel_with("\tld.global.u32 %x, [%pa];\n\tshr.u64 %d1, %pb, 0;\n"
                                      "\tld.global.u32 %y, [%d1];\n\tadd.u32 %x, %x, %y;\n"
                                      "\tst.global.u32 [%po], %x;\n");
  const SiblingResult result = with(odd, {"nc-apart"});
  CHECK(result.kernels[0].unproved.empty());
  REQUIRE(result.kernels[0].written.size() == 1);
  const std::string version = result.text.substr(odd.size());
  CHECK(version.find("ld.global.nc.u32 %x, [%pa]") != std::string::npos);
  CHECK(version.find("ld.global.u32 %y, [%d1]") != std::string::npos);
  const std::vector<Refusal> &refusals = result.kernels[0].refusals;
  CHECK(std::any_of(refusals.begin(), refusals.end(),
                    [](const Refusal &one) { return one.reason == "unknown-address"; }));
}

TEST_CASE("a pointer that counts several times is no array's beginning") {
  const auto with_address = [](const std::string &made) {
    return proposes(kernel_with(made + "\tld.global.u32 %x, [%d1];\n\tst.global.u32 [%po], %x;\n"),
                    "nc-apart");
  };
  CHECK(with_address("\tmov.b64 %d1, %pa;\n"));
  CHECK(with_address("\tmul.wide.u32 %d2, %y, 3;\n\tadd.s64 %d1, %d2, %pa;\n"));
  CHECK_FALSE(with_address("\tsub.s64 %d2, %pb, %po;\n\tshl.b64 %d3, %d2, 1;\n"
                           "\tadd.s64 %d1, %d3, %pa;\n"));
  CHECK(with_address("\tshl.b64 %d2, %pb, 1;\n\tsub.s64 %d1, %d2, %pb;\n")); // once, after all
}

TEST_CASE("the proof wants the promise") {
  const std::string changed = replaced(plain, "ld.global.u32 %x", "ld.global.nc.u32 %x");
  CHECK(proof(plain, plain, false).empty());
  CHECK(proof(plain, changed, true).empty());
  CHECK_FALSE(proof(plain, changed, false).empty());
  Proposal other = proposal_of("x", true);
  other.sibling.grid[0] = 2;
  const auto module = parsed(plain);
  CHECK(fault_of(prove_cache({*module, module->functions[0]}, module->functions[0], other)) ==
        "the table does not say what is proved");
}

namespace {

std::vector<std::string> mutants_of(const std::string &line) {
  static const std::pair<const char *, const char *> changes[] = {
      {"ld\\.global", "ld.volatile.global"},
      {"ld\\.global\\S*\\.u32", "ld.global.nc.s32"},
      {"ld\\.global\\S*\\.u32", "ld.global.u16"},
      {"ld\\.global\\S*\\.u32", "ld.global.nc.u32"},
      {"ld\\.global\\S*\\.u32", "ld.global.L1::evict_last.u32"},
      {"ld\\.global\\S*\\.u32", "ld.global.L1::evict_first.u32"},
      {"ld\\.global\\S*\\.u32", "ld.global.cv.u32"},
      {"ld\\.global\\S*\\.u32", "ld.global.ca.u32"},
      {"ld\\.global\\S*\\.u32", "ld.shared.u32"},
      {"ld\\.global\\S*\\.u32", "ld.u32"},
      {"ld\\.global\\S*\\.u32", "ld.global.L2::256B.u32"},
      {"ld\\.global\\S*\\.u32", "ld.const.u32"},
      {"ld\\.global\\S*\\.u32", "st.global.u32"},
      {"st\\.global", "st.volatile.global"},
      {"st\\.global", "st.global.L1::no_allocate"},
      {"st\\.global", "st.shared"},
      {"%pa\\]", "%pb]"},
      {"%pa\\]", "%pa+4]"},
      {"%pb\\]", "%po]"},
      {"%po\\]", "%pa]"},
      {"%x,", "%y,"},
      {"%y,", "%x,"},
      {", %y", ", %x"},
      {"add", "sub"},
      {"mad", "mul"},
      {"wide", "lo"},
      {"\\[a\\]", "[b]"},
      {"\\[out\\]", "[a]"},
      {"ctaid", "tid"},
      {"u32", "s32"},
      {"b64", "b32"},
      {", 4;", ", 8;"},
      {"ret", "exit"},
      {"^\t", "\t@%p "},
      {"^\t", "\t@!%p "},
      {";$", "; // more"}};
  std::vector<std::string> result{"", line + "\n" + line};
  for (const auto &[from, to] : changes)
    if (std::string changed = std::regex_replace(line, std::regex(from), to); changed != line)
      result.push_back(std::move(changed));
  return result;
}

/// One that the proof takes must compute the same, whatever changed.
void try_mutant(const std::string &text, bool promised, MutantCount &count) {
  if (!next_in_sample())
    return;
  ++count.tried;
  const auto written = parse(text, "mutant.ptx");
  if (!written || (*written)->functions.size() != 2) {
    ++count.no_ptx;
    return;
  }
  const Proposal proposal = proposal_of("x", promised);
  if (!prove_cache({**written, (*written)->functions[0]}, (*written)->functions[1], proposal)
           .has_value()) {
    ++count.refused;
    return;
  }
  ++count.harmless;
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = proposal.sibling;
  how.no_alias = promised;
  how.runs = 6;
  how.search = 0;
  how.schedules = 1;
  how.small = true;
  const KernelVerdict verdict = verify(**written, **written, how).at(0);
  INFO(text);
  INFO(verdict.counter_example);
  CHECK(verdict.kind == KernelVerdict::Kind::agree);
}

} // namespace

TEST_CASE("mutants of what is written are refused or harmless") {
  MutantCount count;
  const std::string in_place =
      kernel_with("\tld.global.u32 %x, [%pa];\n\tld.global.u32 %y, [%pb];\n"
                  "\tadd.u32 %x, %x, %y;\n\tst.global.u32 [%pa], %x;\n");
  for (const std::string &text : {plain, in_place})
    for (const bool promised : {false, true}) {
      std::string body = text.substr(text.find(".visible"));
      body.replace(body.find(" k("), 2, " k__ptxasw_cache_x");
      body = replaced(body, "ld.global.u32 %y", "ld.global.nc.u32 %y");
      std::vector<std::string> lines;
      std::istringstream stream(body);
      for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
      const auto all = [&](std::size_t changed, const std::string &by, std::size_t without) {
        std::string result = text + "\n";
        for (std::size_t i = 0; i < lines.size(); ++i)
          if (i != without)
            result += (i == changed ? by : lines[i]) + "\n";
        return result;
      };
      for (std::size_t i = 2; i + 1 < lines.size(); ++i) {
        for (const std::string &mutant : mutants_of(lines[i]))
          try_mutant(all(i, mutant, lines.size()), promised, count);
        try_mutant(all(i, lines[i + 1] + "\n" + lines[i], i + 1), promised, count);
      }
    }
  MESSAGE(count.tried << " tried, " << count.refused << " refused, " << count.no_ptx << " no PTX, "
                      << count.harmless << " harmless");
  CHECK(more_than(count.refused, 400));
  CHECK((count.harmless > 0 ||
         mutant_stride() > 1)); // little may be changed of what is only a qualifier
}

} // namespace cache_test
