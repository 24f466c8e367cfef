#pragma once

#include "grammar/scanner.h"

#include <span>
#include <vector>

namespace ptxasw {

/// Index of the bracket that closes the one at `open`, or the size if there is none.
std::size_t closing(std::span<const Token> tokens, std::size_t open);

/// Splits at the commas outside every bracket. No tokens give no parts.
std::vector<std::span<const Token>> split(std::span<const Token> tokens);

/// From the beginning of the first token to the end of the last one. There must be one.
Span span_of(std::span<const Token> tokens);

} // namespace ptxasw
