// What an instruction computes is a line of the tables of instructions, as everywhere; one that has
// no line but computes from its operands alone is a function of these, by the opcode's name. Loads
// that nothing orders are functions of the state of memory and of the address. All else is an
// event, which the other kernel has to do as well.

#include "analysis/prove/thread_steps.h"

#include "emulator/facts/reading.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/evaluator.h"
#include "emulator/semantics/one_value.h"
#include "emulator/semantics/parameter_layout.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis {
namespace {

/// Bytes that all shared, or all local, variables of a kernel lie below.
constexpr std::uint64_t own_window = 1 << 24;

/// What an address consists of: a sum of terms without the constant, and that.
std::pair<Expr, std::uint64_t> without_constant(FloatTerms &terms, Expr address) {
  if (address->kind == ExprKind::constant)
    return {terms.constant(address->width, 0), address->value.low};
  if (address->kind != ExprKind::sum)
    return {address, 0};
  const Expr constant = terms.constant(address->width, address->value);
  return {terms.sub(address, constant), address->value.low};
}

} // namespace

// --- what a launch gives

LaunchTerms::LaunchTerms(FloatTerms &terms, const Function &kernel,
                         const ProofAssumptions &assumptions)
    : terms_(terms), no_wrap_(assumptions.no_wrap), disjoint_(assumptions.disjoint) {
  const auto given = [&](const std::string &name, unsigned width) -> Expr {
    for (const LaunchRelation &relation : assumptions.relations)
      if (relation.kind == LaunchRelation::Kind::equal && relation.modulus == 0 &&
          relation.left.size() == 1 && relation.left[0].coefficient == 1 &&
          relation.left[0].names == std::vector{name} && relation.right.size() == 1 &&
          relation.right[0].names.empty())
        return terms_.constant(width, static_cast<std::uint64_t>(relation.right[0].coefficient));
    return nullptr;
  };
  const auto symbol = [&](const std::string &name, unsigned width, std::uint64_t most) {
    const Expr result = terms_.symbol(name, width, most);
    uniform_.insert(result);
    return result;
  };
  for (int axis = 0; axis < 3; ++axis) {
    const char letter = "xyz"[axis];
    const std::uint64_t most_threads = axis == 2 ? 64 : 1024;
    const std::uint64_t most_blocks = axis == 0 ? 0x7fffffff : 0xffff;
    for (const bool of_grid : {false, true}) {
      const std::string extent = fmt::format("n{}.{}", of_grid ? "ctaid" : "tid", letter);
      Expr count = given(extent, 32);
      if (of_grid && assumptions.grid)
        count = terms_.constant(32, (*assumptions.grid)[axis]);
      if (!of_grid && assumptions.block)
        count = terms_.constant(32, (*assumptions.block)[axis]);
      if (!count)
        count = symbol("%" + extent, 32, of_grid ? most_blocks : most_threads);
      const std::string index = "%" + extent.substr(1);
      const std::uint64_t least = count->kind == ExprKind::constant
                                      ? count->value.low
                                      : (of_grid ? most_blocks : most_threads);
      Expr number = least == 1 ? terms_.constant(32, 0)
                    : of_grid  ? symbol(index, 32, least - 1)
                               : terms_.symbol(index, 32, least - 1);
      known_["%" + extent] = count;
      known_[index] = number;
      facts_.push_back(terms_.ult(number, count));
      plain_numbers_.insert({count, number});
    }
  }
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Variable &parameter = kernel.parameters[i];
    const std::uint64_t begin = kernel_parameter_offset(kernel, i), size = parameter.size();
    const std::uint64_t step = !parameter.is_array && parameter.vector == 1 ? size
                               : size % 8 == 0                              ? 8
                               : size % 4 == 0                              ? 4
                                                                            : 1;
    for (std::uint64_t at = 0; at < size && step <= 8; at += step) {
      const auto width = static_cast<unsigned>(8 * step);
      const ParameterField field{parameter.name, static_cast<std::int64_t>(at), width};
      const std::string name = facts::parameter_name(field, kernel);
      const auto bits = assumptions.parameters.bits(field);
      Expr value = bits ? terms_.constant(width, *bits) : given(name, width);
      if (!value)
        value = symbol(name, width, mask64(width));
      (width == 64 ? pointers_ : plain_numbers_).insert(value);
      cells_.push_back({begin + at, value});
      if (step == size)
        known_[name] = value;
    }
  }
  for (const LaunchRelation &relation : assumptions.relations)
    add_relation(relation);
}

