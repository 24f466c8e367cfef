// How large an index may be in the launches that the table allows: of random sums of products, none
// is then beyond 31 bits for any thread; and the proof wants all that the table says.

#include "synth/coarsen/coarsen.h"
#include "synth/siblings.h"
#include "tests/synth/versions.h"

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <functional>
#include <random>

namespace bounds_test {

using namespace ptxasw::test;

namespace {

/// Numbers of a launch that an index is made of, and the registers that hold them: two arguments
/// and the global indices.
constexpr std::array<const char *, 5> names = {"%n", "%m", "%i", "%j", "%k"};
using Values = std::array<std::int64_t, names.size()>;

struct Product {
  std::int64_t coefficient = 1;
  std::vector<std::size_t> factors;
};

/// b[x0] = a[x0] + a[x0 + 1], for each i of a loop over the grid, x0 being i and the sum.
std::string kernel(const std::vector<Product> &sum, const std::string &extension) {
  std::string lines, last = "%i";
  unsigned next = 0;
  for (const Product &one : sum) { // each register is written once
    std::string product = fmt::format("%at{}", next++);
    lines += fmt::format("\tmov.u32 {}, {};\n", product, one.coefficient);
    for (const std::size_t factor : one.factors) {
      const std::string result = fmt::format("%at{}", next++);
      lines += fmt::format("\tmul.lo.s32 {}, {}, {};\n", result, product, names[factor]);
      product = result;
    }
    const std::string result = fmt::format("%x{}", 10 + next++);
    lines += fmt::format("\tadd.s32 {}, {}, {};\n", result, last, product);
    last = result;
  }
  lines += fmt::format("\tmov.u32 %x0, {};\n", last);
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u32 pn, .param .u32 pm, .param .u32 pe)
{{
	.reg .pred %p, %q;
	.reg .b32 %t<12>, %n, %m, %e, %i, %j, %k, %s, %at<40>;
	.reg .b32 %x<60>;
	.reg .f32 %v, %w;
	.reg .b64 %a, %b, %d<8>;
	ld.param.u64 %a, [pa];
	ld.param.u64 %b, [pb];
	ld.param.u32 %n, [pn];
	ld.param.u32 %m, [pm];
	ld.param.u32 %e, [pe];
	cvta.to.global.u64 %a, %a;
	cvta.to.global.u64 %b, %b;
	mov.u32 %t0, %tid.y;
	mov.u32 %t1, %ctaid.y;
	mov.u32 %t2, %ntid.y;
	mad.lo.s32 %j, %t1, %t2, %t0;
	mov.u32 %t3, %tid.z;
	mov.u32 %t4, %ctaid.z;
	mov.u32 %t5, %ntid.z;
	mad.lo.s32 %k, %t4, %t5, %t3;
	mov.u32 %t6, %tid.x;
	mov.u32 %t7, %ctaid.x;
	mov.u32 %t8, %ntid.x;
	mov.u32 %t9, %nctaid.x;
	mul.lo.s32 %s, %t9, %t8;
	mad.lo.s32 %i, %t7, %t8, %t6;
	setp.ge.s32 %q, %i, %e;
	@%q bra DONE;
LOOP:
{0}	mul.wide.{1} %d0, %x0, 4;
	add.s64 %d1, %a, %d0;
	ld.global.f32 %v, [%d1];
	add.s32 %x1, %x0, 1;
	mul.wide.{1} %d2, %x1, 4;
	add.s64 %d3, %a, %d2;
	ld.global.f32 %w, [%d3];
	add.f32 %v, %v, %w;
	add.s64 %d4, %b, %d0;
	st.global.f32 [%d4], %v;
	add.s32 %i, %i, %s;
	setp.lt.s32 %p, %i, %e;
	@%p bra LOOP;
DONE:
	ret;
}}
)",
                     lines, extension);
}

/// The sum in whole numbers; far below the largest one.
__int128 value_of(const std::vector<Product> &sum, const Values &values) {
  __int128 result = values[2]; // i
  for (const Product &one : sum) {
    __int128 product = one.coefficient;
    for (const std::size_t factor : one.factors)
      product *= values[factor];
    result += product;
  }
  return result;
}

