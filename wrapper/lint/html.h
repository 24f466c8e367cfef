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

} // namespace ptxasw::wrapper
