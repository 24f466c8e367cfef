// A module made ready to run: every operand becomes a place in the register file or a constant
// once, variables get their addresses, and blocks an order in which lanes that lag behind come
// first.

#include "emulator/machine/warp_program.h"

#include "emulator/machine/warp_decode.h"
#include "emulator/machine/warp_engine.h"

#include <algorithm>
#include <fmt/core.h>
#include <span>
#include <unordered_set>
#include <utility>

namespace ptxasw::emulator {
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

WarpMeeting meeting_at(WarpAction action) {
  using enum WarpAction;
  static constexpr WarpAction alone[] = {
      compute, move,      load,        store, atomic,  shuffle,      vote,    match,
      reduce,  warp_sync, active_mask, elect, branch,  branch_table, call,    system_call,
      ret,     exit,      trap,        fence, texture, is_space,     nothing, refused};
  return action == barrier ? WarpMeeting::barriers
         : std::find(std::begin(alone), std::end(alone), action) != std::end(alone)
             ? WarpMeeting::none
             : WarpMeeting::any;
}

/// Registers of 128 bits have an upper half.
bool has_wide_registers(const Function &function) {
  return std::any_of(function.registers.begin(), function.registers.end(),
                     [](const Register &reg) { return bit_width(reg.type) == 128; });
}

/// Between variables of shared or local memory, so that what leaves one does not fall into the
/// next: wider than any access, and a multiple of all banks of shared memory.
constexpr std::uint32_t variable_gap = 128;

/// A variable's bytes, at the first place behind others that its alignment allows.
VariableBytes behind(std::uint32_t end, const Variable &variable) {
  const auto begin = static_cast<std::uint32_t>(align(end, alignment_of(variable)));
  return {begin, begin + static_cast<std::uint32_t>(variable.size())};
}

bool is_dynamic_shared(const Variable &variable) {
  return variable.space == StateSpace::shared &&
         (variable.linkage == Linkage::external || variable.size() == 0);
}

bool is_static_shared(const Variable &variable) {
  return variable.space == StateSpace::shared && !is_dynamic_shared(variable);
}

bool names_reserved_shared(const Module &module) {
  return std::any_of(module.all_operands.begin(), module.all_operands.end(),
                     [&](const Operand &operand) {
                       return operand.kind == Operand::Kind::special &&
                              module.text(operand.span).starts_with("%reserved_smem");
                     });
}

/// Calls `visit(variable)` for every variable that operands name.
template <class Visit>
void for_each_variable(const Module &module, std::span<const Operand> operands, Visit visit) {
  for (const Operand &operand : operands) {
    if (operand.kind == Operand::Kind::symbol)
      if (const Variable *variable = module.variable(module.symbol(operand)))
        visit(*variable);
    for_each_variable(module, module.children(operand), visit);
  }
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

std::optional<IdleSide> WarpFunction::idle_side(std::uint32_t branch) const {
  const WarpInstruction &in = code[branch];
  if (in.action != WarpAction::branch || in.guard == no_register || in.target == branch + 1)
    return std::nullopt;
  const BlockId block = postdominators[cfg->block_of(branch)];
  if (block >= cfg->blocks().size())
    return std::nullopt;
  const std::uint32_t meeting = cfg->blocks()[block].first;
  const auto is_idle = [&](std::uint32_t first) {
    const WarpInstruction &next = code[first];
    return first == meeting || (next.action == WarpAction::branch && next.guard == no_register &&
                                next.target == meeting);
  };
  if (is_idle(branch + 1))
    return IdleSide{meeting, branch + 1, in.target};
  if (is_idle(in.target))
    return IdleSide{meeting, in.target, branch + 1};
  return std::nullopt;
}

WarpProgram::WarpProgram(const Module &module, const VariablePlaces &places)
    : module_(module),
      translations_(std::make_shared<ProgramTranslations>(module.functions.size())) {
  place(places);
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
        to.locals.push_back(behind(to.local_bytes, variable));
        locals[&variable] = to.locals.back().begin;
        to.local_bytes = to.locals.back().end + variable_gap;
      }
    to.local_bytes = static_cast<std::uint32_t>(align(to.local_bytes, variable_gap));
    to.parameter_bytes = ptxasw::emulator::parameter_bytes(function);
    to.cfg = std::make_unique<ControlFlowGraph>(module, function);
    to.code = WarpDecoder(module, function, layout, locals).decode_all();
    for (const WarpInstruction &instruction : to.code) {
      for (const WarpOperand &operand : instruction.inputs)
        is_cooperative_ |= operand.special == SpecialRegister::workspace_low;
      meeting_ =
          std::max(meeting_, is_cooperative_ ? WarpMeeting::any : meeting_at(instruction.action));
    }
    to.rank = scheduling_ranks(*to.cfg);
    to.postdominators = immediate_postdominators(*to.cfg, return_edges(module, function, *to.cfg));
    to.header_of.assign(to.code.size(), no_index);
    for (const BasicBlock &block : to.cfg->blocks())
      if (block.first < to.code.size())
        to.code[block.first].starts_block = true;
    for (LoopId loop = 0; loop < to.cfg->loops().size(); ++loop)
      to.header_of[to.cfg->blocks()[to.cfg->loops()[loop].header].first] = loop;
    to.places.resize(to.code.size());
    for (std::uint32_t pc = 0; pc + 1 < to.code.size(); ++pc) {
      const BlockId block = to.cfg->block_of(pc);
      to.places[pc].rank = to.rank[block];
      for (LoopId loop = 0; loop < std::min<std::size_t>(to.cfg->loops().size(), 64); ++loop)
        if (to.cfg->contains(loop, block))
          to.places[pc].loops |= std::uint64_t{1} << loop;
    }
    max_registers_ =
        std::max(max_registers_, (static_cast<std::uint32_t>(function.registers.size()) + 1) *
                                     (has_wide_registers(function) ? 2 : 1));
  }
}

