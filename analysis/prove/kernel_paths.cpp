// One emulation with probes at every address and guard. Uniformity is asked for among all threads
// of a block: what the emulation calls a warp's lanes are told apart by tid and laneid alone, and
// so are a block's threads.
//
// A thread's state at a place is one value for each symbol of the emulation, the latest that it
// had: control-flow joins and registers at loop headers are symbols, and what an expression
// mentions was computed in a block that dominates it. So the condition of a way is a formula over
// these: a disjunction over the edges that lead to a block, from its immediate dominator on, back
// edges left out. What branches do not say is true, so the formula may hold where no thread comes,
// and never fails to hold where one does.

#include "analysis/prove/kernel_paths.h"

#include "analysis/plain_calls.h"
#include "emulator/facts/address_form.h"
#include "emulator/symbolic/generic.h"
#include "grammar/roles.h"

#include <algorithm>
#include <array>
#include <fmt/core.h>
#include <map>
#include <set>
#include <utility>

namespace ptxasw::analysis {
namespace {

/// A kernel with more blocks or accesses is too much.
constexpr std::size_t blocks_budget = 2000, accesses_budget = 2000;

/// The argument of a conversion from shared to generic addresses (cvta.shared); null: it is none.
Expr converted_from_shared(const ExprPool &pool, Expr atom) {
  if (atom->kind != ExprKind::uf || atom->child_count != 1)
    return nullptr;
  const std::string_view name = pool.function_name(atom);
  return name.starts_with("cvta.shared") ? atom->children[0] : nullptr;
}

/// Returns true if a number is a part of what may be an address: one parameter of 64 bits. Fields
/// of structures are read whole.
bool may_be_address(const Variable &parameter) {
  constexpr std::uint64_t bytes = 8;
  return !parameter.is_array && parameter.size() >= bytes;
}

/// Registers that an address, or a number made of some, may come to, by whatever instructions,
/// shuffles, votes and memory among them. A number of 64 bits that is loaded may be one.
class RegistersWithAddresses {
public:
  RegistersWithAddresses(const Module &module, const Function &kernel)
      : module_(module), kernel_(kernel), has_(kernel.registers.size(), false) {
    do {
      changed_ = false;
      for (const Instruction &instruction : kernel.instructions)
        follow(instruction);
    } while (changed_);
    for (std::size_t reg = 0; reg < has_.size(); ++reg)
      if (has_[reg])
        names_.insert(kernel.registers[reg].name);
  }

  /// Of a symbol of the emulation that stands for a register, `loop(1, %r2)`, `opaque(%r3, line
  /// 4)`.
  bool contains(std::string_view symbol) const {
    const std::size_t open = symbol.find('('), close = symbol.rfind(')');
    if (open == std::string_view::npos || close == std::string_view::npos)
      return false; // an index, an extent, a parameter
    std::string_view name = symbol.substr(open + 1, close - open - 1);
    if (symbol.starts_with("loop("))
      name.remove_prefix(name.find(' ') + 1);
    return names_.contains(name.substr(0, name.find(',')));
  }

private:
  bool reads(const Operand &operand) const {
    const auto children = module_.children(operand);
    return (operand.kind == Operand::Kind::reg && has_[operand.reg]) ||
           (operand.kind == Operand::Kind::symbol && module_.variable(module_.symbol(operand))) ||
           std::any_of(children.begin(), children.end(),
                       [&](const Operand &child) { return reads(child); });
  }

  void follow(const Instruction &instruction) {
    const Opcode &opcode = module_.opcode(instruction);
    bool is_memory = false, has_address = false;
    for (const Operand &operand : module_.operands(instruction))
      if (operand.kind == Operand::Kind::address)
        is_memory = true;
      else
        has_address |= reads(operand);
    if (is_memory) {
      if (opcode.op != Op::ld && has_address && !in_memory_)
        in_memory_ = changed_ = true;
      has_address = in_memory_ || bit_width(opcode.type) >= 64 || loads_part(instruction);
    }
    if (!has_address)
      return;
    for (const RegisterId reg : written_registers(module_, instruction))
      if (!has_[reg])
        has_[reg] = changed_ = true;
  }

