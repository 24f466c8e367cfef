// Blocks and warps: who is started, who has a turn, and what is said when nobody can go on.

#include "emulator/machine/warp_machine.h"

#include "emulator/machine/warp_group.h"
#include "emulator/machine/warp_parallel.h"

#include <algorithm>
#include <cfenv>
#include <fmt/core.h>
#include <utility>

namespace ptxasw::emulator {
namespace {

constexpr std::size_t resident_blocks = 4;
/// Blocks that wait for each other must all run.
constexpr std::size_t cooperative_blocks = 4096;
/// Threads are numbered in 32 bits, from 1.
constexpr std::uint64_t most_blocks = 0xffff'ffff / 1024 - 1;

} // namespace

void WarpMachine::validate() const {
  const Function &function = run_.kernel_function();
  const auto bad = [&](std::string message) {
    throw MachineFault{{FaultKind::bad_launch, std::move(message), std::string(function.name)}};
  };
  if (!run_.program.function(run_.kernel).cfg->well_formed())
    bad("its control flow is not understood");
  if (const auto legal = check_launch_shape(run_.launch.grid, run_.launch.block); !legal)
    bad(legal.error());
  if (run_.launch.blocks.empty() && run_.launch.grid.count() > most_blocks)
    bad(fmt::format("a grid of {} blocks; {} are emulated at most", run_.launch.grid.count(),
                    most_blocks));
  if (run_.shared_bytes > window::size)
    bad("more shared memory than any device has");
  constexpr std::uint32_t most_local = 1024 * 1024; // twice what a thread has; here there are gaps
  if (run_.max_local > most_local)
    bad("more local memory than a thread has");
  if (const std::uint64_t dynamic = run_.launch.dynamic_shared;
      dynamic != 0 && dynamic + run_.program.dynamic_shared_offset() > window::size)
    bad(fmt::format("{} bytes of dynamic shared memory", run_.launch.dynamic_shared));
  for (const std::uint64_t number : run_.launch.blocks)
    if (number >= run_.launch.grid.count())
      bad(fmt::format("block {} of a grid of {}", number, run_.launch.grid.count()));
  if (run_.launch.cluster && *run_.launch.cluster != run_.cluster)
    bad("clusters of another shape than .reqnctapercluster");
  for (int i = 0; i < 3; ++i)
    if (run_.cluster[i] == 0 || run_.launch.grid[i] % run_.cluster[i] != 0)
      bad("the grid is no multiple of its clusters");
  if (!run_.launch.blocks.empty() && run_.cluster.count() > 1)
    bad("a part of a grid of clusters");
  if (run_.cluster.count() > 1 && (run_.shared_bytes > window::block_slot ||
                                   run_.cluster.count() >= window::size / window::block_slot))
    bad("more blocks in a cluster, or more shared memory in them, than any device has");
  if (run_.launch.parameters.size() < kernel_parameter_bytes(function))
    bad("too few parameter bytes");
  if (const auto *required = function.directive("reqntid"))
    for (int i = 0; i < 3; ++i)
      if (run_.launch.block[i] != required->values[i])
        bad("the block is not what .reqntid requires");
  if (const auto *most = function.directive("maxntid"))
    if (run_.block_threads > Extents{most->values[0], most->values[1], most->values[2]}.count())
      bad("more threads a block than .maxntid allows");
}

WarpOutcome WarpMachine::run() {
  try {
    validate();
    const auto blocks = static_cast<std::uint32_t>(
        run_.launch.blocks.empty() ? run_.launch.grid.count() : run_.launch.blocks.size());
    if (run_.options.check_races)
      run_.races =
          std::make_unique<RaceDetector>(run_.options.only_barriers_order, run_.block_threads);
    if (run_.options.profile)
      for (std::uint32_t i = 0; i < run_.program.function_count(); ++i)
        run_.outcome.profile.emplace_back(run_.program.function(i).code.size());
    if (run_.program.is_cooperative())
      run_.workspace = driver_.make_workspace();
    const std::size_t together = run_.program.is_cooperative() ? cooperative_blocks
                                 : run_.options.schedule == WarpSchedule::random ? resident_blocks
                                                                                 : 1;
    while (run_.started < blocks || !run_.active.empty()) {
      if (run_.active.empty() && may_run_straight()) {
        run_straight(blocks);
        continue;
      }
      if (run_.active.empty() && runs_together_) {
        start_next_block();
        run_together(*run_.active.back());
        end_blocks();
        continue;
      }
      // The blocks of a cluster start together.
      while (run_.started < blocks &&
             (run_.active.size() < together || run_.started % run_.cluster.count() != 0))
        start_next_block();
      if (step_blocks())
        continue;
      // A block may wait for one that does not run yet.
      if (run_.started >= blocks || run_.active.size() >= 64)
        report_stuck(*run_.active.front());
      start_next_block();
    }
  } catch (MachineFault &fault) {
    run_.outcome.fault = std::move(fault.fault);
  }
  if (run_.workspace != 0)
    memory_.global().release(run_.workspace);
  run_.program.translations().add_steps(run_.outcome.steps);
  return std::move(run_.outcome);
}

void WarpMachine::start_next_block() {
  const std::uint32_t index = run_.started++;
  run_.active.push_back(start_block(index));
}

std::unique_ptr<BlockState> WarpMachine::start_block(std::uint32_t index) {
  std::unique_ptr<BlockState> block;
  if (ended_.empty()) {
    block = std::make_unique<BlockState>();
  } else {
    block = std::move(ended_.back());
    ended_.pop_back();
  }
  block->index = index;
  block->first_step = run_.outcome.steps;
  run_.find_block(index, block->ctaid);
  block->epoch = 0;
  block->tensor_memory.reset();
  // Shared memory starts with anything, but the same anything in every run of one seed.
  if (shared_at_start_.size() != run_.shared_bytes) {
    shared_at_start_.resize(run_.shared_bytes);
    for (std::size_t i = 0; i < shared_at_start_.size(); ++i)
      shared_at_start_[i] =
          static_cast<std::uint8_t>(scramble(i / 4 + run_.options.shared_seed) >> 8 * (i % 4));
  }
  block->shared = shared_at_start_;
  if (run_.options.check_uninitialized)
    block->shared_written.assign(run_.shared_bytes, 0);
  block->warps.resize(run_.block_warps);
  if (run_.options.count)
    run_.outcome.counts.emplace_back(run_.block_warps);
  block->cluster_arrived.assign(run_.block_warps, 0);
  if (run_.program.meeting() != WarpMeeting::none) {
    block->cluster_due.assign(run_.block_warps, 0);
    for (BarrierState &barrier : block->barriers)
      if (barrier.used || barrier.arrived.size() != run_.block_warps)
        barrier.clear(run_.block_warps);
    block->used_barriers = 0;
  }
  if (shapes_.empty())
    find_shapes();
  find_whole_code();
  for (std::uint32_t w = 0; w < run_.block_warps; ++w) {
    WarpState &warp = block->warps[w];
    if (warp.is_whole && warp.block == block.get()) { // it has ended as it began
      warp.live = warp.all;
      warp.held.code = nullptr;
      warp.at.pc = 0;
      std::fill(warp.at.iterations.begin(), warp.at.iterations.end(), 0);
      continue;
    }
    warp.block = block.get();
    warp.index = w;
    warp.all = warp.live = shapes_[w].lanes;
    warp.left = 0;
    warp.tid = shapes_[w].tid;
    warp.specials_of = nullptr;
    warp.held.code = nullptr;
    warp.held.rows_are_blank = false;
    warp.fragments.clear();
    warp.is_whole = whole_code_ != nullptr;
    warp.waits = false;
    if (!warp.is_whole) {
      start_warp(warp, true);
      continue;
    }
    warp.at.function = run_.kernel;
    warp.at.pc = 0;
    warp.at.iterations.assign(run_.program.function(run_.kernel).cfg->loops().size(), 0);
  }
  block->live_warps = run_.block_warps;
  return block;
}

void WarpMachine::find_shapes() {
  shapes_.resize(run_.block_warps);
  const Extents &shape = run_.launch.block;
  for (std::uint32_t thread = 0; thread < run_.block_threads; ++thread) {
    WarpShape &warp = shapes_[thread / warp_lanes];
    const unsigned lane = thread % warp_lanes;
    warp.lanes |= 1u << lane;
    warp.tid[0][lane] = thread % shape.x;
    warp.tid[1][lane] = thread / shape.x % shape.y;
    warp.tid[2][lane] = thread / shape.x / shape.y;
  }
}

// Without rows there are some of the right size, with anything in them.
void WarpMachine::start_warp(WarpState &warp, bool with_rows) {
  warp.is_whole = false;
  warp.copies.clear();
  std::fill(std::begin(warp.copy_group), std::end(warp.copy_group), 0);
  warp.products.clear();
  warp.products_issued = 0;
  warp.product_groups.clear();
  warp.products_seen = 0;
  warp.products_read = {};
  Fragment fragment;
  if (!spare_fragments_.empty()) {
    fragment = std::move(spare_fragments_.back());
    spare_fragments_.pop_back();
  }
  fragment.mask = warp.live;
  fragment.state = Fragment::State::ready;
  fragment.met = 0;
  fragment.partings.clear();
  fragment.stack.resize(1);
  Activation &start = fragment.stack[0];
  start.function = run_.kernel;
  start.pc = 0;
  start.iterations.assign(run_.program.function(run_.kernel).cfg->loops().size(), 0);
  for (LaneMask rest = run_.options.lanes_alone ? warp.live : 0; (rest & (rest - 1)) != 0;
       rest &= rest - 1) {
    fragment.mask = rest & ~(rest - 1);
    warp.fragments.push_back(fragment);
    fragment.mask = rest & (rest - 1);
  }
  warp.fragments.push_back(std::move(fragment));
  warp.levels.resize(1);
  if (CallLevel &level = warp.levels[0]; with_rows || level.registers.empty())
    start_level(run_, level);
  else
    std::fill(level.parameters.begin(), level.parameters.end(), std::uint8_t{0});
}

// Gives every warp of one block (random: one warp of any block) a turn. False: no warp can go on.
bool WarpMachine::step_blocks() {
  bool progress = false;
  if (run_.options.schedule == WarpSchedule::random) {
    ready_warps_.clear();
    for (const auto &block : run_.active)
      for (WarpState &warp : block->warps)
        if (std::any_of(warp.fragments.begin(), warp.fragments.end(),
                        [](const Fragment &f) { return f.state == Fragment::State::ready; }))
          ready_warps_.push_back(&warp);
    if (!ready_warps_.empty())
      progress = run_warp(*ready_warps_[run_.random.below(ready_warps_.size())], false);
  } else {
    for (const auto &block : run_.active)
      for (WarpState &warp : block->warps)
        progress |= run_warp(warp, false);
  }
  return end_blocks() || progress;
}

bool WarpMachine::end_blocks() {
  for (std::unique_ptr<BlockState> &block : run_.active)
    if (block->live_warps == 0) {
      if (run_.options.check_barriers)
        barriers_.check_unused_arrivals(*block);
      if (run_.races)
        run_.races->end_block(block->index);
      ended_.push_back(std::move(block));
    }
  return std::erase(run_.active, nullptr) != 0;
}

bool WarpMachine::run_warp(WarpState &warp, bool has_run) {
  const bool progress = run_turn(warp, has_run);
  if (progress)
    note_turn(warp);
  return progress;
}

void WarpMachine::note_turn(const WarpState &warp) {
  if (run_.options.turns)
    run_.options.turns->push_back(
        {warp.block->index, warp.index, run_.outcome.steps, warp.live == 0});
}

bool WarpMachine::run_turn(WarpState &warp, bool has_run) {
  if (warp.is_whole ? warp.waits || warp.live == 0 : warp.fragments.empty())
    return false;
  const bool random = run_.options.schedule == WarpSchedule::random;
  if (!has_run)
    turn_.left =
        random ? 1 + run_.random.below(run_.random.one_in(4) ? 200 : 12) : run_.options.time_slice;
  bool progress = false;
  std::vector<std::size_t> &ready = ready_fragments_;
  while (warp.is_whole) {
    std::size_t index = 0;
    std::uint64_t quantum = run_.options.time_slice;
    bool to_block_end = false;
    if (!std::exchange(has_run, false)) {
      turn_.before = run_.outcome.steps;
      run_whole(warp);
    }
    const Translated how = settle_whole(warp, index, quantum, to_block_end);
    if (warp.is_whole) {
      if (warp.live == 0 || warp.waits || turn_.left == 0)
        return true;
      continue;
    }
    if (how != Translated::ended)
      run_fragment(warp, index, quantum, to_block_end, how == Translated::went_on);
    if (scheduler_.take_yield())
      return true;
    progress = true;
  }
  while (turn_.left > 0) {
    if (warp.fragments.size() > 1 && run_.options.schedule != WarpSchedule::apart)
      scheduler_.merge(warp, !random);
    ready.clear();
    for (std::size_t i = 0; i < warp.fragments.size(); ++i)
      if (warp.fragments[i].state == Fragment::State::ready)
        ready.push_back(i);
    if (ready.empty())
      return progress;
    progress = true;
    const std::size_t index = scheduler_.choose(warp, ready);
    if (random && std::popcount(warp.fragments[index].mask) > 1 && run_.random.one_in(64))
      scheduler_.split(warp, index,
                       warp.fragments[index].mask & static_cast<LaneMask>(run_.random.next()),
                       scheduler_.meeting_place(warp.fragments[index].stack.back()));
    const bool to_block_end =
        warp.fragments.size() > 1 && run_.options.schedule == WarpSchedule::reconverge;
    turn_.before = run_.outcome.steps;
    run_fragment(warp, index, random ? turn_.left : run_.options.time_slice, to_block_end, false);
    if (random || scheduler_.take_yield())
      return true;
  }
  return progress;
}

void WarpMachine::end_run() {
  turn_.left -= std::min(turn_.left, (run_.outcome.steps - turn_.before) / warp_lanes + 1);
  turn_.before = run_.outcome.steps;
}

void WarpMachine::exit_lanes(WarpContext &context, std::size_t index, LaneMask lanes) {
  WarpState &warp = *context.warp;
  if (!warp.copies.empty())
    for_each_lane(lanes, [&](unsigned lane) { async_.complete_copies(context, lane, ~0u); });
  warp.live &= ~lanes;
  warp.fragments[index].mask &= ~lanes;
  if (warp.fragments[index].mask == 0) {
    if (spare_fragments_.size() < most_spare)
      spare_fragments_.push_back(std::move(warp.fragments[index]));
    warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(index));
  }
  if (warp.live == 0 && --warp.block->live_warps == 0)
    check_group_products(context);
  collectives_.complete(warp);
  barriers_.complete(context);
  barriers_.complete_cluster(context);
}

