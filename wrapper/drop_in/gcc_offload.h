#pragma once

// GCC's offloading: what its compiler for NVIDIA GPUs writes beside the PTX, and the options that
// it needs.

#include "emulator/semantics/launch.h"
#include "wrapper/drop_in/command_line.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::wrapper {

/// The command line of `nvptx-none-as`: `-o FILE`, `-m TARGET`, switches, at most one input.
CommandLine parse_assembler_line(const std::vector<std::string> &words);

/// The first word of `.target` in a module's text; empty if there is none.
std::string target_in(std::string_view text);

/// A kernel of OpenACC, as GCC tells its run-time library of it (`//:FUNC_MAP`).
struct OffloadKernel {
  std::string name;
  unsigned gangs = 0, workers = 0, lanes = 0; ///< 0: decided when it is launched
  bool forks = true;                          ///< some of it runs on several threads

  bool on_one_thread() const { return gangs == 1 && workers == 1 && !forks; }
};

/// The kernels that are listed, those of OpenMP with nothing but a name.
std::vector<OffloadKernel> offload_kernels(std::string_view text);

/// The block that all of them are launched with: lanes along x, workers along y. Nothing if they
/// have several, or if one is decided when it is launched.
std::optional<BlockShape> offload_block(const std::vector<OffloadKernel> &kernels);

/// What `lto1 --help=target` of the offloading compiler says.
struct OffloadTargets {
  std::optional<unsigned> by_default; ///< the target without an option: 30 is sm_30
  std::vector<unsigned> targets;      ///< ascending
  std::vector<std::string> versions;  ///< of PTX, as it lists them: 6.3
  std::string version_by_default;     ///< of PTX; empty or `_`: what the target needs
};
OffloadTargets parse_offload_targets(std::string_view help);

/// The options that the offloading compiler needs beyond `words`, so that `ptxas` takes its target,
/// given as the text of `ptxas --help` (empty: there is none), and shuffles exist.
std::vector<std::string> offload_options(const OffloadTargets &gcc, std::string_view ptxas_help,
                                         const std::vector<std::string> &words);

} // namespace ptxasw::wrapper