  // Of a parameter that may be an address.
  bool loads_part(const Instruction &instruction) const {
    if (module_.opcode(instruction).space != StateSpace::param)
      return false;
    for (const Operand &operand : module_.operands(instruction))
      for (const Operand &base : module_.children(operand))
        if (operand.kind == Operand::Kind::address && base.kind == Operand::Kind::symbol)
          if (const Variable *const own = module_.variable(module_.symbol(base)))
            return may_be_address(*own);
    return true;
  }

  const Module &module_;
  const Function &kernel_;
  std::vector<bool> has_; ///< by register
  bool in_memory_ = false, changed_ = false;
  std::set<std::string_view> names_;
};

/// Tells what may be an address, or have one in it.
class Pointers {
public:
  Pointers(const Module &module, const Function &kernel, const ExprPool &pool,
           const Emulation &emulation)
      : pool_(pool), emulation_(emulation), kernel_(kernel), registers_(module, kernel) {}

  const Emulation &emulation() const { return emulation_; }
  const ExprPool &pool() const { return pool_; }

  /// A parameter of 64 bits or a variable.
  bool is_one(Expr atom) const {
    if (atom->kind != ExprKind::symbol || atom->width != 64)
      return false;
    return pool_.symbols()[atom->index].name.starts_with('&') ||
           emulation_.parameter_field(atom).has_value();
  }

  /// True if something that is, or may be, an address comes into the expression, by whatever way: a
  /// parameter of 64 bits, a variable, what was loaded with 64 bits; also by what joins, loops and
  /// other threads make of it.
  bool are_in(Expr root) const;

private:
  bool is_part(Expr atom) const {
    const auto field = emulation_.parameter_field(atom);
    return field && std::any_of(kernel_.parameters.begin(), kernel_.parameters.end(),
                                [&](const Variable &own) {
                                  return own.name == field->parameter && may_be_address(own);
                                });
  }

  const ExprPool &pool_;
  const Emulation &emulation_;
  const Function &kernel_;
  const RegistersWithAddresses registers_;
};

bool Pointers::are_in(Expr root) const {
  std::set<Expr> seen;
  std::vector<Expr> work{root};
  while (!work.empty()) {
    const Expr expr = work.back();
    work.pop_back();
    if (!expr)
      return true; // not understood
    bool found = false;
    for_each_node(expr, [&](Expr node) {
      if (node->kind == ExprKind::uf && pool_.function_name(node).starts_with("cvta"))
        found = true;
      if (node->kind != ExprKind::symbol || !seen.insert(node).second)
        return;
      if (is_one(node) || is_part(node)) {
        found = true;
        return;
      }
      for (LoopId loop = 0; loop < emulation_.cfg().loops().size(); ++loop)
        if (node == emulation_.trip_count(loop))
          return;
      if (const auto at_header = emulation_.loop_register(node)) {
        work.push_back(at_header->initial);
        work.push_back(at_header->next);
      } else if (const auto join = emulation_.join_register(node)) {
        for (const auto &[from, value] : join->values)
          work.push_back(value);
      } else if (node->width >= 64 || registers_.contains(pool_.symbols()[node->index].name)) {
        found = true;
      }
    });
    if (found)
      return true;
  }
  return false;
}

/// The pointer parameter or variable that an address is an offset from, if no other one comes into
/// it; of what joins and loops make of pointers, if all are offsets from the same.
class BaseOf {
public:
  explicit BaseOf(const Pointers &pointers)
      : pointers_(pointers), emulation_(pointers.emulation()) {}

  Expr operator()(Expr address) {
    if (address->kind == ExprKind::zext) // of an address of 32 bits
      address = address->children[0];
    const Expr base = of(address);
    return contradicts_ ? nullptr : base;
  }

private:
  Expr of(Expr address) {
    if (!address)
      return nullptr;
    if (address->kind == ExprKind::extract && address->index == 0 && address->width == 32)
      address = address->children[0];
    if (address->kind == ExprKind::symbol)
      return pointers_.is_one(address) ? address : of_register(address);
    if (address->kind != ExprKind::sum)
      return nullptr;
    Expr base = nullptr;
    for (std::uint32_t i = 0; i < address->child_count; ++i) {
      const Expr atom = address->children[i];
      if (!pointers_.are_in(atom))
        continue;
      if (base || address->coefficients[i] != 1 || !(base = of(atom)))
        return nullptr;
    }
    return base;
  }

