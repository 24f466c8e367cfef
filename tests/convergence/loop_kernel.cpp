// Kernels that try to get the lanes of a warp out of step (soundness.md, E1).
//
// Each has one pair of loads of neighbours inside a loop, at addresses that step with the counters
// of the loops around it. They end because every loop counts its iterations against a limit of at
// most seven, whichever way it goes around. Whether they meet is not decided here: where lanes
// would wait forever, the program that uses these kernels drops them.

#include "loop_kernel.h"

#include "emulator/machine/warp_memory.h"

#include <fmt/core.h>
#include <vector>

namespace ptxasw::test {

const char *const loop_functions = R"(.func meet(.param .b32 mask)
{
	.reg .b32 %m;
	ld.param.b32 %m, [mask];
	bar.warp.sync %m;
	ret;
}
.func rounds(.param .b32 count)
{
	.reg .b32 %c, %n;
	.reg .pred %p;
	ld.param.b32 %n, [count];
	mov.u32 %c, 0;
AGAIN:
	bar.warp.sync -1;
	add.u32 %c, %c, 1;
	setp.lt.u32 %p, %c, %n;
	@%p bra AGAIN;
	ret;
}
)";

namespace {

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed ^ 0x10095) {
    // Some kernels never meet, so that parting without it is also tested.
    meets_ = !random_.one_in(4);
  }

  LoopKernel kernel(const std::string &name) {
    const auto count = 1 + below(2);
    for (std::uint64_t i = 0; i < count; ++i)
      loop();
    return {text(name, false), text(name, true)};
  }

