// One instruction on expressions: operands in, the table of instructions over ExprPool, result out.
// What the table does not have becomes a fresh symbol, which equals nothing else.

#include "emulator/symbolic/emulate_implementation.h"

#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>

namespace ptxasw::emulator {
namespace {

// Budgets: a value beyond one is opaque.
constexpr std::uint16_t depth_budget = 400; ///< nesting of one expression
constexpr std::uint32_t terms_budget = 64;  ///< terms of one sum

} // namespace

Expr Emulation::Implementation::fresh(std::string name, unsigned width, SymbolKind kind,
                                      BlockId block, std::uint32_t phi) {
  const Expr symbol = pool_.symbol(std::move(name), width);
  infos_.resize(pool_.symbols().size());
  infos_[symbol->index] = {kind, block, phi, kind == SymbolKind::uniform};
  return symbol;
}

Expr Emulation::Implementation::named(const std::string &name, unsigned width, SymbolKind kind,
                                      std::uint64_t maximum) {
  Expr &symbol = named_[name];
  if (!symbol) {
    symbol = pool_.symbol(name, width, maximum);
    infos_.resize(pool_.symbols().size());
    infos_[symbol->index] = {kind, 0, 0, kind == SymbolKind::uniform};
  }
  return symbol;
}

void Emulation::Implementation::write(RegisterId reg, Expr value) {
  undo_.emplace_back(reg, current_[reg]);
  current_[reg] = value;
}

Expr Emulation::Implementation::read(BlockId block, RegisterId reg) {
  if (!current_[reg]) {
    const std::string_view name = reg == carry_ ? "carry" : function_.registers[reg].name;
    const unsigned width = register_width(reg);
    write(reg, fresh(fmt::format("undefined({})", name), std::max(width, 1u), SymbolKind::varying,
                     block));
  }
  const Expr value = current_[reg];
  // A predicate that a branch on the path decided is a constant in this flow.
  if (value->width == 1)
    if (const std::optional<bool> assumed = path_.assumed(value))
      return pool_.constant(1, *assumed);
  return value;
}

Expr Emulation::Implementation::guard_of(BlockId block, const Instruction &instruction) {
  if (instruction.guard == no_register)
    return pool_.constant(1, 1);
  const Expr value = read(block, instruction.guard);
  return instruction.guard_negated ? pool_.bit_not(value) : value;
}

Expr Emulation::Implementation::special_value(BlockId block, std::string_view name) {
  const std::string text(name);
  const std::uint64_t max_x = facts_.max_block_x;
  if (name == "WARP_SZ")
    return pool_.constant(32, 32);
  if (name == "%tid.x")
    return tid_x_ = named(text, 32, SymbolKind::lane, max_x - 1);
  if (name == "%laneid")
    return laneid_ = named(text, 32, SymbolKind::lane, 31);
  if (name == "%ntid.x")
    return facts_.block ? pool_.constant(32, facts_.block->x)
                        : named(text, 32, SymbolKind::uniform, max_x);
  if (name == "%ntid.y" || name == "%ntid.z" || name == "%tid.y" || name == "%tid.z") {
    const bool is_y = name.back() == 'y', is_extent = name[1] == 'n';
    const std::uint32_t most = !facts_.block ? (is_y ? 1024 : 64)
                               : is_y        ? facts_.block->y
                                             : facts_.block->z;
    if (is_extent && facts_.block)
      return pool_.constant(32, most);
    return !is_extent && most == 1
               ? pool_.constant(32, 0)
               : named(text, 32,
                       is_extent || lanes_ < LaneGroup::warp ? SymbolKind::uniform
                                                             : SymbolKind::lane,
                       is_extent ? most : most - 1);
  }
  if (name == "%ctaid.x" || name == "%nctaid.x")
    return named(text, 32, SymbolKind::uniform, facts_.max_grid_x - (name == "%ctaid.x" ? 1 : 0));
  if (name == "%ctaid.y" || name == "%ctaid.z" || name == "%nctaid.y" || name == "%nctaid.z")
    return named(text, 32, SymbolKind::uniform, 0xffff);
  // Clocks, warp ids, lane masks and what is not known: a new value at every read.
  const bool wide = name.ends_with("64") || name == "%globaltimer" || name == "%gridid";
  return fresh(text, wide ? 64 : 32, SymbolKind::varying, block);
}

Expr Emulation::Implementation::symbol_address(std::string_view name) {
  return named("&" + std::string(name), 64, SymbolKind::uniform, ~std::uint64_t{0});
}

Expr Emulation::Implementation::operand_value(BlockId block, const Operand &operand, unsigned width,
                                              ScalarType type) {
  using Kind = Operand::Kind;
  constexpr ScalarType none = ScalarType::none;
  switch (operand.kind) {
  case Kind::reg: {
    if (operand.selector || function_.registers[operand.reg].vector != 1)
      return nullptr;
    const Expr value = read(block, operand.reg);
    if (operand.negated)
      return value->width == 1 ? pool_.bit_not(value) : nullptr;
    if (value->width < width)
      return nullptr;
    return pool_.truncate(value, width);
  }
  case Kind::integer:
  case Kind::real:
    return pool_.constant(width, *literal(operand, bit_width(type) == width ? type : none));
  case Kind::special: {
    const Expr value = special_value(block, module_.text(operand.span));
    return width <= value->width ? pool_.truncate(value, width) : pool_.zext(value, width);
  }
  case Kind::symbol: {
    const Expr base = symbol_address(module_.symbol(operand).name);
    const Expr address =
        pool_.add(base, pool_.constant(64, static_cast<std::uint64_t>(operand.value)));
    return width <= 64 ? pool_.truncate(address, width) : nullptr;
  }
  default:
    return nullptr;
  }
}

// 64 bits; the addition happens in the width of the address.
Expr Emulation::Implementation::address_value(BlockId block, const Operand &operand) {
  const auto base = module_.children(operand);
  if (operand.kind != Operand::Kind::address || base.size() != 1)
    return nullptr;
  const unsigned width = base[0].kind == Operand::Kind::reg ? register_width(base[0].reg) : 64;
  if (width != 32 && width != 64)
    return nullptr;
  const Expr value = operand_value(block, base[0], width);
  if (!value)
    return nullptr;
  const Expr offset = pool_.constant(width, static_cast<std::uint64_t>(operand.value));
  return pool_.zext(pool_.add(value, offset), 64);
}

// Something that is not evaluated: it equals nothing else.
Expr Emulation::Implementation::result_of(BlockId block, const Instruction &instruction,
                                          RegisterId reg) {
  const Expr value =
      fresh(fmt::format("opaque({}, line {})", function_.registers[reg].name, instruction.line),
            std::max(register_width(reg), 1u), SymbolKind::varying, block);
  infos_[value->index].instruction =
      static_cast<std::uint32_t>(&instruction - function_.instructions.data());
  return value;
}

void Emulation::Implementation::assign(BlockId block, const Instruction &instruction,
                                       const Operand &destination, Expr value, bool sign_extend) {
  if (destination.kind != Operand::Kind::reg || !needed(destination.reg))
    return;
  const unsigned width = register_width(destination.reg);
  if (destination.selector || function_.registers[destination.reg].vector != 1 ||
      value->width > width)
    value = nullptr;
  else
    value = sign_extend ? pool_.sext(value, width) : pool_.zext(value, width);
  if (value && (value->depth > depth_budget ||
                (value->kind == ExprKind::sum && value->child_count > terms_budget)))
    value = nullptr;
  if (!value)
    value = result_of(block, instruction, destination.reg);
  if (guard_->kind != ExprKind::constant)
    value = pool_.ite(guard_, value, read(block, destination.reg));
  else if (guard_->value.is_zero())
    return;
  write(destination.reg, value);
}

void Emulation::Implementation::havoc(BlockId block, std::uint32_t index,
                                      const Instruction &instruction) {
  const std::optional<OneValue> one =
      one_value(module_, instruction, [&](const Operand &operand) -> std::optional<std::uint32_t> {
        const Expr value = operand_value(block, operand, 32);
        if (!value || value->kind != ExprKind::constant)
          return std::nullopt;
        return static_cast<std::uint32_t>(value->value.low);
      });
  std::optional<Shared> shared = one ? shared_at(block, index, *one) : std::nullopt;
  for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
    if (use == RegisterUse::read || !needed(reg))
      return;
    const Expr result = result_of(block, instruction, reg);
    if (shared && std::any_of(one->results.begin(), one->results.end(), [&](const Operand *to) {
          return to->kind == Operand::Kind::reg && to->reg == reg;
        })) {
      infos_[result->index].kind = SymbolKind::shared;
      shared->symbols.push_back(result);
    }
    write(reg, result);
  });
  if (shared && !shared->symbols.empty())
    shared_.push_back(std::move(*shared));
  if (module_.opcode(instruction).has(Modifier::cc))
    write(carry_, nullptr);
}

