// Messages of the real ptxas about rewritten text, with the names and lines that the caller knows.

#include "wrapper/drop_in/message_map.h"

#include <charconv>

namespace ptxasw::wrapper {

std::string translate_messages(std::string_view messages,
                               const std::vector<ReplacedModule> &modules) {
  std::string result(messages);
  for (const ReplacedModule &module : modules) {
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
      if (line < module.lines.size()) {
        const std::string number = std::to_string(module.lines[line]);
        result.replace(at, static_cast<std::size_t>(end - begin), number);
        at += number.size();
      }
    }
  }
  return result;
}

} // namespace ptxasw::wrapper
