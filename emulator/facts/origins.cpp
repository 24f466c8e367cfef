// The order of instructions does not matter here: a register's origins are those of all that is
// ever written to it. That is a fixed point, reached since sets only grow.

#include "emulator/facts/origins.h"

#include "grammar/roles.h"

#include <algorithm>

namespace ptxasw::facts {
namespace {

constexpr unsigned word = 8; ///< bytes of a pointer

bool is_place(Origin origin) { return (origin & as_distance) == 0; }

/// Where an address may begin, in how many places; 0 if it may be anywhere.
std::ptrdiff_t beginnings(const std::set<Origin> &origins) {
  return origins.contains(from_anywhere) || origins.contains(from_memory)
             ? 0
             : std::count_if(origins.begin(), origins.end(), is_place);
}

/// What becomes of its operands' origins in the result of a pure opcode.
enum class Passes : std::uint8_t {
  all,       ///< the result may be as much a pointer as any of them
  distances, ///< it is a distance made of them
  product,   ///< the same, to which the last is added
  quotient,  ///< a part of the first: if that is made of a pointer, any pointer
  parts,     ///< the same of all of them, and nothing else
  none,      ///< a count or a truth value
  unknown
};

Passes passes(const Opcode &opcode) {
  switch (opcode.op) {
  case Op::add:
  case Op::addc:
  case Op::sub:
  case Op::subc:
  case Op::mov:
  case Op::cvta:
  case Op::selp:
  case Op::slct:
  case Op::min:
  case Op::max:
  case Op::and_:
  case Op::or_:
  case Op::xor_:
  case Op::not_:
  case Op::neg:
  case Op::lop3:
  case Op::bfe:
  case Op::bfi:
  case Op::prmt:
  case Op::shf:
    return Passes::all;
  case Op::cvt: // what has 32 bits or fewer is no pointer, but may be a half
    return bit_width(opcode.second_type) > 32 ? Passes::all : Passes::distances;
  case Op::mad:
  case Op::madc:
  case Op::mad24:
    return Passes::product;
  case Op::mul:
  case Op::mul24:
  case Op::shl:
    return Passes::distances;
  case Op::div:
  case Op::rem:
  case Op::shr:
    return Passes::quotient;
  case Op::set:
  case Op::setp:
  case Op::popc:
  case Op::clz:
  case Op::bfind:
    return Passes::none;
  default: // of numbers that are no integers a part may be a pointer's, as of a quotient
    return is_float(opcode.type) && traits(opcode.op).memory == MemoryUse::pure ? Passes::parts
                                                                                : Passes::unknown;
  }
}

} // namespace

Origins::Origins(const Module &module, const Function &function)
    : module_(module), function_(function), registers_(function.registers.size()) {
  for (bool grows = true; grows;) {
    grows = false;
    for (const Instruction &instruction : function.instructions)
      grows = step(instruction) || grows;
  }
}

const std::set<Origin> &Origins::of_address(const Operand &address) const {
  const auto [found, is_new] = of_addresses_.try_emplace(&address);
  if (is_new)
    found->second = address.kind == Operand::Kind::address ? of(module_.children(address)[0])
                                                           : Sources{from_anywhere};
  return found->second;
}

bool Origins::are_one(const std::set<Origin> &origins) { return beginnings(origins) == 1; }

bool Origins::are_apart(const std::set<Origin> &a, const std::set<Origin> &b) {
  // Two distances may be made of the same, a length or an index.
  return beginnings(a) > 0 && beginnings(b) > 0 &&
         std::none_of(a.begin(), a.end(), [&](Origin origin) {
           return is_place(origin) ? b.contains(origin) || b.contains(origin | as_distance)
                                   : b.contains(origin & ~as_distance);
         });
}

Origins::Sources Origins::distance_of(const Operand &operand) const {
  Sources distances;
  for (const Origin origin : of(operand))
    if (origin != from_memory) // which held an index
      distances.insert(origin | as_distance);
  return distances;
}

Origins::Sources Origins::of(const Operand &operand) const {
  using Is = Operand::Kind;
  switch (operand.kind) {
  case Is::reg:
    return registers_[operand.reg];
  case Is::integer:
  case Is::real:
  case Is::special:
  case Is::sink:
    return {};
  case Is::symbol:
    return of_symbol(operand);
  case Is::vector:
  case Is::pair: {
    Sources all;
    for (const Operand &child : module_.children(operand))
      all.merge(of(child));
    return all;
  }
  default:
    return {from_anywhere};
  }
}

Origins::Sources Origins::of_symbol(const Operand &operand) const {
  const Symbol &symbol = module_.symbol(operand);
  const auto origin = [&](std::uint64_t kind) {
    return Sources{kind << 56 | std::uint64_t{symbol.index} << 24};
  };
  // All names of memory whose size the launch says are of the same (PTX ISA 5.1.6).
  if (const Variable *const variable = module_.variable(symbol);
      variable && variable->space == StateSpace::shared && variable->linkage == Linkage::external &&
      variable->size() == 0)
    return {std::uint64_t{4} << 56};
  switch (symbol.kind) {
  case Symbol::Kind::module_variable:
    return origin(1);
  case Symbol::Kind::function_variable:
    return origin(2);
  default: // the address of a parameter or a function is no place in global memory that is known
    return {from_anywhere};
  }
}

Origins::Sources Origins::of_parameter(const Operand &address, std::uint64_t offset) const {
  const Operand &base = module_.children(address)[0];
  if (base.kind != Operand::Kind::symbol)
    return {from_anywhere};
  const Symbol &symbol = module_.symbol(base);
  if (symbol.kind != Symbol::Kind::parameter)
    return {from_anywhere};
  if (function_.parameters[symbol.index].size() < word)
    return {}; // a number
  const std::uint64_t at =
      offset + static_cast<std::uint64_t>(base.value) + static_cast<std::uint64_t>(address.value);
  return {std::uint64_t{3} << 56 | std::uint64_t{symbol.index} << 24 | (at / word & 0xffffff)};
}

// Numbers below 8 bytes have no origins, but what is put together from them may be any pointer:
// pairs, what is shifted or multiplied into the upper half, and bits of several pointers.
bool Origins::joins_parts(const Instruction &instruction) const {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction).subspan(1);
  const auto is_below = [](const Operand &operand, std::int64_t limit) {
    return operand.kind == Operand::Kind::integer && operand.value >= 0 && operand.value < limit;
  };
  if (operands.empty() || bit_width(opcode.type) != 8 * word)
    return false;
  switch (opcode.op) {
  case Op::mov:
    return operands[0].kind == Operand::Kind::pair || operands[0].kind == Operand::Kind::vector;
  case Op::shl:
    return !is_below(operands.back(), 32);
  case Op::mul:
  case Op::mad:
    return std::any_of(operands.begin(), operands.begin() + 2, [&](const Operand &factor) {
      constexpr std::int64_t limit = std::int64_t{1} << 32;
      return factor.kind == Operand::Kind::integer &&
             (factor.value >= limit || factor.value <= -limit);
    });
  case Op::bfi:
    return true;
  case Op::and_:
  case Op::or_:
  case Op::xor_:
  case Op::lop3: {
    Sources all;
    for (const Operand &operand : operands)
      all.merge(of(operand));
    return std::count_if(all.begin(), all.end(), is_place) > 1;
  }
  default:
    return false;
  }
}

