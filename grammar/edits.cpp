// A rewrite is a list of edits on byte spans of the original: what no edit touches stays as it was,
// and which line of the result comes from which line of the original is counted, not guessed.

#include "grammar/edits.h"

#include <algorithm>

namespace ptxasw::ptx {

void Edits::replace(Span span, std::string text) { edits_.push_back({span, std::move(text)}); }

std::vector<const Edits::Edit *> Edits::in_order() const {
  std::vector<const Edit *> order;
  for (const Edit &edit : edits_)
    order.push_back(&edit);
  // Insertions at the start of a replaced span come before the replacement.
  std::stable_sort(order.begin(), order.end(), [](const Edit *a, const Edit *b) {
    return a->span.begin != b->span.begin ? a->span.begin < b->span.begin
                                          : a->span.size() == 0 && b->span.size() != 0;
  });
  return order;
}

std::optional<std::string> Edits::apply(std::string_view original) const {
  std::size_t added = 0;
  for (const Edit &edit : edits_)
    added += edit.text.size();
  std::string result;
  result.reserve(original.size() + added);
  std::size_t position = 0;
  for (const Edit *edit : in_order()) {
    const auto [begin, end] = edit->span;
    if (begin < position || end < begin || end > original.size())
      return std::nullopt;
    result.append(original, position, begin - position);
    result += edit->text;
    position = end;
  }
  result.append(original, position);
  return result;
}

std::vector<std::uint32_t> Edits::lines(std::string_view original) const {
  std::vector<std::uint32_t> result{1};
  bool begins = true; // a line of the result
  const auto put = [&](char byte, std::uint32_t from) {
    if (begins)
      result.push_back(from);
    begins = byte == '\n';
  };
  std::uint32_t line = 1; // of the original, at `position`
  std::size_t position = 0;
  const auto pass = [&](std::size_t end, bool kept) {
    for (; position < end; ++position) {
      if (kept)
        put(original[position], line);
      line += original[position] == '\n';
    }
  };
  for (const Edit *edit : in_order()) {
    pass(edit->span.begin, true);
    for (const char byte : edit->text)
      put(byte, line);
    pass(edit->span.end, false);
  }
  pass(original.size(), true);
  if (begins)
    result.push_back(line);
  return result;
}

std::string unused_prefix(std::string_view text, std::string_view word) {
  std::string prefix;
  unsigned number = 0;
  do
    prefix = std::string(word) + std::to_string(number++) + "_";
  while (text.find(prefix) != std::string_view::npos);
  return prefix;
}

} // namespace ptxasw::ptx
