// Under `ptxasw faster`: when versions are made and loaded, in which contexts and threads they run,
// and when they end. Nothing of it may be in the way of the program.

#include "tests/launch/unprepared.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace host;

namespace {

/// Returns true if there are versions of a kernel that can be loaded.
bool is_answered() {
  for (const auto &file : std::filesystem::directory_iterator(std::getenv("PTXASW_LAUNCH_FASTER")))
    if (file.path().extension() == ".answer")
      return true;
  return false;
}

const Scenario asked_early("faster-early", [] {
  // The program's file has this image. What its GPU is, an earlier run has said, or loading it
  // does. Nothing has been launched when the answer comes, and the first launch finds it.
  const FatBinary image(ptx(), 90, 90);
  const auto are_answered = [] { // all kernels of the file
    const std::string place = std::getenv("PTXASW_LAUNCH_FASTER");
    std::ifstream asked(place + "/early");
    bool any = false;
    for (std::string line; std::getline(asked, line); any = true)
      if (!std::filesystem::exists(place + "/" + line.substr(0, line.find(' ')) + ".answer"))
        return false;
    return any;
  };
  const auto answer_comes = [&] {
    for (int i = 0; i < 60000 && !are_answered(); ++i)
      ::usleep(1000);
    return are_answered();
  };
  const bool known = std::getenv("FASTER_KNOWN") != nullptr;
  CHECK(!known || answer_comes());
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add");
  CHECK(known || answer_comes());
  CHECK(Launches(f).versions_of(40) != 0); // whoever asks at the twelfth gets none so soon
});

const Scenario lives("faster-lives", [] {
  for (int i = 0; i < 60000 && !std::filesystem::exists(std::getenv("FASTER_LIVES")); ++i)
    ::usleep(1000);
});

const Scenario dear("faster-dear", [] {
  // While versions of one kernel are being made, or of two where that is done at once, another is
  // launched often; and then a third one, whose launches take more.
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  const std::filesystem::path place = std::getenv("FASTER_PLACE");
  const auto wait_for = [&](const char *name) {
    for (int i = 0; i < 60000 && !std::filesystem::exists(place / name); ++i)
      ::usleep(1000);
    CHECK(std::filesystem::exists(place / name));
  };
  Launches(function(module, "add")).versions_of(16);
  wait_for("add");
  if (::sysconf(_SC_NPROCESSORS_ONLN) > 2) {
    Launches(function(module, "scaled")).versions_of(16);
    wait_for("scaled");
  }
  Launches(function(module, "biased"), 64).versions_of(40);
  Launches(function(module, "indexed")).versions_of(20);
  std::ofstream(place / "go").put('\n');
  wait_for("biased");
  wait_for("indexed");
});

const Scenario full_queue("faster-full-queue", [] {
  // The queue is never empty. But who waits for room in it loses nothing if it becomes so once.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  for (int i = 0; i < 600 && !is_answered(); ++i) // however long that takes
    launches.versions_of(100);
  CHECK(launches.versions_of(6000) != 0);
});

const Scenario brief("faster-brief", [] {
  // A program that has ended before any version came.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  launches.versions_of(20);
});

const Scenario seldom("faster-seldom", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(launches.versions_of(5) == 0);
  // Nothing is written before it is launched often.
  if (const char *const place = std::getenv("PTXASW_LAUNCH_FASTER"))
    for (const auto &entry : std::filesystem::directory_iterator(place))
      CHECK(entry.path().extension() != ".question" && entry.path().extension() != ".image");
});

const Scenario late_reason("faster-late-reason", [] {
  // All launches are over before the answer is there, and the program is not yet.
  const FatBinary image(ptx(), 90, 90);
  Launches(function(load_by("cuModuleLoadData", image.wrapper()), "waits")).versions_of(20);
  const std::filesystem::path answers = std::getenv("PTXASW_LAUNCH_FASTER");
  const auto is_there = [&] {
    for (const auto &one : std::filesystem::directory_iterator(answers))
      if (one.path().extension() == ".answer")
        return true;
    return false;
  };
  for (int i = 0; i < 30000 && !is_there(); ++i)
    ::usleep(10000);
});

