// Blocks, warps and the scheduling of diverged lanes.
//
// A warp is a set of fragments: disjoint sets of lanes, each with its own stack of activations. A
// branch that not all lanes take splits a fragment. Whether and when two fragments at the same
// place merge is the policy; where they may is what E1 of soundness.md assumes of the machine: at a
// post-dominator of the branch that parted them, the first time that each of them gets there, and
// after an instruction that made them wait for each other, whatever iteration each of them is in.
// Lanes that the policy parts without a branch may come together where the block's branch would
// allow it.

#include "emulator/machine/warp_machine.h"

#include "emulator/machine/warp_decode.h"
#include "emulator/machine/warp_parallel.h"

#include <algorithm>
#include <fmt/core.h>
#include <utility>

namespace ptxasw {
namespace {

constexpr std::size_t resident_blocks = 4;
/// Blocks that wait for each other must all run.
constexpr std::size_t cooperative_blocks = 4096;
/// Threads are numbered in 32 bits, from 1.
constexpr std::uint64_t most_blocks = 0xffff'ffff / 1024 - 1;
constexpr std::uint64_t time_slice = 20'000; ///< instructions until another warp gets a turn

} // namespace

WarpMachine::WarpMachine(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                         GlobalMemory &memory, const WarpOptions &options)
    : program_(program), kernel_(kernel), launch_(launch), memory_(memory), options_(options),
      random_(options.seed),
      is_plain_(!options.check_races && !options.check_uninitialized && !options.note_touched &&
                !options.allowed && options.watch == 0 && !options.reals) {
  block_threads_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(launch.block.count(), 1024));
  block_warps_ = (block_threads_ + warp_lanes - 1) / warp_lanes;
  if (const auto *cluster = program.function(kernel).function->directive("reqnctapercluster")) {
    explicit_cluster_ = true;
    cluster_ = {std::max(cluster->values[0], 1u), std::max(cluster->values[1], 1u),
                std::max(cluster->values[2], 1u)};
  }
  shared_bytes_ = program.dynamic_shared_offset() + launch.dynamic_shared;
  for (std::uint32_t i = 0; i < program.function_count(); ++i) {
    max_parameters_ = std::max(max_parameters_, program.function(i).parameter_bytes);
    max_local_ = std::max(max_local_, program.function(i).local_bytes);
  }
}

void WarpMachine::validate() const {
  const Function &function = *program_.function(kernel_).function;
  const auto bad = [&](std::string message) {
    throw MachineFault{{FaultKind::bad_launch, std::move(message), std::string(function.name)}};
  };
  if (!program_.function(kernel_).cfg->well_formed())
    bad("its control flow is not understood");
  if (std::string why = launch_shape_error(launch_.grid, launch_.block); !why.empty())
    bad(std::move(why));
  if (launch_.blocks.empty() && launch_.grid.count() > most_blocks)
    bad(fmt::format("a grid of {} blocks; {} are emulated at most", launch_.grid.count(),
                    most_blocks));
  for (const std::uint64_t number : launch_.blocks)
    if (number >= launch_.grid.count())
      bad(fmt::format("block {} of a grid of {}", number, launch_.grid.count()));
  for (int i = 0; i < 3; ++i)
    if (launch_.grid[i] % cluster_[i] != 0)
      bad("the grid is no multiple of .reqnctapercluster");
  if (!launch_.blocks.empty() && cluster_.count() > 1)
    bad("a part of a grid of clusters");
  if (launch_.parameters.size() < kernel_parameter_bytes(function))
    bad("too few parameter bytes");
  if (const auto *required = function.directive("reqntid"))
    for (int i = 0; i < 3; ++i)
      if (launch_.block[i] != required->values[i])
        bad("the block is not what .reqntid requires");
  if (const auto *most = function.directive("maxntid"))
    if (block_threads_ > Extents{most->values[0], most->values[1], most->values[2]}.count())
      bad("more threads a block than .maxntid allows");
}

