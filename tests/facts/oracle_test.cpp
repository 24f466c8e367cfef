// The warp emulator counts what the facts predict: on random launches no access costs more than its
// bound, whatever its verdict, and where that is exact and all lanes that can took part, it costs
// exactly that. Then facts of mutants are compared with the original's counts: a test that sees
// nothing would also pass there.

#include "emulator/facts/kernel_facts.h"
#include "emulator/machine/warp_launch.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace ptxasw::test;
using namespace ptxasw::facts;
namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> kernels() {
  std::vector<fs::path> files;
  for (const char *folder : {"tests/analysis/lint", "tests/facts/kernels", "kernelgen-bench/ptx"})
    for (const auto &entry : fs::directory_iterator(fs::path(SOURCE_DIR) / folder))
      if (entry.path().extension() == ".ptx")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// One launch, drawn from a seed.
struct Drawn {
  WarpLaunch launch;
  GlobalMemory memory;
};

std::unique_ptr<Drawn> draw(const WarpProgram &program, const Function &kernel,
                            const BlockShape &block, unsigned base_alignment, std::uint64_t seed) {
  auto drawn = std::make_unique<Drawn>();
  WarpRandom random(seed);
  if (!program.place_variables(drawn->memory))
    return nullptr;
  drawn->launch.block = block;
  drawn->launch.grid = {1 + static_cast<std::uint32_t>(random.below(3)),
                        1 + static_cast<std::uint32_t>(random.below(2)), 1};
  drawn->launch.parameters.resize(kernel_parameter_bytes(kernel));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::uint64_t bits = 1 + random.below(40);
    if (kernel.parameters[i].type == ScalarType::f32)
      bits = 0x3f800000;
    if (bit_width(kernel.parameters[i].type) == 64) {
      const std::size_t buffer = drawn->memory.allocate(fmt::format("argument {}", i), 1 << 24,
                                                        GlobalMemory::Fill::small, random.next());
      bits =
          drawn->memory.allocations()[buffer].base + (1 << 23) + base_alignment * random.below(64);
    }
    std::memcpy(drawn->launch.parameters.data() + kernel_parameter_offset(kernel, i), &bits,
                std::min<std::uint64_t>(kernel.parameters[i].size(), 8));
  }
  return drawn;
}

/// What a comparison saw.
struct Seen {
  std::uint64_t compared = 0, exact = 0, wrong = 0;
  std::string first;
};

void hold(const KernelFacts &facts, const std::vector<InstructionProfile> &profile, Seen &seen) {
  for (const Access &access : facts.accesses()) {
    const InstructionProfile &p = profile[access.site.instruction];
    const bool shared = access.space == StateSpace::shared;
    // What the emulator counts: loads and stores.
    if (p.warps == 0 || access.site.kind == AccessKind::atomic ||
        (!shared && access.space != StateSpace::global))
      continue;
    const Traffic &traffic = facts.traffic(access);
    const Count &count = shared ? traffic.wavefronts : traffic.sectors;
    // The emulator counts wavefronts beyond the first of each execution.
    const std::uint64_t less = shared ? 1 : 0, measured = shared ? p.bank_conflicts : p.sectors;
    const std::uint64_t most = (count.most - std::min<std::uint64_t>(count.most, less)) * p.warps;
    const bool all = p.lanes == p.warps * traffic.lanes;
    const bool exact = count.verdict == Verdict::exact && all;
    ++seen.compared;
    seen.exact += exact;
    if (measured <= most && (!exact || measured == most))
      continue;
    ++seen.wrong;
    if (seen.first.empty())
      seen.first = fmt::format(
          "line {}: {} {}, measured {} in {} executions by {} lanes, said {}..{} {} by {}",
          facts.function().instructions[access.site.instruction].line, to_string(access.site.kind),
          to_string(access.space), measured, p.warps, p.lanes, count.least, count.most,
          to_string(count.verdict), traffic.lanes);
  }
}

const Function *kernel_of(const Module &module) {
  for (const Function &function : module.functions)
    if (function.is_entry && function.has_body)
      return &function;
  return nullptr;
}

/// Facts of one text compared with counts of another.
Seen compare(const std::string &told, const std::string &run, unsigned launches) {
  static constexpr BlockShape shapes[] = {{32, 1, 1}, {256, 1, 1}, {16, 16, 1}, {64, 2, 1},
                                          {8, 8, 2},  {48, 2, 1},  {7, 5, 3},   {100, 1, 1}};
  Seen seen;
  const auto told_module = parse(told, "told"), run_module = parse(run, "run");
  REQUIRE(told_module);
  REQUIRE(run_module);
  const Function *kernel = kernel_of(**run_module), *told_kernel = kernel_of(**told_module);
  if (!kernel || !told_kernel)
    return seen;
  const WarpProgram program(**run_module);
  for (unsigned i = 0; i < launches; ++i) {
    const unsigned alignment = i % 3 == 0 ? 256 : i % 3 == 1 ? 16 : 32;
    const BlockShape block = launch_facts(*kernel).block.value_or(shapes[i % std::size(shapes)]);
    const KernelFacts facts(**told_module, *told_kernel,
                            {.block = block, .base_alignment = alignment});
    const auto drawn = draw(program, *kernel, block, alignment, i);
    if (!drawn)
      return seen;
    WarpOptions options;
    options.profile = options.profile_memory = true;
    options.step_limit = 400'000;
    // A fault ends the run early; what was counted until then holds.
    const WarpOutcome outcome = run_kernel(program, *program.find_kernel(kernel->name),
                                           drawn->launch, drawn->memory, options);
    for (std::uint32_t f = 0; f < program.function_count(); ++f)
      if (program.function(f).function == kernel && f < outcome.profile.size() &&
          outcome.profile[f].size() >= told_kernel->instructions.size())
        hold(facts, outcome.profile[f], seen);
  }
  return seen;
}

