// Choosing: by measuring, by a profile, and what is said about it.

#include "tests/launch/host.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace host;
using namespace ptxasw::wrapper::launch;

namespace {

const std::string sibling = "launch add__ptxasw_retile_apart_x4 ";

int count(const std::string &text, const std::string &part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

/// Launches this many times; returns how often the sibling ran.
int siblings_of(Handle f, int launches, unsigned n = 0) {
  Arguments arguments;
  arguments.n = n;
  history();
  for (int i = 0; i < launches; ++i)
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, 64, 1, 1, 256, 1, 1, 0, nullptr,
                                                   arguments.list, nullptr) == 0);
  return count(history(), sibling);
}

/// A kernel whose sibling takes as long as the environment says.
Handle kernel_of(const char *variable) {
  const char *text = std::getenv(variable);
  return function(load(image("", text ? std::atof(text) : 60)), "add");
}

const Scenario measure("measure", [] {
  // Fast siblings are found soon, and stay.
  Handle f = function(load(image("", 60)), "add");
  CHECK(siblings_of(f, 12) == 0);
  siblings_of(f, 600);
  CHECK(siblings_of(f, 50) == 50);
});

const Scenario measure_covered("measure-covered", [] {
  // What won where 16,384 threads cover a number is not for a larger one in the same grid.
  Handle f = function(load(image("\"covered\":[[2,0,0,1,2]],")), "add");
  siblings_of(f, 612, 16386);
  CHECK(siblings_of(f, 50, 16386) == 50);
  CHECK(siblings_of(f, 50, 16387) == 0);
  CHECK(siblings_of(f, 50, 0) == 0);
  CHECK(siblings_of(f, 50, 1) == 50);
});

const Scenario another_shape("measure-another-shape", [] {
  // What one shape of launches has shown comes first in the next: by rule of thumb it would be x4.
  const std::string x8 = "add__ptxasw_retile_apart_x8";
  std::string text = image("", 90);
  const auto put = [&](const std::string &before, const std::string &what) {
    text.insert(text.find(before), what);
  };
  put("table add", "kernel " + x8 + " 40 1 8 8 4 4\n");
  put("]}\n",
      ",{\"name\":\"" + x8 +
          "\",\"family\":\"retile\",\"kind\":\"apart\",\"grid\":[8,1,1],\"append\":[\"grid.x\"],"
          "\"needs\":{\"cooperative\":false,\"cluster\":false}}");
  Handle f = function(load(text), "add");
  const auto first_of = [&](unsigned threads, int launches) {
    history();
    for (int i = 0; i < launches; ++i)
      CHECK(launch(f, 6400, nullptr, 0, {threads, 1, 1}) == 0);
    const std::string seen = history();
    const auto at = seen.find("launch add__ptxasw_");
    return at == std::string::npos ? "" : seen.substr(at + 7, x8.size());
  };
  CHECK(sibling == "launch " + first_of(256, 1000) + " ");
  CHECK(first_of(256, 20) == x8);
  CHECK(first_of(64, 60) == x8);
});

const Scenario other_blocks("measure-resized", [] {
  // So are blocks of another extent.
  Handle f = function(load(resized_image()), "add");
  const auto resized_of = [&](int launches) {
    history();
    for (int i = 0; i < launches; ++i)
      CHECK(launch(f) == 0);
    return count(history(), "launch add__ptxasw_resize_b64 256,1,1 64,1,1");
  };
  resized_of(612);
  CHECK(resized_of(50) == 50);
});

const Scenario measure_slow("measure-slow", [] {
  // Slow ones cost next to nothing: 200 launches of a program.
  Handle f = function(load(image("", 300)), "add");
  const double before = symbol<double()>("fake_now")();
  const int tried = siblings_of(f, 200);
  CHECK(tried >= 1 && tried <= 3);
  const double original = 0.1 * 1.005; // the driver adds up to 1 %
  CHECK(symbol<double()>("fake_now")() - before < 200 * original * 1.012);
  siblings_of(f, 2000);
  CHECK(siblings_of(f, 500) == 0);
});

const Scenario tune_blocks("tune-resized", [] {
  Handle f = function(load(resized_image()), "add");
  for (int i = 0; i < 100; ++i)
    CHECK(launch(f) == 0);
});

