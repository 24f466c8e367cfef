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

#include "synth/prove/text_reader.h"

#include <map>
#include <string>
#include <string_view>

namespace ptxasw::synth {

class Script {
public:
  virtual ~Script() = default;
  /// An instruction, without its semicolon: a pattern of proof::TextReader.
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

  void line(const std::string &pattern) override { reader.expect(proof::plain_text(pattern)); }
  void place(const std::string &name) override { reader.place(name); }
  void same(std::string_view instruction) override {
    if (module_.text(reader.next().span) != instruction)
      reader.fail("not the kernel's instruction");
  }

  proof::TextReader reader;

private:
  const Module &module_;
};

} // namespace ptxasw::synth
