// A register that is written once in a loop, without a guard, is understood from that place: where
// the place lies before the reader in every iteration, by what is computed there; where it lies
// behind it and is passed once an iteration, as a progression, if what is computed is the register
// itself plus something that does not change. A register that is not written in the loop holds what
// it held.
//
// 32-bit values are kept modulo 2^32 until they are widened. They are then the integer that the
// polynomial says if that lies within 32 bits. It is linear in the iteration, so it does in all
// iterations if it does in the first and in the last: both are tested.
//
// The number of iterations follows from one branch that leaves the loop and is passed in every
// iteration. It compares y_i = y_0 + i * c with h, which does not change. Let c > 0 and the loop go
// on where y_i <= h'. If y_0 is exact, and h' + c does not wrap around, then by induction all y_i
// up to the first that fails are exact, and those that pass are the i <= (h' - y_0) / c. What runs
// behind the branch in iteration k has passed it k + 1 times, all else k times. The same holds
// downwards. Where the loop goes on as long as y_i != h, it leaves at i = (h - y_0) / c, if that is
// a whole number and not negative; the y_i up to there lie between y_0 and h.
//
// Let t be a load's address less the store's in iteration 0, as a signed number of 64 bits, and d
// what the store's address grows by until the last iteration more than the load's, |d| < 9e18. The
// load's w bytes and the store's v bytes have something in common in an iteration in which -w < t'
// < v for their distance t' then, modulo 2^64. As integers all t' lie between t and t - d, so t >=
// max(d, 0) + v or t <= min(d, 0) - w excludes that; nothing comes around the end of 2^64, as |t -
// d| < 2^63 + 9e18.
//
// What a load has read in the iteration before lies one step of its address behind: the load is
// looked at as one that reads there. Where load and store go on by the same amount d is 0, whatever
// it is.
//
// Two accesses whose addresses go on by the same amount go to the same place in all iterations if
// they do in one. Where either is not seen from the registers but may be so (loop_guess.h), it is
// tested.

#include "emulator/facts/loop_values.h"

#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace ptxasw::facts {
namespace {

constexpr std::int64_t narrow_least = -(std::int64_t{1} << 31), narrow_most = -1 - narrow_least;
constexpr double magnitude_limit = 9e18; // 2^63 is 9.22e18
constexpr unsigned effort = 2'000;
constexpr std::uint32_t self_mark = 1U << 31;

/// The least value of a sum of single atoms; nothing if it is another polynomial, or so large that
/// a double does not hold it.
std::optional<double> least(const Polynomial &value, const Atoms &atoms) {
  if (atoms.magnitude(value) > 4e15)
    return std::nullopt;
  double sum = 0;
  for (const auto &[product, factor] : value.terms()) {
    const auto signed_factor = static_cast<double>(static_cast<std::int64_t>(factor));
    if (product.size() > 1)
      return std::nullopt;
    if (product.empty()) {
      sum += signed_factor;
      continue;
    }
    const Atom &atom = atoms[product[0]];
    if (atom.kind == Atom::Kind::narrow)
      sum += signed_factor * static_cast<double>(signed_factor > 0 ? narrow_least : narrow_most);
    else if (atom.kind != Atom::Kind::rounds || signed_factor < 0)
      return std::nullopt;
  }
  return sum;
}

bool is_marked(const Polynomial &value, const Atoms &atoms) {
  for (const auto &[product, factor] : value.terms())
    for (const AtomId one : product)
      if (const Atom &atom = atoms[one];
          (atom.leaf & self_mark) != 0 || is_marked(atom.distance, atoms))
        return true;
  return false;
}

std::optional<Progress> sum(const std::optional<Progress> &a, const std::optional<Progress> &b) {
  if (!a || !b)
    return std::nullopt;
  return Progress{a->first + b->first, a->step + b->step};
}

std::optional<Progress> product(const std::optional<Progress> &a,
                                const std::optional<Progress> &b) {
  if (!a || !b || (!a->step.is_zero() && !b->step.is_zero()))
    return std::nullopt;
  return Progress{a->first * b->first, a->first * b->step + a->step * b->first};
}

std::optional<Progress> narrowed(const std::optional<Progress> &a) {
  if (!a)
    return std::nullopt;
  return Progress{narrow(a->first), narrow(a->step)};
}

const Progress minus_one{Polynomial(-1), {}};

} // namespace

