#pragma once

#include "emulator/address.h"
#include "emulator/emulate.h"
#include "synth/rewrite.h"

#include <optional>
#include <vector>

namespace ptxasw {

/// A wrap test that the covering lane makes at run time: `reg` holds the value at `instruction`.
struct WrapTest {
  RegisterRead where;
  bool is_signed = false;
  std::int64_t offset = 0;
};

/// A load whose value the lane `delta` lanes up already holds (the load's own lane if 0).
struct Reuse {
  std::uint32_t load = 0;   ///< instruction index
  std::uint32_t source = 0; ///< instruction index
  int delta = 0;
  std::vector<WrapTest> wrap_tests;
  /// If set, the covering lane also compares at run time: the load's address must be this many
  /// bytes above the source's address in the same lane.
  std::optional<std::int64_t> address_distance;
};

/// A load that stays, and why.
struct KeptLoad {
  std::uint32_t load = 0;
  Reason reason = Reason::no_source;
};

/// What detection found in one kernel.
struct Detection {
  unsigned loads = 0; ///< 32-bit weak global loads
  std::vector<Reuse> reuses;
  std::vector<KeptLoad> kept;
  bool assumed_no_wrap = false;  ///< a test was dropped because the user vouched for it
  bool assumed_no_alias = false; ///< a store in between was ignored because the user vouched for it
  unsigned solver_contexts = 0;  ///< Z3 contexts that were needed
};

/// Whether an instruction is a load that detection looks at: scalar, 32 bits, weak, global.
/// Otherwise why not; nothing if it is no global load at all.
struct Candidate {
  bool is_global_load = false;
  bool eligible = false;
  Reason reason = Reason::no_source;
};
Candidate candidate(const Module &module, const Function &function, const Instruction &instruction);

/// Finds, for every candidate, the source with the smallest |N| that soundness.md allows.
Detection detect(const Module &module, const Function &function, Emulation &emulation,
                 const RewriteOptions &options);

} // namespace ptxasw
