#pragma once

// The kernel and its version beside each other, as texts and as what the version's registers hold.

#include "synth/coarsen/coarsening.h"
#include "synth/coarsen/replay.h"
#include "synth/prove/not_proved.h"
#include "synth/script.h"

#include <fmt/core.h>
#include <unordered_map>

namespace ptxasw::synth {

/// Both texts, for the proof of a coarsened version (prove.cpp), and what surrounds their code,
/// which is checked first. All throws proof::NotProved where the proof stops.
class CoarsenTexts : protected Coarsening {
public:
  CoarsenTexts(const KernelContext &context, const Function &sibling, const CoarsenForm &form,
               WidePlan plan)
      : Coarsening(context, form, std::move(plan)), sibling_(sibling),
        roles_(sibling.registers.size()), replay_(pool_, module_, sibling, roles_) {
    check_header();
    assign_roles();
  }

protected:
  /// An index of an instruction.
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
  /// Over branches of the kernel that always go one way, and over what has been done at the entry;
  /// to the end of a detour at most.
  Position skip_kernel(Position theirs, const Detour *detour = nullptr) const {
    for (Position steps = 0; steps <= kernel_end(); ++steps) {
      if (theirs >= kernel_end() || (detour && theirs == detour->end))
        return theirs;
      const Instruction &instruction = kernel_.instructions[theirs];
      if (first_[theirs])
        ++theirs;
      else if (instead_[theirs])
        theirs = *instead_[theirs];
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

  bool is_barrier(Position theirs) const {
    const Opcode &opcode = module_.opcode(kernel_.instructions[theirs]);
    return (opcode.op == Op::bar || opcode.op == Op::barrier) && !opcode.has(Modifier::warp);
  }
  /// The sibling's register of a name; no_register: nothing mentions it.
  RegisterId named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? no_register : found->second;
  }

  // What stands in the version, under a copy's names.
  bool has_text(Position mine, std::string_view text) const;
  void require_text(Position mine, std::string_view text, std::string_view why) const;
  void require_clone(Position theirs, Position mine, const Renaming &names) const;
  /// A branch by a copy's own predicate; where it leads.
  Position require_branch(Position theirs, Position mine, const Renaming &names) const;
  /// All that belongs to a call, which no other copy's comes between; the position behind it. What
  /// it gives, a copy has for itself.
  Position require_call(Position mine, const CallGroup &group, const Renaming &names) const;
  /// Returns true if what stands in place of a copy's index is its own, where all use one code.
  bool alone_has_place(const ReplayState &state, unsigned k) const;
  /// Returns true if two states agree on all registers that copies run on alone.
  bool has_same_stand_ins(const ReplayState &before, const ReplayState &after) const;
  /// Added code; where it ends.
  ReplayEnd replay(Position mine, ReplayState &state, const Known &known) const;

  const Function &sibling_;
  ExprPool pool_;
  std::vector<ReplayRole> roles_;
  const Replay replay_;
  std::vector<std::vector<RegisterId>> fast_; ///< by copy and register of the kernel's
  std::vector<RegisterId> own_;               ///< stand-ins of shared registers
  std::vector<Renaming> alone_;               ///< by copy that goes on alone
  RegisterId next_ = no_register;             ///< says which copy goes on next

private:
  void check_header() const;
  void check_rooms() const;
  void check_passing(std::size_t next) const;
  bool vprintf_is_the_drivers() const;
  void assign_roles();

  std::unordered_map<std::string_view, RegisterId> by_name_;
};

} // namespace ptxasw::synth
