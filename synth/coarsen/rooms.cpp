// Each copy has variables of its own in place of the kernel's, so no two copies' parts overlap, and
// a copy is the kernel's text with its variables elsewhere. Where the assembler puts a variable is
// not in the text. What must be kept is each access to a variable, at its distance from the
// beginning of the variable; an access beyond the end of its variable has no meaning in the kernel,
// either, and may do anything.
//
// So the kernel must not make anything else of where a variable is. A register is an *address* if
// it is written with that of a variable and only ever by what adds to an address or subtracts from
// it what is none. In a copy it is the kernel's, with the variable's new place for its old one. An
// address is for accesses to shared memory and for other addresses alone: it is not compared,
// stored or taken apart. And each access to shared memory is by an address, so that it goes to a
// variable that has a place of its own for each copy.
//
// An address may be made generic (`cvta`), moved on, added to, and made what it was again
// (`cvta.to`). By a generic one of shared memory that may be accessed: it lies as far from the
// generic address of the variable as the kernel's does. A register holds nothing else but such.
// One that is made of a number could be of any variable, and is refused.
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

#include "synth/coarsen/rooms.h"

#include "emulator/semantics/effects.h"
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

const Variable *variable_in(const Module &module, const Operand &operand, StateSpace space) {
  if (operand.kind != Operand::Kind::symbol)
    return nullptr;
  const Variable *const variable = module.variable(module.symbol(operand));
  return variable && variable->space == space ? variable : nullptr;
}

unsigned natural_alignment(const Variable &variable) {
  return std::max(1u, bit_width(variable.type) / 8) * variable.vector;
}

unsigned asked_alignment(const Variable &variable) {
  return std::max(variable.alignment, natural_alignment(variable));
}

/// Returns true if the launch says how much memory a variable has.
bool is_dynamic(const Module &module, const Operand &operand) {
  const Variable *const variable = variable_in(module, operand, StateSpace::shared);
  return variable && variable->linkage == Linkage::external && variable->size() == 0 &&
         module.symbol(operand).kind == Symbol::Kind::module_variable;
}

/// What registers hold of addresses in one space.
class Addresses {
public:
  Addresses(const Module &module, const Function &kernel, StateSpace space)
      : module_(module), kernel_(kernel), space_(space), rules_(rules_of(space)),
        holds_(kernel.registers.size(), none) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Instruction &instruction : kernel.instructions)
        if (const Kind made = made_by(instruction); made != none)
          if (Kind &holds = holds_[module.operands(instruction)[0].reg]; holds == none) {
            holds = made;
            changed = true;
          }
    }
  }

  /// Returns true if an instruction makes nothing of an address but an access or an address.
  bool is_good(const Instruction &instruction) const {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const bool access = is_one_of(opcode.op, {Op::ld, Op::st, Op::red, Op::atom, Op::cp, Op::wmma,
                                              Op::ldmatrix, Op::stmatrix});
    const bool is_read = is_one_of(opcode.op, {Op::ld, Op::atom, Op::ldmatrix}) ||
                         (opcode.op == Op::wmma && opcode.has(Modifier::load));
    const std::size_t place = is_read ? 1 : 0;
    const bool by_generic = space_ == StateSpace::shared && opcode.space == StateSpace::generic &&
                            operands.size() > place &&
                            mentioned(operands.subspan(place, 1)) == generic;
    if (access && (opcode.space == space_ || by_generic)) {
      const Kind by = by_generic ? generic : address;
      for (std::size_t i = 0; i < operands.size(); ++i)
        if (mentioned(operands.subspan(i, 1)) != (i == place ? by : none))
          return false;
      return operands.size() > place && operands[place].kind == Operand::Kind::address;
    }
    // What is made generic of a number could be of any variable.
    const bool of_number = space_ == StateSpace::shared && opcode.text.starts_with("cvta.shared");
    return made_by(instruction) != none || (mentioned(operands) == none && !of_number);
  }

  /// Returns true if an instruction tells `vprintf` where that is what it prints, and nothing else.
  bool is_printed(const Instruction &instruction, const Calls &calls) const {
    const auto at = static_cast<std::uint32_t>(&instruction - kernel_.instructions.data());
    const CallGroup *const group = calls.of(at);
    const auto operands = module_.operands(instruction);
    return group && group->kind == CallGroup::Kind::print && group->printed == at &&
           kind_of(operands[1]) == generic && mentioned(operands.first(1)) == none;
  }

  /// Returns true if all that is ever written to a register that is an address is one.
  bool all_written_are() const {
    bool all = true;
    for (const Instruction &instruction : kernel_.instructions)
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        all &=
            use == RegisterUse::read || holds_[reg] == none || made_by(instruction) == holds_[reg];
      });
    return all;
  }