WarpOutcome WarpMachine::run() {
  try {
    validate();
    const auto blocks = static_cast<std::uint32_t>(launch_.blocks.empty() ? launch_.grid.count()
                                                                          : launch_.blocks.size());
    if (options_.check_races)
      races_ = std::make_unique<RaceDetector>(options_.only_barriers_order, options_.race_focus,
                                              block_threads_);
    if (options_.profile)
      for (std::uint32_t i = 0; i < program_.function_count(); ++i)
        outcome_.profile.emplace_back(program_.function(i).code.size());
    if (program_.is_cooperative())
      make_workspace();
    const std::size_t together = program_.is_cooperative()                   ? cooperative_blocks
                                 : options_.schedule == WarpSchedule::random ? resident_blocks
                                                                             : 1;
    while (started_ < blocks || !active_.empty()) {
      while (started_ < blocks && active_.size() < together)
        active_.push_back(start_block(started_++));
      if (!step_blocks()) {
        // A block may wait for one that does not run yet.
        if (started_ < blocks && active_.size() < 64)
          active_.push_back(start_block(started_++));
        else
          report_stuck(*active_.front());
      }
    }
  } catch (MachineFault &fault) {
    outcome_.fault = std::move(fault.fault);
  }
  return std::move(outcome_);
}

std::unique_ptr<BlockState> WarpMachine::start_block(std::uint32_t index) {
  auto block = std::make_unique<BlockState>();
  block->index = index;
  block->first_step = outcome_.steps;
  const std::uint64_t number = launch_.blocks.empty() ? index : launch_.blocks[index];
  const Extents &grid = launch_.grid;
  block->ctaid[0] = static_cast<std::uint32_t>(number % grid.x);
  block->ctaid[1] = static_cast<std::uint32_t>(number / grid.x % grid.y);
  block->ctaid[2] = static_cast<std::uint32_t>(number / grid.x / grid.y);
  block->shared.resize(shared_bytes_);
  // Shared memory starts with anything, but the same anything in every run.
  for (std::size_t i = 0; i < block->shared.size(); ++i)
    block->shared[i] = static_cast<std::uint8_t>(scramble(i / 4) >> 8 * (i % 4));
  if (options_.check_uninitialized)
    block->shared_written.resize(shared_bytes_);
  block->warps.resize(block_warps_);
  if (options_.count)
    outcome_.counts.emplace_back(block_warps_);
  block->cluster_arrived.resize(block_warps_);
  block->cluster_due.resize(block_warps_);
  for (BarrierState &barrier : block->barriers)
    barrier.arrived.resize(block_warps_);
  for (std::uint32_t w = 0; w < block_warps_; ++w) {
    WarpState &warp = block->warps[w];
    warp.block = block.get();
    warp.index = w;
    for (unsigned lane = 0; lane < warp_lanes; ++lane) {
      const std::uint32_t thread = w * warp_lanes + lane;
      if (thread >= block_threads_)
        break;
      warp.live |= 1u << lane;
      warp.tid[0][lane] = thread % launch_.block[0];
      warp.tid[1][lane] = thread / launch_.block[0] % launch_.block[1];
      warp.tid[2][lane] = thread / launch_.block[0] / launch_.block[1];
    }
    Fragment fragment;
    fragment.mask = warp.live;
    fragment.stack.push_back(
        {kernel_, 0, std::vector<std::uint32_t>(program_.function(kernel_).cfg->loops().size())});
    warp.fragments.push_back(std::move(fragment));
    level(warp, 0);
  }
  block->live_warps = block_warps_;
  return block;
}

CallLevel &WarpMachine::level(WarpState &warp, std::size_t depth) {
  while (warp.levels.size() <= depth) {
    CallLevel &added = warp.levels.emplace_back();
    added.registers.resize(std::size_t{program_.max_registers()} * warp_lanes);
    added.parameters.resize(std::size_t{max_parameters_} * warp_lanes);
    added.local.resize(std::size_t{max_local_} * warp_lanes);
    if (options_.reals)
      added.reals.resize(added.registers.size());
    if (options_.check_uninitialized)
      added.local_written.resize(added.local.size());
  }
  return warp.levels[depth];
}

