// Which loops over the grid have one iteration, and what of a launch makes it so.
//
//     for (i = blockIdx.x * blockDim.x + threadIdx.x + h; i < n + c; i += gridDim.x * blockDim.x)
//
// Most launches have a thread for each i. Then no thread comes back for another iteration, and a
// version that knows it (`once`) is straight code: nothing is kept from round to round, and the
// assembler needs half to three quarters of the registers and moves loads as it likes.
//
// A comparison decides whether there is another iteration. The values compared are followed to
// where they come from: parameters, special registers and numbers, by instructions that each are
// the only one whose result gets there; what each computes says the emulator's table. They are sums
// modulo 2^32 or 2^64. There is none in a launch of G threads along an axis if another iteration
// needs x < n, where
//
//     x = ctaid * ntid + tid + nctaid * ntid + h    and    n = P + c
//
// P is a parameter of 32 or 64 bits, and |h|, |c| <= 2^28. The launch must have
//
//     G <= 2^29    and    max(0, -c) <= P <= G + h - c
//
// for then 0 <= ctaid * ntid + tid < G, so x lies in G + h .. 2G + h - 1, within -2^29 .. 2^31 - 1,
// without wrapping; and 0 <= P + c <= G + h <= x, where signed and unsigned comparisons agree. If
// another iteration needs x <= n, P is at most G + h - c - 1.
//
// Where 32 bits become 64, the sum modulo 2^32 is taken as the number that it is with signed
// factors: tid, ctaid * ntid and nctaid * ntid are at most 2^29 each in such a launch, so what is
// made of them, or of P + c', is known to lie in what the extension leaves alone, or nothing is
// found. What is extended without a sign must not be negative, so P is at least -c', too. All that
// is extended is of the one axis and of the one parameter about which the launch is asked.
//
// The branch that decides stands
//   - at the loop's foot, and leads back, to its own place or before it;
//   - at the foot, and leads away from a branch back that stands behind it;
//   - at the loop's head, and a branch leads back to it or to instructions before it that compute
//     what is read nowhere else, all of it anew each time. Then a thread may as well go on where
//     the loop ends as soon as it would go back.
//
// What gets to a place is found in a control flow in which all such branches go one way, of all
// such loops together. That is right: if any of them ever went the other way, look at the first
// time. Until then the thread went through that control flow, so the values were those, and the
// comparison came out as was said. A branch that turns out not to be one is put back and the others
// are looked at again. No instruction's result goes into itself on the way, so the values depend on
// nothing but what is constant for the thread, in whatever loops the instructions stand.

#include "emulator/facts/grid_iterations.h"

#include "emulator/facts/convergence_points.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "emulator/symbolic/address.h"
#include "emulator/symbolic/line_evaluator.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>
#include <string>

namespace ptxasw::facts {
namespace {

constexpr std::int64_t largest_number = std::int64_t{1} << 28;
constexpr unsigned steps_of_comparison =
    1000; ///< instructions that are looked at for one comparison

/// An axis, in expressions of a thread's place.
struct Axis {
  std::vector<Expr> bounded;    ///< what is at most as much as there are threads along it
  Expr another_round = nullptr; ///< x of another iteration, less h; of 64 bits
};

/// The number that is added in an expression.
std::int64_t added_in(Expr expr) {
  return expr->kind == ExprKind::constant || expr->kind == ExprKind::sum
             ? as_signed(expr->value.low, expr->width)
             : 0;
}

/// How much more one expression is than another one: a number between -2^28 and 2^28, or nothing is
/// found.
std::optional<std::int64_t> more_than(ExprPool &pool, Expr expr, Expr other) {
  const Expr more = pool.sub(expr, other);
  const std::int64_t number = added_in(more);
  return more->kind != ExprKind::constant || number < -largest_number || number > largest_number
             ? std::nullopt
             : std::optional(number);
}

class IterationFinder : OfKernel {
public:
  explicit IterationFinder(const KernelContext &context)
      : OfKernel(context), evaluate_(pool_, module_), decided_(count()),
        targets_(branch_targets(module_, kernel_)), writers_(kernel_.registers.size()),
        mentions_(kernel_.registers.size()) {
    for (const char axis : {'x', 'y', 'z'}) {
      const auto special = [&](const char *what) {
        return specials_[fmt::format("%{}.{}", what, axis)] = pool_.symbol(what, 32);
      };
      const Expr tid = special("tid"), ntid = special("ntid");
      const Expr ctaid = special("ctaid"), nctaid = special("nctaid");
      const Expr first = pool_.mul(ctaid, ntid), all = pool_.mul(nctaid, ntid);
      axes_.push_back({{tid, ntid, ctaid, nctaid, first, all},
                       pool_.add(pool_.add(wide(first), wide(all)), wide(tid))});
    }
    for (std::uint32_t i = 0; i < count(); ++i)
      for_each_register(module_, instruction(i), [&](RegisterId reg, RegisterUse use) {
        if (mentions_[reg].empty() || mentions_[reg].back() != i)
          mentions_[reg].push_back(i);
        if (use != RegisterUse::read)
          writers_[reg].try_emplace(i, true).first->second &= use == RegisterUse::written;
      });
  }

