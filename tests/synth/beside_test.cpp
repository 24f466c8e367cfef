// Two texts beside each other: which changes of a kernel are the same kernel, and which are not.

#include "synth/prove/walk.h"
#include "tests/synth/versions.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace beside_test {

using namespace ptxasw::test;

namespace {

const std::string kernel = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out, .param .u32 n)
{
	.reg .b64 %pa, %po, %e;
	.reg .b32 %n, %t, %x, %y, %z;
	.reg .pred %p;
	ld.param.u64 %pa, [a];
	ld.param.u64 %po, [out];
	ld.param.u32 %n, [n];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %e, %t, 8;
	add.s64 %pa, %pa, %e;
	add.s64 %po, %po, %e;
	ld.global.u32 %x, [%pa];
	ld.global.u32 %y, [%pa+4];
	setp.lt.u32 %p, %x, %n;
	@%p bra $less;
	sub.s32 %z, %x, %y;
	st.global.u32 [%po], %z;
	bra $end;
$less:
	st.global.u32 [%po], %x;
	st.global.u32 [%po+4], %y;
$end:
	ret;
}
)";

/// The kernel with some of its text in other words.
std::string changed(const std::vector<std::pair<std::string, std::string>> &changes) {
  std::string text = kernel;
  for (const auto &[from, to] : changes) {
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    text.replace(at, from.size(), to);
  }
  return text;
}

bool same(const std::string &text) {
  const auto before = parsed(kernel), after = parsed(text);
  return proof::prove_same(*before, only(*before), *after, only(*after)).has_value();
}

} // namespace

TEST_CASE("a kernel is the same as itself") { CHECK(same(kernel)); }

TEST_CASE("what only computes may be written otherwise") {
  // An offset is added before, or stands in the instruction.
  CHECK(same(changed({{"	ld.global.u32 %y, [%pa+4];",
                       "	add.s64 %e, %pa, 4;\n	ld.global.u32 %y, [%e];"}})));
  // What is not used is not there, what is copied is the same, and order does not matter.
  CHECK(same(changed({{"	setp.lt.u32 %p, %x, %n;",
                       "	add.s32 %z, %x, %x;\n	setp.lt.u32 %p, %x, %n;"}})));
  CHECK(same(changed({{"	st.global.u32 [%po], %x;",
                       "	mov.u32 %z, %x;\n	st.global.u32 [%po], %z;"}})));
  CHECK(same(changed({{"	add.s64 %pa, %pa, %e;\n	add.s64 %po, %po, %e;",
                       "	add.s64 %po, %po, %e;\n	add.s64 %pa, %pa, %e;"}})));
}

TEST_CASE("what is done to memory stays, and in its order") {
  CHECK_FALSE(same(changed({{"	st.global.u32 [%po+4], %y;\n", ""}})));
  CHECK_FALSE(same(changed({{"	st.global.u32 [%po+4], %y;",
                             "	st.global.u32 [%po+4], %y;\n	st.global.u32 [%po+4], %y;"}})));
  CHECK_FALSE(same(changed({{"	st.global.u32 [%po], %x;\n	st.global.u32 [%po+4], %y;",
                             "	st.global.u32 [%po+4], %y;\n	st.global.u32 [%po], %x;"}})));
  CHECK_FALSE(same(changed({{"	ld.global.u32 %y, [%pa+4];\n", "	mov.u32 %y, %x;\n"}})));
  CHECK_FALSE(same(changed({{"ld.global.u32 %x, [%pa];", "ld.volatile.global.u32 %x, [%pa];"}})));
}

TEST_CASE("another value, address or way is noticed") {
  CHECK_FALSE(same(changed({{"sub.s32 %z, %x, %y;", "sub.s32 %z, %y, %x;"}})));
  CHECK_FALSE(same(changed({{"sub.s32 %z, %x, %y;", "add.s32 %z, %x, %y;"}})));
  CHECK_FALSE(same(changed({{"%t, 8;", "%t, 4;"}})));
  CHECK_FALSE(same(changed({{"[%pa+4]", "[%pa+8]"}})));
  CHECK_FALSE(same(changed({{"st.global.u32 [%po+4], %y;", "st.global.u32 [%po+4], %x;"}})));
  CHECK_FALSE(same(changed({{"@%p bra", "@!%p bra"}})));
  CHECK_FALSE(same(changed({{"	@%p bra $less;\n", ""}})));
  CHECK_FALSE(same(changed({{"setp.lt.u32", "setp.lt.s32"}})));
  CHECK_FALSE(same(changed({{"setp.lt.u32", "setp.le.u32"}})));
  CHECK_FALSE(same(changed({{"	bra $end;\n", ""}})));
  CHECK_FALSE(same(changed({{"mov.u32 %t, %tid.x;", "mov.u32 %t, %tid.y;"}})));
}

