#pragma once

#include "synth/rewrite.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;

/// The bytes of a file.
std::string read(const fs::path &path);

/// The PTX files below a folder, sorted; none from a build folder.
std::vector<fs::path> files_below(const fs::path &folder);

/// What follows `// keyword: ` in the head of a golden file, one line each.
std::vector<std::string> head(const std::string &text, const std::string &keyword);

/// The `key=value` words of some lines.
std::map<std::string, std::string> pairs(const std::vector<std::string> &lines);

/// The options that the head of a golden file asks for.
ptxasw::synth::RewriteOptions options_of(const std::string &text);
