#pragma once

// Convergence points and divergent regions: which threads of a block, or lanes of a warp, come to
// the same barriers and exchanges, and where some of them go a way of their own in between.
//   ConvergencePoints(module, kernel).divergent_region(branch) // nothing: threads that part there
//   may go on alone

#include "emulator/facts/kernel_context.h"
#include "emulator/facts/numbers.h"
#include "grammar/module.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace ptxasw::facts {

/// Returns true if an instruction is a barrier of all threads of the block: of one number, with no
/// number of threads and no guard (PTX ISA 9.7.13.1).
bool is_barrier_of_all(const Module &module, const Instruction &instruction);

/// By instruction: do all lanes of a warp meet there, whatever else it does? So they do at a
/// `bar.warp.sync`, `shfl.sync`, `vote.sync`, `redux.sync` or `match.sync` whose member mask is the
/// number of a full warp, in the text or in a register (numbers.h), with no guard (PTX ISA 9.7.9.6
/// and 9.7.13), and at what they do together with matrices, which is for whole warps alone
/// (9.7.14: `wmma`, `mma`, `ldmatrix`, `stmatrix` and `movmatrix`, all `.sync.aligned`).
std::vector<bool> warp_convergence_points(const Module &module, const Function &kernel);

/// Threads that part at a branch go on alone, one after the other, and meet again.
struct DivergentRegion {
  std::uint32_t branch = 0; ///< index in Function::instructions
  std::uint32_t end = 0;    ///< where they meet
  std::vector<bool> inside; ///< by instruction: what one may run on its way, the branch among it
};

/// Convergence points: where threads of a block, or lanes of a warp, meet, and where copies have
/// to.
class ConvergencePoints {
public:
  /// `whole_rows`: of blocks whose extent along x is a multiple of 32 alone (warp_number.h).
  ConvergencePoints(const Module &module, const Function &kernel, bool whole_rows = false);

  bool any() const { return block_.any || warp_.any; }
  bool of_whole_rows() const { return whole_rows_; }
  /// All lanes of a warp meet at an instruction (warp_convergence_points()).
  bool in_warp(std::uint32_t instruction) const { return warp_.meets[instruction]; }
  /// A meeting to which threads might come by different ways, or some not at all.
  std::optional<std::uint32_t> uneven() const;
  /// Where copies part on these regions: something that lanes of a warp do together, on the way of
  /// some of them alone.
  std::optional<std::uint32_t> torn(const std::vector<DivergentRegion> &regions) const;
  /// The way of copies that part at a branch; nothing if they may go on alone to their ends, as no
  /// meeting comes, or all threads that meet then go on like this one.
  std::optional<DivergentRegion> divergent_region(std::uint32_t branch) const;

private:
  /// Who meets: all threads of a block, or all lanes of a warp.
  struct Crowd {
    bool any = false;
    bool is_warp = false;
    std::vector<bool> meets;   ///< by instruction
    std::vector<bool> apart;   ///< by instruction: maybe not all of them come
    std::vector<bool> decided; ///< by instruction: a branch that all of them take alike
  };

  bool decides(std::uint32_t instruction) const;
  /// Instructions that may run behind a branch before all ways from it meet, or to the end if they
  /// do not.
  std::vector<bool> inside_of(std::uint32_t branch) const;
  static std::optional<std::uint32_t> first_in(const std::vector<bool> &some,
                                               const std::vector<bool> &instructions);
  /// All who meet behind a branch go on like one of them.
  bool goes_alike(const Crowd &crowd, std::uint32_t branch) const;
  /// All of them take a branch alike, and come to it alike.
  static bool parts_alike(const Crowd &crowd, std::uint32_t branch);
  void find_next();
  void find_varying(Crowd &crowd) const;
  /// By instruction, the registers that may differ between threads before it.
  std::vector<std::vector<bool>> varying(const Crowd &crowd) const;
  /// All lanes of a warp get the same where they meet.
  bool is_one_for_all(std::uint32_t at, const std::vector<bool> &varying) const;
  /// An instruction asks in which row of its block a thread is, which is one for a warp where rows
  /// are whole warps.
  bool asks_for_row(std::uint32_t at) const;
  void pass(const Crowd &crowd, std::uint32_t at, std::vector<bool> &varying) const;

  const Module &module_;
  const Function &kernel_;
  const bool whole_rows_;
  const Numbers numbers_;
  std::vector<bool> of_warp_;                    ///< made_of_warp_number()
  std::vector<std::vector<std::uint32_t>> next_; ///< by instruction; one past the last is the end
  std::vector<std::uint32_t> meet_;              ///< by instruction: the nearest on all ways
  Crowd block_, warp_;
};

/// Where threads wait for each other, and what they may do one after the other between; found once.
/// Of blocks alone whose rows are whole warps, if lanes come alike to what they do together in such
/// blocks and maybe not in others, and `.reqntid` does not ask for others.
const ConvergencePoints &meetings_of(const KernelContext &context);

} // namespace ptxasw::facts
