// Programs that nobody has prepared, under `ptxasw faster`: their PTX is in what they load.

#include "tests/launch/host.h"

#include <array>
#include <cstring>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace host;

namespace {

/// What nvcc makes of `to[i] = from[i] + 1`, of the same with a `__device__` variable, and with a
/// `__constant__` one.
std::string kernel_text(const std::string &name, const std::string &load) {
  return ".visible .entry " + name + "(\n\t.param .u64 " + name + "_param_0,\n\t.param .u64 " +
         name + "_param_1,\n\t.param .u32 " + name + R"(_param_2
)
{
	.reg .pred 	%p<2>;
	.reg .b32 	%r<8>;
	.reg .b64 	%rd<8>;
	ld.param.u64 	%rd1, [)" +
         name + "_param_0];\n\tld.param.u64 	%rd2, [" + name +
         "_param_1];\n\tld.param.u32 	%r2, [" + name + R"(_param_2];
	mov.u32 	%r3, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r3, %r4, %r5;
	setp.ge.s32 	%p1, %r1, %r2;
	@%p1 bra 	$done;
	cvta.to.global.u64 	%rd3, %rd2;
	mul.wide.s32 	%rd4, %r1, 4;
	add.s64 	%rd5, %rd3, %rd4;
	ld.global.u32 	%r6, [%rd5];
	)" +
         load +
         R"(
	add.s32 	%r7, %r6, %r3;
	cvta.to.global.u64 	%rd6, %rd1;
	add.s64 	%rd7, %rd6, %rd4;
	st.global.u32 	[%rd7], %r7;
$done:
	ret;
}
)";
}

std::string ptx() {
  return "//\n// Generated\n.version 8.0\n.target sm_90\n.address_size 64\n"
         ".global .align 4 .b8 gain[16];\n.const .align 4 .u32 bias;\n" +
         kernel_text("add", "mov.u32 \t%r3, 1;") +
         kernel_text("scaled", "ld.global.u32 \t%r3, [gain+4];") +
         kernel_text("biased", "ld.const.u32 \t%r3, [bias];") + kernel_text("waits", "bar.sync 0;");
}

/// A fat binary with PTX for one architecture and, if it is asked for, machine code for another.
class FatBinary {
public:
  FatBinary(const std::string &text, unsigned ptx_sm, unsigned code_sm = 0) {
    bytes_.assign("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    bytes_.resize(16);
    if (code_sm != 0)
      add(2, code_sm, text);
    add(1, ptx_sm, text);
    const std::uint64_t size = bytes_.size() - 16;
    std::memcpy(bytes_.data() + 8, &size, sizeof size);
    wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
  }
  const void *data() const { return bytes_.data(); }
  const void *wrapper() const { return &wrapper_; }

private:
  void add(std::uint16_t kind, std::uint32_t sm, const std::string &text) {
    std::array<char, 64> header{};
    const auto put = [&](std::size_t at, auto number) {
      std::memcpy(header.data() + at, &number, sizeof number);
    };
    put(0, kind);
    put(2, std::uint16_t{0x101});
    put(4, std::uint32_t{64});
    put(8, static_cast<std::uint64_t>((text.size() + 8) / 8 * 8));
    put(28, sm);
    bytes_.append(header.data(), header.size());
    bytes_ += text;
    bytes_.append((text.size() + 8) / 8 * 8 - text.size(), '\0');
  }

  struct Wrapper {
    std::uint32_t magic, version;
    const void *data;
    const void *list;
  };
  std::string bytes_;
  Wrapper wrapper_{};
};

Handle load_by(const char *door, const void *image) {
  Handle module = nullptr;
  call<Handle *, const void *>(door, &module, image);
  return module;
}

/// Memory of the fake's: n numbers.
std::uint64_t memory(unsigned n) {
  std::uint64_t address = 0;
  call<std::uint64_t *, std::size_t>("cuMemAlloc_v2", &address, n * sizeof(int));
  std::memset(reinterpret_cast<void *>(address), 0, n * sizeof(int));
  return address;
}

constexpr unsigned elements = 64 * 256;

/// Launches of one kernel on memory of their own; each result is looked at.
class Launches {
public:
  explicit Launches(Handle function)
      : function_(function), to_(memory(elements)), from_(memory(elements)) {}

