#pragma once

#include "grammar/namespaces.h"

#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ptxasw::test {

/// The rows of a table of recorded values, by the names in its first line; empty where it is not
/// there. `name` is relative to the shared data.
inline std::vector<std::map<std::string, std::string>> recorded(const std::string &name) {
  std::ifstream file(std::string(SHARED_DATA) + "/" + name);
  const auto split = [](const std::string &line) {
    std::vector<std::string> words;
    std::istringstream in(line);
    for (std::string word; std::getline(in, word, '\t');)
      words.push_back(word);
    return words;
  };
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> names = split(line);
  std::vector<std::map<std::string, std::string>> rows;
  while (std::getline(file, line)) {
    const std::vector<std::string> words = split(line);
    rows.emplace_back();
    for (std::size_t i = 0; i < names.size(); ++i)
      rows.back()[names[i]] = i < words.size() ? words[i] : "";
  }
  return rows;
}

} // namespace ptxasw::test