const Scenario broken("broken", [] {
  // Two kernels of three and two versions; the environment says which of them computes nonsense.
  const auto kernel = [](const std::string &name, int versions) {
    std::string text = "fake\nkernel " + name + " 100 1 8 8 4\n", list;
    for (int i = 1; i <= versions; ++i) {
      const std::string sibling = name + "__ptxasw_v" + std::to_string(i);
      text += "kernel " + sibling + " 60 1 8 8 4\n";
      list += std::string(i > 1 ? "," : "") + "{\"name\":\"" + sibling +
              "\",\"family\":\"f\",\"kind\":\"k\",\"grid\":[2,1,1],\"append\":[],\"needs\":{"
              "\"cooperative\":false,\"cluster\":false}}";
    }
    return function(load(text + "table " + name + " {\"kernel\":\"" + name +
                         "\",\"hash\":\"0123456789abcdef\",\"parameters\":[[0,8],[8,8],[16,4]],"
                         "\"siblings\":[" +
                         list + "]}\n"),
                    name.c_str());
  };
  const char *wrong = std::getenv("BROKEN");
  Handle first = kernel("add", 3), second = kernel("scale", 2);
  CHECK(launch(first) == 0 && launch(second) == 0);
  CHECK(!wrong || !has(history(), std::string("launch ") + wrong + " "));
});

const Scenario equal("measure-equal", [] {
  // Equal code comes out equal.
  for (int i = 0; i < 20; ++i) {
    Handle f = function(load(image("\"max_block\":" + std::to_string(900 + i) + ",", 100)), "add");
    siblings_of(f, 300);
    CHECK(siblings_of(f, 100) == 0);
  }
});

const Scenario pending("measure-late", [] {
  // A program that never waits: nothing is known of its launches, and they go on.
  symbol<void(int)>("fake_set_late")(1);
  Handle f = function(load(image("", 60)), "add");
  CHECK(siblings_of(f, 200) < 20);
  call<Handle>("cuStreamSynchronize", nullptr);
  symbol<void(int)>("fake_set_late")(0);
  siblings_of(f, 600);
  CHECK(siblings_of(f, 50) >= 49); // one may be a check
});

const Scenario ahead("measure-ahead", [] {
  // A program that launches everything at once and then waits: it gains all the same.
  symbol<void(int)>("fake_set_timed")(1);
  for (const int microseconds : {10, 60}) {
    const std::string needs = "\"max_block\":" + std::to_string(900 + microseconds) + ",";
    CHECK(siblings_of(function(load(image(needs, microseconds)), "add"), 300) > 100);
  }
  Handle f = function(load(image("", 500)), "add");
  CHECK(siblings_of(f, 300) < 4);
  // Of long launches many are under way when it is first known how long they take.
  std::string text = image("\"max_block\":900,", 1600);
  text.replace(text.find(" 100 "), 5, " 3200 ");
  CHECK(siblings_of(function(load(text), "add"), 105) > 40);
  symbol<void(int)>("fake_set_timed")(0);
});

const Scenario short_kernel("measure-short", [] {
  // A pair of events takes longer than the kernel, and hides by how much the sibling is faster.
  symbol<void(double)>("fake_set_event_time")(0.005);
  const auto kernel = [](double original, double sibling_us, int number) {
    std::string text = image("\"max_block\":" + std::to_string(900 + number) + ",", sibling_us);
    const std::string before = "kernel add 100 ";
    text.replace(text.find(before), before.size(), "kernel add " + std::to_string(original) + " ");
    return function(load(text), "add");
  };
  Handle f = kernel(10.5, 7, 0);
  siblings_of(f, 20000);
  CHECK(siblings_of(f, 50) >= 49); // one may be a check
  // Measuring is not what it pays with.
  const double before = symbol<double()>("fake_now")();
  f = kernel(10.5, 14, 1);
  siblings_of(f, 20000);
  CHECK(siblings_of(f, 50) == 0);
  CHECK(symbol<double()>("fake_now")() - before < 20050 * 0.0105 * 1.005 * 1.012);
  // Very short ones are left alone.
  f = kernel(3.6, 2.3, 4);
  CHECK(siblings_of(f, 20050) == 0);
  // Where other kernels come between, nobody can tell, and the original stays.
  f = kernel(3.6, 2.3, 2);
  Handle other = function(load("fake\nkernel other 3 1 8 8 4\n"), "other");
  for (int i = 0; i < 5000; ++i)
    CHECK(launch(f) == 0 && launch(other) == 0);
  CHECK(siblings_of(f, 50) == 0);
  // Longer ones are timed one by one then.
  f = kernel(15, 9, 3);
  for (int i = 0; i < 5000; ++i)
    CHECK(launch(f) == 0 && launch(other) == 0);
  CHECK(siblings_of(f, 50) == 50);
  symbol<void(double)>("fake_set_event_time")(0);
});

