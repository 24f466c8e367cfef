#pragma once

// The inside of the proof of a re-tiled kernel, shared by
//   prove.cpp           the argument, what surrounds the code, and the entry
//   prove_together.cpp  a step of all copies, what is wide among it, and branches
//   prove_alone.cpp     clones of instructions, and the ways of one copy alone

#include "synth/coarsen/coarsening.h"
#include "synth/coarsen/replay.h"
#include "synth/prove/text_reader.h"

#include <fmt/core.h>
#include <map>
#include <set>
#include <unordered_map>

namespace ptxasw::synth {

/// The proof of one sibling from its text; the argument is in prove.cpp. All throws
/// proof::NotProved where the proof stops.
class CoarsenProof : Coarsening {
public:
  CoarsenProof(const KernelContext &context, const Function &sibling, const CoarsenForm &form,
               WidePlan plan)
      : Coarsening(context, form, std::move(plan)), sibling_(sibling),
        roles_(sibling.registers.size()), replay_(pool_, module_, sibling, roles_) {}

  void run() {
    check_header();
    if (sharing_.meetings().torn(sharing_.detours()))
      fail("lanes of a warp may part before what they do together");
    assign_roles();
    find_definitions();
    enter();
    while (!pending_.empty()) {
      const auto [mine, theirs] = pending_.back();
      pending_.pop_back();
      step_together(mine, theirs);
    }
  }

private:
  using Position = std::uint32_t;

  [[noreturn]] static void fail(std::string why) { throw proof::NotProved{std::move(why)}; }
  [[noreturn]] void fail_at(Position mine, std::string_view why) const {
    const auto &list = sibling_.instructions;
    fail(fmt::format("line {}: {}", mine < list.size() ? list[mine].line : 0, why));
  }
  void require(bool condition, Position mine, std::string_view why) const {
    if (!condition)
      fail_at(mine, why);
  }

  Position kernel_end() const { return static_cast<Position>(kernel_.instructions.size()); }
  bool ends(Position theirs) const {
    return theirs >= kernel_end() || (kernel_.instructions[theirs].guard == no_register &&
                                      returns(module_.opcode(kernel_.instructions[theirs])));
  }
  /// Over branches of the kernel that are always taken, and over what has been done at the entry;
  /// to the end of a detour at most.
  Position skip_kernel(Position theirs, const Detour *detour = nullptr) const {
    for (Position steps = 0; steps <= kernel_end(); ++steps) {
      if (theirs >= kernel_end() || (detour && theirs == detour->end))
        return theirs;
      const Instruction &instruction = kernel_.instructions[theirs];
      if (first_[theirs])
        ++theirs;
      else if (module_.opcode(instruction).op == Op::bra && instruction.guard == no_register)
        theirs = target_of(instruction);
      else
        return theirs;
    }
    fail("the kernel has a loop without an end");
  }
  Position target_of(const Instruction &instruction) const {
    if (returns(module_.opcode(instruction)))
      return kernel_end();
    const auto target = branch_target(module_, kernel_, instruction);
    if (!target)
      fail("a branch of the kernel is not understood");
    return *target;
  }
  bool is_jump(const Instruction &instruction) const { return is_way(module_.opcode(instruction)); }

  // What surrounds the code.
  void check_header() const;
  void check_rooms() const;
  void check_passing(std::size_t next) const;
  void assign_roles();
  /// The sibling's register of a name; no_register: nothing mentions it.
  RegisterId named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? no_register : found->second;
  }
  void find_definitions();
  // Clones.
  Expr number(std::uint32_t value) { return pool_.constant(32, value); }
  /// The sibling's thread along x, and whether it is the first one.
  Expr flat();
  Expr is_first() { return pool_.eq(flat(), number(0)); }
  /// What a copy has in place of a special register.
  Expr instead_of(std::string_view special, unsigned copy);
  void check_places();
  void require_text(Position mine, std::string_view text, std::string_view why) const;
  void require_clone(Position theirs, Position mine, const Renaming &names) const;
  Position require_branch(Position theirs, Position mine, const Renaming &names) const;
  // Together.
  ReplayEnd replay(Position mine, ReplayState &state, const Known &known) const;
  /// The pair is to be examined: all copies go on at `theirs`, the sibling at `mine`.
  void go_on_together(Position mine, Position theirs);
  void arrive_together(const ReplayEnd &end, Position theirs);
  void step_together(Position mine, Position theirs);
  /// An instruction of the kernel for each copy; what comes next.
  Position by_each(Position mine, Position theirs);
  /// What the added code may write and forget.
  bool is_control(RegisterId reg, ScalarType type) const;
  Position require_test(Position mine, const WideTest &test);
  void branch_at_once(Position mine, Position theirs);
  void branch_by_all(Position mine, Position theirs);
  void meet_again(const ReplayEnd &end, const Detour &detour);
  bool is_barrier(Position theirs) const;
  void leave(const ReplayEnd &end, ReplayState &state, Position theirs);
  // Alone.
  void one_by_one(ReplayEnd end, ReplayState state, Position theirs, unsigned count,
                  const Known &known);
  Position require_call(Position mine, const CallGroup &group, unsigned k,
                        const Renaming &names) const;
  bool is_taken_over(const ReplayState &state, RegisterId reg, unsigned k) const;
  using Pairs = std::set<std::pair<Position, Position>>;
  void one_copy(Position mine, Position theirs, unsigned k, const Renaming &names,
                const Detour *detour, Pairs &seen, std::optional<Position> &after) const;
  // The entry.
  void enter();
  Known known_inside(unsigned count);

  const Function &sibling_;
  ExprPool pool_;
  const Known nothing_{pool_}; ///< is taken for granted
  std::vector<ReplayRole> roles_;
  const Replay replay_;
  std::unordered_map<std::string_view, RegisterId> by_name_;
  std::vector<std::vector<RegisterId>> fast_; ///< by copy and register of the kernel's
  std::vector<RegisterId> own_;               ///< stand-ins of shared registers
  std::vector<Renaming> alone_;               ///< by copy that goes on alone
  RegisterId next_ = no_register;
  std::vector<std::vector<Position>> definitions_; ///< by register of the sibling
  ReplayState known_;
  std::vector<std::pair<Position, Position>> pending_; ///< pairs of steps together
  Pairs seen_together_;
  std::array<Pairs, max_copies> seen_alone_;              ///< by copy
  std::array<std::optional<Position>, max_copies> after_; ///< by copy: where it goes at its end
};

} // namespace ptxasw::synth