  void once(Handle stream = nullptr) {
    unsigned n = elements;
    void *list[] = {&to_, &from_, &n};
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(function_, 64, 1, 1, 256, 1, 1, 0, stream, list,
                                                   nullptr) == 0);
  }
  void once_with_a_buffer() {
    struct {
      std::uint64_t to, from;
      unsigned n;
    } packed{to_, from_, elements};
    std::size_t bytes = 20;
    void *extra[] = {reinterpret_cast<void *>(1), &packed, reinterpret_cast<void *>(2), &bytes,
                     nullptr};
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(function_, 64, 1, 1, 256, 1, 1, 0, nullptr,
                                                   nullptr, extra) == 0);
  }
  /// Waits for a version to be launched; the line of history, or nothing after five minutes.
  std::string until_a_version_runs() {
    for (int i = 0; i < 300000; ++i) {
      once();
      const std::string said = history();
      if (has(said, "__ptxasw_") && has(said, "launch "))
        return said;
      ::usleep(1000);
    }
    return "";
  }
  /// So many launches; how many of them were versions.
  int versions_of(int launches) {
    history();
    int found = 0;
    for (int i = 0; i < launches; ++i) {
      once();
      found += has(history(), "__ptxasw_");
    }
    return found;
  }

private:
  Handle function_;
  std::uint64_t to_, from_;
};

void expect_faster(Handle f) {
  Launches launches(f);
  CHECK(launches.versions_of(11) == 0 || std::getenv("FASTER_KNOWN"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  CHECK(launches.versions_of(50) == 50);
}

const Scenario wrapped("faster-module", [] {
  const FatBinary image(ptx(), 90, 90);
  expect_faster(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
});

const Scenario bare("faster-fat-binary", [] {
  const FatBinary image(ptx(), 90, 90);
  expect_faster(function(load_by("cuModuleLoadFatBinary", image.data()), "add"));
});

const Scenario text("faster-text", [] {
  const std::string image = ptx();
  expect_faster(function(load_by("cuModuleLoadData", image.c_str()), "add"));
});

const Scenario compiled("faster-nvrtc", [] {
  // As CuPy does: machine code from NVRTC, which is found by dlsym().
  void *const nvrtc = ::dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
  CHECK(nvrtc);
  const std::string program = ptx();
  std::size_t size = 0;
  reinterpret_cast<int (*)(const char *, std::size_t *)>(::dlsym(nvrtc, "nvrtcGetCUBINSize"))(
      program.c_str(), &size);
  std::string code(size, '\0');
  CHECK(reinterpret_cast<int (*)(const char *, char *)>(::dlsym(nvrtc, "nvrtcGetCUBIN"))(
            program.c_str(), code.data()) == 0);
  expect_faster(function(load_by("cuModuleLoadData", code.data()), "add"));
});

Handle library_of(const void *image) {
  Handle library = nullptr;
  call<Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned>(
      "cuLibraryLoadData", &library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return library;
}

const Scenario in_library("faster-library", [] {
  const FatBinary image(ptx(), 80);
  expect_faster(kernel(library_of(image.wrapper()), "add"));
});

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

const Scenario seldom("faster-seldom", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(launches.versions_of(5) == 0);
});

/// Kernels that stay as they are: `biased`, or what the environment names.
const Scenario kept("faster-kept", [] {
  const char *const code = std::getenv("FASTER_CODE"), *const name = std::getenv("FASTER_KERNEL");
  const FatBinary image(ptx(), 80, code ? static_cast<unsigned>(std::atoi(code)) : 0);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), name ? name : "biased"));
  for (int i = 0; i < 1000; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
  }
});

const Scenario verified("faster-verify", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(100);
});

const Scenario no_ptx("faster-no-ptx", [] {
  const std::string image = "fake\nkernel add 100 1 8 8 4\n";
  Launches launches(function(load(image), "add"));
  CHECK(launches.versions_of(30) == 0);
});

const Scenario brief("faster-brief", [] {
  // A program that has ended before any version came.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  launches.versions_of(20);
});

const Scenario threads("faster-threads", [] {
  const FatBinary image(ptx(), 90, 90);
  Handle module = load_by("cuModuleLoadData", image.wrapper());
  std::vector<std::thread> all;
  for (const char *name : {"add", "scaled", "add", "scaled"})
    all.emplace_back([f = function(module, name)] {
      Launches launches(f);
      for (int i = 0; i < 2000; ++i) {
        launches.once();
        ::usleep(500);
      }
    });
  for (std::thread &one : all)
    one.join();
  CHECK(has(history(), "launch add__ptxasw_"));
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
