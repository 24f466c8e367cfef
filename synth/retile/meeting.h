#pragma once

#include "synth/retile/retile.h"

#include <optional>
#include <vector>

namespace ptxasw::inline synth {

/// Returns true if an instruction is a barrier of all threads of the block: of one number, with no
/// number of threads and no guard (PTX ISA 9.7.13.1).
bool is_barrier_of_all(const Module &module, const Instruction &instruction);

/// Where threads of a block meet, and where copies have to.
class Meetings {
public:
  Meetings(const Module &module, const Function &kernel);

  bool any() const { return any_; }
  /// A barrier to which threads of a block might come by different ways, or some not at all.
  std::optional<std::uint32_t> uneven() const;
  /// The way of copies that part at a branch; nothing if they may go on alone to their ends, as no
  /// barrier comes or all threads of the block go on like this one.
  std::optional<Detour> detour(std::uint32_t branch) const;

private:
  /// Instructions that may run behind a branch before all ways from it meet, or to the end if they
  /// do not.
  std::vector<bool> region(std::uint32_t branch) const;
  bool decides(std::uint32_t instruction) const;
  std::optional<std::uint32_t> barrier_in(const std::vector<bool> &instructions) const;
  void find_next();
  void find_varying();

  const Module &module_;
  const Function &kernel_;
  bool any_ = false;
  std::vector<std::vector<std::uint32_t>> next_; ///< by instruction; one past the last is the end
  std::vector<std::uint32_t> meet_;              ///< by instruction: the nearest on all ways
  std::vector<bool> uniform_; ///< by register: the same in all threads of a block that are there
  std::vector<bool> apart_;   ///< by instruction: maybe not all threads of the block come
};

} // namespace ptxasw::synth
