#pragma once

// The results of measuring, as a file: for each kernel, shape of launch and GPU, the version that
// won. `ptxasw tune` writes it, the launch helper chooses by it, and a build that knows it emits
// only what won. This file and profile.cpp know neither CUDA nor the command line.

#include "grammar/namespaces.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper::launch {

/// The word for "no sibling".
inline constexpr std::string_view original_word = "original";

/// What launches must have in common to be one entry of a profile.
struct ShapeClass {
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  /// The logarithm of the number of threads in the grid, rounded down.
  std::uint32_t threads = 0;
  /// Names of the siblings that such a launch may use (its block, its addresses and its numbers
  /// meet their needs), in ascending order.
  std::vector<std::string> among;
  /// Numbers among the arguments on which times were seen to depend, in ascending order: which
  /// parameter, and how many bits it has.
  std::vector<std::array<std::uint32_t, 2>> numbers = {};
  bool operator==(const ShapeClass &) const = default;
};

/// One line of findings.
struct ProfileEntry {
  std::string kernel; ///< its name in the module, for people
  std::string hash;   ///< of its text: 16 hexadecimal digits
  std::string gpu;    ///< as the driver calls it
  ShapeClass shape;
  std::string chosen = std::string(original_word); ///< a sibling's name, or "original"
  double original_us = 0;                          ///< typical time of the original, microseconds
  double chosen_us = 0;
  /// What launches run instead that are captured into a graph, if what is chosen has blocks of
  /// another shape than the program's: a sibling's name, or "original".
  std::string in_graphs = std::string(original_word);
  /// Nothing is decided yet: what was measured so far of the original and of each of `shape.among`,
  /// microseconds. `chosen` then is the one that has won once, or "original". Empty: it is decided.
  std::vector<std::vector<double>> open;
  double budget_us = 0; ///< what trials may still cost
  bool in_runs = false; ///< each was measured over a run of launches
  /// SlowerInSum::state() of pairs of launches, microseconds: by how much longer what is chosen
  /// takes than the original. Zeros: nothing speaks against it.
  std::array<double, 2> pairs_us = {0, 0};
  /// What was chosen was slower later, in so many runs ago, that one among them; the original is
  /// launched since then. 0: that was not so.
  std::uint32_t reverted_runs = 0;
};

/// What was found slower after it had won is tried again after so many runs: the GPU may have been
/// shared, or the data other.
inline constexpr std::uint32_t longest_reverted = 10;

struct Profile {
  std::vector<ProfileEntry> entries;

  /// The entry, decided or not, for a launch of a module with these siblings of the kernel, in
  /// ascending order; null if there is none. A build by a profile has fewer siblings than were
  /// measured; those it lacks are passed over. Where that makes several entries one and they
  /// disagree, there is none.
  const ProfileEntry *find(std::string_view hash, std::string_view gpu, const ShapeClass &shape,
                           const std::vector<std::string> &siblings) const;
  /// The siblings that were chosen for any launch of the code with this hash, or instead of what
  /// has no code of its own, in ascending order.
  std::vector<std::string> winners(std::string_view hash) const;
  /// Returns true if there is an entry for a kernel of this name and other code: the kernel has
  /// changed.
  bool outdated(std::string_view kernel, std::string_view hash) const;
  /// Takes over another profile's entries; where both have one, the other's, unless mine alone is
  /// decided, and need not be tried again. What is not decided of launches that are kept apart by
  /// numbers by now goes.
  void merge(const Profile &other);
};

/// The file's text: TOML, in an order that depends only on the entries.
std::string to_toml(const Profile &profile);

/// Reads such a text. Errors: line, column and what is wrong. `path` is for the message.
tl::expected<Profile, std::string> parse_profile(std::string_view text, std::string_view path);

} // namespace ptxasw::wrapper::launch
