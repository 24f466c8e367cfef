// What differs between lanes and between iterations.
//
// A value is uniform if no lane symbol enters it, by its operands or by the choice of a path: a
// register that is joined where lanes may have come by different edges is as divergent as the
// branch that separated them. In loops it is a fixed point from below: a loop register that starts
// uniform and steps by uniform amounts is taken for uniform until something contradicts. A register
// that steps by an invariant amount becomes `initial + step * trip`, which lets addresses of
// different iterations be compared.

#include "emulator/symbolic/emulate_implementation.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_set>

namespace ptxasw::emulator {
namespace {

// Budgets: what they leave undecided counts as varying.
constexpr std::size_t region_budget = 256; ///< blocks examined to find a join's branches
constexpr int uniformity_rounds = 16;

} // namespace

// A header register to which every back edge adds the same invariant amount is
// initial + amount * trip (van Engelen's chains of recurrences, of first order; nested loops nest).
void Emulation::Implementation::resolve_loops() {
  expansion_ = std::make_unique<Substitution>(pool_);
  // What a loop begins with and steps by may come from loops around or before it, which have
  // smaller numbers: these must be written out first.
  std::vector<const Phi *> at_headers;
  for (const Phi &phi : phis_)
    if (phi.symbol && infos_[phi.symbol->index].kind == SymbolKind::loop_phi)
      at_headers.push_back(&phi);
  std::stable_sort(at_headers.begin(), at_headers.end(), [&](const Phi *a, const Phi *b) {
    return cfg_.loop_of(a->block) < cfg_.loop_of(b->block);
  });
  for (const Phi *header_phi : at_headers) {
    const Phi &phi = *header_phi;
    const LoopId loop = cfg_.loop_of(phi.block);
    Expr initial = nullptr, step = nullptr;
    bool even = phi.symbol->width <= 64;
    for (const auto &[from, value] : phi.operands) {
      if (!value) {
        even = false;
        break;
      }
      const bool back = cfg_.contains(loop, from);
      const Expr amount = back ? pool_.sub(value, phi.symbol) : value;
      Expr &known = back ? step : initial;
      even &= !known || known == amount;
      known = amount;
    }
    if (!even || !initial || !step || !invariant(step, loop))
      continue;
    const Expr trips = pool_.truncate(trips_[loop], phi.symbol->width);
    expansion_->map(phi.symbol,
                    pool_.add((*expansion_)(initial), pool_.mul((*expansion_)(step), trips)));
  }
}

std::optional<LoopRegister> Emulation::Implementation::loop_register(Expr symbol) const {
  if (symbol->kind != ExprKind::symbol || infos_[symbol->index].kind != SymbolKind::loop_phi)
    return std::nullopt;
  const Phi &phi = phis_[infos_[symbol->index].phi];
  LoopRegister result{cfg_.loop_of(phi.block), nullptr, nullptr};
  for (const auto &[from, value] : phi.operands) {
    Expr &known = cfg_.contains(result.loop, from) ? result.next : result.initial;
    if (!value || (known && known != value))
      return std::nullopt;
    known = value;
  }
  return result.initial && result.next ? std::optional(result) : std::nullopt;
}

std::optional<JoinRegister> Emulation::Implementation::join_register(Expr symbol) const {
  if (symbol->kind != ExprKind::symbol || infos_[symbol->index].kind != SymbolKind::join_phi)
    return std::nullopt;
  const Phi &phi = phis_[infos_[symbol->index].phi];
  return JoinRegister{phi.block, phi.operands};
}

std::optional<std::uint32_t> Emulation::Implementation::produced_by(Expr symbol) const {
  if (symbol->kind != ExprKind::symbol || infos_[symbol->index].instruction == no_index)
    return std::nullopt;
  return infos_[symbol->index].instruction;
}

bool Emulation::Implementation::invariant(Expr expr, LoopId loop) const {
  bool result = true;
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::symbol) {
      const SymbolInfo &info = infos_[node->index];
      const bool local = info.kind != SymbolKind::uniform && info.kind != SymbolKind::lane;
      result &= !(local && cfg_.contains(loop, info.block));
    }
  });
  return result;
}

