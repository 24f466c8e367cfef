// A register with several definitions is clean if all of them are, under the assumption that it is
// (the induction of independence.cpp). It then stands for itself, as something that may change from
// one time to the next; a product with it never cancels, since the two values could be of different
// times. So passes follow each other, each with the registers that the last one found not to be
// clean, until the assumption holds.

#include "analysis/shape_values.h"

#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::analysis {

using namespace shape_algebra;

namespace {

constexpr unsigned passes_budget = 64;
constexpr unsigned definition_depth_budget = 500; ///< of definitions within definitions; what is
                                                  ///< deeper counts as a register with several

} // namespace

std::optional<IndexRegister> index_register(std::string_view name) {
  for (const std::string_view what : {"tid", "ntid", "ctaid", "nctaid"})
    if (name.size() == what.size() + 3 && name[0] == '%' && name.substr(1, what.size()) == what &&
        name[what.size() + 1] == '.')
      for (const std::string_view names : {"xr", "yg", "zb", "wa"})
        if (names.find(name.back()) != std::string_view::npos)
          return IndexRegister{name.substr(1, what.size()), names[0]};
  return std::nullopt;
}

ShapeValues::ShapeValues(const Module &module, const Function &kernel, PlainCalls &calls, char axis)
    : module_(module), kernel_(kernel), calls_(calls), axis_(axis),
      values_(kernel.registers.size()), states_(kernel.registers.size()),
      definitions_(kernel.registers.size()), read_(kernel.registers.size(), false) {
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
    for_each_register(module, kernel.instructions[i], [&](RegisterId reg, RegisterUse use) {
      if (use == RegisterUse::read)
        read_[reg] = true;
      else if (definitions_[reg].empty() || definitions_[reg].back() != i)
        definitions_[reg].push_back(i);
    });
}

bool ShapeValues::find() {
  for (unsigned pass = 0; pass < passes_budget; ++pass)
    if (settle())
      return true;
  return false;
}

bool ShapeValues::goes_along(const Polynomial &place) const {
  return place.contains({global_index}) ||
         std::any_of(symbols_.begin(), symbols_.end(), [&](const auto &symbol) {
           return symbol.first.starts_with("%tid.") && place.contains({symbol.second});
         });
}

Polynomial ShapeValues::special(std::string_view name, std::uint32_t line) {
  if (const auto index = index_register(name)) {
    if (index->axis != axis_) // stays as it is
      return of(symbol_atom(fmt::format("%{}.{}", index->what, index->axis)));
    if (index->what == "ctaid")
      return of(block_index);
    if (index->what == "ntid")
      return of(block_extent);
    if (index->what == "nctaid")
      return of(grid_extent);
    return thread_index();
  }
  if (name == "WARP_SZ")
    return number(32);
  if (name.starts_with("%reserved_smem_offset_")) // the target's
    return of(symbol_atom(std::string(name)));
  if (name == "%laneid" || name == "%warpid" || name == "%nwarpid" ||
      name.starts_with("%lanemask_") || name == "%total_smem_size" || name == "%dynamic_smem_size")
    return tainted(line, fmt::format("{} depends on the shape of the block", name), true);
  return tainted(line, fmt::format("{} is not followed", name), false);
}

// The same thing whenever it is read: a parameter, an address, a special register.
AtomId ShapeValues::symbol_atom(const std::string &name) {
  const auto [found, is_new] = symbols_.try_emplace(name, 0);
  if (is_new)
    found->second = new_atom(true, true, -1);
  return found->second;
}

Polynomial ShapeValues::value(const Operand &operand, std::uint32_t line) {
  switch (operand.kind) {
  case Operand::Kind::reg:
    if (operand.selector != 0) // a part of it
      return opaque({value(operand.reg)}, line, true);
    return value(operand.reg);
  case Operand::Kind::special:
    return special(module_.text(operand.span), line);
  case Operand::Kind::symbol:
    if (const Variable *variable = module_.variable(module_.symbol(operand));
        variable && variable->space == StateSpace::shared)
      return tainted(line, "shared memory: threads of a block meet there", false);
    return add(of(symbol_atom("&" + std::string(module_.symbol(operand).name))),
               number(operand.value));
  case Operand::Kind::integer:
    return number(operand.value);
  case Operand::Kind::real:
    return of(symbol_atom(fmt::format("real {:x}", static_cast<std::uint64_t>(operand.value))));
  case Operand::Kind::address:
    return add(value(module_.children(operand)[0], line), number(operand.value));
  case Operand::Kind::sink:
    return {};
  case Operand::Kind::vector:
  case Operand::Kind::pair:
  case Operand::Kind::group:
  case Operand::Kind::other: {
    std::vector<Polynomial> parts;
    for (const Operand &child : module_.children(operand))
      parts.push_back(value(child, line));
    return opaque(parts, line, true);
  }
  }
  return {};
}

