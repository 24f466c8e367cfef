// random_halo [--kernels N] [--seed S] [-v]
//
// Random stencils: blocks in rows, planes and cubes; elements of one to sixteen bytes at offsets
// side by side, with gaps, far apart or in rows above and below, whose pitch is a number or a
// parameter, the same for all threads or not; indices that are clamped, that go around or that are
// scaled; pointers that move between the loads; threads that return before, go around some of the
// loads or come to them in a loop; stores before and behind them, now and then to what is read.
// What is staged must compute the same on the warp emulator, which sees races and what nobody read
// before. Exit code 1: one is wrong; it is printed.

#include "synth/halo/halo.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <random>
#include <string>

using namespace ptxasw;

namespace {

class Kernel {
public:
  explicit Kernel(std::uint64_t seed) : random_(seed) {}

  std::string text() {
    static constexpr const char *shapes[] = {"64",    "64",    "128",     "32, 4",
                                             "32, 2", "8, 8",  "16, 8",   "8, 8, 4",
                                             "32, 4", "64, 2", "32, 4, 2"};
    const unsigned shape = below(11);
    rows_ = shape > 2;
    for (const char *name : {"a", "b", "out"})
      line(fmt::format("ld.param.u64 %p_{0}, [{0}];", name));
    line("ld.param.u32 %n, [n];");
    line("ld.param.u32 %m, [m];");
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %y, %tid.y;");
    line("mov.u32 %z, %tid.z;");
    line("mov.u32 %b, %ctaid.x;");
    line("mov.u32 %w, %ntid.x;");
    line("mad.lo.u32 %i, %b, %w, %t;");
    line("mad.lo.u32 %j, %z, 16, %y;"); // no block has more rows
    line("mad.lo.u32 %e, %j, 4096, %i;");
    line("mul.wide.u32 %d0, %e, 16;");
    line("add.s64 %p_out, %p_out, %d0;");
    line("and.b32 %m, %m, 127;");
    for (int i = 0; i < 4; ++i)
      line(fmt::format("add.u32 %r{}, %t, {};", i, below(9)));
    leave();
    const bool loops = one_in(6);
    if (loops)
      text_ += "$loop:\n";
    if (one_in(12))
      store();
    for (unsigned i = 1 + below(2); i > 0; --i)
      pointers();
    for (unsigned i = 2 + below(9); i > 0; --i) {
      load();
      other();
    }
    if (loops) {
      line("add.u32 %i, %i, %w;");
      line("sub.u32 %n, %n, 97;");
      line("setp.lt.u32 %q0, %n, 400;");
      line("@%q0 bra $loop;");
    }
    text_ += "$end:\n";
    for (int i = 0; i < 4; ++i)
      line(fmt::format("st.global.u32 [%p_out+{}], %r{};", 4 * i, i));
    line("ret;");
    return ".version 7.8\n.target sm_80\n.address_size 64\n"
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n, "
           ".param .u32 m) .reqntid " +
           std::string(shapes[shape]) +
           "\n{\n"
           "\t.reg .b64 %p_a, %p_b, %p_out, %d<200>, %v<40>;\n"
           "\t.reg .b32 %n, %m, %t, %y, %z, %b, %w, %i, %j, %e, %r<4>, %x<200>;\n"
           "\t.reg .b16 %h<4>;\n\t.reg .pred %q<60>;\n" +
           text_ + "}\n";
  }

private:
  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  bool one_in(unsigned n) { return below(n) == 0; }
  void line(const std::string &text) { text_ += "\t" + text + "\n"; }
  std::string any() { return fmt::format("%r{}", below(4)); }
  std::string word() { return fmt::format("%x{}", words_++); }
  std::string wide() { return fmt::format("%d{}", wides_++); }

  /// Some threads do not come.
  void leave() {
    if (!one_in(3))
      return;
    static constexpr const char *what[] = {"%i, %n", "%i, %m", "%t, %m", "%y, 1"};
    const unsigned q = predicates_++;
    line(fmt::format("setp.gt.u32 %q{}, {};", q, what[below(4)]));
    line(fmt::format("@%q{} {};", q, one_in(2) ? "ret" : "bra $end"));
  }

  /// An index that neighbours have next to each other, mostly.
  std::string index() {
    const std::string x = word();
    switch (below(9)) {
    case 0:
      line(fmt::format("min.u32 {}, %i, %m;", x));
      break;
    case 1:
      line(fmt::format("add.u32 {}, %i, 1;", x));
      line(fmt::format("min.u32 {0}, {0}, %n;", x));
      break;
    case 2:
      line(fmt::format("and.b32 {}, %i, {};", x, one_in(2) ? 63 : 1023));
      break;
    case 3:
      line(fmt::format("xor.b32 {}, %i, {};", x, one_in(2) ? 0 : 1));
      break;
    case 4:
      line(fmt::format("sub.u32 {}, %m, %i;", x));
      line(fmt::format("and.b32 {0}, {0}, 4095;", x));
      break;
    default:
      line(fmt::format("mov.u32 {}, %i;", x));
    }
    return x;
  }

  /// The pitch of an array, in elements.
  std::string pitch() {
    const std::string x = word();
    switch (below(5)) {
    case 0:
      line(fmt::format("max.u32 {}, %m, 40;", x));
      break;
    case 1:
      line(fmt::format("and.b32 {}, %b, 1;", x));
      line(fmt::format("add.u32 {0}, {0}, %m;", x));
      break;
    case 2:
      line(fmt::format("mov.u32 {}, {};", x, one_in(2) ? 200 : 32));
      break;
    default:
      line(fmt::format("mov.u32 {}, %m;", x));
    }
    return x;
  }

