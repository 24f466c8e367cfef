// What each opcode may do to memory and to other lanes: the columns of opcodes.def, and what
// modifiers add to them. What the table does not name does everything, so a new opcode is refused
// until someone has read the manual about it.

#include "emulator/semantics/effects.h"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace ptxasw::emulator {
namespace {

using namespace std::string_view_literals;

/// Modifiers of ld and st that neither order nor refresh anything.
bool is_plain_access_modifier(std::string_view modifier) {
  static constexpr std::array plain{"ca"sv, "cg"sv, "cs"sv, "lu"sv,   "nc"sv, "v2"sv,
                                    "v4"sv, "v8"sv, "wb"sv, "weak"sv, "wt"sv};
  return std::find(plain.begin(), plain.end(), modifier) != plain.end() ||
         modifier.starts_with("L1::") || modifier.starts_with("L2::") ||
         modifier == "level::eviction_priority" || scalar_type(modifier) != ScalarType::none ||
         state_space(modifier) != StateSpace::generic || modifier == "unified";
}

} // namespace

bool is_known(const Opcode &opcode) {
  static constexpr std::array others{"cta"sv, "cv"sv, "gpu"sv, "noftz"sv, "sys"sv};
  if (!is_one_of(opcode.op, {Op::ld, Op::ldu, Op::st, Op::atom, Op::red}))
    return opcode.op != Op::unknown;
  return std::all_of(
      opcode.modifiers.begin(), opcode.modifiers.end(), [](std::string_view modifier) {
        return is_plain_access_modifier(modifier) || ptx::modifier(modifier) != Modifier::count ||
               modifier.starts_with("level::") ||
               std::find(others.begin(), others.end(), modifier) != others.end();
      });
}

bool is_pure(const Opcode &opcode) { return traits(opcode.op).memory == MemoryUse::pure; }

Effect effect_of(const Opcode &opcode) {
  if (opcode.op == Op::ld || opcode.op == Op::st || opcode.op == Op::ldu) {
    if (opcode.space == StateSpace::param || opcode.space == StateSpace::constant)
      return Effect::none;
    // .cv and .wt-like writes through, .volatile, .relaxed, .acquire, .release, .mmio, scopes
    for (const std::string_view modifier : opcode.modifiers)
      if (!is_plain_access_modifier(modifier))
        return Effect::sync;
    return opcode.op == Op::st ? Effect::store : Effect::load;
  }
  const MemoryUse use = traits(opcode.op).memory;
  return use == MemoryUse::pure || use == MemoryUse::harmless ? Effect::none : Effect::sync;
}

Spaces spaces_of(const Opcode &load, const Opcode &store, bool all_global) {
  // A byte of shared memory may have several generic addresses (`mapa`).
  const bool any_global =
      all_global || load.space == StateSpace::global || store.space == StateSpace::global;
  if (may_be_global(load.space) && may_be_global(store.space))
    return any_global ? Spaces::comparable : Spaces::unknown;
  const bool is_told =
      all_global || (load.space != StateSpace::generic && store.space != StateSpace::generic);
  return is_told && load.space != store.space ? Spaces::apart : Spaces::unknown;
}

bool leaves_global_alone(const Opcode &opcode) {
  const auto has_any = [&](std::initializer_list<Modifier> modifiers) {
    return std::any_of(modifiers.begin(), modifiers.end(),
                       [&](Modifier modifier) { return opcode.has(modifier); });
  };
  switch (opcode.op) {
  case Op::shfl:
  case Op::vote:
  case Op::match:
  case Op::redux:
  case Op::nanosleep:
    return true;
  case Op::red: // without an order it is relaxed (PTX ISA 9.7.13.6)
    return opcode.space == StateSpace::shared &&
           !has_any({Modifier::shared_cluster, Modifier::release, Modifier::acq_rel,
                     Modifier::acquire, Modifier::async, Modifier::mmio, Modifier::volatile_});
  case Op::cp: // what does not go by the asynchronous proxy nor arrives at a barrier
    return opcode.has(Modifier::async) &&
           has_any({Modifier::ca, Modifier::cg, Modifier::commit_group, Modifier::wait_group,
                    Modifier::wait_all}) &&
           !has_any({Modifier::bulk, Modifier::mbarrier, Modifier::reduce, Modifier::tensor,
                     Modifier::shared_cluster});
  default:
    return false;
  }
}

bool is_relaxed_in_block(const Opcode &opcode) {
  const auto has_word = [&](std::string_view word) {
    return std::find(opcode.modifiers.begin(), opcode.modifiers.end(), word) !=
           opcode.modifiers.end();
  };
  return is_one_of(opcode.op, {Op::ld, Op::st}) && has_word("relaxed") && has_word("cta") &&
         (may_be_global(opcode.space) || opcode.space == StateSpace::shared) &&
         !has_word("shared::cluster") && !has_word("nc") &&
         std::all_of(opcode.modifiers.begin(), opcode.modifiers.end(), [](std::string_view word) {
           return word == "relaxed" || word == "cta" || is_plain_access_modifier(word);
         });
}

bool reads_constant_memory(const Opcode &opcode) {
  return (opcode.op == Op::ld &&
          (opcode.space == StateSpace::constant ||
           (opcode.space == StateSpace::global && opcode.has(Modifier::nc)))) ||
         opcode.op == Op::ldu;
}

bool gathers_lanes(const Opcode &opcode) {
  return traits(opcode.op).lanes == Lanes::together || opcode.has(Modifier::sync) ||
         opcode.has(Modifier::aligned);
}

bool asks_which_lanes(const Opcode &opcode) {
  return opcode.op == Op::activemask ||
         ((opcode.op == Op::shfl || opcode.op == Op::vote) && !opcode.has(Modifier::sync));
}

bool wants_agreement(const Opcode &opcode) {
  return opcode.op == Op::ldu || opcode.has(Modifier::uni);
}

} // namespace ptxasw::emulator
