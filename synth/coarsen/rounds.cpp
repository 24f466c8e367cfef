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
// that each are the only one whose result gets there. What they compute is what the emulator's
// table says, modulo 2^32. The branch is never taken in a launch of G threads along an axis if what
// is compared is
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

#include "emulator/symbolic/line_evaluator.h"
#include "grammar/roles.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>

namespace ptxasw::synth {
namespace {

class RoundFinder : OfKernel {
public:
  explicit RoundFinder(const KernelContext &context)
      : OfKernel(context), evaluate_(pool_, module_), removed_(count(), false),
        writers_(kernel_.registers.size()) {
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
    results_.clear();
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

  Expr special(std::string_view name) { return pool_.uninterpreted(name, 32, {}); }

  /// What an operand holds at a place, in 32 bits; null: that is not known.
  Expr value(const Operand &operand, unsigned width, std::uint32_t place) {
    if (width != 32)
      return nullptr;
    if (operand.kind == Operand::Kind::integer)
      return pool_.constant(32, static_cast<std::uint32_t>(operand.value));
    if (operand.kind == Operand::Kind::special) {
      const std::string_view name = module_.text(operand.span),
                             what = name.substr(0, name.find('.'));
      const bool is_fixed =
          what == "%tid" || what == "%ntid" || what == "%ctaid" || what == "%nctaid";
      return is_fixed ? special(name) : nullptr;
    }
    if (!is_whole_register(operand))
      return nullptr;
    const auto from = source(operand.reg, place);
    return from ? result_of(*from) : nullptr;
  }

  /// What an instruction computes, the same whenever it does; null also where that goes into
  /// itself.
  Expr result_of(std::uint32_t i) {
    const auto [known, is_new] = results_.try_emplace(i, nullptr);
    const auto all = operands(i);
    if (!is_new || !instruction(i).well_formed || instruction(i).guard != no_register ||
        all.empty() || !is_whole_register(all[0]))
      return known->second;
    const Expr result = opcode(i).op == Op::ld
                            ? parameter(i)
                            : evaluate_(instruction(i), [&](const Operand &one, unsigned width) {
                                return value(one, width, i);
                              });
    const bool fits =
        result && result->width == 32 && bit_width(kernel_.registers[all[0].reg].type) == 32;
    return known->second = fits ? result : nullptr;
  }

  /// What is read of a parameter of the kernel, by a load of 32 bits.
  Expr parameter(std::uint32_t load) {
    const std::string_view name = opcode(load).text;
    const auto all = operands(load);
    if ((name != "ld.param.u32" && name != "ld.param.s32" && name != "ld.param.b32") ||
        all.size() != 2 || all[1].kind != Operand::Kind::address)
      return nullptr;
    const Operand &base = module_.children(all[1])[0];
    if (base.kind != Operand::Kind::symbol || module_.symbol(base).kind != Symbol::Kind::parameter)
      return nullptr;
    const std::int64_t offset = all[1].value + base.value;
    const std::uint32_t index = module_.symbol(base).index;
    if (index >= kernel_.parameters.size() || offset < 0 || offset % 4 != 0 ||
        static_cast<std::uint64_t>(offset) + 4 > kernel_.parameters[index].size())
      return nullptr;
    const Expr result = special(fmt::format("param {} {}", index, offset));
    parameters_[result] = {index, static_cast<std::uint32_t>(offset)};
    return result;
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
          return need_of(value(all[way.swapped ? 2 : 1], 32, *from),
                         value(all[way.swapped ? 1 : 2], 32, *from), way.equal);
    return std::nullopt;
  }

  /// The number in a sum, and the sum without it.
  std::pair<std::int64_t, Expr> take_number(Expr sum) {
    if (sum->kind != ExprKind::sum)
      return {0, sum};
    return {as_signed(sum->value.low, 32), pool_.sub(sum, pool_.constant(32, sum->value))};
  }

  std::optional<ArgumentCover> need_of(Expr x, Expr n, bool equal) {
    constexpr std::int64_t most = std::int64_t{1} << 28;
    if (!x || !n)
      return std::nullopt;
    const auto [h, place] = take_number(x);
    const auto [c, bound] = take_number(n);
    const std::int64_t more = h - c - (equal ? 1 : 0);
    const auto parameter = parameters_.find(bound);
    if (std::abs(h) > most || std::abs(c) > most || more < 0 || parameter == parameters_.end())
      return std::nullopt;
    ArgumentCover need = parameter->second;
    need.least = static_cast<std::uint32_t>(std::max<std::int64_t>(0, -c));
    need.more = static_cast<std::uint32_t>(more);
    for (; need.axis < 3; ++need.axis) {
      const auto own = [&](const char *what) {
        return special(fmt::format("%{}.{}", what, "xyz"[need.axis]));
      };
      if (place ==
          pool_.add(own("tid"), pool_.mul(pool_.add(own("ctaid"), own("nctaid")), own("ntid"))))
        return need;
    }
    return std::nullopt;
  }

  struct Writer {
    std::uint32_t at = 0;
    bool surely = false; ///< all of the register, and always
  };
  ExprPool pool_;
  const LineEvaluator evaluate_;
  std::map<Expr, ArgumentCover> parameters_; ///< where what is read of them lies
  std::map<std::uint32_t, Expr> results_;    ///< by instruction; null also while it is being found
  std::vector<bool> removed_; ///< by instruction: a branch that is taken for one never taken
  std::vector<std::vector<Writer>> writers_;       ///< by register
  std::vector<std::vector<std::uint32_t>> before_; ///< by instruction: those that it may follow
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
