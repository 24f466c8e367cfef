#pragma once

// The prices of the cost model: how many cycles an instruction occupies its pipe, and after how
// many its result can be used. They depend on the opcode alone, not on what operands hold.
//   latency_of(opcode) // cycles until what it writes can be read

#include "analysis/cost/kernel.h"

namespace ptxasw::analysis::cost {

/// What a warp's instruction costs the pipes. Measured by kernelgen-bench/probe (`rate.*` in
/// docs/results/*/shapes/probe.json, the same on the H100 and the H200 to 1 %): a scheduler issues
/// one instruction per cycle, and a multiprocessor has four.
PipeCycles cycles_of(const Opcode &opcode);

/// Cycles until the result can be used, for everything except loads of global memory (`latency.*`).
double latency_of(const Opcode &opcode);

} // namespace ptxasw::analysis::cost