SiblingResult versions(const Module &module, std::vector<std::string> variants) {
  SiblingOptions options;
  options.wanted["retile"] = std::move(variants);
  SiblingResult result = add_siblings(module, options);
  REQUIRE(result.kernels.size() == 1);
  CHECK(result.kernels[0].unproved.empty());
  return result;
}

const Function &function(const Module &module, std::string_view name) {
  return *std::find_if(module.functions.begin(), module.functions.end(),
                       [&](const Function &f) { return f.name == name; });
}

} // namespace

TEST_CASE("where a launch keeps to the bounds no index wraps around") {
  std::mt19937 random(7);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  unsigned bounded = 0, allowed = 0, refused = 0, wraps = 0;
  for (unsigned round = 0; round < 60; ++round) {
    std::vector<Product> sum(1 + below(3));
    for (Product &one : sum) {
      one.coefficient = static_cast<std::int64_t>(below(6)) - (below(4) == 0 ? 3 : 0);
      for (std::size_t factors = below(4); factors > 0; --factors)
        one.factors.push_back(std::array<std::size_t, 4>{0, 1, 3, 4}[below(4)]);
    }
    const auto module = parsed(kernel(sum, below(3) == 0 ? "u32" : "s32"));
    const KernelContext context(*module, only(*module));
    const SiblingResult result =
        versions(*module, {"wide-x4-once", "wide-x2y2-rows-once-r64", "wide-x2z2-rows-once-r64"});
    for (const Proposal &proposal : result.kernels[0].written) {
      CAPTURE(proposal.variant);
      CAPTURE(module->text());
      if (proposal.sibling.needs.bounded.empty())
        continue;
      ++bounded;
      for (unsigned launch = 0; launch < 400; ++launch) {
        // A launch's numbers, some of them just so large that a product is about 2^31.
        const auto size = [&](std::uint64_t most) {
          const std::uint64_t bits = below(33);
          const std::uint64_t value =
              (std::uint64_t{1} << bits) - below(3) + below(2) * below(1000);
          return std::min(std::max<std::uint64_t>(value, 1), most);
        };
        const std::array<std::uint64_t, 3> threads = {(size(1U << 29) + 3) / 4 * 4, size(1U << 24),
                                                      size(1U << 24)};
        const std::array<std::uint64_t, 2> arguments = {size(~0U) - below(2), size(~0U) - below(2)};
        const bool met =
            std::all_of(proposal.sibling.needs.bounded.begin(),
                        proposal.sibling.needs.bounded.end(), [&](const IndexBound &bound) {
                          return is_met(
                              bound, [&](std::uint32_t axis) { return threads[axis] - 1; },
                              [&](const LaunchNumber &one) { return arguments[one.which - 2]; });
                        });
        bool in_range = true;
        for (unsigned corner = 0; corner < 8; ++corner) {
          Values values = {static_cast<std::int64_t>(arguments[0]),
                           static_cast<std::int64_t>(arguments[1])};
          // Of the first thread's points, some are before the first one: it is not in lockstep.
          const unsigned points = proposal.sibling.block[0], shift = wide_shift(context, points);
          for (unsigned axis = 0; axis < 3; ++axis)
            values[2 + axis] = corner >> axis & 1 ? static_cast<std::int64_t>(threads[axis] - 1)
                               : axis == 0 && shift > 0 ? points - shift
                                                        : 0;
          const __int128 index = value_of(sum, values);
          in_range = in_range && index >= 0 && index + 1 < (__int128{1} << 31);
        }
        allowed += met;
        refused += !met && in_range;
        wraps += !in_range;
        CHECK((!met || in_range));
      }
    }
  }
  MESSAGE(bounded, " versions, ", allowed, " launches allowed, ", refused, " needlessly refused, ",
          wraps, " in which an index may wrap around");
  CHECK(bounded > 20);
  CHECK(allowed > 1000);
  CHECK(wraps > 1000);
  CHECK(refused < allowed / 10);
}

