#pragma once

// The pages of `ptxasw report`. They show what `lint` and `explain` have found, and find nothing of
// their own.

#include "wrapper/lint/collect.h"
#include "wrapper/lint/explain.h"
#include "wrapper/lint/sources.h"

namespace ptxasw::wrapper {

/// A self-contained page on one kernel: warnings, the lines of its source with what they cost and
/// became, loops, accesses with pictures, and which loads have a value that is already known
/// elsewhere. Source lines are shown where `sources` has them. At most 2 MB; it says what is left
/// out.
std::string kernel_page(const KernelLint &kernel, const Places &places,
                        const std::vector<KernelExplanation> &explained, Sources &sources,
                        const std::string &file);

/// One page among several: its file, and what it is about.
struct IndexEntry {
  std::string page, input;
  std::string kernel; ///< the name in the PTX
  std::size_t warnings = 0;
  std::map<lint::Code, std::size_t> codes; ///< of these warnings
  double excess = 0;                       ///< the sum of Told::weight
};

/// A page with a link to each, the costliest first. At most 2 MB.
std::string index_page(std::vector<IndexEntry> pages);

} // namespace ptxasw::wrapper
