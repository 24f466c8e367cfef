// The cost model's parts against what they are modelled on: requests against the probe's
// measurements, numbers of iterations against loops that are counted here, runs against walks where
// these guess nothing, constants against the probe's files.

#include "analysis/cost/advice.h"
#include "analysis/cost/request.h"
#include "analysis/cost/sector_cache.h"
#include "analysis/cost/traffic.h"
#include "analysis/cost/warp_runs.h"
#include "analysis/cost/warp_walk.h"

#include <doctest/doctest.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>

using namespace ptxasw::test;
using namespace ptxasw::analysis::cost;

namespace {

/// A kernel with three parameters, `p` (a pointer), `n` and `m`.
std::string kernel_text(const std::string &body) {
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry k(.param .u64 p, .param .u32 n, .param .u32 m)\n{\n"
         "  .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .reg .f32 %f<8>;\n"
         "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m];\n"
         "  mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x;\n"
         "  mad.lo.s32 %r6, %r4, %r5, %r3;\n" +
         body + "  ret;\n}\n";
}

struct Parsed {
  std::unique_ptr<Module> module;
  const Function *function = nullptr;
  explicit Parsed(const std::string &text) {
    auto parsed = parse(text, "test.ptx");
    REQUIRE(parsed);
    module = std::move(*parsed);
    function = &*std::find_if(module->functions.begin(), module->functions.end(),
                              [](const Function &f) { return f.is_entry; });
  }
};

Moment moment(std::uint32_t grid, std::uint32_t block) {
  Moment at;
  at.grid = {grid, 1, 1};
  at.block = {block, 1, 1};
  return at;
}

/// The cycles of the only access of a kernel, in the first warp.
double cycles_of_access(const std::string &body) {
  const Parsed parsed(kernel_text(body));
  const Arguments arguments{{{"p", 0}, {1ull << 40}}, {{"n", 0}, {100}}, {{"m", 0}, {7}}};
  Kernel kernel(*parsed.module, *parsed.function, arguments);
  REQUIRE_FALSE(kernel.error());
  WarpWalk walk(kernel);
  double cycles = 0;
  walk.run(moment(1, 32), [&](const Step &step) {
    for (const Access &access : step.block->accesses)
      cycles += request_of(kernel, access, step.active).cycles;
  });
  return cycles;
}

/// How often the warp at the beginning of the grid runs the block that stores.
double stores_of(const std::string &body, std::uint32_t n, std::uint32_t m,
                 bool *guessed = nullptr) {
  const Parsed parsed(kernel_text(body));
  const Arguments arguments{{{"p", 0}, {1ull << 40}}, {{"n", 0}, {n}}, {{"m", 0}, {m}}};
  Kernel kernel(*parsed.module, *parsed.function, arguments);
  REQUIRE_FALSE(kernel.error());
  WarpWalk walk(kernel);
  double times = 0;
  walk.run(moment(4, 64), [&](const Step &step) {
    for (const Access &access : step.block->accesses)
      times += access.traffic == Traffic::store ? step.weight : 0;
  });
  if (guessed)
    *guessed = walk.guessed_iterations();
  return times;
}

/// `for (i = first; go on; i += step) store`, tested at the end.
std::string counting_loop(const std::string &first, const std::string &step,
                          const std::string &leave) {
  return fmt::format("  mov.u32 %r10, {};\n$loop:\n  st.global.u32 [%rd1], %r10;\n"
                     "  add.s32 %r10, %r10, {};\n  {}\n  @%p1 bra $loop;\n",
                     first, step, leave);
}

} // namespace

TEST_CASE("a cache of sectors") {
  SectorCache cache(16 * line_bytes); // one set
  CHECK_FALSE(cache.read(0));
  CHECK(cache.read(0));
  CHECK_FALSE(cache.read(1)); // the same line, another sector
  cache.write(5);
  CHECK_FALSE(cache.read(4)); // a store makes no room
  for (std::uint64_t line = 2; line < 18; ++line)
    CHECK_FALSE(cache.read(4 * line));
  CHECK_FALSE(cache.read(0)); // driven out
  CHECK(cache.read(4 * 17));
}

TEST_CASE("loads cost what the probe measured, by the lanes' stride") {
  struct Measured {
    unsigned stride;
    double cycles;
  };
  // rate.load32.* of the probe, rounded.
  for (const Measured m : {Measured{0, 1},
                           {4, 1},
                           {8, 2},
                           {16, 4},
                           {32, 8},
                           {36, 3},
                           {64, 16},
                           {68, 5},
                           {128, 32},
                           {132, 8},
                           {256, 32},
                           {260, 8}}) {
    CAPTURE(m.stride);
    CHECK(cycles_of_access(fmt::format("  mad.wide.u32 %rd2, %r3, {}, %rd1;\n"
                                       "  ld.global.f32 %f1, [%rd2];\n",
                                       m.stride)) == m.cycles);
  }
  // rate.load128.*
  for (const Measured m : {Measured{0, 4}, {16, 4}, {32, 8}, {64, 16}, {128, 32}}) {
    CAPTURE(m.stride);
    CHECK(cycles_of_access(fmt::format("  mad.wide.u32 %rd2, %r3, {}, %rd1;\n"
                                       "  ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%rd2];\n",
                                       m.stride)) == m.cycles);
  }
  // rate.store32.*
  for (const Measured m : {Measured{0, 2}, {4, 4}, {8, 10}, {16, 20}, {32, 40}, {128, 64}}) {
    CAPTURE(m.stride);
    CHECK(cycles_of_access(fmt::format("  mad.wide.u32 %rd2, %r3, {}, %rd1;\n"
                                       "  st.global.u32 [%rd2], %r1;\n",
                                       m.stride)) == m.cycles);
  }
}

TEST_CASE("loops go round as often as they do") {
  CHECK(stores_of(counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;"), 1000, 0) ==
        doctest::Approx(1000));
  CHECK(stores_of(counting_loop("0", "4", "setp.ne.s32 %p1, %r10, %r1;"), 4096, 0) ==
        doctest::Approx(1024));
  CHECK(stores_of(counting_loop("%r1", "-1", "setp.gt.s32 %p1, %r10, 0;"), 77, 0) ==
        doctest::Approx(77));
  CHECK(stores_of(counting_loop("0", "1", "setp.lt.u32 %p1, %r10, %r1;"), 3'000'000'000u, 0) ==
        doctest::Approx(3e9));
  // It is run once, whatever the bound.
  CHECK(stores_of(counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;"), 0, 0) == 1);
  // Grid stride: lane 0 of 4 blocks of 64.
  CHECK(stores_of(counting_loop("%r6", "256", "setp.lt.s32 %p1, %r10, %r1;"), 2560, 0) ==
        doctest::Approx(10));
  // Every lane another number: the warp stays for the slowest.
  CHECK(stores_of(counting_loop("%r3", "1", "setp.lt.s32 %p1, %r10, %r1;"), 500, 0) ==
        doctest::Approx(500));
}

// `for (i = threadIdx.x; i < n; i += 8) store`, as compilers unroll it by four: as many single
// rounds first as leave a multiple of four, so that the second loop begins where flows have met.
TEST_CASE("rounds of a loop that begins where another one ended are known, thread by thread") {
  const std::string unrolled = R"(
  mov.u32 %r10, %r3;
  setp.ge.s32 %p1, %r10, %r1;
  @%p1 bra $end;
  max.s32 %r11, %r10, %r2;
  add.s32 %r11, %r11, 7;
  sub.s32 %r11, %r11, %r10;
  shr.u32 %r12, %r11, 3;
  add.s32 %r13, %r12, 1;
  and.b32 %r14, %r13, 3;
  setp.eq.s32 %p1, %r14, 0;
  @%p1 bra $rest;
$single:
  st.global.u32 [%rd1], %r10;
  add.s32 %r10, %r10, 8;
  add.s32 %r14, %r14, -1;
  setp.ne.s32 %p1, %r14, 0;
  @%p1 bra $single;
$rest:
  setp.lt.u32 %p1, %r11, 24;
  @%p1 bra $end;
$four:
  st.global.u32 [%rd1], %r10;
  st.global.u32 [%rd1], %r10;
  st.global.u32 [%rd1], %r10;
  st.global.u32 [%rd1], %r10;
  add.s32 %r10, %r10, 32;
  setp.lt.s32 %p1, %r10, %r1;
  @%p1 bra $four;
$end:
)";
  // Lanes 0 to 31 begin at themselves: those below n - 1 have a round more or less, and some of a
  // warp go round singly while others wait for the second loop.
  const auto slowest = [](unsigned n) {
    unsigned single = 0, four = 0;
    for (unsigned lane = 0; lane < std::min(n, 32u); ++lane) {
      const unsigned rounds = (std::max(lane, n - 8) + 7 - lane) / 8 + 1;
      single = std::max(single, rounds % 4);
      four = std::max(four, rounds / 4);
    }
    return single + 4 * four;
  };
  for (const unsigned n : {32u, 40u, 100u, 1000u, 1024u}) {
    CAPTURE(n);
    bool guessed = true;
    CHECK(stores_of(unrolled, n, n - 8, &guessed) == doctest::Approx(slowest(n)));
    CHECK_FALSE(guessed);
  }
}

// The second loop begins where the first one, which goes round as often as data says, has ended.
TEST_CASE("rounds that follow from a loop that is not known are not known") {
  const double guess = 16; // of warp_walk.cpp
  bool guessed = false;
  CHECK(stores_of("  mov.u32 %r10, 0;\n  setp.eq.s32 %p1, %r1, 0;\n  @%p1 bra $rest;\n$first:\n"
                  "  ld.global.u32 %r11, [%rd1];\n  add.s32 %r10, %r10, 1;\n"
                  "  setp.ne.s32 %p1, %r11, 0;\n  @%p1 bra $first;\n$rest:\n"
                  "  st.global.u32 [%rd1], %r10;\n  add.s32 %r10, %r10, 1;\n"
                  "  setp.lt.s32 %p1, %r10, %r1;\n  @%p1 bra $rest;\n",
                  100, 0, &guessed) == guess);
  CHECK(guessed);
}

TEST_CASE("a number of iterations that depends on data is a guess, and told") {
  bool guessed = false;
  stores_of(counting_loop("0", "1", "ld.global.u32 %r11, [%rd1+64]; setp.lt.s32 %p1, %r10, %r11;"),
            10, 0, &guessed);
  CHECK(guessed);
  stores_of(counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;"), 10, 0, &guessed);
  CHECK_FALSE(guessed);
}

TEST_CASE("nested loops and what is behind a test") {
  const std::string nested = "  mov.u32 %r10, 0;\n$outer:\n  mov.u32 %r11, 0;\n$inner:\n"
                             "  st.global.u32 [%rd1], %r11;\n  add.s32 %r11, %r11, 1;\n"
                             "  setp.lt.s32 %p1, %r11, %r2;\n  @%p1 bra $inner;\n"
                             "  add.s32 %r10, %r10, 1;\n  setp.lt.s32 %p2, %r10, %r1;\n"
                             "  @%p2 bra $outer;\n";
  CHECK(stores_of(nested, 100, 30) == doctest::Approx(3000));
  const std::string guarded = "  setp.ge.s32 %p1, %r6, %r1;\n  @%p1 bra $end;\n"
                              "  st.global.u32 [%rd1], %r1;\n$end:\n";
  CHECK(stores_of(guarded, 1, 0) == 1);
  CHECK(stores_of(guarded, 0, 0) == 0);
}

TEST_CASE("the constants are the probe's") {
  for (const Gpu &gpu : gpus()) {
    CAPTURE(gpu.name);
    std::string folder(gpu.name);
    std::transform(folder.begin(), folder.end(), folder.begin(), ::tolower);
    std::ifstream file(std::string(RESULTS_DIR) + "/" + folder + "/shapes/probe.json");
    REQUIRE(file);
    const auto json = nlohmann::json::parse(file);
    CHECK(json["date"] == gpu.date);
    CHECK(json["multiprocessors"] == gpu.multiprocessors);
    const auto same = [&](const Measured &measured, const char *name, double scale = 1) {
      CAPTURE(name);
      const auto &found = json["constants"][name];
      CHECK(measured.value == doctest::Approx(found["median"].get<double>() * scale).epsilon(1e-3));
      CHECK(measured.least == doctest::Approx(found["least"].get<double>() * scale).epsilon(1e-3));
      CHECK(measured.most == doctest::Approx(found["most"].get<double>() * scale).epsilon(1e-3));
    };
    same(gpu.clock, "clock", 1e-3);
    same(gpu.latency_l1, "latency.l1");
    same(gpu.latency_l2, "latency.l2");
    same(gpu.latency_dram, "latency.dram");
    same(gpu.l2_bytes, "l2.bytes.24mb");
    same(gpu.l2_bytes_each, "l2.bytes.multiprocessor");
    same(gpu.dram_read, "dram.read");
    same(gpu.dram_copy, "dram.copy");
    same(gpu.partial_writes, "dram.sparse_write32");
    same(gpu.late_read, "dram.sparse256");
    same(gpu.late_write, "dram.sparse_write256");
    same(gpu.block_start, "start.64");
    same(gpu.turnover, "turnover.512");
    same(gpu.launch, "launch");
  }
  CHECK(find_gpu("h200")->name == "H200");
  CHECK(find_gpu("sm_90a")->name == "H100");
  CHECK(find_gpu("sm_86") == nullptr);
  CHECK(find_gpu("") == nullptr);
}

TEST_CASE("a GPU of which only what is documented is known") {
  const Gpu &measured = *find_gpu("H100");
  const auto gpu = gpu_of({"twice", "sm_80", 264, 1.5, 6700, 40});
  REQUIRE(gpu);
  CHECK(gpu->target == "sm_80");
  CHECK(gpu->date.empty());
  CHECK(gpu->multiprocessors == 264);
  CHECK(gpu->l1_kib == 192);
  CHECK(gpu->clock.value == 1.5);
  CHECK(gpu->dram_read.value == doctest::Approx(2 * measured.dram_read.value));
  CHECK(gpu->dram_copy.least == doctest::Approx(2 * measured.dram_copy.least));
  CHECK(gpu->l2_bytes.value == doctest::Approx(2 * measured.l2_bytes.value));
  CHECK(gpu->l2_bytes_each.value == measured.l2_bytes_each.value);
  CHECK(gpu->late_read.value == doctest::Approx(measured.late_read.value / 2));
  CHECK(gpu->latency_dram.value == measured.latency_dram.value);
  CHECK(!gpu_of({"old", "sm_35", 15, 0.8, 288, 1.5}));
  for (const DocumentedGpu &one : documented_gpus()) {
    CAPTURE(one.name);
    CHECK(gpu_of(one));
    CHECK(find_gpu(one.name) == nullptr);
    CHECK(find_documented_gpu(one.name) == &one);
    CHECK((one.clock > 1 && one.clock < 3)); // GHz
    CHECK((one.bandwidth > 200 && one.bandwidth < 10000));
  }
  CHECK(find_documented_gpu("rtx-4090")->name == "RTX 4090");
  CHECK(find_documented_gpu("sm_86")->name == "RTX 3090");
  CHECK(find_documented_gpu("sm_100a") == nullptr);
  CHECK(find_documented_gpu("") == nullptr);
}

namespace {

const std::string copy = "  setp.ge.s32 %p1, %r6, %r1;\n  @%p1 bra $end;\n"
                         "  mad.wide.s32 %rd2, %r6, 4, %rd1;\n  ld.global.f32 %f1, [%rd2];\n"
                         "  st.global.f32 [%rd2+536870912], %f1;\n$end:\n";

Advice advise_text(const std::string &text, Question question) {
  const Parsed parsed(text);
  if (question.needs.registers == 0)
    question.needs.registers = 16;
  return advise(*parsed.module, *parsed.function, *find_gpu("H100"), question);
}

} // namespace

TEST_CASE("a copy is bound by memory, small blocks by how fast blocks start") {
  Question question;
  question.threads = {1u << 27, 1, 1};
  question.arguments = {{{"n", 0}, {1u << 27}}};
  const Advice advice = advise_text(kernel_text(copy), question);
  CHECK_FALSE(advice.refusal);
  CHECK(advice.doubts.empty());
  REQUIRE(advice.shapes.size() == 12);
  CHECK(
      std::is_sorted(advice.shapes.begin(), advice.shapes.end(), [](const auto &a, const auto &b) {
        return a.prediction.microseconds < b.prediction.microseconds;
      }));
  // The probe's stream1, 2^27 elements: 1 GiB at 2370 GB/s with 256 threads, 425 GB/s with 32.
  for (const ShapeAdvice &shape : advice.shapes) {
    const Prediction &p = shape.prediction;
    CAPTURE(shape.block.x);
    CHECK(p.traffic.dram_read_bytes == doctest::Approx(536870912.0).epsilon(0.01));
    CHECK(p.traffic.dram_write_bytes == doctest::Approx(536870912.0).epsilon(0.01));
    CHECK(p.least < p.microseconds);
    CHECK(p.microseconds < p.most);
    CHECK_FALSE(shape.rounded == (shape.grid.x * shape.block.x == 1u << 27));
    if (shape.block.x == 256)
      CHECK(p.microseconds == doctest::Approx(453).epsilon(0.15));
    if (shape.block.x == 32) {
      CHECK(p.microseconds == doctest::Approx(2526).epsilon(0.05));
      CHECK(p.limit == Term::start);
    }
  }
  CHECK(advice.shapes.back().block.x == 32);
  CHECK(advice.shapes.front().mwp_cwp.has_value());
}

TEST_CASE("only shapes that compute the same are advised") {
  const std::string barrier = "  bar.sync 0;\n  mad.wide.s32 %rd2, %r6, 4, %rd1;\n"
                              "  st.global.u32 [%rd2], %r3;\n";
  Question question;
  question.threads = {1024, 1, 1};
  CHECK(advise_text(kernel_text(barrier), question).refusal.value().find("--launch") !=
        std::string::npos);
  question.current = BlockShape{128, 1, 1};
  Advice advice = advise_text(kernel_text(barrier), question);
  CHECK_FALSE(advice.refusal);
  REQUIRE(advice.shapes.size() == 1);
  CHECK(advice.shapes[0].block.x == 128);
  CHECK_FALSE(advice.fixed[0].empty());
  CHECK(advice.is_better == false);
  // A shape that is asked for is no more legal.
  question.shapes = {{64, 1, 1}};
  CHECK(advise_text(kernel_text(barrier), question).refusal ==
        "none of the shapes can be launched");
}

TEST_CASE("what the kernel or the device forbids is not advised") {
  Question question;
  question.threads = {4096, 1, 1};
  question.arguments = {{{"n", 0}, {4096}}};
  question.needs.most_threads = 64;
  Advice advice = advise_text(kernel_text(copy), question);
  CHECK(advice.shapes.size() == 2);
  question.needs.most_threads = 0;
  question.required = BlockShape{96, 1, 1};
  advice = advise_text(kernel_text(copy), question);
  REQUIRE(advice.shapes.size() == 1);
  CHECK(advice.shapes[0].block.x == 96);
  CHECK(advice.shapes[0].rounded);
  question.required = BlockShape{2048, 1, 1};
  CHECK(advise_text(kernel_text(copy), question).refusal);
  question.required.reset();
  question.needs.registers = 255;
  for (const ShapeAdvice &shape : advise_text(kernel_text(copy), question).shapes)
    CHECK(shape.block.x <= 256);
}

TEST_CASE("what is not known widens the interval and is told") {
  Question question;
  question.threads = {1u << 20, 1, 1};
  const auto width = [](const Advice &advice) {
    return advice.shapes[0].prediction.most / advice.shapes[0].prediction.least;
  };
  const Advice vague = advise_text(kernel_text(copy), question); // n is not given
  question.arguments = {{{"n", 0}, {1u << 20}}};
  const Advice known = advise_text(kernel_text(copy), question);
  CHECK_FALSE(vague.doubts.empty());
  CHECK(known.doubts.empty());
  CHECK(width(vague) > width(known));
}

TEST_CASE("odd launches") {
  Question question;
  question.arguments = {{{"n", 0}, {1}}};
  for (const Extents threads : {Extents{1, 1, 1}, Extents{4'000'000'000u, 1, 1},
                                Extents{33, 65535, 65535}, Extents{1, 1, 7}}) {
    question.threads = threads;
    const Advice advice = advise_text(kernel_text(copy), question);
    for (const ShapeAdvice &shape : advice.shapes) {
      CHECK(std::isfinite(shape.prediction.microseconds));
      CHECK(shape.prediction.microseconds > 0);
    }
  }
  const std::string endless = "$loop:\n  st.global.u32 [%rd1], %r1;\n  bra $loop;\n";
  question.threads = {1024, 1, 1};
  const Advice advice = advise_text(kernel_text(endless), question);
  CHECK((advice.shapes.empty() || !advice.doubts.empty()));
}

TEST_CASE("stores of a warp that fill a sector together write no sector in part") {
  const auto partial = [](const std::string &stores) {
    const Parsed parsed(kernel_text("  mad.wide.u32 %rd2, %r6, 32, %rd1;\n" + stores));
    const Arguments arguments{{{"p", 0}, {1ull << 40}}, {{"n", 0}, {100}}, {{"m", 0}, {7}}};
    Kernel kernel(*parsed.module, *parsed.function, arguments);
    REQUIRE_FALSE(kernel.error());
    WarpWalk walk(kernel);
    Surroundings around;
    around.grid = {4, 1, 1};
    around.block = {32, 1, 1};
    around.l1_bytes = around.l2_bytes = 1 << 20;
    around.registers = 32;
    return traffic_of(kernel, walk, around).partial_write_sectors;
  };
  const std::string half = "  st.global.v2.u64 [%rd2], {%rd1, %rd1};\n",
                    other_half = "  st.global.v2.u64 [%rd2+16], {%rd1, %rd1};\n";
  CHECK(partial(half) == doctest::Approx(128)); // a sector for each of 128 threads
  CHECK(partial(half + half) == doctest::Approx(128));
  CHECK(partial(half + other_half) == doctest::Approx(0));
  CHECK(partial(half + other_half + half) == doctest::Approx(0)); // full, and stays so
  CHECK(partial(half + "  st.global.u64 [%rd2+16], %rd1;\n") == doctest::Approx(128));
}

TEST_CASE("runs of warps and walks that guess nothing say the same") {
  const std::string body = "  setp.ge.s32 %p2, %r6, %r2;\n  @%p2 bra $end;\n"
                           "  mad.wide.u32 %rd2, %r6, 4, %rd1;\n" +
                           counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;") + "$end:\n";
  const Parsed parsed(kernel_text(body));
  const Arguments arguments{{{"p", 0}, {1ull << 40}}, {{"n", 0}, {5}}, {{"m", 0}, {1000}}};
  const std::vector<std::string_view> pointers{"p"};
  Kernel kernel(*parsed.module, *parsed.function, arguments, pointers);
  REQUIRE_FALSE(kernel.error());
  WarpWalk walk(kernel);
  Surroundings around;
  around.grid = {16, 1, 1};
  around.block = {64, 1, 1};
  around.l1_bytes = around.l2_bytes = 1 << 20;
  around.registers = 32;
  const LaunchTraffic walked = traffic_of(kernel, walk, around);
  const auto run = traffic_of(kernel, {arguments, pointers}, around);
  REQUIRE(run);
  CHECK(run->instructions == doctest::Approx(walked.instructions));
  CHECK(run->store_cycles == doctest::Approx(walked.store_cycles));
  CHECK(run->l2_write_sectors == doctest::Approx(walked.l2_write_sectors));
  CHECK(run->partial_write_sectors == doctest::Approx(walked.partial_write_sectors));
  CHECK(run->dram_write_bytes == doctest::Approx(walked.dram_write_bytes));
  CHECK(run->chain_cycles == doctest::Approx(walked.chain_cycles));
}

TEST_CASE("a run counts conflicts of banks that nothing else tells") {
  const auto shared_cycles = [](unsigned stride) {
    const Parsed parsed(kernel_text("  .shared .align 4 .b8 tile[4096];\n  mov.u32 %r7, tile;\n"
                                    "  mul.lo.u32 %r8, %r3, %r2;\n  xor.b32 %r8, %r8, %r1;\n"
                                    "  add.u32 %r7, %r7, %r8;\n  ld.shared.u32 %r10, [%r7];\n"
                                    "  st.global.u32 [%rd1], %r10;\n"));
    const Arguments arguments{{{"p", 0}, {1ull << 40}}, {{"n", 0}, {4}}, {{"m", 0}, {stride}}};
    const std::vector<std::string_view> pointers{"p"};
    Kernel kernel(*parsed.module, *parsed.function, arguments, pointers);
    Surroundings around;
    around.block = {32, 1, 1};
    around.grid = {1, 1, 1};
    around.l1_bytes = around.l2_bytes = 1 << 20;
    around.registers = 32;
    REQUIRE_FALSE(kernel.doubts().empty());
    const auto run = traffic_of(kernel, {arguments, pointers}, around);
    kernel.settle_unread();
    CHECK(kernel.doubts().empty());
    return run ? run->cycles.shared : 0;
  };
  CHECK(shared_cycles(4) == doctest::Approx(1));
  CHECK(shared_cycles(8) == doctest::Approx(2));
  CHECK(shared_cycles(128) == doctest::Approx(32));
}

TEST_CASE("a run does not say what memory decides, nor what does not end") {
  const auto refusal = [](const std::string &body, std::uint64_t n) {
    const Parsed parsed(kernel_text(body));
    Arguments arguments{{{"m", 0}, {1}}};
    if (n != 0)
      arguments[{"n", 0}].bits = n;
    const auto count =
        count_launch(*parsed.module, *parsed.function, arguments, {4, 1, 1}, {64, 1, 1}, 0);
    return count ? "counted" : count.error();
  };
  const std::string loop = counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;");
  CHECK(refusal(loop, 3) == "counted");
  CHECK(refusal(loop, 0) == "the value of n is not given");
  CHECK(refusal("  ld.global.u32 %r9, [%rd1];\n" + loop, 3) == "counted");
  const std::string by_memory = "what memory holds decides what it does";
  CHECK(refusal("  ld.global.u32 %r1, [%rd1];\n  rem.u32 %r1, %r1, 7;\n" + loop, 3) == by_memory);
  CHECK(refusal("  ld.global.u32 %r9, [%rd1];\n  mad.wide.u32 %rd2, %r9, 4, %rd1;\n"
                "  st.global.u32 [%rd2], %r9;\n",
                3) == by_memory);
  CHECK(refusal("$loop:\n  bra $loop;\n", 3).starts_with("more than"));
}

TEST_CASE("what every 68th block does is not taken for what all do") {
  const auto instructions = [](const std::string &count) {
    const Parsed parsed(kernel_text(
        "  mov.u32 %r9, %ctaid.x;\n  rem.u32 %r9, %r9, 68;\n  setp.eq.u32 %p1, %r9, 0;\n" + count +
        counting_loop("0", "1", "setp.lt.s32 %p1, %r10, %r1;")));
    // 16 blocks are looked at, and 1020 = 15 * 68.
    const auto counted =
        count_launch(*parsed.module, *parsed.function, {{{"n", 0}, {1}}, {{"m", 0}, {1}}},
                     {1021, 1, 1}, {1024, 1, 1}, 0);
    REQUIRE(counted);
    CHECK(counted->run == 16);
    return counted->instructions;
  };
  CHECK(instructions("  selp.b32 %r1, 100, 1, %p1;\n") <
        5 * instructions("  selp.b32 %r1, 1, 1, %p1;\n"));
}
