#pragma once

// A run as ptxas. main() comes here when it is called by that name, and `ptxasw assemble` when
// GCC's offloading compiler wants its assembler. Whatever fails, the build goes on with the real
// tool.

#include "wrapper/settings/settings.h"

#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// Stands in for ptxas: same arguments, same output, same messages, same exit code, with the
/// modules rewritten on the way where that is asked for and certain to be right.
/// `name` is argv[0], `words` the arguments after it. Returns the exit code, if it returns: most
/// runs end by becoming the real ptxas.
int drop_in(const std::string &name, const std::vector<std::string> &words);

/// The same for `tool`, the assembler of GCC's offloading compiler: it passes PTX on, as text, to
/// where GCC embeds it.
int drop_in_for_gcc(const std::string &tool, const std::vector<std::string> &words,
                    Settings settings);

} // namespace ptxasw::wrapper