void Emulation::Implementation::compute(BlockId block, std::uint32_t index,
                                        const Instruction &instruction) {
  const OpcodeInfo &info = opcode_info(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  bool done = false;
  guard_ = guard_of(block, instruction); // before any destination is written
  if (instruction.well_formed && instruction.operand_count > 0) {
    if (const auto move = vector_move(module_, instruction))
      done = compute_move(block, instruction, *move);
    else if (opcode.op == Op::ld || opcode.op == Op::ldu)
      done = compute_load(block, instruction);
    if (!done && info.line)
      done = compute_line(block, index, instruction, info);
    if (!done && is_pure(opcode))
      done = compute_uninterpreted(block, instruction);
  }
  if (!done)
    havoc(block, index, instruction);
}

bool Emulation::Implementation::compute_move(BlockId block, const Instruction &instruction,
                                             const MoveOperands &move) {
  if (!move.fits())
    return false;
  std::vector<Expr> parts;
  for (const Operand &source : move.sources) {
    parts.push_back(operand_value(block, source, move.source_width()));
    if (!parts.back())
      return false;
  }
  const Expr whole = semantics::pack(pool_, Args<ExprPool>(parts));
  const unsigned width = move.destination_width();
  for (std::size_t i = 0; i < move.destinations.size(); ++i)
    assign(block, instruction, move.destinations[i], semantics::unpack(pool_, whole, i, width),
           false);
  return true;
}

// A kernel's parameters are uniform symbols, a function's are varying ones; what a call returned is
// known if the function was written out; memory that is only read is a function of the address;
// any other load gives something unknown.
bool Emulation::Implementation::compute_load(BlockId block, const Instruction &instruction) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const unsigned width = bit_width(opcode.type);
  if (operands.size() < 2 || operands[1].kind != Operand::Kind::address || width == 0)
    return false;
  const auto base = module_.children(operands[1]);
  const bool vector = operands[0].kind == Operand::Kind::vector;
  const auto destinations = vector ? module_.children(operands[0]) : operands.subspan(0, 1);
  const auto element = [&](unsigned i) -> Expr {
    const std::int64_t offset = operands[1].value + std::int64_t{i} * (width / 8);
    if (opcode.space == StateSpace::param) {
      if (base.empty() || base[0].kind != Operand::Kind::symbol)
        return nullptr;
      const Symbol &symbol = module_.symbol(base[0]);
      if (symbol.kind == Symbol::Kind::parameter)
        return own_parameter(*module_.variable(symbol), offset, width);
      return load_parameter(symbol.name, offset, width);
    }
    if (!reads_constant_memory(opcode))
      return nullptr;
    const Expr address = address_value(block, operands[1]);
    if (!address)
      return nullptr;
    const Expr arguments[] = {
        pool_.add(address, pool_.constant(64, std::uint64_t{i} * (width / 8)))};
    return pool_.uninterpreted(
        fmt::format("{}{}", opcode.space == StateSpace::constant ? "const" : "readonly", width),
        width, arguments);
  };
  std::vector<Expr> values; // all of them first: an element may overwrite the address
  for (unsigned i = 0; i < destinations.size(); ++i) {
    values.push_back(element(i));
    if (!values.back())
      return false;
  }
  for (unsigned i = 0; i < destinations.size(); ++i)
    assign(block, instruction, destinations[i], values[i], is_signed(opcode.type));
  return true;
}

