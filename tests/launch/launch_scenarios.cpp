// What must hold for a sibling, how its arguments are made, and handles that come and go.

#include "tests/launch/host.h"

#include <cstdint>
#include <utility>
#include <vector>

using namespace host;
using namespace ptxasw::wrapper::launch;

namespace {

const std::string sibling = "launch add__ptxasw_retile_apart_x4 ";
const std::string original = "launch add ";

/// Launches once and says if a sibling ran.
bool goes(Handle f, unsigned grid = 64, unsigned shared = 0, Extents block = {256, 1, 1}) {
  CHECK(launch(f, grid, nullptr, shared, block) == 0);
  const std::string seen = history();
  CHECK(has(seen, sibling) != has(seen, original));
  return has(seen, sibling);
}

/// As a program allows its kernel more shared memory.
void allow(Handle f, int bytes) {
  call<Handle, int, int>("cuFuncSetAttribute", f, 8, bytes);
  history();
}

bool goes_with(Handle f, Arguments arguments, unsigned grid = 64) {
  void *list[] = {&arguments.to, &arguments.from, &arguments.n};
  CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, grid, 1, 1, 256, 1, 1, 0, nullptr, list,
                                                 nullptr) == 0);
  return has(history(), sibling);
}

const Scenario needs("needs", [] {
  const auto with = [](const std::string &text) { return function(load(image(text)), "add"); };
  Handle f = with("\"block\":[[128,1,1],[16,16,1]],");
  CHECK(!goes(f) && goes(f, 64, 0, {128, 1, 1}) && goes(f, 64, 0, {16, 16, 1}));
  CHECK(!goes(f, 64, 0, {128, 2, 1}));
  f = with("\"max_block\":256,");
  CHECK(goes(f) && !goes(f, 64, 0, {512, 1, 1}));
  f = with("\"min_grid\":[32,1,1],");
  CHECK(goes(f, 32) && !goes(f, 31));
  f = with("\"dynamic_shared\":\"none\",");
  CHECK(goes(f) && !goes(f, 64, 16));
  f = with("\"dynamic_shared\":\"times:4\",");
  allow(f, 58240);
  CHECK(goes(f) && goes(f, 64, 12289) && goes(f, 64, 58112) && !goes(f, 64, 58113));
  f = with("");
  CHECK(goes(f, 64, 1024) && goes(f, 64, 49152));
  f = with("\"align\":[[0,0,16],[1,0,8]],");
  CHECK(goes_with(f, {0x1010, 0x2008, 4}));
  CHECK(!goes_with(f, {0x1008, 0x2008, 4}) && !goes_with(f, {0x1010, 0x2004, 4}));
  f = with("\"divisible\":[[2,0,4,4]],");
  CHECK(goes_with(f, {16, 16, 8}) && goes_with(f, {16, 16, 0}) && !goes_with(f, {16, 16, 7}));
  f = with("\"divisible\":[[0,0,8,3]],");
  CHECK(goes_with(f, {0xfffffffffffffffc, 16, 8}) == (0xfffffffffffffffcu % 3 == 0));
});

