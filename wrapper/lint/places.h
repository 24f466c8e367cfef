#pragma once

// From an instruction to the line of the user's source that it was compiled from, by `.loc` lines.
// Warnings, faults and findings at run time are told there:
//   const Places places(module);
//   if (const auto place = places.of(instruction)) to_string(*place); // saxpy.cu:5:3

#include "grammar/inlining.h"

#include <optional>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// A place in a source file.
struct Place {
  std::string file;
  std::uint32_t line = 0, column = 0; ///< 1-based; column 0: not known
  bool operator==(const Place &) const = default;
};

/// `file:line:column`, without a column that is not known.
std::string to_string(const Place &place);

/// Returns true for a header of the CUDA toolkit: by where it lies, as it may have been compiled on
/// another machine, or by what lies beside it.
bool is_toolkits(const std::string &file);

/// Where the instructions of a module come from, by its `.loc` lines.
class Places {
public:
  explicit Places(const Module &module) : module_(module), inlining_(module) {}

  /// The source of an instruction, the user's where it was inlined from a header of the toolkit;
  /// nothing without `.loc`.
  std::optional<Place> of(const Instruction &instruction) const;
  /// Of code that the compiler made up: the last line of the source before it in the function.
  /// `line`: in the PTX.
  std::optional<Place> near(const Function &function, std::uint32_t line) const;
  /// The calls through which it was inlined, the innermost first.
  std::vector<Place> inlined_at(const Instruction &instruction) const;

private:
  /// Where it is and through which calls, the innermost first: without lines that the compiler made
  /// up, and without the toolkit's headers before the user's own code.
  std::vector<Place> frames(const Instruction &instruction) const;
  Place place(const Location &location) const;

  const Module &module_;
  const Inlining inlining_;
};

} // namespace ptxasw::wrapper
