// Ends of rows under predicates (if-conversion; Allen, Kennedy, Porterfield, Warren 1983).
//
// Of the points of one thread some may lie beyond the end of their row: at the branch that asks for
// that, copies part. Where what the others do then is straight code up to where the branch leads,
// all stay together. The straight code stands there a second time, with nothing in it wide: each
// access stands under the predicate of the copy that it is done for. So all copies' loads are under
// way at once, where copies that go on alone wait for memory one after the other.
//
// A copy that does not go there - it has ended, for short - computes along, with whatever its
// registers hold. That is as if it had waited at the end of the stretch:
//
// - It accesses nothing. An access that is done once for several copies stands under the predicate
//   that they have in common, or under none if they have all predicates that there are: at least
//   one copy has not ended.
// - What else is done there only computes (is_pure()), and nobody wants what: nothing that is
//   written in the stretch is read behind it before it is written again.
//
// What copies share (shared.cpp) is the same for all that go the same way, so for those that have
// not ended, whoever keeps it: it is made of what is shared alone, by whatever copy.
//
// The elements of a wide access are where its plan says, so many bytes behind an address, which may
// be that of a copy that has ended: the plan is made of what is computed alone, and not of what
// branches decide (copies.cpp), and nothing that is loaded in the stretch is in such an address. In
// the first thread along x it holds of the points from the first one on (wide_shift()); those
// before it are the last ones of all. If one of these has not ended, that thread leaves lockstep.
// If all have, it goes through the stretch under predicates, as points of it have ended. So it need
// not leave lockstep at the entry, if every wide access is in such a stretch and addressed by a
// point that is not one of them.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <set>

namespace ptxasw::synth {

/// Under which predicate an access stands that copy k does for all whose keeper it is, `@%p `, or
/// under none; nothing: one is not enough.
std::optional<std::string> Coarsening::predicate_of(std::uint32_t branch, std::uint32_t access,
                                                    unsigned k) const {
  const Instruction &own = instruction(branch);
  std::set<unsigned> all, those;
  for (unsigned other = 0; other < copies_; ++other) {
    const unsigned keeper = sharing_.keeper(own.guard, other);
    all.insert(keeper);
    if (sharing_.keeper(instruction(access), other) == k)
      those.insert(keeper);
  }
  if (those == all)
    return "";
  if (those.size() != 1)
    return std::nullopt;
  return fmt::format("@{}{} ", own.guard_negated ? "" : "!", name_of(own.guard, k));
}

bool Coarsening::may_be_predicated(std::uint32_t branch, std::uint32_t i) const {
  if (first_[i])
    return true;
  if (is_way(opcode(i)))
    return instead_[i] == i + 1;
  if (calls_.of(i) || !instruction(i).well_formed)
    return false;
  if (is_pure(opcode(i)))
    return true;
  if ((opcode(i).op != Op::ld && opcode(i).op != Op::st) || instruction(i).guard != no_register)
    return false;
  for (unsigned k = 0; k < copies_; ++k)
    if (sharing_.keeper(instruction(i), k) == k && !predicate_of(branch, i, k))
      return false;
  return true;
}

/// Returns true if an access of the plan is addressed by something that is loaded in a stretch:
/// copies that have ended do not load.
bool Coarsening::addresses_what_is_loaded(const std::vector<bool> &inside) const {
  std::vector<bool> loaded(kernel_.registers.size(), false);
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (!inside[i])
      continue;
    const std::vector<RegisterId> read = read_registers(module_, instruction(i));
    const bool of_loaded =
        std::any_of(read.begin(), read.end(), [&](RegisterId reg) { return loaded[reg]; });
    for (unsigned k = 0; k < copies_; ++k)
      if ((plan_.part({i, k}) || plan_.store({i, k})) &&
          loaded[wide_address(module_, kernel_, i).base])
        return true;
    for (const RegisterId reg : written_registers(module_, instruction(i)))
      loaded[reg] = of_loaded || opcode(i).op == Op::ld;
  }
  return false;
}

bool Coarsening::is_predicated(std::uint32_t branch) const {
  const Instruction &own = instruction(branch);
  const auto end = branch_target(module_, kernel_, own);
  if (own.guard == no_register || shared_[own.guard] || instead_[branch] || !end ||
      *end <= branch + 1)
    return false;
  std::vector<bool> inside(count(), false);
  std::fill(inside.begin() + branch + 1, inside.begin() + *end, true);
  for (std::uint32_t i = 0; i < count(); ++i) {
    if (inside[i] && !may_be_predicated(branch, i))
      return false;
    const auto to = instead_[i] ? instead_[i] : branch_target(module_, kernel_, instruction(i));
    if (!inside[i] && to && *to < count() && inside[*to])
      return false;
  }
  if (std::any_of(plan_.tests.begin(), plan_.tests.end(),
                  [&](const WideTest &test) { return inside[test.instruction]; }))
    return false;
  if (addresses_what_is_loaded(inside))
    return false;
  std::vector<RegisterId> kept = {own.guard};
  if (*end < count()) {
    const auto live = live_before(module_, kernel_, cfg(), context_.liveness(), *end);
    kept.insert(kept.end(), live.begin(), live.end());
  }
  const std::vector<bool> written = written_in(module_, kernel_, inside, first_);
  return std::none_of(kept.begin(), kept.end(), [&](RegisterId reg) { return written[reg]; });
}