const Scenario large_shared("large-shared", [] {
  // The driver is told once of each size beyond 48 KB that is larger than those before.
  Handle f = function(load(image("\"dynamic_shared\":\"times:4\",")), "add");
  const auto runs = [&](Handle which, unsigned shared, const std::string &bytes, bool is_told) {
    CHECK(launch(which, 64, nullptr, shared) == 0);
    const std::string seen = history();
    CHECK(has(seen, sibling + "16,1,1 256,1,1 " + bytes + " plain"));
    CHECK(has(seen, "allow add__ptxasw_retile_apart_x4 " + bytes + " ") == is_told);
    CHECK(has(seen, "allow ") == is_told);
  };
  runs(f, 1, "512", false);
  runs(f, 12288, "49152", false);
  runs(f, 12289, "49664", true);
  runs(f, 12290, "49664", false);
  runs(f, 20000, "80384", true);
  runs(f, 12289, "49664", false);
  runs(f, 20096, "80384", false);
  // What the kernel may not have, its version does not make possible; and what the program allows
  // the kernel stays as it is.
  CHECK(launch(f, 64, nullptr, 49153) != 0 && history().empty());
  allow(f, 58240);
  runs(f, 58112, "232448", true);
  CHECK(!goes(f, 64, 58113)); // more than the device has
  CHECK(launch(f, 64, nullptr, 58241) != 0 && history().empty());
  int most = 0;
  call<int *, int, Handle>("cuFuncGetAttribute", &most, 8, f);
  CHECK(most == 58240);
  // A version that has no other dynamic memory than the kernel is allowed as much, too.
  f = function(load(image()), "add");
  allow(f, 60000);
  runs(f, 60000, "60000", true);
  runs(f, 59999, "59999", false);
  // Handles that are looked up again: what was allowed does not become less.
  Handle other = load(image());
  CHECK(goes(function(other, "add")));
  call<Handle>("cuModuleUnload", other);
  history();
  runs(f, 50000, "50000", false);
  runs(f, 60000, "60000", false);
  // A kernel of a library is allowed it on each device.
  Handle k = kernel(load_library(image("\"dynamic_shared\":\"times:4\",")), "add");
  runs(k, 20000, "80384", true);
  Handle first = nullptr, second = nullptr;
  call<Handle *>("cuCtxGetCurrent", &first);
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &second, 0, 1);
  runs(k, 20000, "80384", true);
  runs(k, 19000, "76288", false);
  call<Handle>("cuCtxSetCurrent", first);
  runs(k, 20000, "80384", false);
  // In a graph, from whose node the program's size follows.
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 0);
  call<Handle, int>("fake_capture", stream, 1);
  CHECK(launch(k, 64, stream, 30080) == 0 && launch(k, 64, stream, 30079) == 0);
  call<Handle, int>("fake_capture", stream, 0);
  const std::string seen = history();
  CHECK(has(seen, "capture add__ptxasw_retile_apart_x4 16,1,1 256,1,1 120320 ") &&
        has(seen, "capture add 64,1,1 256,1,1 30079 ") && !has(seen, "UNSAFE"));
  for (const auto &[index, bytes] : {std::pair(0, 30080u), std::pair(1, 30079u)}) {
    KernelNode2 node;
    call<Handle, KernelNode2 *>("cuGraphKernelNodeGetParams_v2",
                                symbol<void *(int)>("fake_node")(index), &node);
    CHECK(node.kernel == k && node.shared_bytes == bytes);
  }
  // The driver does not want to.
  f = function(load(image("\"dynamic_shared\":\"times:4\",")), "add");
  symbol<void(const char *)>("fake_refuse")("__ptxasw_");
  CHECK(!goes(f, 64, 20000));
  symbol<void(const char *)>("fake_refuse")("");
  CHECK(!goes(f, 64, 20000) && !goes(f));
});

const Scenario covered("covered", [] {
  // 16,384 threads cover a number, and 512; the next launch in the same grid may have another one.
  Handle f = function(load(image("\"covered\":[[2,0,0,3,5]],")), "add");
  for (int again = 0; again < 3; ++again) {
    CHECK(goes_with(f, {16, 16, 16389}) && goes_with(f, {16, 16, 3}));
    CHECK(!goes_with(f, {16, 16, 16390}) && !goes_with(f, {16, 16, 2}));
    CHECK(!goes_with(f, {16, 16, ~0u}) && !goes_with(f, {16, 16, 0x80000000}));
    CHECK(goes_with(f, {16, 16, 517}, 2) && !goes_with(f, {16, 16, 518}, 2));
  }
  // More threads than 32 bits count cover any.
  CHECK(goes_with(f, {16, 16, ~0u}, 1u << 24) && goes_with(f, {16, 16, 16390}, 1u << 24));
  struct Packed {
    std::uint64_t to = 16, from = 32;
    std::uint32_t n = 0;
  } packed;
  std::size_t size = 20;
  void *extra[] = {extra_buffer, &packed, extra_size, &size, extra_end};
  const LaunchConfig config{{64, 1, 1}, {256, 1, 1}, 0, nullptr, nullptr, 0};
  for (const auto &[n, fits] : {std::pair(16389u, true), std::pair(16390u, false)}) {
    packed.n = n;
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr,
                                                   extra) == 0);
    CHECK(has(history(), sibling) == fits);
    CHECK(symbol<LaunchExFunction>("cuLaunchKernelEx")(&config, f, nullptr, extra) == 0);
    CHECK(has(history(), sibling) == fits);
  }
});

const Scenario seen_launches("seen-launches", [] {
  // Launches that were seen are not looked at again: more of them than are remembered.
  Handle f = function(
      load(image("\"align\":[[1,0,16]],\"divisible\":[[2,0,4,4]],\"max_extent\":[25600,1,1],")),
      "add");
  for (int again = 0; again < 3; ++again)
    for (unsigned grid = 1; grid < 400; ++grid) {
      const bool fits = grid <= 100;
      CHECK(goes_with(f, {16, 16, 8}, grid) == fits);
      CHECK(!goes_with(f, {16, 24, 8}, grid) && !goes_with(f, {16, 16, 9}, grid));
      CHECK(goes_with(f, {17, 32, 4}, grid) == fits);
    }
});

