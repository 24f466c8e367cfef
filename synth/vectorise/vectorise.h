#pragma once

// Wide accesses: what several loads or stores of a thread read or write side by side becomes one of
// 64 or 128 bits. Within one thread, where a loop over a row is unrolled, and for several points
// along x by one thread (synth/retile), alone or times several rows.
//
// How it is found: wide.cpp. How it is written and proved: synth/retile, of which these are forms.

#include "synth/retile/retile.h"

namespace ptxasw::inline synth {

FamilyAnswer propose_vectorise(const KernelContext &context);

/// A variant: a form and a limit of registers.
struct WideShape {
  RetileForm form;
  unsigned registers = 0; ///< per thread at most; 0: as the assembler likes
};

/// All of them, in the order in which they are proposed.
const std::vector<WideShape> &wide_shapes();

/// The name of one: `wide-x4y2-rows-r64`.
std::string wide_variant(const WideShape &shape);

/// All names: `wide`, `wide-x4`, `wide-x4y2-rows`, ...
const std::vector<std::string> &vectorise_variants();

/// By how many points the first thread's begin before the first one, so that most accesses are
/// aligned; 0 to along_x - 1.
unsigned wide_shift(const Module &module, const Function &kernel, unsigned along_x);

} // namespace ptxasw::synth
