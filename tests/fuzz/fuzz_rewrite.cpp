// Any module at all: rewritten with every option that finds more, it stays a module, and no rewrite
// takes longer than a budget that grows with the text. What is measured is processor time, and far
// more is allowed than even a sanitized build takes, so only explosive growth is found.

#include "synth/rewrite.h"

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void require(bool condition) {
  if (!condition)
    std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *data, std::size_t size) {
  using namespace ptxasw::test;
  constexpr double fixed_seconds = 0.5, seconds_a_byte = 100e-6;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  options.target_sm = 90;
  const double start = processor_seconds();
  const auto result = rewrite_module(text, "fuzz.ptx", options);
  const double took = processor_seconds() - start;
  if (took > fixed_seconds + seconds_a_byte * static_cast<double>(size)) {
    std::fprintf(stderr, "%zu bytes took %.2f s\n", size, took);
    std::abort();
  }
  if (!result)
    return 0;
  require(result->changed || result->text == text);
  require(parse(result->text, "fuzz.ptx").has_value());
  return 0;
}
