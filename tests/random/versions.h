#pragma once

// Random kernels, and the versions that one family puts beside them.

#include "emulator/machine/warp_verify.h"
#include "synth/siblings.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// A module with a kernel and a version of it.
struct RandomVersion {
  std::string text;
  ptxasw::synth::Proposal proposal;
};

/// What random kernels of a family come to, in hundredths: somewhat less than what was measured, so
/// that a family that has stopped to find anything fails, or one whose proof or search has.
struct RandomFloor {
  unsigned done;     ///< of the kernels: that have a version
  unsigned compared; ///< of the versions: that were compared on a launch
  unsigned executed; ///< of those: to the last line
  unsigned unproved; ///< of the kernels: at most so many versions are not proved
};

/// A family whose versions are launched as their kernel is.
struct RandomFamily {
  std::string_view name;
  std::string_view done; ///< of a kernel that has a version: "melded"
  RandomFloor floor;
  /// What else the family's proof takes of a kernel: modules with it and a version. Null: nothing.
  std::function<std::vector<RandomVersion>(const ptxasw::ptx::Module &module, std::uint64_t seed)>
      more = {};
  /// Which of a version's lines are asked after that were not executed: those with this in them.
  std::string_view executed = "";
};

/// What the warp emulator says of one version.
ptxasw::synth::KernelVerdict verdict_of(const ptxasw::ptx::Module &written,
                                        const ptxasw::synth::Proposal &proposal,
                                        std::uint64_t seed);

/// A family's main function, of which the program is called random_NAME. All of them are in one
/// executable, as most of the time of compiling one goes into the heads that they share.
struct RandomProgram {
  using Main = int (*)(int argc, char **argv);
  RandomProgram(std::string_view name, Main main);
};

/// Such a main function: every version of as many random kernels as the command line says must
/// compute what its kernel does on the warp emulator. `kernel` writes the one of a seed, named k.
int random_versions(int argc, char **argv, const RandomFamily &family,
                    const std::function<std::string(std::uint64_t)> &kernel);
