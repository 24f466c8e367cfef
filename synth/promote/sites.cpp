// A load is promoted where every round runs it at the address of the first one, and each store of
// the loop is of another space, writes to the very place what the load would read, or can be tested
// to stay away. A load on whose value the end of the loop depends stays: a program may wait there
// for another thread, if without the right to.
//
// A load is carried where another one has read what it would read: in the same round, before it, or
// in the round before, if that one runs in every round. Then stores matter that come between the
// two: those of the round of the source, and those of the next one. Their order within a round is
// not looked at: each must stay away from the place, or write to it what would be read.

#include "synth/promote/sites.h"

#include "emulator/facts/waiting.h"
#include "emulator/semantics/effects.h"
#include "emulator/symbolic/generic.h"
#include "grammar/code_writer.h"
#include "grammar/next.h"
#include "grammar/pragmas.h"
#include "grammar/roles.h"

#include <algorithm>
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

class Loop : OfKernel {
public:
  Loop(const KernelContext &context, LoopId loop, Atoms &atoms)
      : OfKernel(context), loop_(cfg().loops()[loop]),
        values_(module_, kernel_, cfg(), loop, atoms), body_(instructions_of(cfg(), loop)),
        all_global_(generic_is_global(module_)) {}

  /// Returns true if the loop can be copied: its back edges are branches, and nothing else than its
  /// text is needed to say where it goes.
  bool is_copyable() const {
    return std::all_of(loop_.latches.begin(), loop_.latches.end(),
                       [&](BlockId latch) {
                         return branch_target(module_, kernel_,
                                              instruction(block(latch).end - 1)) ==
                                block(loop_.header).first;
                       }) &&
           kernel_.target_lists.empty() &&
           std::all_of(body_.begin(), body_.end(), [&](std::uint32_t i) {
             return instruction(i).scope == 0 && instruction(i).well_formed &&
                    opcode(i).op != Op::brx;
           });
  }

  /// What a load needs to be promoted; or why it is not.
  tl::expected<RepeatedLoad, Refusal> repeated(std::uint32_t load,
                                               std::vector<Condition> &conditions) {
    const auto place = place_of(load);
    if (!values_.runs_in_each_round(load) || !place || !place->step.is_zero())
      return tl::unexpected(refusal::none);
    return kept(load, load, 0, conditions);
  }

  /// What a load needs to be carried; or why it is not.
  tl::expected<RepeatedLoad, Refusal> carried(std::uint32_t load,
                                              std::vector<Condition> &conditions) {
    Refusal why = refusal::new_places;
    const auto place = place_of(load);
    if (instruction(load).guard != no_register || !place || place->step.is_zero())
      return tl::unexpected(why);
    for (const unsigned ago : {0U, 1U})
      for (const std::uint32_t source : body_) {
        if (source == load || !is_repeatable(opcode(source)) ||
            instruction(source).guard != no_register ||
            !(ago == 0 ? values_.precedes(source, load) : values_.runs_in_each_round(source)) ||
            !reads_alike(context_, source, load))
          continue;
        auto result = kept(source, load, ago, conditions);
        if (result)
          return result;
        if (result.error().reason != refusal::new_places.reason)
          why = result.error();
      }
    return tl::unexpected(why);
  }

  const std::vector<std::uint32_t> &body() const { return body_; }

private:
  /// How an instruction may change what a load has read.
  Spaces spaces_to(std::uint32_t load, std::uint32_t i) const {
    return effect_of(opcode(i)) == Effect::store ? spaces_of(opcode(load), opcode(i), all_global_)
                                                 : Spaces::apart;
  }

  /// Returns true if a load's destination can be copied register by register.
  bool is_simple(std::uint32_t load) const {
    const Operand &to = operands(load)[0];
    const auto is_register = [&](const Operand &one) {
      return is_whole_register(one) && can_be_copied(kernel_.registers[one.reg]) &&
             kernel_.registers[one.reg].type != ScalarType::pred;
    };
    const auto parts = module_.children(to);
    return is_register(to) || (to.kind == Operand::Kind::vector &&
                               std::all_of(parts.begin(), parts.end(), [&](const Operand &one) {
                                 return one.kind == Operand::Kind::sink || is_register(one);
                               }));
  }

  /// Where a load goes whose destination can be copied.
  std::optional<facts::Progress> place_of(std::uint32_t load) {
    std::vector<Condition> ignored;
    return is_simple(load) ? values_.address(load, ignored) : std::nullopt;
  }

  /// Returns true if two places are seen to be one, so that this is not tested.
  static bool is_sure(const std::vector<Condition> &conditions) {
    return std::none_of(conditions.begin(), conditions.end(),
                        [](const Condition &one) { return one.kind == Condition::Kind::zero; });
  }

