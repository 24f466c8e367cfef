#pragma once

// `--launch FILE|block=32x8,grid=64,n=1024,base-align=256`: the launch that an analysis is asked
// about, in one spelling for all commands.

#include "grammar/module.h"
#include "wrapper/lint/sources.h"

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::inline wrapper {

/// What the words of --launch say, as read_point() takes it.
struct LaunchWords {
  std::vector<std::string> at;            ///< NAME=NUMBER, block=, grid=
  std::optional<unsigned> base_alignment; ///< bytes, a power of two up to 4096
};

/// Interprets them for kernels of these modules. A word without `=` is a launch file: of its
/// arguments those that are numbers count. A name that no parameter has in the PTX may be that of
/// the source, where `sources` shows it. Errors: the first word that is not understood.
tl::expected<LaunchWords, std::string> launch_words(const std::vector<std::string> &given,
                                                    const std::vector<const Module *> &modules,
                                                    Sources &sources);

/// The shape of blocks, for commands to which nothing else of a launch matters. Errors: as above.
tl::expected<std::optional<BlockShape>, std::string>
launch_block(const std::vector<std::string> &given, const Module &module);

} // namespace ptxasw::wrapper