const Scenario run_of_streams("measure-run-streams", [] {
  // A null stream is another one in each context: what is launched in turns is no run.
  symbol<void(double)>("fake_set_event_time")(0.005);
  std::string text = image("", 7);
  const std::string before = "kernel add 100 ";
  text.replace(text.find(before), before.size(), "kernel add 10.5 ");
  Handle f = kernel(load_library(text), "add"), first = nullptr, second = nullptr;
  call<Handle *>("cuCtxGetCurrent", &first);
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &second, 0, 0);
  history();
  for (int i = 0; i < 2000; ++i) {
    call<Handle>("cuCtxSetCurrent", i % 2 ? first : second);
    CHECK(launch(f) == 0);
  }
  CHECK(!has(history(), "RECORDED ELSEWHERE"));
  symbol<void(double)>("fake_set_event_time")(0);
});

const Scenario meanwhile("measure-meanwhile", [] {
  // While a launch of a run is under way, another thread's launches end that run and begin the
  // next, in which the first one has no part: or it would be taken for shorter than it is.
  symbol<void(double)>("fake_set_event_time")(0.005);
  std::string text = image("\"max_block\":907,", 7);
  const std::string before = "kernel add 100 ";
  text.replace(text.find(before), before.size(), "kernel add 10.5 ");
  static Handle f = function(load(text), "add");
  static int others;
  for (int i = 0; i < 3000; ++i) {
    others = 1 + i % 37;
    if (i % 5 == 0)
      symbol<void(void (*)())>("fake_set_meanwhile")([] {
        std::thread([] {
          for (int k = 0; k < others; ++k)
            CHECK(launch(f) == 0);
        }).join();
      });
    CHECK(launch(f) == 0);
  }
  symbol<void(double)>("fake_set_event_time")(0);
});

const Scenario long_kernel("measure-long", [] {
  // A hundred launches of 3 ms, all sent off at once: a trial is made before they have paid for it,
  // and one that loses is the last.
  symbol<void(int)>("fake_set_timed")(1);
  const auto run = [](double sibling_us, int number) {
    std::string text = image("\"max_block\":" + std::to_string(900 + number) + ",", sibling_us);
    const std::string before = "kernel add 100 ";
    text.replace(text.find(before), before.size(), "kernel add 3000 ");
    return siblings_of(function(load(text), "add"), 105);
  };
  CHECK(run(1600, 0) > 40);
  CHECK(run(6000, 1) == 1);
  symbol<void(int)>("fake_set_timed")(0);
});

const Scenario later("measure-later", [] {
  // What was chosen is held against the original now and then.
  Handle f = function(load(image("", 60)), "add");
  siblings_of(f, 600);
  const auto most = [&](int launches) { return siblings_of(f, launches) > launches * 98 / 100; };
  CHECK(most(10000));
  symbol<void(const char *, double)>("fake_set_kernel_time")("add__ptxasw_retile_apart_x4", 98);
  CHECK(most(10000));                       // as long as it is no slower
  if (std::getenv("PTXASW_LAUNCH_RESULTS")) // which are not written more often than that
    std::this_thread::sleep_for(std::chrono::seconds(3));
  symbol<void(const char *, double)>("fake_set_kernel_time")("add__ptxasw_retile_apart_x4", 106);
  siblings_of(f, 10000);
  CHECK(siblings_of(f, 1000) == 0);
  if (std::getenv("ENDS_AT_ONCE"))
    ::_exit(0);
});

