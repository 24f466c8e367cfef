// Independence of the block's shape, one axis at a time.
//
// Let g = ctaid * ntid + tid be the global index along the axis and N = nctaid * ntid the number of
// threads; both stay the same when the axis is cut differently. tid is written as g - ctaid * ntid,
// nctaid * ntid as N, and every register as a polynomial over g, N, ctaid, ntid, nctaid and things
// that are not followed further. Where ctaid, ntid and nctaid cancel, the value is "clean": a
// function of g, N and memory. If all that is written, where it is written, and every decision on
// the path are clean, then by induction over the steps of the thread with index g it does the same
// in every shape: the first step that differed would have read something unclean, or memory that
// differs, which some other thread's earlier write had made differ; and without races no order of
// threads matters.
//
// A register with several definitions is clean if all of them are, under the assumption that it is
// (the same induction). It then stands for itself, as something that may change from one time to
// the next; a product with it never cancels, since the two values could be of different times.
//
// Numbers are unbounded integers here: that nothing wraps around is a reported condition.

#include "analysis/independence.h"

#include "analysis/exchange_loops.h"
#include "analysis/plain_calls.h"
#include "analysis/shape_algebra.h"
#include "emulator/facts/origins.h"
#include "emulator/facts/unread.h"
#include "emulator/facts/writers.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "grammar/cfg.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <span>

