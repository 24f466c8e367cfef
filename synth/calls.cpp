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
// An assertion tells the block that the GPU runs. A version adds to the function's name how the
// kernel's block is found from that; so the name must be known.

#include "synth/calls.h"

#include "analysis/plain_calls.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/calls.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

constexpr std::size_t longest_name = 512; ///< what is told is cut after 1,024

/// Looks at a kernel's calls.
class CallFinder : OfKernel {
public:
  explicit CallFinder(const KernelContext &context)
      : OfKernel(context), plain_(module_), entered_(branch_targets(module_, kernel_)) {}

  Calls find() {
    Calls calls;
    for (std::uint32_t i = 0; i < count() && !calls.unknown; ++i)
      if (opcode(i).op == Op::call) {
        CallGroup group;
        if (understand(i, group))
          calls.groups.push_back(std::move(group));
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
      group.special = passes_whole(parts.arguments[1], group);
      return true;
    }
    group.kind = CallGroup::Kind::assertion;
    return is("__assertfail", 5, 0) && find_name(parts, group);
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

  /// The name of the function that an assertion passes, its fourth argument, of bytes (the fifth).
  bool find_name(const Parts &parts, CallGroup &group) const {
    const std::uint32_t bytes = passes_whole(parts.arguments[4], group);
    group.special = passes_whole(parts.arguments[3], group);
    if (bytes == no_index || group.special == no_index)
      return false;
    const Operand &size = operands(bytes)[1], &name = operands(group.special)[1];
    return size.kind == Operand::Kind::integer && size.value == 1 &&
           name.kind == Operand::Kind::reg && text_at(name.reg, group.text);
  }

  /// The text whose address a register holds, whenever it holds any.
  bool text_at(RegisterId reg, std::string &text) const {
    const Operand *from = nullptr;
    for (unsigned steps = 0; steps < 4 && (!from || from->kind == Operand::Kind::reg); ++steps) {
      const std::uint32_t writer = context_.only_writers()[from ? from->reg : reg];
      if (writer == no_index || !copies_address(instruction(writer)))
        return false;
      from = &operands(writer)[1];
    }
    if (from->kind != Operand::Kind::symbol)
      return false;
    const Variable *const variable = module_.variable(module_.symbol(*from));
    if (!variable || variable->space != StateSpace::global || bit_width(variable->type) != 8 ||
        variable->values.empty() ||
        variable->linkage != Linkage::internal || // nobody else puts another text there
        !is_only_told(module_.symbol(*from)))
      return false;
    for (const InitialValue &value : variable->values) {
      if (value.bits == 0 && value.symbol == no_index)
        return true;
      // What is printed of other bytes is not they.
      if (value.symbol != no_index || value.bits < ' ' || value.bits > '~' ||
          text.size() >= longest_name)
        return false;
      text += static_cast<char>(value.bits);
    }
    return text.size() < variable->size(); // what has no value is zero
  }

  /// Returns true if where a variable of the module is, nobody learns but `__assertfail` and
  /// `vprintf`, which only read. So it holds what the module says.
  bool is_only_told(const Symbol &variable) const {
    for (const Variable &other : module_.variables)
      for (const InitialValue &value : other.values)
        if (value.symbol != no_index && is_same(module_.symbols[value.symbol], variable))
          return false;
    return std::all_of(module_.functions.begin(), module_.functions.end(),
                       [&](const Function &function) { return only_passes(function, variable); });
  }

  static bool is_same(const Symbol &one, const Symbol &other) {
    return one.kind == other.kind && one.index == other.index;
  }

  /// All that names a variable in a function, or reads a copy of its address, copies that or passes
  /// it to those two.
  bool only_passes(const Function &function, const Symbol &variable) const {
    std::vector<bool> has(function.registers.size(), false);
    const auto knows = [&](const Instruction &one) {
      bool reads = any_operand(module_, module_.operands(one), [&](const Operand &operand) {
        return operand.kind == Operand::Kind::symbol && is_same(module_.symbol(operand), variable);
      });
      // What a guard may leave as it was is read, too.
      for_each_register(module_, one, [&](RegisterId reg, RegisterUse use) {
        reads = reads || (has[reg] && use != RegisterUse::written);
      });
      return reads;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction &one : function.instructions)
        if (copies_address(one) && knows(one)) {
          changed = changed || !has[module_.operands(one)[0].reg];
          has[module_.operands(one)[0].reg] = true;
        }
    }
    for (std::uint32_t i = 0; i < function.instructions.size(); ++i)
      if (const Instruction &one = function.instructions[i];
          knows(one) && !copies_address(one) && !is_passed_at(function, i))
        return false;
    return true;
  }

  /// An instruction stores an argument of one of those two.
  bool is_passed_at(const Function &function, std::uint32_t at) const {
    const auto is_store = [&](std::uint32_t i) {
      const Opcode &opcode = module_.opcode(function.instructions[i]);
      return opcode.op == Op::st && opcode.space == StateSpace::param;
    };
    if (!is_store(at))
      return false;
    while (at < function.instructions.size() && is_store(at))
      ++at;
    return at < function.instructions.size() &&
           module_.opcode(function.instructions[at]).op == Op::call &&
           calls_driver(module_, function.instructions[at]);
  }

  bool copies_address(const Instruction &one) const {
    const std::string_view opcode = module_.opcode(one).text;
    const auto operands = module_.operands(one);
    return (opcode == "mov.u64" || opcode == "mov.b64" || opcode == "cvta.global.u64") &&
           one.well_formed && one.guard == no_register && operands.size() == 2 &&
           operands[0].kind == Operand::Kind::reg &&
           (operands[1].kind == Operand::Kind::reg || operands[1].value == 0);
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

const Calls &calls_of(const KernelContext &context) {
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

} // namespace ptxasw::synth