  // What it is in the first iteration it is in all, if the next one makes the same of it.
  Expr of_register(Expr symbol) {
    if (const auto known = known_.find(symbol); known != known_.end())
      return known->second;
    known_[symbol] = nullptr;
    Expr base = nullptr;
    if (const auto at_header = emulation_.loop_register(symbol)) {
      base = known_[symbol] = of(at_header->initial);
      contradicts_ |= base && of(at_header->next) != base;
    } else if (const auto join = emulation_.join_register(symbol)) {
      for (const auto &[from, value] : join->values) {
        const Expr of_value = of(value);
        if (!of_value || (base && of_value != base))
          return nullptr;
        base = of_value;
      }
    }
    return known_[symbol] = base;
  }

  const Pointers &pointers_;
  const Emulation &emulation_;
  std::map<Expr, Expr> known_; ///< null: none, or it is being looked for
  bool contradicts_ = false;   ///< what was taken for granted of a loop's register does not hold
};

/// True if the address is of shared memory whatever is chosen: one converted from there, and
/// numbers.
bool is_shared_address(const Pointers &pointers, Expr address) {
  const ExprPool &pool = pointers.pool();
  if (converted_from_shared(pool, address))
    return true;
  if (address->kind != ExprKind::sum)
    return false;
  unsigned converted = 0;
  for (std::uint32_t i = 0; i < address->child_count; ++i) {
    const Expr atom = address->children[i];
    if (address->coefficients[i] == 1 && converted_from_shared(pool, atom))
      ++converted;
    else if (pointers.are_in(atom))
      return false;
  }
  return converted == 1;
}

/// What a cp.async that copies nothing does.
enum class GroupWord : std::uint8_t { none, commit, wait, wait_all };

GroupWord group_word(const Opcode &opcode) {
  if (opcode.op != Op::cp || !opcode.has(Modifier::async) || opcode.has(Modifier::bulk))
    return GroupWord::none;
  return opcode.has(Modifier::commit_group) ? GroupWord::commit
         : opcode.has(Modifier::wait_group) ? GroupWord::wait
         : opcode.has(Modifier::wait_all)   ? GroupWord::wait_all
                                            : GroupWord::none;
}

} // namespace

KernelPaths::KernelPaths(const Module &module, const Function &kernel, const LaunchFacts &launch)
    : module_(module), kernel_(kernel), launch_(launch),
      sites_(facts::access_sites(module, kernel)), probes_(probes()),
      emulation_(module, kernel, launch, probes_, LaneGroup::block) {
  if (!emulation_.complete() || cfg().blocks().size() > blocks_budget) {
    obstruct(0, "its control flow is too much, or not understood");
    return;
  }
  for (const BlockId block : cfg().reverse_postorder())
    if (cfg().irreducible(block)) {
      obstruct(kernel.instructions[cfg().blocks()[block].first].line,
               "a loop with several entries");
      return;
    }
  local_.assign(cfg().blocks().size(), nullptr);
  find_barriers();
  find_accesses();
}

void KernelPaths::obstruct(std::uint32_t line, std::string reason) {
  if (!obstacle_)
    obstacle_ = ProofObstacle{line, std::move(reason)};
}

// Of each site its address, of each guarded site and barrier the guard, in the order in which they
// are read again.
std::vector<Probe> KernelPaths::probes() {
  std::vector<Probe> result;
  const auto guard = [&](std::uint32_t instruction) {
    if (kernel_.instructions[instruction].guard != no_register)
      result.push_back({instruction, kernel_.instructions[instruction].guard, false});
  };
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    const Instruction &source = kernel_.instructions[i];
    if (const Op op = module_.opcode(source).op; op != Op::bar && op != Op::barrier)
      continue;
    guard(i);
    if (const RegisterId mask = mask_register(source); mask != no_register)
      result.push_back({i, mask, false});
  }
  for (const facts::AccessSite &site : sites_) {
    const Operand &base = module_.children(*site.address)[0];
    if (base.kind == Operand::Kind::reg)
      result.push_back({site.instruction, base.reg, false});
    guard(site.instruction);
  }
  return result;
}

