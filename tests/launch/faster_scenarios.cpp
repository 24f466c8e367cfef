// Under `ptxasw faster`: what versions are launched with, and which is chosen for which launches.

#include "tests/launch/unprepared.h"

#include <cstdlib>
#include <cstring>
#include <unistd.h>

using namespace host;

namespace {

const Scenario variable("faster-variable", [] {
  const FatBinary image(ptx(), 90, 90);
  for (const bool as_library : {false, true}) {
    Handle f = as_library ? kernel(library_of(image.wrapper()), "scaled")
                          : function(load_by("cuModuleLoadData", image.wrapper()), "scaled");
    Launches launches(f);
    const std::string said = launches.until_a_version_runs();
    // Behind to, from and n: where the program's own variable is.
    CHECK(has(said, " * * 16384 &gain"));
    launches.versions_of(600);
    launches.once_with_a_buffer();
    CHECK(has(history(), " * * 16384 &gain"));
    // The addresses are those of one context.
    Handle context = nullptr;
    call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
    CHECK(launches.versions_of(3) == 0);
    call<Handle>("cuCtxSetCurrent", nullptr);
    Handle primary = nullptr;
    call<Handle *, int>("cuDevicePrimaryCtxRetain", &primary, 0);
    call<Handle>("cuCtxSetCurrent", primary);
    CHECK(launches.versions_of(3) == 3);
  }
});

const Scenario constant("faster-constant", [] {
  const FatBinary image(ptx(), 90, 90);
  for (const char *const name : {"biased", "indexed"}) {
    Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), name));
    CHECK(has(launches.until_a_version_runs(), " * * 16384 &bias"));
  }
});

const Scenario graph("faster-graph", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "scaled"), stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  Launches launches(f);
  const auto capture = [&] {
    symbol<int(Handle, int)>("fake_capture")(stream, 1);
    launches.once(stream);
    symbol<int(Handle, int)>("fake_capture")(stream, 0);
    return history();
  };
  CHECK(has(capture(), "capture scaled 64,1,1"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  CHECK(has(capture(), "capture scaled__ptxasw_"));
  // The program sees the launch that it made.
  struct Parameters {
    Handle function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
  } shown{};
  Handle node = symbol<Handle(int)>("fake_node")(1);
  call<Handle, Parameters *>("cuGraphKernelNodeGetParams", node, &shown);
  CHECK(shown.function == f && shown.grid[0] == 64 && shown.block[0] == 256);
  CHECK(*static_cast<unsigned *>(shown.parameters[2]) == elements);
});

const Scenario block("faster-block", [] {
  // The kernel's own code in blocks of 128 threads is the fastest.
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "attributed"), stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  std::uint64_t to = memory(elements), from = memory(elements);
  const auto launch = [&](unsigned blocks, unsigned threads, Handle where = nullptr) {
    unsigned n = blocks * threads;
    void *list[] = {&to, &from, &n};
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, blocks, 1, 1, threads, 1, 1, 0, where, list,
                                                   nullptr) == 0);
    return history();
  };
  const std::string best = "launch attributed 128,1,1 128,1,1";
  bool found = false;
  for (int i = 0; i < 300000 && !found; ++i, ::usleep(1000))
    found = has(launch(64, 256), best);
  CHECK(found);
  int in_a_row = 0;
  for (int i = 0; i < 5000 && in_a_row < 100; ++i)
    in_a_row = has(launch(64, 256), best) ? in_a_row + 1 : 0;
  CHECK(in_a_row == 100);
  // A graph's node is what the program launched.
  symbol<int(Handle, int)>("fake_capture")(stream, 1);
  CHECK(has(launch(64, 256, stream), "capture attributed 64,1,1 256,1,1"));
  symbol<int(Handle, int)>("fake_capture")(stream, 0);
  // 63 times 224 threads are no multiple of 64, and none may be to spare.
  for (int i = 0; i < 2000; ++i) {
    const std::string said = launch(63, 224);
    CHECK(has(said, "launch attributed 63,1,1 224,1,1"));
  }
  // Nor is anything else than a launch by itself.
  struct Attribute {
    int id, padding;
    unsigned char value[64];
  } cluster{4, 0, {2, 0, 0, 0, 1, 0, 0, 0, 1}};
  struct Config {
    unsigned grid[3], block[3], shared;
    Handle stream;
    Attribute *attributes;
    unsigned count;
  } config{{64, 1, 1}, {256, 1, 1}, 0, nullptr, &cluster, 1};
  unsigned n = elements;
  void *list[] = {&to, &from, &n};
  call<const Config *, Handle, void **, void **>("cuLaunchKernelEx", &config, f, list, nullptr);
  CHECK(has(history(), "launch attributed 64,1,1 256,1,1"));
});

