// Ends of rows under predicates (if-conversion; Allen, Kennedy, Porterfield, Warren 1983).
//
// Of the points of one thread some may lie beyond the end of their row: at the branch that asks for
// that, copies part. Where what the others do then is straight code up to where the branch leads,
// all stay together. The straight code stands there a second time: each access stands under the
// predicate of the copy that it is done for. So the loads of a row are under way at once, where
// copies that go on alone wait for memory one after the other.
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
// Nothing is wide there: each copy accesses what the kernel does, at its own address. As few lanes
// go there, row comes after row, which takes fewer registers; each does by itself what rows share,
// which gives the same again.
//
// In the first thread along x some points are the last ones of all, so its accesses are not side by
// side (wide_shift()). If everything that is wide is in such a stretch, that thread need not leave
// lockstep at the entry: it goes through the stretch under predicates, whether or not some of its
// copies have ended.

#include "synth/coarsen/coarsening.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <set>

namespace ptxasw::synth {

/// Under which predicate an access stands that copy k does for all whose keeper it is, `@%p `, or
/// under none; nothing: one is not enough.
std::optional<std::string> Coarsening::predicate_of(std::uint32_t branch, std::uint32_t access,
                                                    unsigned k) const {
  const Instruction &own = instruction(branch);
  std::uint64_t all = 0, those = 0; // copies that have predicates, a bit each
  for (unsigned other = 0; other < copies_; ++other) {
    const std::uint64_t keeper = std::uint64_t{1} << sharing_.keeper(own.guard, other);
    all |= keeper;
    those |= sharing_.keeper(instruction(access), other) == k ? keeper : 0;
  }
  if (those == all)
    return "";
  if (!std::has_single_bit(those))
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
  first_stays_ =
      form_.shift > 0 && plan_.tests.empty() &&
      std::all_of(merged_.begin(), merged_.end(),
                  [&](const MergedLoad &one) { return inside(one.load) && inside(one.from); }) &&
      std::all_of(plan_.stores.begin(), plan_.stores.end(),
                  [&](const WideStore &one) { return inside(one.first); }) &&
      std::all_of(plan_.loads.begin(), plan_.loads.end(), [&](const WideLoad &one) {
        return std::all_of(one.parts.begin(), one.parts.end(),
                           [&](const auto &part) { return inside(part.first); });
      });
}

std::vector<std::string> Coarsening::predicated_lines(std::uint32_t branch) const {
  // What nobody reads there is not computed: mostly how a loop would go on.
  std::vector<std::uint32_t> stretch;
  std::vector<bool> read(kernel_.registers.size(), false);
  for (std::uint32_t i = predicated_.at(branch) - 1; i > branch; --i) {
    const auto written = written_registers(module_, instruction(i));
    if (first_[i] || is_way(opcode(i)) ||
        (is_pure(opcode(i)) &&
         std::none_of(written.begin(), written.end(), [&](RegisterId reg) { return read[reg]; })))
      continue;
    stretch.insert(stretch.begin(), i);
    for (const RegisterId reg : read_registers(module_, instruction(i)))
      read[reg] = true;
  }
  std::vector<std::string> lines;
  const unsigned at_once = may_be_repeated(stretch) ? form_.along_x : copies_;
  for (unsigned first = 0; first < copies_; first += at_once)
    for (const std::uint32_t i : stretch) {
      std::set<unsigned> keepers;
      for (unsigned k = first; k < first + at_once; ++k)
        keepers.insert(sharing_.keeper(instruction(i), k));
      for (const unsigned k : keepers)
        add_predicated(branch, {i, k}, lines);
    }
  return lines;
}

/// Returns true if instructions may be done once more, for other rows: of what copies share they
/// read nothing that they have written since.
bool Coarsening::may_be_repeated(const std::vector<std::uint32_t> &instructions) const {
  std::vector<bool> written(kernel_.registers.size(), false), kept = written;
  for (const std::uint32_t i : instructions) {
    for_each_register(module_, instruction(i), [&](RegisterId reg, RegisterUse use) {
      kept[reg] = kept[reg] || (use != RegisterUse::written && !written[reg]);
    });
    for (const RegisterId reg : written_registers(module_, instruction(i)))
      written[reg] = true;
  }
  for (RegisterId reg = 0; reg < kept.size(); ++reg)
    if (sharing_.by_some()[reg] && kept[reg] && written[reg])
      return false;
  return true;
}

/// What the kernel does for a copy, under its predicate if it is an access. What is not loaded is
/// 0: the assembler would keep a register for what it may have held before.
void Coarsening::add_predicated(std::uint32_t branch, const Instance &one,
                                std::vector<std::string> &lines) const {
  const Instruction &own = instruction(one.instruction);
  const std::string text = renamed(module_, own, together_[one.copy]);
  std::string predicate;
  if (!is_pure(opcode(one.instruction)))
    predicate = predicate_of(branch, one.instruction, one.copy).value_or("");
  const std::vector<RegisterId> read = read_registers(module_, own);
  if (!predicate.empty())
    for_each_register(module_, own, [&](RegisterId reg, RegisterUse use) {
      const ScalarType type = kernel_.registers[reg].type;
      if (use == RegisterUse::written && bit_width(type) <= 64 &&
          std::find(read.begin(), read.end(), reg) == read.end())
        lines.push_back(move(name_of(reg, one.copy), "0", type));
    });
  lines.push_back(predicate + text.substr(0, text.size() - 1));
}

} // namespace ptxasw::synth
