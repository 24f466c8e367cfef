#pragma once

// How a staged loop is written (write.cpp), and what is told of it, line by line (script.cpp).

#include "synth/script.h"
#include "synth/stage/sites.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::synth::stage {

/// Begins the names of what is written, behind `%` or `$`.
inline constexpr std::string_view prefix = "stage";

/// The module's text with a loop of a kernel staged; nothing if the text has no place for it.
std::optional<std::string> write_staged(const KernelContext &context, const Staging &staging,
                                        const facts::Atoms &atoms);

/// Where the first instruction of a body begins with all that stands before it for its sake.
std::uint32_t begin_of_code(const Function &kernel);

/// The opcodes that bring a load's elements to the tile, and from there: the kernel's own load of
/// untyped elements, the store, and the load that takes the kernel's place.
struct StagingOpcodes {
  std::string load, store, use;
  unsigned elements = 1, bits = 32; ///< of a register for one
};
StagingOpcodes staging_opcodes(const Opcode &load);

/// Tells what a version with a staged loop has before the kernel's own code, line by line. What is
/// known where a loop is entered, where ranges begin and how many rounds there are, is computed in
/// any way: that is told to `know`.
class StageScript : OfKernel {
public:
  /// So many of the ranges, in `<w_first0>` and on, and a number of rounds in `<w_rounds>`;
  /// `<r_comes>` is 1 if the conditions hold, else 0. Registers for it are named as `name` says.
  using Know = std::function<void(std::string_view name, std::size_t ranges,
                                  const std::vector<facts::Condition> &conditions,
                                  const facts::Polynomial &count)>;

  StageScript(const KernelContext &context, const Staging &staging, std::string tile, Script &to,
              Know know)
      : OfKernel(context), staging_(staging), tile_(std::move(tile)), to_(to),
        know_(std::move(know)) {}

  /// Tells all of it. Throws proof::NotProved if something of the kernel is not understood.
  void tell() const;

private:
  std::uint32_t target_of(const Instruction &branch) const;
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
  std::string way_to(std::uint32_t i) const;
  std::string copy_of(std::uint32_t target, std::uint32_t branch) const;

  const Staging &staging_;
  const std::string tile_; ///< the variable in shared memory
  Script &to_;
  const Know know_;
};

} // namespace ptxasw::synth::stage
