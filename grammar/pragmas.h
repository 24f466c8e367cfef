#pragma once

// What stands before an instruction and belongs to it: pragmas and labels. Who moves or replaces a
// load asks if a pragma is about it (PTX ISA 12), and where code may be put.
//   edits.insert(begin_with_pragmas(kernel, load), "..."); // in front of the load's own pragmas

#include "grammar/module.h"

namespace ptxasw::ptx {

/// Returns true if a load may leave bytes of its result undefined, since nothing uses them
/// (`used_bytes_mask`, PTX ISA 12.2): a load of the same place must not take its value from it.
bool leaves_bytes_undefined(const Function &function, std::uint32_t load);

/// Where an instruction begins in the text, with the pragmas that stand before it for its sake.
std::uint32_t begin_with_pragmas(const Function &function, std::uint32_t instruction);

/// Where the labels end that stand before an instruction; 0: it has none.
std::uint32_t end_of_labels(const Function &function, std::uint32_t instruction);

} // namespace ptxasw::ptx
