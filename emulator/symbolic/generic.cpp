// Decides which generic addresses are global. Only the module's own `cvta` and called external
// functions can create another one; hosts pass none. From there it is followed, as taint: into what
// is computed from it or chosen by it, whatever the way through the code. If it may be stored, as a
// value, memory holds such addresses, and all that is loaded is tainted; if a branch asks for it,
// everything is. What is left comes from the kernel's parameters, from what the machine is asked,
// and from memory that holds the addresses of the host, and these are global.

#include "emulator/symbolic/generic.h"

#include "emulator/semantics/effects.h"
#include "emulator/symbolic/calls.h"
#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::emulator {
namespace {

/// True if an instruction may make a generic address that is not global.
bool may_make_another(const Module &module, const Instruction &instruction) {
  const Opcode &opcode = module.opcode(instruction);
  if (opcode.op == Op::cvta)
    return !opcode.has(Modifier::to) && opcode.space != StateSpace::global &&
           opcode.space != StateSpace::constant;
  // The shared memory of another block of the cluster; an unknown space or opcode.
  return opcode.op == Op::mapa || first_operand(opcode) == FirstOperand::unknown;
}

class Taint {
public:
  using Registers = std::vector<std::vector<bool>>; ///< by function

  explicit Taint(const Module &module) : module_(module), targets_(module) {}

  /// Empty if nothing creates another address.
  Registers run() {
    if (!any_source())
      return {};
    for (const Function &function : module_.functions)
      tainted_.push_back(unwritten(function));
    for (bool changed = true; changed && !everything_;) {
      changed = false;
      for (std::size_t f = 0; f < tainted_.size(); ++f)
        for (const Instruction &instruction : module_.functions[f].instructions)
          changed |= follow(f, instruction);
    }
    if (everything_)
      for (std::vector<bool> &registers : tainted_)
        registers.assign(registers.size(), true);
    return std::move(tainted_);
  }

private:
  bool any_source() const {
    return std::any_of(
        module_.functions.begin(), module_.functions.end(), [&](const Function &function) {
          return std::any_of(function.instructions.begin(), function.instructions.end(),
                             [&](const Instruction &instruction) {
                               return may_make_another(module_, instruction) ||
                                      calls_stranger(instruction);
                             });
        });
  }

  bool calls_stranger(const Instruction &instruction) const {
    return module_.opcode(instruction).op == Op::call && !targets_.of(instruction);
  }

  /// Registers that no instruction writes: parameters of a function, which may be anything.
  std::vector<bool> unwritten(const Function &function) const {
    std::vector<bool> result(function.registers.size(), !function.is_entry);
    for (const Instruction &instruction : function.instructions)
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read)
          result[reg] = false;
      });
    return result;
  }

  bool is_tainted(std::size_t f, const Operand &operand) const {
    if (operand.kind == Operand::Kind::reg)
      return tainted_[f][operand.reg];
    const auto children = module_.children(operand);
    return std::any_of(children.begin(), children.end(),
                       [&](const Operand &child) { return is_tainted(f, child); });
  }

  /// A parameter of the kernel itself, which the host has passed.
  bool is_from_host(std::size_t f, const Instruction &load) const {
    const auto operands = module_.operands(load);
    if (!module_.functions[f].is_entry || operands.size() != 2 ||
        operands[1].kind != Operand::Kind::address)
      return false;
    const Operand &base = module_.children(operands[1])[0];
    return base.kind == Operand::Kind::symbol &&
           module_.symbol(base).kind == Symbol::Kind::parameter;
  }

  /// Returns true if something is new.
  bool follow(std::size_t f, const Instruction &instruction) {
    const Opcode &opcode = module_.opcode(instruction);
    const bool guarded = instruction.guard != no_register && tainted_[f][instruction.guard];
    bool read = guarded, value = guarded; // by a register; as more than an address
    for (const Operand &operand : module_.operands(instruction)) {
      const bool tainted = is_tainted(f, operand);
      read |= tainted;
      value |= tainted && operand.kind != Operand::Kind::address;
    }
    const bool flow = opcode.op == Op::bra || opcode.op == Op::brx || opcode.op == Op::ret ||
                      opcode.op == Op::exit || opcode.op == Op::call;
    everything_ |= read && (flow || opcode.has(Modifier::cc));
    const bool unknown = first_operand(opcode) == FirstOperand::unknown || !instruction.well_formed;
    bool result =
        read || unknown || may_make_another(module_, instruction) || opcode.op == Op::call;
    bool stores = unknown || calls_stranger(instruction);
    if (opcode.op == Op::ld || opcode.op == Op::ldu) {
      const bool from_memory =
          opcode.space != StateSpace::constant && opcode.space != StateSpace::param;
      result = guarded ||
               (from_memory ? in_memory_
                            : opcode.space == StateSpace::param && !is_from_host(f, instruction));
    } else if (!is_pure(opcode) && !flow) {
      // What it writes to registers it may have from memory. Its first operand is no value then.
      result |= in_memory_;
      stores |= value && opcode.op != Op::shfl && opcode.op != Op::vote;
    }
    bool changed = stores && !in_memory_;
    in_memory_ |= stores;
    if (result)
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read && !tainted_[f][reg])
          tainted_[f][reg] = changed = true;
      });
    return changed;
  }

  const Module &module_;
  const CallTargets targets_;
  Registers tainted_;
  bool in_memory_ = false, everything_ = false;
};

} // namespace

GenericAddresses::GenericAddresses(const Module &module)
    : module_(module), others_(Taint(module).run()) {}

bool GenericAddresses::is_global(const Function &kernel, const Instruction &access) const {
  if (!kernel.is_entry)
    return false;
  if (others_.empty())
    return true;
  const std::vector<bool> &others =
      others_[static_cast<std::size_t>(&kernel - module_.functions.data())];
  const auto operands = module_.operands(access);
  return access.well_formed &&
         std::all_of(operands.begin(), operands.end(), [&](const Operand &operand) {
           if (operand.kind != Operand::Kind::address)
             return true;
           const Operand &base = module_.children(operand)[0];
           return base.kind == Operand::Kind::reg && !others[base.reg];
         });
}

bool generic_is_global(const Module &module) { return GenericAddresses(module).all_global(); }

} // namespace ptxasw::emulator
