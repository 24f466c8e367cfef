// What `verify` may conclude from what: agreement only about code that ran, difference only about
// kernels whose results are their own.

#include "support.h"

#include "synth/rewrite.h"
#include "synth/siblings.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>

using namespace ptxasw::test;

namespace {

using Kind = KernelVerdict::Kind;

/// A kernel of one block dimension around a body; %t is the thread's number in the grid, %o the
/// place of its results.
std::string kernel(std::string_view body,
                   std::string_view parameters = ".param .u64 p_a, .param .u64 p_out, .param .u32 "
                                                 "p_n") {
  return fmt::format(R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k({})
{{
	.reg .b32 %r<20>, %t, %n, %x, %y, %b, %w;
	.reg .b64 %a, %out, %o, %p, %e;
	.reg .f32 %f<4>;
	.reg .pred %p1, %p2, %p3;
	.shared .align 4 .b8 tile[4096];
	{}
	ret;
}}
)",
                     parameters, body);
}

constexpr const char *start = R"(ld.param.u64 %a, [p_a]; ld.param.u64 %out, [p_out];
	ld.param.u32 %n, [p_n];
	mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x; mad.lo.u32 %t, %b, %w, %t;
	mul.wide.u32 %e, %t, 4; add.s64 %o, %out, %e; add.s64 %p, %a, %e;
	)";

KernelVerdict compared(const std::string &first, const std::string &second,
                       const VerifyOptions &how = {}) {
  const auto original = parse_module(first), rewritten = parse_module(second);
  return verify(*original, *rewritten, how)[0];
}

std::string with_start(std::string_view body) { return kernel(start + std::string(body)); }

} // namespace

TEST_CASE("what reads the machine's own state cannot be compared, even with itself") {
  for (const char *body :
       {"mov.u32 %x, %clock; st.global.u32 [%o], %x;", "mov.u32 %x, %smid; st.global.u32 [%o], %x;",
        "activemask.b32 %x; and.b32 %x, %x, 12; cvt.u64.u32 %e, %x; add.s64 %p, %p, %e;"
        "setp.lt.u32 %p1, %t, %n; @%p1 bra L; mov.u32 %t, 1; activemask.b32 %y;"
        "add.u32 %t, %t, %y; L: activemask.b32 %x; st.global.u32 [%o], %x;"}) {
    const KernelVerdict verdict = compared(with_start(body), with_start(body));
    INFO(body);
    CHECK(verdict.kind != Kind::differ);
    // Which lanes are active together matters only in launches that part them.
    CHECK((verdict.kind == Kind::unchecked || std::string_view(body).starts_with("activemask")));
  }
}

TEST_CASE("a difference is told from where a variable or a pointer begins") {
  const auto text = [](const char *place, int value) {
    return fmt::format(".version 8.0\n.target sm_80\n.address_size 64\n"
                       ".global .align 4 .b32 table[4096];\n"
                       ".visible .entry k(.param .u64 a)\n{{\n.reg .b64 %rd1;\n"
                       "ld.param.u64 %rd1, [a];\nst.global.u32 [{}], {};\nret;\n}}\n",
                       place, value);
  };
  for (const auto &[place, told] :
       {std::pair{"table", "table + 0x0:"}, std::pair{"table+8", "table + 0x8:"},
        std::pair{"%rd1", "buffer 0 + 0x0:"}, std::pair{"%rd1+64", "buffer 0 + 0x40:"},
        std::pair{"%rd1+-8", "buffer 0 - 0x8:"}}) {
    const KernelVerdict verdict = compared(text(place, 1), text(place, 2));
    REQUIRE(verdict.kind == Kind::differ);
    INFO(verdict.counter_example);
    CHECK(verdict.counter_example.find(told) != std::string::npos);
  }
}

