// A load is promoted where every iteration runs it at the address of the first one, and each store
// of the loop is of another space, writes to the very place what the load would read, or can be
// tested to stay away. A load on whose value the end of the loop depends stays: a program may wait
// there for another thread, if without the right to.
//
// A load is carried where another one has read what it would read: in the same iteration, before
// it, or in the iteration before, if that one runs in every iteration. Then stores matter that come
// between the two: those of the iteration of the source, and those of the next one. Their order
// does not matter: each must stay away from the place, or write to it what would be read.

#include "synth/promote/sites.h"

#include "emulator/facts/waiting.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/generic.h"
#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "grammar/pragmas.h"
#include "grammar/roles.h"

#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::synth::promote {
namespace {

namespace refusal {
constexpr Refusal synchronises{"synchronises", "something in the loop synchronises"};
constexpr Refusal shape{"control-flow", "the loop's control flow is not understood"};
constexpr Refusal too_large{"too-large", "the loop is too large to be copied"};
constexpr Refusal none{"no-repeated-load", "no load of the loop reads one place in every round"};
constexpr Refusal new_places{"no-carried-load",
                             "no load of the loop reads what another one has read"};
constexpr Refusal ranges{"store-range", "where a store of the loop writes cannot be tested"};
} // namespace refusal

constexpr std::size_t largest_loop = 2'000; ///< instructions
constexpr std::size_t most_conditions = 128;

class LoopReader : OfKernel {
public:
  LoopReader(const KernelContext &context, Promotion &result)
      : OfKernel(context), result_(result), loop_(cfg().loops()[result.loop]),
        nothing_(result.wanted == Wanted::repeated ? refusal::none : refusal::new_places),
        values_(module_, kernel_, cfg(), result.loop, result.atoms),
        body_(instructions_of(cfg(), result.loop)), all_global_(generic_is_global(module_)) {}

  /// Throws a Refusal: why nothing is promoted.
  void run() {
    const std::uint32_t first = block(loop_.header).first;
    demand(body_.size() <= largest_loop, refusal::too_large, first);
    if (const auto why = order_in(context_, result_.loop))
      throw *why;
    demand(is_copyable(), refusal::shape, first);
    Refusal why = nothing_.at(instruction(first).line);
    for (const std::uint32_t i : body_)
      try {
        if (is_repeatable(opcode(i)))
          add(i);
      } catch (const Refusal &stop) {
        if (stop.reason != nothing_.reason)
          why = stop;
      }
    const auto &loads = result_.loads;
    if (std::none_of(loads.begin(), loads.end(), [&](const RepeatedLoad &load) {
          return load.is_carried() == (result_.wanted == Wanted::carried);
        }))
      throw why;
  }

private:
  /// Returns true if the loop can be copied: its back edges are branches, and nothing else than its
  /// text is needed to say where it goes.
  bool is_copyable() const {
    const auto goes_back = [&](BlockId latch) {
      return branch_target(module_, kernel_, instruction(block(latch).end - 1)) ==
             block(loop_.header).first;
    };
    return std::all_of(loop_.latches.begin(), loop_.latches.end(), goes_back) &&
           kernel_.target_lists.empty() &&
           std::all_of(body_.begin(), body_.end(), [&](std::uint32_t i) {
             return instruction(i).scope == 0 && instruction(i).well_formed &&
                    opcode(i).op != Op::brx;
           });
  }

  /// Throws a Refusal: why a load is not promoted.
  void add(std::uint32_t load) {
    std::vector<Condition> all = result_.conditions;
    RepeatedLoad found = read_before(load, all);
    demand(!facts::decides_end(module_, kernel_, cfg(), result_.loop, load),
           refusals::decides_the_end, load);
    demand(all.size() <= most_conditions, refusal::too_large, load);
    result_.loads.push_back(std::move(found));
    result_.conditions = std::move(all);
  }