/// A branch that decides whether the loop goes on: while `counter` compares so with `limit`.
struct LoopValues::Guard {
  enum class Test : std::uint8_t { at_most, at_least, differs } test = Test::differs;
  Polynomial first; ///< of the counter: y_0
  std::int64_t step = 0;
  Polynomial limit; ///< h', or h of `differs`
  BlockId block = 0;
  std::vector<Condition> conditions;
};

LoopValues::LoopValues(const Module &module, const Function &function, const ControlFlowGraph &cfg,
                       LoopId loop, Atoms &atoms)
    : module_(module), function_(function), cfg_(cfg), loop_(loop), atoms_(atoms),
      guess_(module, function, cfg, loop), definitions_(function.registers.size()) {
  for (const BlockId block : blocks_in(cfg, loop))
    for (std::uint32_t i = cfg.blocks()[block].first; i < cfg.blocks()[block].end; ++i)
      for_each_register(module, function.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read)
          return;
        definitions_[reg].push_back(i);
        if (use == RegisterUse::may_be_written)
          definitions_[reg].push_back(i);
      });
}

bool LoopValues::runs_in_each_round(std::uint32_t instruction) const {
  return function_.instructions[instruction].guard == no_register &&
         cfg_.in_each_round(loop_, cfg_.block_of(instruction));
}

std::optional<std::uint32_t> LoopValues::definition(RegisterId reg) const {
  return definitions_[reg].size() == 1 ? std::optional(definitions_[reg][0]) : std::nullopt;
}

bool LoopValues::precedes(std::uint32_t earlier, std::uint32_t later) const {
  const BlockId a = cfg_.block_of(earlier), b = cfg_.block_of(later);
  return a == b ? earlier < later : cfg_.dominates(a, b);
}

bool LoopValues::reaches(BlockId from, BlockId to) const {
  return reached_from(cfg_, from,
                      [&](BlockId, BlockId next) {
                        return next != cfg_.loops()[loop_].header && cfg_.contains(loop_, next);
                      })
      .contains(to);
}

std::optional<Progress> LoopValues::value(RegisterId reg, std::uint32_t at, unsigned bits) {
  const Register &declared = function_.registers[reg];
  // What is written computes with the register, which no integer instruction takes if it is real.
  if (bit_width(declared.type) != bits || is_float(declared.type) || declared.vector != 1 ||
      budget_ == 0)
    return std::nullopt;
  --budget_;
  if (definitions_[reg].empty())
    return Progress{bits == 64 ? atoms_.word(reg) : atoms_.narrow(reg), {}};
  const auto place = definition(reg);
  if (!place)
    return std::nullopt;
  return precedes(*place, at) ? computed(*place) : progression(reg, *place, at);
}

std::optional<Progress> LoopValues::progression(RegisterId reg, std::uint32_t definition,
                                                std::uint32_t at) {
  const BlockId block = cfg_.block_of(definition), reader = cfg_.block_of(at);
  if (cfg_.loop_of(block) != loop_ || !cfg_.in_each_round(loop_, block) ||
      (block != reader && reaches(block, reader)))
    return std::nullopt;
  const bool wide = bit_width(function_.registers[reg].type) == 64;
  const std::uint32_t mark = self_mark | reg;
  const Polynomial self = wide ? atoms_.word(mark) : atoms_.narrow(mark);
  if (in_progress_.contains(reg))
    return Progress{self, {}};
  in_progress_.insert(reg);
  const auto next = computed(definition);
  in_progress_.erase(reg);
  if (!next || !next->step.is_zero())
    return std::nullopt;
  const Polynomial step = next->first - self;
  if (is_marked(step, atoms_))
    return std::nullopt;
  return Progress{wide ? atoms_.word(reg) : atoms_.narrow(reg), step};
}

std::optional<Progress> LoopValues::operand(const Operand &operand, std::uint32_t at,
                                            unsigned bits) {
  if (operand.negated || operand.selector != 0)
    return std::nullopt;
  if (operand.kind == Operand::Kind::reg)
    return value(operand.reg, at, bits);
  if (operand.kind != Operand::Kind::integer)
    return std::nullopt;
  const Polynomial number(operand.value);
  return Progress{bits == 64 ? number : narrow(number), {}};
}

