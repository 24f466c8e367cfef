#pragma once

// What the launch helper has written of a program's run, all processes together.

#include "wrapper/launch/profile.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ptxasw::wrapper {

/// What the processes of a program measured: the choices by subject, and sums.
struct LaunchFindings {
  std::map<std::string, nlohmann::ordered_json> choices;
  std::map<std::string, std::uint64_t> outcomes;
  std::vector<std::string> off;
  /// Under `ptxasw faster`: kernels, with their launches and why they have no versions.
  std::vector<nlohmann::ordered_json> kernels;
  bool are_gone = false; ///< the directory cannot be read any more
};

/// Reads what the helper wrote into a directory so far.
LaunchFindings collect_findings(const std::filesystem::path &directory);

/// The entry of a version in a choice; null if there is none.
const nlohmann::ordered_json *version_of(const nlohmann::ordered_json &choice,
                                         const std::string &name);

/// The numbers by which launches were kept apart; none where a helper from before that wrote, which
/// a program may have linked in.
nlohmann::ordered_json numbers_of(const nlohmann::ordered_json &choice);

/// What was decided in this run; `with_open`: also how far the rest has come.
launch::Profile profile_of(const LaunchFindings &findings, bool with_open = false);

/// A directory that goes when it is no longer needed.
struct Scratch {
  std::filesystem::path path; ///< empty: there is no place for one
  /// `name` begins its name.
  explicit Scratch(const std::string &name);
  ~Scratch();
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
};

} // namespace ptxasw::wrapper
