#pragma once

// What writer and proof of a coarsened version both know of a kernel.

#include "analysis/call_groups.h"
#include "grammar/code_writer.h"
#include "grammar/roles.h"
#include "synth/coarsen/allocations.h"
#include "synth/coarsen/copies.h"
#include "synth/coarsen/wide.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ptxasw::synth {

/// What a copy that leaves lockstep computes once more, so that lockstep need not keep it:
/// registers for all copies' addresses take those that loads in flight need.
class Recomputation : OfKernel {
public:
  /// `shared`: by register, as Sharing::by_some() gives it.
  Recomputation(const KernelContext &context, const std::vector<bool> &shared);

  /// Instructions, in the order in which they are to be done, that give registers of a copy what
  /// they hold before `position` anyway; from numbers that all copies share and special registers.
  std::vector<std::uint32_t> at(std::uint32_t position) const;
  /// The registers that are of use at a position: live_before(), and the shared ones that at()
  /// reads. Sorted.
  std::vector<RegisterId> needed(std::uint32_t position) const;
  /// Returns true if one of at() computes a register.
  bool gives(const std::vector<std::uint32_t> &again, RegisterId reg) const;
  /// What an instruction of those computes.
  RegisterId result_of(std::uint32_t i) const {
    return written_registers(module_, instruction(i)).front();
  }

private:
  bool may_be_repeated(std::uint32_t i) const;
  /// It has run on every way to a position, and would give the same there.
  bool is_available(std::uint32_t i, std::uint32_t position) const;

  const std::vector<bool> &shared_;
  std::vector<std::vector<std::uint32_t>> writers_; ///< by register: instructions
  std::vector<std::vector<std::uint32_t>> before_;  ///< by instruction: those that it may follow
};

/// What is to be known of a kernel in a form, for whoever writes it and for the proof, which has it
/// of the kernel that it reads.
class Coarsening : protected OfKernel {
protected:
  Coarsening(const KernelContext &context, const CoarsenForm &form, WidePlan plan)
      : OfKernel(context), form_(form), copies_(form.total()), sharing_(sharing_of(context, form)),
        shared_(sharing_.by_all()), first_(sharing_.done_first()),
        recomputation_(context, sharing_.by_some()), plan_(std::move(plan)),
        skew_(skew_of(context, form)), merged_(merged_loads(context, form)),
        allocations_(allocations_of(module_, kernel_)),
        dynamic_(dynamic_allocations_of(module_, kernel_)), calls_(calls_of(context)),
        passing_(passing_variables(module_, kernel_)), passed_(find_passed()), names_(kernel_),
        alone_at_once_(can_be_alone_at_once()), instead_(kernel_.instructions.size()),
        has_own_(kernel_.registers.size(), false) {
    if (form.once)
      for (const GridIteration &round : rounds_over_grid(context))
        instead_[round.branch] = round.instead;
    for (unsigned k = 0; k < copies_; ++k)
      together_.push_back(renaming(k, false));
    find_predicated();
  }

  /// The name of a copy's register in lockstep.
  std::string name_of(RegisterId reg, unsigned k) const {
    return shared_[reg] ? names_.shared(reg) : names_.copy(sharing_.keeper(reg, k), reg);
  }
  /// Is one code there for all copies that go on alone? They use the same registers one after the
  /// other, filled where each one's turn comes. Otherwise each has a code, with its own registers.
  bool alone_at_once() const { return alone_at_once_; }
  /// How many codes there are, and which one is a copy's.
  unsigned lone_codes() const { return alone_at_once_ ? 1 : copies_; }
  unsigned lone_code(unsigned k) const { return alone_at_once_ ? 0 : k; }
  /// What a copy has in place of the kernel's names, in lockstep or alone.
  Renaming renaming(unsigned k, bool alone) const;
  /// A register's value in another one of the same type.
  static std::string move(const std::string &to, const std::string &from, ScalarType type);

  /// What stands in lockstep for an instruction of a copy, and of those after it if it is done for
  /// several.
  struct Lines {
    std::vector<std::string> text; ///< without semicolons
    unsigned copies = 1;
    std::vector<std::size_t> filled;    ///< wide loads that are done there
    std::optional<std::size_t> part;    ///< the wide load that it is a mov from
    std::vector<unsigned> addressed_by; ///< copies whose addresses of this instruction are used
  };
  Lines lines_of(std::uint32_t instruction, unsigned k) const;
  /// What stands for all instructions of a call for a copy, which has these names.
  std::vector<std::string> lines_of(const CallGroup &group, const Renaming &names) const;
  /// Does the kernel assert anything? Then a copy prints its block before (CoarsenNames::format).
  bool asserts() const;
  /// Declares what calls pass, and what is printed before an assertion fails.
  void declare_passing(CodeWriter &out) const;
  /// What stands for the straight code behind a branch of `predicated_` if copies part there, or in
  /// the first thread along x, if it stays.
  std::vector<std::string> predicated_lines(std::uint32_t branch) const;
  /// How far apart two copies' addresses are.
  std::string difference(const WideTest &test) const;

  const CoarsenForm form_;
  const unsigned copies_;
  const Sharing &sharing_;
  const std::vector<bool> &shared_; ///< by all copies
  const std::vector<bool> &first_;  ///< by instruction of the kernel
  const Recomputation recomputation_;
  const WidePlan plan_;
  const Skew &skew_;
  const std::vector<MergedLoad> &merged_;
  const std::vector<Allocation> allocations_;
  const std::vector<Symbol> dynamic_; ///< names of memory whose size the launch says
  const Calls &calls_;
  const std::vector<Symbol> passing_; ///< variables for arguments and results
  /// Those like which a version has some: these, and what an assertion prints the block by.
  const std::vector<Variable> passed_;
  const CoarsenNames names_;
  const bool alone_at_once_;
  std::vector<std::optional<std::uint32_t>>
      instead_;                    ///< by instruction: where a branch leads in all such launches
  std::vector<bool> has_own_;      ///< by register: a copy that goes on alone has a stand-in
  std::vector<Renaming> together_; ///< by copy
  /// Branches at which copies that part stay together, and where those lead (predicated.cpp).
  std::map<std::uint32_t, std::uint32_t> predicated_;
  bool first_stays_ = false; ///< the first thread along x need not leave lockstep at the entry

private:
  void find_predicated();
  bool is_predicated(std::uint32_t branch) const;
  bool may_be_predicated(std::uint32_t branch, std::uint32_t i) const;
  std::optional<std::string> predicate_of(std::uint32_t branch, std::uint32_t access,
                                          unsigned k) const;
  bool may_be_repeated(const std::vector<std::uint32_t> &instructions) const;
  void add_predicated(std::uint32_t branch, const Instance &one,
                      std::vector<std::string> &lines) const;
  std::string access(const Instance &instance, std::int64_t displacement,
                     const std::vector<std::string> &values) const;
  bool can_be_alone_at_once() const;
  std::vector<Variable> find_passed() const;
  std::vector<std::string> printed(const Renaming &names) const;
};

} // namespace ptxasw::synth