  /// What it needs that `source` has read `ago` rounds before what a load would read, and that this
  /// is still there.
  tl::expected<RepeatedLoad, Refusal> kept(std::uint32_t source, std::uint32_t load, unsigned ago,
                                           std::vector<Condition> &conditions) {
    auto needed = values_.meets(source, load, ago);
    if (!needed)
      return tl::unexpected(refusal::new_places);
    RepeatedLoad result{load, source, ago, {}, {}};
    for (const std::uint32_t i : body_) {
      const Spaces spaces = spaces_to(source, i);
      for (unsigned rounds = 0; rounds <= ago && spaces != Spaces::apart; ++rounds) {
        const bool comparable = spaces == Spaces::comparable;
        auto found = comparable ? values_.meets(source, i, rounds) : std::nullopt;
        if (found && forwarded(context_, source, i) && (load != source || is_sure(*found))) {
          (rounds == 0 ? result.to_the_place : result.to_the_place_before).push_back(i);
          if (load == source)
            continue; // one address is one place, whatever it is
        } else {
          found = comparable ? values_.apart(source, i, rounds) : std::nullopt;
        }
        if (!found)
          return tl::unexpected(refusal::ranges.at(instruction(i).line));
        needed->insert(needed->end(), found->begin(), found->end());
      }
    }
    conditions.insert(conditions.end(), needed->begin(), needed->end());
    return result;
  }

  const ptxasw::ptx::Loop &loop_;
  LoopValues values_;
  const std::vector<std::uint32_t> body_;
  const bool all_global_;
};

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
  const auto &[module, function] = std::tie(context.module, context.kernel);
  const Instruction &reader = function.instructions[load], &writer = function.instructions[store];
  const Opcode &reads = module.opcode(reader), &writes = module.opcode(writer);
  const auto to = module.operands(reader), from = module.operands(writer);
  const unsigned bits = bit_width(reads.type);
  if (reads.vector != 1 || writes.vector != 1 || bit_width(writes.type) != bits ||
      (bits != 32 && bits != 64) || to.size() < 2 || from.size() < 2 ||
      to[0].kind != Operand::Kind::reg || to[0].selector != 0 ||
      bit_width(function.registers[to[0].reg].type) != bits)
    return nullptr;
  const Operand &value = from[1];
  const bool is_register = is_whole_register(value) && function.registers[value.reg].vector == 1 &&
                           bit_width(function.registers[value.reg].type) == bits;
  const bool is_number = value.kind == Operand::Kind::integer && !is_float(writes.type);
  return is_register || is_number ? &value : nullptr;
}

bool reads_alike(const KernelContext &context, std::uint32_t load, std::uint32_t other) {
  const Module &module = context.module;
  const Function &function = context.kernel;
  const Instruction &a = function.instructions[load], &b = function.instructions[other];
  const Opcode &reads = module.opcode(a), &reads_too = module.opcode(b);
  if (reads.type != reads_too.type || reads.vector != reads_too.vector ||
      reads.space != reads_too.space || leaves_bytes_undefined(function, load))
    return false;
  const Operand &to = module.operands(a)[0], &to_too = module.operands(b)[0];
  const auto alike = [&](const Operand &one, const Operand &two) {
    return one.kind == two.kind &&
           (one.kind != Operand::Kind::reg || bit_width(function.registers[one.reg].type) ==
                                                  bit_width(function.registers[two.reg].type));
  };
  const auto parts = module.children(to), parts_too = module.children(to_too);
  return alike(to, to_too) &&
         std::equal(parts.begin(), parts.end(), parts_too.begin(), parts_too.end(), alike);
}

/// What in a loop others may see, or wait for.
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

tl::expected<Promotion, Refusal> promotion_of(const KernelContext &context, LoopId loop,
                                              Atoms &atoms, Wanted wanted) {
  const Module &module = context.module;
  const Function &function = context.kernel;
  const ControlFlowGraph &cfg = context.cfg();
  const Instruction &first = function.instructions[cfg.blocks()[cfg.loops()[loop].header].first];
  Loop one(context, loop, atoms);
  if (one.body().size() > largest_loop)
    return tl::unexpected(refusal::too_large.at(first.line));
  if (const auto why = order_in(context, loop))
    return tl::unexpected(*why);
  if (!one.is_copyable())
    return tl::unexpected(refusal::shape.at(first.line));
  Promotion promotion;
  promotion.wanted = wanted;
  promotion.loop = loop;
  const Refusal nothing = wanted == Wanted::repeated ? refusal::none : refusal::new_places;
  Refusal why = nothing.at(first.line);
  for (const std::uint32_t i : one.body()) {
    if (!is_repeatable(module.opcode(function.instructions[i])))
      continue;
    std::vector<Condition> needed;
    auto load = one.repeated(i, needed);
    if (!load && wanted == Wanted::carried)
      load = one.carried(i, needed);
    if (!load) {
      if (load.error().reason != nothing.reason)
        why = load.error();
    } else if (facts::decides_end(module, function, cfg, loop, i)) {
      why = refusals::decides_the_end.at(function.instructions[i].line);
    } else {
      std::vector<Condition> all = promotion.conditions;
      for (Condition &condition : needed)
        if (std::find(all.begin(), all.end(), condition) == all.end())
          all.push_back(std::move(condition));
      if (all.size() > most_conditions) {
        why = refusal::too_large.at(function.instructions[i].line);
        continue;
      }
      promotion.loads.push_back(*load);
      promotion.conditions = std::move(all);
    }
  }
  if (wanted == Wanted::repeated
          ? promotion.loads.empty()
          : std::none_of(promotion.loads.begin(), promotion.loads.end(),
                         [](const RepeatedLoad &load) { return load.is_carried(); }))
    return tl::unexpected(why);
  return promotion;
}

} // namespace ptxasw::synth::promote
