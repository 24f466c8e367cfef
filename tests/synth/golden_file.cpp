#include "golden_file.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

using namespace ptxasw::test;

std::string read(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> files_below(const fs::path &folder) {
  std::vector<fs::path> files;
  for (const auto &entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".ptx" &&
        fs::relative(entry.path(), folder).string().find("build") != 0)
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::string> head(const std::string &text, const std::string &keyword) {
  std::vector<std::string> result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line) && line.starts_with("//");)
    if (line.starts_with("// " + keyword + ": "))
      result.push_back(line.substr(keyword.size() + 5));
  return result;
}

std::map<std::string, std::string> pairs(const std::vector<std::string> &lines) {
  std::map<std::string, std::string> result;
  for (const std::string &line : lines) {
    std::istringstream words(line);
    for (std::string word; words >> word;)
      result[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
  }
  return result;
}

RewriteOptions options_of(const std::string &text) {
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  for (const auto &[key, value] : pairs(head(text, "options"))) {
    if (key == "variant")
      options.variant = value == "no-load" ? Variant::no_load : Variant::no_corner;
    else if (key == "assume")
      (value == "no-wrap" ? options.assume_no_wrap : options.assume_no_alias) = true;
    else if (key == "widths")
      options.widths = Widths{false, false, value == "32", false, false};
    else if (key == "max-delta")
      options.max_delta = std::stoi(value);
    else if (key == "shuffle")
      options.shuffle = value == "auto" ? ShuffleMode::automatic : ShuffleMode::never;
    else if (key == "count-declined")
      options.count_declined = value == "yes";
    else if (key == "in-kernel")
      options.in_kernel.push_back(value);
    else if (key == "assume-block") {
      BlockShape shape;
      REQUIRE(std::sscanf(value.c_str(), "%u,%u,%u", &shape.x, &shape.y, &shape.z) == 3);
      options.assume_block = shape;
    } else
      FAIL("unknown option " << key);
  }
  return options;
}
