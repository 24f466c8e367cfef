// `verify` must find wrong rewrites and must not cry wolf.
//
// Three kernels read a neighbour: in a row, in a plane, and in a loop whose trips differ by lane.
// One correct rewrite of that load, and a list of ways to get it wrong that have each been seen in
// some tool or draft; every way is planted into every kernel. Further wrong rewrites have kernels
// of their own.

#include "support.h"

#include "synth/rewrite.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

using namespace ptxasw::test;

namespace {

constexpr const char *head = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p_a, .param .u64 p_out, .param .u32 p_n, .param .u32 p_w)
{
	.reg .b32 %r<60>, %n, %w, %i, %tx, %ty, %flat, %s, %d, %acc, %k, %trips;
	.reg .b32 %below, %above, %mask, %copy, %lane;
	.reg .b64 %a, %p, %e, %out, %q;
	.reg .pred %c, %g, %loop, %odd, %wrap;
	ld.param.u64 %a, [p_a];
	ld.param.u64 %out, [p_out];
	ld.param.u32 %n, [p_n];
	ld.param.u32 %w, [p_w];
	mov.u32 %tx, %tid.x;
	mov.u32 %ty, %tid.y;
	mov.u32 %r1, %tid.z;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %ntid.y;
	mad.lo.u32 %r1, %r1, %r3, %ty;
	mad.lo.u32 %flat, %r1, %r2, %tx;
	mov.u32 %r4, %ctaid.x;
	mov.u32 %r5, %ctaid.y;
	mov.u32 %r6, %nctaid.x;
	mad.lo.u32 %r7, %r5, %r6, %r4;
	mov.u32 %r5, %ctaid.z;
	mov.u32 %r6, %nctaid.y;
	mov.u32 %r9, %nctaid.x;
	mul.lo.u32 %r6, %r6, %r9;
	mad.lo.u32 %r7, %r5, %r6, %r7;
	shl.b32 %r7, %r7, 10;
	add.u32 %r7, %r7, %flat;
	mul.wide.u32 %e, %r7, 4;
	add.s64 %out, %out, %e;
	mov.u32 %acc, 0;
	mov.u32 %lane, %laneid;
	min.u32 %below, %lane, %tx;
	sub.u32 %above, 31, %lane;
	sub.u32 %r8, %r2, %tx;
	add.s32 %r8, %r8, -1;
	min.u32 %above, %above, %r8;
	mad.lo.s32 %i, %r4, %r2, %tx;
)";

// Each has {D} where the load stands whose value the next lane holds: %d = [%p+4], %s = [%p].
constexpr const char *kernels[] = {
    // In a row, behind a guard.
    R"(	setp.ge.s32 %g, %i, %n;
	@%g bra END;
	mul.wide.s32 %e, %i, 4;
	add.s64 %p, %a, %e;
	ld.global.u32 %s, [%p];
	mov.b32 %copy, %s;
	{D}
	mad.lo.u32 %acc, %s, 3, %d;
	st.global.u32 [%out], %acc;
END:
	ret;
}
)",
    // In a plane; the source's register is used again before D.
    R"(	mad.lo.s32 %i, %ty, %w, %i;
	mul.wide.s32 %e, %i, 4;
	add.s64 %p, %a, %e;
	ld.global.u32 %s, [%p];
	mov.b32 %copy, %s;
	mad.lo.u32 %acc, %s, 3, 1;
	mov.u32 %s, 77;
	{D}
	add.u32 %acc, %acc, %d;
	st.global.u32 [%out], %acc;
	ret;
}
)",
    // In a loop that lanes leave at different trips.
    R"(	mul.wide.s32 %e, %i, 4;
	add.s64 %p, %a, %e;
	and.b32 %trips, %flat, 3;
	mov.u32 %k, 0;
LOOP:
	ld.global.u32 %s, [%p];
	mov.b32 %copy, %s;
	{D}
	mad.lo.u32 %acc, %acc, 5, %d;
	add.u32 %acc, %acc, %s;
	add.s64 %p, %p, 400;
	add.u32 %k, %k, 1;
	setp.le.u32 %loop, %k, %trips;
	@%loop bra LOOP;
	st.global.u32 [%out], %acc;
	ret;
}
)"};

constexpr const char *original = "ld.global.u32 %d, [%p+4];";

constexpr const char *right = R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)";

struct Wrong {
  const char *name;
  const char *code;
};

constexpr Wrong wrongs[] = {
    {"wrong delta", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 2, %c;
	shfl.sync.down.b32 %d, %copy, 2, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"up for down", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.up.b32 %d, %copy, 1, 0, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"no corner load", R"(activemask.b32 %mask;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;)"},
    {"incomplete warps not guarded", R"(activemask.b32 %mask;
	setp.lt.u32 %c, %above, 1;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"rows not guarded", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	sub.u32 %above, 31, %lane;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"lane taken for tid.x mod 32", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	and.b32 %r9, %tx, 31;
	sub.u32 %above, 31, %r9;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"corner off by one", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 0, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"corner of the other side", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %below, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"corner inverted", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@!%c ld.global.u32 %d, [%p+4];)"},
    {"corner loads another address", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p];)"},
    {"clamp of up used for down", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %copy, 1, 0, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"another register shuffled", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	shfl.sync.down.b32 %d, %acc, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"shuffle left out in corner lanes", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	@!%c shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
    {"a new address is read", R"(activemask.b32 %mask;
	setp.ne.s32 %c, %mask, -1;
	setp.lt.or.u32 %c, %above, 1, %c;
	ld.global.u32 %r40, [%p+8192];
	shfl.sync.down.b32 %d, %copy, 1, 31, %mask;
	@%c ld.global.u32 %d, [%p+4];)"},
};