// A function of these that is not followed. `pure`: of nothing else.
Polynomial ShapeValues::opaque(const std::vector<Polynomial> &inputs, std::uint32_t line,
                               bool pure) {
  bool stable = pure;
  for (const Polynomial &input : inputs) {
    if (!is_clean(input)) {
      const Taint why = stain_of(input);
      return tainted(why.line != 0 ? why.line : line, why.reason, why.certain);
    }
    stable &= is_stable(input);
  }
  return of(new_atom(true, stable, -1));
}

Polynomial ShapeValues::value(RegisterId reg) {
  State &state = states_[reg];
  if (state == State::done)
    return values_[reg];
  if (state == State::at_work || definitions_[reg].size() != 1 || depth_ > definition_depth_budget)
    return phi(reg);
  state = State::at_work;
  ++depth_;
  Polynomial result = defined_by(kernel_.instructions[definitions_[reg][0]], reg);
  --depth_;
  states_[reg] = State::done;
  // Asked for while being computed: it is defined by itself.
  const bool cyclic = phis_.contains(reg);
  return values_[reg] = cyclic ? of(phis_.at(reg)) : std::move(result);
}

Polynomial ShapeValues::phi(RegisterId reg) {
  const auto [found, is_new] = phis_.try_emplace(reg, 0);
  if (is_new) {
    const auto taint = tainted_phis_.find(reg);
    found->second = taint == tainted_phis_.end() ? new_atom(true, false, -1)
                                                 : new_atom(false, false, taint->second);
  }
  return of(found->second);
}

// What an instruction writes to a register, its guard included.
Polynomial ShapeValues::defined_by(const Instruction &instruction, RegisterId reg) {
  Polynomial result = bounded(computed_by(instruction, reg));
  if (instruction.guard == no_register)
    return result;
  const Polynomial guard = value(instruction.guard);
  return is_clean(guard) ? result : opaque({guard, result}, instruction.line, true);
}

Polynomial ShapeValues::computed_by(const Instruction &instruction, RegisterId reg) {
  const Opcode &opcode = module_.opcode(instruction);
  const auto operands = module_.operands(instruction);
  const std::uint32_t line = instruction.line;
  const auto unknown = [&](std::string_view why) {
    return tainted(line, fmt::format("`{}`: {}", opcode.text, why), false);
  };
  if (!instruction.well_formed || operands.empty())
    return unknown("not understood");
  std::vector<Polynomial> inputs;
  for (std::size_t i = 1; i < operands.size(); ++i)
    inputs.push_back(value(operands[i], line));
  if (opcode.op == Op::ld || opcode.op == Op::ldu)
    return loaded(opcode, inputs, operands, line);
  if (opcode.op == Op::shfl || opcode.op == Op::vote || opcode.op == Op::match ||
      opcode.op == Op::redux || opcode.op == Op::activemask || opcode.op == Op::elect)
    return unknown("what other lanes of the warp have");
  if (opcode.op == Op::atom)
    return unknown("what an atomic returns depends on the order of threads");
  if (opcode.op == Op::call && calls_.is_plain(instruction))
    return opaque(inputs, line, false);
  if (!is_pure(opcode) && opcode.op != Op::isspacep)
    return unknown("not followed");
  if (opcode.op == Op::cvta && opcode.space == StateSpace::shared)
    return tainted(line, "shared memory: threads of a block meet there", false);
  if (uses_carry(opcode))
    return unknown("a carry");
  // Narrow types are made to wrap around.
  const bool narrow = bit_width(opcode.type) < 32 || (opcode.second_type != ScalarType::none &&
                                                      bit_width(opcode.second_type) < 32);
  if (auto followed = arithmetic(opcode, inputs, operands, reg);
      followed && (std::all_of(inputs.begin(), inputs.end(),
                               [&](const Polynomial &p) { return is_clean(p); }) ||
                   (!narrow && keeps_number(opcode, inputs))))
    return *followed;
  // Equality of two integers is a question about their difference.
  if ((opcode.op == Op::setp || opcode.op == Op::set) && !narrow && inputs.size() >= 2 &&
      !is_float(opcode.type) && !is_float(opcode.second_type) &&
      (opcode.has(Modifier::eq) || opcode.has(Modifier::ne))) {
    inputs[0] = add(inputs[0], inputs[1], -1);
    inputs.erase(inputs.begin() + 1);
  }
  return opaque(inputs, line, true);
}

// True if an instruction takes the numbers that its operands are, where these are not clean, for
// the same numbers: not what a conversion cuts off, nor a negative number that is extended
// without its sign.
bool ShapeValues::keeps_number(const Opcode &opcode, const std::vector<Polynomial> &inputs) const {
  ScalarType from = opcode.type;
  if (opcode.op == Op::cvt) {
    from = opcode.second_type;
    if (bit_width(opcode.type) < bit_width(from))
      return false;
    if (bit_width(opcode.type) == bit_width(from))
      return true;
  } else if (!opcode.has(Modifier::wide)) {
    return true;
  }
  return is_signed(from) || std::all_of(inputs.begin(), inputs.end(), [&](const Polynomial &p) {
           return is_clean(p) || is_not_negative(p);
         });
}

