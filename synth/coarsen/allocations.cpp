// Each copy has variables of its own in place of the kernel's, so no two copies' parts overlap, and
// a copy is the kernel's text with its variables elsewhere. Where the assembler puts a variable is
// not in the text. What must be kept is each access to a variable, at its distance from the
// beginning of the variable; an access beyond the end of its variable has no meaning in the kernel,
// either, and may do anything.
//
// So the kernel must not make anything else of where a variable is than the place of an access
// (emulator/facts/variable_addresses.h), and each access to shared memory is by an address, so that
// it goes to a variable that has a place of its own for each copy. In a copy an address is the
// kernel's, with the variable's new place for its old one, and a generic one lies as far from the
// generic address of the variable as the kernel's does.
//
// Local memory is each thread's, and in a version each copy's in the thread: the same holds of its
// variables and of accesses to it.
//
// Of memory whose size the launch says there is K times as much: copy k begins k times that size
// behind the kernel's beginning. As the size is rounded up to a multiple of `dynamic_part`, and no
// name of it asks for more than that, each copy's lies as the kernel's does. Its names may be one
// place; then they are one in each copy, too. A name is an operand of 32 bits, or the base of an
// access: a register of 32 bits can stand there in its place.
//
// What `wmma` loads and stores has to lie at a multiple of 32 bytes (PTX ISA 9.7.14.3). That the
// kernel's does follows from the alignment of variables that ask for as much. If there are others,
// it may hang on where they happen to lie; all that is known of that is that the memory whose size
// the launch says begins at the same place in kernel and version if nothing lies before it.
//
// Where a local variable is, `vprintf` may be told as well: it reads what it is to print, and is
// done with it when it comes back.
//
// What is refused: names of memory whose size the launch says, in 64 bits or with a number beside
// them.

#include "synth/coarsen/allocations.h"

#include "emulator/facts/variable_addresses.h"
#include "emulator/semantics/parameter_layout.h"
#include "grammar/roles.h"
#include "grammar/sibling_table.h"

#include <algorithm>
#include <fmt/core.h>
#include <functional>

