#pragma once

// The report of a rewrite for programs (docs/report.schema.json). `ptxasw rewrite` and runs as
// ptxas write it, and a line of it to the journal: `report_json({result.report})`.

#include "synth/report.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// The report as JSON text: one object for one module; for several an object whose "modules"
/// holds one object each.
std::string report_json(const std::vector<ModuleReport> &modules);

/// The report on one module as one line of JSON.
std::string journal_line(const ModuleReport &module);

} // namespace ptxasw::wrapper