// An index that grows by %st in each round of a loop that is none over the grid. Its back edge is
// the other way of a branch to another round of an inner one.
TEST_CASE("a loop goes round though a latch has a branch to another round of an inner one") {
  const std::string load = R"(	mul.wide.s32 %d, %at, 4;
	add.s64 %e, %a, %d;
	ld.global.f32 %v, [%e+4];
	add.s32 %at1, %at, 1;
	mul.wide.s32 %d, %at1, 4;
	add.s64 %f, %a, %d;
	ld.global.f32 %w, [%f];
	add.f32 %v, %v, %w;
	add.f32 %acc, %acc, %v;
)";
  const std::string falls = "\tbra H;\nL:\n\tadd.s32 %i, %g, %s;\n\tsetp.lt.s32 %p, %i, %n;\n"
                            "\t@%p bra L;\nH:\n" +
                            load +
                            "\tadd.s32 %at, %at, %st;\n\tadd.s32 %j, %j, 1;\n"
                            "\tsetp.lt.u32 %q, %j, %m;\n\t@!%q bra X;\n\tadd.s32 %x, %j, 1;\n"
                            "\tbra L;\nX:\n";
  const std::string around = "\tmov.u32 %i, %g;\n\tbra H;\nB:\n\tmov.u32 %i, %g;\n" + load +
                             "\tadd.s32 %at, %at, %st;\nL:\n\tadd.s32 %i, %i, %s;\n"
                             "\tsetp.lt.s32 %p, %i, %n;\n\t@!%p bra H;\n\tbra L;\nX:\n"
                             "\tmul.wide.s32 %d, %g, 4;\n\tadd.s64 %e, %o, %d;\n"
                             "\tst.global.f32 [%e], %acc;\n\tret;\nH:\n"
                             "\tadd.s32 %j, %j, 1;\n\tadd.s32 %x, %x, 1;\n"
                             "\tsetp.lt.u32 %q, %j, %m;\n\t@!%q bra X;\n\tbra B;\n";
  const std::string rotated = "\tmov.u32 %i, %g;\n\tbra H;\nL:\n" + load +
                              "\tadd.s32 %i, %i, %s;\n\tsetp.lt.s32 %p, %i, %n;\n\t@%p bra L;\n"
                              "H:\n\tadd.s32 %j, %j, 1;\n\tsetp.lt.u32 %q, %j, %m;\n"
                              "\t@!%q bra X;\n\tmov.u32 %i, %g;\n\tadd.s32 %at, %at, %st;\n"
                              "\tbra L;\nX:\n";
  for (const std::string &body : {falls, around, rotated}) {
    const auto module = parsed(fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u32 pn, .param .u32 pm, .param .u32 ps)
{{
	.reg .pred %p, %q;
	.reg .b32 %t, %b, %r, %n, %m, %i, %s, %u, %at, %at1, %st, %j, %g, %x;
	.reg .f32 %v, %w, %acc;
	.reg .b64 %a, %o, %d, %e, %f;
	ld.param.u64 %a, [pa];
	ld.param.u64 %o, [pb];
	ld.param.u32 %n, [pn];
	ld.param.u32 %m, [pm];
	ld.param.u32 %st, [ps];
	mov.u32 %t, %tid.x;
	mov.u32 %b, %ctaid.x;
	mov.u32 %r, %ntid.x;
	mad.lo.s32 %g, %b, %r, %t;
	mov.u32 %u, %nctaid.x;
	mul.lo.s32 %s, %u, %r;
	mov.u32 %x, 0;
	mov.u32 %j, 0;
	mov.u32 %at, %g;
	mov.f32 %acc, 0f00000000;
{}	mul.wide.s32 %d, %g, 4;
	add.s64 %e, %o, %d;
	st.global.f32 [%e], %acc;
	ret;
}}
)",
                                           body));
    CAPTURE(module->text());
    CHECK_FALSE(rounds_over_grid({*module, only(*module)}).empty());
    const SiblingResult result = versions(*module, {"wide-x4-once", "wide-x2-once"});
    for (const Proposal &proposal : result.kernels[0].written)
      CHECK(proposal.sibling.needs.bounded.empty());
  }
}

TEST_CASE("what is no sum without a minus is tested as before") {
  // Indices that run backwards, and a square of the row, whose parts have one coefficient.
  const auto backwards = parsed(kernel({{-2, {3}}}, "s32"));
  const SiblingResult tested = versions(*backwards, {"wide-x4-once"});
  REQUIRE(tested.kernels[0].written.size() == 1);
  CHECK(tested.kernels[0].written[0].sibling.needs.bounded.empty());
  CHECK(tested.text.find("%distance") != std::string::npos);
  std::string square = kernel({{1, {3}}}, "s32");
  const std::string row = "\tmad.lo.s32 %j, %t1, %t2, %t0;\n";
  square.replace(square.find(row), row.size(),
                 "\tmul.lo.s32 %x50, %t1, %t2;\n\tmul.lo.s32 %x51, %x50, %x50;\n"
                 "\tmul.lo.s32 %x52, %x50, %t0;\n\tmul.lo.s32 %x53, %t0, %t0;\n"
                 "\tadd.s32 %x54, %x51, %x52;\n\tadd.s32 %j, %x54, %x53;\n");
  CHECK(versions(*parsed(square), {"wide-x4-once", "wide-x4"}).kernels[0].unproved.empty());
}