  std::vector<GridIteration> run() {
    for (std::uint32_t i = 0; i < count(); ++i)
      decided_[i] = foot(i);
    for (std::uint32_t i = 0; i < count(); ++i)
      if (const auto found = head(i)) {
        decided_[i] = found;
        if (i > 0 && decided_[i - 1] && !decided_[i - 1]->stays) // not by what it says
          decided_[i - 1].reset();
      }
    while (true) {
      find_before();
      std::vector<GridIteration> found;
      bool all = true;
      for (std::uint32_t i = 0; i < count(); ++i)
        if (decided_[i]) {
          if (const auto need = need_of(i, *decided_[i])) {
            found.push_back({i, decided_[i]->instead, *need});
          } else {
            decided_[i].reset();
            all = false;
          }
        }
      if (all)
        return found;
    }
  }

private:
  /// Where a thread goes on from a branch, whatever it says, as what decides about another
  /// iteration has one outcome.
  struct Decided {
    std::uint32_t instead = 0; ///< where it goes on
    std::uint32_t test = 0;    ///< the branch that decides
    bool stays = true;         ///< that branch leads to another iteration, or away from it
    std::optional<std::uint32_t> head =
        {}; ///< where another iteration begins, if its test is there
  };

  /// Where a branch leads that has a guard, or has none; nothing for what is no such branch.
  std::optional<std::uint32_t> way(std::uint32_t i, bool guarded) const {
    return i < count() && (instruction(i).guard != no_register) == guarded
               ? branch_target(module_, kernel_, instruction(i))
               : std::nullopt;
  }

  /// A test at a loop's foot: a branch back, or around one.
  std::optional<Decided> foot(std::uint32_t i) const {
    const auto target = way(i, true), behind = way(i + 1, false);
    if (target && *target <= i)
      return Decided{i + 1, i, true};
    return target && behind && *behind <= i ? std::optional(Decided{*target, i, false})
                                            : std::nullopt;
  }

  /// A branch back to where a test is, which leads out of the loop, or around a branch that does.
  std::optional<Decided> head(std::uint32_t i) const {
    const auto begin = way(i, false);
    if (!begin || *begin > i || meetings_of(context_).any())
      return std::nullopt;
    std::uint32_t test = *begin;
    while (test < i && !is_way(opcode(test)))
      ++test;
    const auto target = way(test, true), behind = way(test + 1, false);
    if (!target || !is_repeatable(*begin, test))
      return std::nullopt;
    if (*target > i)
      return Decided{*target, test, false, begin};
    return behind && *behind > i ? std::optional(Decided{test + 1, test, true, begin})
                                 : std::nullopt;
  }

  /// Returns true if nobody can tell whether a thread runs the instructions from `begin` to a test
  /// once more before it leaves the loop there: they compute what is read nowhere else, and all of
  /// it is written before it is read.
  bool is_repeatable(std::uint32_t begin, std::uint32_t test) const {
    for (std::uint32_t i = begin; i < test; ++i) {
      if (targets_[i + 1] || !instruction(i).well_formed || !is_pure(opcode(i)) ||
          emulator::uses_carry(opcode(i)))
        return false;
      for (const RegisterId reg : written_registers(module_, instruction(i)))
        if (mentions_[reg].front() < begin || mentions_[reg].back() > test ||
            !is_written_first(reg))
          return false;
    }
    return true;
  }

  /// Returns true if the first instruction that mentions a register writes all of it, always, and
  /// does not read it.
  bool is_written_first(RegisterId reg) const {
    bool all = true;
    for_each_register(module_, instruction(mentions_[reg].front()),
                      [&](RegisterId other, RegisterUse use) {
                        all = all && (other != reg || use == RegisterUse::written);
                      });
    return all;
  }

