// The ways to cuLaunchKernel, and those in which libraries that stand in them have died.

#include "tests/launch/host.h"

#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" __attribute__((weak)) int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned,
                                                    unsigned, unsigned, unsigned, void *, void **,
                                                    void **);

using namespace host;
using namespace ptxasw::wrapper::launch;

namespace {

const std::string redirected = "launch add__ptxasw_retile_apart_x4 16,1,1 256,1,1 0 ";

/// Asks cuGetProcAddress, itself found by cuGetProcAddress as cudart does.
void *named(const char *name, int version, std::uint64_t flags) {
  using Find = int(const char *, void **, int, std::uint64_t, int *);
  void *find = nullptr, *result = nullptr;
  int status = -1;
  CHECK(symbol<Find>("cuGetProcAddress_v2")("cuGetProcAddress", &find, 12000, 0, &status) == 0);
  CHECK(reinterpret_cast<Find *>(find)(name, &result, version, flags, &status) == 0);
  CHECK(result && status == 0);
  return result;
}

int launch_by(void *address, Handle function) {
  Arguments arguments;
  return reinterpret_cast<LaunchFunction *>(address)(function, 64, 1, 1, 256, 1, 1, 0, nullptr,
                                                     arguments.list, nullptr);
}

LaunchConfig config() { return {{64, 1, 1}, {256, 1, 1}, 0, nullptr, nullptr, 0}; }

int launch_ex(void *address, const LaunchConfig &config, Handle function) {
  Arguments arguments;
  return reinterpret_cast<LaunchExFunction *>(address)(&config, function, arguments.list, nullptr);
}

const Scenario by_symbol("dlsym", [] {
  Handle f = function(load(image()), "add");
  CHECK(launch(f) == 0);
  CHECK(has(history(), redirected + "plain device0 * * 0 64"));
  CHECK(launch_by(::dlsym(driver(), "cuLaunchKernel_ptsz"), f) == 0);
  CHECK(has(history(), redirected + "plain-ptsz device0 * * 0 64"));
});

const Scenario by_name("get-proc-address", [] {
  Handle f = function(load(image()), "add");
  CHECK(launch_by(named("cuLaunchKernel", 4000, 0), f) == 0);
  CHECK(has(history(), redirected + "plain "));
  CHECK(launch_by(named("cuLaunchKernel", 12000, per_thread_stream), f) == 0);
  CHECK(has(history(), redirected + "plain-ptsz "));
  CHECK(launch_ex(named("cuLaunchKernelEx", 12000, 0), config(), f) == 0);
  CHECK(has(history(), redirected + "ex "));
  CHECK(launch_ex(named("cuLaunchKernelEx", 12000, per_thread_stream), config(), f) == 0);
  CHECK(has(history(), redirected + "ex-ptsz "));
  // The first version, with four arguments, gives the first version.
  using Find = int(const char *, void **, int, std::uint64_t);
  void *first = nullptr, *launcher = nullptr;
  CHECK(symbol<Find>("cuGetProcAddress")("cuGetProcAddress", &first, 11030, 0) == 0);
  CHECK(reinterpret_cast<Find *>(first)("cuLaunchKernel", &launcher, 11030, 0) == 0);
  CHECK(launch_by(launcher, f) == 0);
  CHECK(has(history(), redirected));
  // A name that does not exist, and one of another library.
  void *nothing = nullptr;
  CHECK(symbol<Find>("cuGetProcAddress")("cuNoSuchThing", &nothing, 12000, 0) != 0);
  CHECK(!nothing);
  CHECK(named("cuEventCreate", 12000, 0) == ::dlsym(driver(), "cuEventCreate"));
});

const Scenario default_lookup("dlsym-null", [] {
  // Before any driver is there, none of its functions is.
  CHECK(!::dlsym(nullptr, "cuLaunchKernel"));
  CHECK(::dlerror());
  CHECK(!::dlsym(RTLD_NEXT, "cuLaunchKernel"));
  CHECK(::dlsym(nullptr, "printf") && ::dlsym(RTLD_NEXT, "printf"));
  CHECK(!::dlsym(nullptr, "no_such_symbol"));
  void *const global = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  CHECK(global);
  void *const found = ::dlsym(nullptr, "cuLaunchKernel");
  CHECK(found && found == ::dlsym(global, "cuLaunchKernel"));
  CHECK(launch_by(found, function(load(image()), "add")) == 0);
  CHECK(has(history(), redirected));
});

const Scenario next("rtld-next", [] {
  // Another library that stands before the driver, and looks past itself for it: dlsym() must see
  // its caller, not us, or it finds itself. It adds 1000 to the shared memory.
  void *const global = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  CHECK(global);
  Handle f = function(load(image()), "add");
  CHECK(launch_by(::dlsym(RTLD_DEFAULT, "cuLaunchKernel"), f) == 0);
  CHECK(has(history(), "launch add__ptxasw_retile_apart_x4 16,1,1 256,1,1 1000 "));
});

const Scenario recursion("recursion", [] {
  // The fake looks its functions up by dlsym(), as drivers do, while it answers; were it given our
  // functions, they would call themselves.
  Handle f = function(load(image()), "add");
  void *const first = named("cuLaunchKernel", 12000, 0), *const second =
                                                             named("cuLaunchKernel", 12000, 0);
  CHECK(first == second && first == ::dlsym(driver(), "cuLaunchKernel"));
  for (int i = 0; i < 3; ++i)
    CHECK(launch_by(first, f) == 0);
  CHECK(has(history(), redirected));
});

const Scenario deep_bind("deepbind", [] {
  Handle f = function(load(image()), "add");
  CHECK(launch(f) == 0);
  CHECK(has(history(), redirected));
  // Such a library's unloads are not seen; from then on originals are launched.
  CHECK(::dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND));
  CHECK(launch(f) == 0);
  CHECK(has(history(), "launch add 64,1,1"));
});

