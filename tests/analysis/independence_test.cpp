// Verdicts on independence: one behaviour per file in independence/, the labelled kernels where
// they are, and what is called independent does the same in the warp emulator whatever the shape.

#include "analysis/independence.h"
#include "emulator/machine/warp_launch.h"
#include "recorded.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ptxasw::test;
namespace fs = std::filesystem;

namespace {

std::string read_file(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<fs::path> ptx_in(const fs::path &folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder))
    for (const auto &entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".ptx")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

const fs::path goldens = fs::path(INDEPENDENCE_DIR), labelled = fs::path(SHARED_DATA) / "bsi";
const fs::path samples = fs::path(SAMPLES_DIR);

/// A module of one kernel.
struct Subject {
  std::string name, text;
  bool is_sample = false; ///< of the toolkit: run only with PTXASW_THOROUGH in the environment
};

/// The kernels of a module, each by itself.
std::vector<Subject> kernels_of(const fs::path &path) {
  const std::string text = read_file(path);
  const auto module = parse(text, path.string());
  REQUIRE(module);
  std::vector<Subject> list;
  std::optional<std::uint32_t> head;
  for (const Function &function : (*module)->functions) {
    if (!function.is_entry)
      continue;
    head = head ? *head : function.span.begin;
    const std::size_t begin = function.span.begin, end = function.span.end;
    list.push_back({std::string(function.name),
                    text.substr(0, *head) + text.substr(begin, end - begin) + "\n", true});
  }
  return list;
}

const Function &kernel_of(const Module &module) {
  return *std::find_if(module.functions.begin(), module.functions.end(),
                       [](const Function &f) { return f.is_entry && f.has_body; });
}

std::string verdicts(const KernelIndependence &found) {
  return fmt::format("x={} y={} z={}", to_string(found.axes[0].verdict),
                     to_string(found.axes[1].verdict), to_string(found.axes[2].verdict));
}

/// What a kernel leaves in memory, launched in one shape; nothing if it faults.
std::optional<GlobalMemory> result_of(const WarpProgram &program, const Function &kernel,
                                      const Extents &grid, const Extents &block,
                                      std::uint64_t seed) {
  std::optional<GlobalMemory> memory(std::in_place);
  if (!program.place_variables(*memory))
    return std::nullopt;
  WarpLaunch launch;
  launch.grid = grid;
  launch.block = block;
  launch.parameters.resize(kernel_parameter_bytes(kernel));
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    std::uint64_t bits = 8 + scramble(seed + i) % 33; // a width, a limit
    if (bit_width(kernel.parameters[i].type) == 64) {
      const std::size_t buffer = memory->allocate(fmt::format("argument {}", i), 1 << 22,
                                                  GlobalMemory::Fill::small, scramble(seed + i));
      bits = memory->allocations()[buffer].base + (1 << 20);
    } else if (i + 1 < kernel.parameters.size() && bit_width(kernel.parameters[i + 1].type) == 32 &&
               seed % 2 == 0) {
      bits = 1500;
    }
    std::memcpy(launch.parameters.data() + kernel_parameter_offset(kernel, i), &bits,
                std::min<std::uint64_t>(kernel.parameters[i].size(), 8));
  }
  WarpOptions options;
  options.step_limit = 1'000'000; // of a loop that a mutant has made endless
  const auto outcome =
      run_kernel(program, *program.find_kernel(std::string(kernel.name)), launch, *memory, options);
  if (outcome.fault)
    return std::nullopt;
  return memory;
}

/// Shapes of one axis of 512 threads (the others have 4 in one block each), or all in one block.
struct ShapeComparison {
  unsigned compared = 0, different = 0;
};

ShapeComparison compare_shapes(const Module &module, int axis, unsigned shapes,
                               std::uint64_t seeds) {
  const Function &kernel = kernel_of(module);
  const WarpProgram program(module);
  const KernelIndependence found = independence({module, kernel});
  bool alone[3];
  for (int other = 0; other < 3; ++other)
    alone[other] = other != axis && found.axes[other].verdict == AxisVerdict::unused;
  ShapeComparison result;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    constexpr std::uint32_t threads = 256;
    std::optional<GlobalMemory> reference;
    for (unsigned shape = 0; shape < shapes; ++shape) {
      std::uint32_t extent = 1u << (scramble(shape * 2 + seed) % 7); // 1 to 64
      if (shape == 0)
        extent = 32;
      Extents grid{1, 1, 1}, block{4, 4, 4};
      grid[axis] = threads / extent;
      block[axis] = extent;
      if (axis == 0)
        block.y = block.z = 2;
      for (int other = 0; other < 3; ++other)
        if (alone[other]) // threads along it would all do the same, and race
          block[other] = 1;
      auto memory = result_of(program, kernel, grid, block, seed);
      if (!memory)
        continue;
      if (!reference) {
        reference = std::move(memory);
        continue;
      }
      ++result.compared;
      result.different += compare(*reference, *memory).differs;
    }
  }
  return result;
}

} // namespace

