#pragma once

// What the texts of a kernel and of its versions say about how much they compute.

#include "grammar/module.h"
#include "wrapper/launch/answer.h"

#include <optional>

namespace ptxasw::wrapper::faster {

/// What one thread takes on the way through a text that stores most, or of several such ways on the
/// cheapest that goes through loops, each of which goes round so many times.
struct TextWork {
  double cycles = 0;     ///< of a multiprocessor's pipes, for its warp
  double bytes = 0;      ///< that its warp moves to and from global memory
  double stored = 0;     ///< of these, to there
  double in_loops = 0;   ///< of the cycles
  std::size_t loops = 0; ///< in the text
};

/// Nothing if the text calls something, or goes ways that are not understood.
std::optional<TextWork> work_of(const Module &module, const Function &function);

/// The work of a kernel, and that of versions of it, which are entries of `versions`. What is not
/// known is left out.
launch::AnswerWork compare_work(const std::optional<TextWork> &kernel, const Module &versions,
                                const SiblingTable &table);

} // namespace ptxasw::wrapper::faster
