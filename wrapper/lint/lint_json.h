#pragma once

// The findings of `lint` for programs, as JSON and as SARIF: `ptxasw lint` and runs as ptxas write
// them.

#include "wrapper/lint/findings.h"

namespace ptxasw::wrapper {

/// docs/lint.schema.json: every access and branch with its numbers, and the warnings.
std::string lint_json(std::span<const LintedModule> modules);

/// Findings as SARIF 2.1.0, which code-scanning services read.
std::string lint_sarif(const std::vector<Finding> &findings);

} // namespace ptxasw::wrapper