TEST_CASE("a thread beyond 600 is one like others") {
  const char *body = "mov.u32 %x, %tid.x; {} st.global.u32 [%o], %x;";
  const auto text = [&](const char *guard) {
    return with_start(fmt::format(fmt::runtime(body), guard));
  };
  CHECK(compared(text(""), text("setp.ge.u32 %p1, %x, 600; @%p1 exit;")).kind == Kind::differ);
}

TEST_CASE("what comes of shared memory that nobody has written is no difference, be it a sign") {
  const auto text = [](int place) {
    return with_start(fmt::format("ld.shared.u32 %r1, [tile+{}]; and.b32 %r1, %r1, 0x80000000;"
                                  "st.global.u32 [%o], %r1;",
                                  place));
  };
  for (int place = 128; place < 192; place += 12) {
    INFO(place);
    CHECK(compared(text(64), text(place)).kind != Kind::differ);
  }
}

TEST_CASE("a barrier that a reduction needs is missed") {
  const char *body = R"(mov.u32 %x, %tid.x; shl.b32 %x, %x, 2; mov.u32 %y, tile; add.u32 %x, %x, %y;
	ld.global.u32 %r1, [%p]; st.shared.u32 [%x], %r1; mov.u32 %r2, %ntid.x; mov.u32 %r4, %tid.x;
LOOP: shr.u32 %r2, %r2, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra END;
	{} setp.ge.u32 %p2, %r4, %r2; @%p2 bra NEXT;
	shl.b32 %r3, %r2, 2; add.u32 %r3, %r3, %x; ld.shared.u32 %r1, [%r3]; ld.shared.u32 %r5, [%x];
	add.u32 %r1, %r1, %r5; st.shared.u32 [%x], %r1;
NEXT: bra LOOP;
END: bar.sync 0; setp.ne.u32 %p1, %r4, 0; @%p1 exit; ld.shared.u32 %r1, [tile];
	st.global.u32 [%o], %r1;)";
  const auto text = [&](const char *barrier) {
    return with_start(fmt::format(fmt::runtime(body), barrier));
  };
  CHECK(compared(text("bar.sync 0;"), text("bar.sync 0;")).kind == Kind::agree);
  CHECK(compared(text("bar.sync 0;"), text("")).kind == Kind::differ);
}

TEST_CASE("an index that counts down wraps around, too") {
  // a[n-1-i] + a[n-2-i]: lanes read downwards.
  // As nvcc writes it: one address, of a[n-i].
  const std::string body = "sub.s32 %x, %n, %t; mul.wide.s32 %e, %x, 4; add.s64 %p, %a, %e;"
                           "ld.global.u32 %r1, [%p+-4]; ld.global.u32 %r2, [%p+-8];"
                           "mad.lo.u32 %r1, %r1, 3, %r2; st.global.u32 [%o], %r1;";
  const std::string text = with_start(body);
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  const auto right = rewrite_module(text, "k.ptx", options);
  options.assume_no_wrap = true;
  const auto wrong = rewrite_module(text, "k.ptx", options);
  REQUIRE(right->changed);
  REQUIRE(wrong->changed);
  REQUIRE(right->text != wrong->text);
  CHECK(compared(text, right->text).kind == Kind::agree);
  CHECK(compared(text, wrong->text).kind == Kind::differ);
}

TEST_CASE("agreement is about what ran") {
  // The threads that differ do not exist: no block has a thread 1024.
  const KernelVerdict impossible = compared(
      with_start("mov.u32 %x, %tid.x; st.global.u32 [%o], %x;"),
      with_start("mov.u32 %x, %tid.x; setp.lt.u32 %p1, %x, 1024; @%p1 bra L; mov.u32 %x, 3;"
                 "L: st.global.u32 [%o], %x;"));
  CHECK(impossible.kind != Kind::differ);
  // What is loaded decides, and no contents are such.
  const KernelVerdict unlikely =
      compared(with_start("ld.global.u32 %x, [%p]; st.global.u32 [%o], %x;"),
               with_start("ld.global.u32 %x, [%p]; setp.ne.u32 %p1, %x, 123456789; @%p1 bra L;"
                          "mov.u32 %x, 3; L: st.global.u32 [%o], %x;"));
  CHECK(unlikely.kind == Kind::not_exercised);
  CHECK(!unlikely.not_exercised.empty());
}

