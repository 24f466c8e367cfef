#pragma once

// What became of a module: which loads were replaced and which stayed, why, and what it took.
// Rewriting fills it in; the summary and the JSON report print it.

#include "grammar/namespaces.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::synth {

/// Why a load was left as it is. One value per load; the report counts them.
/// What they are and mean is in reasons.def.
enum class Reason : std::uint8_t {
#define PTXASW_REASON(enumerator, name, meaning) enumerator,
#include "synth/reasons.def"
#undef PTXASW_REASON
};

/// The stable spelling of a reason ("no-source", ...).
std::string_view to_string(Reason reason);

/// One line on what a reason means, for people.
std::string_view describe(Reason reason);

/// A position in the user's own source, from the last `.loc` before an instruction.
struct SourceLine {
  std::string file;       ///< from the `.file` directive
  std::uint32_t line = 0; ///< 1-based
};

/// A load in the report of a rewrite.
struct LoadRecord {
  std::uint32_t line = 0; ///< 1-based line in the input PTX
  std::optional<SourceLine> source_line;
};

/// One load that was rewritten.
struct RewriteRecord {
  unsigned number = 0;    ///< from 1, in the order of the module, among all that could be rewritten
  std::uint32_t line = 0; ///< 1-based line in the input PTX
  std::optional<SourceLine> source_line;
  int delta = 0;                   ///< lanes from the load to its source, N of the paper
  std::string kind;                ///< "shuffle" or "copy"
  std::uint32_t from_line = 0;     ///< line of the first source in the input PTX
  std::vector<LoadRecord> sources; ///< the loads whose values stand in, each once, in their order
  std::string_view family = "shuffle"; ///< of the rewrite, as `counts` and `explain` name it
};

/// One load that was left alone.
struct KeptRecord {
  std::uint32_t line = 0;
  std::optional<SourceLine> source_line;
  Reason reason = Reason::no_source;
  std::string detail =
      {}; ///< of an unproved one: what the proof misses; of a rejected one ptxas' first line
  std::string_view obligation = {}; ///< of an unproved one: which obligation (obligations.def)
};

/// Time spent in one pass over one kernel.
struct PassTime {
  std::string pass;
  double milliseconds = 0;
};

/// What a function needs on the machine, in the words of `ptxas -v`; sizes are bytes.
struct Resources {
  std::optional<unsigned> registers; ///< per thread; not reported for functions that kernels call
  unsigned spill_stores = 0;
  unsigned spill_loads = 0;
  unsigned stack = 0;
  unsigned shared = 0;
  unsigned barriers = 0; ///< block barriers
};

/// What became of the wish for a sibling inside a kernel (synth/in_kernel).
struct InKernelRecord {
  std::string variant;         ///< what stands in it now; empty: it is as it was
  std::vector<unsigned> block; ///< the shape of blocks that it is made for; empty: none is known
  /// Nothing was done, or not what was wanted more: `barrier, line 7: threads of a block wait ...`.
  std::vector<std::string> why;
};

/// What happened to one kernel.
struct KernelReport {
  std::string name;
  unsigned loads = 0; ///< weak loads of global memory, of the widths asked for
  unsigned shuffles = 0;
  unsigned copies = 0;   ///< N = 0
  double mean_delta = 0; ///< mean |N| over shuffles and copies, 0 if there are none
  std::vector<PassTime> milliseconds;
  std::size_t expressions = 0;     ///< nodes that emulation and detection made
  unsigned undecided_branches = 0; ///< successors that no fact excludes, beyond one per branch
  std::vector<RewriteRecord> rewrites;
  std::vector<KeptRecord> kept;
  std::vector<std::string>
      assumptions; ///< what the rewrites rely on that only the user vouched for
  std::optional<InKernelRecord> in_kernel; ///< if it was asked for
  std::optional<Resources> before;         ///< of the original, if it was asked for
  std::optional<Resources> after;          ///< of the result
};

/// What happened to one module.
struct ModuleReport {
  std::string file;     ///< name of the input as the user gave it
  std::string module;   ///< its number, from its bytes
  std::string target;   ///< the target the decision was made for, e.g. "sm_90"
  std::string decision; ///< why shuffles were or were not considered for this target
  double parse_milliseconds = 0;
  std::vector<KernelReport> kernels;
};

} // namespace ptxasw::synth
