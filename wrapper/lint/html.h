#pragma once

#include "synth/explain.h"
#include "wrapper/lint/collect.h"

namespace ptxasw::inline wrapper {

/// A self-contained page on one module: kernels, their warnings, loops and accesses with pictures,
/// and which loads have a value that is already known elsewhere. `explained`: by kernel. Source
/// lines are shown where their files can be read from here.
std::string report_page(const std::vector<KernelLint> &kernels, const Places &places,
                        const std::vector<KernelExplanation> &explained, const std::string &file);

} // namespace ptxasw::wrapper
