#include "grammar/edits.h"

#include <algorithm>

namespace ptxasw {

void Edits::replace(Span span, std::string text) { edits_.push_back({span, std::move(text)}); }

std::optional<std::string> Edits::apply(std::string_view original) const {
  std::vector<const Edit *> order;
  std::size_t added = 0;
  for (const Edit &edit : edits_) {
    order.push_back(&edit);
    added += edit.text.size();
  }
  // Insertions at the start of a replaced span come before the replacement.
  std::stable_sort(order.begin(), order.end(), [](const Edit *a, const Edit *b) {
    return a->span.begin != b->span.begin ? a->span.begin < b->span.begin
                                          : a->span.size() == 0 && b->span.size() != 0;
  });
  std::string result;
  result.reserve(original.size() + added);
  std::size_t position = 0;
  for (const Edit *edit : order) {
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

} // namespace ptxasw