// Counts what lanes are about to execute, and holds it to the limits of the run.
void WarpMachine::count_step(const WarpContext &context, LaneMask lanes) {
  const WarpOptions &options = run_.options;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  run_.outcome.steps += static_cast<unsigned>(std::popcount(lanes));
  if (run_.outcome.steps > options.step_limit)
    context.fail(FaultKind::step_limit, first,
                 fmt::format("more than {} thread-instructions", options.step_limit));
  if (memory_.global().bytes_in_use() + (run_.races ? run_.races->bytes_in_use() : 0) >
      options.memory_limit)
    context.fail(FaultKind::memory_limit, first,
                 fmt::format("the emulation needs more than {} MiB", options.memory_limit >> 20));
  if (!options.observer)
    return;
  const WarpState &warp = *context.warp;
  options.observer->before({context.function,
                            context.instruction,
                            {warp.block->ctaid[0], warp.block->ctaid[1], warp.block->ctaid[2]},
                            warp.index,
                            lanes,
                            context.level->registers.data()});
}

void WarpMachine::run_fragment(WarpState &warp, std::size_t index, std::uint64_t quantum,
                               bool to_block_end, bool has_begun) {
  while (quantum > 0) {
    Fragment &fragment = warp.fragments[index];
    WarpContext context = WarpContext::of(run_, warp, fragment);
    if (has_begun &&
        ((to_block_end && context.instruction->starts_block) || scheduler_.awaits_others(fragment)))
      break;
    has_begun = true;
    scheduler_.go_on(fragment);
    if (may_translate_ && !has_stopped(warp, fragment)) {
      const Translated how = run_translated(warp, index, quantum, to_block_end);
      has_begun = how != Translated::begins;
      if (how == Translated::went_on || how == Translated::begins)
        continue;
      if (how == Translated::ended)
        return;
    }
    if (warp.held.code && !leaves_registers(*context.instruction))
      release_held(warp);
    --quantum;
    count_step(context, fragment.mask);
    const NextStep next = execute(context, index);
    if (next == NextStep::advance)
      scheduler_.advance(warp.fragments[index]);
    if (next == NextStep::stop)
      break;
  }
  end_run();
}

