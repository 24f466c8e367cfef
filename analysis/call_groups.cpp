// Copies that one thread runs call one after the other, each with its own arguments. What may be
// called:
//
//   - a function of the module that only computes (analysis/plain_calls.h), reads no memory that
//     anybody writes and writes none but its own: each call gives what it gives in the kernel;
//   - `vprintf`, which reads what it is given and gives a number that its arguments decide (CUDA
//   C++
//     Programming Guide, "Formatted Output": nothing orders lines of different threads);
//   - `__assertfail`, which ends the launch. Nothing orders what other blocks do before it.
//
// Not `malloc`: a version has the memory of several blocks at a time, and may find none left where
// the kernel finds some. Nor `free`: who runs kernel and version on one memory, to compare them,
// would free twice.
//
// Arguments lie in variables that the calls of all copies use one after the other, so what belongs
// to a call stands together: stores of arguments right before it, loads of results right behind it
// (PTX ISA 7.1), with no other way into their midst. All else that such variables could be used for
// is not understood.
//
// An assertion tells the block that the GPU runs, which is a version's; so a version prints the
// kernel's before it.

#include "analysis/call_groups.h"

#include "analysis/plain_calls.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/calls.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::analysis {
namespace {

/// Looks at a kernel's calls.
class CallFinder : facts::OfKernel {
public:
  explicit CallFinder(const facts::KernelContext &context)
      : facts::OfKernel(context), plain_(module_), entered_(branch_targets(module_, kernel_)) {}

  Calls find() {
    Calls calls;
    for (std::uint32_t i = 0; i < count() && !calls.unknown; ++i)
      if (opcode(i).op == Op::call) {
        CallGroup group;
        if (understand(i, group))
          calls.groups.push_back(group);
        else
          calls.unknown = i;
      }
    for (std::uint32_t i = 0; i < count() && !calls.unknown; ++i)
      if (any_operand(module_, operands(i), [&](const Operand &one) { return passing(one); }) &&
          !calls.of(i))
        calls.unknown = i;
    return calls;
  }

private:
  const Variable *passing(const Operand &operand) const {
    if (operand.kind != Operand::Kind::symbol || operand.value != 0 ||
        module_.symbol(operand).kind != Symbol::Kind::function_variable)
      return nullptr;
    const Variable *const variable = module_.variable(module_.symbol(operand));
    return variable && variable->space == StateSpace::param ? variable : nullptr;
  }

  /// What `[variable+offset]` names.
  const Variable *place(const Operand &operand) const {
    return operand.kind == Operand::Kind::address && operand.child_count == 1
               ? passing(module_.children(operand)[0])
               : nullptr;
  }

  /// Which function a call runs, and what is passed.
  struct Parts {
    const Operand *callee = nullptr;
    std::vector<const Variable *> arguments, results;
  };

  std::optional<Parts> parts_of(const Instruction &call) const {
    Parts parts;
    for (const Operand &operand : module_.operands(call)) {
      if (operand.kind == Operand::Kind::symbol && !parts.callee) {
        parts.callee = &operand;
        continue;
      }
      if (operand.kind != Operand::Kind::group)
        return std::nullopt;
      auto &list = parts.callee ? parts.arguments : parts.results;
      if (!list.empty())
        return std::nullopt;
      for (const Operand &child : module_.children(operand))
        list.push_back(passing(child));
    }
    std::vector<const Variable *> all = parts.arguments;
    all.insert(all.end(), parts.results.begin(), parts.results.end());
    std::sort(all.begin(), all.end());
    const bool sound = parts.callee && std::find(all.begin(), all.end(), nullptr) == all.end() &&
                       std::adjacent_find(all.begin(), all.end()) == all.end();
    return sound ? std::optional(std::move(parts)) : std::nullopt;
  }

  /// An instruction passes an argument (`op` is a store, and the place its first operand) or takes
  /// a result (a load, the second): all else in it is registers and numbers, and it has no guard.
  bool passes(std::uint32_t i, Op op, std::size_t at,
              const std::vector<const Variable *> &list) const {
    const Instruction &one = instruction(i);
    const Opcode &opcode = module_.opcode(one);
    const auto operands = module_.operands(one);
    return opcode.op == op && opcode.space == StateSpace::param && one.well_formed &&
           one.guard == no_register && effect_of(opcode) != Effect::sync && operands.size() == 2 &&
           place(operands[at]) &&
           std::find(list.begin(), list.end(), place(operands[at])) != list.end() &&
           !any_operand(module_, operands.subspan(1 - at, 1), [](const Operand &operand) {
             return operand.kind == Operand::Kind::symbol || operand.kind == Operand::Kind::special;
           });
  }

  bool understand(std::uint32_t at, CallGroup &group) {
    const Instruction &call = instruction(at);
    const Opcode &opcode = module_.opcode(call);
    if (!call.well_formed || call.guard != no_register ||
        (opcode.text != "call" && opcode.text != "call.uni"))
      return false;
    const auto parts = parts_of(call);
    if (!parts)
      return false;
    group.first = group.call = at;
    while (group.first > 0 && !entered_[group.first] &&
           passes(group.first - 1, Op::st, 0, parts->arguments))
      --group.first;
    group.end = at + 1;
    while (group.end < count() && !entered_[group.end] &&
           passes(group.end, Op::ld, 1, parts->results))
      ++group.end;
    for (const Variable *const argument : parts->arguments)
      if (!is_complete(*argument, group))
        return false;
    return is_known_callee(call, *parts, group);
  }