Expr KernelPaths::guard_of(std::uint32_t instruction, std::size_t &probe) {
  const Instruction &source = kernel_.instructions[instruction];
  if (source.guard == no_register)
    return nullptr;
  const Expr value = emulation_.probed(probe++);
  if (!value)
    return nullptr;
  return emulation_.expand(source.guard_negated ? pool().bit_not(value) : value);
}

// The register that names the lanes of a bar.warp.sync; no_register: it is none, or a number does.
RegisterId KernelPaths::mask_register(const Instruction &instruction) const {
  const auto operands = module_.operands(instruction);
  return module_.opcode(instruction).has(Modifier::warp) && operands.size() == 1 &&
                 operands[0].kind == Operand::Kind::reg
             ? operands[0].reg
             : no_register;
}

Expr KernelPaths::mask_of(const Instruction &instruction, std::size_t &probe) {
  const auto operands = module_.operands(instruction);
  if (mask_register(instruction) != no_register) {
    const Expr mask = emulation_.probed(probe++);
    return mask && mask->width == 32 ? emulation_.expand(mask) : nullptr;
  }
  return operands.size() == 1 && operands[0].kind == Operand::Kind::integer
             ? pool().constant(32, static_cast<std::uint32_t>(operands[0].value))
             : nullptr;
}

// What an instruction besides loads, stores, atomics and barriers may do without a proof having to
// know: compute, order more than is counted, exchange registers, end.
bool KernelPaths::is_harmless(const Instruction &instruction) const {
  const Opcode &opcode = module_.opcode(instruction);
  if (!instruction.well_formed || opcode.op == Op::mapa || opcode.has(Modifier::shared_cluster))
    return false;
  if (opcode.op == Op::call)
    return calls_driver(module_, instruction); // they only read their inputs
  if (effect_of(opcode) == Effect::none)
    return true;
  if (opcode.op == Op::cp)
    return group_word(opcode) != GroupWord::none;
  return is_one_of(opcode.op, {Op::membar, Op::fence, Op::shfl, Op::vote, Op::match, Op::redux,
                               Op::activemask, Op::nanosleep, Op::elect, Op::trap});
}

void KernelPaths::find_barriers() {
  std::size_t probe = 0;
  std::set<std::int64_t> partial_ids;
  std::map<std::uint32_t, std::int64_t> ids; // by instruction
  const auto partial = [&](std::uint32_t line, std::string reason) {
    if (!partial_barrier_)
      partial_barrier_ = ProofObstacle{line, std::move(reason)};
  };
  bool any_id = false; // a barrier that may be any of them
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    const Instruction &source = kernel_.instructions[i];
    const Opcode &opcode = module_.opcode(source);
    if (opcode.op != Op::bar && opcode.op != Op::barrier)
      continue;
    BarrierSite site{i, source.line, cfg().block_of(i), nullptr, opcode.has(Modifier::warp)};
    const bool guarded = source.guard != no_register;
    site.guard = guard_of(i, probe);
    if (site.of_warp)
      site.mask = mask_of(source, probe);
    if (guarded && !site.guard)
      site.mask = nullptr;
    if (!cfg().reachable(site.block) || !emulation_.feasible(site.block))
      continue;
    const auto operands = module_.operands(source);
    const bool reduces = opcode.has(Modifier::red);
    if (opcode.has(Modifier::cluster)) {
      partial(source.line, "a barrier of a cluster");
    } else if (site.of_warp) {
      barriers_.push_back(site);
    } else {
      const std::size_t first = reduces ? 1 : 0;
      const std::size_t numbers =
          operands.size() - std::min<std::size_t>(operands.size(), reduces ? 2 : 0);
      const bool known =
          numbers >= 1 && first < operands.size() && operands[first].kind == Operand::Kind::integer;
      const bool whole =
          numbers == 1 ||
          (numbers == 2 && launch_.block && operands[first + 1].kind == Operand::Kind::integer &&
           static_cast<std::uint64_t>(operands[first + 1].value) == launch_.block->count());
      if (!known)
        any_id = true;
      if (known && whole && !opcode.has(Modifier::arrive) && !(guarded && !site.guard)) {
        ids[i] = operands[first].value;
        barriers_.push_back(site);
      } else {
        if (known)
          partial_ids.insert(operands[first].value);
        partial(source.line, "a barrier of part of a block, or of one that is not a number");
      }
    }
  }
  // Who waits at a barrier that others use for a part of the block may be let go by them.
  std::erase_if(barriers_, [&](const BarrierSite &site) {
    return !site.of_warp && (any_id || partial_ids.contains(ids.at(site.instruction)));
  });
}