TEST_CASE("a test that was taken out must have had both outcomes") {
  const std::string without = with_start("ld.global.u32 %x, [%p]; st.global.u32 [%o], %x;");
  const auto with = [](const char *value) {
    return with_start(fmt::format("ld.global.u32 %x, [%p]; setp.eq.u32 %p1, %x, {};"
                                  "selp.u32 %x, 3, %x, %p1; st.global.u32 [%o], %x;",
                                  value));
  };
  const KernelVerdict unlikely = compared(with("123456789"), without);
  CHECK(unlikely.kind == Kind::not_exercised);
  CHECK(unlikely.gone_one_sided.size() == 1);
  CHECK(compared(with("5"), without).kind == Kind::differ);
  // One that never holds, and so may go.
  CHECK(compared(with_start("setp.gt.u32 %p1, %t, -1; selp.u32 %x, 3, %t, %p1;"
                            "st.global.u32 [%o], %x;"),
                 with_start("mov.u32 %x, %t; st.global.u32 [%o], %x;"))
            .kind == Kind::agree);
}

TEST_CASE("a branch that goes elsewhere is a change, although its text is none") {
  const auto text = [](std::string_view before, std::string_view behind) {
    return with_start(fmt::format("ld.global.u32 %x, [%p]; setp.ne.u32 %p1, %x, 123456789;"
                                  "@%p1 bra L; add.u32 %x, %x, 1; {} add.u32 %x, %x, 2; {}"
                                  "st.global.u32 [%o], %x;",
                                  before, behind));
  };
  CHECK(compared(text("L:", ""), text("L:", "")).changed == 0);
  CHECK(compared(text("L:", ""), text("L:", "M:")).changed == 0);
  CHECK(compared(text("L:", ""), text("", "L:")).changed > 0);
}

TEST_CASE("results that are other ones at the edges of their type only") {
  struct Edge {
    const char *load, *first, *second, *store;
  };
  constexpr Edge edges[] = {
      {"u32 %x", "abs.s32 %x, %x;", "abs.s32 %x, %x; max.s32 %x, %x, 0;", "u32 [%o], %x"},
      {"f32 %f1", "add.f32 %f2, %f1, %f1;", "add.ftz.f32 %f2, %f1, %f1;", "f32 [%o], %f2"},
      {"f32 %f1", "sub.f32 %f2, %f1, %f1;", "mov.f32 %f2, 0f00000000;", "f32 [%o], %f2"},
      {"f32 %f1", "min.f32 %f2, %f1, 0f40000000;", "min.NaN.f32 %f2, %f1, 0f40000000;",
       "f32 [%o], %f2"},
      {"f32 %f1", "neg.f32 %f2, %f1;", "sub.f32 %f2, 0f00000000, %f1;", "f32 [%o], %f2"},
      {"f64 %d1", "add.f64 %d1, %d1, 0d0000000000000000;", "", "f64 [%o], %d1"},
      {"u64 %e", "abs.s64 %e, %e;", "abs.s64 %e, %e; max.s64 %e, %e, 0;", "u64 [%o], %e"}};
  for (const Edge &edge : edges) {
    const auto text = [&](std::string_view code) {
      return with_start(fmt::format("{{ .reg .f64 %d1; add.s64 %p, %p, %e; add.s64 %o, %o, %e;"
                                    "ld.global.{}, [%p]; {} st.global.{}; }}",
                                    edge.load, code, edge.store));
    };
    INFO(edge.first);
    CHECK(compared(text(edge.first), text(edge.second)).kind == Kind::differ);
  }
}