const Scenario remembered("faster-remembered", [] {
  // What an earlier run found runs from the first launch on.
  const FatBinary image(ptx(), 80);
  CHECK(Launches(kernel(library_of(image.wrapper()), "add")).versions_of(5) == 5);
});

const Scenario own_ready("faster-own-ready", [] {
  // Versions run from the first launch on. What holds them against the original later must not make
  // the driver wait for what runs then.
  const FatBinary image(ptx(), 90, 90), other(ptx(), 80);
  Handle f = std::getenv("FASTER_LIBRARY")
                 ? kernel(library_of(other.wrapper()), "add")
                 : function(load_by("cuModuleLoadData", image.wrapper()), "add"),
         spinning = nullptr;
  Launches launches(f);
  const bool own_first = std::getenv("FAKE_LOCAL"); // the original needs more than its versions
  CHECK(launches.versions_of(1) == (own_first ? 0 : 1));
  CHECK(launches.versions_of(20) == 20);
  call<Handle *, unsigned>("cuStreamCreate", &spinning, 1u);
  symbol<void(Handle)>("fake_spin")(spinning);
  int originals = 0;
  for (int i = 0; i < 2000; ++i) {
    launches.once();
    const std::string said = history();
    CHECK(!has(said, "HANGS"));
    originals += !has(said, "__ptxasw_");
  }
  CHECK(originals > 0);
});

const Scenario bounded("faster-bounded", [] {
  // Versions of many kernels are remembered, and the driver takes long to load each: what that
  // takes altogether is what may be waited, and one load more.
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  std::vector<Launches> all;
  for (const char *const name : {"add", "scaled", "biased", "indexed"})
    all.emplace_back(function(module, name));
  constexpr int rounds = 200; // a second
  int versions = 0;
  for (int i = 0; i < rounds; ++i, ::usleep(5000))
    for (Launches &one : all)
      versions += one.versions_of(1);
  if (std::getenv("FASTER_LEARNS"))
    for (Launches &one : all) {
      one.versions_of(20);
      one.until_a_version_runs();
      one.versions_of(600);
    }
  else
    CHECK(versions > 0 && versions <= rounds);
});

const Scenario paid("faster-paid", [] {
  // The same, but what versions of one kernel save pays for loading those of another.
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  Launches first(function(module, "add")), second(function(module, "scaled"));
  CHECK(!first.until_a_version_runs().empty());
  const auto for_a_second = [&] {
    int versions = 0;
    for (int i = 0; i < 200; ++i, ::usleep(5000))
      versions += second.versions_of(1);
    return versions;
  };
  CHECK(for_a_second() == 0);
  first.versions_of(100000); // saves 4 s
  CHECK(for_a_second() != 0);
});

const Scenario only_captured("faster-captured", [] {
  // Whoever waits for versions does not wait for the end of a capture, which the program ends.
  ::alarm(60);
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "scaled"), stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  Launches launches(f);
  symbol<int(Handle, int)>("fake_capture")(stream, 1);
  for (int i = 0; i < 4; ++i)
    launches.once(stream);
  symbol<int(Handle, int)>("fake_capture")(stream, 0);
  CHECK(has(history(), "capture scaled 64,1,1"));
  CHECK(!launches.until_a_version_runs().empty());
});