namespace ptxasw::analysis {
namespace {

using namespace shape_algebra;

constexpr unsigned passes_budget = 64;
constexpr unsigned definition_depth_budget = 500; ///< of definitions within definitions; what is
                                                  ///< deeper counts as a register with several

/// One of the registers that say where a thread is, `%ctaid.y`, in one of PTX's two spellings of
/// components.
struct IndexRegister {
  std::string_view what; ///< tid, ntid, ctaid or nctaid
  char axis = 0;         ///< x, y, z or w
};

std::optional<IndexRegister> index_register(std::string_view name) {
  for (const std::string_view what : {"tid", "ntid", "ctaid", "nctaid"})
    if (name.size() == what.size() + 3 && name[0] == '%' && name.substr(1, what.size()) == what &&
        name[what.size() + 1] == '.')
      for (const std::string_view names : {"xr", "yg", "zb", "wa"})
        if (names.find(name.back()) != std::string_view::npos)
          return IndexRegister{name.substr(1, what.size()), names[0]};
  return std::nullopt;
}

/// Calls `visit(name)` for every special register among the operands and what they hold.
template <class Visit>
void for_each_special(const Module &module, std::span<const Operand> operands, Visit visit) {
  for (const Operand &operand : operands) {
    if (operand.kind == Operand::Kind::special)
      visit(module.text(operand.span));
    for_each_special(module, module.children(operand), visit);
  }
}

/// A kernel's loops of compare-and-swap that are one operation.
std::vector<ExchangeLoop> exchange_loops(const Module &module, const Function &kernel) {
  if (std::none_of(kernel.instructions.begin(), kernel.instructions.end(),
                   [&](const Instruction &one) { return module.opcode(one).has(Modifier::cas); }))
    return {};
  const ControlFlowGraph cfg(module, kernel);
  return cfg.well_formed() ? analysis::exchange_loops(module, kernel, cfg)
                           : std::vector<ExchangeLoop>();
}

/// Returns true if two accesses go to different arrays: their addresses are made from different
/// parameters or variables.
bool are_apart(const Module &module, const Function &kernel, std::uint32_t a, std::uint32_t b) {
  const auto address_of = [&](std::uint32_t i) -> const Operand * {
    for (const Operand &operand : module.operands(kernel.instructions[i]))
      if (operand.kind == Operand::Kind::address)
        return &operand;
    return nullptr;
  };
  const Operand *const one = address_of(a), *const other = address_of(b);
  if (!one || !other)
    return false;
  const facts::Origins origins(module, kernel);
  return facts::Origins::are_apart(origins.of_address(*one), origins.of_address(*other));
}

/// Returns true if the order of a kernel's atomics on global memory does not matter: each is an
/// operation that commutes, and different operations go to different arrays. `rests_on_arrays` says
/// if there are different ones, which one array behind two parameters would bring together.
bool atomics_commute(const Module &module, const Function &kernel,
                     const std::vector<ExchangeLoop> &loops, bool *rests_on_arrays = nullptr) {
  static constexpr std::string_view operations[] = {"add", "min", "max", "and", "or", "xor"};
  std::vector<std::pair<std::uint32_t, std::string>> found;
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Opcode &opcode = module.opcode(kernel.instructions[i]);
    if ((opcode.op != Op::red && opcode.op != Op::atom) || opcode.space == StateSpace::shared)
      continue;
    if (reads_by_atomic(module, kernel.instructions[i]))
      continue;
    std::string operation;
    for (const ExchangeLoop &loop : loops)
      if (loop.exchange == i)
        operation = loop.operation;
    for (const std::string_view name : operations)
      if (operation.empty() && opcode.has(name))
        operation = fmt::format("{}.{}", name, to_string(opcode.type));
    if (operation.empty() || std::any_of(found.begin(), found.end(), [&](const auto &other) {
          return other.second != operation && !are_apart(module, kernel, other.first, i);
        }))
      return false;
    if (rests_on_arrays)
      *rests_on_arrays |= !found.empty() && found[0].second != operation;
    found.emplace_back(i, operation);
  }
  return true;
}

/// Which blocks a walk from one gets to, by edges of one direction; the first only if it gets back
/// there, and none through `without`.
std::vector<bool> blocks_from(const ControlFlowGraph &cfg, BlockId start, bool forwards,
                              BlockId without = no_index) {
  std::vector<bool> reached(cfg.blocks().size(), false);
  std::vector<BlockId> to_do{start};
  while (!to_do.empty()) {
    const BasicBlock &block = cfg.blocks()[to_do.back()];
    to_do.pop_back();
    for (const BlockId next : forwards ? block.successors : block.predecessors)
      if (next != without && !reached[next]) {
        reached[next] = true;
        to_do.push_back(next);
      }
  }
  return reached;
}

/// By instruction: a load of what no store of the kernel writes, by its own promise, as of arrays
/// that are `const` and `__restrict__`; no store says otherwise.
std::vector<bool> loads_apart(const Module &module, const Function &kernel) {
  std::vector<bool> result(kernel.instructions.size(), false);
  facts::Writers writers(module, kernel);
  for (std::uint32_t i = 0; !writers.unknown() && i < kernel.instructions.size(); ++i) {
    const Opcode &opcode = module.opcode(kernel.instructions[i]);
    result[i] =
        effect_of(opcode) == Effect::load && reads_constant_memory(opcode) && !writers.conflict(i);
  }
  return result;
}

/// Returns true if a barrier is for the whole block, on every way through the kernel once, and what
/// lies before it and what lies behind it could not conflict: what is loaded on one side is stored
/// on no other, and only one side stores.
bool orders_nothing(const Module &module, const Function &kernel, std::uint32_t barrier) {
  const Instruction &instruction = kernel.instructions[barrier];
  const Opcode &opcode = module.opcode(instruction);
  if (instruction.guard != no_register || instruction.operand_count != 1 ||
      !opcode.has(Modifier::sync) || opcode.has(Modifier::warp) || opcode.has(Modifier::cluster))
    return false;
  const ControlFlowGraph cfg(module, kernel);
  if (!cfg.well_formed())
    return false;
  const BlockId here = cfg.block_of(barrier);
  const std::vector<bool> before = blocks_from(cfg, here, false),
                          behind = blocks_from(cfg, here, true);
  std::vector<bool> around = blocks_from(cfg, 0, true, here);
  around[0] = here != 0;
  if (before[here])
    return false;
  for (BlockId block = 0; block < cfg.blocks().size(); ++block)
    if (around[block] && block != here && cfg.blocks()[block].successors.empty())
      return false; // a way past it
  bool loads[2] = {}, stores[2] = {};
  const std::vector<bool> apart = loads_apart(module, kernel);
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const BlockId block = cfg.block_of(i);
    const Opcode &at = module.opcode(kernel.instructions[i]);
    const bool is_end = at.op == Op::ret || at.op == Op::exit;
    if (is_end && (block == here ? i < barrier : around[block]))
      return false; // another one, under a guard
    if (i == barrier || at.op == Op::bar || at.op == Op::barrier || apart[i])
      continue;
    const Effect effect = effect_of(at);
    for (const bool is_behind : {false, true}) {
      const bool on_this_side =
          block == here ? (i > barrier) == is_behind : (is_behind ? behind : before)[block];
      loads[is_behind] |= on_this_side && effect == Effect::load;
      stores[is_behind] |= on_this_side && effect != Effect::load && effect != Effect::none;
    }
  }
  return !(stores[0] && (loads[1] || stores[1])) && !(loads[0] && stores[1]);
}