namespace ptxasw::synth {
namespace {

/// A variable that is aligned for less may still lie at such an address, the first one does, and
/// kernels rely on it that read four floats of it at once.
constexpr unsigned widest_access = 16;

/// That of a matrix.
constexpr unsigned matrix_alignment = 32;

constexpr Refusal unsized{
    "shared-memory",
    "shared memory of a size or alignment that is not known, or of a large alignment"};
constexpr Refusal far{"shared-address",
                      "an address in memory whose size the launch says, in 64 bits or with a "
                      "number beside it"};
constexpr Refusal matrix{"shared-address",
                         "matrices in shared memory must lie at multiples of 32 bytes, and the "
                         "kernel's variables do not ask for that"};
constexpr Refusal of_others{"shared-memory", "shared memory of other blocks"};
constexpr Refusal no_place{"shared-address",
                           "an address in shared memory is more than the place of an access"};
constexpr Refusal no_local_place{"local-memory",
                                 "an address in local memory is more than the place of an access"};
constexpr Refusal large_local{"local-memory", "each thread needs much local memory of its own"};

unsigned natural_alignment(const Variable &variable) {
  return std::max(1u, bit_width(variable.type) / 8) * variable.vector;
}

unsigned asked_alignment(const Variable &variable) {
  return std::max(variable.alignment, natural_alignment(variable));
}

/// Returns true if the launch says how much memory a variable has.
bool is_dynamic(const Module &module, const Operand &operand) {
  const Variable *const variable = facts::variable_in(module, operand, StateSpace::shared);
  return variable && variable->linkage == Linkage::external && variable->size() == 0 &&
         module.symbol(operand).kind == Symbol::Kind::module_variable;
}

/// Returns true if a register of 32 bits may stand in the place of each name of memory whose size
/// the launch says.
bool has_near_names(const Module &module, const Function &kernel, const Instruction &instruction) {
  const auto operands = module.operands(instruction);
  const bool words = !operands.empty() && operands[0].kind == Operand::Kind::reg &&
                     bit_width(kernel.registers[operands[0].reg].type) == 32 &&
                     module.opcode(instruction).text.ends_with("32");
  return std::all_of(operands.begin(), operands.end(), [&](const Operand &operand) {
    return !is_dynamic(module, operand) || (words && operand.value == 0);
  });
}

/// Names that a kernel mentions of which something is so, in the order in which it does.
std::vector<Symbol> mentioned_names(const Module &module, const Function &kernel,
                                    const std::function<bool(const Operand &)> &is_so) {
  std::vector<Symbol> names;
  for (const Instruction &instruction : kernel.instructions)
    any_operand(module, module.operands(instruction), [&](const Operand &operand) {
      if (is_so(operand) &&
          std::find(names.begin(), names.end(), module.symbol(operand)) == names.end())
        names.push_back(module.symbol(operand));
      return false;
    });
  return names;
}

/// Returns true if `wmma` may load or store a matrix in shared memory.
bool may_move_matrix(const Opcode &opcode) {
  return (opcode.text.starts_with("wmma.load") || opcode.text.starts_with("wmma.store")) &&
         opcode.space != StateSpace::global;
}

/// Returns true if what lies at a multiple of `alignment` in the kernel's shared memory does so in
/// each copy's, too.
bool lie_alike(const Module &module, const Function &kernel, unsigned alignment) {
  const std::vector<Allocation> allocations = allocations_of(module, kernel);
  const std::vector<Symbol> dynamic = dynamic_allocations_of(module, kernel);
  const auto asks = [&](const Symbol &name) {
    return asked_alignment(*module.variable(name)) >= alignment;
  };
  return std::all_of(allocations.begin(), allocations.end(),
                     [&](const Allocation &allocation) {
                       return allocation.space != StateSpace::shared || asks(allocation.symbol);
                     }) &&
         (!has_allocations(allocations, StateSpace::shared) ||
          std::all_of(dynamic.begin(), dynamic.end(), asks));
}

} // namespace

std::vector<Allocation> allocations_of(const Module &module, const Function &kernel) {
  const auto has_size = [&](const Operand &operand) {
    return (facts::variable_in(module, operand, StateSpace::shared) ||
            facts::variable_in(module, operand, StateSpace::local)) &&
           !is_dynamic(module, operand);
  };
  std::vector<Allocation> allocations;
  for (const Symbol &name : mentioned_names(module, kernel, has_size)) {
    const Variable &variable = *module.variable(name);
    allocations.push_back({name, variable.space, variable.size(),
                           std::max(asked_alignment(variable), widest_access)});
  }
  return allocations;
}

std::vector<Symbol> dynamic_allocations_of(const Module &module, const Function &kernel) {
  return mentioned_names(module, kernel,
                         [&](const Operand &operand) { return is_dynamic(module, operand); });
}

bool has_allocations(const std::vector<Allocation> &allocations, StateSpace space) {
  return std::any_of(allocations.begin(), allocations.end(),
                     [&](const Allocation &allocation) { return allocation.space == space; });
}

bool allocations_fit(const std::vector<Allocation> &allocations, unsigned copies) {
  std::uint64_t shared = 0, local = 0;
  for (const Allocation &allocation : allocations) // each begins at a multiple of its alignment
    (allocation.space == StateSpace::shared ? shared : local) +=
        copies * (emulator::align(allocation.bytes, allocation.alignment) +
                  (allocations.size() > 1 ? allocation.alignment : 0));
  return shared <= most_shared_bytes && local <= most_local_bytes;
}

std::string allocation_name(std::size_t allocation, unsigned copy) {
  return fmt::format("__ptxasw_room{}_{}", allocation, copy);
}

std::vector<Refusal> allocation_obstacles(const KernelContext &context) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  std::vector<Refusal> all;
  for (const Allocation &allocation : allocations_of(module, kernel)) {
    const Variable *const variable = module.variable(allocation.symbol);
    constexpr std::uint64_t most_alignment = 1024;
    if (allocation.space == StateSpace::local && allocation.bytes > most_local_bytes)
      add_kind(all, large_local);
    if (allocation.bytes == 0 || variable->linkage == Linkage::external ||
        allocation.bytes > most_shared_bytes || allocation.alignment > most_alignment ||
        (allocation.alignment & (allocation.alignment - 1)) != 0)
      add_kind(all, unsized);
  }
  const std::vector<Symbol> dynamic = dynamic_allocations_of(module, kernel);
  for (const Symbol &allocation : dynamic)
    if (asked_alignment(*module.variable(allocation)) > dynamic_part)
      add_kind(all, unsized);
  // `%dynamic_smem_size` is of PTX 4.1.
  if (!dynamic.empty() && std::pair(module.version_major, module.version_minor) < std::pair(4u, 1u))
    add_kind(all, unsized);
  const facts::VariableAddresses shared(module, kernel, StateSpace::shared),
      local(module, kernel, StateSpace::local);
  // `vprintf` is told where that is what it prints.
  const auto is_printed = [&](const Instruction &one) {
    const auto at = static_cast<std::uint32_t>(&one - kernel.instructions.data());
    const CallGroup *const group = calls_of(context).of(at);
    return group && group->kind == CallGroup::Kind::print && group->printed == at &&
           local.stores_generic(one);
  };
  const auto add_of_each = [&](const auto &obstacle_of) {
    for (const Instruction &instruction : kernel.instructions)
      if (const Refusal *const obstacle = obstacle_of(instruction))
        add_kind(all, obstacle->at(instruction.line));
  };
  add_of_each([&](const Instruction &one) {
    return module.opcode(one).has(Modifier::shared_cluster) ? &of_others
           : shared.is_good(one)                            ? nullptr
                                                            : &no_place;
  });
  if (!lie_alike(module, kernel, matrix_alignment))
    add_of_each([&](const Instruction &one) {
      return may_move_matrix(module.opcode(one)) ? &matrix : nullptr;
    });
  add_of_each(
      [&](const Instruction &one) { return has_near_names(module, kernel, one) ? nullptr : &far; });
  if (!shared.all_written_are())
    add_kind(all, no_place);
  add_of_each([&](const Instruction &one) {
    return local.is_good(one) || is_printed(one) ? nullptr : &no_local_place;
  });
  if (!local.all_written_are())
    add_kind(all, no_local_place);
  return all;
}

} // namespace ptxasw::synth