const Scenario waits_for_us("faster-spin", [] {
  // The driver loads code when nothing runs; while a kernel waits for the program, nothing is
  // loaded.
  const FatBinary image(ptx(), 90, 90);
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add"), spinning = nullptr,
         captured = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &captured, 1u);
  call<Handle *, unsigned, int>("cuStreamCreateWithPriority", &spinning, 1u, 0);
  Launches launches(f);
  const auto for_a_while = [&] {
    int versions = 0;
    for (int i = 0; i < 400; ++i, ::usleep(5000)) {
      launches.once(i % 2 ? nullptr : spinning);
      const std::string said = history();
      CHECK(!has(said, "UNSAFE") && !has(said, "HANGS"));
      versions += has(said, "__ptxasw_");
    }
    return versions;
  };
  symbol<void(Handle)>("fake_spin")(spinning);
  CHECK(for_a_while() == 0);
  symbol<void(Handle)>("fake_spin")(nullptr);
  symbol<int(Handle, int)>("fake_capture")(captured, 1);
  CHECK(for_a_while() == 0);
  symbol<int(Handle, int)>("fake_capture")(captured, 0);
  CHECK(!launches.until_a_version_runs().empty());
});

/// Launches for a while, on streams that are not the busy one; none is a version, and the driver is
/// asked for nothing that would wait or disturb a capture.
void expect_original(Launches &launches) {
  for (int i = 0; i < 300; ++i, ::usleep(5000)) {
    launches.once();
    const std::string said = history();
    CHECK(!has(said, "UNSAFE"));
    CHECK(!has(said, "HANGS"));
    CHECK(!has(said, "launch add__ptxasw_"));
  }
}

const Scenario ended("faster-spin-ended", [] {
  // A stream may end before what runs on it.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  launches.once(stream);
  symbol<void(Handle)>("fake_spin")(stream);
  call<Handle>("cuStreamDestroy_v2", stream);
  expect_original(launches);
});

const Scenario forgotten("faster-spin-forgotten", [] {
  // The end of a context that is not known ends no stream of another one.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(kernel(library_of(image.wrapper()), "add"));
  Handle stream = nullptr;
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  launches.once(stream);
  symbol<void(Handle)>("fake_spin")(stream);
  call<Handle>("cuGreenCtxDestroy", nullptr);
  expect_original(launches);
});

const Scenario unseen_stream("faster-unseen-stream", [] {
  // What is captured on a stream that nobody saw being made is not disturbed, and a graph that runs
  // there may wait for the program.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  Handle stream = symbol<Handle()>("fake_stream")();
  symbol<int(Handle, int)>("fake_capture")(stream, 1);
  expect_original(launches);
  symbol<int(Handle, int)>("fake_capture")(stream, 0);
  call<Handle, Handle>("cuGraphLaunch", nullptr, stream);
  symbol<void(Handle)>("fake_spin")(stream);
  expect_original(launches);
});

const Scenario two_contexts("faster-spin-contexts", [] {
  // The code of a library's kernel is loaded into each context by itself.
  const FatBinary image(ptx(), 90, 90);
  Handle here = nullptr, there = nullptr, stream = nullptr;
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &here, 0);
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &there, 1);
  call<Handle>("cuCtxSetCurrent", here);
  Launches launches(kernel(library_of(image.wrapper()), "add"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  call<Handle>("cuCtxSetCurrent", there);
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  symbol<void(Handle)>("fake_spin")(stream);
  expect_original(launches);
  symbol<void(Handle)>("fake_spin")(nullptr);
  CHECK(!launches.until_a_version_runs().empty());
});

const Scenario again("faster-reload", [] {
  // What is loaded beside a module ends with it, and is there again with the next.
  const FatBinary image(ptx(), 90, 90);
  for (int i = 0; i < 3; ++i) {
    Handle module = load_by("cuModuleLoadData", image.wrapper());
    Launches launches(function(module, "add"));
    CHECK(!launches.until_a_version_runs().empty());
    CHECK(launches.versions_of(600) > 0);
    call<Handle>("cuModuleUnload", module);
    CHECK(history() == "unload\nunload\n");
  }
});