TEST_CASE("what shared memory holds at first is no result") {
  const auto text = [](std::string_view store, std::string_view place) {
    return with_start(fmt::format("mov.u32 %x, tile; {} ld.shared.u32 %y, [%x+{}];"
                                  "st.global.u32 [%o], %y;",
                                  store, place));
  };
  const KernelVerdict neither = compared(text("", "4"), text("", "8"));
  CHECK(neither.kind == Kind::unchecked);
  CHECK(neither.unusable.contains("the original depends on shared memory that it has not written"));
  CHECK(
      compared(text("st.shared.u32 [%x+4], 7;", "4"), text("st.shared.u32 [%x+4], 7;", "8")).kind ==
      Kind::differ);
}

TEST_CASE("a race that lanes in step hide is no difference") {
  // Lane 1 reads a word and stores 7 there, lane 0 stores 7 there: in step, and behind it, that
  // changes nothing.
  const auto text = [](std::string_view early, std::string_view late) {
    return with_start(fmt::format(
        "setp.eq.u32 %p1, %t, 1; setp.eq.u32 %p2, %t, 0; {} @%p1 ld.global.u32 %x, [%a];"
        "@%p1 st.global.u32 [%o], %x; @%p1 st.global.u32 [%a], 7; {}",
        early, late));
  };
  constexpr std::string_view store = "@%p2 st.global.u32 [%a], 7;";
  const KernelVerdict verdict = compared(text("", store), text(store, ""));
  CHECK(verdict.kind != Kind::differ);
  CHECK(verdict.unusable.contains("the original depends on the schedule"));
}

TEST_CASE("structures, vectors and reused registers among the parameters") {
  const auto text = [](std::string_view load, std::string_view add) {
    return kernel(fmt::format(R"({} cvta.to.global.u64 %out, %out;
	mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x; mad.lo.u32 %t, %b, %w, %t;
	setp.ge.u32 %p1, %t, %n; @%p1 exit;
	mov.u64 %e, %a; mov.u64 %a, 4; mul.wide.u32 %p, %t, 4; add.s64 %p, %e, %p; add.s64 %o, %out, %p;
	sub.s64 %o, %o, %e; ld.global.u32 %x, [%p]; add.u32 %x, %x, {}; st.global.u32 [%o], %x;)",
                              load, add),
                  ".param .align 8 .b8 args[24]");
  };
  const char *load = "ld.param.v2.u64 {%a, %out}, [args]; ld.param.u32 %n, [args+16];";
  CHECK(compared(text(load, "1"), text(load, "1")).agreed >= 5);
  CHECK(compared(text(load, "1"), text(load, "2")).kind == Kind::differ);
}

TEST_CASE("kernels with unlike parameters are not compared") {
  const KernelVerdict verdict =
      compared(kernel("ret;", ".param .u64 p"), kernel("ret;", ".param .u32 p"));
  CHECK(verdict.kind == Kind::unchecked);
  CHECK(verdict.unusable.contains("the kernels have unlike parameters"));
}

TEST_CASE("what is not emulated is not a difference") {
  const KernelVerdict verdict =
      compared(with_start("st.global.u32 [%o], %t;"),
               with_start("st.global.u32 [%o], %t; discard.global.L2 [%o], 128;"));
  CHECK(verdict.kind == Kind::unchecked);
}

