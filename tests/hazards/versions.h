#pragma once

// Traps for versions beside a kernel: what their families have in common.

#include "emulator/machine/warp_verify.h"
#include "family.h"
#include "synth/siblings.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::test {

/// How the versions of a family are asked for and run.
struct VersionFamily {
  std::string_view name;
  unsigned runs = 12, search = 400;
  std::uint64_t step_limit = 400'000;
  std::optional<std::uint32_t> dynamic_shared = {}; ///< bytes in each launch; nothing: as it comes
  /// Each line of a version must be executed: all of its ways.
  bool to_the_last_line = true;
  /// Only lines with this in them must: of two copies of a kernel, each has ways that it never
  /// goes.
  std::string_view executed = "";
  bool one_reason = false; ///< what is refused, is for the reasons named and no others
};

/// What is wrong with a module for which all these variants must be written, or any if none is
/// named: they are proved, and compute what the kernel does. Empty: nothing.
std::string fault_of_written(const VersionFamily &family, const std::string &text,
                             const std::vector<std::string> &variants, const TrapOptions &options);

/// The launches that are made first, of so many: one in `share`, but as many as a verdict needs.
unsigned first_of(unsigned launches, unsigned share);

/// What is wrong with a module for which these variants must be refused for reasons:
/// `atomic,waits`.
std::string fault_of_refused(const VersionFamily &family, const std::string &text,
                             const std::vector<std::string> &variants, const std::string &reasons);

/// What a kernel and the version that stands behind it do, compared on so many launches (0: the
/// family's own number), and on so many that are searched for, but not more than the family's.
KernelVerdict compare(const VersionFamily &family, const Module &written, const Proposal &proposal,
                      unsigned runs, unsigned search = ~0u);

/// The words of a list with commas.
std::vector<std::string> listed(const std::string &words);

} // namespace ptxasw::test