Expr LaunchTerms::named(const std::string &name) {
  const auto found = known_.find(name);
  if (found != known_.end())
    return found->second;
  const auto special = known_.find("%" + name);
  return special == known_.end() ? nullptr : special->second;
}

void LaunchTerms::add_relation(const LaunchRelation &relation) {
  using Kind = LaunchRelation::Kind;
  const auto of = [&](const std::string &name) { return named(name); };
  const Expr left = value_of(terms_, relation.left, of),
             right = value_of(terms_, relation.right, of);
  if (!left || !right)
    return;
  if (relation.modulus != 0)
    facts_.push_back(terms_.eq(terms_.srem(left, terms_.constant(64, relation.modulus)), right));
  else
    facts_.push_back(relation.kind == Kind::less         ? terms_.slt(left, right)
                     : relation.kind == Kind::less_equal ? terms_.sle(left, right)
                     : relation.kind == Kind::equal      ? terms_.eq(left, right)
                                                         : terms_.bit_not(terms_.eq(left, right)));
}

Expr LaunchTerms::special(std::string_view name) {
  if (name == "WARP_SZ")
    return terms_.constant(32, warp_lanes);
  if (const auto found = known_.find(name); found != known_.end() && name.starts_with('%'))
    return found->second;
  const bool is_lane = name == "%laneid" || name.starts_with("%lanemask_");
  const bool is_block = name.starts_with("%cluster_") || name.starts_with("%clusterid.") ||
                        name.starts_with("%nclusterid.") || name == "%is_explicit_cluster" ||
                        name == "%dynamic_smem_size";
  if (!is_lane && !is_block)
    return nullptr;
  const Expr symbol =
      terms_.symbol(std::string(name), 32, name == "%laneid" ? warp_lanes - 1 : mask64(32));
  if (is_block)
    uniform_.insert(symbol);
  plain_numbers_.insert(symbol);
  return known_[std::string(name)] = symbol;
}

Expr LaunchTerms::parameter(std::uint64_t offset, unsigned bytes) {
  Expr result = nullptr;
  while (bytes != 0) {
    const auto next =
        std::upper_bound(cells_.begin(), cells_.end(), offset,
                         [](std::uint64_t at, const Cell &cell) { return at < cell.begin; });
    if (next == cells_.begin())
      return nullptr;
    const Cell &cell = *std::prev(next);
    const std::uint64_t from = offset - cell.begin, size = cell.value->width / 8u;
    if (from >= size)
      return nullptr;
    const auto take = static_cast<unsigned>(std::min<std::uint64_t>(bytes, size - from));
    const Expr part = terms_.extract(cell.value, static_cast<unsigned>(8 * from), 8 * take);
    result = result ? terms_.concat(part, result) : part;
    offset += take;
    bytes -= take;
  }
  return result;
}

Expr LaunchTerms::place(const std::string &name, std::uint64_t limit) {
  Expr &symbol = known_["&" + name];
  if (!symbol) {
    symbol = terms_.symbol("&" + name, 64, limit);
    uniform_.insert(symbol);
    pointers_.insert(symbol);
  }
  return symbol;
}

// Returns true if no address can be in a value: it comes of numbers alone that the launch and the
// loops give, which no memory gave and no pointer is cut into.
bool LaunchTerms::is_plain_number(Expr expr) const {
  bool plain = true;
  for_each_node(expr, [&](Expr node) {
    plain &= node->kind != ExprKind::uf &&
             (node->kind != ExprKind::symbol || plain_numbers_.contains(node));
  });
  return plain;
}

// What an address is an offset from; null: not known. The other summands must be numbers, and too
// small to be an address: one of 64 bits that is a parameter, too, might be the offset.
Expr LaunchTerms::pointer(Expr address) const {
  constexpr std::uint64_t most_factor = 1 << 12;
  if (pointers_.contains(address))
    return address;
  if (address->kind != ExprKind::sum)
    return nullptr;
  Expr result = nullptr;
  for (std::uint32_t i = 0; i < address->child_count; ++i) {
    const Expr term = address->children[i];
    const std::uint64_t factor = address->coefficients[i];
    if (!result && factor == 1 && pointers_.contains(term))
      result = term;
    else if (std::min(factor, 0 - factor) > most_factor || term->kind == ExprKind::concat ||
             !is_plain_number(term))
      return nullptr;
  }
  return result;
}