// True if a copy is complete on every way from it to a barrier, to the end, and to itself: it is
// waited for, and it is in a group that is. So it takes place in the interval of its instruction,
// and each iteration of a loop has waited for that of the iteration before.
bool KernelPaths::is_waited_for(std::uint32_t copy) {
  struct Place {
    std::uint32_t instruction;
    bool committed;
  };
  std::vector<std::array<bool, 2>> seen(kernel_.instructions.size());
  std::vector<bool> &under_way = under_way_[copy];
  under_way.assign(kernel_.instructions.size(), false);
  std::vector<Place> work{{copy + 1, false}};
  while (!work.empty()) {
    auto [at, committed] = work.back();
    work.pop_back();
    if (at >= kernel_.instructions.size())
      return false;
    if (std::exchange(seen[at][committed], true))
      continue;
    under_way[at] = true;
    const Instruction &source = kernel_.instructions[at];
    const Opcode &opcode = module_.opcode(source);
    if (at == copy || is_one_of(opcode.op, {Op::bar, Op::barrier, Op::ret, Op::exit, Op::call}))
      return false;
    if (source.guard == no_register) {
      const auto operands = module_.operands(source);
      const GroupWord word = group_word(opcode);
      if (word == GroupWord::wait_all ||
          (word == GroupWord::wait && committed && operands.size() == 1 &&
           operands[0].kind == Operand::Kind::integer && operands[0].value == 0))
        continue;
      committed |= word == GroupWord::commit;
    }
    const BasicBlock &block = cfg().blocks()[cfg().block_of(at)];
    if (at + 1 < block.end) {
      work.push_back({at + 1, committed});
      continue;
    }
    if (block.successors.empty())
      return false;
    for (const BlockId next : block.successors)
      work.push_back({cfg().blocks()[next].first, committed});
  }
  return true;
}

// A copy is not ordered behind what its thread did before.
bool KernelPaths::may_overlap(const SharedAccess &a, const SharedAccess &b) const {
  const auto behind = [&](const SharedAccess &copy, const SharedAccess &other) {
    return copy.is_copy && under_way_.at(copy.instruction)[other.instruction];
  };
  const auto leads_to = [&](const SharedAccess &from, const SharedAccess &copy) {
    if (from.is_copy || !copy.is_copy)
      return false;
    const auto behind_it = reached_from(cfg(), from.block, [](BlockId, BlockId) { return true; });
    return behind_it.contains(copy.block) ||
           (from.block == copy.block && from.instruction < copy.instruction);
  };
  return a.instruction != b.instruction &&
         (behind(a, b) || behind(b, a) || leads_to(a, b) || leads_to(b, a));
}

// Only what needs no proof: a place in a variable, written as a number.
bool KernelPaths::stays_inside(const facts::AccessSite &site, Expr address) {
  const Operand::Kind kind = module_.children(*site.address)[0].kind;
  if (site.space == StateSpace::param && kind == Operand::Kind::symbol)
    return true;
  if (!address)
    return false;
  std::uint64_t offset = 0;
  if (address->kind == ExprKind::sum && address->child_count == 1 &&
      address->coefficients[0] == 1) {
    offset = address->value.low;
    address = address->children[0];
  }
  if (address->kind != ExprKind::symbol)
    return false;
  const std::string_view name = emulation_.pool().symbols()[address->index].name;
  for (const auto *list : {&kernel_.variables, &module_.variables})
    for (const Variable &variable : *list)
      if (name.starts_with('&') && variable.name == name.substr(1))
        return variable.size() >= site.bytes && offset <= variable.size() - site.bytes;
  return false;
}

