// The words in a file of options, cut as ptxas cuts them; where its rules are not known, no words.

#include "wrapper/drop_in/options_file.h"

namespace ptxasw::wrapper {

std::optional<std::vector<std::string>> split_options(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  bool in_quotes = false;
  for (const char c : text) {
    if (c == '\\' || c == '\0')
      return std::nullopt;
    if (c == '"') {
      in_quotes = !in_quotes;
      in_word = true;
    } else if (!in_quotes && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      if (in_word)
        words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_quotes)
    return std::nullopt;
  if (in_word)
    words.push_back(std::move(word));
  return words;
}

} // namespace ptxasw::wrapper
