// random_cache [--kernels N] [--seed S] [-v]
//
// Random kernels that read and write through pointers of any origin: parameters, fields of a
// structure, variables, copies, one of two, a sum with what is subtracted again, what was kept in
// local memory or came by a branch. What is written must compute the same on the warp emulator,
// where a store to what `.nc` reads is a race, whenever it happens. So must whatever else the proof
// takes: kernels with loads made `.nc` at random. Exit code 1: one is wrong; it is printed.

#include "synth/cache/cache.h"
#include "grammar/edits.h"
#include "synth/same_launch.h"
#include "tests/random/versions.h"

#include <fmt/core.h>
#include <random>
#include <string>
#include <vector>

using namespace ptxasw::test;

namespace {

class Draw {
public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  bool one_in(unsigned n) { return below(n) == 0; }

private:
  std::mt19937_64 random_;
};

/// The text of a kernel. Each thread has 64 bytes of each array for itself.
class PointerKernel {
public:
  explicit PointerKernel(Draw &draw) : draw_(draw) {}

  std::string text() {
    say("ld.param.u64 %p0, [a];");
    say("ld.param.u64 %p1, [b];");
    say("ld.param.u64 %p2, [out];");
    say("ld.param.v2.u64 {%p3, %p4}, [s];");
    say("ld.param.u32 %n, [n];");
    say("mov.u32 %t, %tid.x;");
    say("mov.u32 %r0, %ctaid.x;");
    say("mov.u32 %r1, %ntid.x;");
    say("mad.lo.u32 %i, %r0, %r1, %t;");
    say("mul.wide.u32 %e, %i, 64;");
    for (unsigned i = 0; i < own; ++i)
      say(fmt::format("add.s64 %p{0}, %p{0}, %e;", i));
    say(fmt::format("mov.u64 %p{}, table;", own));
    pointers_ = own + 1;
    for (unsigned i = 0; i < 4; ++i)
      say(fmt::format("add.u32 %x{}, %t, {};", i, draw_.below(9)));
    say("setp.lt.u32 %q0, %x0, %x1;");
    say("setp.lt.u32 %q1, %t, %n;");
    for (unsigned i = draw_.below(4); i > 0; --i)
      pointer();
    for (unsigned i = 3 + draw_.below(6); i > 0; --i)
      statement(true);
    say(fmt::format("st.global.u32 [%p2+60], %x{};", draw_.below(4)));
    say("ret;");
    return ".version 7.8\n.target sm_80\n.address_size 64\n"
           ".global .align 8 .b8 table[64];\n"
           ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, "
           ".param .align 16 .b8 s[16], .param .u32 n)\n{\n"
           "\t.reg .b64 %p<99>, %d<99>, %e;\n\t.reg .b32 %x<4>, %r<99>, %t, %i, %n, %j;\n"
           "\t.reg .pred %q<4>;\n\t.local .align 8 .b8 kept[8];\n" +
           text_ + "}\n";
  }

private:
  static constexpr unsigned own = 5;

  void say(const std::string &line) { text_ += "\t" + line + "\n"; }
  std::string any() { return fmt::format("%p{}", draw_.below(pointers_)); }
  /// One that is no variable, which all threads would write.
  std::string writable() {
    for (;;)
      if (const unsigned pointer = draw_.below(pointers_); pointer != own && !is_table(pointer))
        return fmt::format("%p{}", pointer);
  }
  bool is_table(unsigned pointer) const { return tables_.at(pointer); }
  std::string value() { return fmt::format("%x{}", draw_.below(4)); }

  /// One more pointer, made from others.
  void pointer() {
    const unsigned from = draw_.below(pointers_), other = draw_.below(pointers_);
    const std::string a = fmt::format("%p{}", from), b = fmt::format("%p{}", other);
    const std::string to = fmt::format("%p{}", pointers_);
    bool table = is_table(from);
    switch (draw_.below(9)) {
    case 0:
      say(fmt::format("mov.b64 {}, {};", to, a));
      break;
    case 1:
      say(fmt::format("selp.b64 {}, {}, {}, %q{};", to, a, b, draw_.below(2)));
      table = table || is_table(other);
      break;
    case 2:
      say(fmt::format("sub.s64 %d0, {}, {};", a, b));
      say(fmt::format("add.s64 {}, %d0, {};", to, b));
      break;
    case 3:
      say(fmt::format("mov.b64 {{%r2, %r3}}, {};", a));
      say(fmt::format("mov.b64 {}, {{%r2, %r3}};", to));
      break;
    case 4:
      say(fmt::format("st.local.u64 [kept], {};", a));
      say(fmt::format("ld.local.u64 {}, [kept];", to));
      break;
    case 5:
      say(fmt::format("mov.b64 {}, {};", to, a));
      say(fmt::format("@%q{} mov.b64 {}, {};", draw_.below(2), to, b));
      table = table || is_table(other);
      break;
    case 6:
      say("ld.param.u64 %d1, [s+8];");
      say(fmt::format("add.s64 {}, %d1, %e;", to));
      table = false;
      break;
    case 7:
      say(fmt::format("and.b32 %r4, {}, 3;", value()));
      say("mul.wide.u32 %d2, %r4, 4;");
      say(fmt::format("add.s64 {}, {}, %d2;", to, a));
      break;
    default:
      say("ld.param.u64 %d1, [a];");
      say(fmt::format("add.s64 {}, %e, %d1;", to));
      table = false;
    }
    tables_.push_back(table);
    ++pointers_;
  }