void KernelPaths::find_accesses() {
  std::size_t probe = 0;
  for (const Instruction &source : kernel_.instructions)
    if (const Op op = module_.opcode(source).op; op == Op::bar || op == Op::barrier)
      probe +=
          (source.guard != no_register ? 1 : 0) + (mask_register(source) != no_register ? 1 : 0);
  std::vector<bool> is_site(kernel_.instructions.size(), false);
  const bool generic_global = generic_is_global(module_);
  const Pointers pointers(module_, kernel_, pool(), emulation_);
  for (const facts::AccessSite &site : sites_) {
    const Instruction &source = kernel_.instructions[site.instruction];
    const Opcode &opcode = module_.opcode(source);
    SharedAccess access;
    access.instruction = site.instruction;
    access.line = source.line;
    access.kind = site.kind;
    access.space = site.space;
    access.bytes = site.bytes;
    access.block = cfg().block_of(site.instruction);
    const bool is_reg = module_.children(*site.address)[0].kind == Operand::Kind::reg;
    access.address =
        facts::address_at(emulation_, module_, site, is_reg ? emulation_.probed(probe++) : nullptr);
    access.guard = guard_of(site.instruction, probe);
    access.is_copy = opcode.op == Op::cp;
    if (!is_known(opcode) || opcode.has(Modifier::shared_cluster) ||
        (opcode.has(Modifier::async) && !access.is_copy) || opcode.has(Modifier::mmio))
      continue; // judged below
    is_site[site.instruction] = true;
    if (!cfg().reachable(access.block) || !emulation_.feasible(access.block))
      continue;
    if (!unbounded_ &&
        (site.space == StateSpace::local || site.space == StateSpace::constant ||
         site.space == StateSpace::param) &&
        !stays_inside(site, access.address))
      unbounded_ = ProofObstacle{source.line, "local, constant and parameter memory is not looked "
                                              "at, and this address is computed"};
    if (site.space == StateSpace::constant && access.address &&
        (source.guard == no_register || access.guard))
      constant_loads_.push_back(access);
    if (site.space == StateSpace::local || site.space == StateSpace::constant ||
        site.space == StateSpace::param ||
        (access.guard && access.guard->kind == ExprKind::constant && access.guard->value.is_zero()))
      continue;
    if (access.is_copy && !is_waited_for(site.instruction))
      return obstruct(source.line, "this copy may still be under way at a barrier, at the end, or "
                                   "when it comes again");
    if (source.guard != no_register && !access.guard)
      return obstruct(source.line, "the predicate is not understood");
    if (!access.address)
      return obstruct(source.line, "the address is not understood");
    if (access.space == StateSpace::generic) {
      Substitution plain(pool());
      bool converts = false;
      for_each_node(access.address, [&](Expr node) {
        converts |= node->kind == ExprKind::uf && pool().function_name(node).starts_with("cvta.") &&
                    !pool().function_name(node).starts_with("cvta.to");
        if (const Expr inner = converted_from_shared(pool(), node))
          plain.map(node, pool().zext(inner, 64));
      });
      const Expr base = BaseOf(pointers)(access.address);
      if (is_shared_address(pointers, access.address)) {
        access.space = StateSpace::shared;
        access.address = plain(access.address);
      } else if (!converts && (generic_global || (base && emulation_.parameter_field(base)))) {
        access.space = StateSpace::global; // a host has no other addresses to pass
      } else {
        return obstruct(source.line, "it is not known what memory the address is of");
      }
    }
    if (access.space != StateSpace::global && access.space != StateSpace::shared)
      return obstruct(source.line, "memory of this kind is not looked at");
    access.base = BaseOf(pointers)(access.address);
    access.is_volatile = opcode.has(Modifier::volatile_);
    // A vector is one access to each element; taken for weak, as it may meet others in a part.
    access.weak =
        opcode.vector != 1 || (site.kind != facts::AccessKind::atomic && !access.is_volatile &&
                               !opcode.has(Modifier::relaxed) && !opcode.has(Modifier::acquire) &&
                               !opcode.has(Modifier::release));
    access.is_packed = opcode.type == ScalarType::f16x2 || opcode.type == ScalarType::bf16x2;
    access.scope = opcode.has(Modifier::cta)       ? ThreadScope::block
                   : opcode.has(Modifier::cluster) ? ThreadScope::cluster
                                                   : ThreadScope::device;
    access.read_only = access.kind == facts::AccessKind::load && reads_constant_memory(opcode);
    accesses_.push_back(access);
  }
  if (accesses_.size() > accesses_budget)
    obstruct(0, "too many accesses");
  for (std::uint32_t i = 0; i < kernel_.instructions.size(); ++i) {
    const Instruction &source = kernel_.instructions[i];
    const Op op = module_.opcode(source).op;
    const BlockId block = cfg().block_of(i);
    if (is_one_of(op, {Op::tex, Op::tld4}))
      texture_line_ = source.line;
    if (is_site[i] || !cfg().reachable(block) || !emulation_.feasible(block) || op == Op::bar ||
        op == Op::barrier || is_harmless(source))
      continue;
    return obstruct(source.line,
                    fmt::format("`{}` is not looked into", module_.opcode(source).text));
  }
}