bool LaunchTerms::lie_apart(Expr a, unsigned a_bytes, Expr b, unsigned b_bytes) {
  const auto [a_base, a_offset] = without_constant(terms_, a);
  const auto [b_base, b_offset] = without_constant(terms_, b);
  const std::uint64_t forward = (b_offset - a_offset) & mask64(a->width),
                      backward = (a_offset - b_offset) & mask64(a->width);
  if (a_base == b_base)
    return forward >= a_bytes && backward >= b_bytes;
  const Expr one = pointer(a), other = pointer(b);
  return disjoint_ && one && other && one != other;
}

// What is no sum, product or extension stays as it is.
Expr LaunchTerms::unwrapped(Expr expr) {
  if (const auto found = unwrapped_.find(expr); found != unwrapped_.end())
    return found->second;
  Expr result = expr;
  if (expr->kind == ExprKind::sum || expr->kind == ExprKind::product ||
      expr->kind == ExprKind::ite) {
    std::vector<Expr> children;
    for (const Expr child : expr->operands())
      children.push_back(unwrapped(child));
    result = terms_.rebuild(expr, children);
  } else if ((expr->kind == ExprKind::sext || expr->kind == ExprKind::zext) &&
             expr->children[0]->width == 32 && expr->width == 64) {
    result = widened(expr->children[0]);
  }
  return unwrapped_[expr] = result;
}

// From 32 to 64 bits: unsigned numbers are read as signed ones, and no loop makes 2^31 iterations.
// The low half of any other 64 bits stays what it is: it may be a mask or a `mov`, of which nothing
// is assumed, as well as a conversion.
Expr LaunchTerms::widened(Expr expr) {
  if (const auto found = widened_.find(expr); found != widened_.end())
    return found->second;
  Expr result = nullptr;
  switch (expr->kind) {
  case ExprKind::sum:
    result = terms_.sext(terms_.constant(32, expr->value), 64);
    for (std::uint32_t i = 0; i < expr->child_count; ++i)
      result =
          terms_.add(result, terms_.mul(terms_.sext(terms_.constant(32, expr->coefficients[i]), 64),
                                        widened(expr->children[i])));
    break;
  case ExprKind::product:
    result = terms_.constant(64, 1);
    for (const Expr child : expr->operands())
      result = terms_.mul(result, widened(child));
    break;
  case ExprKind::extract: {
    const Expr whole = expr->children[0];
    const bool is_round = whole->width == 64 && plain_numbers_.contains(whole);
    result = expr->index == 0 && is_round ? whole : terms_.sext(expr, 64);
    break;
  }
  case ExprKind::ite:
    result = terms_.ite(expr->children[0], widened(expr->children[1]), widened(expr->children[2]));
    break;
  default:
    result = terms_.sext(expr, 64);
  }
  return widened_[expr] = result;
}

// --- memory

// What is read by a pointer of no space may be of any.
Expr MemoryTerms::load(FloatTerms &terms, StateSpace space, Expr address, unsigned bytes,
                       bool read_only) {
  const std::string name = fmt::format("load {}", bytes);
  const unsigned width = 8 * bytes;
  if (space == StateSpace::constant) {
    const Expr list[] = {address};
    return terms.uninterpreted("constant " + name, width, list);
  }
  if (read_only) {
    const Expr list[] = {at_first, address};
    return terms.uninterpreted("global " + name, width, list);
  }
  for (const Content &content : contents)
    if (content.space == space && content.address == address && content.bytes == bytes)
      return content.value;
  Expr value = nullptr;
  if (space == StateSpace::generic) {
    const Expr list[] = {global, shared, local, address};
    value = terms.uninterpreted("generic " + name, width, list);
  } else {
    const Expr list[] = {space == StateSpace::global   ? global
                         : space == StateSpace::shared ? shared
                                                       : local,
                         address};
    value = terms.uninterpreted(fmt::format("{} {}", to_string(space), name), width, list);
  }
  contents.push_back({space, address, bytes, value});
  return value;
}

