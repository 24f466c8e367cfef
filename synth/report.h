#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw {

/// Why a load was left as it is. One value per load; the report counts them (design rule 6).
/// The names are the stable spelling used in reports, `explain` and the documentation.
enum class Reason : std::uint8_t {
  no_source,         ///< no other load of the kernel reads an address at a constant lane distance
  is_source,         ///< others take the value that it reads
  opaque_address,    ///< the address depends on something the emulator does not model
  varying_address,   ///< the address depends on a value that may differ between the two lanes (rule
                     ///< 2)
  not_dominated,     ///< the source does not dominate the load (rule 1)
  other_iteration,   ///< source and load are not in the same innermost loop iteration (rule 1)
  out_of_step,       ///< lanes active together may be in different iterations of a loop (E1)
  source_predicated, ///< the source's guard is not implied by the load's guard (rule 1)
  store_between,     ///< a store by the same thread may write the loaded bytes (rule 5)
  sync_between,      ///< atomic, barrier, fence, call or opaque instruction in between (rule 5)
  not_weak,          ///< volatile, relaxed, acquire or fresh-read access (rule 6)
  width_not_supported, ///< wider than 64 bits, or a width that is switched off
  type_mismatch,       ///< width or type size differs from the source's (rule 6)
  not_global,          ///< a generic address that may not be global
  other_block,         ///< shared memory that may be another block's
  loop_carried,        ///< only the previous iteration of the loop read this address
  delta_too_large,     ///< |N| is above 31 or above the user's --max-delta
  wrap_not_testable,   ///< equality needs a no-wrap test for which no register is at hand (rule 3)
  predicate_form,      ///< a pragma belongs to the load, or to bytes that the source leaves out
  irreducible_flow,    ///< the load lies in an irreducible region (rule 1)
  target_decision,     ///< the decision for this target is not to rewrite (cost model)
  not_selected,        ///< the kernel, or shuffles as such, were switched off by an option
  target_too_old,  ///< target or PTX version below the first with shfl.sync/activemask (rule 14)
  debug_module,    ///< compiled with -g or -O0 (rule 14)
  unproved,        ///< the proof of the emitted text failed; the rewrite was withdrawn
  rejected,        ///< the real ptxas refused the rewritten module and accepts the original
  not_handed_over, ///< the rewritten module could not be handed to the real ptxas
  budget,          ///< a named budget ran out
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
  int delta = 0;     ///< lanes from the load to its source, N of the paper; of a butterfly the most
  unsigned flip = 0; ///< of a butterfly: the bits in which the two lanes' numbers differ
  std::string kind;  ///< "shuffle" or "copy"
  std::uint32_t from_line = 0;     ///< line of the first source in the input PTX
  std::vector<LoadRecord> sources; ///< the loads whose values stand in, each once, in their order
  std::string_view family = "shuffle"; ///< of the rewrite, as `counts` and `explain` name it
};

/// One load that was left alone.
struct KeptRecord {
  std::uint32_t line = 0;
  std::optional<SourceLine> source_line;
  Reason reason = Reason::no_source;
  std::string_view detail =
      {}; ///< of an unproved one: what the proof misses; of a rejected one ptxas' first line
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
  std::string variant;          ///< what stands in it now; empty: it is as it was
  std::vector<unsigned> block;  ///< the shape of blocks that it is made for; empty: none is known
  std::vector<std::string> why; ///< nothing, or nothing better, was done
};

/// What happened to one kernel.
struct KernelReport {
  std::string name;
  unsigned loads = 0; ///< weak loads of the widths asked for, global and, if asked for, shared
  unsigned shuffles = 0;
  unsigned copies = 0;   ///< N = 0
  double mean_delta = 0; ///< mean |N| over shuffles and copies, 0 if there are none
  std::vector<PassTime> milliseconds;
  unsigned z3_contexts = 0;
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

} // namespace ptxasw