unsigned launches() {
  const char *text = std::getenv("PTXASW_FACTS_LAUNCHES");
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 8;
}

} // namespace

TEST_CASE("the warp emulator counts no more than the facts allow, and what is exact") {
  Seen all;
  for (const fs::path &path : kernels()) {
    const std::string text = read_file(path);
    const Seen seen = compare(text, text, launches());
    CHECK_MESSAGE(seen.wrong == 0, path.filename().string() << ": " << seen.first);
    all.compared += seen.compared;
    all.exact += seen.exact;
  }
  MESSAGE(all.compared, " accesses compared, ", all.exact, " of them exactly");
  CHECK(all.compared > 1000);
  CHECK(all.exact > 200);
}

TEST_CASE("what a warp shares costs what the warp emulator counts") {
  // By kernel the sectors of its accesses, in their order, of a warp; 0: not known. Rows begin at
  // multiples of 32 elements.
  static constexpr std::pair<const char *, const char *> table[] = {
      // Lanes leave the rounds that are left over at different ones: where they go on is not known.
      {"csr_warp", "1 1 4 0 4 0 0 0 0 0 0 0 0 0 0 0 0 1"},
      {"csr_plain", "1 1 4 0 4 0 0 0 0 0 0 0 0 0 0 0 0 1"},
      {"list_warp", "1 4 4"},
      {"ballot", "4 1 4"},
      {"redux", "4 4 4"},
      {"broadcast", "4 4 4"},
  };
  for (const auto &[name, sectors] : table) {
    const std::string of = name; // clang 14 lets no lambda have a structured binding
    CAPTURE(of);
    const auto module = parse(
        read_file(fs::path(SOURCE_DIR) / "tests/facts/kernels" / (std::string(name) + ".ptx")),
        name);
    REQUIRE(module);
    const Function &kernel = *kernel_of(**module);
    const BlockShape block{256, 1, 1};
    const KernelFacts facts(**module, kernel,
                            {.block = block, .base_alignment = 256, .index_is_positive = true});
    const WarpProgram program(**module);
    GlobalMemory memory;
    WarpLaunch launch;
    launch.block = block;
    launch.grid = {2, 1, 1};
    launch.parameters.resize(kernel_parameter_bytes(kernel));
    std::vector<std::uint32_t> words(1 << 18);
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<std::uint32_t>(192 * i % (1 << 17));
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      std::uint64_t bits = 32;
      if (bit_width(kernel.parameters[i].type) == 64) {
        const std::size_t buffer =
            memory.allocate("buffer", words.size() * 4, GlobalMemory::Fill::zeros, 0);
        bits = memory.allocations()[buffer].base;
        memory.write(bits,
                     {reinterpret_cast<const std::uint8_t *>(words.data()), words.size() * 4});
      }
      std::memcpy(launch.parameters.data() + kernel_parameter_offset(kernel, i), &bits,
                  kernel.parameters[i].size());
    }
    WarpOptions options;
    options.profile = options.profile_memory = true;
    const WarpOutcome outcome =
        run_kernel(program, *program.find_kernel(kernel.name), launch, memory, options);
    CHECK(!outcome.fault);
    std::string said;
    for (const Access &access : facts.accesses()) {
      if (access.space != StateSpace::global)
        continue;
      const Count &count = facts.traffic(access).sectors;
      const bool known = count.verdict != Verdict::unknown;
      said += fmt::format("{}{}", said.empty() ? "" : " ", known ? count.typical : 0);
      const InstructionProfile &counted = outcome.profile[0][access.site.instruction];
      CHECK(counted.warps > 0);
      if (known)
        CHECK(counted.sectors == counted.warps * count.typical);
    }
    CHECK(said == sectors);
  }
}

TEST_CASE("wrong facts are seen") {
  // Each changes what an access costs.
  static constexpr std::pair<const char *, const char *> mutations[] = {
      {"%r4, 16;", "%r4, 4;"}, {"%r1, 128, %r5", "%r1, 4, %r5"}, {"%r1, 132, %r5", "%r1, 128, %r5"},
      {"%r4, 4;", "%r4, 8;"},  {"%rd2, %rd3;", "%rd2, 4;"},      {"%r1, 16;", "%r1, 64;"},
  };
  unsigned made = 0, dead = 0;
  for (const fs::path &path : kernels()) {
    const std::string text = read_file(path);
    if (path.parent_path().filename() != "lint")
      continue;
    for (const auto &[from, to] : mutations) {
      const std::size_t at = text.find(from);
      if (at == std::string::npos)
        continue;
      std::string mutant = text;
      mutant.replace(at, std::strlen(from), to);
      ++made;
      dead += compare(mutant, text, 3).wrong > 0;
    }
  }
  MESSAGE(dead, " of ", made, " mutants were told from the original");
  CHECK(made >= 15);
  CHECK(dead * 10 >= made * 7); // some only raise a bound that is not exact
}