void MemoryTerms::renew(FloatTerms &terms, StateSpace space) {
  const bool any = space == StateSpace::generic;
  if (any || space == StateSpace::global)
    global = terms.symbol("global memory", 64);
  if (any || space == StateSpace::shared)
    shared = terms.symbol("shared memory", 64);
  if (any || space == StateSpace::local)
    local = terms.symbol("local memory", 64);
}

void MemoryTerms::store(LaunchTerms &launch, StateSpace space, Expr address, Expr value) {
  const unsigned bytes = value->width / 8u;
  std::erase_if(contents, [&](const Content &content) {
    if (content.space != space)
      return content.space == StateSpace::generic || space == StateSpace::generic;
    return !launch.lie_apart(content.address, content.bytes, address, bytes);
  });
  renew(launch.terms(), space);
  contents.push_back({space, address, bytes, value});
}

void MemoryTerms::forget(FloatTerms &terms) {
  renew(terms, StateSpace::generic);
  contents.clear();
}

// --- a thread

ThreadSteps::ThreadSteps(const Module &module, const Function &kernel, FloatTerms &terms,
                         LaunchTerms &launch)
    : module_(module), function_(kernel), terms_(terms), launch_(launch), cfg_(module, kernel),
      liveness_(module, kernel, cfg_), loop_at_(kernel.instructions.size() + 1, no_index) {
  for (LoopId loop = 0; loop < cfg_.loops().size(); ++loop)
    loop_at_[cfg_.blocks()[cfg_.loops()[loop].header].first] = loop;
  for (const StateSpace space : {StateSpace::shared, StateSpace::local}) {
    const std::vector<const Variable *> list = variables(space);
    for (std::size_t i = 0; i < list.size(); ++i)
      places_[list[i]] = launch.place(fmt::format("{} {}", to_string(space), i), own_window);
  }
}

ThreadPlace ThreadSteps::start() const {
  ThreadPlace place;
  place.registers.resize(function_.registers.size() + 1);
  return place;
}

std::vector<const Variable *> ThreadSteps::variables(StateSpace space) const {
  std::set<const Variable *> named;
  for (const Instruction &instruction : function_.instructions)
    for (const Operand &operand : module_.operands(instruction)) {
      const auto note = [&](const Operand &one) {
        if (one.kind == Operand::Kind::symbol)
          named.insert(module_.variable(module_.symbol(one)));
      };
      note(operand);
      for (const Operand &child : module_.children(operand))
        note(child);
    }
  std::vector<const Variable *> result;
  for (const Variable &variable : module_.variables)
    if (variable.space == space && named.contains(&variable))
      result.push_back(&variable);
  for (const Variable &variable : function_.variables)
    if (variable.space == space)
      result.push_back(&variable);
  return result;
}

void ThreadSteps::refuse(const Instruction &instruction, std::string reason) const {
  throw NotFollowed{std::move(reason), instruction.line};
}

std::uint32_t ThreadSteps::line(std::uint32_t instruction) const {
  const auto &list = function_.instructions;
  return instruction < list.size() ? list[instruction].line : list.empty() ? 0 : list.back().line;
}

unsigned ThreadSteps::width(std::size_t reg) const {
  if (reg >= function_.registers.size())
    return 1;
  const Register &one = function_.registers[reg];
  return one.vector == 1 ? bit_width(one.type) : 0;
}

bool ThreadSteps::is_float_register(std::size_t reg) const {
  return reg < function_.registers.size() && is_float(function_.registers[reg].type);
}

std::vector<bool> ThreadSteps::written_in(LoopId loop) const {
  std::vector<bool> written(function_.registers.size() + 1);
  for (const BlockId block : blocks_in(cfg_, loop))
    for (std::uint32_t i = cfg_.blocks()[block].first; i < cfg_.blocks()[block].end; ++i) {
      const Instruction &instruction = function_.instructions[i];
      for (const RegisterId reg : written_registers(module_, instruction))
        written[reg] = true;
      if (uses_carry(opcode(instruction)))
        written.back() = true;
    }
  return written;
}

bool ThreadSteps::is_live(LoopId loop, std::size_t reg) const {
  return reg >= function_.registers.size() ||
         liveness_.live_in(cfg_.loops()[loop].header, static_cast<RegisterId>(reg));
}