// Gives every warp of one block (random: one warp of any block) a turn. False: no warp can go on.
bool WarpMachine::step_blocks() {
  bool progress = false;
  if (options_.schedule == WarpSchedule::random) {
    std::vector<WarpState *> ready;
    for (const auto &block : active_)
      for (WarpState &warp : block->warps)
        if (std::any_of(warp.fragments.begin(), warp.fragments.end(),
                        [](const Fragment &f) { return f.state == Fragment::State::ready; }))
          ready.push_back(&warp);
    if (!ready.empty())
      progress = run_warp(*ready[random_.below(ready.size())]);
  } else {
    for (const auto &block : active_)
      for (WarpState &warp : block->warps)
        progress |= run_warp(warp);
  }
  const auto finished = [](const std::unique_ptr<BlockState> &block) {
    return block->live_warps == 0;
  };
  if (options_.check_barriers)
    for (const auto &block : active_)
      if (finished(block))
        check_unused_arrivals(*block);
  const std::size_t erased = std::erase_if(active_, finished);
  return progress || erased != 0;
}

bool WarpMachine::run_warp(WarpState &warp) {
  if (warp.fragments.empty())
    return false;
  const bool random = options_.schedule == WarpSchedule::random;
  std::uint64_t left = random ? 1 + random_.below(random_.one_in(4) ? 200 : 12) : time_slice;
  bool progress = false;
  std::vector<std::size_t> ready;
  while (left > 0) {
    if (warp.fragments.size() > 1 && options_.schedule != WarpSchedule::apart)
      merge_fragments(warp, !random);
    ready.clear();
    for (std::size_t i = 0; i < warp.fragments.size(); ++i)
      if (warp.fragments[i].state == Fragment::State::ready)
        ready.push_back(i);
    if (ready.empty())
      return progress;
    progress = true;
    const std::size_t index = choose_fragment(warp, ready);
    if (random && std::popcount(warp.fragments[index].mask) > 1 && random_.one_in(64))
      split(warp, index, warp.fragments[index].mask & static_cast<LaneMask>(random_.next()),
            meeting_place(warp.fragments[index].stack.back()));
    const bool to_block_end =
        warp.fragments.size() > 1 && options_.schedule == WarpSchedule::reconverge;
    const std::uint64_t before = outcome_.steps;
    run_fragment(warp, index, random ? left : time_slice, to_block_end);
    if (random || std::exchange(yields_, false))
      return true;
    left -= std::min(left, (outcome_.steps - before) / warp_lanes + 1);
  }
  return progress;
}

std::size_t WarpMachine::choose_fragment(WarpState &warp, const std::vector<std::size_t> &ready) {
  if (options_.schedule == WarpSchedule::random) {
    // A fragment that stands where others may come mostly waits for them.
    const std::size_t chosen = ready[random_.below(ready.size())];
    if (!awaits_others(warp.fragments[chosen]) || random_.one_in(8))
      return chosen;
    return ready[random_.below(ready.size())];
  }
  if (options_.schedule == WarpSchedule::apart)
    // In turns, so that lanes that spin do not keep the others from going on.
    return ready[outcome_.steps / time_slice % ready.size()];
  return *std::min_element(ready.begin(), ready.end(), [&](std::size_t a, std::size_t b) {
    return runs_before(warp.fragments[a], warp.fragments[b]);
  });
}

// True if two fragments may be merged: they are at the same place, in every function on the stack,
// and come from a meeting of the two or stand where the sides of a branch that parted them meet.
bool WarpMachine::may_merge(const Fragment &a, const Fragment &b) const {
  const auto same = [](const Activation &x, const Activation &y) {
    return x.function == y.function && x.pc == y.pc;
  };
  if (!std::equal(a.stack.begin(), a.stack.end(), b.stack.begin(), b.stack.end(), same))
    return false;
  if (a.met != 0 && a.met == b.met)
    return true;
  const auto here = [&](const Parting &parting) {
    return parting.where == a.stack.back().pc && parting.depth == a.stack.size();
  };
  return std::any_of(a.partings.begin(), a.partings.end(), [&](const Parting &mine) {
    return here(mine) && std::any_of(b.partings.begin(), b.partings.end(), [&](const Parting &its) {
             return its.id == mine.id && here(its);
           });
  });
}

