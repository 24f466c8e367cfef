// What people write for commands, or other tools for them: launch files, baselines, settings, times
// of Nsight Compute and of the launch helper, weights, words of --launch and --assume, what ptxas
// prints, programs that are to be run faster. What is read must be written again as text that reads
// the same.

#include "analysis/prove/prove.h"
#include "wrapper/commands/cost_bounds.h"
#include "wrapper/commands/faster_program.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/drop_in/resources.h"
#include "wrapper/lint/baseline.h"
#include "wrapper/lint/measured.h"
#include "wrapper/settings/config_file.h"

#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace ptxasw::wrapper {
namespace {

void must(bool right) {
  if (!right)
    std::abort();
}

/// A file in memory, by a name.
class MemoryFile {
public:
  explicit MemoryFile(const std::string &text) : descriptor_(memfd_create("input", MFD_CLOEXEC)) {
    must(descriptor_ >= 0 &&
         write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  ~MemoryFile() { close(descriptor_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
  int descriptor_;
};

void read_as_launch(const std::string &text) {
  const auto launch = read_launch_file(MemoryFile(text).path());
  if (!launch)
    return;
  const std::string written = launch_file_text(launch->first, &launch->second);
  const auto again = read_launch_file(MemoryFile(written).path());
  must(again && launch_file_text(again->first, &again->second) == written);
}

void read_as_baseline(const std::string &text) {
  if (const auto baseline = parse_baseline(text)) {
    const std::string written = baseline_text(*baseline);
    const auto again = parse_baseline(written);
    must(again && baseline_text(*again) == written);
  }
}

} // namespace
} // namespace ptxasw::wrapper

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace ptxasw::wrapper;
  const std::string text(reinterpret_cast<const char *>(data), size);
  read_as_launch(text);
  read_as_baseline(text);
  (void)MeasuredTimes::parse(text);
  Settings settings;
  (void)apply_config_file(settings, {"ptxasw.toml", text}, Origin::user_file);
  ptxasw::analysis::BoundMetric metric;
  (void)read_weights(MemoryFile(text).path(), metric);
  (void)parse_resources(text);
  (void)read_linked(MemoryFile(text).path());
  (void)parse_advisories(text);
  LaunchPoint point;
  (void)read_point(cut_at_commas({text}), point);
  GivenRounds rounds;
  (void)read_rounds({text}, rounds);
  ptxasw::analysis::ProofAssumptions assumptions;
  (void)ptxasw::analysis::assume(text, assumptions);
  return 0;
}
