#pragma once

// `--launch FILE|block=32x8,grid=64,n=1024,base-align=256`: the launch that a command is asked
// about, in one spelling for all of them.

#include "emulator/machine/launch_description.h"
#include "grammar/module.h"
#include "wrapper/lint/sources.h"
#include "wrapper/settings/launch_point.h"

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper {

/// A launch, as the words of --launch describe it.
struct AskedLaunch {
  /// What is a number: the block, extents of block and grid, whole numbers of parameters.
  LaunchPoint point;
  std::optional<unsigned> base_alignment; ///< bytes, a power of two up to 4096
  std::optional<std::uint32_t> shared;    ///< bytes of a block's dynamic shared memory
  std::vector<std::uint32_t> threads;     ///< of the grid along each axis; empty: not said
  std::vector<BlockShape> shapes;         ///< of blocks, to be compared
  std::optional<LaunchDescription> file;  ///< of a launch file
  /// Parameters: NAME=VALUE, or KERNEL:NAME=VALUE where NAME is one of that kernel alone.
  std::vector<std::string> values;
  bool shape_only = true; ///< nothing is said but the shape of blocks and alignment
};

/// Interprets words of --launch for kernels of these modules. A word without `=` is a launch file:
/// of its arguments those that are numbers count. A name that no parameter has in the PTX may be
/// that of the source, where `sources` shows it. What is no number, as `in=zeros:4096`, counts for
/// commands that run kernels. Errors: the first word that is not understood or that no kernel of
/// the modules could be given.
tl::expected<AskedLaunch, std::string> read_launch(const std::vector<std::string> &given,
                                                   const std::vector<const Module *> &modules,
                                                   Sources &sources);

/// What a launch gives a parameter, or with a member, `+OFFSET:TYPE`, a part of one.
struct ParameterValue {
  std::size_t parameter = 0;
  std::string member, value;
};

/// The values for parameters of one kernel, by any of their names, in the order of the words; those
/// for this kernel alone come behind those for all, so the last counts.
std::vector<ParameterValue> values_for(const Function &kernel, const AskedLaunch &launch);

/// A kernel's parameters by the names that its source has for them, where it can be read.
ParameterNames source_names(const Function &kernel, const Module &module, Sources &sources);

} // namespace ptxasw::wrapper
