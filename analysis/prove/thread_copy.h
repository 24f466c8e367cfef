#pragma once

// A thread at a place, as expressions: the emulation's symbols replaced by those of one of two
// threads, and what is known of them.

#include "analysis/prove/given_parameters.h"
#include "analysis/prove/intervals.h"
#include "analysis/prove/kernel_paths.h"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace ptxasw::analysis {

/// What is the same for all threads of the launches that are looked at.
struct FixedLaunch {
  std::optional<Extents> grid;
  GivenParameters parameters;
  bool no_wrap = false;                 ///< 32-bit arithmetic on indices does not wrap around
  bool disjoint = false;                ///< no two pointers or variables lead to the same memory
  mutable bool needed_disjoint = false; ///< something rests on that
};

/// What holds of a loop at the beginning of each of its iterations, in terms of its registers and
/// its trip count; found by LoopInvariants.
struct LoopKnowledge {
  std::vector<Expr> always;
  /// Some of its registers, perhaps its trip count, and all that these are together in its
  /// iterations; empty: not known, or too many.
  std::vector<Expr> symbols;
  std::vector<std::vector<Expr>> states; ///< values, in the order of `symbols`
};
using InvariantsOf = std::function<const LoopKnowledge &(LoopId)>;

/// Cases, one of which there is: each says of some expressions what they are.
using CaseSplit = std::vector<std::vector<std::pair<Expr, Expr>>>;

/// The two threads that are looked at, apart from what each does.
struct ThreadPair {
  bool same_block = true;
  /// Both wait at the same barriers: what is the same in a whole block in one iteration of a loop
  /// is the same expression where both are in that iteration.
  bool in_step = false;
  /// The block of that barrier; no_index: the kernel's entry.
  BlockId start = no_index;
  /// As nothing races, both read the same by one instruction in one iteration: between the same
  /// barriers of the block nobody writes it. What rests on that holds if there is no race at all. A
  /// barrier's result is the same for both, too.
  bool same_reads = false;
};

/// Tells by their names which of two threads' symbols an expression has.
class ThreadsIn {
public:
  explicit ThreadsIn(const ExprPool &pool) : pool_(pool) {}
  /// 0: none, only what both share; 1, 2, or 3 for both.
  unsigned operator()(Expr expr);

private:
  const ExprPool &pool_;
  std::unordered_map<Expr, unsigned> known_;
};

class ThreadCopy {
public:
  /// `number` is 1 or 2; `at` the place's block.
  ThreadCopy(KernelPaths &paths, const FixedLaunch &launch, ThreadPair pair, unsigned number,
             BlockId at, const Rounds &rounds, const InvariantsOf &invariants);
  ~ThreadCopy();

  /// An expanded expression of the emulation in this thread.
  Expr operator()(Expr expr);
  /// What holds of everything that operator() has returned so far.
  const std::vector<Expr> &facts();
  /// Branches' choices that the thread has made for certain on its way, as all ways to the place
  /// lead through them: of those the ones in whose symbols operator() has come across.
  std::vector<Expr> computed();
  /// What can be told apart in the loops that operator() has come across, those outside first;
  /// facts() was called.
  const std::vector<CaseSplit> &splits() const { return splits_; }
  /// A coordinate of the thread in its block.
  Expr tid(int axis);
  Expr ctaid(int axis);
  /// The thread's number in its block, and so in its warp (PTX ISA 10.8).
  Expr linear_tid();

  /// The launch's part: what any two threads share.
  static Expr shared_symbol(KernelPaths &paths, const FixedLaunch &launch, Expr symbol);

private:
  /// The same thread in the iteration of a loop before.
  ThreadCopy(ThreadCopy &later, LoopId loop);
  Expr map(Expr symbol);
  Expr map_trip(Expr symbol, LoopId loop);
  Expr map_loop_register(Expr symbol, const LoopRegister &loop_register);
  bool exclude_each_other(const std::vector<std::pair<Expr, Expr>> &edges);
  Expr map_join(Expr symbol, const JoinRegister &join);
  Expr map_result(Expr symbol, std::uint32_t instruction);
  Expr fresh(Expr like);
  bool shared_outside(Expr symbol, LoopId loop);
  bool has_round(LoopId loop) const;
  bool is_shared(Expr symbol, BlockId home);
  bool same_round(BlockId home);
  void touch(LoopId loop);
  void add_loop_facts(LoopId loop);
  void add_split(const LoopKnowledge &known, ThreadCopy &round);
  Expr absent(BlockId block);
  ThreadCopy &before(LoopId loop);
  void add_fact(Expr fact);

  KernelPaths &paths_;
  ExprPool &pool_;
  const FixedLaunch &launch_;
  const ThreadPair pair_;
  const unsigned number_;
  const BlockId at_;
  const Rounds &rounds_;
  const InvariantsOf &invariants_;
  ThreadCopy *const later_ = nullptr; ///< this is the iteration before of loop_
  const LoopId loop_ = no_index;
  Substitution substitution_;
  std::unordered_map<Expr, Expr> mapped_;
  std::vector<Expr> facts_;
  std::vector<CaseSplit> splits_;
  std::set<LoopId> touched_, done_;
  std::map<LoopId, std::unique_ptr<ThreadCopy>> before_;
};

} // namespace ptxasw::analysis
