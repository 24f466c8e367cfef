// The proof of loads ahead: kernel and version run beside each other (synth/prove/walk.h), and
// must do the same loads, with all else that can be seen, in the same order, but for loads that the
// version does before stores that write none of their bytes (Liberties::early_loads). What the
// version may have besides is branches of its own, by predicates that it alone has: they decide
// nothing but what it computes ahead. Such a predicate is computed from the same registers by the
// same instructions as the one by which the kernel will go on or leave the loop, so it is the same
// term, and once the version has branched by it, it is decided for the kernel, too. Where it is
// not, the kernel's own branch is walked both ways while the version goes on to its next load,
// which is not the kernel's on one of them, and the proof ends.
//
// So whatever a thread of the version loads, the kernel's thread loads, too, from the same place,
// and finds the same there; what is computed from it, which nobody sees, comes later.

#include "synth/ahead/ahead.h"

#include "synth/prove/walk.h"

namespace ptxasw::synth {

proof::Proved prove_loads_ahead(const Module &before, const Function &kernel, const Module &after,
                                const Function &changed) {
  return proof::prove_same(before, kernel, after, changed,
                           {.own_branches = true, .lags = true, .early_loads = true});
}

} // namespace ptxasw::synth