TEST_CASE("without the table's bounds the text is not proved") {
  // i + n * j, of rows that are multiples of four elements, and its neighbour.
  const auto module = parsed(kernel({{1, {0, 3}}}, "s32"));
  const SiblingResult result = versions(*module, {"wide-x4-once"});
  REQUIRE(result.kernels[0].written.size() == 1);
  const Proposal &proposal = result.kernels[0].written[0];
  REQUIRE(proposal.sibling.needs.bounded.size() == 1);
  CHECK(result.text.find("%distance") == std::string::npos);
  const auto written = parsed(result.text);
  const auto proved = [&](const std::function<void(std::vector<IndexBound> &)> &change) {
    Proposal other = proposal;
    change(other.sibling.needs.bounded);
    return prove_coarsen({*written, function(*written, "k")},
                         function(*written, proposal.sibling.name), other)
        .has_value();
  };
  using Bounds = std::vector<IndexBound>;
  CHECK(proved([](Bounds &) {}));
  CHECK_FALSE(proved([](Bounds &all) { all.clear(); }));
  CHECK_FALSE(proved([](Bounds &all) { all[0].terms.clear(); }));
  for (std::size_t i = 0; i < proposal.sibling.needs.bounded[0].terms.size(); ++i) {
    CAPTURE(i);
    CHECK_FALSE(proved([&](Bounds &all) { --all[0].terms[i].coefficient; }));
    CHECK_FALSE(proved([&](Bounds &all) {
      all[0].terms.erase(all[0].terms.begin() + static_cast<std::ptrdiff_t>(i));
    }));
    CHECK_FALSE(proved([&](Bounds &all) { all[0].terms[i].factors.push_back({true, 2, 0}); }));
    CHECK(proved([&](Bounds &all) { ++all[0].terms[i].coefficient; }));
    for (std::size_t f = 0; f < proposal.sibling.needs.bounded[0].terms[i].factors.size(); ++f) {
      CHECK_FALSE(proved([&](Bounds &all) { all[0].terms[i].factors[f].which += 1; }));
      CHECK_FALSE(proved([&](Bounds &all) { all[0].terms[i].factors[f].offset += 4; }));
      CHECK_FALSE(proved([&](Bounds &all) { all[0].terms[i].factors[f].is_index ^= true; }));
    }
  }
}

TEST_CASE("a bound is met below 2^31, whatever its numbers are") {
  const auto met = [](std::vector<IndexTerm> terms, std::uint64_t x, std::uint64_t n) {
    return is_met(
        IndexBound{std::move(terms)}, [&](std::uint32_t) { return x; },
        [&](const LaunchNumber &) { return n; });
  };
  const LaunchNumber x{true, 0, 0}, n{false, 0, 0};
  CHECK(met({}, 0, 0));
  CHECK(met({{1, {x}}}, 0x7fffffff, 0));
  CHECK_FALSE(met({{1, {x}}}, 0x80000000, 0));
  CHECK_FALSE(met({{1, {x}}, {1, {}}}, 0x7fffffff, 0));
  CHECK(met({{0x7fffffff, {}}}, 0, 0));
  CHECK_FALSE(met({{1, {x, n}}}, 0x10000, 0x8000));
  CHECK(met({{1, {x, n}}}, 0xffff, 0x8000));
  // Products that wrap around in 64 bits are no small ones, and zero makes any product zero.
  CHECK_FALSE(met({{4, {n, n, n, n}}}, 0, 0x10000));
  CHECK_FALSE(met({{1, {n, n, n, n, n, n, n, n}}}, 0, ~0U));
  CHECK(met({{4, {n, n, n, x}}}, 0, ~0U));
  CHECK(met({{1, {x, n, n, n}}}, 0, ~0U));
}

} // namespace bounds_test
