// A module made ready to run: every operand becomes a place in the register file or a constant
// once, variables get their addresses, and blocks an order in which lanes that lag behind come
// first.

#include "emulator/machine/warp_program.h"

#include "emulator/machine/warp_decode.h"

#include <algorithm>
#include <fmt/core.h>
#include <span>

namespace ptxasw::inline emulator {
namespace {

/// A walk over the blocks that finishes what leaves a loop before what stays, so that in reverse
/// order a loop's blocks come before what follows the loop.
std::vector<std::uint32_t> scheduling_ranks(const ControlFlowGraph &cfg) {
  const auto &blocks = cfg.blocks();
  const auto depth = [&](BlockId block) {
    const LoopId loop = cfg.loop_of(block);
    return loop == no_index ? 0u : cfg.loops()[loop].depth;
  };
  std::vector<std::uint32_t> rank(blocks.size(), no_index);
  if (blocks.empty())
    return rank;
  std::vector<char> seen(blocks.size(), 0);
  struct Visit {
    BlockId block;
    std::vector<BlockId> successors;
    std::size_t next = 0;
  };
  std::vector<Visit> stack;
  const auto enter = [&](BlockId block) {
    seen[block] = 1;
    std::vector<BlockId> successors = blocks[block].successors;
    std::stable_sort(successors.begin(), successors.end(),
                     [&](BlockId a, BlockId b) { return depth(a) < depth(b); });
    stack.push_back({block, std::move(successors)});
  };
  auto next_rank = static_cast<std::uint32_t>(blocks.size());
  enter(0);
  while (!stack.empty()) {
    Visit &top = stack.back();
    if (top.next < top.successors.size()) {
      const BlockId successor = top.successors[top.next++];
      if (!seen[successor])
        enter(successor);
      continue;
    }
    rank[top.block] = --next_rank;
    stack.pop_back();
  }
  return rank;
}

/// Registers of 128 bits have an upper half.
bool has_wide_registers(const Function &function) {
  return std::any_of(function.registers.begin(), function.registers.end(),
                     [](const Register &reg) { return bit_width(reg.type) == 128; });
}

} // namespace

std::vector<BlockEdge> return_edges(const Module &module, const Function &function,
                                    const ControlFlowGraph &cfg) {
  std::vector<BlockEdge> ends, by_return;
  for (const BlockId block : cfg.reverse_postorder()) {
    const BasicBlock &info = cfg.blocks()[block];
    if (!info.successors.empty())
      continue;
    ends.push_back({block});
    const Op last =
        info.first == info.end ? Op::ret : module.opcode(function.instructions[info.end - 1]).op;
    if (last != Op::exit && last != Op::trap)
      by_return.push_back({block});
  }
  return by_return.empty() ? ends : by_return;
}

WarpProgram::WarpProgram(const Module &module) : module_(module) {
  place();
  const StaticLayout layout{addresses_};
  functions_.resize(module.functions.size());
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    WarpFunction &to = functions_[i];
    const Function &function = module.functions[i];
    to.function = &function;
    if (!function.has_body)
      continue;
    std::unordered_map<const Variable *, std::uint32_t> locals;
    for (const Variable &variable : function.variables)
      if (variable.space == StateSpace::local) {
        to.local_bytes = static_cast<std::uint32_t>(align(to.local_bytes, alignment_of(variable)));
        locals[&variable] = to.local_bytes;
        to.local_bytes += static_cast<std::uint32_t>(variable.size());
      }
    to.local_bytes = static_cast<std::uint32_t>(align(to.local_bytes, 16));
    to.parameter_bytes = ptxasw::parameter_bytes(function);
    to.cfg = std::make_unique<ControlFlowGraph>(module, function);
    to.code = WarpDecoder(module, function, layout, locals).decode_all();
    for (const WarpInstruction &instruction : to.code)
      for (const WarpOperand &operand : instruction.inputs)
        is_cooperative_ |= operand.special == SpecialRegister::workspace_low;
    to.rank = scheduling_ranks(*to.cfg);
    to.postdominators = immediate_postdominators(*to.cfg, return_edges(module, function, *to.cfg));
    to.header_of.assign(to.code.size(), no_index);
    for (const BasicBlock &block : to.cfg->blocks())
      if (block.first < to.code.size())
        to.code[block.first].starts_block = true;
    for (LoopId loop = 0; loop < to.cfg->loops().size(); ++loop)
      to.header_of[to.cfg->blocks()[to.cfg->loops()[loop].header].first] = loop;
    max_registers_ =
        std::max(max_registers_, (static_cast<std::uint32_t>(function.registers.size()) + 1) *
                                     (has_wide_registers(function) ? 2 : 1));
  }
}

