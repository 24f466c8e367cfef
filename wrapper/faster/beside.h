#pragma once

// The text of a module that holds versions of one kernel and nothing else, to be loaded beside the
// program's own module.

#include "grammar/sibling_table.h"
#include "synth/siblings.h"
#include "wrapper/launch/answer.h"

#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace ptxasw::wrapper::faster {

/// Why a kernel is left alone.
struct Kept {
  std::string reason; ///< its stable name: "constant-memory"
  std::string words;  ///< one line, for people
};

inline tl::unexpected<Kept> left_alone(std::string reason, std::string words) {
  return tl::unexpected(Kept{std::move(reason), std::move(words)});
}

/// Versions of a kernel, each proved to compute the same.
struct BesideText {
  std::string text;   ///< PTX; empty: all versions are the kernel's own code
  std::string target; ///< its `.target`
  /// The parameters are the kernel's own and behind them, 64 bits each, the addresses of
  /// `variables`.
  SiblingTable table;
  std::vector<launch::AnswerVariable> variables;
  launch::AnswerWork work;
  std::string words; ///< why none has code of its own, for people; empty: some have
};

/// Which versions are worth assembling while the program runs: all families that need no promise.
/// Blocks of other shapes are versions besides, and need no assembling.
SiblingOptions default_versions();

/// Makes versions of a kernel of a module. Error: there are none, and why.
tl::expected<BesideText, Kept> beside(const std::string &ptx, const std::string &kernel,
                                      SiblingOptions options);

} // namespace ptxasw::wrapper::faster
