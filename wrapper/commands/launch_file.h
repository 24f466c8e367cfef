#pragma once

// Launch files, by which people describe a launch for `emulate`, `verify` and `prove`, and the
// arguments that `--launch` spells. Both proofs and `verify` write a launch that refutes as such a
// file.

#include "emulator/machine/launch_description.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// What a launch file says: a launch and, for `verify`, which parts of it differ for the second
/// kernel.
struct LaunchFile {
  LaunchDescription first, second;
  bool names_second = false; ///< which kernel the second is
  bool extra_reads = true;   ///< the second kernel may load what the first does not access
};

/// Reads a launch file (docs/launch-files.md). Errors: `file:line: what`, for everything that is
/// not understood.
tl::expected<LaunchFile, std::string> read_launch_file(const std::string &path);

/// The description as a launch file that reads back as the same. `second`: with what differs for a
/// second kernel; its buffers are those of the first.
std::string launch_file_text(const LaunchDescription &launch,
                             const LaunchDescription *second = nullptr);

/// Adds the argument that `--launch NAME=` spells: a number, `zeros:BYTES`,
/// `random:TYPE:COUNT[:SEED]`, `file:PATH`, `buffer:NAME[:OFFSET]` (into the buffer of an earlier
/// argument) or `function:NAME`. Numbers are of the parameter's type; a buffer is called as the
/// parameter is; contents without a seed differ from buffer to buffer. Errors: what is wrong.
tl::expected<void, std::string> add_argument(const std::string &text, const std::string &called,
                                             const Variable &parameter, LaunchDescription &launch);

} // namespace ptxasw::wrapper