TEST_CASE("one behaviour a file") {
  const auto files = ptx_in(goldens);
  CHECK(files.size() >= 15);
  for (const auto &path : files) {
    CAPTURE(path);
    const std::string text = read_file(path);
    const std::string expected = text.substr(11, text.find('\n') - 11);
    const auto module = parse(text, "test.ptx");
    REQUIRE(module);
    CHECK(verdicts(independence({**module, kernel_of(**module)})) == expected);
  }
}

TEST_CASE("the labelled kernels, where they are") {
  auto rows = test::recorded("bsi/expect.tsv");
  if (rows.empty()) {
    MESSAGE("no labelled kernels here");
    return;
  }
  CHECK(rows.size() == 24);
  for (auto &row : rows) {
    const std::string name = row["kernel"];
    const std::string labels[] = {row["x"], row["y"], row["z"]};
    const auto module = parse(read_file(labelled / "kernels" / (name + ".ptx")), name);
    REQUIRE(module);
    const KernelIndependence found = independence({**module, kernel_of(**module)});
    CAPTURE(name);
    for (int axis = 0; axis < 3; ++axis) {
      CAPTURE(axis);
      const AxisVerdict verdict = found.axes[axis].verdict;
      if (labels[axis] == "independent")
        CHECK(verdict == AxisVerdict::independent);
      else if (labels[axis] == "dependent") // unknown is no lie
        CHECK((verdict == AxisVerdict::dependent || verdict == AxisVerdict::unknown));
    }
  }
}

TEST_CASE("the samples of the toolkit, written anew") {
  unsigned proven = 0;
  for (const Subject &subject : kernels_of(samples / "samples.ptx")) {
    CAPTURE(subject.name);
    const auto module = parse(subject.text, "test.ptx");
    REQUIRE(module);
    const KernelIndependence found = independence({**module, kernel_of(**module)});
    CHECK(found.axes[0].verdict == AxisVerdict::independent);
    for (const AxisIndependence &axis : found.axes)
      CHECK((axis.verdict == AxisVerdict::independent || axis.verdict == AxisVerdict::unused));
    ++proven;
  }
  CHECK(proven == 30);
  // Places that an atomic gives out: the order of threads decides.
  for (const Subject &subject : kernels_of(samples / "newDelete.ptx")) {
    CAPTURE(subject.name);
    const auto module = parse(subject.text, "test.ptx");
    REQUIRE(module);
    CHECK(independence({**module, kernel_of(**module)}).axes[0].verdict == AxisVerdict::unknown);
  }
}

TEST_CASE("what is independent leaves the same memory in every shape, and its mutants, too") {
  std::vector<Subject> subjects = kernels_of(samples / "samples.ptx");
  for (const fs::path &folder : {goldens, labelled / "kernels"})
    for (const auto &path : ptx_in(folder))
      subjects.push_back({path.stem(), read_file(path), false});
  unsigned proven = 0, mutants = 0, sample_mutants = 0, still_proven = 0, told_apart = 0;
  for (const auto &[subject, text, is_sample] : subjects) {
    const std::string &name_of_subject = subject; // clang 14 captures no binding
    CAPTURE(name_of_subject);
    const auto module = parse(text, "test.ptx");
    REQUIRE(module);
    const KernelIndependence found = independence({**module, kernel_of(**module)});
    for (int axis = 0; axis < 3; ++axis) {
      if (found.axes[axis].verdict != AxisVerdict::independent)
        continue;
      CAPTURE(axis);
      if (!is_sample || std::getenv("PTXASW_THOROUGH")) {
        const ShapeComparison same = compare_shapes(**module, axis, 20, is_sample ? 1 : 2);
        CHECK(same.compared >= 19);
        CHECK(same.different == 0);
      }
      ++proven;
      // One of the axis' registers for another, each place separately.
      const std::string names[] = {
          fmt::format("%tid.{}", "xyz"[axis]), fmt::format("%ctaid.{}", "xyz"[axis]),
          fmt::format("%ntid.{}", "xyz"[axis]), fmt::format("%nctaid.{}", "xyz"[axis])};
      for (const std::string &name : names)
        for (std::size_t at = text.find(name); at != std::string::npos;
             at = text.find(name, at + 1))
          for (const std::string &other : names) {
            if (other == name)
              continue;
            std::string mutant = text;
            mutant.replace(at, name.size(), other);
            const auto changed = parse(mutant, "mutant.ptx");
            REQUIRE(changed);
            const bool independent =
                independence({**changed, kernel_of(**changed)}).axes[axis].verdict ==
                AxisVerdict::independent;
            ++(is_sample ? sample_mutants : mutants);
            if (is_sample && !independent)
              continue;
            const ShapeComparison differs = compare_shapes(**changed, axis, 4, 1);
            told_apart += !is_sample && differs.different > 0;
            if (!independent)
              continue;
            ++still_proven;
            CAPTURE(mutant);
            CHECK(differs.different == 0);
          }
    }
  }
  MESSAGE(proven, " proofs, ", sample_mutants, " mutants of samples, ", mutants,
          " others, of which the shape changes ", told_apart, " and ", still_proven,
          " are still independent");
  CHECK(proven >= 8);
  CHECK(told_apart > mutants / 2); // or the comparison sees nothing
}

