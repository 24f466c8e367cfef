#pragma once

// The inside of verify(): its state, shared by the files that make it up.
//   warp_verify.cpp      the runs: how many, when it ends, what is said
//   verify_compare.cpp   one launch of both, and what counts as a difference
//   verify_search.cpp    which launches: what has not run yet, boundaries, what the solver finds
//   verify_ways.cpp      what no way leads to on which no index wraps around
//   verify_stand_in.cpp  launches of a kernel that stands in for another

#include "emulator/machine/warp_verify.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::emulator::verification {

/// A finished run with the memory it left.
struct FinishedRun {
  GlobalMemory memory;
  ExactMemory reals;
  WarpOutcome outcome;
};

inline Extents extents(const std::array<std::uint32_t, 3> &of) { return {of[0], of[1], of[2]}; }

/// Something that changed, and that launches should do.
struct Target {
  bool in_rewritten = true;
  std::uint32_t function = 0; ///< index in its program
  std::uint32_t instruction = 0;
  std::optional<bool> outcome; ///< of a test that changed; nothing: to be executed at all
  bool reached = false;
  bool impossible = false; ///< no launch at all does it
  bool wraps = false;      ///< only launches do it in which an index wraps around
  unsigned tries = 0;
  bool is_open() const { return !reached && !impossible && !wraps; }
};

/// A place at which little matters much, and that launches should come to.
struct Boundary {
  KernelModel *model = nullptr;
  const KernelModel::Wish *wish = nullptr;
  unsigned wanted = 1; ///< launches
  unsigned tries = 0;
};

class Verifier {
public:
  Verifier(const WarpProgram &original, const WarpProgram &rewritten, std::uint32_t first,
           std::uint32_t second, const VerifyOptions &options)
      : original_(original), rewritten_(rewritten), first_(first), second_(second),
        options_(options), kernel_(*original.function(first).function),
        other_(*rewritten.function(second).function),
        slots_(parameter_slots(original.module(), kernel_)),
        model_(original.module(), kernel_, slots_),
        other_model_(rewritten.module(), other_, slots_),
        executed_(original.function(first).code.size()), random_(options.seed ^ 0x5eed) {}

  KernelVerdict run();

private:
  struct Difference {
    std::string what;
    bool unsupported = false; ///< the rewritten kernel cannot be run: not comparable
    std::uint64_t race = 0;   ///< it races at this address; 0: that is not it
    bool of_memory = false;   ///< both end, and leave other memory
  };