TEST_CASE("what the host may have put into variables is drawn, too") {
  const auto text = [](std::string_view factor) {
    std::string module = with_start(fmt::format(
        "mul.wide.u32 %e, %t, 4; and.b64 %e, %e, 1023; mov.u64 %p, table; add.s64 %p, %p, %e;"
        "ld.global.u32 %x, [%p]; mul.lo.u32 %x, %x, {}; st.global.u32 [%o], %x;",
        factor));
    module.insert(module.find(".visible"), ".visible .global .align 4 .u32 table[256];\n");
    return module;
  };
  CHECK(compared(text("3"), text("3")).kind == Kind::agree);
  CHECK(compared(text("3"), text("5")).kind == Kind::differ);
  std::string other = text("3");
  other.insert(other.find(".visible"), ".global .u32 one_more;\n");
  CHECK(compared(text("3"), other).unusable.contains("the modules have unlike variables"));
  // What the second has behind the variables of both is none of the first's; what is stored there
  // is.
  const auto more = [&](std::string_view code) {
    std::string module = text(std::string("3; ") + std::string(code) + " mov.u32 %y, 0");
    module.insert(module.find(".visible .entry"), ".visible .global .align 4 .u32 one_more;\n");
    return module;
  };
  CHECK(compared(text("3"), more("")).kind == Kind::agree);
  CHECK(compared(text("3"), more("st.global.u32 [one_more], 7;")).kind == Kind::differ);
}

TEST_CASE("functions that are called count") {
  const auto text = [](std::string_view body) {
    std::string module = with_start("{ .param .b32 a; .param .b32 b; st.param.b32 [a], %t;"
                                    "call.uni (b), f, (a); ld.param.b32 %x, [b]; }"
                                    "st.global.u32 [%o], %x;");
    module.insert(module.find(".visible"),
                  fmt::format(".func (.param .b32 r) f(.param .b32 v)\n{{ .reg .b32 %v; .reg .pred "
                              "%q; ld.param.b32 %v, [v]; {} st.param.b32 [r], %v; ret; }}\n",
                              body));
    return module;
  };
  CHECK(compared(text(""), text("add.u32 %v, %v, 1;")).kind == Kind::differ);
  CHECK(compared(text(""), text("add.u32 %v, %v, 0;")).kind == Kind::agree);
  CHECK(compared(text(""), text("setp.ne.u32 %q, %v, 2147483000; @%q bra L; add.u32 %v, %v, 1; L:"))
            .kind == Kind::not_exercised);
}

TEST_CASE("the sign of a bound") {
  const auto text = [](const char *type) {
    return with_start(
        fmt::format("setp.ge.{} %p1, %t, %n; @%p1 exit; st.global.u32 [%o], %t;", type));
  };
  CHECK(compared(text("u32"), text("s32")).kind == Kind::differ);
}

TEST_CASE("clusters are drawn whole; what arrives relaxed orders nothing") {
  const auto text = [](const char *cluster, const char *arrive) {
    std::string module = with_start(fmt::format(
        "mov.u32 %r1, %tid.x; shl.b32 %x, %r1, 2; mov.u32 %y, tile; add.u32 %x, %x, %y;"
        "st.shared.u32 [%x], %t; barrier.cluster.arrive{}; barrier.cluster.wait;"
        "mov.u32 %r2, %ntid.x; sub.u32 %r2, %r2, 1; sub.u32 %r2, %r2, %r1; shl.b32 %r2, %r2, 2;"
        "add.u32 %r2, %r2, %y; ld.shared.u32 %x, [%r2]; st.global.u32 [%o], %x;",
        arrive));
    module.replace(module.find(")\n{"), 2, fmt::format(")\n.reqnctapercluster {}\n", cluster));
    return module;
  };
  for (const char *cluster : {"1", "2, 2, 1", "3"})
    CHECK(compared(text(cluster, ""), text(cluster, "")).kind == Kind::agree);
  CHECK(compared(text("2", ""), text("2", ".relaxed")).kind == Kind::differ);
}

TEST_CASE("a block of no extent") {
  std::string text = with_start("st.global.u32 [%o], %t;");
  text.replace(text.find(")\n{"), 2, ")\n.maxntid 0, 0, 0\n");
  CHECK(compared(text, text).kind != Kind::differ);
}

