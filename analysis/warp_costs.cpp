// An instruction counts once whatever lanes take part. An access counts by the lanes that can:
// those that no branch decided by the lane alone has sent elsewhere. More lanes never cost less, so
// what is not known of a lane leaves it in; then the count is a bound and not exact.

#include "analysis/warp_costs.h"

#include "emulator/semantics/effects.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>
#include <limits>

namespace ptxasw::analysis {
namespace {

/// Returns true if an instruction that is not a known access leaves global and shared memory alone.
bool is_silent(const Instruction &instruction, const Opcode &opcode) {
  if (!instruction.well_formed)
    return false;
  if (opcode.op == Op::st && opcode.space == StateSpace::param)
    return true;
  if (opcode.op == Op::cp && opcode.has(Modifier::async) &&
      (opcode.has(Modifier::commit_group) || opcode.has(Modifier::wait_group) ||
       opcode.has(Modifier::wait_all)))
    return true;
  return effect_of(opcode) == Effect::none || traits(opcode.op).memory == MemoryUse::silent;
}

std::size_t at(CountedEvent event) { return static_cast<std::size_t>(event); }

/// The largest number that an expression can be, if it is known to be small.
std::optional<std::uint64_t> small_maximum(Expr e) {
  return e->maximum < std::uint64_t{1} << 32 ? std::optional(e->maximum) : std::nullopt;
}

} // namespace

WarpCosts::WarpCosts(const facts::KernelFacts &facts)
    : facts_(facts), emulation_(facts.emulation()) {
  const ControlFlowGraph &cfg = facts.cfg();
  const Module &module = facts.module();
  const Function &function = facts.function();
  distrusted_.resize(facts.accesses().size());
  by_block_.resize(cfg.blocks().size());
  memory_obstacle_.resize(cfg.blocks().size());
  call_obstacle_.resize(cfg.blocks().size());
  std::vector<bool> is_site(function.instructions.size());
  for (const facts::AccessSite &site : facts::access_sites(module, function))
    is_site[site.instruction] = true;
  for (const facts::Access &access : facts.accesses()) {
    by_block_[access.block].push_back(&access);
    note_extensions(access);
  }
  for (std::uint32_t i = 0; i < function.instructions.size(); ++i) {
    const Instruction &instruction = function.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const BlockId block = cfg.block_of(i);
    if (opcode.op == Op::call) {
      if (!call_obstacle_[block])
        call_obstacle_[block] = Obstacle{instruction.line, "a call: what it costs is not counted"};
    } else if (!is_site[i] && !is_silent(instruction, opcode) && !memory_obstacle_[block]) {
      memory_obstacle_[block] = Obstacle{
          instruction.line, fmt::format("what `{}` touches is not understood", opcode.text)};
    }
  }
  const std::vector<BlockId> after = behind_all_ways();
  for (BlockId block = 0; block < cfg.blocks().size(); ++block)
    facts_alone_.push_back(reached_by_facts_alone(block, after));
}

std::size_t WarpCosts::warps() const {
  return facts_.layout().symbolic ? 1 : facts_.layout().warps.size();
}
std::uint64_t WarpCosts::copies(std::size_t) const { return facts_.layout().copies; }
std::uint32_t WarpCosts::lanes(std::size_t warp) const {
  return facts_.layout().symbolic ? warp_lanes : facts_.layout().warps[warp].count;
}

unsigned WarpCosts::number_of(const LoopState::Values &values) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> key;
  for (const auto &[symbol, value] : values)
    key.emplace_back(symbol->id, value->id);
  return states_.try_emplace(std::move(key), static_cast<unsigned>(states_.size()) + 1)
      .first->second;
}

// Extensions of what differs by lane, where the address was taken apart as if they did not wrap.
// One that is the whole address, as in shared memory, moves lanes by multiples of 2^32 bytes, which
// does not matter for units that divide that.
void WarpCosts::note_extensions(const facts::Access &access) {
  if (!access.address || !access.form.may_wrap)
    return;
  for_each_node(access.address, [&](Expr node) {
    if (node != access.address && (node->kind == ExprKind::zext || node->kind == ExprKind::sext) &&
        (node->children[0]->kind == ExprKind::sum ||
         node->children[0]->kind == ExprKind::product) &&
        !facts_.lane_values()(node) && !emulation_.uniform(node, access.block))
      extensions_.push_back({node, access.block, access.number});
  });
}

