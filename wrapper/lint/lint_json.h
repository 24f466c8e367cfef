#pragma once

#include "wrapper/lint/collect.h"

namespace ptxasw::inline wrapper {

/// docs/lint.schema.json: every access and branch with its numbers, and the warnings.
std::string lint_json(const std::vector<KernelLint> &kernels, const Places &places,
                      const std::string &file);

/// The warnings as SARIF 2.1.0, which code-scanning services read.
std::string lint_sarif(const std::vector<KernelLint> &kernels, const std::string &file);

} // namespace ptxasw::wrapper
