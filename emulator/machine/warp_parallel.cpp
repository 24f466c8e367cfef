// Blocks are tried at once and written back in their order. A block that has read what an earlier
// one has changed since is run again on what is there by then, so the result is that of running
// them one after the other.

#include "emulator/machine/warp_parallel.h"

#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <thread>

namespace ptxasw::emulator {
namespace {

/// Blocks tried at once, for each thread: enough that threads do not wait for each other.
constexpr std::uint64_t blocks_a_thread = 8;
/// A block that is tried may take this many times as long as any before it, and this much more.
constexpr std::uint64_t longer = 64, waiting_steps = 1'000'000;

struct Attempt {
  std::optional<GlobalMemory> memory;
  WarpOutcome outcome;
};

/// A run of blocks, by batches.
class ParallelRun {
public:
  ParallelRun(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
              GlobalMemory &memory, const WarpOptions &options)
      : program_(program), kernel_(kernel), launch_(launch), memory_(memory), options_(options) {
    options_.threads = 1;
    options_.turns = nullptr; // they come in no order
  }

  WarpOutcome run() {
    const std::uint64_t count =
        launch_.blocks.empty() ? launch_.grid.count() : launch_.blocks.size();
    const std::uint64_t batch = blocks_a_thread * threads_;
    std::uint64_t first = 0;
    run_in_place(first++); // how long a block takes
    for (; first < count && !total_.fault && !is_full_; first += batch)
      run_batch(first, std::min(count, first + batch));
    for (; first < count && !total_.fault; ++first)
      run_in_place(first);
    return std::move(total_);
  }

  void set_threads(unsigned threads) { threads_ = threads; }

private:
  WarpLaunch only(std::uint64_t index) const {
    WarpLaunch one = launch_;
    one.blocks = {launch_.blocks.empty() ? index : launch_.blocks[index]};
    return one;
  }

  void run_batch(std::uint64_t first, std::uint64_t end) {
    std::vector<Attempt> attempts(end - first);
    if (!collide_) {
      std::atomic<std::uint64_t> next{first};
      // A block that waits for an earlier one waits for ever on a copy.
      WarpOptions trial = options_;
      trial.step_limit = std::min(options_.step_limit, waiting_steps + longer * largest_);
      const auto work = [&] {
        for (std::uint64_t index = next++; index < end; index = next++) {
          Attempt &attempt = attempts[index - first];
          attempt.memory.emplace(memory_.view());
          attempt.outcome = run_kernel(program_, kernel_, only(index), *attempt.memory, trial);
        }
      };
      std::vector<std::thread> helpers;
      for (unsigned i = 1; i < threads_; ++i)
        helpers.emplace_back(work);
      work();
      for (std::thread &helper : helpers)
        helper.join();
    }
    GlobalMemory::Written written;
    std::uint64_t again = 0;
    for (std::uint64_t index = first; index < end && !total_.fault; ++index) {
      Attempt &attempt = attempts[index - first];
      // Where memory is short, pages are counted as they come: without copies.
      is_full_ |= attempt.memory &&
                  memory_.bytes_in_use() + attempt.memory->bytes_in_use() > options_.memory_limit;
      if (is_full_) {
        run_in_place(index);
        continue;
      }
      const bool stands = attempt.memory && !attempt.outcome.fault &&
                          total_.steps + attempt.outcome.steps <= options_.step_limit &&
                          !attempt.memory->has_read(written);
      if (stands) {
        attempt.memory->write_back(memory_, written);
        add(attempt.outcome);
      } else {
        ++again;
        run_again(index, written);
      }
    }
    collide_ |= again * 2 > end - first; // such blocks are better run in order
  }

  /// In its turn, on what the blocks before it have left.
  void run_again(std::uint64_t index, GlobalMemory::Written &written) {
    WarpOptions how = options_;
    how.step_limit = options_.step_limit - total_.steps;
    GlobalMemory view = memory_.view();
    WarpOutcome outcome = run_kernel(program_, kernel_, only(index), view, how);
    tell_limit(outcome);
    view.write_back(memory_, written);
    add(outcome);
  }

  void run_in_place(std::uint64_t index) {
    WarpOptions how = options_;
    how.step_limit = options_.step_limit - total_.steps;
    WarpOutcome outcome = run_kernel(program_, kernel_, only(index), memory_, how);
    tell_limit(outcome);
    add(outcome);
  }

  /// The limit that was given, not what was left of it.
  void tell_limit(WarpOutcome &outcome) const {
    if (outcome.fault && outcome.fault->kind == FaultKind::step_limit)
      outcome.fault->message = fmt::format("more than {} thread-instructions", options_.step_limit);
  }

  void add(WarpOutcome &outcome) {
    largest_ = std::max(largest_, outcome.steps);
    total_.steps += outcome.steps;
    if (total_.machine_line == 0)
      total_.machine_line = outcome.machine_line;
    total_.fault = std::move(outcome.fault);
  }

  const WarpProgram &program_;
  const std::uint32_t kernel_;
  const WarpLaunch &launch_;
  GlobalMemory &memory_;
  WarpOptions options_;
  unsigned threads_ = 1;
  bool collide_ = false, is_full_ = false;
  std::uint64_t largest_ = 0; ///< thread-instructions of a block so far
  WarpOutcome total_;
};

} // namespace

bool can_run_parallel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                      const WarpOptions &options) {
  const std::uint64_t count = launch.blocks.empty() ? launch.grid.count() : launch.blocks.size();
  if (options.threads < 2 || count < 2 || count > 4'000'000 ||
      options.schedule != WarpSchedule::reconverge || options.check_races || options.go_on ||
      options.check_uninitialized || options.check_barriers || options.profile || options.count ||
      options.note_touched || options.allowed || options.watch != 0 || options.observer ||
      options.reals || program.is_cooperative() || launch.cluster ||
      program.function(kernel).function->directive("reqnctapercluster"))
    return false;
  for (std::uint32_t f = 0; f < program.function_count(); ++f)
    for (const WarpInstruction &instruction : program.function(f).code)
      if (instruction.action == WarpAction::system_call ||
          instruction.action == WarpAction::cancel_launch)
        return false;
  return true;
}

WarpOutcome run_parallel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                         GlobalMemory &memory, const WarpOptions &options) {
  ParallelRun run(program, kernel, launch, memory, options);
  run.set_threads(std::min(options.threads, 64u));
  return run.run();
}

} // namespace ptxasw::emulator