const Scenario ended("measure-ended-context", [] {
  // Events end with their context, those that wait and those to be used again; the next context may
  // lie where the last one was. The fake driver bears none of an earlier one.
  const auto late = symbol<void(int)>("fake_set_late");
  for (const bool destroys : {true, false, true}) {
    Handle context = nullptr;
    if (destroys) {
      call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
    } else {
      call<Handle *, int>("cuDevicePrimaryCtxRetain", &context, 0);
      call<Handle>("cuCtxSetCurrent", context);
    }
    Handle f = function(load(image("\"max_block\":" + std::to_string(901) + ",", 60)), "add");
    siblings_of(f, 40); // open: some have been timed, and some wait
    late(1);
    siblings_of(f, 5);
    late(0);
    if (destroys)
      call<Handle>("cuCtxDestroy_v2", context);
    else
      call<int>("cuDevicePrimaryCtxRelease_v2", 0);
  }
  Handle context = nullptr;
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
  Handle f = function(load(image("\"max_block\":" + std::to_string(901) + ",", 60)), "add");
  siblings_of(f, 1000);
  CHECK(siblings_of(f, 50) == 50);
});

const Scenario numbers("measure-numbers", [] {
  // One grid, and a number among the arguments says how much is done: of little the sibling is
  // faster, of much it is slower. Each has a choice of its own once that is seen.
  Handle f = function(load(image("", 60)), "add");
  const auto set = symbol<void(const char *, double)>("fake_set_kernel_time");
  const auto siblings = [&](bool much, int launches) {
    set("add", much ? 1000 : 100);
    set("add__ptxasw_retile_apart_x4", much ? 1500 : 60);
    return siblings_of(f, launches, much ? 1'000'000 : 1000);
  };
  siblings(false, 700);
  CHECK(siblings(false, 100) >= 99);
  siblings(true, 3000); // three pairs of checks and a few trials
  CHECK(siblings(true, 100) <= 1);
  siblings(false, 200); // little is a size of its own by now
  CHECK(siblings(false, 100) >= 99);
  // That those of much stay says nothing about those of little in between.
  siblings(true, 300);
  int found = 0;
  for (int i = 0; i < 300; ++i) {
    CHECK(siblings(true, 1) == 0);
    found += siblings(false, 1);
  }
  CHECK(found >= 297);
});

const Scenario open_numbers("measure-numbers-open", [] {
  // That times depend on a number is seen before anything is decided.
  Handle f = function(load(image("", 60)), "add");
  const auto set = symbol<void(const char *, double)>("fake_set_kernel_time");
  for (int i = 0; i < 2000; ++i) {
    const bool much = i % 2 != 0;
    set("add", much ? 1000 : 100);
    set("add__ptxasw_retile_apart_x4", much ? 600 : 60);
    siblings_of(f, 1, much ? 1'000'000 : 1000);
  }
});

const Scenario later_numbers("measure-numbers-later", [] {
  // Launches that are too short for trials, and then one number is larger: of these the sibling is
  // faster.
  symbol<void(double)>("fake_set_event_time")(0.005);
  Handle f = function(load(image("", 3)), "add");
  const auto set = symbol<void(const char *, double)>("fake_set_kernel_time");
  set("add", 4);
  CHECK(siblings_of(f, 5000, 1000) == 0);
  set("add", 1000);
  set("add__ptxasw_retile_apart_x4", 600);
  siblings_of(f, 6000, 1'000'000);
  CHECK(siblings_of(f, 100, 1'000'000) >= 99); // one may be a check
  set("add", 4);
  set("add__ptxasw_retile_apart_x4", 3);
  CHECK(siblings_of(f, 5000, 1000) <= 50); // what the other size has shown is tried once
  symbol<void(double)>("fake_set_event_time")(0);
});