void Coarsening::find_predicated() {
  if (!form_.predicates_ends())
    return;
  for (std::uint32_t i = 0; i < count(); ++i)
    if (is_way(opcode(i)) && is_predicated(i))
      predicated_.emplace(i, *branch_target(module_, kernel_, instruction(i)));
  const auto inside = [&](const Instance &one) {
    return std::any_of(predicated_.begin(), predicated_.end(), [&](const auto &stretch) {
      return stretch.first < one.instruction && one.instruction < stretch.second;
    });
  };
  // Those before the first thread's first point are somewhere else.
  const auto may_stay = [&](const Instance &one, unsigned addressed_by) {
    return inside(one) && form_.column_of(addressed_by) >= form_.shift;
  };
  first_stays_ =
      form_.shift > 0 && plan_.tests.empty() &&
      std::all_of(merged_.begin(), merged_.end(),
                  [&](const MergedLoad &one) {
                    return inside({one.load, one.copy}) && inside({one.from, one.from_copy});
                  }) &&
      std::all_of(plan_.stores.begin(), plan_.stores.end(),
                  [&](const WideStore &one) { return may_stay(one.first, one.addressed_by); }) &&
      std::all_of(plan_.loads.begin(), plan_.loads.end(), [&](const WideLoad &one) {
        return may_stay(one.at, one.addressed_by) &&
               std::all_of(one.parts.begin(), one.parts.end(),
                           [&](const auto &part) { return inside(part.first); });
      });
}

std::vector<unsigned> Coarsening::copies_before(std::uint32_t branch) const {
  std::set<unsigned> keepers;
  for (unsigned k = 0; k < copies_; ++k)
    if (form_.column_of(k) < form_.shift)
      keepers.insert(sharing_.keeper(instruction(branch).guard, k));
  return {keepers.begin(), keepers.end()};
}

std::vector<std::string> Coarsening::predicated_lines(std::uint32_t branch) const {
  std::vector<std::string> lines;
  for (std::uint32_t i = branch + 1; i < predicated_.at(branch); ++i) {
    if (first_[i] || is_way(opcode(i)))
      continue;
    for (unsigned k = 0; k < copies_;) {
      const bool is_here = sharing_.keeper(instruction(i), k) == k;
      k += is_here ? add_predicated(branch, {i, k}, lines) : 1;
    }
  }
  return lines;
}

/// What stands there for an instance, and those after it if it is done for them as well: how many.
unsigned Coarsening::add_predicated(std::uint32_t branch, const Instance &one,
                                    std::vector<std::string> &lines) const {
  const auto [i, k] = one;
  const auto predicate = [&](const Instance &of) {
    return predicate_of(branch, of.instruction, of.copy).value_or("");
  };
  const std::int64_t bytes = bit_width(opcode(i).type) / 8;
  for (std::size_t load = 0; load < plan_.loads.size(); ++load) {
    const WideLoad &wide = plan_.loads[load];
    if (wide.at != one)
      continue;
    for (unsigned e = 0; e < wide.elements; ++e) {
      std::set<std::string> wanted; // by whom
      for (const auto &[part, element] : wide.parts)
        if (element == e && wanted.insert(predicate(part)).second)
          lines.push_back(predicate(part) + access({i, wide.addressed_by},
                                                   wide.displacement + e * bytes,
                                                   {CoarsenNames::wide(load, e)}));
    }
  }
  if (const WideStore *const store = plan_.store(one)) {
    const RegisterId value = wide_value(module_, kernel_, i);
    for (unsigned e = 0; e < store->elements; ++e)
      lines.push_back(predicate({i, k + e}) + access({i, store->addressed_by},
                                                     store->displacement + e * bytes,
                                                     {name_of(value, k + e)}));
    return store->elements;
  }
  if (const auto part = plan_.part(one)) {
    const RegisterId reg = wide_value(module_, kernel_, i);
    lines.push_back(move(name_of(reg, k), CoarsenNames::wide(part->first, part->second),
                         kernel_.registers[reg].type));
    return 1;
  }
  const std::string text = renamed(module_, instruction(i), together_[k]);
  lines.push_back((is_pure(opcode(i)) ? "" : predicate(one)) + text.substr(0, text.size() - 1));
  return 1;
}

} // namespace ptxasw::synth