std::string with(const char *kernel, std::string_view code, bool test_wrap = true) {
  std::string text = std::string(head) + kernel;
  text.replace(text.find("{D}"), 3, code);
  // The next lane's index wraps around where this one's is the largest: %p+4 is not its %p.
  const auto shuffle = std::min(text.find("@!%c shfl"), text.find("shfl"));
  if (test_wrap && shuffle != std::string::npos)
    text.insert(shuffle, "setp.eq.or.s32 %c, %i, 2147483647, %c;\n\t");
  return text;
}

KernelVerdict compared_by(const std::string &first, const std::string &second) {
  const auto original_module = parse_module(first), rewritten_module = parse_module(second);
  return verify(*original_module, *rewritten_module, {})[0];
}

/// A pair of kernels that differ in their bodies.
struct Pair {
  const char *name;
  const char *original;
  const char *rewritten;
};

constexpr const char *indexing = R"(	mul.wide.s32 %e, %i, 4;
	add.s64 %p, %a, %e;
)";
constexpr const char *finish = R"(
	st.global.u32 [%out], %d;
	ret;
}
)";

constexpr Pair pairs[] = {
    {"stale value across a store",
     "ld.global.u32 %s, [%p]; add.u32 %r1, %s, 1; st.global.u32 [%p], %r1; ld.global.u32 %d, [%p];",
     "ld.global.u32 %s, [%p]; add.u32 %r1, %s, 1; st.global.u32 [%p], %r1; mov.u32 %d, %s;"},
    {"stale value across a barrier",
     "ld.global.u32 %s, [%p+4]; bar.sync 0; st.global.u32 [%p], %flat; bar.sync 0;"
     "ld.global.u32 %d, [%p+4];",
     "ld.global.u32 %s, [%p+4]; bar.sync 0; st.global.u32 [%p], %flat; bar.sync 0; mov.u32 %d, "
     "%s;"},
    {"lost atomic", "atom.global.add.u32 %s, [%out], 1; atom.global.add.u32 %d, [%out], 1;",
     "atom.global.add.u32 %s, [%out], 1; mov.u32 %d, %s;"},
    {"lost reduction", "mov.u32 %d, 1; red.global.add.u32 [%out+8388608], 1;", "mov.u32 %d, 1;"},
    {"value of another iteration",
     "mov.u32 %k, 0; mov.u32 %d, 0; LOOP: ld.global.u32 %s, [%p]; mad.lo.u32 %d, %d, 3, %s;"
     "add.s64 %p, %p, 4; add.u32 %k, %k, 1; setp.lt.u32 %loop, %k, 3; @%loop bra LOOP;",
     "mov.u32 %k, 0; mov.u32 %d, 0; ld.global.u32 %s, [%p]; LOOP: mad.lo.u32 %d, %d, 3, %s;"
     "ld.global.u32 %s, [%p]; add.s64 %p, %p, 4; add.u32 %k, %k, 1;"
     "setp.lt.u32 %loop, %k, 3; @%loop bra LOOP;"},
    {"the source was predicated off",
     "and.b32 %r1, %flat, 1; setp.eq.u32 %odd, %r1, 1; @%odd ld.global.u32 %s, [%p];"
     "ld.global.u32 %d, [%p+4];",
     "and.b32 %r1, %flat, 1; setp.eq.u32 %odd, %r1, 1; @%odd ld.global.u32 %s, [%p];"
     "activemask.b32 %mask; setp.ne.s32 %c, %mask, -1; setp.lt.or.u32 %c, %above, 1, %c;"
     "shfl.sync.down.b32 %d, %s, 1, 31, %mask; @%c ld.global.u32 %d, [%p+4];"},
    {"the sign of an index",
     "ld.global.u32 %s, [%p]; add.s32 %i, %i, %n; cvt.u64.u32 %q, %i; shl.b64 %q, %q, 2;"
     "add.s64 %q, %q, %a; ld.global.u32 %d, [%q];",
     "ld.global.u32 %s, [%p]; add.s32 %i, %i, %n; cvt.s64.s32 %q, %i; shl.b64 %q, %q, 2;"
     "add.s64 %q, %q, %a; ld.global.u32 %d, [%q];"},
    {"the same value in a branch that not all take",
     "and.b32 %r1, %flat, 4; setp.eq.u32 %odd, %r1, 0; mov.u32 %d, 0; @%odd bra OVER;"
     "ld.global.u32 %s, [%p]; ld.global.u32 %d, [%p+4]; OVER:",
     "and.b32 %r1, %flat, 4; setp.eq.u32 %odd, %r1, 0; mov.u32 %d, 0; @%odd bra OVER;"
     "ld.global.u32 %s, [%p]; activemask.b32 %mask; setp.lt.u32 %c, %above, 1;"
     "shfl.sync.down.b32 %d, %s, 1, 31, %mask; @%c ld.global.u32 %d, [%p+4]; OVER:"},
};

} // namespace