bool ShapeValues::is_not_negative(const Polynomial &p) {
  return p == thread_index() || std::all_of(p.begin(), p.end(), [](const auto &term) {
           return term.second >= 0 && std::all_of(term.first.begin(), term.first.end(),
                                                  [](AtomId atom) { return atom < first_free; });
         });
}

Polynomial ShapeValues::loaded(const Opcode &opcode, const std::vector<Polynomial> &inputs,
                               std::span<const Operand> operands, std::uint32_t line) {
  if (opcode.space == StateSpace::shared)
    return tainted(line, "shared memory: what other threads of the block wrote", false);
  if (effect_of(opcode) == Effect::sync)
    return tainted(line, fmt::format("`{}` is ordered with what others do", opcode.text), false);
  // A parameter is the same for the whole launch; a vector of it has more than one value. What
  // calls return lies in variables of the kernel.
  const Operand *const base =
      operands[1].kind == Operand::Kind::address ? &module_.children(operands[1])[0] : nullptr;
  const bool is_symbol = base && base->kind == Operand::Kind::symbol;
  const bool lasts = opcode.space == StateSpace::param &&
                     !(is_symbol && module_.symbol(*base).kind != Symbol::Kind::parameter);
  if (lasts && is_symbol && opcode.vector == 1)
    return of(symbol_atom(fmt::format("{} {}+{}", opcode.text, module_.symbol(*base).name,
                                      base->value + operands[1].value)));
  return opaque(inputs, line, lasts);
}

// Sums and products; nothing for anything else.
std::optional<Polynomial> ShapeValues::arithmetic(const Opcode &opcode,
                                                  const std::vector<Polynomial> &in,
                                                  std::span<const Operand> operands,
                                                  RegisterId reg) const {
  if (operands[0].kind != Operand::Kind::reg || operands[0].reg != reg ||
      operands[0].selector != 0 || is_float(opcode.type) || is_float(opcode.second_type) ||
      opcode.has(Modifier::sat) || opcode.has(Modifier::hi) || opcode.vector != 1)
    return std::nullopt;
  const Op op = opcode.op;
  const auto is_packed = [&] { return opcode.text.find("x2") != std::string_view::npos; };
  if (is_packed())
    return std::nullopt;
  if (op == Op::cvta && in.size() == 1 && opcode.space != StateSpace::global &&
      opcode.space != StateSpace::constant && opcode.space != StateSpace::param)
    return std::nullopt; // a window somewhere
  if ((op == Op::mov || op == Op::cvta || op == Op::cvt) && in.size() == 1 &&
      operands[1].kind != Operand::Kind::vector)
    return in[0];
  if (op == Op::add && in.size() == 2)
    return add(in[0], in[1]);
  if (op == Op::sub && in.size() == 2)
    return add(in[0], in[1], -1);
  if (op == Op::neg && in.size() == 1)
    return add({}, in[0], -1);
  if (op == Op::not_ && in.size() == 1 && opcode.type != ScalarType::pred) // -1 - x
    return add(number(-1), in[0], -1);
  if (op == Op::mul && in.size() == 2)
    return mul(in[0], in[1]);
  if (op == Op::mad && in.size() == 3) {
    auto product = mul(in[0], in[1]);
    if (product)
      return add(std::move(*product), in[2]);
  }
  if (op == Op::shl && in.size() == 2 && operands[2].kind == Operand::Kind::integer &&
      operands[2].value >= 0 && operands[2].value < std::min(63u, bit_width(opcode.type)))
    return mul(in[0], number(std::int64_t{1} << operands[2].value));
  return std::nullopt;
}

// One pass under the assumption that all registers with several definitions are clean except
// those that are known not to be. True if the assumption holds.
bool ShapeValues::settle() {
  std::fill(states_.begin(), states_.end(), State::fresh);
  phis_.clear();
  symbols_.clear();
  forget(kept_stains_);
  for (const Instruction &instruction : kernel_.instructions)
    for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
      if (use != RegisterUse::read && read_[reg])
        value(reg);
    });
  bool holds = true;
  // Looking at definitions may find further registers of that kind.
  for (std::size_t seen = 0; seen < phis_.size();) {
    std::vector<RegisterId> list;
    for (const auto &[reg, p] : phis_)
      list.push_back(reg);
    seen = list.size();
    for (const RegisterId reg : list) {
      if (tainted_phis_.contains(reg))
        continue;
      for (const std::uint32_t definition : definitions_[reg]) {
        const Polynomial p = defined_by(kernel_.instructions[definition], reg);
        if (is_clean(p))
          continue;
        Taint why = stain_of(p);
        if (why.line == 0)
          why.line = kernel_.instructions[definition].line;
        new_taints_.emplace_back(reg, std::move(why));
        holds = false;
        break;
      }
    }
  }
  if (holds)
    return true;
  forget(kept_stains_);
  for (auto &[reg, why] : new_taints_) {
    if (tainted_phis_.contains(reg))
      continue;
    tainted_phis_[reg] = new_taint(std::move(why));
  }
  new_taints_.clear();
  kept_stains_ = taints();
  return false;
}

} // namespace ptxasw::analysis