private:
  enum Kind : std::uint8_t { none, address, generic, several };

  /// What is among operands and their parts.
  Kind mentioned(std::span<const Operand> operands) const {
    std::uint8_t found = none;
    any_operand(module_, operands, [&](const Operand &operand) {
      if (operand.kind == Operand::Kind::reg)
        found |= holds_[operand.reg];
      else if (variable_in(module_, operand, space_))
        found |= address;
      return false;
    });
    return static_cast<Kind>(found);
  }

  /// What an operand is as a whole.
  Kind kind_of(const Operand &operand) const {
    return is_whole_register(operand) || operand.kind == Operand::Kind::symbol
               ? mentioned({&operand, 1})
               : none;
  }

  /// What an instruction gives its one result.
  Kind made_by(const Instruction &instruction) const {
    const auto operands = module_.operands(instruction);
    if (!instruction.well_formed || operands.size() < 2 || operands[0].kind != Operand::Kind::reg ||
        operands[0].selector != 0)
      return none;
    const auto inputs = operands.subspan(1);
    const auto is_so = [&](const Operand &operand, Kind kind) {
      return (kind == none ? mentioned({&operand, 1}) : kind_of(operand)) == kind;
    };
    const std::string word = fmt::format(" {} ", module_.opcode(instruction).text);
    const auto rule = std::find_if(rules_.begin(), rules_.end(), [&](const Rule &one) {
      return one.opcodes.find(word) != std::string::npos &&
             std::equal(inputs.begin(), inputs.end(), one.from.begin(), one.from.end(), is_so);
    });
    return rule == rules_.end() ? none : rule->made;
  }

  /// Who makes what of which operands.
  struct Rule {
    Kind made = none;
    std::vector<Kind> from;
    std::string opcodes; ///< with blanks around each
  };
  static std::vector<Rule> rules_of(StateSpace space) {
    const std::string adds = " add.u32 add.s32 add.u64 add.s64 ";
    return {
        {address, {address}, " mov.u32 mov.b32 mov.s32 mov.u64 mov.b64 mov.s64 "},
        {address, {address}, " cvt.u64.u32 cvt.u32.u64 "},
        {address, {address, none}, adds + "sub.u32 sub.s32 sub.u64 sub.s64 "},
        {address, {none, address}, adds},
        {address, {none, none, address}, " mad.lo.u32 mad.lo.s32 mad.lo.u64 mad.lo.s64 "},
        {address, {none, none, address}, " mad.wide.u32 mad.wide.s32 mad.wide.u16 mad.wide.s16 "},
        {address, {address, address, none}, " selp.b32 selp.u32 selp.b64 selp.u64 "},
        {generic, {address}, fmt::format(" cvta.{}.u64 ", to_string(space))},
        {generic, {generic}, " mov.u64 mov.b64 "},
        {generic, {generic, none}, " add.u64 add.s64 "},
        {address, {generic}, fmt::format(" cvta.to.{}.u64 ", to_string(space))},
    };
  }

  const Module &module_;
  const Function &kernel_;
  const StateSpace space_;
  const std::vector<Rule> rules_;
  std::vector<Kind> holds_; ///< by register
};

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
  const std::vector<Room> rooms = rooms_of(module, kernel);
  const std::vector<Symbol> dynamic = dynamic_rooms_of(module, kernel);
  const auto asks = [&](const Symbol &name) {
    return asked_alignment(*module.variable(name)) >= alignment;
  };
  return std::all_of(rooms.begin(), rooms.end(),
                     [&](const Room &room) {
                       return room.space != StateSpace::shared || asks(room.symbol);
                     }) &&
         (!has_rooms(rooms, StateSpace::shared) ||
          std::all_of(dynamic.begin(), dynamic.end(), asks));
}

} // namespace

