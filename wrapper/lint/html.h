#pragma once

#include "synth/explain.h"
#include "wrapper/lint/collect.h"
#include "wrapper/lint/sources.h"

namespace ptxasw::inline wrapper {

/// A self-contained page on one module: kernels, their warnings, loops and accesses with pictures,
/// and which loads have a value that is already known elsewhere. `explained`: by kernel. Source
/// lines are shown where `sources` has them. At most 2 MB; it says what is left out.
std::string report_page(const std::vector<KernelLint> &kernels, const Places &places,
                        const std::vector<KernelExplanation> &explained, Sources &sources,
                        const std::string &file);

/// One page among several: its file, what it is about, kernels and warnings.
struct IndexEntry {
  std::string page, input;
  std::size_t kernels = 0, warnings = 0;
};

/// A page with a link to each, those with the most warnings first.
std::string index_page(std::vector<IndexEntry> pages);

} // namespace ptxasw::wrapper