const Scenario numbers_of_runs("measure-numbers-short", [] {
  // Single launches of little and runs of launches of much take equally long: that pairs of events
  // make single ones longer is no reason to keep the two apart.
  symbol<void(double)>("fake_set_event_time")(0.005);
  std::string text = image("", 7);
  const std::string before = "kernel add 100 ";
  text.replace(text.find(before), before.size(), "kernel add 10.5 ");
  Handle f = function(load(text), "add");
  siblings_of(f, 11, 1000); // three of them timed
  siblings_of(f, 20000, 1'000'000);
  CHECK(siblings_of(f, 50, 1000) >= 49); // one may be a check
  symbol<void(double)>("fake_set_event_time")(0);
});

const Scenario few_blocks("measure-few-blocks", [] {
  // Four blocks on two multiprocessors: one block of four is not tried.
  Handle f = function(load(image("", 60)), "add");
  history();
  for (int i = 0; i < 300; ++i)
    CHECK(launch(f, 4) == 0);
  CHECK(count(history(), sibling) == 0);
  siblings_of(f, 600); // 64 blocks
  CHECK(siblings_of(f, 50) == 50);
});

const Scenario in_capture("measure-capture", [] {
  // While nothing is decided, a captured launch is the original's, without events around it.
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 0);
  Handle f = function(load(image("", 60)), "add");
  call<Handle, int>("fake_capture", stream, 1);
  for (int i = 0; i < 100; ++i)
    CHECK(launch(f, 64, stream) == 0);
  call<Handle, int>("fake_capture", stream, 0);
  const std::string seen = history();
  CHECK(count(seen, "capture add 64,1,1") == 100 && !has(seen, "RECORDED") && !has(seen, "UNSAFE"));
  // Another thread's capture is not disturbed by measuring.
  siblings_of(f, 5);
  call<Handle, int>("fake_capture", stream, 1);
  for (int i = 0; i < 600; ++i)
    CHECK(launch(f) == 0);
  const std::string during = history();
  CHECK(has(during, sibling) && !has(during, "UNSAFE"));
  CHECK(launch(f, 64, stream) == 0);
  CHECK(has(history(), "capture add__ptxasw_retile_apart_x4"));
});

const Scenario contexts("measure-contexts", [] {
  // One thread asks for the times of launches in another context while that ends.
  symbol<void(int)>("fake_set_late")(1);
  Handle f = kernel(load_library(image("", 60)), "add"), first = nullptr, second = nullptr;
  call<Handle *>("cuCtxGetCurrent", &first);
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &second, 0, 0);
  siblings_of(f, 13);
  symbol<void(int)>("fake_answer_slowly")(100);
  std::thread other([f] { CHECK(launch(f) == 0); });
  while (symbol<int(Handle)>("fake_is_asked")(second) == 0)
    std::this_thread::yield();
  call<Handle>("cuCtxDestroy_v2", second);
  other.join();
  const std::string seen = history();
  CHECK(!has(seen, "ENDS WHILE ASKED") && !has(seen, "HAS ENDED"));
  symbol<void(int)>("fake_answer_slowly")(0);
  symbol<void(int)>("fake_set_late")(0);
  call<Handle>("cuCtxSetCurrent", first);
  // What ends in another context leaves a context's own events as they are.
  siblings_of(f, 20);
  const int events = symbol<int()>("fake_events")();
  for (int i = 0; i < 100; ++i) {
    CHECK(launch(f) == 0);
    call<Handle *, unsigned, int>("cuCtxCreate_v2", &second, 0, 0);
    call<Handle>("cuCtxDestroy_v2", second);
    call<Handle>("cuCtxSetCurrent", first);
  }
  CHECK(symbol<int()>("fake_events")() < events + 10);
});

const Scenario never_back("measure-stuck", [] {
  // A thread never comes back from the driver, which the helper asks in the middle of a change.
  Handle f = kernel(load_library(image("", 60)), "add");
  siblings_of(f, 600);
  CHECK(siblings_of(f, 50) == 50);
  symbol<void()>("fake_stick")();
  std::thread([f] {
    Handle other = nullptr;
    call<Handle *, unsigned, int>("cuCtxCreate_v2", &other, 0, 1);
    launch(f);
  }).detach();
  while (symbol<int()>("fake_has_stuck")() == 0)
    std::this_thread::yield();
  ::alarm(60); // ends a hang
});