std::uint64_t ThreadSteps::order(const ThreadPlace &place) const {
  if (is_end(place.at))
    return ~std::uint64_t{0};
  return std::uint64_t{cfg_.order_of(cfg_.block_of(place.at))} << 32 | place.at;
}

Expr ThreadSteps::guard(const Instruction &instruction, const ThreadPlace &place,
                        KnownConditions &known) const {
  if (instruction.guard == no_register)
    return terms_.constant(1, 1);
  const Expr value = place.registers[instruction.guard];
  if (!value)
    refuse(instruction, "its predicate was not written");
  return known(instruction.guard_negated ? terms_.bit_not(value) : value);
}

Expr ThreadSteps::symbol(const Operand &operand) const {
  const Symbol &symbol = module_.symbol(operand);
  const Variable *const variable = module_.variable(symbol);
  if (!variable || symbol.kind == Symbol::Kind::parameter)
    return nullptr;
  const auto own = places_.find(variable);
  const bool is_shared =
      variable->space == StateSpace::global || variable->space == StateSpace::constant;
  if (own == places_.end() && (!is_shared || symbol.kind != Symbol::Kind::module_variable))
    return nullptr;
  const Expr base = own != places_.end() ? own->second : launch_.place(std::string(variable->name));
  return terms_.add(base, terms_.constant(64, static_cast<std::uint64_t>(operand.value)));
}

// Null: it is not followed. A register that was not written holds anything.
Expr ThreadSteps::read(const Operand &operand, unsigned width, const ThreadPlace &place) const {
  switch (operand.kind) {
  case Operand::Kind::reg: {
    if (operand.selector != 0 || this->width(operand.reg) == 0)
      return nullptr;
    Expr value = place.registers[operand.reg];
    if (!value)
      value = terms_.symbol("not written", this->width(operand.reg));
    if (operand.negated)
      value = terms_.bit_not(value);
    return value->width > width ? terms_.truncate(value, width) : terms_.zext(value, width);
  }
  case Operand::Kind::integer:
  case Operand::Kind::real: {
    const Expr value =
        terms_.constant(width, truncate(*literal(operand, width == 32   ? ScalarType::b32
                                                          : width == 64 ? ScalarType::b64
                                                                        : ScalarType::b16),
                                        width));
    return operand.negated ? terms_.bit_not(value) : value;
  }
  case Operand::Kind::special: {
    const Expr value = launch_.special(module_.text(operand.span));
    return !value || operand.negated ? nullptr
           : value->width > width    ? terms_.truncate(value, width)
                                     : terms_.zext(value, width);
  }
  case Operand::Kind::symbol: {
    const Expr value = symbol(operand);
    return value && width <= 64 ? terms_.truncate(value, width) : nullptr;
  }
  default:
    return nullptr;
  }
}

// 64 bits; the addition happens in the width of the address.
Expr ThreadSteps::address(const Operand &operand, const ThreadPlace &place,
                          KnownConditions &known) const {
  const auto base = module_.children(operand);
  if (operand.kind != Operand::Kind::address || base.size() > 1)
    return nullptr;
  const Expr offset = terms_.constant(64, static_cast<std::uint64_t>(operand.value));
  if (base.empty())
    return offset;
  const unsigned bits = base[0].kind == Operand::Kind::reg ? width(base[0].reg) : 64;
  const Expr value = bits == 32 || bits == 64 ? read(base[0], bits, place) : nullptr;
  if (!value)
    return nullptr;
  return known(launch_.address(terms_.zext(terms_.add(value, terms_.truncate(offset, bits)), 64)));
}

// Shared and local memory have 32 bits of addresses; what does not fit in them faults.
Expr ThreadSteps::element(const Opcode &opcode, const Operand &operand, std::uint64_t offset,
                          const ThreadPlace &place, KnownConditions &known) const {
  Expr first = address(operand, place, known);
  if (first && (opcode.space == StateSpace::shared || opcode.space == StateSpace::local))
    first = terms_.truncate(first, 32);
  return first ? terms_.add(first, terms_.constant(first->width, offset)) : nullptr;
}