class IndependenceAnalysis : Algebra {
public:
  IndependenceAnalysis(const Module &module, const Function &kernel, int axis)
      : module_(module), kernel_(kernel), axis_("xyz"[axis]), calls_(module),
        loops_(exchange_loops(module, kernel)), values_(kernel.registers.size()),
        states_(kernel.registers.size()), definitions_(kernel.registers.size()),
        atomics_commute_(atomics_commute(module, kernel, loops_)) {
    for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i)
      for_each_register(module, kernel.instructions[i], [&](RegisterId reg, RegisterUse use) {
        if (use != RegisterUse::read &&
            (definitions_[reg].empty() || definitions_[reg].back() != i))
          definitions_[reg].push_back(i);
      });
  }

  AxisIndependence run() {
    find_reads();
    for (unsigned pass = 0; pass < passes_budget; ++pass) {
      if (settle())
        return judge();
    }
    return {AxisVerdict::unknown, 0, "too many registers depend on each other"};
  }

private:
  enum class State : std::uint8_t { fresh, at_work, done };
  /// A register with several definitions, or one that is defined by itself.
  struct Phi {
    AtomId atom = 0;
  };

  // --- Values of operands and registers ---

  Polynomial special(std::string_view name, std::uint32_t line) {
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
        name.starts_with("%lanemask_") || name == "%total_smem_size" ||
        name == "%dynamic_smem_size")
      return stained(line, fmt::format("{} depends on the shape of the block", name), true);
    return stained(line, fmt::format("{} is not followed", name), false);
  }

  // The same thing whenever it is read: a parameter, an address, a special register.
  AtomId symbol_atom(const std::string &name) {
    const auto [found, is_new] = symbols_.try_emplace(name, 0);
    if (is_new)
      found->second = new_atom(true, true, -1);
    return found->second;
  }

  Polynomial value(const Operand &operand, std::uint32_t line) {
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
        return stained(line, "shared memory: threads of a block meet there", false);
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
  Polynomial opaque(const std::vector<Polynomial> &inputs, std::uint32_t line, bool pure) {
    bool stable = pure;
    for (const Polynomial &input : inputs) {
      if (!is_clean(input)) {
        const Stain why = stain_of(input);
        return stained(why.line != 0 ? why.line : line, why.reason, why.certain);
      }
      stable &= is_stable(input);
    }
    return of(new_atom(true, stable, -1));
  }

  Polynomial value(RegisterId reg) {
    State &state = states_[reg];
    if (state == State::done)
      return values_[reg];
    if (state == State::at_work || definitions_[reg].size() != 1 ||
        depth_ > definition_depth_budget)
      return phi(reg);
    state = State::at_work;
    ++depth_;
    Polynomial result = defined_by(kernel_.instructions[definitions_[reg][0]], reg);
    --depth_;
    states_[reg] = State::done;
    // Asked for while being computed: it is defined by itself.
    const bool cyclic = phis_.contains(reg);
    return values_[reg] = cyclic ? of(phis_.at(reg).atom) : std::move(result);
  }

  Polynomial phi(RegisterId reg) {
    const auto [found, is_new] = phis_.try_emplace(reg);
    if (is_new) {
      const auto stain = stained_phis_.find(reg);
      found->second.atom = stain == stained_phis_.end() ? new_atom(true, false, -1)
                                                        : new_atom(false, false, stain->second);
    }
    return of(found->second.atom);
  }

  // What an instruction writes to a register, its guard included.
  Polynomial defined_by(const Instruction &instruction, RegisterId reg) {
    Polynomial result = bounded(computed_by(instruction, reg));
    if (instruction.guard == no_register)
      return result;
    const Polynomial guard = value(instruction.guard);
    return is_clean(guard) ? result : opaque({guard, result}, instruction.line, true);
  }

  Polynomial computed_by(const Instruction &instruction, RegisterId reg) {
    const Opcode &opcode = module_.opcode(instruction);
    const auto operands = module_.operands(instruction);
    const std::uint32_t line = instruction.line;
    const auto unknown = [&](std::string_view why) {
      return stained(line, fmt::format("`{}`: {}", opcode.text, why), false);
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
      return stained(line, "shared memory: threads of a block meet there", false);
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
  bool keeps_number(const Opcode &opcode, const std::vector<Polynomial> &inputs) const {
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

  static bool is_not_negative(const Polynomial &p) {
    return p == thread_index() || std::all_of(p.begin(), p.end(), [](const auto &term) {
             return term.second >= 0 && std::all_of(term.first.begin(), term.first.end(),
                                                    [](AtomId atom) { return atom < first_free; });
           });
  }

  Polynomial loaded(const Opcode &opcode, const std::vector<Polynomial> &inputs,
                    std::span<const Operand> operands, std::uint32_t line) {
    if (opcode.space == StateSpace::shared)
      return stained(line, "shared memory: what other threads of the block wrote", false);
    if (effect_of(opcode) == Effect::sync)
      return stained(line, fmt::format("`{}` is ordered with what others do", opcode.text), false);
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
  std::optional<Polynomial> arithmetic(const Opcode &opcode, const std::vector<Polynomial> &in,
                                       std::span<const Operand> operands, RegisterId reg) const {
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

  // --- The fixed point, and the verdict ---

  void find_reads() {
    read_.assign(kernel_.registers.size(), false);
    for (const Instruction &instruction : kernel_.instructions)
      for_each_register(module_, instruction, [&](RegisterId reg, RegisterUse use) {
        if (use == RegisterUse::read)
          read_[reg] = true;
      });
  }

  // One pass under the assumption that all registers with several definitions are clean except
  // those that are known not to be. True if the assumption holds.
  bool settle() {
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
        if (stained_phis_.contains(reg))
          continue;
        for (const std::uint32_t definition : definitions_[reg]) {
          const Polynomial p = defined_by(kernel_.instructions[definition], reg);
          if (is_clean(p))
            continue;
          Stain why = stain_of(p);
          if (why.line == 0)
            why.line = kernel_.instructions[definition].line;
          new_stains_.emplace_back(reg, std::move(why));
          holds = false;
          break;
        }
      }
    }
    if (holds)
      return true;
    forget(kept_stains_);
    for (auto &[reg, why] : new_stains_) {
      if (stained_phis_.contains(reg))
        continue;
      stained_phis_[reg] = new_stain(std::move(why));
    }
    new_stains_.clear();
    kept_stains_ = stains();
    return false;
  }

  struct Finding {
    std::uint32_t line = 0;
    std::string reason;
    bool certain = false;
  };

  void look_at(std::vector<Finding> &findings, const Polynomial &p, const Instruction &instruction,
               std::string_view what) const {
    if (is_clean(p))
      return;
    const Stain &stain = stain_of(p);
    findings.push_back({instruction.line,
                        stain.line == 0 || stain.line == instruction.line
                            ? fmt::format("{}: {}", what, stain.reason)
                            : fmt::format("{}: {} (line {})", what, stain.reason, stain.line),
                        stain.certain});
  }

  /// The loop of compare-and-swap that an instruction is the exchange of, or a branch; or null.
  const ExchangeLoop *loop_of(std::uint32_t instruction) const {
    for (const ExchangeLoop &loop : loops_)
      if (loop.exchange == instruction || loop.branch == instruction || loop.entry == instruction)
        return &loop;
    return nullptr;
  }

  /// The address of an access, or of what an atomic changes.
  Polynomial place_of(const Instruction &instruction, std::size_t operand) {
    return value(module_.operands(instruction)[operand], instruction.line);
  }

  /// Returns true if an address has a part for each thread, along this axis or another one.
  bool goes_along(const Polynomial &place) const {
    return place.contains({global_index}) ||
           std::any_of(symbols_.begin(), symbols_.end(), [&](const auto &symbol) {
             return symbol.first.starts_with("%tid.") && place.contains({symbol.second});
           });
  }

  // Plain accesses of places that atomics of other threads change: races, whatever they read. Where
  // the place goes along with the thread, nobody else need be there.
  void find_plain_accesses(std::vector<Finding> &findings) {
    std::vector<Polynomial> changed;
    for (const Instruction &instruction : kernel_.instructions) {
      const Opcode &opcode = module_.opcode(instruction);
      const std::size_t operand = opcode.op == Op::atom ? 1 : 0;
      if (is_one_of(opcode.op, {Op::atom, Op::red}) && opcode.space != StateSpace::shared &&
          module_.operands(instruction).size() > operand && !reads_by_atomic(module_, instruction))
        if (Polynomial place = place_of(instruction, operand); !goes_along(place))
          changed.push_back(std::move(place));
    }
    for (const Instruction &instruction : kernel_.instructions) {
      const Opcode &opcode = module_.opcode(instruction);
      const Effect effect = effect_of(opcode);
      const bool is_access = effect == Effect::load || effect == Effect::store;
      if (changed.empty() || !is_access || module_.operands(instruction).size() < 2 ||
          (opcode.space != StateSpace::global && opcode.space != StateSpace::generic))
        continue;
      const Polynomial place = place_of(instruction, effect == Effect::load ? 1 : 0);
      if (std::find(changed.begin(), changed.end(), place) != changed.end())
        findings.push_back(
            {instruction.line,
             fmt::format("`{}`: a race with the atomics of other threads there", opcode.text),
             false});
    }
  }

  AxisIndependence judge() {
    std::vector<Finding> findings;
    for (std::uint32_t index = 0; index < kernel_.instructions.size(); ++index) {
      const Instruction &instruction = kernel_.instructions[index];
      const Opcode &opcode = module_.opcode(instruction);
      const auto operands = module_.operands(instruction);
      const Op op = opcode.op;
      const auto unknown = [&](std::string_view why) {
        findings.push_back({instruction.line, fmt::format("`{}`: {}", opcode.text, why), false});
      };
      const bool jumps =
          op == Op::bra || op == Op::brx || op == Op::ret || op == Op::exit || op == Op::trap;
      const ExchangeLoop *const loop = loop_of(index);
      if (jumps) {
        if (loop)
          continue; // how often it goes round, if at all, is of no consequence
        if (instruction.guard != no_register)
          look_at(findings, value(instruction.guard), instruction, "what decides");
        if (op == Op::brx && !operands.empty())
          look_at(findings, value(operands[0], instruction.line), instruction, "what decides");
        continue;
      }
      if (!instruction.well_formed) {
        unknown("not understood");
        continue;
      }
      if (op == Op::st || op == Op::red || op == Op::atom) {
        if (op == Op::st && effect_of(opcode) == Effect::sync)
          unknown("ordered with what others do");
        if (opcode.space == StateSpace::shared) {
          unknown("shared memory");
          continue;
        }
        if (op != Op::st && !atomics_commute_)
          unknown("the order of threads decides");
        if (instruction.guard != no_register)
          look_at(findings, value(instruction.guard), instruction, "whether it is written");
        if (loop) {
          look_at(findings, value(operands[1], instruction.line), instruction,
                  "where it is written");
          look_at(findings, value(loop->value, instruction.line), instruction, "what is written");
          continue;
        }
        const std::size_t first = op == Op::atom ? 1 : 0;
        for (std::size_t i = first; i < operands.size(); ++i)
          look_at(findings, value(operands[i], instruction.line), instruction,
                  i == first ? "where it is written" : "what is written");
        continue;
      }
      // Computations and loads count where their results go.
      if (is_pure(opcode) || op == Op::ld || op == Op::ldu || op == Op::isspacep ||
          op == Op::activemask || op == Op::prefetch || op == Op::prefetchu ||
          op == Op::nanosleep || op == Op::fence || op == Op::membar || op == Op::pmevent ||
          op == Op::shfl || op == Op::vote || op == Op::match || op == Op::redux || op == Op::elect)
        continue;
      if ((op == Op::bar || op == Op::barrier) && orders_nothing(module_, kernel_, index))
        continue;
      if (op == Op::call && calls_.is_plain(instruction)) {
        if (instruction.guard != no_register)
          look_at(findings, value(instruction.guard), instruction, "whether it is called");
        for (const Operand &operand : operands)
          if (&operand != &operands[0]) // results, or the function's name
            look_at(findings, value(operand, instruction.line), instruction,
                    "what it is called with");
        continue;
      }
      unknown(op == Op::bar || op == Op::barrier ? "threads of a block wait for each other"
              : op == Op::call                   ? "a call"
                                                 : "not followed");
    }
    find_plain_accesses(findings);
    const auto certain =
        std::find_if(findings.begin(), findings.end(), [](const Finding &f) { return f.certain; });
    if (certain != findings.end())
      return {AxisVerdict::dependent, certain->line, certain->reason};
    if (!findings.empty())
      return {AxisVerdict::unknown, findings[0].line, findings[0].reason};
    return {mentions_axis() ? AxisVerdict::independent : AxisVerdict::unused, 0, ""};
  }

  bool mentions_axis() const {
    bool found = false;
    for (const Instruction &instruction : kernel_.instructions)
      for_each_special(module_, module_.operands(instruction), [&](std::string_view name) {
        const auto index = index_register(name);
        found |= index && index->axis == axis_;
      });
    return found;
  }

  const Module &module_;
  const Function &kernel_;
  const char axis_;
  PlainCalls calls_;
  const std::vector<ExchangeLoop> loops_;
  unsigned depth_ = 0;
  std::size_t kept_stains_ = 0; ///< of registers, behind the first
  std::vector<Polynomial> values_;
  std::vector<State> states_;
  std::vector<std::vector<std::uint32_t>> definitions_; ///< instructions, by register
  const bool atomics_commute_;
  std::vector<bool> read_;
  std::map<RegisterId, Phi> phis_;
  std::map<RegisterId, std::int32_t> stained_phis_; ///< and the stain
  std::vector<std::pair<RegisterId, Stain>> new_stains_;
  std::map<std::string, AtomId> symbols_;
};

// What a kernel uses that ties threads or blocks together.
void find_ties(const Module &module, const Function &kernel, KernelIndependence &result) {
  bool blocks = true, threads = true;
  PlainCalls calls(module);
  const std::vector<bool> unread = facts::unread_atomics(module, kernel);
  for (std::size_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &instruction = kernel.instructions[i];
    const Opcode &opcode = module.opcode(instruction);
    const Op op = opcode.op;
    for_each_special(module, module.operands(instruction), [&](std::string_view name) {
      const bool index =
          index_register(name) || name == "WARP_SZ" || name.starts_with("%reserved_smem_offset_");
      const bool of_warp = name == "%laneid" || name == "%warpid" || name == "%nwarpid" ||
                           name.starts_with("%lanemask_");
      threads &= index;
      blocks &= index || of_warp;
    });
    const bool flow = op == Op::bra || op == Op::brx || op == Op::ret || op == Op::exit ||
                      op == Op::trap || op == Op::prefetch || op == Op::prefetchu ||
                      op == Op::nanosleep || op == Op::pmevent || op == Op::isspacep;
    const bool samples = op == Op::tex || op == Op::tld4 || op == Op::txq;
    const bool access =
        (op == Op::ld || op == Op::st || op == Op::ldu) && effect_of(opcode) != Effect::sync;
    const bool reduction = (op == Op::red || unread[i]) && opcode.space != StateSpace::shared;
    const bool alone =
        instruction.well_formed && (is_pure(opcode) || flow || samples || access || reduction ||
                                    (op == Op::call && calls.is_plain(instruction)));
    const bool within_block =
        op == Op::shfl || op == Op::vote || op == Op::match || op == Op::redux ||
        op == Op::activemask || op == Op::elect || op == Op::bar ||
        (op == Op::barrier && !opcode.has(Modifier::cluster)) ||
        is_one_of(op, {Op::wmma, Op::mma, Op::ldmatrix, Op::stmatrix, Op::movmatrix, Op::suld,
                       Op::sust, Op::suq, Op::griddepcontrol}) ||
        (op == Op::cp && leaves_global_alone(opcode)) ||
        ((op == Op::atom || op == Op::red) && opcode.space == StateSpace::shared) ||
        (op == Op::call && calls_driver(module, instruction));
    blocks &= alone || within_block;
    // A reduction that is one step only for the threads of its block counts on which those are.
    const auto &words = opcode.modifiers;
    const bool narrow_scope =
        reduction && (opcode.has(Modifier::cluster) ||
                      std::find(words.begin(), words.end(), "cta") != words.end());
    threads &= alone && !narrow_scope && opcode.space != StateSpace::shared;
  }
  blocks &= atomics_commute(module, kernel, {});
  result.blocks_independent = blocks;
  result.threads_independent = blocks && threads;
}

} // namespace

bool blocks_independent(const Module &module, const Function &kernel) {
  KernelIndependence result;
  find_ties(module, kernel, result);
  return result.blocks_independent;
}

std::string_view to_string(AxisVerdict verdict) {
  switch (verdict) {
  case AxisVerdict::unused:
    return "unused";
  case AxisVerdict::independent:
    return "independent";
  case AxisVerdict::dependent:
    return "dependent";
  case AxisVerdict::unknown:
    break;
  }
  return "unknown";
}

KernelIndependence independence(const Module &module, const Function &kernel) {
  KernelIndependence result;
  result.name = kernel.name;
  bool relies = false;
  for (int axis = 0; axis < 3; ++axis) {
    result.axes[axis] = IndependenceAnalysis(module, kernel, axis).run();
    relies |= result.axes[axis].verdict == AxisVerdict::independent;
  }
  find_ties(module, kernel, result);
  if (relies) {
    result.conditions = {"no race", "indices do not wrap around",
                         "the block's extent divides the number of threads along the axis"};
    const std::vector<ExchangeLoop> loops = exchange_loops(module, kernel);
    if (std::any_of(kernel.instructions.begin(), kernel.instructions.end(),
                    [&](const Instruction &one) {
                      const Opcode &opcode = module.opcode(one);
                      return is_one_of(opcode.op, {Op::red, Op::atom}) && is_float(opcode.type);
                    }) ||
        std::any_of(loops.begin(), loops.end(), [](const ExchangeLoop &loop) {
          return loop.operation.starts_with("add") && is_float(loop.type);
        }))
      result.conditions.emplace_back("sums of floating-point numbers may be taken in any order");
    bool rests_on_arrays = false;
    if (atomics_commute(module, kernel, loops, &rests_on_arrays) && rests_on_arrays)
      result.conditions.emplace_back(
          "pointers of different atomic operations lead to different arrays");
  }
  return result;
}

} // namespace ptxasw::analysis