// No thread can go on: says who waits for whom.
void WarpMachine::report_stuck(BlockState &block) {
  for (WarpState &warp : block.warps)
    if (warp.is_whole && warp.live != 0)
      make_fragment(warp);
  for (WarpState &warp : block.warps)
    for (const Fragment &fragment : warp.fragments) {
      if (fragment.state != Fragment::State::at_sync)
        continue;
      const WarpContext context = WarpContext::of(run_, warp, fragment);
      const auto lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
      const LaneMask named = Collectives::named_lanes(context, lane) & warp.live & ~fragment.mask;
      for (const Fragment &other : warp.fragments)
        if (other.mask & named) {
          const Activation &where = other.stack.back();
          context.fail(FaultKind::missing_lane,
                       static_cast<unsigned>(std::countr_zero(other.mask & named)),
                       fmt::format("`{}` waits for this lane, which waits at line {}",
                                   context.instruction->opcode->text,
                                   run_.program.function(where.function).code[where.pc].line));
        }
    }
  for (WarpState &warp : block.warps)
    for (const Fragment &fragment : warp.fragments) {
      unsigned others = 0;
      for (const WarpState &other : block.warps)
        for (const Fragment &f : other.fragments)
          if (f.state != fragment.state || f.barrier != fragment.barrier)
            others += static_cast<unsigned>(std::popcount(f.mask));
      WarpContext::of(run_, warp, fragment)
          .fail(FaultKind::deadlock, static_cast<unsigned>(std::countr_zero(fragment.mask)),
                fmt::format("every thread of the block waits; this one at barrier {}, {} elsewhere",
                            fragment.barrier, others));
    }
  throw MachineFault{
      {FaultKind::deadlock, "no thread can go on", std::string(run_.kernel_function().name)}};
}

namespace {

/// While one lives, the thread rounds to nearest, keeps denormal numbers and goes on after an
/// exception, as kernels do whatever the caller has set. Threads that are started meanwhile, too.
class KernelFloats {
public:
  KernelFloats() {
    std::fegetenv(&before_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~KernelFloats() { std::fesetenv(&before_); }
  KernelFloats(const KernelFloats &) = delete;
  KernelFloats &operator=(const KernelFloats &) = delete;

private:
  std::fenv_t before_;
};

} // namespace

WarpOutcome run_kernel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                       GlobalMemory &memory, const WarpOptions &options) {
  const KernelFloats floats;
  if (can_run_parallel(program, kernel, launch, options) &&
      check_launch_shape(launch.grid, launch.block))
    return run_parallel(program, kernel, launch, memory, options);
  return WarpMachine(program, kernel, launch, memory, options).run();
}

} // namespace ptxasw::emulator