  /// Where what a load would read has been read before.
  RepeatedLoad read_before(std::uint32_t load, std::vector<Condition> &conditions) {
    std::vector<Condition> ignored;
    const auto place = is_simple(load) ? values_.address(load, ignored) : std::nullopt;
    if (!place || (place->step.is_zero() ? !values_.runs_in_each_round(load)
                                         : result_.wanted == Wanted::repeated ||
                                               instruction(load).guard != no_register))
      throw nothing_;
    if (place->step.is_zero())
      return kept(load, load, 0, conditions);
    Refusal why = nothing_;
    for (const unsigned ago : {0U, 1U})
      for (const std::uint32_t source : body_)
        try {
          if (source != load && is_repeatable(opcode(source)) &&
              instruction(source).guard == no_register &&
              (ago == 0 ? values_.precedes(source, load) : values_.runs_in_each_round(source)) &&
              reads_alike(context_, source, load))
            return kept(source, load, ago, conditions);
        } catch (const Refusal &stop) {
          if (stop.reason != nothing_.reason)
            why = stop;
        }
    throw why;
  }

  /// Returns true if a load's destination can be copied register by register.
  bool is_simple(std::uint32_t load) const {
    const Operand &to = operands(load)[0];
    const auto is_copied = [&](const Operand &one) {
      return one.kind == Operand::Kind::sink ||
             (is_whole_register(one) && can_be_copied(kernel_.registers[one.reg]) &&
              kernel_.registers[one.reg].type != ScalarType::pred);
    };
    const auto parts = module_.children(to);
    return to.kind == Operand::Kind::vector ? std::all_of(parts.begin(), parts.end(), is_copied)
                                            : to.kind == Operand::Kind::reg && is_copied(to);
  }

  /// What it needs that `source` has read `ago` iterations before what a load would read, and that
  /// this is still there.
  RepeatedLoad kept(std::uint32_t source, std::uint32_t load, unsigned ago,
                    std::vector<Condition> &conditions) {
    const bool repeats = load == source; // then one address is one place, whatever it is
    auto needed = values_.meets(source, load, ago);
    if (!needed)
      throw refusal::new_places;
    RepeatedLoad result{load, source, ago, {}};
    // Why a load that stays where it is is not promoted is for promotion alone to say.
    const Refusal &why = repeats && result_.wanted == Wanted::carried ? nothing_ : refusal::ranges;
    for (const std::uint32_t i : body_) {
      const Spaces spaces = effect_of(opcode(i)) == Effect::store
                                ? spaces_of(opcode(source), opcode(i), all_global_)
                                : Spaces::apart;
      for (unsigned rounds = 0; rounds <= ago && spaces != Spaces::apart; ++rounds) {
        demand(spaces == Spaces::comparable, why, i);
        auto found = values_.meets(source, i, rounds);
        const bool hits = found && forwarded(context_, source, i) &&
                          !(repeats && std::any_of(found->begin(), found->end(), is_tested_place));
        if (hits)
          result.stored[rounds].push_back(i);
        else
          found = values_.apart(source, i, rounds);
        demand(found.has_value(), why, i);
        if (!hits || !repeats)
          needed->insert(needed->end(), found->begin(), found->end());
      }
    }
    for (Condition &condition : *needed)
      if (std::find(conditions.begin(), conditions.end(), condition) == conditions.end())
        conditions.push_back(std::move(condition));
    return result;
  }

  static bool is_tested_place(const Condition &one) { return one.kind == Condition::Kind::zero; }

  Promotion &result_;
  const ptxasw::ptx::Loop &loop_;
  const Refusal nothing_;
  LoopValues values_;
  const std::vector<std::uint32_t> body_;
  const bool all_global_;
};

/// Returns true if a loop is what became of another one: it goes back to where its first iteration
/// is told from the others.
bool is_promoted(const Function &kernel, std::uint32_t header) {
  return std::any_of(kernel.labels.begin(), kernel.labels.end(), [&](const Label &label) {
    const auto is_of = [&](Wanted wanted) {
      return label.name.starts_with(fmt::format("${}", prefix_of(wanted)));
    };
    return label.position == header && (is_of(Wanted::repeated) || is_of(Wanted::carried));
  });
}

} // namespace

std::vector<std::uint32_t> instructions_of(const ControlFlowGraph &cfg, LoopId loop) {
  std::vector<std::uint32_t> result;
  for (const BlockId block : blocks_in(cfg, loop))
    for (std::uint32_t i = cfg.blocks()[block].first; i < cfg.blocks()[block].end; ++i)
      result.push_back(i);
  return result;
}