const Scenario early("faster-unload", [] {
  // Modules end while versions of their kernels are being made.
  const FatBinary image(ptx(), 90, 90);
  for (int i = 0; i < 20; ++i) {
    Handle module = load_by("cuModuleLoadData", image.wrapper());
    Launches launches(function(module, "add"));
    launches.versions_of(14);
    call<Handle>("cuModuleUnload", module);
    ::usleep(20000);
  }
});

const Scenario early_context("faster-ended-context", [] {
  // The same of contexts, and of libraries. What is made meanwhile is for who asks next.
  const FatBinary image(ptx(), 90, 90);
  Handle primary = nullptr, context = nullptr;
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &primary, 0);
  for (int i = 0; i < 10; ++i) {
    call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
    Handle library = i % 2 ? library_of(image.wrapper()) : nullptr;
    Launches launches(library ? kernel(library, "add")
                              : function(load_by("cuModuleLoadData", image.wrapper()), "add"));
    launches.versions_of(14);
    if (library)
      call<Handle>("cuLibraryUnload", library);
    call<Handle>("cuCtxDestroy_v2", context);
    ::usleep(20000);
  }
  call<Handle>("cuCtxSetCurrent", primary);
  Launches last(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(!last.until_a_version_runs().empty());
  last.versions_of(600);
  CHECK(last.versions_of(20) == 20);
});

std::string written_to_a_file(const std::string &image) {
  const std::string path = std::string(std::getenv("TMPDIR")) + "/image.ptx";
  std::ofstream(path) << image;
  return path;
}

const Scenario contexts("faster-contexts", [] {
  // The driver hands out the handles of what ended with its context for what is loaded unseen.
  const FatBinary image(ptx(), 90, 90);
  const std::string path = written_to_a_file(ptx());
  Handle primary = nullptr, context = nullptr;
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &primary, 0);
  call<Handle>("cuCtxSetCurrent", primary);
  Handle outside = load_by("cuModuleLoadData", image.wrapper());
  Launches stay(function(outside, "add"));
  CHECK(!stay.until_a_version_runs().empty());
  stay.versions_of(600);
  call<Handle *, unsigned, int>("cuCtxCreate_v2", &context, 0, 0);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  CHECK(!Launches(function(module, "add")).until_a_version_runs().empty());
  call<Handle>("cuCtxDestroy_v2", context);
  history();
  // What another context holds is still there, and is not loaded anew.
  call<Handle>("cuCtxSetCurrent", primary);
  CHECK(stay.versions_of(20) == 20);
  // One of the two is the handle of the program's module, the other of the versions.
  std::array<Handle, 2> unseen{};
  for (Handle &one : unseen)
    call<Handle *, const char *>("cuModuleLoad", &one, path.c_str());
  CHECK(unseen[0] == module || unseen[1] == module);
  for (const Handle one : unseen) {
    Launches launches(function(one, "add"));
    for (int i = 0; i < 300; ++i) {
      CHECK(launches.versions_of(1) == 0);
      ::usleep(1000);
    }
  }
});

