#pragma once

// Replaces loads by values that another lane or the thread itself has (the paper's shuffle
// synthesis): one call from text to text. What cannot be proved is left as it was.
//   const auto result = rewrite_module(text, "saxpy.ptx", RewriteOptions()); // result->text

#include "synth/report.h"

#include "emulator/semantics/launch.h"
#include "grammar/diagnostic.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::ptx {
class Module;
}

namespace ptxasw::synth {

/// Paper, section 6: `full` is the only variant that computes the right result; the other two exist
/// to take performance apart.
enum class Variant : std::uint8_t { full, no_load, no_corner };

/// When loads are replaced by shuffles: as the target's decision says, always, or never.
enum class ShuffleMode : std::uint8_t { automatic, always, never };

/// Which loads may be replaced, by the bits of a register they write. What is not asked for is kept
/// as `width-not-supported`.
struct Widths {
  bool b8 = true;
  bool b16 = true;
  bool b32 = true;
  bool b64 = true;    ///< two shuffles each
  bool vector = true; ///< `.v2`, `.v4`, `.v8`: a shuffle for every 32 bits of them
};

/// A range of the rewrites of a module, which are numbered from 1 in the order of the text.
struct RewriteRange {
  unsigned first = 1;
  unsigned last = ~0u; ///< inclusive

  bool contains(unsigned number) const { return first <= number && number <= last; }
};

/// A module by its number (ModuleReport::module), and which of its rewrites are wanted.
struct ModuleChoice {
  std::string module;
  RewriteRange range;
};

/// What a caller may ask of a rewrite.
struct RewriteOptions {
  Variant variant = Variant::full;
  ShuffleMode shuffle = ShuffleMode::automatic;
  /// Where the target's decision is no whatever there is, look for it all the same: the report then
  /// says of each load if it could have been replaced.
  bool count_declined = false;
  int max_delta = 31;                ///< largest |N| to use, 0 to 31 (0 leaves copies only)
  std::optional<Widths> widths;      ///< empty: what the target's decision says
  std::vector<std::string> kernels;  ///< only these kernels; empty is all
  RewriteRange range;                ///< only these of a module's rewrites
  std::vector<ModuleChoice> modules; ///< only these modules; empty is all
  bool move_sources = true;          ///< a load may be moved up to serve those before it
  bool assume_no_wrap = false;       ///< drop the no-wrap tests of rule 3
  bool assume_no_alias = false;      ///< stores never write what a later load reads (rule 5)
  /// Every block of every launch has this shape (rule 8), except where a `.reqntid` says another.
  std::optional<BlockShape> assume_block;
  /// Siblings that stand in their kernels where blocks have a known shape
  /// (InKernelOptions::variants).
  std::vector<std::string> in_kernel;
  int target_sm =
      0; ///< compute capability x 10 that will be assembled for; 0: the module's .target
};

/// The outcome for one module.
struct RewriteResult {
  std::string text;     ///< the module to assemble; byte-identical to the input if not `changed`
  bool changed = false; ///< true if any edit was applied
  /// For every line of `text`, the line it had in the input or stands for (Edits::lines); empty if
  /// not `changed`.
  std::vector<std::uint32_t> lines;
  ModuleReport report;
};

/// The number of a module: 16 hexadecimal digits that depend on all bytes of its text.
std::string module_number(std::string_view text);

struct FunctionProof;

/// The proof of what was emitted, as prove() in synth/proof/prove.h.
using Prover = std::function<std::vector<FunctionProof>(
    const Module &original, std::string_view rewritten,
    const std::vector<std::vector<std::uint32_t>> &replaced, const RewriteOptions &options)>;

/// Rewrites one PTX module. `file_name` only appears in diagnostics and the report. `prover` is
/// there so that a test can see what happens when the proof fails; empty: prove().
/// Errors: the text is not a PTX module.
tl::expected<RewriteResult, Diagnostic> rewrite_module(std::string_view text,
                                                       std::string_view file_name,
                                                       const RewriteOptions &options,
                                                       const Prover &prover = {});

struct FunctionDetection;

/// The same for a module that has been parsed; `detections` gets what was found in each function
/// that was examined, and proved.
RewriteResult rewrite_module(const Module &module, std::string_view file_name,
                             const RewriteOptions &options, const Prover &prover,
                             std::vector<FunctionDetection> *detections = nullptr);

/// The loads of which another lane or the thread itself already has the value, by function, as the
/// trace shows them: what a rewrite begins with, before anything is written or proved. Whether the
/// target would gain by it is not asked.
std::vector<FunctionDetection> find_reuses(const Module &module, RewriteOptions options);

} // namespace ptxasw::synth
