#pragma once

// The door for versions of a kernel. A family looks at a kernel and proposes, as data, what it
// could make of it; its caller decides which proposals are written; the family writes one as a
// whole function; and it proves from the text alone that the function may stand in for the kernel.
// What is not proved is not emitted (synth/siblings.h has the order).

#include "synth/sibling_table.h"

#include "grammar/module.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::inline synth {

/// Why a family does nothing for a kernel, or not what was asked.
struct Refusal {
  std::string_view reason;  ///< its stable name, "barrier"
  std::string_view meaning; ///< one line, for people
  std::uint32_t line = 0;   ///< 1-based, of the instruction in the way; 0: none in particular
};

/// Adds one, unless it is said already.
void add_refusal(std::vector<Refusal> &all, const Refusal &more);

/// One version that a family could write.
struct Proposal {
  std::string_view family;
  std::string variant;    ///< within the family, as options spell it: "x4"
  int axis = 0;           ///< of the grid: 0 is x
  unsigned factor = 1;    ///< blocks of the kernel that a block of the sibling does
  unsigned registers = 0; ///< per thread at most (`.maxnreg`); 0: as the assembler likes
  /// What the proof takes from the user, who must have asked for this very variant; empty: nothing.
  std::string_view promise;
  Sibling sibling; ///< what the table says about it
};

/// What a family says about a kernel.
struct FamilyAnswer {
  std::vector<Proposal> proposals; ///< the most promising first
  std::vector<Refusal> refusals;   ///< why there are none, or no more
};

struct Family {
  std::string_view name;
  std::string_view meaning; ///< one line, for people
  /// What could be made of a kernel with a body.
  FamilyAnswer (*propose)(const Module &module, const Function &kernel);
  /// The whole function, from its linkage to its closing brace.
  std::string (*write)(const Module &module, const Function &kernel, const Proposal &proposal);
  /// What is not proved of a written sibling; empty: all is. `written` has both functions, and the
  /// only trusted part of the proposal is what the table publishes.
  std::string (*prove)(const Module &written, const Function &kernel, const Function &sibling,
                       const Proposal &proposal);
};

/// All of them.
std::span<const Family> families();

} // namespace ptxasw::synth