private:
  struct Loop {
    std::string counter, limit, top, latch, exit;
  };

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  bool one_in(std::uint64_t n) { return random_.one_in(n); }
  void line(std::string text) { body_ += "\t" + std::move(text) + "\n"; }
  void label(const std::string &name) { body_ += name + ":\n"; }
  std::string reg() { return fmt::format("%r{}", registers_++); }
  std::string predicate() { return fmt::format("%p{}", predicates_++); }
  std::string new_label() { return fmt::format("L{}", labels_++); }

  /// A predicate that some lanes have and some have not, or all the same.
  std::string condition() {
    std::string p = predicate();
    const std::string r = reg();
    const std::string counter = loops_.empty() ? "0" : loops_[below(loops_.size())].counter;
    switch (below(8)) {
    case 0:
      line(fmt::format("setp.lt.u32 {}, %t, {};", p, 1 + below(31)));
      break;
    case 1: // the first iterations, of some lanes
      line(fmt::format("and.b32 {}, %t, {};", r, one_in(2) ? 1 : 3));
      line(fmt::format("setp.lt.u32 {}, {}, {};", p, counter, r));
      break;
    case 2: // by lane and iteration
      line(fmt::format("xor.b32 {}, %t, {};", r, counter));
      line(fmt::format("and.b32 {0}, {0}, {1};", r, one_in(2) ? 1 : 3));
      line(fmt::format("setp.eq.u32 {}, {}, 0;", p, r));
      break;
    case 3: // by what was loaded
      line(fmt::format("shr.u32 {}, %acc, {};", r, 3 + below(20)));
      line(fmt::format("and.b32 {0}, {0}, 1;", r));
      line(fmt::format("setp.eq.u32 {}, {}, 0;", p, r));
      break;
    case 4: // in all lanes alike, if they are in step
      line(fmt::format("setp.eq.u32 {}, {}, {};", p, counter, below(4)));
      break;
    case 5: // never the last iterations
      line(fmt::format("and.b32 {}, %t, 1;", r));
      line(fmt::format("setp.eq.u32 {}, {}, 1;", p, r));
      line(fmt::format("setp.eq.and.u32 {0}, {1}, {2}, {0};", p, counter, below(3)));
      break;
    default: // a few lanes, once
      line(fmt::format("setp.eq.u32 {}, %t, {};", p, below(32)));
      line(fmt::format("setp.eq.and.u32 {0}, {1}, {2}, {0};", p, counter, below(3)));
    }
    return p;
  }

  void meet() {
    if (!meets_)
      return;
    std::string mask = "-1";
    if (one_in(5)) { // whoever is here
      mask = reg();
      line(fmt::format("activemask.b32 {};", mask));
    }
    const std::string r = reg();
    switch (below(9)) {
    case 0:
    case 1:
      line(fmt::format("bar.warp.sync {};", mask));
      break;
    case 2:
      line(fmt::format("shfl.sync.idx.b32 {}, %acc, %t, 31, {};", r, mask));
      break;
    case 3:
      line(fmt::format("vote.sync.ballot.b32 {}, 1, {};", r, mask));
      break;
    case 4:
      line(fmt::format("match.any.sync.b32 {}, %t, {};", r, mask));
      break;
    case 5:
      line(fmt::format("redux.sync.or.b32 {}, 1, {};", r, mask));
      break;
    case 6:
      line("barrier.sync 1, 32;");
      break;
    case 7:
      line("{ .param .b32 x;");
      line(fmt::format("st.param.b32 [x], {};", mask));
      line("call.uni meet, (x); }");
      break;
    default:
      line("{ .param .b32 x;");
      line(fmt::format("st.param.b32 [x], {};", 1 + below(3)));
      line("call.uni rounds, (x); }");
    }
  }

  void go_round() {
    // To the latch of an outer loop, or around by a latch of its own.
    Loop &loop = one_in(5) ? loops_[below(loops_.size())] : loops_.back();
    const std::string p = condition();
    if (!one_in(4)) {
      line(fmt::format("@{} bra {};", p, loop.latch));
      return;
    }
    const std::string on = new_label(), q = predicate();
    line(fmt::format("@!{} bra {};", p, on));
    line(fmt::format("add.u32 {0}, {0}, 1;", loop.counter));
    line(fmt::format("setp.lt.u32 {}, {}, {};", q, loop.counter, loop.limit));
    line(fmt::format("@{} bra {};", q, loop.top));
    line(fmt::format("bra {};", loop.exit));
    label(on);
  }

  void leave() {
    const std::string p = condition();
    line(fmt::format("@{} bra {};", p,
                     (one_in(5) ? loops_[below(loops_.size())] : loops_.back()).exit));
  }

  void branch() {
    const std::string p = condition(), other = new_label(), end = new_label();
    line(fmt::format("@!{} bra {};", p, other));
    statements(1 + below(2));
    line(fmt::format("bra {};", end));
    label(other);
    if (one_in(2))
      statements(1);
    label(end);
  }

  void choose() { // switch
    const std::string r = reg(), end = new_label(), table = fmt::format("T{}", labels_++);
    const auto cases = 2 + below(2);
    std::vector<std::string> labels;
    for (std::uint64_t i = 0; i < cases; ++i)
      labels.push_back(new_label());
    line(fmt::format("add.u32 {}, {}, {};", r, one_in(2) ? "%t" : "%acc", loops_.back().counter));
    line(fmt::format("rem.u32 {0}, {0}, {1};", r, cases));
    std::string list;
    for (const std::string &l : labels)
      list += (list.empty() ? "" : ", ") + l;
    line(fmt::format("{}: .branchtargets {};", table, list));
    line(fmt::format("brx.idx {}, {};", r, table));
    for (const std::string &l : labels) {
      label(l);
      if (one_in(3))
        go_round();
      else if (one_in(2))
        meet();
      else if (one_in(4))
        leave();
      if (!one_in(5)) // falls through otherwise
        line(fmt::format("bra {};", end));
    }
    label(end);
  }

  void statement() {
    ++statements_;
    switch (below(12)) {
    case 0:
    case 1:
      return go_round();
    case 2:
      return leave();
    case 3:
    case 4:
    case 5:
      return meet();
    case 6:
      return depth_ < 3 ? branch() : meet();
    case 7:
      return depth_ < 3 ? choose() : meet();
    case 8:
    case 9:
      return loops_.size() < 3 && statements_ < 25 ? loop() : meet();
    case 10:
      if (one_in(3)) {
        const std::string p = condition();
        line(fmt::format("@{} bra DONE;", p));
      }
      return;
    default:
      return probe();
    }
  }

  void statements(std::uint64_t count) {
    ++depth_;
    for (std::uint64_t i = 0; i < count; ++i)
      statement();
    --depth_;
  }

  void probe() {
    if (probed_)
      return;
    probed_ = true;
    const std::string e = "%e";
    line("mov.u32 %s, %t;");
    static constexpr unsigned strides[] = {37, 331, 2903};
    for (std::size_t i = 0; i < loops_.size(); ++i)
      line(fmt::format("mad.lo.u32 %s, {}, {}, %s;", loops_[i].counter, strides[i]));
    line("mul.wide.u32 %e, %s, 4;");
    line("add.s64 %e, %a, %e;");
    line("ld.global.u32 %x, [%e];");
    line("ld.global.u32 %y, [%e+4];");
    trap_at_ = body_.size();
    for (std::size_t i = 0; i < loops_.size(); ++i)
      trap_ += fmt::format("\tmad.lo.u32 %k, {}, {}, {};\n", loops_[i].counter,
                           std::uint64_t{1} << 8 * i, i == 0 ? "0" : "%k");
    trap_ += "\tactivemask.b32 %m;\n\tsetp.eq.u32 %full, %m, -1;\n"
             "\tshfl.sync.idx.b32 %k0, %k, 0, 31, %m;\n\tsetp.ne.and.u32 %full, %k, %k0, %full;\n"
             "\t@%full mov.u32 %found, 1;\n";
    line("mad.lo.u32 %acc, %acc, 31, %x;");
    line("mad.lo.u32 %acc, %acc, 17, %y;");
  }

  void loop() {
    const std::string counter = reg(), limit = reg(), q = predicate();
    const Loop loop{counter, limit, new_label(), new_label(), new_label()};
    line(fmt::format("mov.u32 {}, 0;", counter));
    switch (below(4)) {
    case 0:
      line(fmt::format("and.b32 {}, %t, {};", limit, one_in(2) ? 1 : 3));
      line(fmt::format("add.u32 {0}, {0}, {1};", limit, 2 + below(3)));
      break;
    case 1:
      line(fmt::format("and.b32 {}, %acc, 3;", limit));
      line(fmt::format("add.u32 {0}, {0}, {1};", limit, 1 + below(3)));
      break;
    default:
      line(fmt::format("mov.u32 {}, {};", limit, 2 + below(4)));
    }
    loops_.push_back(loop);
    const bool tested_first = one_in(3);
    // An irreducible loop is also entered in its middle.
    std::string middle;
    if (one_in(10)) {
      middle = new_label();
      const std::string p = condition();
      line(fmt::format("@{} bra {};", p, middle));
    }
    label(loop.top);
    if (tested_first) {
      line(fmt::format("setp.ge.u32 {}, {}, {};", q, counter, limit));
      line(fmt::format("@{} bra {};", q, loop.exit));
    }
    statements(1 + below(3));
    if (!middle.empty())
      label(middle);
    if (one_in(2))
      probe();
    statements(below(3));
    if (loops_.size() == 1 && !probed_)
      probe();
    label(loop.latch);
    line(fmt::format("add.u32 {0}, {0}, 1;", counter));
    if (tested_first) {
      line(fmt::format("bra {};", loop.top));
    } else {
      line(fmt::format("setp.lt.u32 {}, {}, {};", q, counter, limit));
      line(fmt::format("@{} bra {};", q, loop.top));
    }
    label(loop.exit);
    loops_.pop_back();
  }

  std::string text(const std::string &name, bool trap) const {
    std::string code = body_;
    if (trap)
      code.insert(trap_at_, trap_);
    return fmt::format(R"(.visible .entry {}(.param .u64 a, .param .u64 out, .param .u64 flag)
.reqntid 32, 1, 1
{{
	.reg .b64 %a, %out, %flag, %e, %t4;
	.reg .b32 %t, %s, %x, %y, %acc, %k, %k0, %m, %found, %r<{}>;
	.reg .pred %full, %p<{}>;
	ld.param.u64 %a, [a];
	ld.param.u64 %out, [out];
	ld.param.u64 %flag, [flag];
	mov.u32 %t, %tid.x;
	mul.wide.u32 %t4, %t, 4;
	add.s64 %out, %out, %t4;
	add.s64 %flag, %flag, %t4;
	mov.u32 %acc, 17;
	mov.u32 %found, 0;
{}DONE:
	st.global.u32 [%out], %acc;
	st.global.u32 [%flag], %found;
	ret;
}}
)",
                       name, registers_ + 1, predicates_ + 1, code);
  }

  WarpRandom random_;
  std::string body_, trap_;
  std::vector<Loop> loops_;
  bool meets_ = true, probed_ = false;
  std::size_t trap_at_ = 0;
  unsigned registers_ = 0, predicates_ = 0, labels_ = 0, depth_ = 0, statements_ = 0;
};

} // namespace

LoopKernel loop_kernel(std::uint64_t seed, const std::string &name) {
  return Generator(seed).kernel(name);
}

} // namespace ptxasw::test