TEST_CASE("an instruction that writes its own guard runs under what it was") {
  const auto text = [&](const std::string &code) {
    return changed({{".reg .pred %p;", ".reg .pred %p, %q, %v, %w;"},
                    {"	setp.lt.u32 %p, %x, %n;", "	setp.lt.u32 %p, %x, %n;\n" + code},
                    {"	sub.s32 %z, %x, %y;", "	selp.b32 %z, %x, %y, %q;"}});
  };
  const auto both = parsed(text("	@%p setp.lt.u32 %p|%q, %x, %y;"));
  const auto is = [&](const std::string &code) {
    const auto after = parsed(text(code));
    return proof::prove_same(*both, only(*both), *after, only(*after)).has_value();
  };
  const std::string apart = "	setp.lt.u32 %v|%w, %x, %y;\n";
  CHECK(is("	@%p setp.lt.u32 %p|%q, %x, %y;"));
  CHECK(is(apart + "	@%p mov.pred %q, %w;\n	@%p mov.pred %p, %v;"));
  CHECK_FALSE(is(apart + "	@%p mov.pred %p, %v;\n	@%p mov.pred %q, %w;"));
}

TEST_CASE("terms are one where their values are") {
  proof::Terms terms;
  const proof::Term base = terms.fresh(), other = terms.fresh();
  CHECK(base != other);
  CHECK(terms.number(3) == terms.number(3));
  CHECK(terms.plus(terms.plus(base, 4), 8) == terms.plus(base, 12));
  CHECK(terms.plus(base, 0) == base);
  CHECK(terms.plus(base, 4) != terms.plus(other, 4));
  CHECK(terms.sum(base, terms.number(4)) == terms.plus(base, 4));
  CHECK(terms.number_of(terms.number(-3)) == -3);
  CHECK_FALSE(terms.number_of(base));
  CHECK(terms.computed({1, 2}) == terms.computed({1, 2}));
  CHECK(terms.computed({1, 2}) != terms.computed({2, 1}));
  CHECK(terms.text("tid.x") != terms.text("tid.y"));
  // A choice, where it is known which.
  const proof::Term predicate = terms.fresh(), choice = terms.choice(predicate, base, other);
  CHECK(terms.choice(predicate, base, base) == base);
  std::map<proof::Term, proof::Term> when, otherwise;
  CHECK(terms.decided(choice, predicate, true, when) == base);
  CHECK(terms.decided(choice, predicate, false, otherwise) == other);
  CHECK(terms.decided(terms.plus(choice, 4), predicate, true, when) == terms.plus(base, 4));
}

TEST_CASE("what holds on either of two ways that meet") {
  proof::Terms terms;
  using Values = std::vector<proof::Term>;
  const auto meet = [&](Values a, Values b, unsigned depth = 6) {
    return terms.meet({std::move(a), {}}, {std::move(b), {}}, depth);
  };
  const proof::Term x = terms.fresh(), y = terms.fresh();
  const auto made = [&](proof::Term from) { return terms.computed({1, proof::term_mark | from}); };
  // Equal ones stay equal if they are on both ways; which symbols they are does not matter.
  auto met = meet({x, x, x}, {y, y, x});
  CHECK(met.is_less);
  CHECK(met.known.values[0] == met.known.values[1]);
  CHECK(met.known.values[0] != met.known.values[2]);
  CHECK_FALSE(meet({x, y}, {y, x}).is_less);
  // Numbers.
  CHECK(terms.number_of(meet({terms.number(-1)}, {terms.number(-1)}).known.values[0]) == -1);
  met = meet({terms.number(-1)}, {terms.number(-2)});
  CHECK(met.is_less);
  CHECK_FALSE(terms.number_of(met.known.values[0]));
  // What is made from what another register holds, or from what it no longer does.
  met = meet({x, made(x)}, {y, made(y)});
  CHECK_FALSE(met.is_less);
  CHECK(met.known.values[1] == made(met.known.values[0]));
  met = meet({x, made(x)}, {y, made(x)});
  CHECK(met.is_less);
  CHECK(met.known.values[1] != made(met.known.values[0]));
  CHECK(meet({made(x)}, {y}).is_less);
  // Distances of what is made in different ways are not kept.
  met = meet({x, terms.plus(x, 4)}, {terms.plus(x, 16), terms.plus(x, 20)});
  CHECK(met.is_less);
  CHECK(met.known.values[1] != terms.plus(met.known.values[0], 4));
  met = meet({x, terms.plus(x, 4)}, {y, terms.plus(y, 4)});
  CHECK_FALSE(met.is_less);
  CHECK(met.known.values[1] == terms.plus(met.known.values[0], 4));
  // In more than so many steps.
  CHECK_FALSE(meet({x, made(made(x))}, {x, made(made(x))}, 1).is_less);
  met = meet({x, made(made(made(x)))}, {x, made(made(made(x)))}, 1);
  CHECK(met.is_less);
  CHECK(met.known.values[1] != made(made(made(met.known.values[0]))));
  // What is decided.
  const auto decided = terms.meet({{x, y}, {{x, true}, {y, true}}}, {{x, y}, {{x, true}}}, 6);
  CHECK(decided.is_less);
  CHECK(decided.known.truth == std::map<proof::Term, bool>{{decided.known.values[0], true}});
}

} // namespace beside_test
