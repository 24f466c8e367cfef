// Which loops over the grid have one round, and what of a launch makes it so.
//
//     for (i = blockIdx.x * blockDim.x + threadIdx.x + h; i < n + c; i += gridDim.x * blockDim.x)
//
// Most launches have a thread for each i. Then no thread comes back for another round, and a
// version that knows it (`once`) is straight code: nothing is kept from round to round, and the
// assembler needs half to three quarters of the registers and moves loads as it likes.
//
// A branch leads back, to its own place or before it, if a comparison holds. The values compared
// are followed to where they come from: parameters, special registers and numbers, by instructions
// that each are the only one whose result gets there. They are sums modulo 2^32. The branch is
// never taken in a launch of G threads along an axis if what is compared is
//
//     x = ctaid * ntid + tid + nctaid * ntid + h    and    n = P + c
//
// with x < n for the next round, P a parameter, and |h|, |c| <= 2^28. The launch must have
//
//     G <= 2^29    and    max(0, -c) <= P <= G + h - c
//
// for then 0 <= ctaid * ntid + tid < G, so x lies in G + h .. 2G + h - 1, within -2^29 .. 2^31 - 1,
// without wrapping; and 0 <= P + c <= G + h <= x, where signed and unsigned comparisons agree. With
// x <= n for the next round P is at most G + h - c - 1.
//
// What gets to a place is found in a control flow without these branches, of all such loops
// together. That is right: if any of them was ever taken, look at the first time. Until then the
// thread went through that control flow, so the values were those, and the comparison failed. A
// branch that turns out not to be one is put back and the others are looked at again. No
// instruction's result goes into itself on the way, so the values depend on nothing but what is
// constant for the thread, in whatever loops the instructions stand.

#include "synth/coarsen/coarsen.h"

#include "grammar/roles.h"

#include <algorithm>
#include <map>
#include <string>

namespace ptxasw::synth {
namespace {

/// A sum of products of what is constant for a thread, modulo 2^32, by its factors in order.
using ThreadSum = std::map<std::vector<std::string>, std::uint32_t>;

void add_to(ThreadSum &sum, const ThreadSum &other, std::uint32_t times) {
  for (const auto &[factors, count] : other)
    if ((sum[factors] += count * times) == 0)
      sum.erase(factors);
}

std::optional<ThreadSum> product(const ThreadSum &a, const ThreadSum &b) {
  ThreadSum result;
  for (const auto &[left, count] : a)
    for (const auto &[right, times] : b) {
      std::vector<std::string> factors = left;
      factors.insert(factors.end(), right.begin(), right.end());
      if (factors.size() > 2)
        return std::nullopt;
      std::sort(factors.begin(), factors.end());
      if ((result[factors] += count * times) == 0)
        result.erase(factors);
    }
  return result;
}

/// What is left of a sum without its number; the number is between -2^28 and 2^28, or nothing is
/// found.
std::optional<std::int64_t> take_number(ThreadSum &sum) {
  const std::vector<std::string> no_factors;
  const auto found = sum.find(no_factors);
  const auto number = found == sum.end() ? 0 : static_cast<std::int32_t>(found->second);
  constexpr std::int64_t most = std::int64_t{1} << 28;
  sum.erase(no_factors);
  return number < -most || number > most ? std::nullopt : std::optional<std::int64_t>(number);
}

class RoundFinder : OfKernel {
public:
  explicit RoundFinder(const KernelContext &context)
      : OfKernel(context), removed_(count(), false), writers_(kernel_.registers.size()) {
    for (std::uint32_t i = 0; i < count(); ++i)
      for_each_register(module_, instruction(i), [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          writers_[reg].push_back({i, use == RegisterUse::written});
      });
  }

  std::vector<GridRound> run() {
    for (std::uint32_t i = 0; i < count(); ++i)
      removed_[i] = leads_back(i);
    while (true) {
      find_before();
      std::vector<GridRound> found;
      bool all = true;
      for (std::uint32_t i = 0; i < count(); ++i)
        if (removed_[i]) {
          if (const auto need = need_of(i))
            found.push_back({i, *need});
          else
            all = removed_[i] = false;
        }
      if (all)
        return found;
    }
  }

private:
  bool leads_back(std::uint32_t i) const {
    const auto target = branch_target(module_, kernel_, instruction(i));
    return opcode(i).op == Op::bra && target && *target <= i &&
           instruction(i).guard != no_register && instruction(i).well_formed;
  }

