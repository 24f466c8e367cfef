// Messages of the real ptxas about rewritten text, with the lines of the original. Lines are
// matched greedily: a rewrite only inserts lines and changes single ones, so the next equal line is
// the place.

#include "wrapper/drop_in/message_map.h"

#include <algorithm>
#include <charconv>

namespace ptxasw {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// How far ahead to look for the place where two texts agree again. A rewrite inserts a handful
/// of lines in one place and a few dozen at the head of a kernel.
constexpr std::size_t window = 256;

/// Steps from `from` to the first line equal to `line`; `window` if there is none near.
std::size_t steps_to(std::string_view line, const std::vector<std::string_view> &lines,
                     std::size_t from) {
  for (std::size_t i = 0; i < window && from + i < lines.size(); ++i)
    if (lines[from + i] == line)
      return i;
  return window;
}

} // namespace

std::vector<std::uint32_t> map_lines(std::string_view original, std::string_view rewritten) {
  const auto before = split_lines(original);
  const auto after = split_lines(rewritten);
  std::vector<std::uint32_t> map(after.size() + 1, 1);
  std::size_t old = 0;
  for (std::size_t now = 0; now < after.size(); ++now) {
    if (old < before.size() && after[now] != before[old]) {
      // Either new lines were put in front of before[old], or before[old] was changed.
      const std::size_t inserted = steps_to(before[old], after, now);
      const std::size_t removed = steps_to(after[now], before, old);
      if (removed < inserted)
        old += removed;
    }
    map[now + 1] = static_cast<std::uint32_t>(std::min(old, before.size() - 1) + 1);
    if (old < before.size() && after[now] == before[old])
      ++old;
  }
  return map;
}

std::string translate_messages(std::string_view messages,
                               const std::vector<ReplacedModule> &modules) {
  std::string result(messages);
  for (const ReplacedModule &module : modules) {
    std::vector<std::uint32_t> map; // only messages with lines are worth the comparison
    constexpr std::string_view line_mark = ", line ";
    for (std::size_t at = result.find(module.shown_as); at != std::string::npos;
         at = result.find(module.shown_as, at)) {
      result.replace(at, module.shown_as.size(), module.known_as);
      at += module.known_as.size();
      if (result.compare(at, line_mark.size(), line_mark) != 0)
        continue;
      at += line_mark.size();
      std::size_t line = 0;
      const char *begin = result.data() + at;
      const char *end = std::from_chars(begin, result.data() + result.size(), line).ptr;
      if (map.empty())
        map = map_lines(module.original, module.rewritten);
      if (line < map.size()) {
        const std::string number = std::to_string(map[line]);
        result.replace(at, static_cast<std::size_t>(end - begin), number);
        at += number.size();
      }
    }
  }
  return result;
}

} // namespace ptxasw
