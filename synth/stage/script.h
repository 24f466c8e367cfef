#pragma once

// What a version with a staged loop has before the kernel's own code, line by line.

#include "synth/script.h"
#include "synth/stage/sites.h"

#include <functional>
#include <string>
#include <vector>

namespace ptxasw::synth::stage {

/// What tells it. What is known where a loop is entered, where ranges begin and how many rounds
/// there are, is computed in any way: that is told to `know`.
struct StageScript {
  /// So many of the ranges, in `<w_first0>` and on, and a number of rounds in `<w_rounds>`;
  /// `<r_comes>` is 1 if the conditions hold, else 0. Registers for it are named as `name` says.
  using Know = std::function<void(std::string_view name, std::size_t ranges,
                                  const std::vector<facts::Condition> &conditions,
                                  const facts::Polynomial &count)>;

  /// Tells all of it. Throws proof::NotProved if something of the kernel is not understood.
  void tell() const;

  const Module &module;
  const Function &kernel;
  const ControlFlowGraph &cfg;
  const Staging &staging;
  std::string tile; ///< the variable in shared memory
  Script &to;
  Know know;

private:
  void find_out() const;
  void repeat(const Instruction &one) const;
  void meet() const;
  void compare(std::size_t ranges) const;
  void begin() const;
  void enter() const;
  void bring() const;
  std::string bring(std::size_t range, const StagedLoad &load) const;
  void copy() const;
  void copy(std::uint32_t i) const;
  void use(const Instruction &load, std::size_t range) const;
  std::string way_to(std::uint32_t instruction) const;
  std::string copy_of(std::uint32_t target, std::uint32_t branch) const;
};

} // namespace ptxasw::synth::stage
