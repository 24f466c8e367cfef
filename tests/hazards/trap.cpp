#include "trap.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string_view>

namespace ptxasw::test {
namespace {

/// Every key of every family.
constexpr std::string_view keys[] = {"hazard",  "twin",    "note",   "launch",   "twin-launch",
                                     "shapes",  "naive",   "expect", "alone",    "twin-expect",
                                     "refused", "written", "absent", "variants", "in the kernel",
                                     "without", "shared"};

void add_to_head(Trap &trap, const std::string &line) {
  const std::size_t colon = std::min(line.find(": "), line.size());
  const std::string key = line.substr(3, colon - 3);
  if (std::find(std::begin(keys), std::end(keys), key) == std::end(keys))
    throw std::runtime_error("unknown key: " + key);
  trap.head[key].push_back(colon == line.size() ? "" : line.substr(colon + 2));
}

void add_to_body(Trap &trap, const std::string &line) {
  constexpr std::string_view twin = "//twin";
  const std::size_t first = std::min(line.find_first_not_of(" \t"), line.size());
  if (line.compare(first, twin.size(), twin) == 0) {
    const std::string rest = line.substr(first + twin.size());
    trap.twin += line.substr(0, first) + rest.substr(rest.starts_with(' ')) + "\n";
    return;
  }
  trap.text += line + "\n";
  if (line.find("// hazard") == std::string::npos)
    trap.twin += line + "\n";
}

} // namespace

const std::vector<std::string> &Trap::values(const std::string &key) const {
  static const std::vector<std::string> none;
  const auto found = head.find(key);
  return found == head.end() ? none : found->second;
}

std::string Trap::value(const std::string &key, const std::string &otherwise) const {
  const auto &all = values(key);
  if (all.size() > 1)
    throw std::runtime_error("more than one line of " + key);
  return all.empty() ? otherwise : all.front();
}

Trap read_trap(const std::filesystem::path &path) {
  std::ifstream file(path);
  Trap trap;
  trap.name = path.stem();
  bool in_head = true;
  for (std::string line; std::getline(file, line);) {
    in_head = in_head && line.starts_with("// ");
    in_head ? add_to_head(trap, line) : add_to_body(trap, line);
  }
  if (!trap.has("hazard"))
    throw std::runtime_error("the head does not say what the hazard is");
  if (trap.twin == trap.text)
    trap.twin.clear();
  if (trap.has("twin") && trap.twin.empty())
    throw std::runtime_error("the twin is the hazard");
  return trap;
}

} // namespace ptxasw::test