const Scenario limits("limits", [] {
  // The sibling's registers allow fewer threads than the launch has.
  Handle f = function(load(image("", 60, 1, "add__ptxasw_narrow")), "add");
  CHECK(launch(f, 64, nullptr, 0, {256, 1, 1}) == 0);
  CHECK(has(history(), original));
  CHECK(launch(f, 64, nullptr, 0, {128, 1, 1}) == 0);
  CHECK(has(history(), "launch add__ptxasw_narrow 16,1,1 128,1,1"));
});

const Scenario grids("grids", [] {
  Handle f = function(load(image()), "add");
  Arguments arguments;
  const auto run = [&](unsigned x, unsigned y, unsigned z) {
    return symbol<LaunchFunction>("cuLaunchKernel")(f, x, y, z, 256, 1, 1, 0, nullptr,
                                                    arguments.list, nullptr);
  };
  CHECK(run(1, 1, 1) == 0 && has(history(), sibling + "1,1,1 256,1,1 0 plain device0 * * 0 1\n"));
  CHECK(run(5, 3, 2) == 0 && has(history(), sibling + "2,3,2 256,1,1 0 plain device0 * * 0 5\n"));
  CHECK(run(2147483647, 65535, 65535) == 0);
  CHECK(has(history(), sibling + "536870912,65535,65535"));
  // What the driver refuses, it refuses as before.
  CHECK(run(0, 1, 1) == 1 && run(1, 0, 1) == 1 && history().empty());
});

const Scenario buffers("extra", [] {
  Handle f = function(load(image()), "add");
  struct Packed {
    std::uint64_t to = 16, from = 32;
    std::uint32_t n = 77;
  } packed;
  std::size_t size = 20;
  void *extra[] = {extra_buffer, &packed, extra_size, &size, extra_end};
  auto *const run = symbol<LaunchFunction>("cuLaunchKernel");
  CHECK(run(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra) == 0);
  CHECK(has(history(), sibling + "16,1,1 256,1,1 0 plain device0 * * 77 64\n"));
  void *turned[] = {extra_size, &size, extra_buffer, &packed, extra_end};
  CHECK(run(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, turned) == 0);
  CHECK(has(history(), sibling));
  size = 24; // with what the compiler padded
  CHECK(run(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra) == 0);
  CHECK(has(history(), sibling));
  size = 19; // too short: the driver says so
  CHECK(run(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra) == 1);
  CHECK(run(f, 64, 1, 1, 256, 1, 1, 0, nullptr, nullptr, nullptr) == 1);
  CHECK(history().empty());
});

const Scenario no_parameters("no-parameters", [] {
  Handle f = function(load("fake\nkernel k 10 0\nkernel k__ptxasw_s 5 0 4 4\n"
                           "table k {\"kernel\":\"k\",\"hash\":\"0000000000000000\","
                           "\"parameters\":[],\"siblings\":[{\"name\":\"k__ptxasw_s\","
                           "\"family\":\"f\",\"kind\":\"k\",\"grid\":[2,3,1],"
                           "\"append\":[\"grid.y\",\"grid.x\"],"
                           "\"needs\":{\"cooperative\":false,\"cluster\":false}}]}\n"),
                      "k");
  auto *const run = symbol<LaunchFunction>("cuLaunchKernel");
  CHECK(run(f, 9, 10, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr) == 0);
  CHECK(has(history(), "launch k__ptxasw_s 5,4,1 32,1,1 0 plain device0 10 9\n"));
});

const Scenario odd_tables("odd-tables", [] {
  const std::string kernel = "fake\nkernel add 100 1 8 8 4\n";
  for (const std::string &table :
       {std::string(), std::string("raw add 00\n"),
        std::string("raw add 5054584153575300ff000000\n"),
        std::string("raw add 50545841535753000200000002000000 7b7d\n"),
        std::string("raw add 505458415357530001000000ffffffff7b7d\n"),
        std::string("raw add 5054584153575300010000000200000000ff\n"),
        std::string("table add {}\n"), std::string("table add []\n"),
        // of another kernel, of no siblings, and of a sibling that is not there
        std::string(
            "table add {\"kernel\":\"sub\",\"hash\":\"\",\"parameters\":[],\"siblings\":[]}\n"),
        std::string(
            "table add {\"kernel\":\"add\",\"hash\":\"\",\"parameters\":[],\"siblings\":[]}\n"),
        std::string(
            "table add {\"kernel\":\"add\",\"hash\":\"\",\"parameters\":[[0,8],[8,8],[16,4]],"
            "\"siblings\":[{\"name\":\"gone\",\"family\":\"f\",\"kind\":\"k\",\"grid\":[4,1,1],"
            "\"append\":[],\"needs\":{\"cooperative\":false,\"cluster\":false}}]}\n")})
    for (int i = 0; i < 2; ++i) {
      Handle f = function(load(kernel + table), "add");
      CHECK(launch(f) == 0 && launch(f) == 0);
      const std::string seen = history();
      CHECK(!has(seen, "ptxasw") && has(seen, original));
    }
  CHECK(launch(nullptr) == 400);
});

