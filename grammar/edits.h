#pragma once

// Changes to a text. Rewrites are made with them, so that what they do not touch stays as the
// compiler wrote it, comments and `.loc` lines included:
//   edits.insert(instruction.span.begin, "mov.b32 %a, %b; "); // then edits.apply(module.text())

#include "grammar/scanner.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ptxasw::ptx {

/// A list of changes to a text, by byte spans of the original. Every byte that no edit touches
/// stays as it was.
class Edits {
public:
  /// Inserts before the byte at `offset`. Several insertions at one offset keep the order of the
  /// calls.
  void insert(std::uint32_t offset, std::string text) {
    replace({offset, offset}, std::move(text));
  }
  /// Replaces a span.
  void replace(Span span, std::string text);

  bool empty() const { return edits_.empty(); }
  /// The text with all edits applied; nothing if two of them touch the same byte, an insertion lies
  /// within what is replaced, or one lies outside the text.
  std::optional<std::string> apply(std::string_view original) const;
  /// For every line of what `apply` returns, the line of the original that its first byte comes
  /// from, both counted from 1 (entry 0 is unused). A line that an edit wrote counts as the line in
  /// which that edit begins. Only if `apply` returned something.
  std::vector<std::uint32_t> lines(std::string_view original) const;

private:
  struct Edit {
    Span span;
    std::string text;
  };
  /// The edits in text order.
  std::vector<const Edit *> in_order() const;

  std::vector<Edit> edits_;
};

/// What names of new registers and labels may begin with, as nothing in a text has it: the word and
/// the first number for which that is so, "meld0_".
std::string unused_prefix(std::string_view text, std::string_view word);

} // namespace ptxasw::ptx
