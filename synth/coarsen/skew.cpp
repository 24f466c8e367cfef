// The delay is found from addresses: a load of one row of copies and one of the next row have the
// same one, and the most frequent distance of two such is it. It is worth it where three rows share
// a load in that way: of two, the values in between are few.

#include "synth/coarsen/skew.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <numeric>
#include <tuple>

namespace ptxasw::synth {
namespace {

/// How many rows go on before one stores (skew.h).
constexpr std::int64_t rows_before_stores = 2;

/// Returns true if two loads have one address in neighbouring rows of copies.
bool is_next_row(const std::vector<std::uint32_t> &one, const std::vector<std::uint32_t> &other,
                 unsigned along_x) {
  return one[0] == other[along_x];
}

} // namespace

Skew::Loads Skew::find_loads(const KernelContext &context, const CoarsenForm &form) {
  Loads found;
  CopyViews views(context.module, context.kernel, form);
  if (!views.complete())
    return found;
  for (const MemoryAccess &access : views.emulation().trace()) {
    const Expr address = access.effect == Effect::load ? views.common_address(access) : nullptr;
    if (!address)
      continue;
    Load load;
    for (unsigned k = 0; k < form.total(); ++k)
      load.plain.push_back(views.of(address, k)->id);
    if (const auto stepped = stepped_address(views, form, address)) {
      load.by = stepped->by;
      for (const Expr one : stepped->of)
        load.stepped.push_back(one->id);
    }
    found[access.instruction] = std::move(load);
  }
  return found;
}

const Skew::Loads &Skew::loads() const {
  return context_.once(form_.key(), [&] { return find_loads(context_, form_); });
}

Skew::Skew(const KernelContext &context, const CoarsenForm &form)
    : OfKernel(context), form_(form), sharing_(context, form),
      first_(done_first(context, sharing_.by_all())), calls_(calls_of(context)) {
  if (!form.skewed)
    return;
  const std::vector<bool> border = borders();
  std::uint32_t from = 0;
  bool has_stored = false;
  for (std::uint32_t i = 0; i <= count(); ++i) {
    const bool inside = i < count() && may_be_inside(i);
    const bool is_load = inside && !first_[i] && opcode(i).op == Op::ld;
    if (!inside || border[i] || (has_stored && is_load)) {
      look_at_run(from, i);
      from = inside ? i : i + 1;
      has_stored = false;
    }
    has_stored = has_stored || (inside && opcode(i).op == Op::st);
  }
  if (stretches_.empty())
    return;
  ranks_.resize(std::size_t{count()} * form_.total());
  std::iota(ranks_.begin(), ranks_.end(), std::uint64_t{0});
  for (const SkewedStretch &stretch : stretches_) {
    std::uint64_t next = std::uint64_t{stretch.first} * form_.total();
    for (const SkewedStep &step : steps(stretch))
      for (unsigned k = step.first; k < step.end; ++k)
        ranks_[std::size_t{step.instruction} * form_.total() + k] = next++;
  }
}

// Only what computes, loads or stores; nobody waits there and nothing is called.
bool Skew::may_be_inside(std::uint32_t i) const {
  const Opcode &own = opcode(i);
  if (!instruction(i).well_formed || is_way(own) || calls_.of(i))
    return false;
  const bool is_access = own.op == Op::ld || own.op == Op::st;
  return is_access ? own.space == StateSpace::global || own.space == StateSpace::param ||
                         own.space == StateSpace::constant
                   : is_pure(own) && !gathers_lanes(own) && !asks_which_lanes(own);
}

// Where all copies must be together: where a jump leads, and at a pragma.
std::vector<bool> Skew::borders() const {
  std::vector<bool> border = branch_targets(module_, kernel_);
  border.resize(std::size_t{count()} + 1, false);
  if (form_.once)
    for (const GridRound &round : rounds_over_grid(context_))
      border[round.instead] = true;
  for (const Detour &detour : sharing_.detours())
    border[detour.end] = true;
  for (const Pragma &pragma : kernel_.pragmas)
    border[pragma.position] = true;
  return border;
}

// Straight code without a load behind a store.
void Skew::look_at_run(std::uint32_t begin, std::uint32_t end) {
  if (begin >= end)
    return;
  find_steps(begin, end);
  find_delay({begin, end, 0});
}

// Steps from row to row by which loads of a run would be the same, and are not without.
void Skew::find_steps(std::uint32_t begin, std::uint32_t end) {
  steps_.clear();
  const auto first = loads().lower_bound(begin), last = loads().lower_bound(end);
  for (auto one = first; one != last; ++one)
    for (auto other = first; other != last; ++other)
      if (other->first != one->first && other->second.by == one->second.by &&
          !one->second.stepped.empty() &&
          is_next_row(one->second.stepped, other->second.stepped, form_.along_x) &&
          !is_next_row(one->second.plain, other->second.plain, form_.along_x))
        steps_.insert(one->second.by);
}

const std::vector<std::uint32_t> &Skew::addresses_of(const Loads::value_type &load) const {
  return steps_.contains(load.second.by) && !load.second.stepped.empty() ? load.second.stepped
                                                                         : load.second.plain;
}

void Skew::find_delay(SkewedStretch stretch) {
  // Of each row of copies, by number of an address and column, the loads.
  using Place = std::pair<std::uint32_t, unsigned>;
  std::vector<std::map<Place, std::vector<std::int64_t>>> rows(form_.copies);
  const auto first = loads().lower_bound(stretch.first), last = loads().lower_bound(stretch.end);
  for (auto load = first; load != last; ++load)
    for (unsigned k = 0; k < form_.total(); ++k)
      rows[form_.row_of(k)][{addresses_of(*load)[k], form_.column_of(k)}].push_back(load->first);
  std::map<std::int64_t, unsigned> delays;
  const auto loads_in = [&](unsigned row, const Place &place) {
    const auto found = rows[row].find(place);
    return found == rows[row].end() ? std::vector<std::int64_t>() : found->second;
  };
  for (unsigned row = 0; row + 1 < form_.copies; ++row)
    for (const auto &[place, own] : rows[row])
      for (const std::int64_t one : own)
        for (const std::int64_t other : loads_in(row + 1, place))
          if (one != other)
            ++delays[one - other];
  for (const auto &[delay, often] : delays)
    if (stretch.delay == 0 || often > delays[stretch.delay] ||
        (often == delays[stretch.delay] && std::abs(delay) < std::abs(stretch.delay)))
      stretch.delay = delay;
  const auto has = [&](unsigned row, const Place &place, std::int64_t load) {
    const auto found = loads_in(row, place);
    return std::find(found.begin(), found.end(), load) != found.end();
  };
  bool is_shared = false; // by three rows
  for (unsigned row = 0; stretch.delay != 0 && row + 2 < form_.copies; ++row)
    for (const auto &[place, own] : rows[row])
      for (const std::int64_t one : own)
        is_shared = is_shared || (has(row + 1, place, one - stretch.delay) &&
                                  has(row + 2, place, one - 2 * stretch.delay));
  if (!is_shared)
    return;
  stretches_.push_back(stretch);
  for (auto load = first; load != last; ++load)
    if (&addresses_of(*load) == &load->second.stepped)
      stepped_.insert(load->first);
}

const SkewedStretch *Skew::around(std::uint32_t instruction) const {
  const auto after = std::upper_bound(
      stretches_.begin(), stretches_.end(), instruction,
      [](std::uint32_t i, const SkewedStretch &stretch) { return i < stretch.first; });
  if (after == stretches_.begin())
    return nullptr;
  const SkewedStretch &stretch = *std::prev(after);
  return instruction < stretch.end ? &stretch : nullptr;
}

/// Returns true if an instruction is done for copies of more than one row.
bool Skew::is_for_rows(std::uint32_t i) const {
  for (unsigned k = 0; k < form_.total(); ++k)
    if (form_.row_of(sharing_.keeper(instruction(i), k)) != form_.row_of(k))
      return true;
  return false;
}

// Of the rows that need not wait for others, the one whose next instruction is due first.
std::vector<SkewedStep> Skew::steps(const SkewedStretch &stretch) const {
  std::vector<SkewedStep> steps;
  std::vector<std::uint32_t> at(form_.copies, stretch.first);
  const auto pass = [&](unsigned row) {
    while (at[row] < stretch.end && first_[at[row]])
      ++at[row];
  };
  const auto is_ready = [&](unsigned row) {
    return at[row] < stretch.end &&
           (!is_for_rows(at[row]) ||
            std::all_of(at.begin(), at.end(), [&](std::uint32_t i) { return i == at[row]; }));
  };
  std::uint32_t first_store = stretch.first;
  while (first_store < stretch.end && opcode(first_store).op != Op::st)
    ++first_store;
  const auto due = [&](unsigned row) {
    const std::int64_t wait = at[row] < first_store ? 0 : rows_before_stores;
    return at[row] + stretch.delay * row + std::abs(stretch.delay) * wait;
  };
  for (unsigned row = 0; row < form_.copies; ++row)
    pass(row);
  while (true) {
    std::optional<unsigned> next;
    for (unsigned row = 0; row < form_.copies; ++row)
      if (is_ready(row) && (!next || due(row) < due(*next)))
        next = row;
    if (!next)
      return steps;
    const std::uint32_t i = at[*next];
    const bool all = is_for_rows(i);
    steps.push_back(
        {i, all ? 0 : *next * form_.along_x, all ? form_.total() : (*next + 1) * form_.along_x});
    for (unsigned row = 0; row < form_.copies; ++row)
      if (all || row == *next) {
        ++at[row];
        pass(row);
      }
  }
}

std::uint64_t Skew::rank(const Instance &one) const {
  const std::size_t place = std::size_t{one.instruction} * form_.total() + one.copy;
  return ranks_.empty() ? place : ranks_[place];
}

std::int64_t Skew::time(const Instance &one) const {
  const SkewedStretch *const stretch = around(one.instruction);
  return one.instruction + (stretch ? stretch->delay * form_.row_of(one.copy) : 0);
}

bool Skew::is_far(const Instance &from, const Instance &to) const {
  const SkewedStretch *const stretch = around(from.instruction);
  return stretch && std::abs(time(to) - time(from)) >= std::abs(stretch->delay);
}

} // namespace ptxasw::synth
