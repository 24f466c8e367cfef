// Iteration by iteration: the register's number is put into the address, and into the conditions on
// the way to the access, which leave lanes out.

#include "analysis/lint/iterations.h"

#include <algorithm>

namespace ptxasw::analysis::lint {
namespace {

constexpr std::int64_t most_shared_bytes = 228 << 10; ///< of a multiprocessor, sm_90 and sm_100
constexpr unsigned most_rounds = 64;

/// The only register of a loop that an expression depends on; null: there is none, or are several.
Expr stepped_symbol(const Emulation &emulation, Expr expr) {
  Expr found = nullptr;
  unsigned count = 0;
  for_each_node(expr, [&](Expr node) {
    if (node->kind == ExprKind::symbol && emulation.loop_register(node)) {
      found = node;
      ++count;
    }
  });
  return count == 1 ? found : nullptr;
}

/// What is known while the register is one number.
class Iteration {
public:
  Iteration(const facts::KernelFacts &facts, const facts::Access &access, Expr symbol, Expr number)
      : facts_(facts), access_(access), is_(facts.emulation().pool()) {
    is_.map(symbol, number);
  }

  Expr operator()(Expr expr) { return is_(facts_.emulation().expand(expr)); }

  /// Returns true if no thread goes on from the end of a block within the loop.
  bool ends_at(BlockId block, LoopId loop) {
    const ControlFlowGraph &cfg = facts_.cfg();
    const auto &successors = cfg.blocks()[block].successors;
    const Expr choice = facts_.emulation().branch_choice(block);
    if (successors.size() != 2 || !choice)
      return false;
    const auto *values = facts_.lane_values()((*this)(choice));
    return values && std::all_of(values->begin(), values->end(), [&](std::uint64_t taken) {
             return !cfg.contains(loop, successors[taken != 0 ? 0 : 1]);
           });
  }

  /// Nothing if it is not known how far lanes are apart. Lanes too far apart are no more in shared
  /// memory: there are none of them.
  std::optional<facts::Traffic> traffic() {
    facts::LaneValues &lanes = facts_.lane_values();
    const Expr address = is_(access_.address);
    const facts::AddressForm form =
        address_form(facts_.emulation(), lanes, address, access_.block, true);
    if (!form.is_linear() || !form.strides.empty())
      return std::nullopt;
    std::vector<bool> active = facts_.active(access_);
    for (const PathFact &fact : facts_.emulation().facts_in(access_.block))
      if (const auto *values = lanes((*this)(fact.condition)))
        for (std::size_t t = 0; t < active.size(); ++t)
          active[t] = active[t] && ((*values)[t] != 0) == fact.holds;
    const std::vector<std::int64_t> offsets = lane_offsets(lanes, form);
    std::int64_t least = 0, most = 0;
    bool first = true;
    for (std::size_t t = 0; t < active.size(); ++t)
      if (active[t]) {
        least = first ? offsets[t] : std::min(least, offsets[t]);
        most = first ? offsets[t] : std::max(most, offsets[t]);
        first = false;
      }
    if (first || most - least >= most_shared_bytes)
      return facts::Traffic{};
    return traffic_of(lanes, {.form = &form,
                              .bytes = access_.site.bytes,
                              .alignment = access_.site.bytes,
                              .shared = true,
                              .load = access_.site.kind == facts::AccessKind::load,
                              .active = &active});
  }

private:
  const facts::KernelFacts &facts_;
  const facts::Access &access_;
  Substitution is_;
};

} // namespace

std::optional<IterationCosts> costs_of_rounds(const facts::KernelFacts &facts,
                                              const facts::Access &access) {
  Emulation &emulation = facts.emulation();
  const ControlFlowGraph &cfg = facts.cfg();
  const Expr symbol = access.address ? stepped_symbol(emulation, access.address) : nullptr;
  if (!symbol || !access.in_step || access.guard)
    return std::nullopt;
  const LoopRegister step = *emulation.loop_register(symbol);
  if (!cfg.contains(step.loop, access.block))
    return std::nullopt;
  IterationCosts result;
  Expr number = emulation.expand(step.initial);
  for (unsigned n = 0; n < most_rounds && number->kind == ExprKind::constant; ++n) {
    Iteration round(facts, access, symbol, number);
    bool ends = false, before = false; // the loop; before the access
    for (BlockId block = 0; block < cfg.blocks().size(); ++block)
      if (cfg.contains(step.loop, block) && round.ends_at(block, step.loop)) {
        ends = true;
        before = before || (block != access.block && cfg.dominates(block, access.block));
      }
    if (before)
      return result;
    const auto traffic = round.traffic();
    if (!traffic)
      return std::nullopt;
    const std::uint32_t cost = traffic->wavefronts.typical, ideal = traffic->ideal_wavefronts;
    if (ideal == 0 && n > 0 && result.sum > 0)
      return result;
    result.sum += cost;
    result.ideal_sum += ideal;
    if (cost > result.most)
      result = {cost, ideal, result.sum, result.ideal_sum, traffic->clash};
    const Expr next = round(step.next);
    if (ends || next == number)
      return result;
    number = next;
  }
  return number->kind == ExprKind::constant ? std::optional(result) : std::nullopt;
}

} // namespace ptxasw::analysis::lint
