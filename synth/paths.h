#pragma once

// Answers that depend on the way by which a lane came, which the emulator has joined. Detection and
// proof ask if an obstacle was passed, and which value a register has on a way:
//   paths.never_passed(obstacle, guard, from, to) != Shown::no

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/solver.h"

#include <map>
#include <span>
#include <tuple>
#include <vector>

namespace ptxasw::synth {

/// A register where flows meet (JoinRegister), and the value that one of them brings. The value is
/// expanded.
struct Brought {
  Expr joined = nullptr;
  Expr value = nullptr;
};

/// What flows bring, to be put in one after the other: a value may have joined registers in it.
using Flow = std::vector<Brought>;

/// An expression as it is on a flow.
Expr on_flow(ExprPool &pool, const Flow &flow, Expr expr);

/// What the joined registers of an expression (expanded) may be, one or two of them at a time,
/// those first that are fewer; some where there are many.
std::vector<Flow> flows_of(Emulation &emulation, Expr expr);

/// How something was shown to hold.
enum class Shown : std::uint8_t { no, by_algebra, by_solver };

/// Takes the paths through a kernel apart where something depends on it
/// (docs/internals/soundness.md, "Paths taken apart"). What it says holds in each lane that is at
/// the place asked for, by the branches that this lane has taken itself in the current iteration of
/// the loops around it.
class Paths {
public:
  explicit Paths(Emulation &emulation) : emulation_(emulation) {}

  /// Shows that no lane that is in block `to` has run an instruction of `obstacle` with the guard
  /// `guard` (null: none) since it was in `from`, which dominates `to` or is in its innermost loop.
  Shown never_passed(BlockId obstacle, Expr guard, BlockId from, BlockId to);
  /// Shows that in each lane that is in `block` joined registers are what a flow brings.
  Shown always_on(const Flow &flow, BlockId block);

  unsigned solver_contexts() const { return solver_.contexts(); }
  unsigned solver_questions() const { return solver_.questions(); }

private:
  Shown contradict(std::vector<Expr> conditions, std::span<const Expr> about);

  /// Effort for one question, in Z3's resource units.
  static constexpr unsigned solver_resource_limit = 10'000;

  Emulation &emulation_;
  Solver solver_{solver_resource_limit};
  unsigned looked_at_ = 0, questions_ = 0;
  std::map<std::tuple<BlockId, Expr, BlockId, BlockId>, Shown> passed_;
  std::map<std::pair<std::vector<Expr>, BlockId>, Shown> flows_; ///< by joined registers and values
};

} // namespace ptxasw::synth