const Scenario newer("newer-driver", [] {
  // A driver of the future answers for a version that we do not know with another signature.
  using Ex2 = int(Handle, void **, const LaunchConfig *);
  void *const ex = named("cuLaunchKernelEx", 14000, 0);
  Handle f = function(load(image()), "add");
  Arguments arguments;
  const LaunchConfig plain = config();
  CHECK(reinterpret_cast<Ex2 *>(ex)(f, arguments.list, &plain) == 0);
  CHECK(has(history(), "launch add 64,1,1 256,1,1 0 ex-2"));
  // What it still has of what we know is ours.
  CHECK(launch_ex(named("cuLaunchKernelEx", 13000, 0), plain, f) == 0);
  CHECK(has(history(), redirected + "ex "));
  CHECK(launch_by(named("cuLaunchKernel", 14000, 0), f) == 0);
  CHECK(has(history(), redirected + "plain "));
});

const Scenario attributes("attributes", [] {
  Handle f = function(load(image()), "add");
  void *const ex = ::dlsym(driver(), "cuLaunchKernelEx");
  LaunchAttribute list[2] = {};
  LaunchConfig with = config();
  with.attributes = list;
  with.attribute_count = 2;
  const auto sibling = [&](int id, int number) {
    list[1].id = id;
    list[1].value.number = number;
    CHECK(launch_ex(ex, with, f) == 0);
    return has(history(), redirected);
  };
  CHECK(sibling(attribute_priority, 3));
  CHECK(sibling(attribute_cooperative, 0));
  CHECK(sibling(attribute_programmatic_serialization, 1));
  CHECK(!sibling(attribute_cooperative, 1));
  CHECK(!sibling(4, 2));     // a cluster
  CHECK(!sibling(7, 1));     // an event when all blocks allow it
  CHECK(!sibling(13, 1));    // a node that the device updates
  CHECK(!sibling(99, 0));    // unknown
  with.attributes = nullptr; // the fake does not mind
  CHECK(launch_ex(ex, with, f) == 0);
  CHECK(has(history(), "launch add 64,1,1"));
});

const Scenario cooperative("cooperative", [] {
  Handle f = function(load(image()), "add");
  Arguments arguments;
  using Cooperative = int(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, Handle, void **);
  CHECK(symbol<Cooperative>("cuLaunchCooperativeKernel")(f, 64, 1, 1, 256, 1, 1, 0, nullptr,
                                                         arguments.list) == 0);
  CHECK(has(history(), "launch add 64,1,1 256,1,1 0 cooperative"));
});

const Scenario linked("no-driver", [] {
  // A program that links the driver's functions weakly and finds ours, and no driver.
  Arguments arguments;
  CHECK(cuLaunchKernel);
  CHECK(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments.list, nullptr) ==
        not_initialized);
  CHECK(!::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD));
});

const Scenario forked("fork", [] {
  // A child that is forked before the GPU was used may use it; one that is forked later gets what
  // it would get without us, and neither hangs.
  const auto in_child = [](const std::function<void()> &run) {
    const pid_t child = ::fork();
    if (child == 0) {
      run();
      std::_Exit(0);
    }
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  };
  in_child([] {
    CHECK(launch(function(load(image()), "add")) == 0);
    CHECK(has(history(), redirected));
  });
  Handle module = load(image());
  Handle f = function(module, "add");
  CHECK(launch(f) == 0);
  in_child([&] {
    history();
    CHECK(launch(f) == 0);
    CHECK(has(history(), "launch add 64,1,1"));
    call<Handle>("cuModuleUnload", module);
  });
  CHECK(launch(f) == 0);
  CHECK(has(history(), redirected));
});

const Scenario threads("threads", [] {
  // Four threads launch, one loads and unloads, all at once.
  Handle const common = function(load(image()), "add");
  std::vector<std::thread> all;
  for (int t = 0; t < 4; ++t)
    all.emplace_back([&, t] {
      Handle own = function(load(image()), "add");
      for (int i = 0; i < 2000; ++i) {
        CHECK(launch(i % 2 ? common : own, 64, nullptr, 0, {i % 3 ? 256u : 128u, 1, 1}) == 0);
        if (i % 100 == 0 && t == 0)
          own = function(load(image()), "add");
      }
    });
  all.emplace_back([] {
    for (int i = 0; i < 200; ++i) {
      Handle module = load(image());
      CHECK(launch(function(module, "add")) == 0);
      call<Handle>("cuModuleUnload", module);
    }
  });
  for (std::thread &thread : all)
    thread.join();
  CHECK(has(history(), redirected));
});

} // namespace