  /// The stores of a group give each byte of an argument a value. What they leave out might be what
  /// an earlier call left there, of whichever copy.
  bool is_complete(const Variable &argument, const CallGroup &group) const {
    std::vector<bool> given(argument.size(), false);
    for (std::uint32_t i = group.first; i < group.call; ++i) {
      const Operand &to = module_.operands(instruction(i))[0];
      const Opcode &opcode = module_.opcode(instruction(i));
      if (place(to) != &argument || to.value < 0)
        continue;
      const auto at = [&](std::uint64_t byte) {
        return given.begin() + static_cast<std::ptrdiff_t>(std::min(byte, argument.size()));
      };
      const auto begin = static_cast<std::uint64_t>(to.value);
      std::fill(at(begin), at(begin + opcode.bytes()), true);
    }
    return std::find(given.begin(), given.end(), false) == given.end();
  }

  bool is_known_callee(const Instruction &call, const Parts &parts, CallGroup &group) {
    const Symbol &symbol = module_.symbol(*parts.callee);
    if (symbol.kind != Symbol::Kind::function)
      return false;
    const Function &callee = module_.functions[symbol.index];
    if (callee.has_body)
      return plain_.is_plain(call) && keeps_to_itself(callee, 0);
    const auto is = [&](std::string_view name, std::size_t arguments, std::size_t results) {
      return symbol.name == name && callee.linkage == Linkage::external &&
             parts.arguments.size() == arguments && parts.results.size() == results;
    };
    if (is("vprintf", 2, 1)) {
      group.kind = CallGroup::Kind::print;
      group.printed = passes_whole(parts.arguments[1], group);
      return true;
    }
    group.kind = CallGroup::Kind::assertion;
    return is("__assertfail", 5, 0);
  }

  /// A function reads what nobody writes and its own, writes its own, and asks nothing of the lanes
  /// that are there; those that it calls, too.
  bool keeps_to_itself(const Function &function, unsigned depth) {
    constexpr unsigned most_depth = 8;
    if (depth > most_depth)
      return false;
    for (const Instruction &one : function.instructions) {
      const Opcode &opcode = module_.opcode(one);
      const bool own = opcode.space == StateSpace::param || opcode.space == StateSpace::local;
      if ((opcode.op == Op::ld && !own && !reads_constant_memory(opcode)) ||
          (opcode.op == Op::st && !own) || (one.guard != no_register && wants_agreement(opcode)) ||
          names_outside_local(module_.operands(one)))
        return false;
      if (opcode.op == Op::call) {
        const Function *const callee = CallTargets(module_).of(one);
        if (!callee || !keeps_to_itself(*callee, depth + 1))
          return false;
      }
    }
    return true;
  }

  /// A variable in local memory that is of no function is one for all calls of a thread.
  bool names_outside_local(std::span<const Operand> operands) const {
    return any_operand(module_, operands, [&](const Operand &operand) {
      if (operand.kind != Operand::Kind::symbol)
        return false;
      const Symbol &symbol = module_.symbol(operand);
      const Variable *const variable = module_.variable(symbol);
      return variable && symbol.kind == Symbol::Kind::module_variable &&
             variable->space == StateSpace::local;
    });
  }

  /// The one store of a group that passes an argument of 64 bits; no_index: there are several.
  std::uint32_t passes_whole(const Variable *argument, const CallGroup &group) const {
    std::uint32_t found = no_index;
    for (std::uint32_t i = group.first; i < group.call; ++i) {
      const Operand &to = operands(i)[0];
      if (place(to) != argument)
        continue;
      if (found != no_index || to.value != 0 || bit_width(opcode(i).type) != 64 ||
          opcode(i).vector != 1)
        return no_index;
      found = i;
    }
    return found;
  }

  PlainCalls plain_;
  std::vector<bool> entered_; ///< by instruction: a branch leads to it
};

} // namespace

const CallGroup *Calls::of(std::uint32_t instruction) const {
  const auto found = std::find_if(groups.begin(), groups.end(), [&](const CallGroup &group) {
    return group.first <= instruction && instruction < group.end;
  });
  return found == groups.end() ? nullptr : &*found;
}

const Calls &calls_of(const facts::KernelContext &context) {
  return context.once("", [&] { return CallFinder(context).find(); });
}

std::vector<Symbol> passing_variables(const Module &module, const Function &kernel) {
  std::vector<Symbol> all;
  const auto function = static_cast<std::uint32_t>(&kernel - module.functions.data());
  for (std::uint32_t i = 0; i < kernel.variables.size(); ++i)
    if (kernel.variables[i].space == StateSpace::param)
      all.push_back({Symbol::Kind::function_variable, kernel.variables[i].name, function, i});
  return all;
}

} // namespace ptxasw::analysis
