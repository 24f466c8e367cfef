// In place of a replaced load there stands an expression for each register that it wrote. It is
// taken apart by cases: in each there must stand the load itself or, with the shuffles taken away,
// a source's value, under conditions that imply the laws.

#include "synth/proof/replacement.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

/// Conditions split on in one replaced load.
constexpr int case_budget = 64;

/// The name of what a destination held before.
constexpr std::string_view old_value = "old";

} // namespace

void Replacements::enter(BlockId block) {
  block_ = block;
  held_.clear();
  pending_.clear();
  next_ = block == AddedValues::entry_block ? 0 : original_.cfg().blocks()[block].first;
}

void Replacements::advance(std::uint32_t to) {
  for (; next_ < to; ++next_)
    if (is_replaced(next_))
      settle(next_);
  pending_.clear();
}

void Replacements::run(std::uint32_t instruction) {
  if (!held_.empty())
    for_each_register(original_.module, original_.function.instructions[instruction],
                      [&](RegisterId reg, RegisterUse use) {
                        if (use != RegisterUse::read)
                          held_.erase(reg);
                      });
  if (effect_of(original_.opcode(instruction)) == Effect::load)
    hold(instruction);
  next_ = instruction + 1;
}

void Replacements::hold(std::uint32_t load) {
  const auto to = original_.destinations(load);
  for (unsigned e = 0; e < to.size(); ++e)
    if (to[e] != no_register && read_[to[e]])
      held_[to[e]] = {load, e};
}

std::vector<std::uint32_t> Replacements::claims() const {
  std::vector<std::uint32_t> result;
  if (block_ == AddedValues::entry_block)
    return result;
  for (std::uint32_t i = next_; i < original_.cfg().blocks()[block_].end; ++i)
    if (is_replaced(i) && !settled_.contains(i))
      result.push_back(i);
    else if (!is_replaced(i) && !original_.moved_to.contains(i))
      break;
  return result;
}

// The first of them that writes an original register.
std::uint32_t Replacements::claim_writing(RegisterId reg) const {
  for (const std::uint32_t i : claims())
    if (const auto to = original_.destinations(i); std::find(to.begin(), to.end(), reg) != to.end())
      return i;
  return no_index;
}

// If it is the destination of a replaced load, that must be complete.
bool Replacements::complete(RegisterId reg) {
  if (!pending_.contains(reg))
    return true;
  const std::uint32_t claim = claim_writing(reg);
  if (claim != no_index)
    settle(claim);
  return claim != no_index;
}

const LoadedElement *Replacements::held(RegisterId reg) const {
  const auto found = held_.find(reg);
  return found == held_.end() ? nullptr : &found->second;
}

bool Replacements::put(RegisterId reg, Expr value, Expr guard) {
  // A value that is not read before the next replaced load overwrites the register is complete.
  if (const std::uint32_t claim = claim_writing(reg); claim != no_index && !guard &&
                                                      pending_.contains(reg) &&
                                                      proof::proved([&] { check_load(claim); }))
    settle(claim);
  if (claim_writing(reg) == no_index)
    return false;
  Expr &pending = pending_[reg];
  if (!pending)
    pending = values_.opaque(old_value, value->width);
  pending = guard ? original_.pool().ite(guard, value, pending) : value;
  return true;
}

void Replacements::settle(std::uint32_t load) {
  if (!settled_.insert(load).second)
    return;
  if (const auto shown = proof::proved([&] { check_load(load); }); !shown)
    unproved_.push_back({load, shown.error()});
  for (const RegisterId reg : original_.destinations(load))
    pending_.erase(reg);
  hold(load);
}

std::vector<Unproved> Replacements::unproved() const {
  std::vector<Unproved> result = unproved_;
  for (const std::uint32_t load : replaced_)
    if (!settled_.contains(load))
      result.push_back({load, unmet(Obligation::understood, "the load is never reached")});
  return result;
}

// The values that stand in the place of a replaced load are the load's.
void Replacements::check_load(std::uint32_t load) {
  const auto to = original_.destinations(load);
  const MemoryAccess *const own = original_.load(load);
  demand(!to.empty() && own, Obligation::understood, "the load is not understood");
  for (unsigned e = 0; e < to.size(); ++e) {
    if (to[e] == no_register)
      continue;
    const auto value = pending_.find(to[e]);
    demand(value != pending_.end(), Obligation::destination, "the destination is not written");
    Known runs = original_.known_in(block_);
    if (own->decided)
      runs.assume(original_.emulation.expand(own->decided), true);
    if (own->guard) {
      const Expr guard = original_.emulation.expand(own->guard);
      Known rests = runs;
      rests.assume(guard, false);
      runs.assume(guard, true);
      check_kept(value->second, rests);
    }
    int budget = case_budget;
    check(value->second, {load, e}, runs, budget);
  }
}

// Where the load did not run, the destination keeps its value (rule 12).
void Replacements::check_kept(Expr value, const Known &rests) const {
  // Every condition on the path must be known: otherwise the value might be another.
  bool sure = true;
  while (value->kind == ExprKind::ite) {
    const auto chosen = rests.decide(value->children[0]);
    sure = sure && (chosen || rests.contradictory());
    value = value->children[chosen == true ? 1 : 2];
  }
  demand(value->kind == ExprKind::symbol && !values_.load_of(value) && !values_.shuffle_of(value) &&
             original_.pool().symbols()[value->index].name == old_value,
         Obligation::destination, "the destination is written where the load did not run");
  demand(sure, Obligation::destination,
         "the destination may be written where the load did not run");
}

// Case by case: the load's own value, or a source's.
void Replacements::check(Expr value, LoadedElement load, const Known &known, int &budget) {
  if (known.contradictory() || value == values_.loaded(load))
    return;
  demand(--budget >= 0, Obligation::equal_value, "too many cases");
  if (value->kind != ExprKind::ite)
    return check_reuse(value, load, known);
  const Expr condition = value->children[0];
  for (const bool holds : {true, false}) {
    if (known.decide(condition) == !holds)
      continue;
    Known narrower = known;
    narrower.assume(condition, holds);
    check(value->children[holds ? 1 : 2], load, narrower, budget);
  }
}

void Replacements::check_reuse(Expr value, LoadedElement load, const Known &known) {
  std::optional<int> delta;
  Substitution without_shuffles(original_.pool());
  bool read_here = false;
  for_each_node(value, [&](Expr node) {
    if (node->kind != ExprKind::symbol)
      return;
    const Shuffled *const shuffle = values_.shuffle_of(node);
    if (!shuffle) {
      read_here = true;
      return;
    }
    demand(!delta || *delta == shuffle->delta, Obligation::equal_value,
           "shuffles over different distances make up one value");
    delta = shuffle->delta;
    demand(values_.is_full(*shuffle, known), Obligation::full_warp,
           "the shuffled value is used without a full warp");
    demand(shuffle->block == block_, Obligation::full_warp, "the shuffle stands in another block");
    without_shuffles.map(node, shuffle->source);
  });
  demand(!delta || !read_here, Obligation::equal_value,
         "shuffled and own values make up one value");
  const Shuffled *const alone = values_.shuffle_of(value);
  const Expr plain = alone ? alone->source : without_shuffles(value);
  const LoadedElement *const source = values_.load_of(plain);
  demand(source, Obligation::equal_value, "the value is not that of a source");
  laws_.serve(*source, load, delta.value_or(0), known);
}

} // namespace ptxasw::synth