  void find_before() {
    before_.assign(2 * (std::size_t{count()} + 1), {});
    for (std::uint32_t place = again() + 1; place < before_.size(); ++place)
      before_[place] = {place - 1};
    for (std::uint32_t i = 0; i < count(); ++i)
      if (decided_[i])
        before_[decided_[i]->instead].push_back(i);
      else
        for (const std::uint32_t next : next_after(module_, kernel_, i))
          before_[next].push_back(i);
  }

  // Places are instructions; behind `again()` they are those from a loop's head to its test, come
  // to by the branch back that is looked at.
  std::uint32_t again() const { return count() + 1; }
  std::uint32_t instruction_at(std::uint32_t place) const {
    return place < again() ? place : place - again();
  }

  /// The one instruction that writes a register and whose result gets to a place, as a place;
  /// nothing if there are several, if it may not write, or if the register may have nothing there.
  std::optional<std::uint32_t> source(RegisterId reg, std::uint32_t place) const {
    std::optional<std::uint32_t> result;
    std::vector<bool> seen(before_.size(), false);
    std::vector<std::uint32_t> open{place};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (at == 0) // the entry, which may be a loop's head, too
        return std::nullopt;
      for (const std::uint32_t i : before_[at]) {
        if (const auto wrote = written_by(reg, instruction_at(i))) {
          if (!*wrote || (result && *result != i))
            return std::nullopt;
          result = i;
        } else if (!seen[i]) {
          seen[i] = true;
          open.push_back(i);
        }
      }
    }
    return result;
  }

  /// Nothing if an instruction does not write a register, or whether it surely writes all of it.
  std::optional<bool> written_by(RegisterId reg, std::uint32_t i) const {
    const auto found = writers_[reg].find(i);
    return found == writers_[reg].end() ? std::nullopt : std::optional(found->second);
  }

  /// What an operand of so many bits holds at a place; null: that is not known.
  Expr value(const Operand &operand, std::uint32_t place, unsigned bits) {
    if (bits != 32 && bits != 64)
      return nullptr;
    if (operand.kind == Operand::Kind::integer)
      return pool_.constant(bits, static_cast<std::uint64_t>(operand.value));
    if (operand.kind == Operand::Kind::special && bits == 32)
      if (const auto found = specials_.find(module_.text(operand.span)); found != specials_.end())
        return found->second;
    if (!is_whole_register(operand) || bit_width(kernel_.registers[operand.reg].type) != bits)
      return nullptr;
    if (++steps_ >
        steps_of_comparison) // what is made of itself several times doubles them each time
      return nullptr;
    const auto from = source(operand.reg, place);
    if (!from || std::find(way_.begin(), way_.end(), *from) != way_.end())
      return nullptr;
    way_.push_back(*from);
    const Expr result = result_of(*from, bits);
    way_.pop_back();
    return result;
  }

  /// What the instruction at a place gives a register of so many bits.
  Expr result_of(std::uint32_t place, unsigned bits) {
    const std::uint32_t i = instruction_at(place);
    const Instruction &one = instruction(i);
    const auto all = operands(i);
    if (!one.well_formed || one.guard != no_register || all.size() < 2 ||
        !is_whole_register(all[0]))
      return nullptr;
    if (opcode(i).op == Op::ld)
      return loaded(opcode(i), all[1], bits);
    const std::string_view name = opcode(i).text;
    if (!is_one_of(opcode(i).op, {Op::mov, Op::add, Op::sub, Op::mul, Op::mad}) &&
        name != "cvt.u32.u64" && name != "cvt.u64.u32" && name != "cvt.s64.s32")
      return nullptr;
    const Expr result = evaluate_(
        one, [&](const Operand &operand, unsigned width) { return value(operand, place, width); });
    return result && result->width == bits ? with_extended(result) : nullptr;
  }

  /// The same with everything that is made of 32 bits for 64 as the sum that it is.
  Expr with_extended(Expr expr) {
    Substitution extensions(pool_);
    bool known = true;
    for_each_node(expr, [&](Expr node) {
      if (node->width != 64 || (node->kind != ExprKind::sext && node->kind != ExprKind::zext))
        return;
      const Expr sum = extended(node->children[0], node->kind == ExprKind::sext);
      known = known && sum;
      if (sum)
        extensions.map(node, sum);
    });
    return known ? extensions(expr) : nullptr;
  }

