// Whoever reports a bug is asked for three versions: ours, that of the ptxas that would run, and
// Z3's, which is looked up at run time.

#include "wrapper/commands/version.h"

#include "emulator/symbolic/solver.h"
#include "wrapper/commands/commit.h" // made by every build
#include "wrapper/drop_in/find_real.h"
#include "wrapper/os/process.h"
#include "wrapper/settings/load_settings.h"

#include <algorithm>
#include <fmt/core.h>
#include <string_view>
#include <unistd.h>

namespace ptxasw::wrapper {

std::string own_version() {
  const std::string_view commit(PTXASW_COMMIT, sizeof PTXASW_COMMIT - 1); // empty outside git
  return commit.empty() ? PTXASW_VERSION : fmt::format("{} ({})", PTXASW_VERSION, commit);
}

std::string ptxas_version(const std::string &path) {
  const ChildResult child = run_child({path, path, {"--version"}, -1, STDOUT_FILENO});
  std::string_view text = child.captured;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.substr(0, end).find("release") != std::string_view::npos)
      return std::string(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return "says no version";
}

std::string version_text() {
  const auto real = find_real(load_what_is_right().real, invoked_path());
  const std::string solver = solver_version();
  return fmt::format("ptxasw {}\nptxas: {}\nZ3: {}", own_version(),
                     real ? fmt::format("{}: {}", real->path, ptxas_version(real->path))
                          : "not found; `ptxasw status` says where was looked",
                     solver.empty() ? "not found; questions for it stay open" : solver);
}

} // namespace ptxasw::wrapper