bool KernelPaths::is_back_edge(BlockId from, BlockId to) const { return cfg().dominates(to, from); }

Expr KernelPaths::edge(BlockId from, BlockId to) {
  const auto &successors = cfg().blocks()[from].successors;
  const bool same = successors.size() == 2 && successors[0] == successors[1];
  const auto fact = same ? std::nullopt : emulation_.fact_on_edge(from, to);
  if (!fact)
    return pool().constant(1, 1);
  const Expr condition = emulation_.expand(fact->condition);
  return fact->holds ? condition : pool().bit_not(condition);
}

// True if all ways that leave a block come to another one, and no address or guard elsewhere
// depends on how often a loop on the way was gone around: that one of them was gone says nothing
// then. Of a loop in front of an access that goes on where it ended its last test says where that
// is.
bool KernelPaths::says_nothing(BlockId from, BlockId block) {
  std::vector<BlockId> work{from};
  std::set<BlockId> between;
  while (!work.empty()) {
    const BasicBlock &info = cfg().blocks()[work.back()];
    work.pop_back();
    const bool may_exit =
        info.branch != no_index &&
        is_one_of(module_.opcode(kernel_.instructions[info.branch]).op, {Op::exit, Op::ret});
    if (info.successors.empty() || may_exit)
      return false;
    for (const BlockId next : info.successors) {
      if (next == block)
        continue;
      if (next == from || !cfg().dominates(from, next))
        return false;
      if (between.insert(next).second)
        work.push_back(next);
    }
  }
  std::set<LoopId> loops;
  for (LoopId loop = 0; loop < cfg().loops().size(); ++loop)
    if (between.contains(cfg().loops()[loop].header))
      loops.insert(loop);
  return loops.empty() || std::none_of(accesses_.begin(), accesses_.end(), [&](const auto &access) {
           return !between.contains(access.block) &&
                  (depends_on_rounds(access.address, loops) ||
                   (access.guard && depends_on_rounds(access.guard, loops)));
         });
}

// By registers at loops' headers and at joins as well.
bool KernelPaths::depends_on_rounds(Expr expr, const std::set<LoopId> &loops) {
  std::vector<Expr> work{expr};
  std::set<Expr> seen;
  const auto is_round = [&](Expr node) {
    return std::any_of(loops.begin(), loops.end(),
                       [&](LoopId loop) { return emulation_.trip_count(loop) == node; });
  };
  while (!work.empty()) {
    const Expr next = work.back();
    work.pop_back();
    bool depends = false;
    if (next)
      for_each_node(emulation_.expand(next), [&](Expr node) {
        if (node->kind != ExprKind::symbol || !seen.insert(node).second)
          return;
        if (const auto at_header = emulation_.loop_register(node)) {
          depends |= loops.contains(at_header->loop);
          work.insert(work.end(), {at_header->initial, at_header->next});
        } else if (const auto join = emulation_.join_register(node)) {
          for (const auto &[from, value] : join->values)
            work.push_back(value);
        } else {
          depends |= is_round(node);
        }
      });
    if (depends)
      return true;
  }
  return false;
}