std::optional<Progress> LoopValues::computed(std::uint32_t instruction) {
  const Instruction &one = function_.instructions[instruction];
  const Opcode &opcode = module_.opcode(one);
  const auto operands = module_.operands(one);
  if (!one.well_formed || operands.size() < 2 || operands[0].kind != Operand::Kind::reg ||
      operands[0].selector != 0)
    return std::nullopt;
  const std::string_view text = opcode.text;
  const unsigned bits = bit_width(function_.registers[operands[0].reg].type);
  const auto source = [&](std::size_t i, unsigned width) {
    return i < operands.size() ? operand(operands[i], instruction, width) : std::nullopt;
  };
  const auto is = [&](std::string_view name) {
    return text == fmt::format("{}.s{}", name, bits) || text == fmt::format("{}.u{}", name, bits);
  };
  const auto kept = [&](const std::optional<Progress> &result) {
    return bits == 64 ? result : narrowed(result);
  };
  if (bits != 32 && bits != 64)
    return std::nullopt;
  if (opcode.op == Op::mov && opcode.modifiers.size() == 1 && bit_width(opcode.type) == bits)
    return source(1, bits);
  if (is("add"))
    return kept(sum(source(1, bits), source(2, bits)));
  if (is("sub"))
    return kept(sum(source(1, bits), product(source(2, bits), minus_one)));
  if (is("mul.lo"))
    return kept(product(source(1, bits), source(2, bits)));
  if (is("mad.lo"))
    return kept(sum(product(source(1, bits), source(2, bits)), source(3, bits)));
  if ((text == "shl.b32" || text == "shl.b64") && bit_width(opcode.type) == bits &&
      operands.size() == 3 && operands[2].kind == Operand::Kind::integer &&
      operands[2].value >= 0 && operands[2].value < static_cast<std::int64_t>(bits))
    return kept(product(source(1, bits), Progress{Polynomial(static_cast<std::int64_t>(
                                                      std::uint64_t{1} << operands[2].value)),
                                                  {}}));
  if (bits != 64)
    return std::nullopt;
  if (text == "cvt.s64.s32" || text == "cvt.u64.s32")
    return widened(source(1, 32), true);
  if (text == "cvt.u64.u32" || text == "cvt.s64.u32")
    return widened(source(1, 32), false);
  for (const bool is_signed : {true, false}) {
    const std::string type = is_signed ? ".s32" : ".u32";
    if (text != "mul.wide" + type && text != "mad.wide" + type)
      continue;
    const auto scaled =
        product(widened(source(1, 32), is_signed), widened(source(2, 32), is_signed));
    return opcode.op == Op::mul ? scaled : sum(scaled, source(3, 64));
  }
  return std::nullopt;
}

bool LoopValues::require(Polynomial not_negative) {
  if (const auto known = least(not_negative, atoms_); known && *known >= 0)
    return true;
  if (not_negative.number() || is_marked(not_negative, atoms_) ||
      atoms_.magnitude(not_negative) > magnitude_limit)
    return false;
  Condition condition;
  condition.value = std::move(not_negative);
  conditions_.push_back(std::move(condition));
  return true;
}

bool LoopValues::require_narrow(const Polynomial &value, bool is_signed) {
  return require(value - Polynomial(is_signed ? narrow_least : 0)) &&
         require(Polynomial(narrow_most) - value);
}

std::optional<Progress> LoopValues::widened(const std::optional<Progress> &narrow, bool is_signed) {
  if (!narrow || !require_narrow(narrow->first, is_signed))
    return std::nullopt;
  if (narrow->step.is_zero())
    return narrow;
  const auto last = rounds();
  return last && require_narrow(narrow->first + *last * narrow->step, is_signed) ? narrow
                                                                                 : std::nullopt;
}

