#pragma once

// What ptxas makes of kernels: registers, spills, shared memory. Reports have it of the original
// and the result; `lint` and the commands that ask for an occupancy read it from ptxas' messages:
//   parse_resources(messages)["saxpy"].registers

#include "wrapper/drop_in/handover.h"

#include "synth/report.h"

#include <map>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What `ptxas -v` says every function needs, by name.
std::map<std::string, Resources, std::less<>> parse_resources(std::string_view messages);

/// Has the real ptxas assemble the modules twice, as they were and as they are to be, and puts what
/// their functions need into the reports. Only the reports are written.
/// Errors: the real ptxas could not be run on one of them; then no report has changed.
tl::expected<void, std::string> measure_resources(const AskedTool &asked,
                                                  std::vector<InputModule> &modules);

} // namespace ptxasw::wrapper
