#pragma once

// What an opcode may do to memory and to other lanes. Rewrites and proofs rest on these answers, so
// an opcode that is not known does everything.
//   if (effect_of(opcode) == Effect::sync && !leaves_global_alone(opcode)) // an obstacle

#include "grammar/module.h"

namespace ptxasw::emulator {

/// What an instruction means for the value of a memory location (soundness.md, rules 5 and 6).
enum class Effect : std::uint8_t {
  none,  ///< neither reads nor writes memory that a global load could see
  load,  ///< a weak load
  store, ///< a weak store
  sync, ///< anything else: atomic, barrier, fence, call, ordered or volatile access, unknown opcode
};

Effect effect_of(const Opcode &opcode);

/// True if an instruction whose effect is `sync` touches no byte of global memory and orders no
/// access to it (soundness.md, "What lies in between and orders nothing"): it exchanges registers
/// among lanes, waits for time to pass, or reduces or copies into the block's own shared memory.
bool leaves_global_alone(const Opcode &opcode);

/// True if a load or store is relaxed among the threads of its block (`ld.relaxed.cta`,
/// `st.relaxed.cta`): strong, so each counts, but it orders nothing else (PTX ISA 8.4). Its effect
/// is `sync`.
bool is_relaxed_in_block(const Opcode &opcode);

/// True if a load reads memory that the whole kernel only reads, by contract of its state space or
/// of `.nc` (PTX ISA 9.7.9.8).
bool reads_constant_memory(const Opcode &opcode);

/// How a load and a store of the same thread may be related by the spaces they name.
enum class Spaces : std::uint8_t {
  apart,      ///< never the same bytes
  comparable, ///< the same bytes where their addresses say so, and else others
  unknown,    ///< their addresses say nothing
};

/// `all_global`: generic addresses of the module are global (emulator/symbolic/generic.h).
Spaces spaces_of(const Opcode &load, const Opcode &store, bool all_global = false);

/// False if nothing is known of an opcode, or, of a load, store or atomic, of one of its modifiers:
/// it is no instruction (`ld.globl.f32`), or one of a newer PTX.
bool is_known(const Opcode &opcode);

/// True if an instruction computes its result from its operands alone, the same in every lane that
/// has the same operands. Its result may then stand as an uninterpreted function of them.
bool is_pure(const Opcode &opcode);

/// True if an instruction may bring together lanes of a warp that control flow does not:
/// `.sync` instructions, barriers, calls, and whatever is not known.
bool gathers_lanes(const Opcode &opcode);

/// True if an instruction's result depends on which lanes happen to run it together: `activemask`,
/// votes and shuffles without `.sync`.
bool asks_which_lanes(const Opcode &opcode);

/// True if lanes that run an instruction together must agree on something that its text does not
/// say: the address of `ldu`, or where `bra.uni` and the like go.
bool wants_agreement(const Opcode &opcode);

} // namespace ptxasw::emulator
