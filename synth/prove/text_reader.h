#pragma once

// For proofs of versions that consist of a kernel and of code that was added: reads what was added
// instruction by instruction, and tells whether all else is the kernel's.

#include "grammar/module.h"
#include "synth/prove/not_proved.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::proof {

/// An instruction's text with single blanks, without its semicolon.
std::string plain_text(std::string_view text);

/// Reads instructions one after the other. In a pattern `<r_x>` is a register of 32 bits that was
/// added, always the same one for the same name, `<w_x>` one of 64, `<h_x>` of 16, `<p_x>` a
/// predicate, and `<$x>` the place x, wherever that turns out to be. All throws NotProved.
class TextReader {
public:
  TextReader(const Module &module, const Function &function, const Function &kernel);

  std::uint32_t position() const { return at_; }
  /// Whatever instruction is next.
  const Instruction &next();
  /// The next instruction is this.
  void expect(std::string_view pattern);
  /// A place is at the next instruction.
  void place(const std::string &name) { places_[name] = at_; }
  /// All branches lead to their places.
  void check_places() const;
  /// The register that a name of patterns stands for, once it has been read.
  RegisterId bound(const std::string &name) const;
  /// Returns true if a register has the name of one of the kernel's.
  bool is_own(RegisterId reg) const { return own_.contains(function_.registers[reg].name); }
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
  std::set<std::string_view> own_; ///< registers of the kernel, by name
  std::uint32_t at_ = 0;
  std::map<std::string, RegisterId> bound_;
  std::set<RegisterId> taken_;
  std::vector<Jump> jumps_;
  std::map<std::string, std::uint32_t> places_;
};

/// The name of the one variable that a version has besides the kernel's own: at least `bytes` of
/// shared memory, aligned to 16, of which the kernel does not know. Throws NotProved if there is no
/// such one, if the kernel's registers or variables are others, or if a name is there twice.
std::string_view added_tile(const Module &before, const Function &kernel, const Module &after,
                            const Function &version, std::uint32_t bytes);

} // namespace ptxasw::proof
