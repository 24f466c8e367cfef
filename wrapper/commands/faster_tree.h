#pragma once

// What was chosen for a kernel, as a function of the launch, and how `ptxasw faster` writes
// numbers.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// Launches of one kind, and what was chosen for them.
struct ChosenLaunches {
  std::string code; ///< the number of the kernel's text: modules may have kernels of one name
  std::string gpu;
  std::array<std::uint32_t, 3> block = {1, 1, 1};
  std::uint32_t threads = 0; ///< the logarithm to base 2 of those of the grid, rounded down
  /// Of numbers among the arguments on which times depend: which parameter, and how many bits.
  std::vector<std::array<std::uint32_t, 2>> numbers;
  std::vector<std::string> versions; ///< that may take such a launch, for people
  std::string chosen;                ///< for people; of those that are not decided: empty
  double before = 0, after = 0;      ///< ms of a launch; 0: not known
};

/// A decision tree: conditions on the launch, and at the leaves what is chosen, with what it gains.
/// No two launches are alike in everything but what was chosen.
/// Launches of which no other choice was made are told apart by as little as possible. The lines
/// after the first begin with a margin; the first begins with what goes before it there. All end
/// with a newline.
std::string choice_tree(const std::vector<ChosenLaunches> &all, const std::string &title,
                        const std::string &margin);

/// 12345 as `12,345`.
std::string grouped(std::uint64_t number);
/// With as many digits as tell two times apart.
std::string in_ms(double milliseconds);

} // namespace ptxasw::wrapper