// Where the guard does not hold the register keeps what it has.
void ThreadSteps::write(ThreadPlace &place, const Instruction &instruction,
                        const Operand &destination, Expr value, bool sign_extends, Expr guard,
                        KnownConditions &known) const {
  if (destination.kind == Operand::Kind::sink)
    return;
  const unsigned bits = destination.kind == Operand::Kind::reg ? width(destination.reg) : 0;
  if (bits == 0 || destination.selector != 0)
    refuse(instruction, "a destination that is not followed");
  value = bits < value->width ? terms_.truncate(value, bits)
          : sign_extends      ? terms_.sext(value, bits)
                              : terms_.zext(value, bits);
  Expr &to = place.registers[destination.reg];
  if (guard->kind != ExprKind::constant)
    value = terms_.ite(guard, value, to ? to : terms_.symbol("not written", bits));
  to = known(value);
}

bool ThreadSteps::is_load(const Opcode &opcode) const {
  return opcode.op == Op::ld &&
         (effect_of(opcode) == Effect::load || opcode.space == StateSpace::param ||
          opcode.space == StateSpace::constant);
}

void ThreadSteps::load(ThreadPlace &place, const Instruction &instruction, Expr guard,
                       KnownConditions &known, MemoryTerms &memory) const {
  const Opcode &code = opcode(instruction);
  const auto operands = module_.operands(instruction);
  const unsigned bits = bit_width(code.type);
  if (operands.size() < 2 || bits < 8 || bits > 64 || code.has(Modifier::shared_cluster))
    refuse(instruction, fmt::format("`{}` is not followed", code.text));
  const auto to =
      operands[0].kind == Operand::Kind::vector ? module_.children(operands[0]) : operands.first(1);
  const auto bytes = static_cast<unsigned>(bits / 8);
  std::vector<Expr> values; // all of them first: an element may overwrite the address
  if (code.space == StateSpace::param) {
    const auto base = module_.children(operands[1]);
    const Variable *const variable = !base.empty() && base[0].kind == Operand::Kind::symbol &&
                                             module_.symbol(base[0]).kind == Symbol::Kind::parameter
                                         ? module_.variable(module_.symbol(base[0]))
                                         : nullptr;
    std::size_t index = 0;
    while (index < function_.parameters.size() && &function_.parameters[index] != variable)
      ++index;
    if (index == function_.parameters.size())
      refuse(instruction, "a parameter that is not the kernel's own, or by a pointer");
    for (std::size_t i = 0; i < to.size(); ++i) {
      const std::uint64_t offset = kernel_parameter_offset(function_, index) + i * bytes +
                                   static_cast<std::uint64_t>(operands[1].value) +
                                   static_cast<std::uint64_t>(base[0].value);
      values.push_back(launch_.parameter(offset, bytes));
      if (!values.back())
        refuse(instruction, "no parameter is there");
    }
  } else {
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Expr from = element(code, operands[1], i * bytes, place, known);
      if (!from)
        refuse(instruction, "an address that is not followed");
      values.push_back(memory.load(terms_, code.space, from, bytes, reads_constant_memory(code)));
    }
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    write(place, instruction, to[i], values[i], is_signed(code.type), guard, known);
}

