#pragma once

// What random kernels with loops begin and end with: 512 bytes of each of three arrays for a
// thread, registers that hold numbers it has read or its index, and predicates that compare them;
// at the end some of the registers are stored, behind what the loops write. A family adds the
// loops.

#include <cstdint>
#include <fmt/core.h>
#include <random>
#include <string>
#include <string_view>

class LoopKernel {
protected:
  static constexpr unsigned registers = 6;
  static constexpr const char *pointers[] = {"%pa", "%pb", "%po"};

  explicit LoopKernel(std::uint64_t seed) : random_(seed) {}

  unsigned below(unsigned limit) {
    return static_cast<unsigned>(random_() % limit); // the same numbers with every library
  }
  void line(const std::string &text) { text_ += "\t" + text + "\n"; }
  std::string any() { return fmt::format("%r{}", below(registers)); }

  /// Up to the pointers of a thread; `declared` are the family's own registers.
  void begin(std::string_view declared) {
    text_ = fmt::format(
        ".version 7.8\n.target sm_70\n.address_size 64\n"
        ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out, .param .u32 n)\n{{\n"
        "\t.reg .b64 %pa, %pb, %po, %e, %d<400>;\n\t.reg .b32 %n, %i, %t, %x<6>, %r<10>, %k<400>;\n"
        "\t.reg .pred %q<4>, %p<400>;\n{}",
        declared);
    for (const char *name : {"a", "b"})
      line(fmt::format("ld.param.u64 %p{0}, [{0}];", name));
    line("ld.param.u64 %po, [out];");
    line("ld.param.u32 %n, [n];");
    line("mov.u32 %t, %tid.x;");
    line("mov.u32 %x0, %ctaid.x;");
    line("mov.u32 %x1, %ntid.x;");
    line("mad.lo.u32 %i, %x0, %x1, %t;");
    line("mul.wide.u32 %e, %i, 512;");
    for (const char *name : pointers)
      line(fmt::format("add.s64 {0}, {0}, %e;", name));
  }

  /// Gives the registers and predicates values.
  void fill() {
    for (unsigned i = 0; i < registers; ++i)
      line(below(2) == 0 ? fmt::format("ld.global.u32 %r{}, [%pa+{}];", i, 4 * below(16))
                         : fmt::format("add.u32 %r{}, %t, {};", i, below(100)));
    for (unsigned i = 0; i < 4; ++i)
      line(fmt::format("setp.lt.u32 %q{}, %r{}, %r{};", i, below(registers), below(registers)));
  }

  /// Stores some of the registers; the whole text.
  std::string end() {
    for (unsigned i = 0; i < registers; ++i)
      if (below(3) != 0)
        line(fmt::format("st.global.u32 [%po+{}], %r{};", 448 + 4 * i, i));
    line("ret;");
    return text_ + "}\n";
  }

  std::mt19937_64 random_;
  std::string text_;
  unsigned labels_ = 0, fresh_ = 0; ///< numbers that are not used yet
};
