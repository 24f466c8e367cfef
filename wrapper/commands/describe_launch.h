#pragma once

// A whole launch, down to the contents of memory, from the words of --launch.

#include "emulator/machine/launch_description.h"
#include "emulator/machine/warp_program.h"
#include "wrapper/commands/launch_words.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// The launch that words and a launch file among them describe together, of the kernel `kernel`, or
/// of the file's or the first one if that is empty. `path`: what messages call the module. Errors:
/// what is wrong, or is missing.
tl::expected<void, std::string> describe_launch(const std::vector<std::string> &words,
                                                const std::string &kernel,
                                                const WarpProgram &program, const std::string &path,
                                                Sources &sources, LaunchDescription &launch);

} // namespace ptxasw::wrapper
