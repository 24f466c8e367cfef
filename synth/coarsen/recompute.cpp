// An instruction is available where it has run on every path and nothing has since written what it
// read or wrote: run again, it gives the same. So it is if every way back comes to it before it
// comes to such a write, or to the entry. Only what computes may be run again, never a load. A copy
// recomputes what is of use to it and comes, through such instructions alone, from what all copies
// share and from special registers.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <functional>
#include <map>

namespace ptxasw::synth {

Recomputation::Recomputation(const KernelContext &context, const std::vector<bool> &shared)
    : OfKernel(context), shared_(shared), writers_(kernel_.registers.size()),
      before_(std::size_t{count()} + 1) {
  const std::vector<bool> reached = reachable_from(module_, kernel_, {0});
  for (std::uint32_t i = 0; i < count(); ++i) {
    for (const RegisterId reg : written_registers(module_, instruction(i)))
      writers_[reg].push_back(i);
    if (reached[i])
      for (const std::uint32_t next : next_after(module_, kernel_, i))
        before_[next].push_back(i);
  }
}

/// Returns true if an instruction only computes one register, of which copies have one each, and
/// writes all of it, always, and does not read it.
bool Recomputation::may_be_repeated(std::uint32_t i) const {
  const Instruction &one = instruction(i);
  bool good = one.well_formed && one.guard == no_register && is_pure(opcode(i));
  RegisterId result = no_register;
  for_each_register(module_, one, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read)
      return;
    good &= use == RegisterUse::written && result == no_register && !shared_[reg];
    result = reg;
  });
  for (const RegisterId reg : read_registers(module_, one))
    good &= reg != result;
  return good;
}

bool Recomputation::is_available(std::uint32_t i, std::uint32_t position) const {
  std::vector<bool> ends(count(), false), seen(count(), false);
  for_each_register(module_, instruction(i), [&](RegisterId reg, RegisterUse) {
    for (const std::uint32_t writer : writers_[reg])
      ends[writer] = true;
  });
  std::vector<std::uint32_t> open{position};
  while (!open.empty()) {
    const std::uint32_t at = open.back();
    open.pop_back();
    if (at == 0)
      return false;
    for (const std::uint32_t before : before_[at]) {
      if (before != i && ends[before])
        return false;
      if (before != i && !seen[before])
        open.push_back(before);
      seen[before] = true;
    }
  }
  return !before_[position].empty();
}

std::vector<std::uint32_t> Recomputation::at(std::uint32_t position) const {
  if (position >= count())
    return {};
  std::map<RegisterId, bool> good;
  std::vector<std::uint32_t> order;
  const std::function<bool(RegisterId)> add = [&](RegisterId reg) {
    if (const auto known = good.find(reg); known != good.end())
      return known->second;
    good[reg] = false;
    // One at most: a write ends the others.
    const auto from =
        std::find_if(writers_[reg].begin(), writers_[reg].end(), [&](std::uint32_t i) {
          return may_be_repeated(i) && is_available(i, position);
        });
    if (from == writers_[reg].end())
      return false;
    bool all = true;
    for (const RegisterId other : read_registers(module_, instruction(*from)))
      all = all && (shared_[other] || add(other));
    if (all)
      order.push_back(*from);
    return good[reg] = all;
  };
  for (const RegisterId reg : live_before(module_, kernel_, cfg(), context_.liveness(), position))
    if (!shared_[reg])
      add(reg);
  return order;
}

bool Recomputation::gives(const std::vector<std::uint32_t> &again, RegisterId reg) const {
  return std::any_of(again.begin(), again.end(),
                     [&](std::uint32_t i) { return result_of(i) == reg; });
}

std::vector<RegisterId> Recomputation::needed(std::uint32_t position) const {
  std::vector<RegisterId> all = live_before(module_, kernel_, cfg(), context_.liveness(), position);
  for (const std::uint32_t i : at(position))
    for (const RegisterId reg : read_registers(module_, instruction(i)))
      if (shared_[reg])
        all.push_back(reg);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

} // namespace ptxasw::synth