// What all ways from each block come through next (immediate postdominators); empty where a thread
// may end in more than one place.
std::vector<BlockId> WarpCosts::behind_all_ways() const {
  const ControlFlowGraph &cfg = facts_.cfg();
  const auto &blocks = cfg.blocks();
  std::vector<BlockEdge> ends;
  for (const BlockId b : cfg.reverse_postorder()) {
    if (blocks[b].successors.empty())
      ends.push_back({b});
    else if (blocks[b].branch != no_index && blocks[b].successors.size() == 1)
      return {}; // a guarded exit
  }
  return ends.size() == 1 ? immediate_postdominators(cfg, ends) : std::vector<BlockId>();
}

// True if the lanes that execute a block are exactly those for which every fact of it holds: up the
// dominator tree there are only branches, each with a fact, and joins of all that parted.
bool WarpCosts::reached_by_facts_alone(BlockId block, std::span<const BlockId> after) const {
  constexpr unsigned deepest = 60; // facts of more branches are not all reported
  const ControlFlowGraph &cfg = facts_.cfg();
  const auto &blocks = cfg.blocks();
  if (!cfg.reachable(block)) // no lanes do, and nothing dominates it
    return false;
  if (after.empty())
    return false;
  unsigned depth = 0;
  for (BlockId at = block; at != 0; at = cfg.immediate_dominator(at)) {
    if (++depth > deepest || cfg.irreducible(at))
      return false;
    if (blocks[at].predecessors.size() == 1)
      continue;
    BlockId behind = cfg.immediate_dominator(at);
    for (unsigned step = 0; behind != at; ++step) {
      if (behind >= blocks.size() || step > blocks.size())
        return false;
      behind = after[behind];
    }
  }
  // In a loop, those who are still in it.
  for (const BlockId b : cfg.reverse_postorder())
    for (LoopId loop = cfg.loop_of(block); loop != no_index; loop = cfg.loops()[loop].parent)
      if (cfg.contains(loop, b))
        for (const BlockId to : blocks[b].successors)
          if (!cfg.contains(loop, to)) {
            const Expr choice = emulation_.branch_choice(b);
            if (!choice || !emulation_.uniform(choice, b))
              return false;
          }
  return true;
}

WarpCosts::Activity WarpCosts::restricted(const Activity &from, Expr condition, bool holds,
                                          BlockId block) {
  Activity result = from;
  if (const auto *values = facts_.lane_values()(condition)) {
    for (std::size_t t = 0; t < result.threads.size(); ++t)
      result.threads[t] = result.threads[t] && ((*values)[t] != 0) == holds;
  } else if (!emulation_.in_step(block) || !emulation_.uniform(condition, block)) {
    result.exact = false;
  }
  return result;
}

const WarpCosts::Activity &WarpCosts::activity(BlockId block, LoopState &state) {
  const auto key = std::pair(block, state.id);
  if (const auto found = activities_.find(key); found != activities_.end())
    return found->second;
  Activity result;
  result.threads.assign(facts_.layout().threads.size(), true);
  result.exact = facts_alone_[block];
  for (const PathFact &fact : emulation_.facts_in(block))
    result = restricted(result, state(emulation_.expand(fact.condition)), fact.holds, block);
  return activities_.emplace(key, std::move(result)).first->second;
}

std::vector<bool> WarpCosts::only(const std::vector<bool> &threads, std::size_t warp) const {
  if (facts_.layout().symbolic)
    return threads;
  std::vector<bool> result(threads.size());
  const facts::WarpThreads &lanes = facts_.layout().warps[warp];
  for (std::uint32_t t = lanes.first; t < lanes.first + lanes.count; ++t)
    result[t] = threads[t];
  return result;
}

BranchDecision WarpCosts::decide(BlockId block, std::size_t warp, LoopState &state) {
  const BasicBlock &info = facts_.cfg().blocks()[block];
  if (info.branch == no_index)
    return {LaneDecision::one_way, 0};
  const Expr choice = emulation_.branch_choice(block);
  if (!choice)
    return {LaneDecision::may_part, 0};
  const Expr condition = state(emulation_.expand(choice));
  const bool two_ways = condition->width == 1 && info.successors.size() == 2;
  if (const auto *values = facts_.lane_values()(condition)) {
    const Activity &here = activity(block, state);
    const std::vector<bool> threads = only(here.threads, warp);
    bool some = false, same = true;
    std::uint64_t first = 0;
    for (std::size_t t = 0; t < threads.size(); ++t)
      if (threads[t]) {
        same = same && (!some || (*values)[t] == first);
        first = (*values)[t];
        some = true;
      }
    if (same && some)
      return two_ways ? BranchDecision{LaneDecision::one_way, first != 0 ? 0u : 1u}
                      : BranchDecision{LaneDecision::together, 0};
    if (!same)
      return {here.exact && !facts_.layout().symbolic ? LaneDecision::parts
                                                      : LaneDecision::may_part,
              0};
    return {LaneDecision::together, 0}; // no lane gets here
  }
  return {emulation_.in_step(block) && emulation_.uniform(condition, block)
              ? LaneDecision::together
              : LaneDecision::may_part,
          0};
}