  /// A factor of a sum of 32 bits in one of 64: each is the number that it is without a sign.
  Expr wide(Expr factor) {
    if (factor->kind == ExprKind::product)
      return pool_.mul(wide(factor->children[0]), wide(factor->children[1]));
    const bool is_low = factor->kind == ExprKind::extract && factor->index == 0;
    return is_low ? factor->children[0] : pool_.zext(factor, 64);
  }

  /// What 32 bits are as 64; what that takes for granted is noted.
  Expr extended(Expr sum, bool with_sign) {
    if (sum->width != 32)
      return nullptr;
    Expr result = pool_.constant(64, static_cast<std::uint64_t>(added_in(sum)));
    std::int64_t least = added_in(sum), most = least; // of what threads and numbers come to
    bool of_parameter = false, of_threads = false;
    for (const auto &summand : summands(sum)) {
      const Expr factor = summand.first; // clang 14 captures no binding
      const std::int64_t count = as_signed(summand.second, sum->width);
      const auto axis = std::find_if(axes_.begin(), axes_.end(), [&](const Axis &one) {
        return std::find(one.bounded.begin(), one.bounded.end(), factor) != one.bounded.end();
      });
      if (axis != axes_.end() && count >= -2 && count <= 2) {
        of_threads = true;
        extended_axes_.insert(static_cast<std::uint32_t>(axis - axes_.begin()));
        (count < 0 ? least : most) += count * max_round_threads;
      } else if (parameters_.contains(wide(factor)) && count == 1 && !of_parameter) {
        of_parameter = true;
        extended_parameters_.insert(wide(factor));
      } else {
        return nullptr;
      }
      result = pool_.add(
          result, pool_.mul(wide(factor), pool_.constant(64, static_cast<std::uint64_t>(count))));
    }
    if (of_parameter) { // P + c', where P is at most 2^30
      if (of_threads || least < -largest_number || least > largest_number)
        return nullptr;
      least_ = with_sign ? least_ : std::max(least_, -least);
      return result;
    }
    constexpr std::int64_t half = std::int64_t{1} << 31;
    return least >= (with_sign ? -half : 0) && most < (with_sign ? half : 2 * half) ? result
                                                                                    : nullptr;
  }

  /// What is read of a parameter of the kernel, for a register of so many bits.
  Expr loaded(const Opcode &opcode, const Operand &address, unsigned bits) {
    const unsigned own = bit_width(opcode.type);
    if (!opcode.text.starts_with("ld.param.") || opcode.text.size() != 12 ||
        is_float(opcode.type) || (own != 32 && own != 64) ||
        address.kind != Operand::Kind::address || module_.children(address).size() != 1)
      return nullptr;
    const Operand &base = module_.children(address)[0];
    if (base.kind != Operand::Kind::symbol || module_.symbol(base).kind != Symbol::Kind::parameter)
      return nullptr;
    const std::int64_t offset = address.value + base.value;
    const std::uint32_t index = module_.symbol(base).index, bytes = own / 8;
    if (index >= kernel_.parameters.size() || offset < 0 || offset % bytes != 0 ||
        static_cast<std::uint64_t>(offset) + bytes > kernel_.parameters[index].size())
      return nullptr;
    Expr &read = read_[{index, static_cast<std::uint32_t>(offset), bytes}];
    if (!read) {
      read = pool_.symbol("parameter", own);
      ArgumentCover &need = parameters_[pool_.zext(read, 64)];
      need.parameter = index;
      need.offset = static_cast<std::uint32_t>(offset);
      need.bytes = bytes;
    }
    if (own == bits)
      return read;
    return own == 32 && opcode.type != ScalarType::b32 ? extended(read, is_signed(opcode.type))
                                                       : nullptr;
  }