bool Emulation::Implementation::compute_line(BlockId block, std::uint32_t index,
                                             const Instruction &instruction,
                                             const OpcodeInfo &info) {
  const Opcode &opcode = module_.opcode(instruction);
  const std::string_view shape = info.line->shape;
  const auto in = line_operands(module_, instruction, shape, info.form);
  // Under a guard the flag would be one of two.
  if (!in || (in->gives_carry && instruction.guard != no_register))
    return false;
  std::vector<Expr> sources;
  for (std::size_t i = 0; i < in->sources.size(); ++i) {
    const Operand &operand = in->sources[i];
    const Expr value =
        operand_value(block, operand, shape_width(in->letters[i], info.form), info.form.type);
    if (!value)
      return false;
    sources.push_back(value);
    // Where a 32-bit value is about to be extended, the register can be tested for wrap-around, and
    // a divisor for being zero.
    if (operand.kind == Operand::Kind::reg && value->width == 32 &&
        register_width(operand.reg) == 32 &&
        (shape[0] == 'W' || is_one_of(opcode.op, {Op::cvt, Op::div, Op::rem})))
      reads_.emplace_back(value, RegisterRead{index, operand.reg});
  }
  if (in->takes_carry)
    sources.push_back(read(block, carry_));
  const auto compute = [&](Args<ExprPool> list) {
    return info.line->evaluate(pool_, info.form, list);
  };
  Expr result = compute(sources);
  if (in->destinations.size() == 2) {
    const Expr second =
        semantics::second_of(pool_, opcode, result, Args<ExprPool>(sources), compute);
    assign(block, instruction, in->destinations[0], result, false);
    assign(block, instruction, in->destinations[1], second, false);
    return true;
  }
  if (in->gives_carry) {
    if (needed(carry_))
      write(carry_, semantics::carry_of(pool_, result, in->width));
    result = pool_.truncate(result, in->width);
  }
  assign(block, instruction, in->destinations[0], result, info.form.is_signed);
  return true;
}

// Floating point, and integer forms without a line of their own: a function of the operands, named
// by the whole opcode.
bool Emulation::Implementation::compute_uninterpreted(BlockId block,
                                                      const Instruction &instruction) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  if (operands[0].kind != Operand::Kind::reg || operands[0].selector || uses_carry(opcode))
    return false;
  std::vector<Expr> sources;
  for (const Operand &operand : operands.subspan(1)) {
    const unsigned width = operand.kind == Operand::Kind::reg ? register_width(operand.reg) : 64;
    const Expr value = width == 0 ? nullptr : operand_value(block, operand, width);
    if (!value)
      return false;
    sources.push_back(value);
  }
  assign(block, instruction, operands[0],
         pool_.uninterpreted(opcode.text, register_width(operands[0].reg), sources), false);
  return true;
}

} // namespace ptxasw::emulator