// Module variables in order; each is an allocation of its own in place_variables, so the addresses
// repeat what GlobalMemory::allocate does with the same sizes from an empty memory.
void WarpProgram::place(const VariablePlaces &places) {
  GlobalMemory plan;
  const auto add = [&](const Variable &variable) {
    if (variable.space != StateSpace::global && variable.space != StateSpace::constant)
      return;
    if (places) {
      placed_.push_back({&variable, places(variable)});
    } else {
      const std::size_t index =
          plan.allocate(std::string(variable.name), std::max<std::uint64_t>(variable.size(), 1),
                        GlobalMemory::Fill::zeros, 0);
      placed_.push_back({&variable, plan.allocations()[index].base});
    }
    addresses_[&variable] = placed_.back().address;
  };
  for (const Variable &variable : module_.variables)
    add(variable);
  for (const Function &function : module_.functions)
    for (const Variable &variable : function.variables)
      add(variable);
  place_shared();
}

// What several kernels may use has one place for all of them: variables of the module, then those
// of functions. Behind these each kernel's own begin again at the same place, and behind the last
// of any the dynamic ones.
void WarpProgram::place_shared() {
  has_reserved_shared_ = names_reserved_shared(module_);
  std::uint32_t common_end = has_reserved_shared_ ? reserved_shared_bytes + variable_gap : 0;
  std::uint32_t end = common_end;
  const auto add_static = [&](const std::vector<Variable> &variables, std::uint32_t &behind_all) {
    for (const Variable &variable : variables)
      if (is_static_shared(variable)) {
        const VariableBytes bytes = behind(behind_all, variable);
        addresses_[&variable] = window::shared + bytes.begin;
        behind_all = static_cast<std::uint32_t>(align(bytes.end, 4)) + variable_gap;
      }
    end = std::max(end, behind_all);
  };
  add_static(module_.variables, common_end);
  for (const Function &function : module_.functions)
    if (!function.is_entry)
      add_static(function.variables, common_end);
  for (const Function &function : module_.functions)
    if (std::uint32_t own_end = common_end; function.is_entry)
      add_static(function.variables, own_end);
  std::vector<const Variable *> dynamic;
  const auto add_dynamic = [&](const std::vector<Variable> &variables) {
    for (const Variable &variable : variables)
      if (is_dynamic_shared(variable)) {
        dynamic.push_back(&variable);
        end = static_cast<std::uint32_t>(
            align(end, std::max<std::uint64_t>(alignment_of(variable), variable_gap)));
      }
  };
  add_dynamic(module_.variables);
  for (const Function &function : module_.functions)
    add_dynamic(function.variables);
  has_dynamic_shared_ = !dynamic.empty();
  dynamic_shared_offset_ = end;
  for (const Variable *variable : dynamic)
    addresses_[variable] = window::shared + dynamic_shared_offset_;
}