// Optimistic: every phi counts as uniform until something varying reaches it.
void Emulation::Implementation::find_uniformity() {
  const auto &loops = cfg_.loops();
  exits_.resize(loops.size());
  uniform_exit_.assign(loops.size(), true);
  for (const BlockId block : cfg_.reverse_postorder())
    for (LoopId loop = cfg_.loop_of(block); loop != no_index; loop = loops[loop].parent)
      for (const BlockId successor : cfg_.blocks()[block].successors)
        if (feasible_[block] && !cfg_.contains(loop, successor) &&
            (exits_[loop].empty() || exits_[loop].back() != block))
          exits_[loop].push_back(block);
  for (const Phi &phi : phis_)
    if (phi.symbol && infos_[phi.symbol->index].kind != SymbolKind::varying)
      infos_[phi.symbol->index].uniform = true;
  for (const Expr trip : trips_)
    infos_[trip->index].uniform = true;
  for (const Shared &shared : shared_)
    for (const Expr symbol : shared.symbols)
      infos_[symbol->index].uniform = lanes_ != LaneGroup::block;
  lower_awaited_loads();
  for (int round = 0;; ++round) {
    const bool all = round >= uniformity_rounds;
    bool changed = lower_phis(all);
    changed = lower_exits(all) || changed;
    changed = lower_shared([&](const Shared &shared) {
                return !all && std::all_of(shared.agreed.begin(), shared.agreed.end(),
                                           [&](Expr e) { return uniform(e, shared.block, true); });
              }) ||
              changed;
    if (changed)
      continue;
    // Who executes what together depends on who agrees so far.
    convergence_.reset();
    if (!lower_shared([&](const Shared &shared) { return executed_as_one(shared); }))
      break;
  }
}

// Takes for varying each phi that what it joins contradicts, or all of them; true if there was one.
bool Emulation::Implementation::lower_phis(bool all) {
  bool changed = false;
  for (const Phi &phi : phis_) {
    if (!phi.symbol || !infos_[phi.symbol->index].uniform)
      continue;
    const SymbolKind kind = infos_[phi.symbol->index].kind; // uniform() may add symbols
    bool uniform_now = !all;
    Expr first = nullptr, back = nullptr;
    for (const auto &[from, value] : phi.operands) {
      uniform_now = uniform_now && value && uniform(value, phi.block, true);
      if (kind != SymbolKind::loop_phi)
        continue;
      // Which back edge was taken may differ from lane to lane.
      Expr &same = cfg_.contains(cfg_.loop_of(phi.block), from) ? back : first;
      uniform_now = uniform_now && (!same || same == value);
      same = value;
    }
    if (uniform_now && kind == SymbolKind::join_phi)
      uniform_now = control_uniform(phi.block, cfg_.immediate_dominator(phi.block));
    infos_[phi.symbol->index].uniform = uniform_now;
    changed |= !uniform_now;
  }
  return changed;
}

// The same for exits of loops.
bool Emulation::Implementation::lower_exits(bool all) {
  bool changed = false;
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
    for (const BlockId block : exits_[loop])
      if (uniform_exit_[loop] && (all || !exit_uniform(loop, block))) {
        uniform_exit_[loop] = false;
        changed = true;
      }
  return changed;
}

// True if the lanes that are in an iteration of a loop together agree on taking this exit in it: on
// the exit's own condition, and on reaching it at all.
bool Emulation::Implementation::exit_uniform(LoopId loop, BlockId block) {
  const Expr choice = branch_choice_[block];
  if (!choice || !uniform(choice, block, true))
    return false;
  return (cfg_.loop_of(block) == loop && cfg_.in_each_round(loop, block)) ||
         control_uniform(block, cfg_.loops()[loop].header);
}

// Whether all branches from `top`, which dominates the block, on that decide whether and by which
// edge the block is reached go the same way in all lanes, and in the same iteration of loops that
// are left on the way.
bool Emulation::Implementation::control_uniform(BlockId reached, BlockId top) {
  std::vector<BlockId> work{reached};
  std::unordered_set<BlockId> seen{reached};
  while (!work.empty()) {
    const BlockId block = work.back();
    work.pop_back();
    for (const BlockId before : cfg_.blocks()[block].predecessors) {
      if (!cfg_.reachable(before) || !feasible_[before] || !seen.insert(before).second)
        continue;
      if (seen.size() > region_budget)
        return false;
      if (cfg_.blocks()[before].successors.size() > 1 || cfg_.blocks()[before].branch != no_index) {
        const Expr choice = branch_choice_[before];
        if (!choice || !uniform(choice, before, true))
          return false;
      }
      for (LoopId loop = cfg_.loop_of(before); loop != no_index && !cfg_.contains(loop, reached);
           loop = cfg_.loops()[loop].parent)
        if (!uniform_exit_[loop])
          return false;
      if (before != top)
        work.push_back(before);
    }
  }
  return true;
}

