#pragma once

// Code that a version has beyond its kernel's own, told once, line by line, with holes for
// registers and places of its own. Who writes the version has it printed, who proves it has it
// read: the proof stops where the text is another. So why a version is right is an argument about
// one script.
//
//   void ends_beyond(Script &to, unsigned most) {
//     to.line("mov.u32 <r_thread>, %tid.x");
//     to.line(fmt::format("setp.ge.u32 <p_beyond>, <r_thread>, {}", most));
//     to.line("@<p_beyond> bra <$end>");
//   }

#include "grammar/module.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// An instruction's text with single blanks, without its semicolon.
std::string plain_text(std::string_view text);

class Script {
public:
  virtual ~Script() = default;
  /// An instruction, without its semicolon: a pattern in which `<r_x>` is a register of 32 bits
  /// that was added, always the same one for the same name, `<w_x>` one of 64, `<h_x>` of 16,
  /// `<p_x>` a predicate, and `<$x>` the place x, wherever that turns out to be.
  virtual void line(const std::string &pattern) = 0;
  /// Here is the place that `<$name>` leads to.
  virtual void place(const std::string &name) = 0;
  /// An instruction of the kernel, byte for byte.
  virtual void same(std::string_view text) = 0;
};

/// Prints `<r_x>` as %PREFIXx, and `<$x>` as $PREFIXx.
class ScriptPrinter : public Script {
public:
  explicit ScriptPrinter(std::string prefix) : prefix_(std::move(prefix)) {}

  void line(const std::string &pattern) override { text += "\t" + filled(pattern) + ";\n"; }
  void place(const std::string &name) override { text += filled("<$" + name + ">:\n"); }
  void same(std::string_view instruction) override {
    text.append("\t").append(instruction).append("\n");
  }
  /// What a pattern is printed as.
  std::string filled(std::string_view pattern);

  std::string text;                             ///< so far
  std::map<std::string, std::string> registers; ///< that are in it, and their types: "b32"

private:
  const std::string prefix_;
};

/// Reads a version from its first instruction on. All throws proof::NotProved; so does making one
/// of a function in which the name of a parameter or of a thread's place is another thing's.
class ScriptReader : public Script {
public:
  ScriptReader(const Module &module, const Function &version, const Function &kernel);

  void line(const std::string &pattern) override;
  void place(const std::string &name) override { places_[name] = at_; }
  void same(std::string_view text) override;

  std::uint32_t position() const { return at_; }
  /// Whatever instruction is next.
  const Instruction &next();
  /// All branches lead to their places.
  void check_places() const;
  /// The register that a name of patterns stands for, once it has been read.
  RegisterId bound(const std::string &name) const;
  /// Stops at the next instruction.
  [[noreturn]] void fail(std::string_view why) const;

private:
  struct Jump {
    std::uint32_t instruction;
    std::string place, label;
  };

  void take(const Instruction &one, std::string_view name, const std::string &text);

  const Module &module_;
  const Function &function_;
  const std::vector<bool> added_; ///< by register: the kernel has none of that name
  std::uint32_t at_ = 0;
  std::map<std::string, RegisterId> bound_;
  std::set<RegisterId> taken_;
  std::vector<Jump> jumps_;
  std::map<std::string, std::uint32_t> places_;
};

} // namespace ptxasw::synth
