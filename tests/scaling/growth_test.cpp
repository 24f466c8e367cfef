// Four times the kernel takes at most a little more than four times the effort, in every family.
// Counted, not timed: what is counted is the same on every machine.

#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "family.h"

#include "emulator/symbolic/emulate.h"
#include "emulator/symbolic/generic.h"
#include "synth/rewrite.h"
#include "synth/shuffle/detect.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace ptxasw::test;

namespace {

struct Measured {
  std::size_t instructions = 0;
  Effort emulated;
  std::size_t expressions = 0; ///< after detection, too
};

Measured measure(const scaling::Family &family, std::size_t size) {
  const auto module = parse(family.make(size), family.name);
  REQUIRE(module);
  const Function &function = (*module)->functions.front();
  Emulation emulation(**module, function, launch_facts(function));
  REQUIRE(emulation.complete());
  Measured result{function.instructions.size(), emulation.effort(), 0};
  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  detect(**module, function, emulation, options, GenericAddresses(**module));
  result.expressions = emulation.effort().expressions;
  return result;
}

} // namespace

TEST_CASE("effort grows as the kernel does") {
  for (const scaling::Family &family : scaling::families()) {
    CAPTURE(family.name);
    const Measured small = measure(family, 1500), large = measure(family, 6000);
    const double growth =
        static_cast<double>(large.instructions) / static_cast<double>(small.instructions);
    const auto bounded = [&](std::size_t before, std::size_t after) {
      return static_cast<double>(after) <= 1.2 * growth * static_cast<double>(before) + 100;
    };
    CHECK(bounded(small.emulated.expressions, large.emulated.expressions));
    CHECK(bounded(small.emulated.phis, large.emulated.phis));
    CHECK(bounded(small.emulated.phi_operands, large.emulated.phi_operands));
    CHECK(bounded(small.expressions, large.expressions));
    CHECK(large.expressions <= 12 * large.instructions);
    CHECK(large.emulated.phi_operands <= 4 * large.instructions);
  }
}

TEST_CASE("no module of the tree asks for more than its size allows") {
  // What the drop-in adds to ptxas is parsing, these nodes, these questions and the text it writes.
  // None of them depends on the machine; how long they take is what docs/internals/overhead.md
  // measures.
  namespace fs = std::filesystem;
  unsigned modules = 0;
  for (const char *folder : {"tests/fuzz/seeds", "tests/grammar/modules", "tests/corpus",
                             "tests/synth/golden", "kernelgen-bench/ptx"})
    for (const auto &entry : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
      if (!entry.is_regular_file())
        continue;
      std::ifstream file(entry.path(), std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      const std::string name = entry.path().string();
      CAPTURE(name);
      RewriteOptions options;
      options.shuffle = ShuffleMode::always;
      options.target_sm = 90;
      const auto result = rewrite_module(text, name, options);
      if (!result)
        continue;
      const auto module = parse(text, name);
      REQUIRE(module);
      ++modules;
      std::size_t instructions = 0, expressions = 0;
      for (const Function &function : (*module)->functions)
        instructions += function.instructions.size();
      for (const KernelReport &kernel : result->report.kernels) {
        expressions += kernel.expressions;
      }
      CHECK(expressions <= 20 * instructions + 500);
      CHECK(result->text.size() <= 3 * text.size() + 4096);
    }
  CHECK(modules > 100);
}

TEST_CASE("a ladder of 64 branches does not explode") {
  for (const scaling::Family &family : scaling::families())
    if (family.name == "ladder") {
      const Measured ladder = measure(family, 64 * 9);
      CHECK(ladder.expressions < 64 * 40);
      CHECK(ladder.emulated.phis < 64 * 2);
    }
}
