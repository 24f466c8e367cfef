// Calls of functions of the same module.
//
// A function whose instructions leave global memory alone and order nothing is no obstacle between
// two loads. If it is small and without loops and calls of its own, it is emulated once, and at
// each call its results are written out in terms of the arguments, so that an address that a helper
// computes is known like any other. Everything else havocs its results and is an obstacle: calls by
// pointer, functions that are only declared or may be replaced by the linker (.weak), recursion.
//
// Arguments and results travel in `.param` variables. They are written and read in the block of the
// call (PTX ISA 7.1), so what they hold is followed within one block.

#include "emulator/symbolic/calls.h"
#include "emulator/symbolic/emulate_implementation.h"
#include "grammar/roles.h"

#include <fmt/core.h>

#include <algorithm>

namespace ptxasw::emulator {
namespace {

// Budgets: a function beyond one is an obstacle, or its results are opaque.
constexpr std::size_t inline_budget = 200;    ///< instructions of a function written out at calls
constexpr std::size_t result_budget = 1000;   ///< nodes of what it returns, at one call
constexpr std::size_t effect_budget = 20'000; ///< instructions examined for their effects
constexpr int effect_depth = 8;               ///< calls within calls

/// The variable that a `.param` access names; empty if it names none.
std::string_view parameter_name(const Module &module, const Operand &address) {
  if (address.kind != Operand::Kind::address || address.child_count != 1)
    return {};
  const Operand &base = module.children(address)[0];
  return base.kind == Operand::Kind::symbol ? module.symbol(base).name : std::string_view{};
}

bool declares(const std::vector<Variable> &variables, std::string_view name) {
  return std::any_of(variables.begin(), variables.end(),
                     [&](const Variable &variable) { return variable.name == name; });
}

/// True if only loads mention the parameters of a function.
bool only_loads_parameters(const Module &module, const Function &function) {
  const auto mentions = [&](const Operand &operand) {
    return operand.kind == Operand::Kind::symbol &&
           module.symbol(operand).kind == Symbol::Kind::parameter;
  };
  for (const Instruction &instruction : function.instructions) {
    if (module.opcode(instruction).op == Op::ld)
      continue;
    for (const Operand &operand : module.operands(instruction)) {
      const auto children = module.children(operand);
      if (mentions(operand) || std::any_of(children.begin(), children.end(), mentions))
        return false;
    }
  }
  return true;
}

} // namespace

const Function *CallTargets::of(const Instruction &call) const {
  const Symbol *const callee = callee_of(*module_, call);
  if (!callee || callee->kind != Symbol::Kind::function)
    return nullptr;
  const Function &function = module_->functions[callee->index];
  const bool known = function.has_body && !function.is_entry && function.linkage != Linkage::weak &&
                     function.linkage != Linkage::common;
  return known ? &function : nullptr;
}

// True if a function leaves alone what a followed load reads, and orders nothing. While a function
// is examined the answer is false: that covers recursion.
bool Emulation::Implementation::harmless(const Function &function, int depth) {
  const auto [entry, is_new] = harmless_.try_emplace(&function, false);
  if (!is_new || depth > effect_depth)
    return entry->second;
  for (const Instruction &instruction : function.instructions) {
    if (++effects_seen_ > effect_budget || !instruction.well_formed)
      return false;
    const Opcode &opcode = module_.opcode(instruction);
    const Effect effect = opcode_info(instruction).effect;
    const bool own_store = effect == Effect::store && !follows(opcode.space);
    if (effect == Effect::none || effect == Effect::load || own_store) {
      if (opcode.op == Op::exit)
        return false;
      continue;
    }
    const Function *callee = opcode.op == Op::call ? call_targets_.of(instruction) : nullptr;
    if (!callee || !harmless(*callee, depth + 1))
      return false;
  }
  return harmless_[&function] = true;
}

// True if lanes may be brought together in a function or what it calls.
bool Emulation::Implementation::gathers(const Function &function, int depth) {
  const auto [entry, is_new] = gathers_.try_emplace(&function, true);
  if (!is_new || depth > effect_depth)
    return entry->second;
  for (const Instruction &instruction : function.instructions) {
    if (++effects_seen_ > effect_budget)
      return true;
    const OpcodeInfo &info = opcode_info(instruction);
    const Function *callee = info.is_call ? call_targets_.of(instruction) : nullptr;
    if (info.gathers && (!callee || gathers(*callee, depth + 1)))
      return true;
  }
  return gathers_[&function] = false;
}

// What a function returns in terms of its parameters; null if it is not written out.
const Emulation::Implementation *Emulation::Implementation::callee(const Function &function) {
  const auto [entry, is_new] = callees_.try_emplace(&function);
  if (!is_new)
    return entry->second.get();
  if (role_ == Role::callee || function.instructions.size() > inline_budget ||
      !harmless(function, 0) || function.return_parameters.empty() ||
      !function.return_registers.empty())
    return nullptr;
  for (const Variable &parameter : function.parameters)
    if (parameter.space != StateSpace::param)
      return nullptr;
  unsigned returns = 0;
  for (const Instruction &instruction : function.instructions) {
    const Op op = module_.opcode(instruction).op;
    returns += op == Op::ret;
    if (op == Op::call)
      return nullptr;
  }
  auto emulated = std::make_unique<Implementation>(module_, function, facts_, lanes_, Role::callee);
  if (returns != 1 || !emulated->cfg_.well_formed() || !emulated->cfg_.loops().empty())
    return nullptr;
  for (const BlockId block : emulated->cfg_.reverse_postorder())
    if (emulated->cfg_.irreducible(block))
      return nullptr;
  emulated->run();
  if (!emulated->complete_)
    return nullptr;
  // What it returns must be written where it returns, so that it is the same by every path.
  const BlockId end = emulated->cfg_.block_of(static_cast<std::uint32_t>(
      std::find_if(function.instructions.begin(), function.instructions.end(),
                   [&](const Instruction &i) { return module_.opcode(i).op == Op::ret; }) -
      function.instructions.begin()));
  for (const BlockId block : emulated->cfg_.reverse_postorder())
    if (emulated->cfg_.blocks()[block].successors.empty() != (block == end))
      return nullptr;
  for (ParameterBytes &bytes : emulated->parameters_)
    if (bytes.block != end)
      bytes.value = nullptr;
  return (callees_[&function] = std::move(emulated)).get();
}

// Registers whose values are passed to functions that are written out: results depend on them.
void Emulation::Implementation::each_passed_register(const std::function<void(RegisterId)> &visit) {
  std::vector<RegisterId> passed;
  const auto add = [&](const Operand &operand) {
    if (operand.kind == Operand::Kind::reg)
      passed.push_back(operand.reg);
  };
  for (const Instruction &instruction : function_.instructions) {
    const Opcode &opcode = module_.opcode(instruction);
    if (opcode.op == Op::st && opcode.space == StateSpace::param) {
      for (const Operand &operand : module_.operands(instruction)) {
        add(operand);
        for (const Operand &child : module_.children(operand))
          add(child);
      }
      if (role_ != Role::callee)
        continue;
    } else if (opcode.op == Op::call) {
      const Function *function = call_targets_.of(instruction);
      if (!function || !callee(*function))
        passed.clear();
      follows_parameters_ |= !passed.empty();
    } else {
      continue;
    }
    for (const RegisterId reg : passed)
      visit(reg);
    passed.clear();
  }
  follows_parameters_ |= role_ == Role::callee;
}

void Emulation::Implementation::store_parameter(BlockId block, const Instruction &instruction) {
  const auto operands = module_.operands(instruction);
  const Opcode &opcode = module_.opcode(instruction);
  const unsigned width = bit_width(opcode.type);
  const std::string_view name =
      operands.size() == 2 ? parameter_name(module_, operands[0]) : std::string_view{};
  if (name.empty() || width == 0 || !instruction.well_formed) {
    parameters_.clear(); // whatever it wrote
    return;
  }
  const bool vector = operands[1].kind == Operand::Kind::vector;
  const auto values = vector ? module_.children(operands[1]) : operands.subspan(1, 1);
  std::int64_t offset = operands[0].value;
  for (const Operand &operand : values) {
    const bool known = instruction.guard == no_register &&
                       (operand.kind != Operand::Kind::reg || needed(operand.reg));
    parameters_.push_back({name, offset, width,
                           known ? operand_value(block, operand, width, opcode.type) : nullptr,
                           block});
    offset += width / 8;
  }
}

Expr Emulation::Implementation::load_parameter(std::string_view name, std::int64_t offset,
                                               unsigned width) {
  const std::int64_t end = offset + width / 8;
  if (role_ == Role::callee) // what is there are its own results
    return nullptr;
  for (auto bytes = parameters_.rbegin(); bytes != parameters_.rend(); ++bytes) {
    const std::int64_t bytes_end = bytes->offset + bytes->width / 8;
    if (bytes->name != name || bytes_end <= offset || end <= bytes->offset)
      continue;
    if (!bytes->value || offset < bytes->offset || bytes_end < end)
      return nullptr;
    return pool_.extract(bytes->value, static_cast<unsigned>(offset - bytes->offset) * 8, width);
  }
  return nullptr;
}

// A parameter of this function: a kernel's is the same for all threads, a function's is whatever
// its callers choose. Null if a function's parameters are used for anything but loads from them.
Expr Emulation::Implementation::own_parameter(const Variable &parameter, std::int64_t offset,
                                              unsigned width) {
  const std::string text = offset != 0 ? fmt::format("{}+{}:{}", parameter.name, offset, width)
                           : width != parameter.size() * 8
                               ? fmt::format("{}:{}", parameter.name, width)
                               : std::string(parameter.name);
  if (function_.is_entry) {
    const Expr symbol = named(text, width, SymbolKind::uniform, ~std::uint64_t{0});
    own_parameters_.try_emplace(symbol, ParameterBytes{parameter.name, offset, width, symbol, 0});
    return symbol;
  }
  if (!parameters_only_loaded_)
    parameters_only_loaded_ = only_loads_parameters(module_, function_);
  if (!*parameters_only_loaded_)
    return nullptr;
  const Expr symbol = named(text, width, SymbolKind::varying, ~std::uint64_t{0});
  own_parameters_.try_emplace(symbol, ParameterBytes{parameter.name, offset, width, symbol, 0});
  return symbol;
}

// Writes an expression of a called function out in this one's terms.
Expr Emulation::Implementation::import(const Implementation &inside, Expr root,
                                       const Arguments &arguments, BlockId block,
                                       std::unordered_map<Expr, Expr> &memo) {
  std::vector<Expr> work{root}, children;
  while (!work.empty()) {
    const Expr node = work.back();
    if (memo.contains(node)) {
      work.pop_back();
      continue;
    }
    if (memo.size() > result_budget)
      return nullptr;
    children.clear();
    for (const Expr child : node->operands()) {
      const auto found = memo.find(child);
      if (found == memo.end())
        work.push_back(child);
      else
        children.push_back(found->second);
    }
    if (children.size() < node->child_count)
      continue;
    work.pop_back();
    Expr result = nullptr;
    if (node->kind == ExprKind::symbol)
      result = import_symbol(inside, node, arguments, block);
    else if (node->kind == ExprKind::constant)
      result = pool_.constant(node->width, node->value);
    else if (node->kind == ExprKind::uf)
      result = pool_.uninterpreted(inside.pool_.function_name(node), node->width, children);
    else
      result = pool_.rebuild(node, children);
    memo.emplace(node, result);
  }
  return memo.at(root);
}

Expr Emulation::Implementation::import_symbol(const Implementation &inside, Expr symbol,
                                              const Arguments &arguments, BlockId block) {
  if (const auto own = inside.own_parameters_.find(symbol); own != inside.own_parameters_.end()) {
    const ParameterBytes &bytes = own->second;
    for (const auto &[formal, actual] : arguments)
      if (formal == bytes.name)
        if (const Expr value = load_parameter(actual, bytes.offset, bytes.width))
          return value;
  }
  const std::string &name = inside.pool_.symbols()[symbol->index].name;
  const SymbolKind kind = inside.infos_[symbol->index].kind;
  if (kind == SymbolKind::lane || (kind == SymbolKind::uniform && name.starts_with('%')))
    return special_value(block, name);
  if (kind == SymbolKind::uniform && name.starts_with('&')) {
    const bool of_function = declares(inside.function_.variables, name.substr(1));
    return named(of_function ? fmt::format("{}::{}", name, inside.function_.name) : name,
                 symbol->width, kind, ~std::uint64_t{0});
  }
  return fresh(fmt::format("{}: {}", inside.function_.name, name), symbol->width,
               SymbolKind::varying, block);
}

// A call replaces what the `.param` variables hold: arguments are gone, results are there.
void Emulation::Implementation::call(BlockId block, const Instruction &instruction) {
  const Function *function = call_targets_.of(instruction);
  const Implementation *inside = function ? callee(*function) : nullptr;
  const Operand *results = nullptr, *arguments = nullptr;
  bool named_function = false;
  for (const Operand &operand : module_.operands(instruction)) {
    if (operand.kind == Operand::Kind::group)
      (named_function ? arguments : results) = &operand;
    named_function |= operand.kind == Operand::Kind::symbol;
  }
  // Formal names with the actual ones; nothing if they do not fit together.
  const auto match = [&](const std::vector<Variable> &formals, const Operand *actuals) {
    Arguments names;
    const auto children = actuals ? module_.children(*actuals) : std::span<const Operand>{};
    if (children.size() == formals.size())
      for (std::size_t i = 0; i < formals.size(); ++i)
        names.emplace_back(formals[i].name, module_.text(children[i].span));
    return names;
  };
  std::vector<ParameterBytes> returned;
  if (inside && instruction.guard == no_register) {
    const Arguments passed = match(function->parameters, arguments);
    std::unordered_map<Expr, Expr> memo;
    for (const auto &[formal, actual] : match(function->return_parameters, results))
      for (const ParameterBytes &bytes : inside->parameters_)
        if (bytes.name == formal)
          returned.push_back(
              {actual, bytes.offset, bytes.width,
               bytes.value ? import(*inside, bytes.value, passed, block, memo) : nullptr, block});
  }
  parameters_ = std::move(returned);
}

} // namespace ptxasw::emulator
