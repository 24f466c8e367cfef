// random_resize [--kernels N] [--seed S] [-v]
//
// Random kernels whose threads are numbered along x, as they are for wide accesses: streams,
// stencils, rows, loops over the grid. Blocks of each other extent must compute the same on the
// warp emulator. In half of the kernels the index is also taken apart into sums, as compilers do
// it, or something else gets into a value or a branch; what is refused of these is written all the
// same now and then, to see that it is wrong. Exit code 1: something that is proved is wrong; it is
// printed.

#include "synth/resize/resize.h"
#include "tests/random/versions.h"
#include "tests/random/wide_kernel.h"

#include <fmt/core.h>
#include <random>

using namespace ptxasw::test;

namespace {

/// Lines that take the thread's place and its block's beginning apart and together again, by sums
/// and multiples; mostly such that the index comes out.
class Sums {
public:
  explicit Sums(std::mt19937_64 &random) : random_(random) {}

  std::string text() {
    // Registers 1 to 3 hold the block's number, its extent and the place in it.
    text_ = "\tmul.lo.u32 %part0, %r1, %r2;\n\tmov.u32 %part1, %r3;\n";
    bool wide = false;
    for (unsigned step = below(5); step > 0; --step) {
      const bool both = !one_in(8); // one of the parts only: the place shows, mostly
      const unsigned kind = below(wide ? 3 : 4), number = 2 + below(4);
      if (kind == 3) {
        wide = true;
        for (const unsigned part : {0, 1})
          say(fmt::format("cvt.u64.u32 %wide{}, %part{};", wide_ + part, part_ + part));
        continue;
      }
      const std::string type = wide ? "64" : "32";
      for (const unsigned part : {0, 1}) {
        if (part == 1 && !both && kind != 2) {
          say(fmt::format("mov.b{} {}, {};", type, next(wide, 1), now(wide, 1)));
          continue;
        }
        if (kind == 0)
          say(fmt::format("mul.lo.s{} {}, {}, {};", type, next(wide, part), now(wide, part),
                          number));
        else if (kind == 1)
          say(fmt::format("shl.b{} {}, {}, {};", type, next(wide, part), now(wide, part), number));
        else if (part == 0)
          say(fmt::format("{}.s{} {}, {}, {};", one_in(2) ? "add" : "sub", type, next(wide, part),
                          now(wide, part), number));
        else
          say(fmt::format("add.s{} {}, {}, {};", type, next(wide, part), now(wide, part), number));
      }
      (wide ? wide_ : part_) += 2;
      wide = wide && !one_in(9);
    }
    const std::string type = wide ? "64" : "32";
    say(fmt::format("add.s{} {}, {}, {};", type, next(wide, 0), now(wide, 1), now(wide, 0)));
    if (wide)
      say(fmt::format("cvt.u32.u64 %part99, {};", next(wide, 0)));
    say(fmt::format("xor.b32 %acc, %acc, {};", wide ? "%part99" : next(wide, 0)));
    return text_;
  }

private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool one_in(unsigned n) { return below(n) == 0; }
  void say(const std::string &line) { text_ += "\t" + line + "\n"; }
  std::string now(bool wide, unsigned part) const {
    return wide ? fmt::format("%wide{}", wide_ + part) : fmt::format("%part{}", part_ + part);
  }
  std::string next(bool wide, unsigned part) const { return now(wide, part + 2); }

  std::mt19937_64 &random_;
  std::string text_;
  unsigned part_ = 0, wide_ = 0;
};

/// The kernel of a seed, named k.
std::string kernel_of(std::uint64_t seed) {
  std::string text = test::wide_module_text(*test::random_wide_kernel(seed).body);
  const std::string_view name = "random_kernel(";
  text.replace(text.find(name), name.size(), "k(");
  std::mt19937_64 random(seed);
  const auto what = random() % 6;
  std::size_t at = text.find("%acc, 17;");
  if (what < 2 || at == std::string::npos)
    return text;
  for (unsigned line = 0; line < 4 + random() % 3; ++line) // behind the index
    at = text.find('\n', at + 1);
  if (at == std::string::npos)
    return text;
  static constexpr const char *more[] = {"\txor.b32 %acc, %acc, %r3;\n",
                                         "\tadd.s32 %acc, %acc, %r1;\n",
                                         "\tadd.s32 %i, %i, %r3;\n",
                                         "\tmov.u32 %acc, %nctaid.x;\n",
                                         "\tmad.lo.s32 %acc, %r1, %r2, %r3;\n",
                                         "\tmul.lo.u32 %acc, %r1, %r2;\n",
                                         "\tadd.s32 %acc, %r2, %r2;\n",
                                         "\tmov.u32 %r2, %ntid.x;\n"};
  if (what == 2) {
    text.insert(at + 1, more[random() % std::size(more)]);
    return text;
  }
  text.insert(at + 1, Sums(random).text());
  text.insert(text.find("{\n") + 2, "\t.reg .b32 %part<100>;\n\t.reg .b64 %wide<99>;\n");
  return text;
}

/// Of what is refused, what would be seen to be wrong.
struct Refused {
  unsigned written = 0, seen_wrong = 0;
};

/// Writes what is refused because of the index now and then. Nothing else may be compared.
void try_refused(const Module &module, std::uint64_t seed, Refused &refused) {
  const Function &kernel = module.functions[0];
  const auto obstacle = resize_obstacle({module, kernel});
  if (!obstacle || obstacle->reason != "local-index" || seed % 2 != 0)
    return;
  Proposal proposal;
  proposal.family = "resize";
  proposal.variant = "b64";
  proposal.sibling = resized(64, counts_threads(module, kernel));
  proposal.sibling.name = "k__ptxasw_resize_b64";
  const auto written =
      parse(std::string(module.text()) + "\n" + resize_family.write({module, kernel}, proposal),
            "refused.ptx");
  ++refused.written;
  refused.seen_wrong += verdict_of(**written, proposal, seed).kind == KernelVerdict::Kind::differ;
}

const RandomProgram resize_program("resize", [](int argc, char **argv) -> int {
  Refused refused;
  const int result = random_versions(argc, argv,
                                     {"resize",
                                      "with versions",
                                      {50, 90, 90, 1},
                                      [&](const Module &module, std::uint64_t seed) {
                                        try_refused(module, seed, refused);
                                        return std::vector<RandomVersion>();
                                      }},
                                     kernel_of);
  fmt::print("{} written although refused, {} of them seen to be wrong\n", refused.written,
             refused.seen_wrong);
  return result != 0 || refused.seen_wrong == 0;
});

} // namespace