std::vector<VariableBytes> WarpProgram::shared_variables(std::uint32_t kernel) const {
  std::vector<VariableBytes> result;
  std::vector<char> seen(functions_.size(), 0);
  std::unordered_set<const Variable *> added;
  const auto add = [&](const Variable &variable) {
    if (!is_static_shared(variable) || !added.insert(&variable).second)
      return;
    const auto begin = static_cast<std::uint32_t>(addresses_.at(&variable) - window::shared);
    result.push_back({begin, begin + static_cast<std::uint32_t>(variable.size()), variable.name});
  };
  std::vector<std::uint32_t> to_do{kernel};
  seen[kernel] = 1;
  while (!to_do.empty()) {
    const WarpFunction &function = functions_[to_do.back()];
    to_do.pop_back();
    for (const Variable &variable : function.function->variables)
      add(variable);
    for (const Instruction &instruction : function.function->instructions)
      for_each_variable(module_, module_.operands(instruction), add);
    for (const WarpInstruction &instruction : function.code)
      for (const CallTarget &target : instruction.callees)
        if (target.function < seen.size() && !std::exchange(seen[target.function], 1))
          to_do.push_back(target.function);
  }
  return result;
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

tl::expected<void, std::string> WarpProgram::place_variables(GlobalMemory &memory,
                                                             std::optional<std::uint64_t> contents,
                                                             std::size_t begin) const {
  for (const Placed &placed : std::span(placed_).subspan(std::min(begin, placed_.size()))) {
    const bool is_drawn = contents && placed.variable->initializer.size() == 0;
    memory.allocate(std::string(placed.variable->name),
                    std::max<std::uint64_t>(placed.variable->size(), 1),
                    is_drawn ? GlobalMemory::Fill::small : GlobalMemory::Fill::zeros,
                    is_drawn ? scramble(*contents + memory.allocations().size()) : 0);
    if (placed.variable->initializer.size() > 0)
      if (auto done = initialize(placed, memory); !done)
        return done;
    memory.allocation(memory.allocations().size() - 1).read_only =
        placed.variable->space == StateSpace::constant;
  }
  return {};
}

tl::expected<void, std::string> WarpProgram::initialize_variables(GlobalMemory &memory) const {
  for (const Placed &placed : placed_)
    if (placed.variable->initializer.size() > 0)
      if (auto done = initialize(placed, memory); !done)
        return done;
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
tl::expected<void, std::string> WarpProgram::initialize(const Placed &placed,
                                                        GlobalMemory &memory) const {
  const Variable &variable = *placed.variable;
  const unsigned bytes = bit_width(variable.type) / 8;
  const auto not_understood = [&] {
    return tl::unexpected(fmt::format("line {}: the initializer of {} is not understood",
                                      module_.position(variable.initializer.begin).first,
                                      variable.name));
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
      return tl::unexpected(fmt::format("the initializer of {} is too long", variable.name));
    for (unsigned n = 0; n < bytes; ++n)
      *memory.bytes(address++, true) = static_cast<std::uint8_t>(value >> 8 * n);
  }
  return {};
}

} // namespace ptxasw::emulator