TEST_CASE("what ties threads and blocks together") {
  const auto found = [](const std::string &name) {
    const auto module = parse(read_file(goldens / (name + ".ptx")), name);
    REQUIRE(module);
    return independence({**module, kernel_of(**module)});
  };
  CHECK(found("guarded-copy").threads_independent);
  CHECK(found("loaded-by-the-thread").threads_independent);
  CHECK(found("barrier").blocks_independent);
  CHECK_FALSE(found("barrier").threads_independent);
  CHECK_FALSE(found("chosen-by-the-lane").threads_independent);
  CHECK_FALSE(found("exchanged").blocks_independent);
  CHECK_FALSE(found("called").blocks_independent);
  CHECK_FALSE(found("called-elsewhere").blocks_independent);
  CHECK(found("printing").blocks_independent);
  CHECK_FALSE(found("printing").threads_independent);
  CHECK_FALSE(found("warp-vote").threads_independent);
  CHECK(found("warp-vote").blocks_independent);
  CHECK_FALSE(found("lane-in-a-vector").threads_independent);
  CHECK_FALSE(found("machine-in-a-vector").blocks_independent);
  CHECK_FALSE(found("two-reductions").blocks_independent);
  CHECK(found("one-reduction-twice").threads_independent);
}

TEST_CASE("a call with arguments and results in registers") {
  const auto found = [](std::string_view argument) {
    const auto module = parse(
        fmt::format(".version 8.3\n.target sm_90\n.address_size 64\n"
                    ".func (.reg .b32 %a) twice(.reg .b32 %b) {{ add.u32 %a, %b, %b; ret; }}\n"
                    ".visible .entry k(.param .u64 out) {{ .reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
                    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
                    "mad.lo.s32 %r4, %r1, %r2, %r3; call (%r5), twice, ({});\n"
                    "ld.param.u64 %rd1, [out]; mul.wide.s32 %rd2, %r4, 4;\n"
                    "add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r5; ret; }}\n",
                    argument),
        "test.ptx");
    REQUIRE(module);
    return independence({**module, kernel_of(**module)});
  };
  CHECK(found("%r4").axes[0].verdict == AxisVerdict::independent);
  CHECK(found("%r4").threads_independent);
  CHECK(found("%r3").axes[0].verdict == AxisVerdict::dependent);
}

TEST_CASE("sums by compare-and-swap of floating-point numbers are a condition") {
  const std::string text = read_file(goldens / "minimum-by-exchange.ptx");
  std::string sum = text;
  sum.replace(sum.find("min.f32"), 7, "add.f32");
  for (const std::string &one : {text, sum}) {
    const auto module = parse(one, "test.ptx");
    REQUIRE(module);
    const KernelIndependence found = independence({**module, kernel_of(**module)});
    CHECK(found.axes[0].verdict == AxisVerdict::independent);
    CHECK(std::count(found.conditions.begin(), found.conditions.end(),
                     "sums of floating-point numbers may be taken in any order") == (one == sum));
  }
}

TEST_CASE("atomics of two kinds by two parameters are a condition") {
  const auto found = [](const char *second) {
    const auto module =
        parse(fmt::format(".version 8.3\n.target sm_90\n.address_size 64\n"
                          ".visible .entry k(.param .u64 a, .param .u64 b) {{\n"
                          ".reg .b32 %r<9>; .reg .b64 %rd<5>;\n"
                          "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
                          "mad.lo.s32 %r4, %r1, %r2, %r3;\n"
                          "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];\n"
                          "red.global.add.u32 [%rd1], %r4; red.global.{}; ret; }}\n",
                          second),
              "test.ptx");
    REQUIRE(module);
    return independence({**module, kernel_of(**module)});
  };
  const auto says = [](const KernelIndependence &of) {
    return std::count(of.conditions.begin(), of.conditions.end(),
                      "pointers of different atomic operations lead to different arrays");
  };
  const KernelIndependence two = found("max.u32 [%rd2], %r4"), one = found("add.u32 [%rd2], %r4");
  CHECK(two.axes[0].verdict == AxisVerdict::independent);
  CHECK(says(two) == 1);
  CHECK(one.axes[0].verdict == AxisVerdict::independent);
  CHECK(says(one) == 0);
  CHECK(found("max.u32 [%rd1], %r4").axes[0].verdict == AxisVerdict::unknown);
}