Origins::Sources Origins::computed(const Instruction &instruction) const {
  const auto operands = module_.operands(instruction).subspan(1);
  const Opcode &opcode = module_.opcode(instruction);
  if (joins_parts(instruction))
    return {from_anywhere};
  Sources all;
  switch (passes(opcode)) {
  case Passes::unknown:
    return {from_anywhere};
  case Passes::none:
    return {};
  case Passes::quotient:
  case Passes::parts:
    for (const Operand &operand : passes(opcode) == Passes::quotient ? operands.first(1) : operands)
      all.merge(of(operand));
    return all.empty() || all == Sources{from_memory} ? all : Sources{from_anywhere};
  case Passes::product:
  case Passes::distances:
    for (const Operand &operand : operands)
      all.merge(distance_of(operand));
    if (passes(opcode) == Passes::product)
      all.merge(operands.empty() ? Sources{from_anywhere} : of(operands.back()));
    return all;
  case Passes::all:
    for (const Operand &operand : operands)
      all.merge(of(operand));
  }
  return all;
}

bool Origins::step(const Instruction &instruction) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const FirstOperand first = first_operand(opcode);
  if (operands.empty())
    return false;
  if (first == FirstOperand::source) // a branch names a label, and stores nothing
    return !is_one_of(opcode.op, {Op::bra, Op::brx, Op::ret, Op::exit}) && keep(instruction);
  if (!instruction.well_formed || first == FirstOperand::unknown) {
    bool grows = false;
    for (const Operand &operand : operands)
      grows = add(operand, {from_anywhere}) || grows;
    return grows;
  }
  if (opcode.op == Op::ld && opcode.space != StateSpace::param)
    return add(operands[0], memory_);
  if (opcode.op != Op::ld || operands.size() != 2 || operands[1].kind != Operand::Kind::address)
    return add(operands[0], computed(instruction));
  if (bit_width(opcode.type) > 8 * word) // several at once
    return add(operands[0], {from_anywhere});
  if (operands[0].kind != Operand::Kind::vector)
    return add(operands[0], of_parameter(operands[1], 0));
  bool grows = false;
  std::uint64_t offset = 0;
  for (const Operand &element : module_.children(operands[0])) {
    grows = add(element, of_parameter(operands[1], offset)) || grows;
    offset += bit_width(opcode.type) / 8;
  }
  return grows;
}

// What a store, or whatever else writes no register, may leave in memory.
bool Origins::keep(const Instruction &store) {
  bool grows = false;
  for (const Operand &operand : module_.operands(store))
    if (operand.kind != Operand::Kind::address)
      for (const Origin origin : of(operand))
        grows = memory_.insert(origin).second || grows;
  return grows;
}

bool Origins::add(const Operand &to, const Sources &sources) {
  bool grows = false;
  if (to.kind == Operand::Kind::reg)
    for (const Origin origin : sources)
      grows = registers_[to.reg].insert(origin).second || grows;
  for (const Operand &child : module_.children(to))
    grows = add(child, sources) || grows;
  return grows;
}

} // namespace ptxasw::facts
