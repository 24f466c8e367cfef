#pragma once

// How a staged loop is written (write.cpp), and what is told of it, line by line (script.cpp).

#include "synth/script.h"
#include "synth/stage/sites.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ptxasw::synth::stage {

/// Begins the names of what is written, behind `%` or `$`.
inline constexpr std::string_view prefix = "stage";

/// The module's text with a loop of a kernel staged; nothing if the text has no place for it.
std::optional<std::string> write_staged(const KernelContext &context, const Staging &staging,
                                        const facts::Atoms &atoms);

/// Where the first instruction of a body begins with all that stands before it for its sake.
std::uint32_t begin_of_code(const Function &kernel);

/// What is known where a loop is entered, which a version may compute in any way: where so many of
/// the ranges begin, in `<w_first0>` and on, and a number of rounds in `<w_rounds>`; `<r_comes>` is
/// 1 if the conditions hold, else 0. Registers for it are named as `name` says.
using KnowLoop =
    std::function<void(std::string_view name, std::size_t ranges, const Counted &rounds)>;

/// Tells what a version with a staged loop has before the kernel's own code, line by line; the
/// variable in shared memory is named after the script. Throws proof::NotProved if something of the
/// kernel is not understood.
void tell_staged(const KernelContext &context, const Staging &staging, Script &to,
                 const KnowLoop &know);

} // namespace ptxasw::synth::stage