void ThreadSteps::compute(ThreadPlace &place, const Instruction &instruction, Expr guard,
                          KnownConditions &known) const {
  const Opcode &code = opcode(instruction);
  const auto operands = module_.operands(instruction);
  const auto not_followed = [&]() {
    refuse(instruction, fmt::format("`{}` is not followed", code.text));
  };
  const auto value = [&](const Operand &operand, unsigned bits) {
    const Expr result = bits == 0 ? nullptr : read(operand, bits, place);
    if (!result)
      not_followed();
    return known(result);
  };
  if (!instruction.well_formed || operands.empty())
    not_followed();
  if (const auto move = vector_move(module_, instruction)) {
    if (!move->fits())
      not_followed();
    std::vector<Expr> parts;
    for (const Operand &source : move->sources)
      parts.push_back(value(source, move->source_width()));
    const Expr whole = semantics::pack<FloatTerms>(terms_, parts);
    for (std::size_t i = 0; i < move->destinations.size(); ++i)
      write(place, instruction, move->destinations[i],
            semantics::unpack<FloatTerms>(terms_, whole, i, move->destination_width()), false,
            guard, known);
    return;
  }
  const auto [entry, is_new] = lines_.try_emplace(&code);
  auto &[integer, real, form] = entry->second;
  if (is_new) {
    integer = find_line<ExprPool>(code);
    real = integer ? nullptr : find_float_line<FloatTerms>(code);
    form = {decode(code), decode_float_mode(code), &code};
  }
  if (!integer && !real) {
    if (operands[0].kind != Operand::Kind::reg || uses_carry(code))
      not_followed();
    std::vector<Expr> sources;
    for (const Operand &operand : operands.subspan(1))
      sources.push_back(
          value(operand, operand.kind == Operand::Kind::reg ? width(operand.reg) : 64));
    const unsigned bits = width(operands[0].reg);
    if (bits == 0)
      not_followed();
    return write(place, instruction, operands[0], terms_.uninterpreted(code.text, bits, sources),
                 false, guard, known);
  }
  const auto in =
      line_operands(module_, instruction, integer ? integer->shape : real->shape, form.form);
  if (!in || code.type == ScalarType::b128 ||
      (in->gives_carry && guard->kind != ExprKind::constant))
    not_followed();
  std::vector<Expr> sources;
  for (std::size_t i = 0; i < in->sources.size(); ++i)
    sources.push_back(value(in->sources[i], shape_width(in->letters[i], form.form)));
  if (in->takes_carry) {
    if (!place.registers.back())
      not_followed();
    sources.push_back(place.registers.back());
  }
  const TableLine &line = entry->second;
  const auto evaluate = [&](std::span<const Expr> list) {
    return line.integer ? line.integer->evaluate(terms_, line.form.form, list)
                        : line.real->evaluate(terms_, line.form, list);
  };
  Expr result = evaluate(sources);
  Expr second = nullptr;
  if (in->destinations.size() == 2)
    second = semantics::second_of<FloatTerms>(terms_, code, result, sources, evaluate);
  if (in->gives_carry) {
    place.registers.back() = known(semantics::carry_of<FloatTerms>(terms_, result, in->width));
    result = terms_.truncate(result, in->width);
  }
  write(place, instruction, in->destinations[0], result, !second && form.form.is_signed, guard,
        known);
  if (second)
    write(place, instruction, in->destinations[1], second, false, guard, known);
}

ThreadStop ThreadSteps::run(ThreadPlace &place, KnownConditions &known, MemoryTerms &memory,
                            std::uint64_t &budget) const {
  for (;;) {
    if (is_end(place.at))
      return ThreadStop::end;
    const Instruction &instruction = function_.instructions[place.at];
    if (budget == 0)
      refuse(instruction, "it takes too many steps");
    --budget;
    if (loop_at_[place.at] != no_index && !place.passes && place.part == 0)
      return ThreadStop::header;
    const Opcode &code = opcode(instruction);
    const Expr holds = guard(instruction, place, known);
    const bool decided = holds->kind == ExprKind::constant;
    std::uint32_t next = place.at + 1;
    if (decided && holds->value.is_zero()) {
      // goes on
    } else if (is_way(code)) {
      if (instruction.guard != no_register && wants_agreement(code))
        refuse(instruction, "a branch on which lanes must agree, whichever are together");
      if (!decided)
        return ThreadStop::choice;
      if (returns(code))
        next = static_cast<std::uint32_t>(function_.instructions.size());
      else if (const auto target = branch_target(module_, function_, instruction))
        next = *target;
      else
        refuse(instruction, "a branch that is not understood");
    } else if (is_load(code)) {
      load(place, instruction, holds, known, memory);
    } else if (is_pure(code)) {
      compute(place, instruction, holds, known);
    } else if (!is_one_of(code.op, {Op::prefetch, Op::prefetchu, Op::nanosleep, Op::pmevent})) {
      return decided ? ThreadStop::event : ThreadStop::choice;
    }
    place.at = next;
    place.passes = false;
  }
}

Expr ThreadSteps::choice(const ThreadPlace &place, KnownConditions &known) const {
  return guard(function_.instructions[place.at], place, known);
}

