// An instruction is available where it has run on every path and nothing has since written what it
// read or wrote: run again, it gives the same. A forward analysis, with the intersection where
// flows meet. Only what computes is a candidate, never a load. A copy recomputes what is of use to
// it and comes, through such instructions alone, from what all copies share and from special
// registers.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"
#include "grammar/roles.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace ptxasw::synth {

Recomputation::Recomputation(const KernelContext &context, const std::vector<bool> &shared)
    : OfKernel(context), liveness_(context.liveness()), shared_(shared) {
  find_candidates();
  find_available();
}

void Recomputation::find_candidates() {
  for (std::uint32_t i = 0; i < count(); ++i) {
    const Instruction &one = instruction(i);
    if (!one.well_formed || one.guard != no_register || !is_pure(opcode(i)) ||
        is_shared(module_, one, shared_))
      continue;
    RegisterId result = no_register;
    bool good = true;
    for_each_register(module_, one, [&](RegisterId reg, RegisterUse use) {
      if (use == RegisterUse::read)
        return;
      good &= use == RegisterUse::written && result == no_register;
      result = reg;
    });
    for (const RegisterId reg : read_registers(module_, one))
      good &= reg != result;
    if (!good || result == no_register)
      continue;
    const auto number = static_cast<std::uint32_t>(candidates_.size());
    candidate_of_.emplace(i, number);
    candidates_.push_back(i);
    results_.push_back(result);
    for_each_register(module_, one,
                      [&](RegisterId reg, RegisterUse) { concerned_[reg].push_back(number); });
  }
}

void Recomputation::pass(std::uint32_t i, Set &available) const {
  for (const RegisterId reg : written_registers(module_, instruction(i)))
    if (const auto found = concerned_.find(reg); found != concerned_.end())
      for (const std::uint32_t candidate : found->second)
        available[candidate] = false;
  if (const auto own = candidate_of_.find(i); own != candidate_of_.end())
    available[own->second] = true;
}

void Recomputation::find_available() {
  const auto &blocks = cfg().blocks();
  std::vector<std::optional<Set>> at_end(blocks.size()); // nothing: not known yet, all of them
  at_begin_.assign(blocks.size(), Set(candidates_.size(), false));
  for (bool changed = true; changed;) {
    changed = false;
    for (const BlockId block : cfg().reverse_postorder()) {
      std::optional<Set> begin;
      if (block == cfg().reverse_postorder().front())
        begin = Set(candidates_.size(), false);
      for (const BlockId before : blocks[block].predecessors) {
        if (!at_end[before])
          continue;
        if (!begin)
          begin = at_end[before];
        else
          for (std::size_t i = 0; i < begin->size(); ++i)
            (*begin)[i] = (*begin)[i] && (*at_end[before])[i];
      }
      if (!begin)
        continue;
      at_begin_[block] = *begin;
      for (std::uint32_t i = blocks[block].first; i < blocks[block].end; ++i)
        pass(i, *begin);
      if (at_end[block] != begin) {
        at_end[block] = std::move(begin);
        changed = true;
      }
    }
  }
}

Recomputation::Set Recomputation::available_at(std::uint32_t position) const {
  const BlockId around = cfg().block_of(position);
  Set available = at_begin_[around];
  for (std::uint32_t i = block(around).first; i < position; ++i)
    pass(i, available);
  return available;
}

std::vector<std::uint32_t> Recomputation::at(std::uint32_t position) const {
  if (position >= count())
    return {};
  const Set available = available_at(position);
  std::map<RegisterId, std::uint32_t> by_result; // one at most: a write ends the others
  for (std::uint32_t candidate = 0; candidate < candidates_.size(); ++candidate)
    if (available[candidate])
      by_result[results_[candidate]] = candidates_[candidate];
  std::map<RegisterId, bool> good;
  std::vector<std::uint32_t> order;
  const std::function<bool(RegisterId)> add = [&](RegisterId reg) {
    if (const auto known = good.find(reg); known != good.end())
      return known->second;
    good[reg] = false;
    const auto from = by_result.find(reg);
    if (from == by_result.end())
      return false;
    bool all = true;
    for (const RegisterId other : read_registers(module_, instruction(from->second)))
      all = all && (shared_[other] || add(other));
    if (all)
      order.push_back(from->second);
    return good[reg] = all;
  };
  for (const RegisterId reg : live_before(module_, kernel_, cfg(), liveness_, position))
    if (!shared_[reg])
      add(reg);
  return order;
}

std::vector<RegisterId> Recomputation::needed(std::uint32_t position) const {
  std::vector<RegisterId> all = live_before(module_, kernel_, cfg(), liveness_, position);
  for (const std::uint32_t i : at(position))
    for (const RegisterId reg : read_registers(module_, instruction(i)))
      if (shared_[reg])
        all.push_back(reg);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace ptxasw::synth
