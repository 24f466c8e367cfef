// The delay is found from addresses: a load of one row of copies and one of the next row have the
// same one, and the most frequent distance of two such is it. It is worth it where three rows share
// a load in that way: of two, the values in between are few.

#include "synth/coarsen/skew.h"

#include "emulator/semantics/effects.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace ptxasw::synth {
namespace {

/// How many rows go on before one stores (skew.h).
constexpr std::int64_t rows_before_stores = 2;

} // namespace

Skew::Skew(const KernelContext &context, const CoarsenForm &form)
    : OfKernel(context), form_(form), sharing_(sharing_of(context, form)),
      first_(sharing_.done_first()), calls_(calls_of(context)) {
  if (!form.skewed)
    return;
  // Where all copies must be together: where a jump leads, and at a pragma.
  std::vector<bool> border = sharing_.targets();
  for (const Pragma &pragma : kernel_.pragmas)
    border[pragma.position] = true;
  CopyViews views(context_, form);
  Loads loads;
  for (const MemoryAccess &access : views.emulation().trace()) {
    const Expr address = access.effect == Effect::load ? views.common_address(access) : nullptr;
    Load load;
    for (unsigned k = 0; address && k < form.total(); ++k)
      load.plain.push_back(views.of(address, k));
    if (address) {
      load.stepped = stepped_address(views, form, address);
      loads[access.instruction] = std::move(load);
    }
  }
  std::uint32_t from = 0;
  bool has_stored = false;
  for (std::uint32_t i = 0; i <= count(); ++i) {
    const bool inside = i < count() && may_be_inside(i);
    const bool is_load = inside && !first_[i] && opcode(i).op == Op::ld;
    if (!inside || border[i] || (has_stored && is_load)) {
      if (from < i)
        look_at_run(from, i, loads);
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

// Straight code without a load behind a store.
void Skew::look_at_run(std::uint32_t begin, std::uint32_t end, const Loads &all) {
  const std::map loads(all.lower_bound(begin), all.lower_bound(end));
  // Steps from row to row by which loads would be the same, and are not without.
  const auto is_next_row = [&](const std::vector<Expr> &one, const std::vector<Expr> &other) {
    return one[0] == other[form_.along_x];
  };
  std::vector<RowStep> steps;
  for (const auto &[i, one] : loads)
    for (const auto &[j, other] : loads)
      if (i != j && one.stepped && other.stepped && one.stepped->by == other.stepped->by &&
          is_next_row(one.stepped->of, other.stepped->of) && !is_next_row(one.plain, other.plain))
        steps.push_back(one.stepped->by);
  const auto is_stepped = [&](const Load &load) {
    return load.stepped && std::find(steps.begin(), steps.end(), load.stepped->by) != steps.end();
  };
  // By row of copies, address and column, the loads.
  std::map<std::tuple<unsigned, std::uint32_t, unsigned>, std::set<std::int64_t>> at;
  for (const auto &[i, load] : loads)
    for (unsigned k = 0; k < form_.total(); ++k)
      at[{form_.row_of(k), (is_stepped(load) ? load.stepped->of : load.plain)[k]->id,
          form_.column_of(k)}]
          .insert(i);
  std::map<std::int64_t, unsigned> delays;
  for (const auto &[place, own] : at)
    for (const std::int64_t one : own)
      for (const std::int64_t other :
           at[{std::get<0>(place) + 1, std::get<1>(place), std::get<2>(place)}])
        if (one != other)
          ++delays[one - other];
  SkewedStretch stretch{begin, end, 0};
  for (const auto &[delay, often] : delays)
    if (stretch.delay == 0 || often > delays[stretch.delay] ||
        (often == delays[stretch.delay] && std::abs(delay) < std::abs(stretch.delay)))
      stretch.delay = delay;
  bool is_shared = false; // by three rows
  for (const auto &[place, own] : at)
    for (const std::int64_t one : own) {
      const auto &[row, address, column] = place;
      is_shared = is_shared || (at[{row + 1, address, column}].contains(one - stretch.delay) &&
                                at[{row + 2, address, column}].contains(one - 2 * stretch.delay));
    }
  if (stretch.delay == 0 || !is_shared)
    return;
  stretches_.push_back(stretch);
  for (const auto &[i, load] : loads)
    if (is_stepped(load))
      stepped_.insert(i);
}

const SkewedStretch *Skew::around(std::uint32_t i) const {
  const auto found =
      std::find_if(stretches_.begin(), stretches_.end(), [&](const SkewedStretch &stretch) {
        return stretch.first <= i && i < stretch.end;
      });
  return found == stretches_.end() ? nullptr : &*found;
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
  while (true) {
    for (std::uint32_t &i : at)
      while (i < stretch.end && first_[i])
        ++i;
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
      if (all || row == *next)
        ++at[row];
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

const Skew &skew_of(const KernelContext &context, const CoarsenForm &form) {
  return context.once(form.key(), [&] { return Skew(context, form); });
}

} // namespace ptxasw::synth