TEST_CASE("lanes of a warp are ordered by its matrices if that is assumed") {
  std::string text = with_start(
      "mov.u32 %x, tile; { .reg .f32 %w<8>; cvt.rn.f32.u32 %w0, %t; mov.f32 %w1, %w0;"
      "mov.f32 %w2, %w0; mov.f32 %w3, %w0; mov.f32 %w4, %w0; mov.f32 %w5, %w0; mov.f32 %w6, %w0;"
      "mov.f32 %w7, %w0; wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%x],"
      "{%w0, %w1, %w2, %w3, %w4, %w5, %w6, %w7}, 16; }"
      "mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; add.u32 %r1, %r1, %x; ld.shared.u32 %y, [%r1];"
      "st.global.u32 [%o], %y;");
  text.replace(text.find(")\n{"), 2, ")\n.reqntid 32, 1, 1\n");
  const auto module = parse_module(text);
  VerifyOptions how;
  CHECK(verify(*module, *module, how)[0].kind == Kind::unchecked);
  how.matrices_order = true;
  CHECK(verify(*module, *module, how)[0].kind == Kind::agree);
}

TEST_CASE("kernels for blocks of one shape get blocks of that shape") {
  const std::string text = with_start(
      "mov.u32 %x, %ntid.x; setp.ne.u32 %p1, %x, 8; mov.u32 %y, %ntid.y;"
      "setp.ne.or.u32 %p1, %y, 32, %p1; mov.u32 %y, %ntid.z; setp.ne.or.u32 %p1, %y, 1, %p1;"
      "@%p1 trap; mov.u32 %y, %tid.y; mad.lo.u32 %y, %y, 8, %t; mul.wide.u32 %e, %y, 4;"
      "add.s64 %o, %out, %e; mov.u32 %y, %nctaid.x; setp.gt.u32 %p1, %y, 1; @%p1 trap;"
      "st.global.u32 [%o], %t;");
  const KernelVerdict verdict = compared(text, text);
  CHECK(verdict.kind == Kind::agree);
  CHECK(verdict.unusable.size() > 0); // what it does not survive is left out
}

TEST_CASE("a search ends with its work") {
  const std::string text = with_start("ld.global.u32 %x, [%p]; st.global.u32 [%o], %x;");
  const std::string other = with_start("ld.global.u32 %x, [%p]; setp.ne.u32 %p1, %x, 123456789;"
                                       "selp.u32 %x, %x, 3, %p1; st.global.u32 [%o], %x;");
  const auto original = parse_module(text), rewritten = parse_module(other);
  VerifyOptions how;
  const KernelVerdict all = verify(*original, *rewritten, how)[0];
  CHECK(!all.out_of_work);
  how.work = all.work / 2;
  const KernelVerdict half = verify(*original, *rewritten, how)[0];
  CHECK(half.out_of_work);
  CHECK(half.kind == Kind::not_exercised);
  CHECK(half.work < all.work);
  how.work = 1;
  CHECK(verify(*original, *rewritten, how)[0].kind == Kind::unchecked);
}

TEST_CASE("what only an index that wraps around leads to is told from what was not tried") {
  // Who is at the bound and is inside it 96 further on has an index that has wrapped around.
  const auto text = [](std::string_view code) {
    return with_start(fmt::format(
        "ld.global.u32 %r2, [%p]; setp.gt.s32 %p1, %n, 10000; selp.u32 %n, 10000, %n, %p1;"
        "mov.u32 %y, 7; mad.lo.s32 %x, %b, %w, %t; add.s32 %r1, %x, 96; setp.ge.s32 %p1, %x, %n;"
        "@!%p1 bra L; {} L: st.global.u32 [%o], %y;",
        code));
  };
  const KernelVerdict wraps =
      compared(text(""), text("setp.ge.s32 %p2, %r1, %n; @%p2 bra L; mov.u32 %y, 7;"));
  CHECK(wraps.kind == Kind::agree);
  CHECK(wraps.not_exercised.empty());
  VerifyOptions how;
  how.search = 60; // in vain
  const KernelVerdict loaded =
      compared(text(""), text("setp.ne.s32 %p2, %r2, 1234567; @%p2 bra L; mov.u32 %y, 3;"), how);
  CHECK(loaded.kind == Kind::not_exercised);
  CHECK(loaded.wrapping.empty());
}