// Module variables in order; each is an allocation of its own in place_variables, so the addresses
// repeat what GlobalMemory::allocate does with the same sizes from an empty memory.
void WarpProgram::place() {
  GlobalMemory plan;
  const auto add = [&](const Variable &variable) {
    if (variable.space == StateSpace::shared) {
      if (variable.linkage == Linkage::external || variable.size() == 0)
        return;
      shared_bytes_ = static_cast<std::uint32_t>(align(shared_bytes_, alignment_of(variable)));
      addresses_[&variable] = window::shared + shared_bytes_;
      shared_bytes_ += static_cast<std::uint32_t>(variable.size());
    } else if (variable.space == StateSpace::global || variable.space == StateSpace::constant) {
      const std::size_t index =
          plan.allocate(std::string(variable.name), std::max<std::uint64_t>(variable.size(), 1),
                        GlobalMemory::Fill::zeros, 0);
      placed_.push_back({&variable, plan.allocations()[index].base});
      addresses_[&variable] = placed_.back().address;
    }
  };
  for (const Variable &variable : module_.variables)
    add(variable);
  for (const Function &function : module_.functions)
    for (const Variable &variable : function.variables)
      add(variable);
  const auto add_dynamic = [&](const Variable &variable) {
    if (variable.space == StateSpace::shared &&
        (variable.linkage == Linkage::external || variable.size() == 0)) {
      addresses_[&variable] = window::shared + dynamic_shared_offset();
      has_dynamic_shared_ = true;
    }
  };
  for (const Variable &variable : module_.variables)
    add_dynamic(variable);
  for (const Function &function : module_.functions)
    for (const Variable &variable : function.variables)
      add_dynamic(variable);
}

std::optional<std::uint32_t> WarpProgram::find_kernel(std::string_view name) const {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    const Function &function = *functions_[i].function;
    if (function.is_entry && function.has_body && (name.empty() || function.name == name))
      return i;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> WarpProgram::find_function(std::string_view name) const {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    const Function &function = *functions_[i].function;
    if (!function.is_entry && function.has_body && function.name == name)
      return i;
  }
  return std::nullopt;
}

std::string WarpProgram::place_variables(GlobalMemory &memory,
                                         std::optional<std::uint64_t> contents,
                                         std::size_t begin) const {
  for (const Placed &placed : std::span(placed_).subspan(std::min(begin, placed_.size()))) {
    const bool is_drawn = contents && placed.variable->initializer.size() == 0;
    memory.allocate(std::string(placed.variable->name),
                    std::max<std::uint64_t>(placed.variable->size(), 1),
                    is_drawn ? GlobalMemory::Fill::small : GlobalMemory::Fill::zeros,
                    is_drawn ? scramble(*contents + memory.allocations().size()) : 0);
    if (placed.variable->initializer.size() > 0)
      if (std::string why = initialize(placed, memory); !why.empty())
        return why;
    memory.allocation(memory.allocations().size() - 1).read_only =
        placed.variable->space == StateSpace::constant;
  }
  return {};
}

bool WarpProgram::begins_with_variables_of(const WarpProgram &other) const {
  return other.placed_.size() <= placed_.size() &&
         std::equal(other.placed_.begin(), other.placed_.end(), placed_.begin(),
                    [](const Placed &a, const Placed &b) {
                      return a.address == b.address && a.variable->name == b.variable->name &&
                             a.variable->size() == b.variable->size() &&
                             a.variable->space == b.variable->space;
                    });
}

// Where rows are written out in full the elements are simply consecutive.
std::string WarpProgram::initialize(const Placed &placed, GlobalMemory &memory) const {
  const Variable &variable = *placed.variable;
  const unsigned bytes = bit_width(variable.type) / 8;
  const auto not_understood = [&] {
    return fmt::format("line {}: the initializer of {} is not understood",
                       module_.position(variable.initializer.begin).first, variable.name);
  };
  if (variable.values.empty() || bytes == 0 || bytes > 8)
    return not_understood();
  // Rows that are not written out in full would have to be filled up (PTX ISA 5.4.4).
  if (variable.has_rows && variable.values.size() * bytes != variable.size())
    return not_understood();
  std::uint64_t address = placed.address;
  for (const InitialValue &initial : variable.values) {
    std::uint64_t value = initial.bits;
    if (initial.real_type == ScalarType::f64 && variable.type == ScalarType::f32)
      value = floating::from_double(ScalarType::f32, floating::to_double(ScalarType::f64, value),
                                    FloatRounding::nearest_even);
    if (initial.symbol != no_index) {
      const Symbol &symbol = module_.symbols[initial.symbol];
      const auto where = addresses_.find(module_.variable(symbol));
      if (where != addresses_.end())
        value += where->second;
      else if (symbol.kind == Symbol::Kind::function && module_.functions[symbol.index].has_body)
        value += window::function + std::uint64_t{16} * symbol.index;
      else
        return not_understood();
    }
    if (address + bytes > placed.address + variable.size())
      return fmt::format("the initializer of {} is too long", variable.name);
    for (unsigned n = 0; n < bytes; ++n)
      *memory.bytes(address++, true) = static_cast<std::uint8_t>(value >> 8 * n);
  }
  return {};
}

} // namespace ptxasw::emulator