const BlockCost &WarpCosts::cost(BlockId block, std::size_t warp, LoopState &state) {
  const auto key = std::tuple(block, warp, state.id);
  if (const auto found = costs_.find(key); found != costs_.end())
    return found->second;
  return costs_.emplace(key, compute(block, warp, state)).first->second;
}

BlockCost WarpCosts::compute(BlockId block, std::size_t warp, LoopState &state) {
  BlockCost cost;
  const BasicBlock &info = facts_.cfg().blocks()[block];
  cost.events[at(CountedEvent::instructions)].most = info.end - info.first;
  cost.alone[at(CountedEvent::instructions)] = info.end - info.first;
  for (const facts::Access *access : by_block_[block])
    add_access(*access, warp, state, cost);
  for (const CountedEvent event : {CountedEvent::sectors, CountedEvent::conflicts})
    if (memory_obstacle_[block])
      cost.events[at(event)].obstacle = memory_obstacle_[block];
  if (call_obstacle_[block])
    for (EventCount &event : cost.events)
      event.obstacle = call_obstacle_[block];
  return cost;
}

// The most units of memory that lanes can touch whose addresses are within a known range: of
// sectors all in it, of words those of one bank.
std::uint64_t WarpCosts::cap_by_range(const facts::Access &access, const facts::AddressForm &form,
                                      bool shared) const {
  std::uint64_t span = 0; // bytes from the lowest to the highest first byte
  const auto add = [&](std::uint64_t maximum, std::int64_t factor) {
    std::uint64_t part = 0;
    const std::uint64_t size =
        factor < 0 ? 0 - static_cast<std::uint64_t>(factor) : static_cast<std::uint64_t>(factor);
    if (__builtin_mul_overflow(maximum, size, &part) || __builtin_add_overflow(span, part, &span))
      span = std::numeric_limits<std::uint64_t>::max() / 2;
  };
  for (const auto *terms : {&form.varying, &form.mixed})
    for (const facts::Term &term : *terms) {
      const auto maximum = small_maximum(term.atom);
      if (!maximum)
        return std::numeric_limits<std::uint64_t>::max();
      add(*maximum, term.factor);
    }
  for (const facts::StrideTerm &stride : form.strides) {
    const auto maximum = small_maximum(stride.lane), by = small_maximum(stride.by);
    if (!maximum || !by)
      return std::numeric_limits<std::uint64_t>::max();
    add(*maximum * *by, stride.factor);
  }
  const std::vector<std::int64_t> offsets = lane_offsets(facts_.lane_values(), form);
  const auto [least, most] = std::minmax_element(offsets.begin(), offsets.end());
  add(static_cast<std::uint64_t>(*most - *least), 1);
  if (span > std::uint64_t{1} << 40)
    return std::numeric_limits<std::uint64_t>::max();
  // The range may begin anywhere within a unit.
  const std::uint64_t unit = shared ? 4 : 32;
  const std::uint64_t natural = std::bit_floor(access.site.bytes); // or it is no access at all
  const std::uint64_t slack =
      unit - std::min<std::uint64_t>(unit, std::max<std::uint64_t>(natural, access.alignment));
  const std::uint64_t units = (span + access.site.bytes + slack + unit - 1) / unit;
  // Wide accesses come in pieces of as many lanes as make 128 bytes, each with its own passes.
  const std::uint64_t pieces = (access.site.bytes + bank_bytes - 1) / bank_bytes;
  return shared ? pieces * ((units + shared_banks - 1) / shared_banks) : units;
}

// True if the lanes' own parts of an address lie within fewer bytes in every warp.
bool WarpCosts::spans_less(const facts::AddressForm &form, std::uint64_t bytes) const {
  const std::vector<std::int64_t> offsets = lane_offsets(facts_.lane_values(), form);
  const auto &warps = facts_.layout().warps;
  return std::all_of(warps.begin(), warps.end(), [&](const facts::WarpThreads &warp) {
    const auto begin = offsets.begin() + warp.first;
    const auto [least, most] = std::minmax_element(begin, begin + warp.count);
    return static_cast<std::uint64_t>(*most) - static_cast<std::uint64_t>(*least) < bytes;
  });
}