  void statement(bool outermost) {
    const unsigned at = 4 * draw_.below(8);
    switch (draw_.below(outermost ? 9 : 7)) {
    case 0:
    case 1:
    case 2:
    case 3:
      say(fmt::format("{}ld.global.{} {}, [{}+{}];", draw_.one_in(6) ? "@%q1 " : "",
                      draw_.one_in(4) ? "s16" : "u32", value(), any(), at));
      break;
    case 4:
    case 5:
      say(draw_.one_in(5) ? fmt::format("red.global.add.u32 [{}+{}], {};", writable(), at, value())
                          : fmt::format("st.{}u32 [{}+{}], {};", draw_.one_in(4) ? "" : "global.",
                                        writable(), at, value()));
      break;
    case 6:
      say(fmt::format("add.u32 {}, {}, {};", value(), value(), value()));
      break;
    case 7: {
      const unsigned label = labels_++;
      say("mov.u32 %j, 0;");
      text_ += fmt::format("$loop{}:\n", label);
      for (unsigned i = 1 + draw_.below(3); i > 0; --i)
        statement(false);
      say("add.u32 %j, %j, 1;");
      say("setp.lt.u32 %q2, %j, 3;");
      say(fmt::format("@%q2 bra $loop{};", label));
      break;
    }
    default: {
      static constexpr const char *rare[] = {"bar.sync 0;", "bar.warp.sync 0xffffffff;",
                                             "membar.gl;", "ld.volatile.global.u32 %r5, [%p1];"};
      say(draw_.one_in(3) ? rare[draw_.below(4)] : "add.u32 %x0, %x0, 1;");
    }
    }
  }

  Draw &draw_;
  std::string text_;
  unsigned pointers_ = 0, labels_ = 0;
  std::vector<bool> tables_ = {false, false, false, false, false, true};
};

/// What the proof made of loads that became `.nc` at random.
struct Tried {
  unsigned all = 0, proved = 0, seen_wrong = 0;
};

/// A kernel with some loads made `.nc`, as its sibling.
RandomVersion any_version(const Module &module, Draw &draw) {
  Edits edits;
  for (const Instruction &one : module.functions[0].instructions)
    if (module.opcode(one).text.starts_with("ld.global.") && draw.one_in(2))
      edits.insert(one.opcode_span.begin + 9, ".nc");
  RandomVersion version;
  version.proposal = same_launch_proposal(module.functions[0], "cache", "any");
  if (!draw.one_in(4))
    version.proposal.promise = arrays_apart;
  const std::string changed = edits.apply(module.text()).value_or("");
  version.text = std::string(module.text()) + "\n.visible .entry " + version.proposal.sibling.name +
                 changed.substr(changed.find("k(") + 1);
  return version;
}

/// Those of some such kernels that the proof takes.
std::vector<RandomVersion> proved_versions(const Module &module, std::uint64_t seed, Tried &tried) {
  Draw draw(seed + 1);
  std::vector<RandomVersion> result;
  for (unsigned i = 0; i < 3; ++i) {
    RandomVersion version = any_version(module, draw);
    const auto written = parse(version.text, "any.ptx");
    ++tried.all;
    if (prove_cache({**written, (*written)->functions[0]}, (*written)->functions[1],
                    version.proposal)
            .has_value()) {
      ++tried.proved;
      result.push_back(std::move(version));
    } else if (draw.one_in(4)) { // what is refused is wrong now and then, and would be noticed
      tried.seen_wrong +=
          verdict_of(**written, version.proposal, seed).kind == KernelVerdict::Kind::differ;
    }
  }
  return result;
}

const RandomProgram cache_program("cache", [](int argc, char **argv) -> int {
  Tried tried;
  const int result = random_versions(argc, argv,
                                     {"cache",
                                      "with versions",
                                      {45, 90, 90, 1},
                                      [&](const Module &module, std::uint64_t seed) {
                                        return proved_versions(module, seed, tried);
                                      }},
                                     [](std::uint64_t seed) {
                                       Draw draw(seed);
                                       return PointerKernel(draw).text();
                                     });
  fmt::print("{} with loads changed at random, {} of them proved; of a quarter of the others {} "
             "are seen to be wrong\n",
             tried.all, tried.proved, tried.seen_wrong);
  return result != 0 || tried.proved == 0 || tried.seen_wrong == 0;
});

} // namespace
