#pragma once

// The kernel and its version beside each other, as texts and as what the version's registers hold.

#include "synth/coarsen/coarsening.h"
#include "synth/coarsen/replay.h"
#include "synth/prove/not_proved.h"

#include <unordered_map>

namespace ptxasw::synth {

/// Both texts, for the proof of a coarsened version (prove.cpp), and what surrounds their code,
/// which is checked first. All throws proof::NotProved where the proof stops.
class CoarsenTexts : protected Coarsening {
public:
  CoarsenTexts(const KernelContext &context, const Function &sibling, const CoarsenForm &form,
               WidePlan plan)
      : Coarsening(context, form, std::move(plan)), sibling_(sibling),
        is_control_(sibling.registers.size(), true), replay_(pool_, module_, sibling, is_control_) {
    check_header();
    find_registers();
  }

protected:
  /// An index of an instruction.
  using Position = std::uint32_t;

  /// `mine` is a position of the version's.
  void require(bool condition, Position mine, std::string_view why) const {
    const auto &list = sibling_.instructions;
    proof::show_at(mine < list.size() ? list[mine].line : 0, condition, why);
  }

  /// Over branches of the kernel and ends that are always taken, over what has been done at the
  /// entry, and over what a copy that is alone leaves out; to a divergent region's end at most.
  Position skip_kernel(Position theirs, bool alone = false,
                       const DivergentRegion *region = nullptr) const;
  /// Where a branch of the kernel leads.
  Position target_of(Position theirs) const;
  /// The sibling's register of a name; no_register: nothing mentions it.
  RegisterId named(std::string_view name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? no_register : found->second;
  }
  /// The one for a register of the kernel's, under a copy's names.
  RegisterId of(const Renaming &names, RegisterId reg) const { return named(names.registers[reg]); }

  // What stands in the version, under a copy's names.
  /// What comes behind lines; nothing: they do not stand there.
  std::optional<Position> behind(Position mine, const std::vector<std::string> &lines) const;
  /// The same where they must be there.
  Position require_lines(Position mine, const std::vector<std::string> &lines,
                         std::string_view why) const;
  void require_clone(Position theirs, Position mine, const Renaming &names) const;
  /// A branch by a copy's own predicate; where it leads.
  Position require_branch(Position theirs, Position mine, const Renaming &names) const;
  /// All that belongs to a call, which no other copy's comes between; the position behind it. What
  /// it gives, a copy has for itself.
  Position require_call(Position mine, const CallGroup &group, const Renaming &names) const;
  /// All copies stand at `theirs`, in straight code, and go on to `end`, each instruction by
  /// instruction: what comes next in the version. In a skewed stretch copies take turns in any
  /// order; elsewhere it is theirs. prove_stretch.cpp has the argument.
  Position by_copies(Position mine, Position theirs, Position end, bool skewed) const;

  const Function &sibling_;
  ExprPool pool_;
  std::vector<bool> is_control_; ///< by register: it is the added code's own
  const Replay replay_;
  std::vector<Renaming> alone_; ///< by copy that goes on alone

private:
  class Stretch;

  void check_header() const;
  void check_variables() const;
  bool vprintf_is_the_drivers() const;
  void find_registers();

  std::unordered_map<std::string_view, RegisterId> by_name_;
};

} // namespace ptxasw::synth