  void suit_block(LaunchCandidate &candidate, bool searched_there = false) const;
  void suit_other_block(LaunchCandidate &candidate) const;
  void suit_stand_in(LaunchCandidate &candidate, bool searched_there);
  void stand_in(const Extents &grid, WarpLaunch &launch) const;
  /// The extent of the blocks of the kernel's launch that the stand-in is said of; 0: any.
  std::uint32_t cut_along(int axis) const {
    return options_.stand_in && only_reshapes(*options_.stand_in)
               ? extents(options_.stand_in->extent)[axis]
               : 0;
  }
  /// The extent along x that the stand-in's blocks have whatever the kernel's have; 0: they follow.
  std::uint32_t given_along_x() const {
    return options_.stand_in && !only_reshapes(*options_.stand_in) ? options_.stand_in->extent[0]
                                                                   : 0;
  }
  /// Returns true if a block of the stand-in may do threads of any blocks along x.
  bool any_along_x() const {
    return given_along_x() != 0 ||
           options_.stand_in->needs.max_extent[0] != SiblingNeeds{}.max_extent[0];
  }
  /// The axis along which its blocks do rows, and blocks must be one thread thick.
  std::optional<int> thin_axis() const;
  std::vector<Extents> shapes() const;
  void cut(WarpLaunch &launch) const;
  void uncut(LaunchCandidate &candidate);
  void complete_groups(WarpLaunch &launch) const;
  void suit_arguments(LaunchCandidate &candidate) const;
  bool meets_needs(const DrawnLaunch &drawn) const;
  bool fits_stand_in() const;
  FinishedRun execute(bool in_rewritten, const DrawnLaunch &drawn, const SeededSchedule &schedule,
                      WarpOptions how);
  bool usable(const DrawnLaunch &drawn, FinishedRun &reference, std::string &why);
  std::optional<Difference> differs(const DrawnLaunch &drawn, FinishedRun &reference,
                                    const SeededSchedule &schedule, bool check_races);
  std::string_view original_wavers(const DrawnLaunch &drawn, FinishedRun &reference,
                                   const SeededSchedule &schedule, const Difference &difference);
  MemoryDifference difference(const DrawnLaunch &drawn, FinishedRun &first, FinishedRun &second,
                              WorstDifference *worst = nullptr) const;
  std::vector<SeededSchedule> schedules();
  bool try_launch(const DrawnLaunch &drawn);
  void minimize(DrawnLaunch drawn, SeededSchedule schedule, std::string what);
  void find_targets();
  void discover_pointers();
  DrawHints hints();
  DrawnLaunch draw(unsigned attempt);
  DrawnLaunch finish(LaunchCandidate candidate);
  Target *open_target();
  Boundary *open_boundary();
  unsigned most_tries(unsigned usual) const { return std::min(usual, options_.search / 8 + 1); }
  std::optional<KernelModel::Wish> wish_of(const Target &target);
  bool is_in_kernel(const Target &target) const {
    return target.function == (target.in_rewritten ? second_ : first_);
  }
  void find_targets_in(std::uint32_t before, std::uint32_t after);
  KernelModel &model_of(const Target &target) {
    return target.in_rewritten ? other_model_ : model_;
  }
  void note_profile(const std::vector<std::vector<InstructionProfile>> &profile, bool rewritten);
  bool has_work_left() const { return verdict_.work < options_.work; }
  /// Formulas about a launch and one of its threads.
  struct Question {
    std::vector<Expr> wish, places, extents;
    std::vector<Expr> symbols; ///< in them, of at most 64 bits
  };
  static Question question_of(KernelModel &model, const KernelModel::Wish &wish);
  static bool is_impossible(KernelModel &model, const Question &question);
  static bool contradict(KernelModel &model, const std::vector<PathFact> &conditions,
                         const Question &question, unsigned limit);
  static bool only_wraps(KernelModel &model, const KernelModel::Wish &wish,
                         const Question &question, bool quickly = false);
  void ask_solver();
  void follow_ways(bool in_rewritten);
  /// Makes some of the attempts to find a launch that does what is asked for.
  void find_launch(Target &target, const Question &question, unsigned first, unsigned behind);
  KernelVerdict finish();

  const WarpProgram &original_, &rewritten_;
  const std::uint32_t first_, second_;
  const VerifyOptions &options_;
  const Function &kernel_, &other_;
  /// Blocks of a part of the grid are none of it in blocks of another shape.
  const bool whole_grid_ =
      options_.whole_grid || cut_along(0) != 0 || cut_along(1) != 0 || cut_along(2) != 0;
  const bool dynamic_shared_ = original_.has_dynamic_shared() || rewritten_.has_dynamic_shared();
  std::vector<ParameterSlot> slots_;
  KernelModel model_, other_model_;
  std::vector<Target> targets_;
  std::size_t next_target_ = 0;
  std::vector<bool> executed_;
  WarpRandom random_;
  unsigned races_ = 0, limits_ = 0;
  bool parted_ = false;     ///< lanes, in the last run of the rewritten kernel that agreed,
  std::uint64_t steps_ = 0; ///< which had so many thread-instructions
  std::vector<Extents> usable_blocks_; ///< of launches that could be used
  std::size_t next_usual_ = 0;
  std::vector<Boundary> boundaries_;
  std::size_t next_boundary_ = 0;
  Boundary *boundary_ = nullptr; ///< that the current launch was searched for
  bool at_boundary_ = false;     ///< and found
  KernelVerdict verdict_;
};

} // namespace ptxasw::emulator::verification