Expr KernelPaths::local(BlockId block) {
  if (local_[block])
    return local_[block];
  const BlockId from = cfg().immediate_dominator(block);
  if (says_nothing(from, block))
    return local_[block] = pool().constant(1, 1);
  Expr any = pool().constant(1, 0);
  for (const BlockId before : cfg().blocks()[block].predecessors)
    if (cfg().reachable(before) && emulation_.feasible(before) && !is_back_edge(before, block))
      any = pool().bit_or(any, pool().bit_and(way(before, from), edge(before, block)));
  return local_[block] = any;
}

Expr KernelPaths::way(BlockId block, BlockId from) {
  Expr all = pool().constant(1, 1);
  for (; block != from; block = cfg().immediate_dominator(block))
    all = pool().bit_and(local(block), all);
  return all;
}

// A dominator of the block that does not dominate the start lies on every way between the two, so
// control came to it behind the start, from one of the blocks reached; to a loop's header from
// outside, as the start is not in the loop.
Expr KernelPaths::way_since(BlockId start, const std::vector<bool> &reached, BlockId block) {
  std::map<BlockId, Expr> known;
  const auto way_to = [&](const auto &self, BlockId to, BlockId from) -> Expr {
    Expr all = pool().constant(1, 1);
    for (; to != from; to = cfg().immediate_dominator(to)) {
      if (cfg().dominates(to, start)) {
        all = pool().bit_and(local(to), all);
        continue;
      }
      const auto [entry, is_new] = known.try_emplace(to, nullptr);
      if (is_new) {
        const BlockId above = cfg().immediate_dominator(to);
        Expr any = pool().constant(1, 0);
        for (const BlockId before : cfg().blocks()[to].predecessors)
          if (reached[before] && emulation_.feasible(before) && !is_back_edge(before, to))
            any = pool().bit_or(any, pool().bit_and(self(self, before, above), edge(before, to)));
        known[to] = any;
      }
      all = pool().bit_and(known[to], all);
    }
    return all;
  };
  return way_to(way_to, block, 0);
}

const std::vector<Expr> &KernelPaths::symbols() {
  if (symbols_)
    return *symbols_;
  symbols_.emplace();
  std::vector<Expr> work;
  for (std::size_t i = 0; i < probes_.size(); ++i)
    work.push_back(emulation_.probed(i));
  for (BlockId block = 0; block < cfg().blocks().size(); ++block)
    work.push_back(emulation_.branch_choice(block));
  std::set<Expr> seen;
  while (!work.empty()) {
    const Expr expr = work.back();
    work.pop_back();
    if (!expr)
      continue;
    for_each_node(expr, [&](Expr node) {
      if (node->kind != ExprKind::symbol || !seen.insert(node).second)
        return;
      symbols_->push_back(node);
      if (const auto at_header = emulation_.loop_register(node)) {
        work.push_back(at_header->initial);
        work.push_back(at_header->next);
      } else if (const auto join = emulation_.join_register(node)) {
        for (const auto &[from, value] : join->values)
          work.push_back(value);
      }
    });
  }
  std::sort(symbols_->begin(), symbols_->end(), [](Expr a, Expr b) { return a->id < b->id; });
  return *symbols_;
}

Expr KernelPaths::another_round(LoopId loop) {
  const Loop &info = cfg().loops()[loop];
  Expr any = pool().constant(1, 0);
  for (const BlockId latch : info.latches)
    if (cfg().reachable(latch) && emulation_.feasible(latch))
      any = pool().bit_or(any, pool().bit_and(way(latch, info.header), edge(latch, info.header)));
  return any;
}

} // namespace ptxasw::analysis
