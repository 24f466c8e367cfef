// Which loops over the grid have one round, and what of a launch makes it so.
//
//     for (i = blockIdx.x * blockDim.x + threadIdx.x + h; i < n + c; i += gridDim.x * blockDim.x)
//
// Most launches have a thread for each i. Then no thread comes back for another round, and a
// version that knows it (`once`) is straight code: nothing is kept from round to round, and the
// assembler needs half to three quarters of the registers and moves loads as it likes.
//
// A comparison decides whether there is another round. The values compared are followed to where
// they come from: parameters, special registers and numbers, by instructions that each are the only
// one whose result gets there. They are sums modulo 2^32 or 2^64. There is none in a launch of G
// threads along an axis if another round needs x < n, where
//
//     x = ctaid * ntid + tid + nctaid * ntid + h    and    n = P + c
//
// P is a parameter of 32 or 64 bits, and |h|, |c| <= 2^28. The launch must have
//
//     G <= 2^29    and    max(0, -c) <= P <= G + h - c
//
// for then 0 <= ctaid * ntid + tid < G, so x lies in G + h .. 2G + h - 1, within -2^29 .. 2^31 - 1,
// without wrapping; and 0 <= P + c <= G + h <= x, where signed and unsigned comparisons agree. If
// another round needs x <= n, P is at most G + h - c - 1.
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

#include "synth/coarsen/coarsen.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/roles.h"

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

namespace ptxasw::synth {
namespace {

/// A sum of products of what is constant for a thread, modulo 2^32 or 2^64, by its factors in
/// order. Each is multiplied by a number with a sign.
using ThreadSum = std::map<std::vector<std::string>, std::int64_t>;

constexpr std::int64_t largest_number = std::int64_t{1} << 28;
constexpr unsigned most_steps = 1000; ///< instructions that are looked at for one comparison

std::int64_t wrapped(std::uint64_t number, unsigned bits) {
  return bits == 32 ? static_cast<std::int32_t>(number) : static_cast<std::int64_t>(number);
}

void add_to(ThreadSum &sum, const std::vector<std::string> &factors, std::uint64_t count,
            unsigned bits) {
  std::int64_t &own = sum[factors];
  own = wrapped(static_cast<std::uint64_t>(own) + count, bits);
  if (own == 0)
    sum.erase(factors);
}

void add_to(ThreadSum &sum, const ThreadSum &other, std::int64_t times, unsigned bits) {
  for (const auto &[factors, count] : other)
    add_to(sum, factors, static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(times),
           bits);
}

std::optional<ThreadSum> product(const ThreadSum &a, const ThreadSum &b, unsigned bits) {
  ThreadSum result;
  for (const auto &[left, count] : a)
    for (const auto &[right, times] : b) {
      std::vector<std::string> factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      if (factors.size() > 2)
        return std::nullopt;
      std::sort(factors.begin(), factors.end());
      add_to(result, factors, static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(times),
             bits);
    }
  return result;
}

/// What is left of a sum without its number; that is between -2^28 and 2^28, or nothing is found.
std::optional<std::int64_t> take_number(ThreadSum &sum) {
  const std::vector<std::string> no_factors;
  const auto found = sum.find(no_factors);
  const std::int64_t number = found == sum.end() ? 0 : found->second;
  sum.erase(no_factors);
  return number < -largest_number || number > largest_number ? std::nullopt
                                                             : std::optional<std::int64_t>(number);
}

/// The axis, 0 for x, of factors that are at most as many as there are threads along it.
std::optional<std::uint32_t> axis_of(const std::vector<std::string> &factors) {
  for (std::uint32_t axis = 0; axis < 3; ++axis) {
    const auto name = [&](const char *what) { return fmt::format("%{}.{}", what, "xyz"[axis]); };
    for (const char *what : {"tid", "ctaid", "ntid", "nctaid"})
      if (factors == std::vector{name(what)})
        return axis;
    for (const char *blocks : {"ctaid", "nctaid"})
      if (factors == std::vector{name(blocks), name("ntid")})
        return axis;
  }
  return std::nullopt;
}

class RoundFinder : OfKernel {
public:
  explicit RoundFinder(const KernelContext &context)
      : OfKernel(context), decided_(count()), targets_(branch_targets(module_, kernel_)),
        writers_(kernel_.registers.size()), mentions_(kernel_.registers.size()) {
    for (std::uint32_t i = 0; i < count(); ++i)
      for_each_register(module_, instruction(i), [&](RegisterId reg, RegisterUse use) {
        if (mentions_[reg].empty() || mentions_[reg].back() != i)
          mentions_[reg].push_back(i);
        if (use != RegisterUse::read)
          writers_[reg].push_back({i, use == RegisterUse::written});
      });
  }