bool is_repeatable(const Opcode &opcode) {
  return opcode.op == Op::ld && effect_of(opcode) == Effect::load && may_be_global(opcode.space);
}

const Operand *forwarded(const KernelContext &context, std::uint32_t load, std::uint32_t store) {
  const Module &module = context.module;
  const Function &function = context.kernel;
  const Instruction &reader = function.instructions[load], &writer = function.instructions[store];
  const Opcode &reads = module.opcode(reader), &writes = module.opcode(writer);
  const auto to = module.operands(reader), from = module.operands(writer);
  const unsigned bits = bit_width(reads.type);
  const auto is_register = [&](const Operand &one) {
    return one.kind == Operand::Kind::reg && one.selector == 0 &&
           bit_width(function.registers[one.reg].type) == bits;
  };
  if (reads.vector != 1 || writes.vector != 1 || bit_width(writes.type) != bits ||
      (bits != 32 && bits != 64) || to.size() < 2 || from.size() < 2 || !is_register(to[0]))
    return nullptr;
  const Operand &value = from[1];
  const bool is_number = value.kind == Operand::Kind::integer && !is_float(writes.type);
  return is_number ||
                 (is_register(value) && !value.negated && function.registers[value.reg].vector == 1)
             ? &value
             : nullptr;
}

bool reads_alike(const KernelContext &context, std::uint32_t load, std::uint32_t other) {
  const Module &module = context.module;
  const Function &function = context.kernel;
  const Instruction &a = function.instructions[load], &b = function.instructions[other];
  const Opcode &reads = module.opcode(a), &reads_too = module.opcode(b);
  const Operand &to = module.operands(a)[0], &to_too = module.operands(b)[0];
  const auto alike = [&](const Operand &one, const Operand &two) {
    return one.kind == two.kind &&
           (one.kind != Operand::Kind::reg || bit_width(function.registers[one.reg].type) ==
                                                  bit_width(function.registers[two.reg].type));
  };
  const auto parts = module.children(to), parts_too = module.children(to_too);
  return reads.type == reads_too.type && reads.vector == reads_too.vector &&
         reads.space == reads_too.space && !leaves_bytes_undefined(function, load) &&
         alike(to, to_too) &&
         std::equal(parts.begin(), parts.end(), parts_too.begin(), parts_too.end(), alike);
}

std::optional<Refusal> order_in(const KernelContext &context, LoopId loop) {
  const ControlFlowGraph &cfg = context.cfg();
  for (const std::uint32_t i : instructions_of(cfg, loop)) {
    const Instruction &one = context.kernel.instructions[i];
    const Opcode &opcode = context.module.opcode(one);
    if (opcode.op == Op::call)
      return refusals::call.at(one.line);
    if (cfg.irreducible(cfg.block_of(i)) || !one.well_formed ||
        (!is_way(opcode) && effect_of(opcode) == Effect::sync))
      return refusal::synchronises.at(one.line);
  }
  return std::nullopt;
}

Sites<Promotion> promotion_sites(const KernelContext &context, Wanted wanted) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  if (module.address_size != 64)
    return {{}, {refusals::address_size}};
  if (kernel.instructions.size() > changed_instructions_budget)
    return {{}, {refusals::control_flow}};
  if (const auto obstacle = lanes_obstacle(module, kernel))
    return {{}, {*obstacle}};
  const ControlFlowGraph &cfg = context.cfg();
  if (!cfg.well_formed())
    return {{}, {refusals::control_flow}};
  Sites<Promotion> result;
  for (LoopId loop = 0; loop < cfg.loops().size(); ++loop) {
    const std::uint32_t header = cfg.blocks()[cfg.loops()[loop].header].first;
    if (is_promoted(kernel, header))
      continue;
    try {
      Promotion found{wanted, loop, kernel.instructions[header].line};
      LoopReader(context, found).run();
      result.sites.push_back(std::move(found));
    } catch (const Refusal &stop) {
      result.refusals.push_back(stop);
    }
  }
  std::sort(result.sites.begin(), result.sites.end(), [&](const Promotion &a, const Promotion &b) {
    return cfg.loops()[a.loop].header < cfg.loops()[b.loop].header;
  });
  if (result.sites.empty() && result.refusals.empty())
    result.refusals.push_back(refusals::no_loop);
  return result;
}

} // namespace ptxasw::synth::promote