  void find_before() {
    before_.assign(count() + 1, {});
    for (std::uint32_t i = 0; i < count(); ++i)
      for (const std::uint32_t next : next_after(module_, kernel_, i))
        if (!removed_[i] || next == i + 1)
          before_[next].push_back(i);
  }

  /// The one instruction that writes a register and whose result gets to a place; nothing if there
  /// are several, if it may not write, or if the register may have nothing there.
  std::optional<std::uint32_t> source(RegisterId reg, std::uint32_t place) const {
    std::optional<std::uint32_t> result;
    std::vector<bool> seen(count() + 1, false);
    std::vector<std::uint32_t> open{place};
    while (!open.empty()) {
      const std::uint32_t at = open.back();
      open.pop_back();
      if (at == 0) // the entry, which may be a loop's head, too
        return std::nullopt;
      for (const std::uint32_t i : before_[at]) {
        const auto &writers = writers_[reg];
        const auto own = std::find_if(writers.begin(), writers.end(),
                                      [&](const Writer &writer) { return writer.at == i; });
        if (own != writers.end()) {
          const bool surely =
              std::all_of(writers.begin(), writers.end(),
                          [&](const Writer &writer) { return writer.at != i || writer.surely; });
          if (!surely || (result && *result != i))
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

  std::optional<ThreadSum> value(const Operand &operand, std::uint32_t place) {
    if (operand.kind == Operand::Kind::integer)
      return number(static_cast<std::uint32_t>(operand.value));
    if (operand.kind == Operand::Kind::special)
      return special(std::string(module_.text(operand.span)));
    if (!is_whole_register(operand))
      return std::nullopt;
    const auto from = source(operand.reg, place);
    if (!from || std::find(way_.begin(), way_.end(), *from) != way_.end())
      return std::nullopt;
    way_.push_back(*from);
    auto result = result_of(*from);
    way_.pop_back();
    return result;
  }

  static ThreadSum number(std::uint32_t value) {
    return value == 0 ? ThreadSum{} : ThreadSum{{{}, value}};
  }

  static std::optional<ThreadSum> special(const std::string &name) {
    for (const char *what : {"%tid.", "%ntid.", "%ctaid.", "%nctaid."})
      for (const char *axis : {"x", "y", "z"})
        if (name == std::string(what) + axis)
          return ThreadSum{{{name}, 1}};
    return std::nullopt;
  }

  std::optional<ThreadSum> result_of(std::uint32_t i) {
    const Instruction &one = instruction(i);
    const std::string_view name = opcode(i).text;
    const auto all = operands(i);
    if (!one.well_formed || one.guard != no_register || all.size() < 2 ||
        !is_whole_register(all[0]))
      return std::nullopt;
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    if (is_one_of({"ld.param.u32", "ld.param.s32", "ld.param.b32"}) && all.size() == 2)
      return parameter(all[1]);
    if (is_one_of({"mov.u32", "mov.s32", "mov.b32"}) && all.size() == 2)
      return value(all[1], i);
    if (all.size() < 3)
      return std::nullopt;
    auto left = value(all[1], i);
    const auto right = left ? value(all[2], i) : std::nullopt;
    if (!right)
      return std::nullopt;
    if (is_one_of({"add.s32", "add.u32", "sub.s32", "sub.u32"}) && all.size() == 3) {
      add_to(*left, *right, name.starts_with("add") ? 1u : ~0u);
      return left;
    }
    if (is_one_of({"mul.lo.s32", "mul.lo.u32"}) && all.size() == 3)
      return product(*left, *right);
    if (is_one_of({"mad.lo.s32", "mad.lo.u32"}) && all.size() == 4) {
      auto sum = product(*left, *right);
      const auto last = sum ? value(all[3], i) : std::nullopt;
      if (!last)
        return std::nullopt;
      add_to(*sum, *last, 1);
      return sum;
    }
    return std::nullopt;
  }

  /// What is read of a parameter of the kernel: its number and an offset, as a factor.
  std::optional<ThreadSum> parameter(const Operand &address) const {
    if (address.kind != Operand::Kind::address || module_.children(address).size() != 1)
      return std::nullopt;
    const Operand &base = module_.children(address)[0];
    if (base.kind != Operand::Kind::symbol || module_.symbol(base).kind != Symbol::Kind::parameter)
      return std::nullopt;
    const std::int64_t offset = address.value + base.value;
    const std::uint32_t index = module_.symbol(base).index;
    if (index >= kernel_.parameters.size() || offset < 0 || offset % 4 != 0 ||
        static_cast<std::uint64_t>(offset) + 4 > kernel_.parameters[index].size())
      return std::nullopt;
    return ThreadSum{{{fmt::format("param {} {}", index, offset)}, 1}};
  }

  /// What a launch needs so that a branch is never taken.
  std::optional<ArgumentCover> need_of(std::uint32_t branch) {
    const RegisterId guard = instruction(branch).guard;
    const auto from = source(guard, branch);
    if (!from || instruction(*from).guard != no_register || !instruction(*from).well_formed)
      return std::nullopt;
    const auto all = operands(*from);
    if (all.size() != 3 || !is_whole_register(all[0]) || all[0].reg != guard)
      return std::nullopt;
    // x < n, x <= n, or the like the other way round; taken if it holds, or unless it does.
    struct Way {
      std::string_view name;
      bool negated, swapped, equal;
    };
    constexpr Way ways[] = {{"lt", false, false, false}, {"le", false, false, true},
                            {"gt", false, true, false},  {"ge", false, true, true},
                            {"ge", true, false, false},  {"gt", true, false, true},
                            {"le", true, true, false},   {"lt", true, true, true}};
    for (const Way &way : ways)
      for (const char *type : {"s32", "u32"})
        if (opcode(*from).text == fmt::format("setp.{}.{}", way.name, type) &&
            instruction(branch).guard_negated == way.negated)
          return need_of(value(all[way.swapped ? 2 : 1], *from),
                         value(all[way.swapped ? 1 : 2], *from), way.equal);
    return std::nullopt;
  }

  static std::optional<ArgumentCover> need_of(std::optional<ThreadSum> x,
                                              std::optional<ThreadSum> n, bool equal) {
    if (!x || !n)
      return std::nullopt;
    const auto h = take_number(*x), c = take_number(*n);
    if (!h || !c || n->size() != 1 || n->begin()->second != 1 || n->begin()->first.size() != 1)
      return std::nullopt;
    ArgumentCover need;
    const std::string &bound = n->begin()->first[0];
    if (!bound.starts_with("param "))
      return std::nullopt;
    const std::size_t space = bound.rfind(' ');
    need.parameter = static_cast<std::uint32_t>(std::stoul(bound.substr(6, space - 6)));
    need.offset = static_cast<std::uint32_t>(std::stoul(bound.substr(space + 1)));
    const std::int64_t more = *h - *c - (equal ? 1 : 0);
    if (more < 0)
      return std::nullopt;
    need.least = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -*c));
    need.more = static_cast<std::uint32_t>(more);
    for (; need.axis < 3; ++need.axis) {
      const auto name = [&](const char *what) {
        return fmt::format("%{}.{}", what, "xyz"[need.axis]);
      };
      if (*x == ThreadSum{{{name("tid")}, 1},
                          {{name("ctaid"), name("ntid")}, 1},
                          {{name("nctaid"), name("ntid")}, 1}})
        return need;
    }
    return std::nullopt;
  }

  struct Writer {
    std::uint32_t at = 0;
    bool surely = false; ///< all of the register, and always
  };
  std::vector<bool> removed_; ///< by instruction: a branch that is taken for one never taken
  std::vector<std::vector<Writer>> writers_;       ///< by register
  std::vector<std::vector<std::uint32_t>> before_; ///< by instruction: those that it may follow
  std::vector<std::uint32_t> way_;                 ///< instructions whose results are being found
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