bool WarpMachine::awaits_others(const Fragment &fragment) const {
  return std::any_of(fragment.partings.begin(), fragment.partings.end(), [&](const Parting &p) {
    return p.where == fragment.stack.back().pc && p.depth == fragment.stack.size();
  });
}

// Leaves the place where others might have come: the next chance is behind the next post-dominator.
void WarpMachine::go_on(Fragment &fragment) const {
  fragment.met = 0;
  for (Parting &parting : fragment.partings)
    if (parting.where == fragment.stack.back().pc && parting.depth == fragment.stack.size())
      parting.where = meeting_place(fragment.stack.back());
}

// Where the ways out of the block that an activation is in meet.
std::uint32_t WarpMachine::meeting_place(const Activation &activation) const {
  const WarpFunction &function = program_.function(activation.function);
  if (activation.pc + 1 >= function.code.size())
    return no_index;
  const BlockId block = function.postdominators[function.cfg->block_of(activation.pc)];
  return block < function.cfg->blocks().size() ? function.cfg->blocks()[block].first : no_index;
}

// The order of the reconverge policy: earlier iterations first, then earlier blocks; so a fragment
// waits where paths meet until those behind it have come.
bool WarpMachine::runs_before(const Fragment &a, const Fragment &b) const {
  for (std::size_t i = 0; i < std::min(a.stack.size(), b.stack.size()); ++i) {
    const Activation &x = a.stack[i], &y = b.stack[i];
    if (x.function != y.function)
      return x.function < y.function;
    const WarpFunction &function = program_.function(x.function);
    const std::uint32_t end = static_cast<std::uint32_t>(function.code.size()) - 1;
    if (x.pc == end || y.pc == end) {
      if (x.pc != y.pc)
        return y.pc == end;
      continue;
    }
    const ControlFlowGraph &cfg = *function.cfg;
    const BlockId p = cfg.block_of(x.pc), q = cfg.block_of(y.pc);
    for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) // outer loops have smaller indices
      if (cfg.contains(loop, p) && cfg.contains(loop, q) &&
          x.iterations[loop] != y.iterations[loop])
        return x.iterations[loop] < y.iterations[loop];
    if (function.rank[p] != function.rank[q])
      return function.rank[p] < function.rank[q];
    if (x.pc != y.pc)
      return x.pc < y.pc;
  }
  return a.stack.size() < b.stack.size();
}

namespace {

bool knows(const Fragment &fragment, std::uint64_t parting) {
  return std::any_of(fragment.partings.begin(), fragment.partings.end(),
                     [&](const Parting &p) { return p.id == parting; });
}

} // namespace

// Drops the partings of a fragment whose other side is gone; `gone` counts as no other side.
void WarpMachine::forget_partings(const WarpState &warp, Fragment &fragment, const Fragment *gone) {
  std::erase_if(fragment.partings, [&](const Parting &parting) {
    return std::none_of(warp.fragments.begin(), warp.fragments.end(), [&](const Fragment &other) {
      return &other != &fragment && &other != gone && knows(other, parting.id);
    });
  });
}

void WarpMachine::merge_fragments(WarpState &warp, bool all) {
  for (std::size_t i = 0; i < warp.fragments.size(); ++i)
    for (std::size_t j = warp.fragments.size(); --j > i;) {
      if (warp.fragments[i].state != Fragment::State::ready ||
          warp.fragments[j].state != Fragment::State::ready ||
          !may_merge(warp.fragments[i], warp.fragments[j]))
        continue;
      if (!all && random_.one_in(2))
        continue;
      // What parted both of them from others is left; the two have parted no more.
      Fragment &kept = warp.fragments[i];
      const Fragment &gone = warp.fragments[j];
      std::erase_if(kept.partings, [&](const Parting &p) { return !knows(gone, p.id); });
      forget_partings(warp, kept, &gone);
      warp.fragments[i].mask |= warp.fragments[j].mask;
      warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(j));
    }
}