TEST_CASE("code of several ways is left out only where an index wraps around on all of them") {
  const auto text = [](std::string_view code) {
    return with_start(fmt::format(
        "ld.global.u32 %r2, [%p]; setp.gt.s32 %p1, %n, 10000; selp.u32 %n, 10000, %n, %p1;"
        "mov.u32 %y, 7; mad.lo.s32 %x, %b, %w, %t; add.s32 %r1, %x, 96; setp.ge.s32 %p1, %x, %n;"
        "@!%p1 bra L; {} L: st.global.u32 [%o], %y;",
        code));
  };
  const auto with = [&](const char *second) {
    VerifyOptions how;
    how.search = 60;
    return compared(text(""),
                    text(fmt::format("setp.lt.s32 %p2, %r1, %n; @%p2 bra A; {};"
                                     "@%p3 bra A; bra L; A: mov.u32 %y, 7;",
                                     second)),
                    how);
  };
  const KernelVerdict both = with("add.s32 %r3, %x, 64; setp.lt.s32 %p3, %r3, %n");
  CHECK(both.kind == Kind::agree);
  CHECK(!both.wrapping.empty());
  const KernelVerdict one = with("setp.eq.s32 %p3, %r2, 1234567");
  CHECK(one.kind == Kind::not_exercised);
}

TEST_CASE("a number that was stored on the way says which way it was") {
  // Both ways go through M, and then on to where each came from: the test of %t there comes out as
  // it did before.
  const auto text = [](std::string_view code) {
    return with_start(fmt::format("mov.u32 %y, 5; setp.lt.u32 %p1, %t, 40; @%p1 bra A;"
                                  "mov.u32 %r1, 2; bra M; A: mov.u32 %r1, 1; M: add.u32 %y, %y, 1;"
                                  "setp.eq.u32 %p2, %r1, 1; @%p2 bra B; bra E;"
                                  "B: {} E: st.global.u32 [%o], %y;",
                                  code));
  };
  const auto with = [&](const char *least) {
    return compared(
        text(""), text(fmt::format("setp.lt.u32 %p1, %t, {}; @%p1 bra E; mov.u32 %y, 9;", least)));
  };
  CHECK(with("40").kind == Kind::agree);
  CHECK(with("39").kind == Kind::differ);
}

TEST_CASE("re-tiled versions of the commonest kernels are exercised as a whole") {
  constexpr const char *text = R"(ld.param.u64 %a, [p_a]; ld.param.u64 %out, [p_out];
	ld.param.u32 %n, [p_n]; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x; mov.u32 %x, %tid.x;
	mad.lo.s32 %t, %b, %w, %x; mov.u32 %y, %nctaid.x; mul.lo.s32 %r1, %y, %w;
	setp.ge.s32 %p1, %t, %n; @%p1 bra E;
L:	mul.wide.s32 %e, %t, 4; add.s64 %p, %a, %e; ld.global.f32 %f1, [%p]; add.f32 %f2, %f1, %f1;
	add.s64 %o, %out, %e; st.global.f32 [%o], %f2; {}
E:)";
  for (const char *loop : {"", "add.s32 %t, %t, %r1; setp.lt.s32 %p1, %t, %n; @%p1 bra L;"}) {
    const auto original = parse_module(kernel(fmt::format(fmt::runtime(text), loop)));
    SiblingOptions options;
    options.wanted["retile"] = {"x2", "x4"};
    const SiblingResult result = add_siblings(*original, options);
    const auto rewritten = parse_module(result.text);
    unsigned compared = 0;
    for (const SiblingTable &table : sibling_tables(*rewritten))
      for (const Sibling &sibling : table.siblings) {
        VerifyOptions how;
        how.kernel = "k";
        how.stand_in = sibling;
        how.search = 60; // what only wraps is known, and need not be met by chance
        const KernelVerdict verdict = verify(*original, *rewritten, how)[0];
        INFO(sibling.name);
        CHECK(verdict.kind == Kind::agree);
        CHECK(verdict.not_exercised.empty());
        ++compared;
      }
    CHECK(compared == 2);
  }
}