std::optional<LoopValues::Guard> LoopValues::guard_of(BlockId block) {
  const BasicBlock &one = cfg_.blocks()[block];
  if (one.branch == no_index || one.successors.size() != 2 || cfg_.loop_of(block) != loop_ ||
      !cfg_.in_each_round(loop_, block) ||
      cfg_.contains(loop_, one.successors[0]) == cfg_.contains(loop_, one.successors[1]))
    return std::nullopt;
  const Instruction &branch = function_.instructions[one.branch];
  if (branch.guard == no_register)
    return std::nullopt;
  bool stays = cfg_.contains(loop_, one.successors[0]) != branch.guard_negated;
  std::uint32_t at = one.branch;
  RegisterId predicate = branch.guard;
  const Instruction *comparison = nullptr;
  while (!comparison) {
    const auto place = definition(predicate);
    if (!place || !precedes(*place, at))
      return std::nullopt;
    const Instruction &maker = function_.instructions[*place];
    const auto operands = module_.operands(maker);
    at = *place;
    if (module_.opcode(maker).op == Op::setp) {
      comparison = &maker;
    } else if ((module_.opcode(maker).text == "not.pred" ||
                module_.opcode(maker).text == "mov.pred") &&
               operands.size() == 2 && operands[1].kind == Operand::Kind::reg &&
               !operands[1].negated) {
      stays = stays != (module_.opcode(maker).text == "not.pred");
      predicate = operands[1].reg;
    } else {
      return std::nullopt;
    }
  }
  const Opcode &opcode = module_.opcode(*comparison);
  const auto operands = module_.operands(*comparison);
  if (opcode.modifiers.size() != 2 || operands.size() != 3 ||
      operands[0].kind != Operand::Kind::reg || bit_width(opcode.type) != 32 ||
      is_float(opcode.type))
    return std::nullopt;
  std::string_view test = opcode.modifiers[0];
  const bool is_unsigned = opcode.type == ScalarType::u32;
  conditions_.clear();
  auto counter = operand(operands[1], at, 32), limit = operand(operands[2], at, 32);
  if (!counter || !limit)
    return std::nullopt;
  bool less = test == "lt" || test == "le" || test == "lo" || test == "ls";
  const bool greater = test == "gt" || test == "ge" || test == "hi" || test == "hs";
  bool equal = test == "le" || test == "ge" || test == "ls" || test == "hs" || test == "eq";
  if (!less && !greater && test != "eq" && test != "ne")
    return std::nullopt;
  if (!stays) { // goes on where the comparison does not hold
    less = greater;
    equal = !equal;
  }
  const bool ordered = test != "eq" && test != "ne";
  if (counter->step.is_zero()) {
    std::swap(counter, limit);
    less = !less;
  }
  const auto step = counter->step.number();
  if (!step || *step == 0 || !limit->step.is_zero() || (!ordered && equal))
    return std::nullopt;
  Guard guard;
  guard.block = block;
  guard.first = counter->first;
  guard.step = *step;
  guard.limit = limit->first;
  if (!require_narrow(guard.first, !is_unsigned) || !require_narrow(guard.limit, !is_unsigned))
    return std::nullopt;
  if (ordered) {
    if (less != (*step > 0))
      return std::nullopt;
    guard.test = less ? Guard::Test::at_most : Guard::Test::at_least;
    if (!equal)
      guard.limit = guard.limit + Polynomial(less ? -1 : 1);
    if (!require_narrow(guard.limit + Polynomial(*step), !is_unsigned))
      return std::nullopt;
  }
  guard.conditions = conditions_;
  return guard;
}

std::optional<Polynomial> LoopValues::rounds_of(const Guard &guard, bool passed) {
  const bool up = guard.step > 0;
  const std::int64_t step = up ? guard.step : -guard.step;
  Polynomial distance = up ? guard.limit - guard.first : guard.first - guard.limit;
  conditions_.insert(conditions_.end(), guard.conditions.begin(), guard.conditions.end());
  if (guard.test == Guard::Test::differs) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(step)) || !require(distance))
      return std::nullopt;
    if (step > 1) {
      Condition whole;
      whole.kind = Condition::Kind::multiple;
      whole.value = distance;
      whole.of = step;
      conditions_.push_back(std::move(whole));
    }
    if (passed)
      distance = distance - Polynomial(step);
  } else if (!passed) {
    distance = distance + Polynomial(step);
  }
  if (atoms_.magnitude(distance) > magnitude_limit)
    return std::nullopt;
  Polynomial rounds = atoms_.rounds(std::move(distance), step);
  return require(Polynomial(most_rounds) - rounds) ? std::optional(rounds) : std::nullopt;
}