void WarpMachine::move_to(Activation &activation, std::uint32_t pc) const {
  const WarpFunction &function = program_.function(activation.function);
  const LoopId loop = function.header_of[pc];
  if (loop != no_index) {
    const bool inside = function.cfg->contains(loop, function.cfg->block_of(activation.pc));
    activation.iterations[loop] = inside ? activation.iterations[loop] + 1 : 0;
  }
  activation.pc = pc;
}

// Takes lanes out of a fragment into a new one at the same place; returns its index. None or all
// of the lanes: nothing happens. `where`: the instruction at which they may come together again.
std::size_t WarpMachine::split(WarpState &warp, std::size_t index, LaneMask lanes,
                               std::uint32_t where) {
  if (lanes == 0 || lanes == warp.fragments[index].mask)
    return index;
  if (options_.schedule != WarpSchedule::apart) {
    Fragment &fragment = warp.fragments[index];
    if (fragment.partings.size() >= 2 * std::size_t{warp_lanes})
      forget_partings(warp, fragment, nullptr);
    fragment.partings.push_back({++partings_, where, fragment.stack.size()});
  }
  Fragment other = warp.fragments[index];
  other.mask = lanes;
  warp.fragments[index].mask &= ~lanes;
  warp.fragments.push_back(std::move(other));
  return warp.fragments.size() - 1;
}

void WarpMachine::exit_lanes(WarpState &warp, std::size_t index, LaneMask lanes) {
  if (!warp.copies.empty())
    for_each_lane(lanes, [&](unsigned lane) { complete_copies(lane, ~0u); });
  warp.live &= ~lanes;
  warp.fragments[index].mask &= ~lanes;
  if (warp.fragments[index].mask == 0)
    warp.fragments.erase(warp.fragments.begin() + static_cast<std::ptrdiff_t>(index));
  if (warp.live == 0)
    --warp.block->live_warps;
  complete_syncs(warp);
  complete_barriers(*warp.block);
  complete_cluster(warp.block->ctaid);
}

void WarpMachine::enter(WarpState &warp, const Fragment &fragment) {
  warp_ = &warp;
  depth_ = fragment.stack.size() - 1;
  level_ = &level(warp, depth_);
  function_ = fragment.stack.back().function;
  instruction_ = &program_.function(function_).code[fragment.stack.back().pc];
}

void WarpMachine::run_fragment(WarpState &warp, std::size_t index, std::uint64_t quantum,
                               bool to_block_end) {
  bool first = true;
  while (quantum-- > 0) {
    Fragment &fragment = warp.fragments[index];
    enter(warp, fragment);
    if (!first && ((to_block_end && instruction_->starts_block) || awaits_others(fragment)))
      return;
    first = false;
    go_on(fragment);
    outcome_.steps += static_cast<unsigned>(std::popcount(fragment.mask));
    if (outcome_.steps > options_.step_limit)
      fail(FaultKind::step_limit, static_cast<unsigned>(std::countr_zero(fragment.mask)),
           fmt::format("more than {} thread-instructions", options_.step_limit));
    if (memory_.bytes_in_use() + (races_ ? races_->bytes_in_use() : 0) > options_.memory_limit)
      fail(FaultKind::memory_limit, static_cast<unsigned>(std::countr_zero(fragment.mask)),
           fmt::format("the emulation needs more than {} MiB", options_.memory_limit >> 20));
    if (options_.observer)
      options_.observer->before({function_,
                                 instruction_,
                                 {warp.block->ctaid[0], warp.block->ctaid[1], warp.block->ctaid[2]},
                                 warp.index,
                                 fragment.mask,
                                 level_->registers.data()});
    switch (execute(index)) {
    case Next::advance:
      advance(warp.fragments[index]);
      break;
    case Next::stay:
      break;
    case Next::stop:
      return;
    }
  }
}

