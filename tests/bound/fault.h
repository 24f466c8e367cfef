#pragma once

// The switch of the faults that mutants.py puts into copies of the analysis.

#include "grammar/namespaces.h"

namespace ptxasw::test {

/// The number of the fault that is on; 0: none.
inline unsigned fault = 0;

inline bool broken(unsigned number) { return fault == number; }

} // namespace ptxasw::test