const Scenario library("library", [] {
  // A CUkernel, which cuLaunchKernel takes like a CUfunction.
  Handle library = load_library(image());
  Handle k = kernel(library, "add");
  CHECK(goes(k));
  // The same handle is for every context.
  Handle context = nullptr;
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 1);
  CHECK(launch(k) == 0);
  CHECK(has(history(), sibling + "16,1,1 256,1,1 0 plain device1"));
  call<Handle>("cuLibraryUnload", library);
});

const Scenario reused("reuse", [] {
  // An address that was a kernel with a sibling is another kernel now, and vice versa.
  const std::string plain = "fake\nkernel add 100 1 8 8 4\nkernel mul 1 1 8 8 4\n";
  Handle module = load(image());
  Handle f = function(module, "add");
  Handle s = function(module, "add__ptxasw_retile_apart_x4");
  CHECK(goes(f));
  call<Handle>("cuModuleUnload", module);
  module = load(plain);
  Handle again = function(module, "add"), other = function(module, "mul");
  CHECK((again == f || again == s) && (other == f || other == s));
  history();
  CHECK(launch(again) == 0 && launch(other) == 0);
  CHECK(has(history(), "launch add 64,1,1 256,1,1 0 plain device0 * * 0\nlaunch mul 64,1,1"));
  call<Handle>("cuModuleUnload", module);
  module = load(image());
  history();
  CHECK(goes(function(module, "add")));
  // The same by libraries, and by the end of a context.
  Handle library = load_library(image());
  CHECK(goes(kernel(library, "add")));
  call<Handle>("cuLibraryUnload", library);
  library = load_library(plain);
  history();
  CHECK(!goes(kernel(library, "add")));
  Handle context = nullptr;
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
  CHECK(goes(function(load(image()), "add")));
  call<Handle>("cuCtxDestroy_v2", context);
  CHECK(goes(function(load(image()), "add")));
  call<int>("cuDevicePrimaryCtxRelease_v2", 0);
  call<int>("cuDevicePrimaryCtxReset_v2", 0);
});

const Scenario refused("refused", [] {
  // The driver does not want the sibling: the original runs, now and from then on.
  Handle f = function(load(image()), "add");
  symbol<void(const char *)>("fake_refuse")("ptxasw");
  CHECK(!goes(f));
  symbol<void(const char *)>("fake_refuse")("");
  CHECK(!goes(f));
  // An error of something earlier is not taken for a refusal.
  f = function(load(image("\"max_block\":512,")), "add");
  symbol<void(const char *)>("fake_refuse")("add");
  CHECK(launch(f) == 701);
  symbol<void(const char *)>("fake_refuse")("");
  CHECK(goes(f));
});

const Scenario graphs("graph", [] {
  Handle f = function(load(image()), "add");
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 0);
  // Captured before it was ever launched: even finding the siblings must not disturb the capture.
  call<Handle, int>("fake_capture", stream, 1);
  CHECK(launch(f, 61, stream) == 0);
  call<Handle, int>("fake_capture", stream, 0);
  const std::string seen = history();
  CHECK(has(seen, "capture add__ptxasw_retile_apart_x4 16,1,1") && !has(seen, "UNSAFE") &&
        !has(seen, "RECORDED"));
  // Asking for the node's parameters shows the launch that was made.
  void *const node = symbol<void *(int)>("fake_node")(0);
  KernelNode first;
  call<Handle, KernelNode *>("cuGraphKernelNodeGetParams", node, &first);
  CHECK(first.function == f && first.grid == (Extents{61, 1, 1}) &&
        first.block == (Extents{256, 1, 1}));
  CHECK(*static_cast<std::uint64_t *>(first.parameters[1]) == 0x2000);
  KernelNode2 second;
  call<Handle, KernelNode2 *>("cuGraphKernelNodeGetParams_v2", node, &second);
  CHECK(second.function == f && second.grid == (Extents{61, 1, 1}) && !second.kernel);
  // A library's.
  Handle k = kernel(load_library(image()), "add");
  call<Handle, int>("fake_capture", stream, 1);
  CHECK(launch(k, 60, stream) == 0);
  call<Handle, int>("fake_capture", stream, 0);
  call<Handle, KernelNode2 *>("cuGraphKernelNodeGetParams_v2", symbol<void *(int)>("fake_node")(1),
                              &second);
  CHECK(!second.function && second.kernel == k && second.grid == (Extents{60, 1, 1}));
});