void WarpCosts::add_access(const facts::Access &access, std::size_t warp, LoopState &state,
                           BlockCost &cost) {
  // Where a generic address was made from another space, arithmetic may have left that.
  const bool generic =
      access.site.space == StateSpace::generic && access.space != StateSpace::global;
  const bool global = generic || access.space == StateSpace::global;
  const bool shared = generic || access.space == StateSpace::shared;
  if (!global && !shared)
    return;
  Activity here = activity(access.block, state);
  if (access.guard) {
    const Expr guard = state(access.guard);
    here = restricted(here, guard, true, access.block);
    // Unlike the conditions of a block that is executed, it may hold for no lane.
    here.exact = here.exact && facts_.lane_values()(guard);
  }
  const std::vector<bool> threads = only(here.threads, warp);
  const std::uint64_t active = static_cast<std::uint64_t>(
      std::min<std::ptrdiff_t>(std::count(threads.begin(), threads.end(), true), warp_lanes));
  if (active == 0)
    return;
  facts::AddressForm own;
  const facts::AddressForm *form = &access.form;
  const Expr address = access.address ? state(access.address) : nullptr;
  if (address != access.address) {
    own = address_form(emulation_, facts_.lane_values(), address, access.block,
                       access.site.space != StateSpace::global &&
                           access.site.space != StateSpace::generic);
    form = &own;
  }
  const unsigned alignment = access.form.is_linear() ? access.shared_alignment : 1;
  const bool symbolic = facts_.layout().symbolic;
  // Of warps whose places in their blocks are not known, some may have none of the active lanes.
  const bool all = std::find(threads.begin(), threads.end(), false) == threads.end();
  const std::uint64_t lane_sectors = (access.site.bytes + 31) / 32;
  const auto count = [&](bool in_shared) {
    return traffic_of(facts_.lane_values(), {.form = form,
                                             .bytes = access.site.bytes,
                                             .alignment = alignment,
                                             .shared = in_shared,
                                             .active = &threads});
  };
  // An index that may wrap around at an unknown place: lanes beyond are moved by a multiple of 2^32
  // bytes and touch as many units as if they were not. Of one run of lanes only the unit at the
  // wrap can count twice (two of accesses that overlap); otherwise every one may, for each index.
  const unsigned distrusted = distrusted_[access.number];
  const bool wraps_once = !distrusted || spans_less(*form, std::uint64_t{1} << 31); // each index
  const bool one_run =
      distrusted == 1 && form->is_linear() && form->strides.empty() && form->of_lane.empty();
  const bool overlap = form->tid[1] != 0 || form->tid[2] != 0 || form->laneid != 0 ||
                       std::abs(form->tid[0]) < static_cast<std::int64_t>(access.site.bytes);
  const auto add = [&](CountedEvent event, const facts::Count &counted, std::uint64_t less) {
    EventCount &to = cost.events[at(event)];
    const std::uint64_t cap = cap_by_range(access, *form, event == CountedEvent::conflicts);
    std::uint64_t most = std::min<std::uint64_t>(counted.most, cap);
    if (distrusted && counted.most > 0) {
      const std::uint64_t alone = active * (less ? 1 : lane_sectors);
      if (wraps_once)
        most = std::min<std::uint64_t>(alone, one_run ? counted.most + 1 + overlap
                                                      : std::uint64_t{counted.most}
                                                            << std::min(distrusted, 6u));
      else
        most = alone;
    }
    to.most += most - std::min(most, less);
    const bool always = most == less; // nothing costs less than nothing
    to.exact = to.exact && !generic && !distrusted &&
               (always || (here.exact && access.in_step && !form->may_wrap && form->is_linear() &&
                           counted.least == counted.most && counted.most <= cap &&
                           (!symbolic || (form->is_uniform() && all))));
  };
  if (global) {
    add(CountedEvent::sectors, count(false).sectors, 0);
    cost.alone[at(CountedEvent::sectors)] += lane_sectors;
  }
  if (shared) {
    add(CountedEvent::conflicts, count(true).wavefronts, 1);
    cost.alone[at(CountedEvent::conflicts)] += 1;
  }
}

} // namespace ptxasw::analysis
