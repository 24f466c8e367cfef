// The shortest edit script between two lists of instructions (Myers, "An O(ND) difference algorithm
// and its variations"): diagonals x - y are followed as far as the texts are equal, for one more
// edit each round, until one of them reaches the end.

#include "emulator/machine/changes.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace ptxasw::emulator {
namespace {

/// Edits after which the rest counts as changed altogether.
constexpr int edits_budget = 1500;

/// The texts as numbers, white space folded. A label that `other` has, too, counts with what stands
/// behind it: a branch to it goes elsewhere if it has moved, although its text is as it was.
std::vector<std::uint32_t> number(const Module &module, const Function &function,
                                  const Function &other,
                                  std::unordered_map<std::string, std::uint32_t> &numbers) {
  std::vector<std::string> texts(function.instructions.size());
  for (const Label &label : function.labels)
    if (label.position < texts.size() &&
        std::any_of(other.labels.begin(), other.labels.end(),
                    [&](const Label &one) { return one.name == label.name; }))
      texts[label.position] += std::string(label.name) + ":";
  std::vector<std::uint32_t> result;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::string &folded = texts[i];
    for (const char c : module.text(function.instructions[i].span))
      if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
        folded += c;
      else if (!folded.empty() && folded.back() != ' ')
        folded += ' ';
    result.push_back(numbers.try_emplace(folded, numbers.size()).first->second);
  }
  return result;
}

} // namespace

Changes compare_instructions(const Module &first, const Function &before, const Module &second,
                             const Function &after) {
  std::unordered_map<std::string, std::uint32_t> numbers;
  const std::vector<std::uint32_t> a = number(first, before, after, numbers),
                                   b = number(second, after, before, numbers);
  Changes result{std::vector<bool>(a.size(), true), std::vector<bool>(b.size(), true)};
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  const int most = std::min(n + m, edits_budget);
  // By round, how far each diagonal has got: x on diagonal k at [k + most + 1].
  std::vector<std::vector<int>> rounds;
  std::vector<int> reached(2 * static_cast<std::size_t>(most) + 3, 0);
  const auto at = [&](std::vector<int> &list, int k) -> int & {
    const int place = k + most + 1;
    return list[static_cast<std::size_t>(place)];
  };
  int edits = 0, diagonal = 0;
  for (bool found = false; !found && edits <= most; ++edits) {
    rounds.push_back(reached);
    for (int k = -edits; k <= edits && !found; k += 2) {
      int x = k == -edits || (k != edits && at(reached, k - 1) < at(reached, k + 1))
                  ? at(reached, k + 1)
                  : at(reached, k - 1) + 1;
      while (x < n && x - k < m && x >= 0 && x - k >= 0 &&
             a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(x - k)])
        ++x;
      at(reached, k) = x;
      if (x >= n && x - k >= m) {
        found = true;
        diagonal = k;
      }
    }
    if (found)
      break;
  }
  if (edits > most)
    return result;
  // Back along the rounds: what was walked straight is common to both.
  int x = n, y = m, k = diagonal;
  for (int d = edits; d >= 0; --d) {
    std::vector<int> &was = rounds[static_cast<std::size_t>(d)];
    const bool down = k == -d || (k != d && at(was, k - 1) < at(was, k + 1));
    const int from_k = down ? k + 1 : k - 1;
    const int from_x = d == 0 ? 0 : at(was, from_k);
    const int start_x = d == 0 ? 0 : down ? from_x : from_x + 1;
    while (x > start_x && y > 0) {
      --x;
      --y;
      result.gone[static_cast<std::size_t>(x)] = result.added[static_cast<std::size_t>(y)] = false;
    }
    if (d == 0)
      break;
    x = from_x;
    y = from_x - from_k;
    k = from_k;
  }
  return result;
}

} // namespace ptxasw::emulator