  /// What a launch needs so that a branch goes one way.
  std::optional<ArgumentCover> need_of(std::uint32_t branch, const Decided &decided) {
    if (decided.head)
      before_[again() + *decided.head] = {branch};
    const std::uint32_t place = decided.head ? again() + decided.test : decided.test;
    const RegisterId guard = instruction(decided.test).guard;
    const auto from = source(guard, place);
    if (!from)
      return std::nullopt;
    const std::uint32_t i = instruction_at(*from);
    const auto all = operands(i);
    if (instruction(i).guard != no_register || !instruction(i).well_formed || all.size() != 3 ||
        !is_whole_register(all[0]) || all[0].reg != guard)
      return std::nullopt;
    // x < n, x <= n, or the like the other way round; another round if it holds, or unless it does.
    constexpr std::string_view comparisons = "lt. le. gt. ge. ", types = "s32 u32 s64 u64 ";
    const std::string_view text = opcode(i).text;
    if (text.size() != 11 || !text.starts_with("setp.") ||
        comparisons.find(text.substr(5, 3)) % 4 != 0 || types.find(text.substr(8)) % 4 != 0)
      return std::nullopt;
    const bool negated = instruction(decided.test).guard_negated == decided.stays;
    const bool is_less = (text[5] == 'l') != negated, or_equal = (text[6] == 'e') != negated;
    const unsigned bits = text[9] == '3' ? 32 : 64;
    extended_axes_.clear();
    extended_parameters_.clear();
    least_ = 0;
    steps_ = 0;
    const Expr x = value(all[is_less ? 1 : 2], *from, bits);
    const Expr n = value(all[is_less ? 2 : 1], *from, bits);
    return x && n ? need_of(x, n, or_equal) : std::nullopt;
  }

  std::optional<ArgumentCover> need_of(Expr x, Expr n, bool equal) {
    const auto in_width = [&](Expr of_64) { return pool_.truncate(of_64, x->width); };
    for (const auto &[parameter, about] : parameters_)
      for (std::uint32_t axis = 0; axis < axes_.size(); ++axis) {
        const auto h = more_than(pool_, x, in_width(axes_[axis].another_round));
        const auto c = more_than(pool_, n, in_width(parameter));
        if (!h || !c)
          continue;
        const std::int64_t more = *h - *c - (equal ? 1 : 0);
        if (more < 0 || extended_axes_.size() > extended_axes_.count(axis) ||
            extended_parameters_.size() > extended_parameters_.count(parameter))
          return std::nullopt;
        ArgumentCover need = about;
        need.axis = axis;
        need.least = static_cast<std::uint32_t>(std::max(least_, -*c));
        need.more = static_cast<std::uint32_t>(more);
        return need;
      }
    return std::nullopt;
  }

  ExprPool pool_;
  std::map<std::string, Expr, std::less<>> specials_; ///< by name
  std::vector<Axis> axes_;                            ///< x, y, z
  const LineEvaluator evaluate_;
  std::map<std::array<std::uint32_t, 3>, Expr> read_; ///< parameters by number, offset and bytes
  std::map<Expr, ArgumentCover> parameters_; ///< the same of 64 bits: what a launch is asked about
  std::vector<std::optional<Decided>> decided_; ///< by instruction
  const std::vector<bool> targets_;             ///< branch_targets()
  /// By register: its writers, and do they write all of it, always?
  std::vector<std::map<std::uint32_t, bool>> writers_;
  std::vector<std::vector<std::uint32_t>> mentions_; ///< by register: instructions, in order
  std::vector<std::vector<std::uint32_t>> before_;   ///< by place: those that it may follow
  std::vector<std::uint32_t> way_;                   ///< places whose results are being found
  // What has been taken for granted of what is looked at: axes and parameters about which the
  // launch must be asked, and the least that the parameter may be.
  std::set<std::uint32_t> extended_axes_;
  std::set<Expr> extended_parameters_;
  std::int64_t least_ = 0;
  unsigned steps_ = 0;
};

} // namespace

const std::vector<GridIteration> &rounds_over_grid(const KernelContext &context) {
  return context.once("rounds over the grid", [&] {
    const auto &all = context.kernel.instructions;
    const bool understood = std::all_of(all.begin(), all.end(), [&](const Instruction &one) {
      const Opcode &opcode = context.module.opcode(one);
      return opcode.op != Op::brx &&
             (!is_way(opcode) || returns(opcode) ||
              branch_target(context.module, context.kernel, one).has_value());
    });
    return understood ? IterationFinder(context).run() : std::vector<GridIteration>();
  });
}

std::vector<ArgumentCover> needs_of_rounds(const std::vector<GridIteration> &rounds) {
  std::vector<ArgumentCover> needs;
  for (const GridIteration &round : rounds)
    if (std::find(needs.begin(), needs.end(), round.need) == needs.end())
      needs.push_back(round.need);
  return needs;
}

} // namespace ptxasw::facts
