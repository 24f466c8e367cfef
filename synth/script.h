#pragma once

// Code that a version has beyond its kernel's own, told once, line by line, with holes for
// registers and places of its own. Who writes the version prints what is told; who proves it has it
// told again and compares the texts. So why a version is right is an argument about one script.
//
//   void ends_beyond(Script &to, unsigned most) {
//     to.line("mov.u32 <r_thread>, %tid.x");
//     to.line(fmt::format("setp.ge.u32 <p_beyond>, <r_thread>, {}", most));
//     to.line("@<p_beyond> bra <$end>");
//   }

#include "grammar/module.h"

#include <map>
#include <string>
#include <string_view>

namespace ptxasw::synth {

/// An instruction's text with single blanks, without its semicolon.
std::string plain_text(std::string_view text);

class Script {
public:
  explicit Script(std::string begins) : prefix(std::move(begins)) {}

  /// An instruction, without its semicolon: a pattern in which `<r_x>` is the register %PREFIXx of
  /// 32 bits that was added, `<w_x>` one of 64, `<h_x>` of 16, `<p_x>` a predicate, and `<$x>` the
  /// place $PREFIXx, wherever that turns out to be.
  void line(std::string_view pattern) { same(filled(pattern) + ";"); }
  /// Here is the place that `<$name>` leads to.
  void place(const std::string &name) { text += filled("<$" + name + ">:\n"); }
  /// An instruction, byte for byte.
  void same(std::string_view instruction);
  /// What a pattern is printed as.
  std::string filled(std::string_view pattern);

  const std::string prefix;
  std::string text;                            ///< so far
  std::uint32_t instructions = 0;              ///< in it
  std::map<std::string, ScalarType> registers; ///< that are in it
};

} // namespace ptxasw::synth