std::vector<Room> rooms_of(const Module &module, const Function &kernel) {
  const auto has_size = [&](const Operand &operand) {
    return (variable_in(module, operand, StateSpace::shared) ||
            variable_in(module, operand, StateSpace::local)) &&
           !is_dynamic(module, operand);
  };
  std::vector<Room> rooms;
  for (const Symbol &name : mentioned_names(module, kernel, has_size)) {
    const Variable &variable = *module.variable(name);
    rooms.push_back({name, variable.space, variable.size(),
                     std::max(asked_alignment(variable), widest_access)});
  }
  return rooms;
}

std::vector<Symbol> dynamic_rooms_of(const Module &module, const Function &kernel) {
  return mentioned_names(module, kernel,
                         [&](const Operand &operand) { return is_dynamic(module, operand); });
}

bool has_rooms(const std::vector<Room> &rooms, StateSpace space) {
  return std::any_of(rooms.begin(), rooms.end(),
                     [&](const Room &room) { return room.space == space; });
}

bool rooms_fit(const std::vector<Room> &rooms, unsigned copies) {
  std::uint64_t shared = 0, local = 0;
  for (const Room &room : rooms) // each begins at a multiple of its alignment
    (room.space == StateSpace::shared ? shared : local) +=
        copies * ((room.bytes + room.alignment - 1) / room.alignment * room.alignment +
                  (rooms.size() > 1 ? room.alignment : 0));
  return shared <= most_shared_bytes && local <= most_local_bytes;
}

std::string room_name(std::size_t room, unsigned copy) {
  return fmt::format("__ptxasw_room{}_{}", room, copy);
}

std::vector<Refusal> rooms_obstacles(const Module &module, const Function &kernel,
                                     const Calls &calls) {
  std::vector<Refusal> all;
  for (const Room &room : rooms_of(module, kernel)) {
    const Variable *const variable = module.variable(room.symbol);
    constexpr std::uint64_t most_alignment = 1024;
    if (room.space == StateSpace::local && room.bytes > most_local_bytes)
      add_kind(all, large_local);
    if (room.bytes == 0 || variable->linkage == Linkage::external ||
        room.bytes > most_shared_bytes || room.alignment > most_alignment ||
        (room.alignment & (room.alignment - 1)) != 0)
      add_kind(all, unsized);
  }
  const std::vector<Symbol> dynamic = dynamic_rooms_of(module, kernel);
  for (const Symbol &room : dynamic)
    if (asked_alignment(*module.variable(room)) > dynamic_part)
      add_kind(all, unsized);
  // `%dynamic_smem_size` is of PTX 4.1.
  if (!dynamic.empty() && std::pair(module.version_major, module.version_minor) < std::pair(4u, 1u))
    add_kind(all, unsized);
  const Addresses shared(module, kernel, StateSpace::shared),
      local(module, kernel, StateSpace::local);
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
    return local.is_good(one) || local.is_printed(one, calls) ? nullptr : &no_local_place;
  });
  if (!local.all_written_are())
    add_kind(all, no_local_place);
  return all;
}

} // namespace ptxasw::synth