  /// Pointers to an element of an array and to those in rows around it.
  void pointers() {
    static constexpr unsigned sizes[] = {1, 2, 4, 4, 4, 4, 8, 16};
    const unsigned size = sizes[below(8)];
    const std::string from = one_in(3) ? "%p_b" : "%p_a", x = index(), at = word(), d = wide();
    const std::string p = rows_ || one_in(4) ? pitch() : "";
    if (p.empty() || one_in(8)) {
      line(fmt::format("mov.u32 {}, {};", at, x));
    } else {
      line(fmt::format("mad.lo.u32 {}, %j, {}, {};", at, p, x));
    }
    line(fmt::format("mul.wide.{}32 {}, {}, {};", one_in(2) ? 'u' : 's', d, at,
                     one_in(15) ? 2 * size : size));
    const std::string base = fmt::format("%v{}", pointers_.size());
    line(fmt::format("add.s64 {}, {}, {};", base, from, d));
    line(fmt::format("add.s64 {0}, {0}, 16384;", base));
    pointers_.push_back({base, size});
    if (p.empty())
      return;
    for (unsigned i = below(4); i > 0; --i) {
      const std::string other = fmt::format("%v{}", pointers_.size()), step = wide();
      const std::string q = one_in(6) ? pitch() : p;
      const unsigned way = below(4);
      line(fmt::format("mul.wide.u32 {}, {}, {};", step, q, way == 3 ? 3 * size : size));
      line(fmt::format("{}.s64 {}, {}, {};", way == 1 ? "sub" : "add", other, base, step));
      pointers_.push_back({other, size});
    }
  }

  void load() {
    const auto &[pointer, size] = pointers_[below(static_cast<unsigned>(pointers_.size()))];
    static constexpr int far[] = {-1, 0, 1, 0, 1, 2, -2, 3, -4, 9, -17, 40};
    const int offset = far[below(one_in(3) ? 12 : 5)] * static_cast<int>(size);
    const std::string nc = one_in(4) ? ".nc" : "", at = fmt::format("[{}+{}]", pointer, offset);
    const std::string guard = one_in(25) ? "@%q0 " : "", to = any();
    if (guard != "")
      line("setp.lt.u32 %q0, %r0, %r1;");
    if (size == 16) {
      const std::string a = word(), b = word();
      line(fmt::format("mov.u32 {}, 0;", a));
      line(fmt::format("mov.u32 {}, 0;", b));
      line(fmt::format("{}ld.global{}.v4.u32 {{%r0, {}, %r1, {}}}, {};", guard, nc, a, b, at));
      line(fmt::format("xor.b32 %r2, {}, {};", a, b));
    } else if (size == 8 && one_in(2)) {
      line(fmt::format("{}ld.global{}.v2.u32 {{%r2, %r3}}, {};", guard, nc, at));
    } else if (size == 8) {
      const std::string d = wide();
      line(fmt::format("mov.b64 {}, 0;", d));
      line(fmt::format("{}ld.global{}.u64 {}, {};", guard, nc, d, at));
      line(fmt::format("cvt.u32.u64 {}, {};", to, d));
    } else if (size == 2 && one_in(2)) {
      line(fmt::format("ld.global{}.u16 %h1, {};", nc, at));
      line(fmt::format("cvt.u32.u16 {}, %h1;", to));
    } else {
      static constexpr const char *types[] = {"u8", "s8", "u16", "s16", "u32", "f32"};
      line(fmt::format("{}ld.global{}.{} {}, {};", guard, nc,
                       types[(size == 1   ? 0
                              : size == 2 ? 2
                                          : 4) +
                             below(2)],
                       to, at));
    }
    line(fmt::format("add.u32 {}, {}, {};", any(), any(), any()));
  }

  void store() {
    if (one_in(3))
      line(
          fmt::format("st.global.u32 [%p_{}+{}], {};", one_in(2) ? "a" : "b", 4 * below(9), any()));
    else
      line(fmt::format("st.global.u32 [%p_out+{}], {};", 4 * below(4), any()));
  }

  void other() {
    switch (below(16)) {
    case 0:
      if (one_in(4))
        store();
      break;
    case 1:
    case 2: {
      const unsigned label = labels_++, q = predicates_++;
      line(fmt::format("setp.lt.u32 %q{}, {}, {};", q, one_in(2) ? any() : "%i",
                       one_in(2) ? "%m" : "%n"));
      line(fmt::format("@%q{} bra $over{};", q, label));
      line(fmt::format("xor.b32 {}, {}, {};", any(), any(), any()));
      if (one_in(3))
        load();
      text_ += fmt::format("$over{}:\n", label);
      break;
    }
    case 3:
      if (one_in(12))
        line("bar.sync 0;");
      break;
    case 4:
      if (one_in(3)) {
        const auto &[pointer, size] = pointers_[below(static_cast<unsigned>(pointers_.size()))];
        line(fmt::format("add.s64 {0}, {0}, {1};", pointer, size));
      }
      break;
    default:
      line(fmt::format("sub.s32 {}, {}, {};", any(), any(), any()));
    }
  }

  struct Pointer {
    std::string reg;
    unsigned size;
  };

  std::mt19937_64 random_;
  std::string text_;
  bool rows_ = false;
  unsigned labels_ = 0, words_ = 0, wides_ = 1, predicates_ = 1;
  std::vector<Pointer> pointers_;
};

} // namespace

int main(int argc, char **argv) {
  return random_versions(argc, argv,
                         {"halo", "staged", &SiblingOptions::halo, halo_variants, {}, "_own"},
                         [](std::uint64_t seed) { return Kernel(seed).text(); });
}