// What is written, and what is read besides, is told by the shape of the whole operand list.
ThreadEvent ThreadSteps::event(const ThreadPlace &place, KnownConditions &known) const {
  const Instruction &instruction = function_.instructions[place.at];
  const Opcode &code = opcode(instruction);
  const auto operands = module_.operands(instruction);
  ThreadEvent event;
  if (!instruction.well_formed || code.op == Op::call || code.op == Op::brx ||
      asks_which_lanes(code) || uses_carry(code) || !is_known(code))
    refuse(instruction, fmt::format("`{}` is not followed", code.text));
  if (effect_of(code) == Effect::store && code.op == Op::st) {
    const auto values = operands.size() == 2 && operands[1].kind == Operand::Kind::vector
                            ? module_.children(operands[1])
                            : operands.subspan(std::min<std::size_t>(1, operands.size()));
    const unsigned bits = bit_width(code.type);
    const Expr first =
        operands.empty()
            ? nullptr
            : element(code, operands[0], std::uint64_t{place.part} * (bits / 8), place, known);
    const Expr value = place.part < values.size() && bits >= 8 && bits <= 64
                           ? read(values[place.part], bits, place)
                           : nullptr;
    if (!first || !value || code.has(Modifier::shared_cluster))
      refuse(instruction, fmt::format("`{}` is not followed", code.text));
    event.what = fmt::format("st {} {}", to_string(code.space), bits);
    event.operands = {first, known(value)};
    event.stores = code.space;
    return event;
  }
  const FirstOperand role = first_operand(code);
  if (role == FirstOperand::unknown || code.space == StateSpace::param)
    refuse(instruction, fmt::format("`{}` is not followed", code.text));
  event.what = std::string(code.text);
  event.gathers = gathers_lanes(code);
  event.is_memory = !is_one_of(code.op, {Op::shfl, Op::vote, Op::match, Op::redux});
  for (std::size_t i = 0; i < operands.size(); ++i) {
    event.what += i == 0 ? ' ' : ',';
    if (i == 0 && role == FirstOperand::destination)
      describe_result(operands[i], event);
    else
      describe(operands[i], place, known, event);
  }
  return event;
}

void ThreadSteps::describe_result(const Operand &operand, ThreadEvent &event) const {
  using Kind = Operand::Kind;
  if (operand.kind == Kind::sink ||
      (operand.kind == Kind::reg && operand.selector == 0 && width(operand.reg) != 0)) {
    const bool is_kept = operand.kind == Kind::reg;
    event.what += is_kept ? fmt::format("r{}", width(operand.reg)) : "_";
    event.results.push_back(is_kept ? operand.reg : no_register);
    return;
  }
  if (operand.kind != Kind::vector && operand.kind != Kind::pair)
    throw NotFollowed{"a destination that is not followed"};
  event.what += operand.kind == Kind::vector ? '{' : '|';
  for (const Operand &child : module_.children(operand))
    describe_result(child, event);
  event.what += '}';
}

void ThreadSteps::describe(const Operand &operand, const ThreadPlace &place, KnownConditions &known,
                           ThreadEvent &event) const {
  using Kind = Operand::Kind;
  const auto add = [&](Expr value) {
    if (!value)
      throw NotFollowed{"an operand that is not followed", line(place.at)};
    event.what += 'v';
    event.operands.push_back(known(value->width < 64 ? terms_.zext(value, 64) : value));
  };
  switch (operand.kind) {
  case Kind::reg:
    return add(read(operand, width(operand.reg), place));
  case Kind::integer:
  case Kind::special:
  case Kind::symbol:
    return add(read(operand, 64, place));
  case Kind::real: // one number is other bits as f32 and as f64
    event.what += to_string(operand.real_type);
    return add(terms_.constant(64, {static_cast<std::uint64_t>(operand.value)}));
  case Kind::address:
    return add(address(operand, place, known));
  case Kind::sink:
    event.what += '_';
    return;
  case Kind::vector:
  case Kind::pair:
  case Kind::group:
    event.what += '{';
    for (const Operand &child : module_.children(operand))
      describe(child, place, known, event);
    event.what += '}';
    return;
  default:
    return add(nullptr);
  }
}

void ThreadSteps::finish(ThreadPlace &place, const ThreadEvent &event,
                         const std::vector<Expr> &results) const {
  const Instruction &instruction = function_.instructions[place.at];
  for (std::size_t i = 0; i < results.size(); ++i)
    if (event.results[i] != no_register)
      place.registers[event.results[i]] = results[i];
  ++place.part;
  const auto operands = module_.operands(instruction);
  const std::uint32_t parts =
      event.stores && operands[1].kind == Operand::Kind::vector ? operands[1].child_count : 1;
  if (place.part < parts)
    return;
  place.part = 0;
  ++place.at;
  place.passes = false;
}

} // namespace ptxasw::analysis