const Scenario resized("resized", [] {
  // Blocks of 64 threads along x instead of what the program asks for, all of its threads in them.
  const std::string other = "launch add__ptxasw_resize_b64 ";
  Handle f = function(load(resized_image()), "add");
  Arguments arguments;
  const auto run = [&](Extents grid, Extents block) {
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, grid.x, grid.y, grid.z, block.x, block.y,
                                                   block.z, 0, nullptr, arguments.list,
                                                   nullptr) == 0);
    return history();
  };
  CHECK(has(run({10, 1, 1}, {256, 1, 1}), other + "40,1,1 64,1,1 0 plain device0 * * 0 10 256\n"));
  CHECK(has(run({10, 3, 2}, {33, 2, 4}), other + "6,3,2 64,2,4 0 plain device0 * * 0 10 33\n"));
  CHECK(has(run({1, 1, 1}, {1, 1, 1}), other + "1,1,1 64,1,1 0 plain device0 * * 0 1 1\n"));
  CHECK(has(run({0x7fffffff, 1, 1}, {1, 1, 1}), other + "33554432,1,1 64,1,1"));
  // No other block, more threads than a block may have, more than an index holds.
  CHECK(has(run({10, 1, 1}, {64, 4, 1}), original + "10,1,1 64,4,1"));
  CHECK(has(run({10, 1, 1}, {32, 32, 1}), original));
  CHECK(has(run({0x1000000, 1, 1}, {128, 1, 1}), original));
  // From a buffer.
  struct Packed {
    std::uint64_t to = 16, from = 32;
    std::uint32_t n = 77;
  } packed;
  std::size_t size = 20;
  void *extra[] = {extra_buffer, &packed, extra_size, &size, extra_end};
  CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, 3, 1, 1, 128, 1, 1, 0, nullptr, nullptr,
                                                 extra) == 0);
  CHECK(has(history(), other + "6,1,1 64,1,1 0 plain device0 * * 77 3 128\n"));
  // Captured, a node tells of the launch that was made.
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 0);
  call<Handle, int>("fake_capture", stream, 1);
  CHECK(launch(f, 61, stream, 0, {33, 2, 1}) == 0);
  call<Handle, int>("fake_capture", stream, 0);
  CHECK(has(history(), "capture add__ptxasw_resize_b64 32,1,1 64,2,1"));
  KernelNode node;
  call<Handle, KernelNode *>("cuGraphKernelNodeGetParams", symbol<void *(int)>("fake_node")(0),
                             &node);
  CHECK(node.function == f && node.grid == (Extents{61, 1, 1}) &&
        node.block == (Extents{33, 2, 1}));
  // Where no thread may be to spare.
  f = function(load(resized_image("\"extent_multiple\":[64,1,1],")), "add");
  CHECK(has(run({10, 1, 1}, {32, 1, 1}), other + "5,1,1 64,1,1"));
  CHECK(has(run({11, 1, 1}, {32, 1, 1}), original));
});

const Scenario no_siblings("no-siblings", [] {
  Handle f = function(load("fake\nkernel add 100 1 8 8 4\n"), "add");
  for (int i = 0; i < 100; ++i)
    CHECK(launch(f) == 0);
  CHECK(!has(history(), "ptxasw"));
});

const Scenario many("many-functions", [] {
  // More than the table of handles has places for.
  std::string text = "fake\n";
  for (int i = 0; i < 3000; ++i)
    text += "kernel k" + std::to_string(i) + " 1 0 8 8 4\n";
  std::vector<Handle> all{function(load(image()), "add")};
  for (int m = 0; m < 8; ++m) {
    Handle module = load(text);
    for (int i = 0; i < 3000; ++i)
      all.push_back(function(module, ("k" + std::to_string(i)).c_str()));
  }
  for (int round = 0; round < 2; ++round)
    for (Handle f : all)
      CHECK(launch(f) == 0);
  const std::string seen = history();
  CHECK(has(seen, sibling) && !has(seen, original));
});

const Scenario off("off", [] { CHECK(!goes(function(load(image()), "add"))); });

} // namespace
