#include "family.h"

#include <fmt/core.h>

#include <array>
#include <iterator>
#include <vector>

namespace ptxasw::scaling {
namespace {

/// A kernel with parameters p, q, n; %rd1 and %rd2 point to global memory, %r1 is %tid.x, %r2 a
/// grid's index, %r3 is n.
class Writer {
public:
  Writer() {
    text_ = ".version 8.0\n.target sm_80\n.address_size 64\n"
            ".visible .entry k(.param .u64 p, .param .u64 q, .param .u32 n)\n{\n";
    declarations_ = text_.size();
    line("ld.param.u64 %rd1, [p];");
    line("ld.param.u64 %rd2, [q];");
    line("ld.param.u32 %r3, [n];");
    line("mov.u32 %r1, %tid.x;");
    line("mov.u32 %r4, %ctaid.x;");
    line("mov.u32 %r5, %ntid.x;");
    line("mad.lo.s32 %r2, %r4, %r5, %r1;");
    line("mov.f32 %f1, 0f00000000;");
  }

  template <class... Arguments>
  void line(fmt::format_string<Arguments...> format, Arguments &&...arguments) {
    text_ += fmt::format(format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
    ++count_;
  }
  void label(std::size_t number) { text_ += fmt::format("L{}:\n", number); }
  void raw(std::string_view text) { text_ += text; }

  std::size_t count() const { return count_; }
  /// Numbers no register of that kind has yet; the first ten are the writer's.
  std::size_t integer() { return integers_++; }
  std::size_t wide() { return wides_++; }
  std::size_t real() { return reals_++; }
  std::size_t predicate() { return predicates_++; }
  std::size_t new_label() { return labels_++; }

  /// Adds what lies at `offset` bytes from a place that a 32-bit register indexes to %f1.
  void load(std::size_t index, std::size_t offset, std::string_view base = "%rd1") {
    const std::size_t a = wide(), b = wide(), f = real();
    line("mul.wide.s32 %rd{}, %r{}, 4;", a, index);
    line("add.s64 %rd{}, {}, %rd{};", b, base, a);
    line("ld.global.f32 %f{}, [%rd{}+{}];", f, b, offset);
    line("add.f32 %f1, %f1, %f{};", f);
  }

  std::string finish() {
    line("mul.wide.s32 %rd3, %r2, 4;");
    line("add.s64 %rd4, %rd2, %rd3;");
    line("st.global.f32 [%rd4], %f1;");
    line("ret;");
    text_ += "}\n";
    text_.insert(declarations_,
                 fmt::format(".reg .b32 %r<{}>;\n.reg .b64 %rd<{}>;\n.reg .f32 %f<{}>;\n"
                             ".reg .pred %p<{}>;\n",
                             integers_, wides_, reals_, predicates_));
    return std::move(text_);
  }

private:
  std::string text_;
  std::size_t declarations_ = 0, count_ = 0;
  std::size_t integers_ = 10, wides_ = 10, reals_ = 10, predicates_ = 1, labels_ = 0;
};

/// A stencil written out: every unit reads its own neighbourhood.
std::string straight_line(std::size_t size) {
  Writer writer;
  for (std::size_t unit = 0; writer.count() + 4 < size || unit == 0; ++unit) {
    const std::size_t index = writer.integer();
    writer.line("add.s32 %r{}, %r2, {};", index, unit / 8);
    writer.load(index, 4 * (unit % 8));
  }
  return writer.finish();
}

/// if/else after if/else, each choosing what the next address depends on.
std::string ladder(std::size_t size) {
  Writer writer;
  writer.line("mov.u32 %r9, %r2;");
  for (std::size_t unit = 0; writer.count() + 4 < size || unit == 0; ++unit) {
    const std::size_t p = writer.predicate(), otherwise = writer.new_label(),
                      end = writer.new_label();
    writer.line("setp.gt.s32 %p{}, %r3, {};", p, unit);
    writer.line("@%p{} bra L{};", p, otherwise);
    writer.line("add.s32 %r9, %r9, {};", unit + 1);
    writer.line("bra L{};", end);
    writer.label(otherwise);
    writer.line("sub.s32 %r9, %r9, {};", unit + 1);
    writer.label(end);
    writer.load(9, 4 * (unit % 8));
  }
  return writer.finish();
}

/// if in if in if: as deep as the kernel is long.
std::string nested_branches(std::size_t size) {
  Writer writer;
  std::size_t depth = 0;
  std::string ends;
  for (; writer.count() + depth + 4 < size || depth == 0; ++depth) {
    const std::size_t p = writer.predicate();
    writer.line("setp.eq.s32 %p{}, %r3, {};", p, depth);
    writer.line("@%p{} bra L{};", p, writer.new_label());
    writer.load(2, 4 * (depth % 8));
  }
  for (std::size_t unit = depth; unit-- > 0;)
    writer.label(unit);
  return writer.finish();
}

/// Nests of loops, each `depth` deep, one behind the other.
std::string nests(std::size_t size, std::size_t depth) {
  Writer writer;
  for (bool first = true; writer.count() + 4 < size || first; first = false) {
    std::vector<std::size_t> counters, labels;
    for (std::size_t level = 0; level < depth; ++level) {
      counters.push_back(writer.integer());
      labels.push_back(writer.new_label());
      writer.line("mov.u32 %r{}, {};", counters.back(), level);
      writer.label(labels.back());
    }
    const std::size_t index = writer.integer();
    writer.line("mov.u32 %r{}, %r2;", index);
    for (const std::size_t counter : counters)
      writer.line("mad.lo.s32 %r{0}, %r{0}, %r3, %r{1};", index, counter);
    writer.load(index, 0);
    writer.load(index, 4);
    for (std::size_t level = depth; level-- > 0;) {
      const std::size_t p = writer.predicate();
      writer.line("add.s32 %r{0}, %r{0}, 1;", counters[level]);
      writer.line("setp.lt.s32 %p{}, %r{}, %r3;", p, counters[level]);
      writer.line("@%p{} bra L{};", p, labels[level]);
    }
  }
  return writer.finish();
}
std::string loop_nests(std::size_t size) { return nests(size, 3); }
std::string deep_nests(std::size_t size) { return nests(size, 12); }

/// One loop whose body is as long as the kernel, with registers that go round.
std::string long_loop(std::size_t size) {
  Writer writer;
  const std::size_t start = writer.new_label();
  writer.line("mov.u32 %r9, 0;");
  writer.label(start);
  for (std::size_t unit = 0; writer.count() + 10 < size || unit == 0; ++unit) {
    const std::size_t p = writer.predicate(), skip = writer.new_label(), next = writer.integer();
    writer.line("add.s32 %r{}, %r9, {};", next, unit);
    writer.line("setp.gt.s32 %p{}, %r3, {};", p, unit);
    writer.line("@%p{} bra L{};", p, skip);
    writer.load(next, 4 * (unit % 8));
    writer.label(skip);
  }
  writer.line("add.s32 %r9, %r9, %r3;");
  writer.line("setp.lt.s32 %p0, %r9, 1000;");
  writer.line("@%p0 bra L{};", start);
  return writer.finish();
}

/// One brx.idx with as many cases as fit.
std::string jump_table(std::size_t size) {
  Writer writer;
  std::string table = "T: .branchtargets ";
  const std::size_t end = writer.new_label();
  std::vector<std::size_t> cases;
  for (std::size_t left = size > 20 ? size - 20 : 0; cases.empty() || left >= 6; left -= 6) {
    cases.push_back(writer.new_label());
    table += fmt::format("{}L{}", cases.size() > 1 ? ", " : "", cases.back());
    if (left < 6)
      break;
  }
  writer.line("mov.u32 %r9, 0;");
  writer.raw(table + ";\n");
  writer.line("brx.idx %r3, T;");
  for (std::size_t unit = 0; unit < cases.size(); ++unit) {
    writer.label(cases[unit]);
    const std::size_t index = writer.integer();
    writer.line("add.s32 %r{}, %r2, {};", index, unit);
    writer.load(index, 0);
    writer.line("bra L{};", end);
  }
  writer.label(end);
  return writer.finish();
}

/// One case after the other, compared and left: what a switch without a table becomes.
std::string compare_chain(std::size_t size) {
  Writer writer;
  const std::size_t end = writer.new_label();
  writer.line("mov.u32 %r9, 0;");
  for (std::size_t unit = 0; writer.count() + 4 < size || unit == 0; ++unit) {
    const std::size_t p = writer.predicate(), next = writer.new_label();
    writer.line("setp.ne.s32 %p{}, %r3, {};", p, unit);
    writer.line("@%p{} bra L{};", p, next);
    writer.line("add.s32 %r9, %r2, {};", unit);
    writer.load(9, 0);
    writer.line("bra L{};", end);
    writer.label(next);
  }
  writer.label(end);
  writer.load(9, 4);
  return writer.finish();
}

/// A product of matrices with its inner loop unrolled: rows of one, columns of the other.
std::string matrix_product(std::size_t size) {
  Writer writer;
  writer.line("mul.lo.s32 %r8, %r4, %r3;");
  for (std::size_t unit = 0; writer.count() + 4 < size || unit == 0; ++unit) {
    const std::size_t row = writer.integer(), column = writer.integer();
    writer.line("add.s32 %r{}, %r8, {};", row, unit);
    writer.line("mad.lo.s32 %r{}, %r3, {}, %r2;", column, unit);
    const std::size_t a = writer.wide(), b = writer.wide(), c = writer.wide(), d = writer.wide();
    const std::size_t f = writer.real(), g = writer.real();
    writer.line("mul.wide.s32 %rd{}, %r{}, 4;", a, row);
    writer.line("add.s64 %rd{}, %rd1, %rd{};", b, a);
    writer.line("ld.global.f32 %f{}, [%rd{}];", f, b);
    writer.line("mul.wide.s32 %rd{}, %r{}, 4;", c, column);
    writer.line("add.s64 %rd{}, %rd2, %rd{};", d, c);
    writer.line("ld.global.f32 %f{}, [%rd{}];", g, d);
    writer.line("fma.rn.f32 %f1, %f{}, %f{}, %f1;", f, g);
  }
  return writer.finish();
}

/// Loads and stores in turn, whose addresses may or may not be the same.
std::string stores_between(std::size_t size) {
  Writer writer;
  for (std::size_t unit = 0; writer.count() + 4 < size || unit == 0; ++unit) {
    writer.load(2, 4 * (unit % 8));
    const std::size_t a = writer.wide();
    writer.line("add.s64 %rd{}, %rd2, {};", a, 4 * unit);
    writer.line("st.global.f32 [%rd{}], %f1;", a);
  }
  return writer.finish();
}

/// Loads under predicates, each made from the one before by and.pred and or.pred.
std::string predicate_chain(std::size_t size) {
  Writer writer;
  std::size_t p = writer.predicate();
  writer.line("setp.gt.s32 %p{}, %r2, %r3;", p);
  for (std::size_t unit = 0; writer.count() + 10 < size || unit == 0; ++unit) {
    const std::size_t q = writer.predicate(), both = writer.predicate(), next = writer.predicate();
    writer.line("setp.lt.s32 %p{}, %r3, {};", q, unit);
    writer.line("and.pred %p{}, %p{}, %p{};", both, p, q);
    writer.line("or.pred %p{}, %p{}, %p{};", next, both, p);
    p = next;
    if (unit % 8 == 0) {
      const std::size_t f = writer.real();
      writer.line("mov.f32 %f{}, 0f00000000;", f);
      writer.line("@%p{} ld.global.f32 %f{}, [%rd1+{}];", p, f, unit % 64);
      writer.line("add.f32 %f1, %f1, %f{};", f);
    }
  }
  const std::size_t skip = writer.new_label();
  writer.line("@%p{} bra L{};", p, skip);
  for (std::size_t i = 0; i < 3; ++i)
    writer.load(2, 4 * i);
  writer.label(skip);
  return writer.finish();
}

/// Predicates turned round and exchanged under a guard, again and again.
std::string swap_chain(std::size_t size) {
  Writer writer;
  const std::size_t c = writer.predicate(), a = writer.predicate(), b = writer.predicate(),
                    t = writer.predicate();
  writer.line("setp.gt.s32 %p{}, %r2, %r3;", a);
  writer.line("setp.lt.s32 %p{}, %r3, 7;", b);
  for (std::size_t unit = 0; writer.count() + 12 < size || unit == 0; ++unit) {
    writer.line("setp.ne.s32 %p{}, %r3, {};", c, unit);
    writer.line("@%p{} not.pred %p{}, %p{};", c, a, a);
    writer.line("mov.pred %p{}, %p{};", t, a);
    writer.line("@%p{} mov.pred %p{}, %p{};", c, a, b);
    writer.line("@%p{} mov.pred %p{}, %p{};", c, b, t);
  }
  const std::size_t skip = writer.new_label();
  writer.line("@%p{} bra L{};", a, skip);
  for (std::size_t i = 0; i < 3; ++i)
    writer.load(2, 4 * i);
  writer.label(skip);
  return writer.finish();
}

/// Branches between predicates that depend on each other, with loads behind each.
std::string predicate_branches(std::size_t size) {
  Writer writer;
  const std::size_t p = writer.predicate();
  writer.line("setp.gt.s32 %p{}, %r2, %r3;", p);
  const std::size_t end = writer.new_label();
  for (std::size_t unit = 0; writer.count() + 12 < size || unit == 0; ++unit) {
    const std::size_t q = writer.predicate();
    writer.line("setp.lt.s32 %p{}, %r3, {};", q, unit);
    writer.line("@%p{} and.pred %p{}, %p{}, %p{};", q, p, p, q);
    writer.line("xor.pred %p{}, %p{}, %p{};", p, p, q);
    if (unit % 4 == 3) {
      writer.line("@%p{} bra L{};", p, end);
      writer.load(2, 0);
      writer.load(2, 4);
    }
  }
  writer.label(end);
  return writer.finish();
}

/// Loops in loops in loops: as deep as the kernel is long.
std::string nested_loops(std::size_t size) {
  return nests(size, std::max<std::size_t>(1, size / 6));
}

/// ConvergencePoints at every level of such a nest.
std::string meetings_in_loops(std::size_t size) {
  Writer writer;
  for (bool first = true; writer.count() + 12 < size || first; first = false) {
    const std::size_t outer = writer.integer(), inner = writer.integer(), p = writer.predicate(),
                      q = writer.predicate(), skip = writer.new_label(), a = writer.new_label(),
                      b = writer.new_label();
    writer.line("mov.u32 %r{}, 0;", outer);
    writer.label(a);
    writer.line("bar.warp.sync -1;");
    writer.line("mov.u32 %r{}, 0;", inner);
    writer.label(b);
    writer.line("setp.gt.s32 %p{}, %r2, %r{};", q, inner);
    writer.line("@%p{} bra L{};", q, skip);
    writer.line("add.f32 %f1, %f1, %f1;");
    writer.label(skip);
    writer.line("bar.warp.sync -1;");
    writer.load(2, 0);
    writer.load(2, 4);
    writer.line("add.s32 %r{0}, %r{0}, 1;", inner);
    writer.line("setp.lt.s32 %p{}, %r{}, 5;", p, inner);
    writer.line("@%p{} bra L{};", p, b);
    writer.line("add.s32 %r{0}, %r{0}, 1;", outer);
    writer.line("setp.lt.s32 %p{}, %r{}, %r3;", p, outer);
    writer.line("@%p{} bra L{};", p, a);
  }
  return writer.finish();
}

/// One place to which every branch leads, with registers that each of them has written.
std::string wide_joins(std::size_t size) {
  Writer writer;
  const std::size_t end = writer.new_label();
  std::vector<std::size_t> carried;
  for (int i = 0; i < 8; ++i) {
    carried.push_back(writer.integer());
    writer.line("mov.u32 %r{}, %r2;", carried.back());
  }
  for (std::size_t unit = 0; writer.count() + 48 < size || unit == 0; ++unit) {
    const std::size_t p = writer.predicate();
    writer.line("setp.eq.s32 %p{}, %r3, {};", p, unit);
    writer.line("@%p{} bra L{};", p, end);
    writer.line("add.s32 %r{0}, %r{0}, %r{1};", carried[unit % 8], carried[(unit + 3) % 8]);
  }
  writer.label(end);
  for (const std::size_t reg : carried)
    writer.load(reg, 0);
  for (const std::size_t reg : carried)
    writer.load(reg, 4);
  return writer.finish();
}

constexpr std::array table{
    Family{"straight-line", "a stencil written out", straight_line},
    Family{"stores-between", "loads and stores in turn", stores_between},
    Family{"ladder", "if/else after if/else", ladder},
    Family{"nested-branches", "if in if in if", nested_branches},
    Family{"loop-nests", "nests of three loops", loop_nests},
    Family{"deep-nests", "nests of twelve loops", deep_nests},
    Family{"long-loop", "one loop with branches", long_loop},
    Family{"jump-table", "one brx.idx", jump_table},
    Family{"compare-chain", "a switch by comparisons", compare_chain},
    Family{"predicate-chain", "predicates made from predicates", predicate_chain},
    Family{"swap-chain", "predicates exchanged under guards", swap_chain},
    Family{"predicate-branches", "branches by predicates that depend on each other",
           predicate_branches},
    Family{"nested-loops", "loop in loop in loop", nested_loops},
    Family{"meetings-in-loops", "loops whose lanes meet", meetings_in_loops},
    Family{"wide-joins", "one place to which every branch leads", wide_joins},
    Family{"matrix-product", "unrolled", matrix_product},
};

} // namespace

std::span<const Family> families() { return table; }

} // namespace ptxasw::scaling
