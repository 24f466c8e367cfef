#pragma once

// Compares kernels by running both on many launches that nobody has to describe. It can show that
// they differ; that they agree it says of the launches it ran. `ptxasw verify` prints the verdicts:
//   verify(original, rewritten, {})[0].kind == KernelVerdict::Kind::agree

#include "emulator/machine/compare_launches.h"
#include "emulator/machine/warp_draw.h"
#include "emulator/machine/warp_program.h"
#include "grammar/sibling_table.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::emulator {

/// How hard to try.
struct VerifyOptions {
  std::string kernel; ///< only this one; empty: all that both modules have
  /// A kernel of the second module that stands in for `kernel`, in launches that meet its needs.
  /// Tests that it adds need not come out both ways. `tall`: any number of rows is tried.
  std::optional<Sibling> stand_in;
  unsigned runs = 20; ///< launches per kernel; a quarter of them, and no fewer than three or all,
                      ///< must be usable
  unsigned schedules = 3; ///< random schedules per launch, besides the two regular ones
  std::uint64_t seed = 1;
  /// Bytes of dynamic shared memory of each launch, where a kernel has any; nothing: enough for
  /// most.
  std::optional<std::uint32_t> dynamic_shared;
  std::uint64_t step_limit = 2'000'000; ///< thread-instructions per run
  /// Thread-instructions per kernel, of all its runs together, after which nothing more is tried.
  std::uint64_t work = 600'000'000;
  unsigned search = 500; ///< launches at most, beyond the runs, to find what has not run yet
  /// Promises that the rewriter was given, and that launches keep: no index wraps around (numbers
  /// and grids are small), no two pointers lead into one buffer.
  bool no_wrap = false, no_alias = false;
  Tolerance tolerance;
  bool reassociate = false;    ///< results may also differ by how they were rounded
  bool volatile_races = false; ///< volatile accesses race, too
  bool matrices_order = false; ///< instructions on matrices order the lanes of their warp
  bool any_order = false; ///< of `stand_in`: launches that leave other memory are none to be used
  /// Called now and then: how many launches of the kernel at work have agreed so far.
  std::function<void(const std::string &kernel, unsigned agreed)> progress;
  /// Blocks of the rewritten kernel may do the work of others: grids are small, and all blocks run.
  bool whole_grid = false;
  bool small = false; ///< mostly launches of few threads, for many kernels in little time
};

/// The result of comparing one kernel of two modules.
struct KernelVerdict {
  enum class Kind : std::uint8_t {
    agree,
    differ,
    unchecked, ///< cannot be compared: too few launches were usable, or something is not emulated
    not_exercised, ///< agree, but something that changed was never executed
  };
  std::string kernel;
  Kind kind = Kind::unchecked;
  bool impossible = false; ///< `unchecked`, and no launch can be drawn: the two are too unlike
  unsigned agreed = 0;     ///< launches on which both computed the same
  std::map<std::string, unsigned> unusable; ///< launches that were drawn again, by reason
  std::string counter_example;              ///< launch, schedule, place and both values
  std::optional<LaunchDescription> launch;  ///< the same, to be run
  WorstDifference worst;                    ///< within the tolerance
  std::vector<std::uint32_t> not_executed;  ///< lines of the original that no agreed launch reached
  unsigned changed = 0;                     ///< instructions that only one of the two has
  /// Lines of the rewritten module with changed instructions that no agreed launch executed.
  std::vector<std::uint32_t> not_exercised;
  std::vector<std::uint32_t> gone_not_exercised; ///< the same of the original: what is gone
  /// Lines of the rewritten module with added tests that only came out one way.
  std::vector<std::uint32_t> one_sided;
  std::vector<std::uint32_t> gone_one_sided; ///< the same of the original: tests without successors
  /// Lines of the rewritten module that no launch executes but such in which a 32-bit index wraps
  /// around, and tests with an outcome of which that is true; none of these was tried.
  std::vector<std::uint32_t> wrapping;
  std::vector<std::uint32_t> gone_wrapping; ///< the same of the original: what is gone
  std::uint64_t steps = 0;  ///< thread-instructions of the original, once for each launch
  std::uint64_t work = 0;   ///< thread-instructions of all runs
  bool out_of_work = false; ///< the search ended with VerifyOptions::work, not with its launches
};

/// Compares each kernel of two modules by running both on equal launches: memory must be equal bit
/// for bit under every schedule, and the rewritten kernel may load only what the original accesses
/// and may have no race. A launch counts only if the original agrees with itself under the same
/// schedules and has no race. Launches are drawn, and searched for until every instruction that
/// only one of the two has was executed, and every added test came out both ways where it can, as
/// must one that is gone where the rewritten kernel has fewer.
std::vector<KernelVerdict> verify(const Module &original, const Module &rewritten,
                                  const VerifyOptions &options);
/// The same of modules that are decoded already, for whoever compares kernel by kernel.
std::vector<KernelVerdict> verify(const WarpProgram &original, const WarpProgram &rewritten,
                                  const VerifyOptions &options);

} // namespace ptxasw::emulator