TEST_CASE("the right rewrite agrees in every kernel") {
  for (const char *kernel : kernels) {
    const KernelVerdict verdict = compared_by(with(kernel, original), with(kernel, right));
    INFO(verdict.counter_example);
    CHECK(verdict.kind == KernelVerdict::Kind::agree);
    CHECK(verdict.not_executed.empty());
  }
}

TEST_CASE("every wrong rewrite is found in every kernel") {
  unsigned found = 0;
  for (std::size_t i = 0; i < std::size(kernels); ++i)
    for (const Wrong &wrong : wrongs) {
      const KernelVerdict verdict =
          compared_by(with(kernels[i], original), with(kernels[i], wrong.code));
      INFO(fmt::format("{} in kernel {}", wrong.name, i));
      CHECK(verdict.kind == KernelVerdict::Kind::differ);
      CHECK(!verdict.counter_example.empty());
      found += verdict.kind == KernelVerdict::Kind::differ;
    }
  MESSAGE(found, " wrong rewrites found");
}

TEST_CASE("a wrong rewrite: the index wraps around") {
  const KernelVerdict verdict =
      compared_by(with(kernels[1], original), with(kernels[1], right, false));
  CHECK(verdict.kind == KernelVerdict::Kind::differ);
}

TEST_CASE("wrong rewrites with kernels of their own") {
  for (const Pair &pair : pairs) {
    const std::string before = std::string(head) + indexing;
    const KernelVerdict same =
        compared_by(before + pair.original + finish, before + pair.original + finish);
    const KernelVerdict other =
        compared_by(before + pair.original + finish, before + pair.rewritten + finish);
    INFO(pair.name);
    CHECK(same.kind == KernelVerdict::Kind::agree);
    CHECK(other.kind == KernelVerdict::Kind::differ);
  }
}

TEST_CASE("the variants that are wrong on purpose are found to be") {
  const std::string text = with(kernels[0], original);
  for (const Variant variant : {Variant::no_load, Variant::no_corner}) {
    RewriteOptions options;
    options.shuffle = ShuffleMode::always;
    options.variant = variant;
    const auto rewritten = rewrite_module(text, "k.ptx", options);
    REQUIRE(rewritten.has_value());
    REQUIRE(rewritten->changed);
    CHECK(compared_by(text, rewritten->text).kind == KernelVerdict::Kind::differ);
  }
}

TEST_CASE("a counter-example is a launch that a stand-in can be launched for") {
  // Half the threads store what all should, and one of two columns is wrong.
  const std::string parameters = "(.param .u64 p_a, .param .u32 p_n)\n";
  const std::string start = R"({
	.reg .b32 %x, %y, %b, %w, %h, %n, %v;
	.reg .b64 %a, %e;
	.reg .pred %p;
	ld.param.u64 %a, [p_a];
	ld.param.u32 %n, [p_n];
	mov.u32 %x, %tid.x;
	mov.u32 %y, %tid.y;
	mov.u32 %b, %ctaid.x;
	mov.u32 %w, %ntid.x;
	mov.u32 %h, %nctaid.x;
)";
  const auto store = [](const std::string &x, const std::string &v) {
    return "\tmad.lo.u32 %v, %y, %w, " + x + ";\n\tmul.wide.u32 %e, %v, 4;\n" +
           "\tadd.s64 %e, %a, %e;\n\tst.global.u32 [%e], " + v + ";\n";
  };
  const std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k" +
                           parameters + start + store("%x", "%y") +
                           "\tret;\n}\n.visible .entry half" + parameters + start +
                           "\tshl.b32 %w, %w, 1;\n\tshl.b32 %x, %x, 1;\n" + store("%x", "%y") +
                           "\tadd.u32 %x, %x, 1;\n" + store("%x", "7") + "\tret;\n}\n";
  const auto module = parse_module(text);
  VerifyOptions how;
  how.kernel = "k";
  how.runs = 4;
  Sibling half;
  half.name = "half";
  half.block = {2, 1, 1};
  how.stand_in = half;
  const KernelVerdict verdict = verify(*module, *module, how).at(0);
  CHECK(verdict.kind == KernelVerdict::Kind::differ);
  REQUIRE(verdict.launch);
  CHECK(verdict.launch->block.x % 2 == 0);
  CHECK(verdict.counter_example.find("bad launch") == std::string::npos);
}

TEST_CASE("a racy kernel is not used, and the reason is told") {
  const std::string text = std::string(head) + indexing +
                           "st.global.u32 [%p], %flat; ld.global.u32 %d, [%p+4];" + finish;
  const KernelVerdict verdict = compared_by(text, text);
  CHECK(verdict.unusable.begin()->first.starts_with("race in the original, line "));
}