  std::vector<GridRound> run() {
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
      std::vector<GridRound> found;
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
  /// Where a thread goes on from a branch, whatever it says, as what decides about another round
  /// has one outcome.
  struct Decided {
    std::uint32_t instead = 0; ///< where it goes on
    std::uint32_t test = 0;    ///< the branch that decides
    bool stays = true;         ///< that branch leads to another round, or away from it
    std::uint32_t head = 0;    ///< where another round begins, if its test is there
    bool at_head = false;
  };

  bool is_branch(std::uint32_t i, bool guarded) const {
    return i < count() && opcode(i).op == Op::bra && instruction(i).well_formed &&
           (instruction(i).guard != no_register) == guarded;
  }
  std::uint32_t target(std::uint32_t i) const {
    return *branch_target(module_, kernel_, instruction(i));
  }

  /// A test at a loop's foot: a branch back, or around one.
  std::optional<Decided> foot(std::uint32_t i) const {
    if (!is_branch(i, true))
      return std::nullopt;
    if (target(i) <= i)
      return Decided{i + 1, i, true};
    const bool around = is_branch(i + 1, false) && target(i + 1) <= i;
    return around ? std::optional(Decided{target(i), i, false}) : std::nullopt;
  }

  /// A branch back to where a test is, which leads out of the loop, or around a branch that does.
  std::optional<Decided> head(std::uint32_t i) const {
    if (!is_branch(i, false) || target(i) > i || meetings_of(context_).any())
      return std::nullopt;
    const std::uint32_t begin = target(i);
    std::uint32_t test = begin;
    while (test < i && !is_way(opcode(test)))
      ++test;
    if (!is_branch(test, true) || !is_repeatable(begin, test))
      return std::nullopt;
    if (target(test) > i)
      return Decided{target(test), test, false, begin, true};
    const bool around = is_branch(test + 1, false) && target(test + 1) > i;
    return around ? std::optional(Decided{test + 1, test, true, begin, true}) : std::nullopt;
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
    before_.assign(count() + 1, {});
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
    while (place >= again()) {
      if (place == again() + head_) {
        place = back_;
        break;
      }
      const auto wrote = written_by(reg, instruction_at(--place));
      if (wrote)
        return *wrote ? std::optional(place) : std::nullopt;
    }
    std::optional<std::uint32_t> result;
    std::vector<bool> seen(count() + 1, false);
    std::vector<std::uint32_t> open{place};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (at == 0) // the entry, which may be a loop's head, too
        return std::nullopt;
      for (const std::uint32_t i : before_[at]) {
        if (const auto wrote = written_by(reg, i)) {
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
    std::optional<bool> surely;
    for (const Writer &writer : writers_[reg])
      if (writer.at == i)
        surely = surely.value_or(true) && writer.surely;
    return surely;
  }

  /// What an operand of so many bits holds at a place.
  std::optional<ThreadSum> value(const Operand &operand, std::uint32_t place, unsigned bits) {
    if (operand.kind == Operand::Kind::integer)
      return number(wrapped(static_cast<std::uint64_t>(operand.value), bits));
    if (operand.kind == Operand::Kind::special && bits == 32)
      return special(std::string(module_.text(operand.span)));
    if (!is_whole_register(operand) || bit_width(kernel_.registers[operand.reg].type) != bits)
      return std::nullopt;
    if (++steps_ > most_steps) // what is made of itself several times doubles them each time
      return std::nullopt;
    const auto from = source(operand.reg, place);
    if (!from || std::find(way_.begin(), way_.end(), *from) != way_.end())
      return std::nullopt;
    way_.push_back(*from);
    auto result = result_of(*from, bits);
    way_.pop_back();
    return result;
  }

  static ThreadSum number(std::int64_t value) {
    return value == 0 ? ThreadSum{} : ThreadSum{{{}, value}};
  }

  static std::optional<ThreadSum> special(const std::string &name) {
    return axis_of({name}) ? std::optional(ThreadSum{{{name}, 1}}) : std::nullopt;
  }

  /// What the instruction at a place gives a register of so many bits.
  std::optional<ThreadSum> result_of(std::uint32_t place, unsigned bits) {
    const std::uint32_t i = instruction_at(place);
    const Instruction &one = instruction(i);
    const std::string_view name = opcode(i).text;
    const auto all = operands(i);
    if (!one.well_formed || one.guard != no_register || all.size() < 2 || all.size() > 4 ||
        !is_whole_register(all[0]))
      return std::nullopt;
    // An opcode with one of the types of so many bits.
    const auto is = [&](std::string_view what, std::size_t operands) {
      return all.size() == operands && name.starts_with(what) &&
             (bits == 32
                  ? name.ends_with(".u32") || name.ends_with(".s32") || name.ends_with(".b32")
              : bits == 64
                  ? name.ends_with(".u64") || name.ends_with(".s64") || name.ends_with(".b64")
                  : false) &&
             name.size() == what.size() + 4;
    };
    const auto sum = [&](std::optional<ThreadSum> left, std::optional<ThreadSum> right,
                         std::int64_t times) {
      if (left && right)
        add_to(*left, *right, times, bits);
      return right ? left : std::nullopt;
    };
    const auto product_of = [&](std::optional<ThreadSum> left, std::optional<ThreadSum> right) {
      return left && right ? product(*left, *right, bits) : std::nullopt;
    };
    const auto own = [&](std::size_t operand) { return value(all[operand], place, bits); };
    if (is("ld.param", 2))
      return parameter(all[1], bits / 8);
    if (is("mov", 2))
      return own(1);
    if (is("add", 3))
      return sum(own(1), own(2), 1);
    if (is("sub", 3))
      return sum(own(1), own(2), -1);
    if (is("mul.lo", 3))
      return product_of(own(1), own(2));
    if (is("mad.lo", 4))
      return sum(product_of(own(1), own(2)), own(3), 1);
    if (bits == 32 && name == "cvt.u32.u64" && all.size() == 2)
      return narrowed(value(all[1], place, 64));
    if (bits != 64)
      return std::nullopt;
    const bool with_sign = name.ends_with(".s32");
    if (!with_sign && !name.ends_with(".u32"))
      return std::nullopt;
    const std::string_view what = name.substr(0, name.size() - 4);
    const auto extended = [&](std::size_t operand) {
      return this->extended(value(all[operand], place, 32), with_sign);
    };
    if (what == "ld.param" && all.size() == 2)
      return this->extended(parameter(all[1], 4), with_sign);
    if (what == (with_sign ? "cvt.s64" : "cvt.u64") && all.size() == 2)
      return extended(1);
    if (what == "mul.wide" && all.size() == 3)
      return product_of(extended(1), extended(2));
    if (what == "mad.wide" && all.size() == 4)
      return sum(product_of(extended(1), extended(2)), own(3), 1);
    return std::nullopt;
  }

  /// The lower half of what has 64 bits.
  static std::optional<ThreadSum> narrowed(const std::optional<ThreadSum> &sum) {
    ThreadSum result;
    if (sum)
      add_to(result, *sum, 1, 32);
    return sum ? std::optional(result) : std::nullopt;
  }

  /// What 32 bits are as 64; what that takes for granted is noted.
  std::optional<ThreadSum> extended(const std::optional<ThreadSum> &sum, bool with_sign) {
    std::int64_t least = 0, most = 0; // of what threads and numbers come to
    bool of_parameter = false, of_threads = false;
    if (!sum)
      return std::nullopt;
    for (const auto &[factors, count] : *sum) {
      if (factors.empty()) {
        least += count;
        most += count;
      } else if (const auto axis = axis_of(factors); axis && count >= -2 && count <= 2) {
        of_threads = true;
        extended_axes_.push_back(*axis);
        (count < 0 ? least : most) += count * max_round_threads;
      } else if (factors.size() == 1 && count == 1 && !of_parameter) {
        of_parameter = true;
        extended_parameters_.push_back(factors[0]);
      } else {
        return std::nullopt;
      }
    }
    if (of_parameter) { // P + c', where P is at most 2^30
      if (of_threads || least < -largest_number || least > largest_number)
        return std::nullopt;
      least_ = with_sign ? least_ : std::max(least_, -least);
      return sum;
    }
    constexpr std::int64_t half = std::int64_t{1} << 31;
    return least >= (with_sign ? -half : 0) && most < (with_sign ? half : 2 * half) ? sum
                                                                                    : std::nullopt;
  }

  /// What is read of a parameter of the kernel: its number, an offset and bytes, as a factor.
  std::optional<ThreadSum> parameter(const Operand &address, std::uint32_t bytes) const {
    if (address.kind != Operand::Kind::address || module_.children(address).size() != 1)
      return std::nullopt;
    const Operand &base = module_.children(address)[0];
    if (base.kind != Operand::Kind::symbol || module_.symbol(base).kind != Symbol::Kind::parameter)
      return std::nullopt;
    const std::int64_t offset = address.value + base.value;
    const std::uint32_t index = module_.symbol(base).index;
    if (index >= kernel_.parameters.size() || offset < 0 || offset % bytes != 0 ||
        static_cast<std::uint64_t>(offset) + bytes > kernel_.parameters[index].size())
      return std::nullopt;
    return ThreadSum{{{fmt::format("param {} {} {}", index, offset, bytes)}, 1}};
  }

  /// What a launch needs so that a branch goes one way.
  std::optional<ArgumentCover> need_of(std::uint32_t branch, const Decided &decided) {
    head_ = decided.head;
    back_ = branch;
    const std::uint32_t place = decided.at_head ? again() + decided.test : decided.test;
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
    struct Way {
      std::string_view name;
      bool negated, swapped, equal;
    };
    constexpr Way ways[] = {{"lt", false, false, false}, {"le", false, false, true},
                            {"gt", false, true, false},  {"ge", false, true, true},
                            {"ge", true, false, false},  {"gt", true, false, true},
                            {"le", true, true, false},   {"lt", true, true, true}};
    const bool negated = instruction(decided.test).guard_negated == decided.stays;
    for (const Way &way : ways)
      for (const char *type : {"s32", "u32", "s64", "u64"})
        if (opcode(i).text == fmt::format("setp.{}.{}", way.name, type) && negated == way.negated) {
          const unsigned bits = type[1] == '3' ? 32 : 64;
          extended_axes_.clear();
          extended_parameters_.clear();
          least_ = 0;
          steps_ = 0;
          const auto x = value(all[way.swapped ? 2 : 1], *from, bits);
          return need_of(x, value(all[way.swapped ? 1 : 2], *from, bits), way.equal);
        }
    return std::nullopt;
  }

  std::optional<ArgumentCover> need_of(std::optional<ThreadSum> x, std::optional<ThreadSum> n,
                                       bool equal) const {
    if (!x || !n)
      return std::nullopt;
    const auto h = take_number(*x), c = take_number(*n);
    if (!h || !c || n->size() != 1 || n->begin()->second != 1 || n->begin()->first.size() != 1)
      return std::nullopt;
    ArgumentCover need;
    const std::string &bound = n->begin()->first[0];
    std::istringstream words(bound);
    std::string word;
    if (!(words >> word >> need.parameter >> need.offset >> need.bytes) ||
        std::any_of(extended_parameters_.begin(), extended_parameters_.end(),
                    [&](const std::string &parameter) { return parameter != bound; }))
      return std::nullopt;
    const std::int64_t more = *h - *c - (equal ? 1 : 0);
    if (more < 0)
      return std::nullopt;
    need.least = static_cast<std::uint32_t>(std::max(least_, -*c));
    need.more = static_cast<std::uint32_t>(more);
    for (; need.axis < 3; ++need.axis) {
      const auto name = [&](const char *what) {
        return fmt::format("%{}.{}", what, "xyz"[need.axis]);
      };
      if (*x == ThreadSum{{{name("tid")}, 1},
                          {{name("ctaid"), name("ntid")}, 1},
                          {{name("nctaid"), name("ntid")}, 1}})
        return std::all_of(extended_axes_.begin(), extended_axes_.end(),
                           [&](std::uint32_t axis) { return axis == need.axis; })
                   ? std::optional(need)
                   : std::nullopt;
    }
    return std::nullopt;
  }

  struct Writer {
    std::uint32_t at = 0;
    bool surely = false; ///< all of the register, and always
  };
  std::vector<std::optional<Decided>> decided_;      ///< by instruction
  const std::vector<bool> targets_;                  ///< branch_targets()
  std::vector<std::vector<Writer>> writers_;         ///< by register
  std::vector<std::vector<std::uint32_t>> mentions_; ///< by register: instructions, in order
  std::vector<std::vector<std::uint32_t>> before_;   ///< by instruction: those that it may follow
  std::vector<std::uint32_t> way_;                   ///< places whose results are being found
  std::uint32_t head_ = 0, back_ = 0; ///< of what is looked at, if its test is at the head
  // What has been taken for granted of what is looked at: axes and parameters about which the
  // launch must be asked, and the least that the parameter may be.
  std::vector<std::uint32_t> extended_axes_;
  std::vector<std::string> extended_parameters_;
  std::int64_t least_ = 0;
  unsigned steps_ = 0;
};

} // namespace

const std::vector<GridRound> &rounds_over_grid(const KernelContext &context) {
  return context.once("rounds over the grid", [&] {
    const auto &all = context.kernel.instructions;
    const bool understood = std::all_of(all.begin(), all.end(), [&](const Instruction &one) {
      const Opcode &opcode = context.module.opcode(one);
      return opcode.op != Op::brx &&
             (!is_way(opcode) || returns(opcode) ||
              branch_target(context.module, context.kernel, one).has_value());
    });
    return understood ? RoundFinder(context).run() : std::vector<GridRound>();
  });
}

std::vector<ArgumentCover> needs_of_rounds(const std::vector<GridRound> &rounds) {
  std::vector<ArgumentCover> needs;
  for (const GridRound &round : rounds)
    if (std::find(needs.begin(), needs.end(), round.need) == needs.end())
      needs.push_back(round.need);
  return needs;
}

} // namespace ptxasw::synth
