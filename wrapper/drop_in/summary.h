#pragma once

// The report of a rewrite for people, and where the one for programs is written.

#include "synth/report.h"

#include <string>

namespace ptxasw::wrapper {

/// The file for the report of one run: `setting` itself, or `INPUT.TARGET.MODULE.json` in it if it
/// is a directory, since one build makes many runs. The same source gives the same name: `module`
/// is the number of the (first) module, and what nvcc puts before the names of its temporary files
/// is dropped; GCC's temporary files are `gcc`.
std::string report_file(const std::string &setting, const std::string &input,
                        const std::string &target, const std::string &module);

/// A few lines for people: a line per kernel and why loads were kept.
std::string summarize(const ModuleReport &module);

} // namespace ptxasw::wrapper