// No thread can go on: says who waits for whom.
void WarpMachine::report_stuck(const BlockState &block) {
  for (const WarpState &warp : block.warps)
    for (const Fragment &fragment : warp.fragments) {
      enter(const_cast<WarpState &>(warp), fragment);
      const auto lane = static_cast<unsigned>(std::countr_zero(fragment.mask));
      if (fragment.state != Fragment::State::at_sync)
        continue;
      const LaneMask named = named_lanes(*instruction_, lane) & warp.live & ~fragment.mask;
      for (const Fragment &other : warp.fragments)
        if (other.mask & named) {
          const Activation &where = other.stack.back();
          fail(FaultKind::missing_lane, static_cast<unsigned>(std::countr_zero(other.mask & named)),
               fmt::format("`{}` waits for this lane, which waits at line {}",
                           instruction_->opcode->text,
                           program_.function(where.function).code[where.pc].line));
        }
    }
  for (const WarpState &warp : block.warps)
    for (const Fragment &fragment : warp.fragments) {
      enter(const_cast<WarpState &>(warp), fragment);
      unsigned others = 0;
      for (const WarpState &other : block.warps)
        for (const Fragment &f : other.fragments)
          if (f.state != fragment.state || f.barrier != fragment.barrier)
            others += static_cast<unsigned>(std::popcount(f.mask));
      fail(FaultKind::deadlock, static_cast<unsigned>(std::countr_zero(fragment.mask)),
           fmt::format("every thread of the block waits; this one at barrier {}, {} elsewhere",
                       fragment.barrier, others));
    }
  throw MachineFault{{FaultKind::deadlock, "no thread can go on",
                      std::string(program_.function(kernel_).function->name)}};
}

std::uint32_t WarpMachine::thread_of(unsigned lane) const {
  return warp_->block->index * block_threads_ + warp_->index * warp_lanes + lane;
}

ThreadMoment WarpMachine::moment(unsigned lane) const {
  const BlockState &block = *warp_->block;
  return {thread_of(lane) + 1, block.index,   block.index * block_warps_ + warp_->index, lane,
          block.epoch,         outcome_.steps};
}

WarpFault WarpMachine::place(FaultKind kind, unsigned lane, std::string message,
                             std::uint64_t address) const {
  WarpFault fault;
  fault.kind = kind;
  fault.message = std::move(message);
  fault.kernel = program_.function(function_).function->name;
  fault.line = instruction_->line;
  fault.lane = lane;
  fault.address = address;
  for (int i = 0; i < 3; ++i) {
    fault.block[i] = warp_->block->ctaid[i];
    fault.thread[i] = warp_->tid[i][lane];
  }
  return fault;
}

WarpFault WarpMachine::place(const RaceDetector::Access &access) const {
  WarpFault fault;
  fault.kind = FaultKind::race;
  fault.message = access.is_store ? "store" : "load";
  fault.kernel = program_.function(kernel_).function->name;
  fault.line = access.line;
  fault.lane = access.lane;
  const std::uint64_t number = launch_.blocks.empty() ? access.block : launch_.blocks[access.block];
  std::uint64_t block = number, thread = (access.thread - 1) % block_threads_;
  for (int axis = 0; axis < 3; ++axis) {
    fault.block[axis] = static_cast<std::uint32_t>(block % launch_.grid[axis]);
    fault.thread[axis] = static_cast<std::uint32_t>(thread % launch_.block[axis]);
    block /= launch_.grid[axis];
    thread /= launch_.block[axis];
  }
  return fault;
}

void WarpMachine::fail(FaultKind kind, unsigned lane, std::string message,
                       std::uint64_t address) const {
  throw MachineFault{place(kind, lane, std::move(message), address)};
}

WarpOutcome run_kernel(const WarpProgram &program, std::uint32_t kernel, const WarpLaunch &launch,
                       GlobalMemory &memory, const WarpOptions &options) {
  if (can_run_parallel(program, kernel, launch, memory, options) &&
      launch_shape_error(launch.grid, launch.block).empty())
    return run_parallel(program, kernel, launch, memory, options);
  return WarpMachine(program, kernel, launch, memory, options).run();
}

} // namespace ptxasw