TEST_CASE("loops that go on by parameters end in launches that are searched for") {
  // The last numbers that an index of rows of rows can have: far from where a loop begins.
  const auto text = [](std::string_view code) {
    return kernel(fmt::format(R"(ld.param.u64 %out, [p_out]; ld.param.u32 %n, [p_nx];
	ld.param.u32 %r1, [p_ny]; ld.param.u32 %r2, [p_nz]; ld.param.u32 %r3, [p_steps];
	ld.param.u32 %r4, [p_steps+4]; ld.param.u32 %r5, [p_steps+8];
	mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x; mov.u32 %x, %tid.x; mad.lo.s32 %t, %b, %w, %x;
	mov.u32 %b, %ctaid.y; mov.u32 %w, %ntid.y; mov.u32 %x, %tid.y; mad.lo.s32 %r6, %b, %w, %x;
	mov.u32 %b, %ctaid.z; mov.u32 %w, %ntid.z; mov.u32 %x, %tid.z; mad.lo.s32 %r7, %b, %w, %x;
Z:	setp.ge.s32 %p1, %r7, %r2; @%p1 bra E; mov.u32 %r8, %r6;
Y:	setp.ge.s32 %p1, %r8, %r1; @%p1 bra N; mov.u32 %r9, %t;
X:	setp.ge.s32 %p1, %r9, %n; @%p1 bra M;
	mad.lo.s32 %x, %r7, %r1, %r8; mad.lo.s32 %x, %x, %n, %r9; {}
	mul.wide.s32 %e, %x, 4; add.s64 %o, %out, %e; st.global.u32 [%o], %r9;
	add.s32 %r9, %r9, %r3; bra X;
M:	add.s32 %r8, %r8, %r4; bra Y;
N:	add.s32 %r7, %r7, %r5; bra Z;
E:)",
                              code),
                  ".param .u64 p_out, .param .u32 p_nx, .param .u32 p_ny, .param .u32 p_nz, "
                  ".param .align 4 .b8 p_steps[12]");
  };
  const KernelVerdict verdict =
      compared(text(""), text("setp.gt.s32 %p2, %x, 2147483645; selp.u32 %y, 3, 4, %p2;"));
  CHECK(verdict.kind == Kind::agree);
  CHECK(verdict.one_sided.empty());
}

TEST_CASE("every kernel of the suite differs from its variants that are wrong on purpose") {
  unsigned different = 0;
  for (const auto &entry :
       std::filesystem::directory_iterator(std::string(SOURCE_DIR) + "/kernelgen-bench/ptx")) {
    std::ifstream file(entry.path());
    std::stringstream stream;
    stream << file.rdbuf();
    const std::string text = stream.str();
    const auto original = parse_module(text);
    for (const Variant variant : {Variant::no_load, Variant::no_corner}) {
      RewriteOptions options;
      options.shuffle = ShuffleMode::always;
      options.variant = variant;
      const auto rewritten = rewrite_module(text, "k.ptx", options);
      REQUIRE(rewritten.has_value());
      if (!rewritten->changed)
        continue;
      const auto other = parse_module(rewritten->text);
      bool differs = false;
      for (const KernelVerdict &verdict : verify(*original, *other, {}))
        differs |= verdict.kind == Kind::differ;
      INFO(entry.path().filename().string());
      CHECK(differs);
      different += differs;
    }
  }
  MESSAGE(different, " variants differ");
  CHECK(different >= 40);
}