const Scenario brief_runs("faster-short", [] {
  // Too short for a race, unless the next run goes on with it.
  const FatBinary image(ptx(), 90, 90);
  Launches(function(load_by("cuModuleLoadData", image.wrapper()), "add")).versions_of(60);
});

const Scenario tuned("faster-tuned", [] {
  const FatBinary image(ptx(), 90, 90);
  const char *const launches = std::getenv("FASTER_LAUNCHES");
  Launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"))
      .versions_of(launches ? std::atoi(launches) : 200);
});

const Scenario feared("faster-feared", [] {
  // In blocks of 32 threads most lanes of a warp are idle in what gives four elements to a thread.
  // A hundred launches do not pay for that if the kernel does nothing but compute.
  std::string work = "mov.u32 \t%r3, 1;";
  if (std::getenv("FASTER_COMPUTES"))
    for (int i = 0; i < 80; ++i)
      work += "\n\tmad.lo.s32 \t%r3, %r3, %r6, %r6;";
  const std::string text =
      "//\n.version 8.0\n.target sm_90\n.address_size 64\n" + kernel_text("add", work);
  const FatBinary image(text, 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"), 32);
  const int versions = launches.versions_of(100);
  if (const char *const tried = std::getenv("FASTER_TRIED"))
    CHECK((versions != 0) == (*tried == '1'));
});

/// So many launches, whatever runs.
const Scenario some_launches("faster-launches", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"))
      .versions_of(std::atoi(std::getenv("FASTER_LAUNCHES")));
});

/// Launches of several shapes: a version wins, the original is faster, and too few.
const Scenario shapes("faster-shapes", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add");
  Launches first(f), second(f, 64), third(f, 128);
  CHECK(!first.until_a_version_runs().empty());
  first.versions_of(3000);
  second.versions_of(3000);
  third.versions_of(14);
});

/// Of one grid the version is faster for little work, which a number among the arguments says; in
/// other blocks it is not.
const Scenario tree("faster-tree", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add");
  const auto set = [](double own, double version) {
    const auto set_time = symbol<void(const char *, double)>("fake_set_kernel_time");
    set_time("add", own);
    set_time("add__ptxasw_retile_apart_x4", version);
  };
  Launches little(f, 256, 100), much(f, 256, 16384), small(f, 64), few(f, 128);
  CHECK(!little.until_a_version_runs().empty());
  for (int i = 0; i < 4; ++i) {
    set(100, 60);
    little.versions_of(1500);
    set(1000, 1500);
    much.versions_of(1500);
  }
  set(50, 80);
  small.versions_of(3000);
  few.versions_of(14);
});

/// Two modules have a kernel of one name and different code. Of the one a version is faster.
const Scenario same_name("faster-same-name", [] {
  const std::string text = "//\n.version 8.0\n.target sm_90\n.address_size 64\n";
  const FatBinary one(text + kernel_text("add", "mov.u32 \t%r3, 1;"), 90, 90);
  const FatBinary other(text + kernel_text("add", "mov.u32 \t%r3, 0;\n\tadd.u32 \t%r3, %r3, 1;"),
                        90, 90);
  Launches first(function(load_by("cuModuleLoadData", one.wrapper()), "add"));
  Launches second(function(load_by("cuModuleLoadData", other.wrapper()), "add"));
  const auto set = [](double own, double version) {
    const auto set_time = symbol<void(const char *, double)>("fake_set_kernel_time");
    set_time("add", own);
    set_time("add__ptxasw_retile_apart_x4", version);
  };
  set(100, 60);
  CHECK(!first.until_a_version_runs().empty());
  first.versions_of(3000);
  set(50, 80);
  CHECK(!second.until_a_version_runs().empty());
  second.versions_of(3000);
});

/// A second size of a kernel.
const Scenario sizes("faster-sizes", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add");
  const auto set_time = symbol<void(const char *, double)>("fake_set_kernel_time");
  const std::string known = std::getenv("FASTER_WINNER");
  CHECK(!Launches(f).until_a_version_runs().empty());
  // What promises least is the fastest.
  set_time(known.c_str(), 30);
  Launches(f).versions_of(6000);
  history();
  Launches second(f, 128);
  std::string first;
  for (int i = 0; i < 3000 && first.empty(); ++i) {
    second.once();
    const std::string said = history();
    if (has(said, "__ptxasw_"))
      first = said;
  }
  CHECK(has(first, "launch " + known + " "));
});

const Scenario verified("faster-verify", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(100);
});

} // namespace