bool Emulation::Implementation::uniform_symbol(const SymbolInfo &info, BlockId block,
                                               bool lane_counts) const {
  switch (info.kind) {
  case SymbolKind::uniform:
    return true;
  case SymbolKind::lane:
    return !lane_counts;
  case SymbolKind::varying:
    return false;
  default:
    break;
  }
  if (!info.uniform)
    return false;
  // Read after a loop, the value is that of the iteration in which the lane left it.
  for (LoopId loop = cfg_.loop_of(info.block); loop != no_index; loop = cfg_.loops()[loop].parent) {
    if (cfg_.contains(loop, block))
      break;
    if (!uniform_exit_[loop])
      return false;
  }
  return true;
}

bool Emulation::Implementation::uniform(Expr expr, BlockId block, bool lane_counts) {
  bool but_lane = true, of_lane = false, has_bits = false;
  for_each_node(expr, [&](Expr node) {
    // What may drop the lane's bits.
    has_bits |= node->kind == ExprKind::extract;
    if (node->kind != ExprKind::symbol)
      return;
    const SymbolInfo &info = infos_[node->index];
    of_lane |= info.kind == SymbolKind::lane;
    but_lane = but_lane && uniform_symbol(info, block, false);
  });
  if (!but_lane || !of_lane || !lane_counts)
    return but_lane;
  if (!has_bits)
    return false;
  bool result = true;
  for_each_node(by_lane(expr), [&](Expr node) {
    if (node->kind == ExprKind::symbol)
      result = result && uniform_symbol(infos_[node->index], block, true);
  });
  return result;
}

// tid.x is laneid and a multiple of 32 where every warp lies in one row (PTX ISA 10.4). Where rows
// of unknown length are taken to be whole warps, that length is a multiple of 32.
Expr Emulation::Implementation::by_lane(Expr expr) {
  if (lanes_ == LaneGroup::block || (lanes_ != LaneGroup::whole_row && !facts_.whole_warps()))
    return expr;
  if (!by_lane_) {
    const auto whole = [&](std::string_view name, std::uint64_t maximum) {
      return maximum == 0 ? pool_.constant(32, 0)
                          : named(fmt::format("{} / 32", name), 32, SymbolKind::uniform, maximum);
    };
    const Expr lanes = pool_.constant(32, warp_lanes);
    by_lane_ = std::make_unique<Substitution>(pool_);
    warp_in_row_ = whole("%tid.x", (facts_.max_block_x - 1) / warp_lanes);
    by_lane_->map(special_value(0, "%tid.x"),
                  pool_.add(pool_.mul(lanes, warp_in_row_), special_value(0, "%laneid")));
    if (lanes_ == LaneGroup::whole_row && facts_.max_block_x >= warp_lanes)
      by_lane_->map(special_value(0, "%ntid.x"),
                    pool_.mul(lanes, whole("%ntid.x", facts_.max_block_x / warp_lanes)));
  }
  return (*by_lane_)(expr);
}

// Even if all lanes that get here agree whom they meet, and all of a kernel's lanes that take the
// same path get here; who called a function, and how often, is not known in it.
ConvergencePoint Emulation::Implementation::meeting_of(const Gathering &gathering) {
  const Opcode &opcode = module_.opcode(function_.instructions[gathering.instruction]);
  const Op op = opcode.op;
  const bool barrier = op == Op::bar || op == Op::barrier;
  const bool counts_threads = barrier && gathering.agreed.size() > 1;
  const bool understood =
      (opcode.has(Modifier::aligned) || barrier || op == Op::shfl || op == Op::vote ||
       op == Op::match || op == Op::redux || op == Op::elect) &&
      // Lanes of a warp that come one by one may fill a barrier without the others.
      !(counts_threads && op == Op::barrier && !opcode.has(Modifier::aligned));
  const bool agreed = std::all_of(gathering.agreed.begin(), gathering.agreed.end(),
                                  [&](Expr e) { return e && uniform(e, gathering.block, true); });
  return function_.is_entry && understood && agreed ? ConvergencePoint::even
                                                    : ConvergencePoint::uneven;
}

bool Emulation::Implementation::in_step(BlockId block) {
  LoopId loop = cfg_.loop_of(block);
  if (loop == no_index)
    return true;
  if (!convergence_) {
    std::vector<ConvergencePoint> meetings(cfg_.blocks().size(), ConvergencePoint::none);
    for (const Gathering &gathering : gatherings_)
      meetings[gathering.block] = std::max(meetings[gathering.block], meeting_of(gathering));
    convergence_ = std::make_unique<Convergence>(
        cfg_,
        [this](BlockId at) {
          const Expr choice = branch_choice_[at];
          return feasible_[at] && (!choice || !uniform(choice, at, true));
        },
        std::move(meetings));
  }
  for (; loop != no_index; loop = cfg_.loops()[loop].parent)
    if (!convergence_->in_step(loop))
      return false;
  return true;
}

} // namespace ptxasw::emulator