const Scenario released("faster-released", [] {
  // Who lets go of a context that others hold ends nothing.
  const FatBinary image(ptx(), 90, 90);
  Handle primary = nullptr;
  for (int i = 0; i < 2; ++i)
    call<Handle *, int>("cuDevicePrimaryCtxRetain", &primary, 0);
  call<Handle>("cuCtxSetCurrent", primary);
  Handle library = library_of(image.wrapper());
  Launches launches(kernel(library, "scaled"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  call<int>("cuDevicePrimaryCtxRelease_v2", 0);
  CHECK(launches.versions_of(20) == 20);
  // The last ends the addresses of variables, and no library.
  history();
  call<int>("cuDevicePrimaryCtxRelease_v2", 0);
  CHECK(history().empty());
  call<Handle>("cuLibraryUnload", library);
  CHECK(history() == "unload\nunload\n");
});

const Scenario other_stream("faster-stream", [] {
  // A library's kernel runs in the context of its stream, whichever is current.
  const FatBinary image(ptx(), 90, 90);
  Handle here = nullptr, there = nullptr, stream = nullptr, near = nullptr;
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &here, 0);
  call<Handle *, int>("cuDevicePrimaryCtxRetain", &there, 1);
  call<Handle>("cuCtxSetCurrent", there);
  call<Handle *, unsigned>("cuStreamCreate", &stream, 1u);
  call<Handle>("cuCtxSetCurrent", here);
  call<Handle *, unsigned>("cuStreamCreate", &near, 1u);
  Launches launches(kernel(library_of(image.wrapper()), "scaled"));
  // Nothing is loaded for here while it runs there.
  for (int i = 0; i < 300; ++i) {
    launches.once(stream);
    ::usleep(1000);
  }
  CHECK(!has(history(), "__ptxasw_"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  launches.once(near);
  CHECK(has(history(), "__ptxasw_"));
  launches.once(stream);
  CHECK(!has(history(), "__ptxasw_"));
});

const Scenario stuck("faster-stuck", [] {
  // A thread that never comes back from the driver does not keep the program from ending.
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  Launches(function(module, "add")).versions_of(3);
  Handle other = function(module, "scaled");
  symbol<void()>("fake_stick")();
  std::thread([other] { launch(other); }).detach();
  for (int i = 0; i < 300000 && symbol<int()>("fake_has_stuck")() == 0; ++i)
    ::usleep(1000);
  CHECK(symbol<int()>("fake_has_stuck")() != 0);
  ::alarm(600); // ends a hang
});

const Scenario threads("faster-threads", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  std::vector<std::thread> all;
  std::atomic<bool> faster = false;
  for (const char *name : {"add", "scaled", "add", "scaled"})
    all.emplace_back([f = function(module, name), &faster] {
      Launches launches(f);
      // All of them go on until a version runs, and then for a while; five minutes end a hang.
      for (int i = 0, after = 0; i < 600000 && after < 200; ++i, after += faster) {
        launches.once();
        ::usleep(500);
      }
    });
  for (int i = 0; i < 300000 && !faster; ++i, ::usleep(1000))
    faster = symbol<int(const char *)>("fake_noted")("launch add__ptxasw_") != 0;
  for (std::thread &one : all)
    one.join();
  CHECK(faster);
});

const Scenario crowd("faster-crowd", [] {
  // Threads load, launch and unload, while versions are made, come, and run in others.
  const FatBinary image(ptx(), 90, 90);
  std::atomic<bool> faster = false;
  std::vector<std::thread> all;
  for (const char *name : {"add", "scaled", "biased", "add"})
    all.emplace_back([name, &image, &faster] {
      for (int i = 0, after = 0; i < 300 && after < 5; ++i, after += faster) {
        const bool as_library = i % 2;
        Handle owner =
            as_library ? library_of(image.wrapper()) : load_by("cuModuleLoadData", image.wrapper());
        Launches launches(as_library ? kernel(owner, name) : function(owner, name));
        for (int j = 0; j < 40; ++j, ::usleep(200))
          launches.once();
        call<Handle>(as_library ? "cuLibraryUnload" : "cuModuleUnload", owner);
      }
    });
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  for (int i = 0; i < 60000 && !faster; ++i, ::usleep(1000)) {
    launches.once();
    faster = symbol<int(const char *)>("fake_noted")("launch add__ptxasw_") != 0;
  }
  for (std::thread &one : all)
    one.join();
  CHECK(faster);
});

const Scenario forked("faster-fork", [] {
  // The child is the one that uses the GPU; and one whose parent has used it does not.
  if (::fork() == 0) {
    const FatBinary image(ptx(), 90, 90);
    expect_faster(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(0);
    ::waitpid(child, nullptr, 0);
    std::exit(0);
  }
  int status = 0;
  CHECK(::wait(&status) > 0 && status == 0);
  CHECK(::wait(&status) < 0); // no child that the program did not start
});

} // namespace
