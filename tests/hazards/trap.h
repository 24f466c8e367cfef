#pragma once

// A trap, read from what expand.py makes of it. README.md has the form.

#include "grammar/namespaces.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ptxasw::test {

struct Trap {
  std::string name;
  std::map<std::string, std::vector<std::string>> head; ///< by key; "" if a key stands alone
  std::string text; ///< the module with the hazard, without the head
  std::string twin; ///< the module without the hazard; empty: there is none

  bool has(const std::string &key) const { return head.contains(key); }
  /// The value of a key, or what is given instead. Throws std::runtime_error if there are several.
  std::string value(const std::string &key, const std::string &otherwise = "") const;
  /// All values of a key, in order.
  const std::vector<std::string> &values(const std::string &key) const;
};

/// Reads a trap. Throws std::runtime_error with what is wrong with its form.
Trap read_trap(const std::filesystem::path &path);

} // namespace ptxasw::test