const Scenario tune("tune", [] {
  Handle f = kernel_of("SIBLING_US");
  siblings_of(f, 100);
  siblings_of(function(load(image("\"block\":[[1,1,1]],")), "add"), 3);
  CHECK(launch(f, 4096, nullptr, 0, {128, 1, 1}) == 0); // too seldom to say
});

const Scenario warm("profiled", [] {
  // With a profile nothing is measured, and the first launch is what won.
  Handle f = kernel_of("SIBLING_US");
  const bool wins = std::getenv("SIBLING_WINS");
  CHECK(siblings_of(f, 5) == (wins ? 5 : 0));
  CHECK(launch(f, 4096, nullptr, 0, {128, 1, 1}) == 0);
  CHECK(has(history(), "launch add 4096,1,1"));
});

const Scenario verifying("verify", [] {
  const char *wrong = std::getenv("SIBLING_WRITES");
  std::string text = image("", 60, wrong ? std::atoi(wrong) : 1);
  if (std::getenv("ANY_ORDER"))
    text.insert(text.find("\"parameters\""), "\"any_order\":true,");
  Handle f = function(load(text), "add");
  std::uint64_t to = 0, from = 0;
  call<std::uint64_t *, std::size_t>("cuMemAlloc_v2", &to, 4000);
  call<std::uint64_t *, std::size_t>("cuMemAlloc_v2", &from, 4000);
  for (unsigned i = 0; i < 1000; ++i)
    reinterpret_cast<int *>(from)[i] = static_cast<int>(i);
  // Also in place: the original must not run on what it has written.
  for (const std::uint64_t target : {to, from}) {
    Arguments arguments;
    arguments.to = target;
    arguments.from = from;
    arguments.n = 1000;
    void *list[] = {&arguments.to, &arguments.from, &arguments.n};
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(f, 4, 1, 1, 256, 1, 1, 0, nullptr, list,
                                                   nullptr) == 0);
    CHECK(reinterpret_cast<int *>(target)[7] == 8 || std::getenv("ANY_ORDER"));
  }
  const std::string seen = history();
  CHECK(has(seen, "launch add 4,1,1") == !std::getenv("FAKE_FULL") && has(seen, sibling + "1,1,1"));
});

const Scenario cost("cost", [] {
  // What the helper adds to a launch, in nanoseconds; with FAKE_IDLE, so that the driver takes
  // none. Of four blocks a sibling would leave one, which measuring does not try: the original's.
  using Clock = std::chrono::steady_clock;
  const std::string needs = "\"align\":[[0,0,16],[1,0,16]],\"divisible\":[[2,0,4,4]],";
  auto *const run = symbol<LaunchFunction>("cuLaunchKernel");
  Arguments arguments;
  const auto tell = [&](const char *what, const std::string &text, unsigned blocks) {
    Handle f = function(load(text), "add");
    double best = 1e9;
    for (int repeat = 0; repeat < 50; ++repeat) {
      const auto start = Clock::now();
      for (int i = 0; i < 10000; ++i)
        run(f, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments.list, nullptr);
      best = std::min(best, std::chrono::duration<double, std::nano>(Clock::now() - start).count() /
                                10000);
    }
    std::printf("%s siblings: %.1f ns per launch\n", what, best);
  };
  tell("without", "fake\nkernel add 100 1 8 8 4\n", 64);
  tell("decided against", image(needs), 4); // while there is no other choice
  tell("with", image(needs), 64);
});

const Scenario jit("jit", [] {
  // The images that are PTX, by all the ways in.
  const std::string text = "// made by somebody\n.version 8.0\n.target sm_90\n";
  load(text);
  load_library(text);
  Handle module = nullptr;
  call<Handle *, const void *, unsigned, int *, void **>("cuModuleLoadDataEx", &module,
                                                         text.c_str(), 0, nullptr, nullptr);
  call<void *, int, void *, std::size_t, const char *, unsigned, int *, void **>(
      "cuLinkAddData_v2", nullptr, jit_input_ptx, const_cast<char *>(text.c_str()), text.size(), "",
      0, nullptr, nullptr);
  // Another kind of image is not examined.
  load("fake\nkernel add 100 1 8 8 4\n");
  std::printf("%s", history().c_str());
});

} // namespace