std::optional<Polynomial> LoopValues::rounds() {
  // Counters are looked at anew: what is found so far waits.
  const std::vector<Condition> so_far = std::move(conditions_);
  const std::set<RegisterId> in_progress = std::move(in_progress_);
  in_progress_.clear();
  std::optional<Polynomial> result;
  std::vector<Condition> found;
  const BlockId reader = cfg_.block_of(access_);
  for (BlockId block = 0; block < cfg_.blocks().size() && !result; ++block) {
    if (!cfg_.reachable(block) || !cfg_.contains(loop_, block))
      continue;
    const auto guard = guard_of(block);
    if (!guard)
      continue;
    conditions_.clear();
    result = rounds_of(*guard, guard->block != reader && cfg_.dominates(guard->block, reader));
    found = conditions_;
  }
  in_progress_ = in_progress;
  conditions_ = so_far;
  conditions_.insert(conditions_.end(), found.begin(), found.end());
  return result;
}

const LoopValues::Place &LoopValues::place_of(std::uint32_t instruction) {
  const auto [found, added] = places_.try_emplace(instruction);
  Place &place = found->second;
  const Operand *const operand_of = address_in(module_, function_.instructions[instruction]);
  if (!added || !operand_of)
    return place;
  conditions_.clear();
  in_progress_.clear();
  budget_ = effort;
  access_ = instruction;
  if (const auto base = operand(module_.children(*operand_of)[0], instruction, 64)) {
    place.address = Progress{base->first + Polynomial(operand_of->value), base->step};
    place.conditions = conditions_;
  }
  return place;
}

std::optional<Progress> LoopValues::address(std::uint32_t instruction,
                                            std::vector<Condition> &conditions) {
  const Place &place = place_of(instruction);
  conditions.insert(conditions.end(), place.conditions.begin(), place.conditions.end());
  return place.address;
}

std::optional<Polynomial> LoopValues::last_round(std::uint32_t instruction,
                                                 std::vector<Condition> &conditions) {
  conditions_.clear();
  in_progress_.clear();
  budget_ = effort;
  access_ = instruction;
  auto last = rounds();
  conditions.insert(conditions.end(), conditions_.begin(), conditions_.end());
  return last;
}

std::optional<std::vector<Condition>> LoopValues::meets(std::uint32_t load, std::uint32_t access,
                                                        unsigned ago) {
  std::vector<Condition> conditions;
  const auto read = address(load, conditions), later = address(access, conditions);
  if (!read || !later || !require_zero(read->step - later->step, conditions) ||
      !require_zero(read->first - Polynomial(ago) * read->step - later->first, conditions))
    return std::nullopt;
  return conditions;
}

bool LoopValues::require_zero(Polynomial value, std::vector<Condition> &conditions) const {
  if (value.is_zero())
    return true;
  if (value.number() || is_marked(value, atoms_) || !guess_.is_zero(value, atoms_))
    return false;
  Condition condition;
  condition.kind = Condition::Kind::zero;
  condition.value = std::move(value);
  conditions.push_back(std::move(condition));
  return true;
}

std::optional<std::vector<Condition>> LoopValues::apart(std::uint32_t load, std::uint32_t store,
                                                        unsigned ago) {
  std::vector<Condition> conditions;
  const auto read = address(load, conditions);
  if (!read)
    return std::nullopt;
  const auto written = address(store, conditions);
  if (!written)
    return std::nullopt;
  const auto bytes = [&](std::uint32_t i) {
    return module_.opcode(function_.instructions[i]).bytes();
  };
  Condition apart;
  apart.kind = Condition::Kind::apart;
  apart.value = read->first - Polynomial(ago) * read->step - written->first;
  apart.loaded = bytes(load);
  apart.stored = bytes(store);
  if (apart.loaded == 0 || apart.stored == 0)
    return std::nullopt;
  if (const Polynomial away = written->step - read->step; !require_zero(away, conditions)) {
    const auto last = last_round(store, conditions);
    if (!last)
      return std::nullopt;
    apart.way = *last * away;
    if (atoms_.magnitude(apart.way) > magnitude_limit)
      return std::nullopt;
  }
  if (const auto distance = apart.value.number(); distance && apart.way.is_zero()) {
    if (*distance < apart.stored && -*distance < apart.loaded)
      return std::nullopt;
    return conditions;
  }
  conditions.push_back(std::move(apart));
  return conditions;
}

} // namespace ptxasw::facts
