// Programs that nobody has prepared, under `ptxasw faster`: their PTX is in what they load.

#include "tests/launch/host.h"

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
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
	mov.u32 	%r0, %ctaid.x;
	mov.u32 	%r4, %ntid.x;
	mov.u32 	%r5, %tid.x;
	mad.lo.s32 	%r1, %r0, %r4, %r5;
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
         ".global .attribute(.unified(1, 2)) .align 4 .b8 tagged[16];\n" +
         kernel_text("attributed", "ld.global.u32 \t%r3, [tagged+4];") +
         kernel_text("biased", "ld.const.u32 \t%r3, [bias];") +
         kernel_text("indexed", "mov.u64 \t%rd0, bias;\n\tadd.s64 \t%rd0, %rd0, 0;\n"
                                "\tld.const.u32 \t%r3, [%rd0];") +
         // Where it lies in constant memory is another number than where it lies in global memory.
         kernel_text("stores", "mov.u64 \t%rd0, bias;\n\tcvt.u32.u64 \t%r3, %rd0;") +
         kernel_text("mixed", "mov.u64 \t%rd0, bias;\n\t@%p1 mov.u64 \t%rd0, 16;\n"
                              "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("summed", "mov.u64 \t%rd0, bias;\n\tadd.s64 \t%rd0, %rd0, %rd0;\n"
                               "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("generic", "cvta.const.u64 \t%rd0, bias;\n\tld.u32 \t%r3, [%rd0];") +
         kernel_text("anywhere", "ld.const.u32 \t%r3, [bias];\n\tcvt.u64.u32 \t%rd0, %r2;\n"
                                 "\tld.const.u32 \t%r3, [%rd0];") +
         kernel_text("waits", "bar.sync 0;") +
         ".global .texref picture;\n.global .attribute(.managed) .align 4 .b8 everywhere[16];\n"
         ".extern .global .align 4 .b8 elsewhere[16];\n"
         ".extern .func (.param .b32 result) vprintf (.param .b64 format, .param .b64 values);\n" +
         kernel_text("looks_up", "tex.1d.v4.u32.s32 \t{%r3, %r5, %r6, %r7}, [picture, {%r1}];") +
         kernel_text("manages", "ld.global.u32 \t%r3, [everywhere+4];") +
         kernel_text("links", "ld.global.u32 \t%r3, [elsewhere+4];") +
         kernel_text("prints",
                     "{\n\t.param .b64 format, values;\n\t.param .b32 result;\n"
                     "\tst.param.b64 \t[format], %rd1;\n\tst.param.b64 \t[values], %rd2;\n"
                     "\tcall.uni \t(result), vprintf, (format, values);\n"
                     "\tld.param.b32 \t%r3, [result];\n\t}") +
         kernel_text("starts", "mov.u64 \t%rd0, add;\n\tcvt.u32.u64 \t%r3, %rd0;");
}

/// A fat binary with PTX for one architecture and, if it is asked for, machine code for another;
/// `twice`: the same PTX for sm_90a, say, as well. `options`: what it was compiled with.
class FatBinary {
public:
  FatBinary(const std::string &text, unsigned ptx_sm, unsigned code_sm = 0, bool twice = false,
            const std::string &code = "", const std::string &options = "")
      : options_(options) {
    bytes_.assign("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    bytes_.resize(16);
    if (code_sm != 0)
      add(2, code_sm, code.empty() ? text : code);
    add(1, ptx_sm, text);
    if (twice)
      add(1, ptx_sm, text, 0x100000);
    const std::uint64_t size = bytes_.size() - 16;
    std::memcpy(bytes_.data() + 8, &size, sizeof size);
    wrapper_ = {0x466243b1, 1, bytes_.data(), nullptr};
  }
  const void *data() const { return bytes_.data(); }
  const std::string &bytes() const { return bytes_; }
  const void *wrapper() const { return &wrapper_; }
  /// From now on the wrapper is that of what a device linker has linked.
  void link() {
    wrapper_.version = 2;
    wrapper_.list = linked_.data();
  }

private:
  void add(std::uint16_t kind, std::uint32_t sm, const std::string &text, std::uint64_t flags = 0) {
    std::array<char, 64> header{};
    const auto put = [&](std::size_t at, auto number) {
      std::memcpy(header.data() + at, &number, sizeof number);
    };
    put(0, kind);
    put(2, std::uint16_t{0x101});
    put(4, std::uint32_t{64});
    put(8, static_cast<std::uint64_t>((text.size() + 8) / 8 * 8));
    put(28, sm);
    put(40, flags);
    std::string behind;
    if (!options_.empty()) { // where they are, how long they are, and they
      const std::array<std::uint32_t, 2> where = {72, static_cast<std::uint32_t>(options_.size())};
      behind.assign(reinterpret_cast<const char *>(where.data()), sizeof where);
      behind += options_;
      behind.resize((behind.size() + 7) / 8 * 8);
      put(4, static_cast<std::uint32_t>(64 + behind.size()));
      put(20, std::uint32_t{64});
    }
    bytes_.append(header.data(), header.size());
    bytes_ += behind;
    bytes_ += text;
    bytes_.append((text.size() + 8) / 8 * 8 - text.size(), '\0');
  }

  struct Wrapper {
    std::uint32_t magic, version;
    const void *data;
    const void *list;
  };
  std::string options_, bytes_;
  std::array<const void *, 1> linked_{};
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

/// Launches of one kernel on memory of their own, in 64 blocks; each result is looked at.
class Launches {
public:
  /// `n`: of elements, as the kernel is told; 0: as many as threads.
  explicit Launches(Handle function, unsigned block = 256, unsigned n = 0)
      : function_(function), to_(memory(elements)), from_(memory(elements)), block_(block),
        n_(n == 0 ? 64 * block : n) {}

  void once(Handle stream = nullptr) {
    unsigned n = n_;
    void *list[] = {&to_, &from_, &n};
    CHECK(symbol<LaunchFunction>("cuLaunchKernel")(function_, 64, 1, 1, block_, 1, 1, 0, stream,
                                                   list, nullptr) == 0);
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
  unsigned block_, n_;
};

void expect_faster(Handle f) {
  Launches launches(f);
  CHECK(launches.versions_of(11) == 0 || std::getenv("FASTER_KNOWN"));
  CHECK(!launches.until_a_version_runs().empty());
  launches.versions_of(600);
  CHECK(launches.versions_of(50) == 50);
}

/// The kernel that the environment names, or `add`.
const char *kernel_name() {
  const char *const name = std::getenv("FASTER_KERNEL");
  return name ? name : "add";
}

const Scenario wrapped("faster-module", [] {
  if (std::getenv("FASTER_BESIDE")) // of this there is machine code alone
    Launches(function(load("fake\nkernel sub 100 1 8 8 4\n"), "sub")).versions_of(30);
  const FatBinary image(ptx(), 90, 90);
  expect_faster(function(load_by("cuModuleLoadData", image.wrapper()), kernel_name()));
});

const Scenario bare("faster-fat-binary", [] {
  const FatBinary image(ptx(), 90, 90);
  expect_faster(function(load_by("cuModuleLoadFatBinary", image.data()), "add"));
});

const Scenario fat_file("faster-fat-file", [] {
  std::ofstream(std::getenv("FASTER_FAT_FILE"), std::ios::binary)
      << FatBinary(ptx(), 90, 90).bytes();
});

const Scenario asked_early("faster-early", [] {
  // The program's file has this image. What its GPU is, an earlier run has said, or loading it
  // does.
  const FatBinary image(ptx(), 90, 90);
  const auto is_asked = [] {
    for (int i = 0; i < 60000; ++i, ::usleep(1000))
      if (std::filesystem::exists(std::string(std::getenv("PTXASW_LAUNCH_FASTER")) + "/early"))
        return true;
    return false;
  };
  const bool known = std::getenv("FASTER_KNOWN") != nullptr;
  CHECK(!known || is_asked());
  Handle f = function(load_by("cuModuleLoadData", image.wrapper()), "add");
  CHECK(known || is_asked());
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

const Scenario full_queue("faster-full-queue", [] {
  // The queue is never empty. But who waits for room in it loses nothing if it becomes so once.
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(launches.versions_of(6000) != 0);
});

const Scenario text("faster-text", [] {
  const std::string image = ptx();
  expect_faster(function(load_by("cuModuleLoadData", image.c_str()), "add"));
});

/// As CuPy does: machine code from NVRTC, which is found by dlsym().
std::string compiled_code() {
  void *const nvrtc = ::dlopen("libnvrtc.so", RTLD_NOW | RTLD_LOCAL);
  CHECK(nvrtc);
  const std::string program = ptx();
  std::size_t size = 0;
  reinterpret_cast<int (*)(const char *, std::size_t *)>(::dlsym(nvrtc, "nvrtcGetCUBINSize"))(
      program.c_str(), &size);
  std::string code(size, '\0');
  CHECK(reinterpret_cast<int (*)(const char *, char *)>(::dlsym(nvrtc, "nvrtcGetCUBIN"))(
            program.c_str(), code.data()) == 0);
  return code;
}

const Scenario compiled("faster-nvrtc", [] {
  const std::string code = compiled_code();
  expect_faster(function(load_by("cuModuleLoadData", code.data()), "add"));
});

/// In a module of an interpreter, that is linked with NVRTC and with nvJitLink.
template <typename Function> Function *in_module(const char *name) {
  void *const module = ::dlopen("liblaunch_linking.so", RTLD_NOW | RTLD_LOCAL);
  CHECK(module);
  return reinterpret_cast<Function *>(::dlsym(module, name));
}

const Scenario compiled_in_module("faster-nvrtc-in-module", [] {
  const std::string program = ptx();
  std::string code(2 * program.size(), '\0');
  CHECK(in_module<int(const char *, char *)>("compile_in_module")(program.c_str(), code.data()) ==
        0);
  expect_faster(function(load_by("cuModuleLoadData", code.data()), "add"));
});

const Scenario linked_in_module("faster-linked-in-module", [] {
  std::string code;
  in_module<void(bool, const std::string &, std::string &)>("link_in_module")(
      std::getenv("FASTER_LINKED") == std::string("12"), ptx(), code);
  CHECK(!code.empty());
  expect_faster(function(load_by("cuModuleLoadData", code.data()), "add"));
});

/// nvJitLink as Python's callers have it: by name, from the library or whatever is there.
class Linker {
public:
  explicit Linker(std::vector<const char *> options = {}) {
    CHECK(!::dlsym(RTLD_DEFAULT, "nvJitLinkCreate"));
    library_ = ::dlopen("libnvJitLink.so", RTLD_NOW | RTLD_LOCAL);
    CHECK(library_);
    CHECK(of<int(void **, unsigned, const char **)>("nvJitLinkCreate")(
              &link_, static_cast<unsigned>(options.size()), options.data()) == 0);
  }
  ~Linker() { of<int(void **)>("nvJitLinkDestroy")(&link_); }
  Linker(const Linker &) = delete;
  Linker &operator=(const Linker &) = delete;

  void add(const std::string &text, int kind = ptx_input) {
    CHECK(of<int(void *, int, const void *, std::size_t, const char *)>("nvJitLinkAddData")(
              link_, kind, text.c_str(), text.size() + 1, "") == 0);
  }
  void add_file(const std::string &text) {
    const std::string path = std::string(std::getenv("TMPDIR")) + "/linked.ptx";
    std::ofstream(path) << text;
    CHECK(of<int(void *, int, const char *)>("nvJitLinkAddFile")(link_, ptx_input, path.c_str()) ==
          0);
    std::filesystem::remove(path);
  }
  std::string code() {
    std::size_t size = 0;
    CHECK(of<int(void *)>("nvJitLinkComplete")(link_) == 0);
    CHECK(of<int(void *, std::size_t *)>("nvJitLinkGetLinkedCubinSize")(link_, &size) == 0);
    std::string code(size, '\0');
    CHECK(of<int(void *, void *)>("nvJitLinkGetLinkedCubin")(link_, code.data()) == 0);
    return code;
  }
  static constexpr int object_input = 5, ptx_input = 2, lto_input = 3;

  template <typename Function> Function *of(const char *name) {
    return reinterpret_cast<Function *>(::dlsym(library_, name));
  }

private:
  void *library_ = nullptr, *link_ = nullptr;
};

const Scenario linked("faster-linked", [] {
  {
    Linker before; // whose handle is used again
    before.add(ptx());
  }
  Linker linker({"-arch=sm_90", "-O3"});
  linker.add(ptx());
  expect_faster(function(load_by("cuModuleLoadData", linker.code().c_str()), "add"));
});

const Scenario linked_file("faster-linked-file", [] {
  Linker linker;
  linker.add_file(ptx());
  expect_faster(function(load_by("cuModuleLoadData", linker.code().data()), "add"));
});

/// Of LTO-IR, in two parts. The environment says how often something is linked.
const Scenario linked_lto("faster-linked-lto", [] {
  Linker linker({"-arch=sm_90", "-lto"});
  linker.add("LTO-IR " + ptx(), Linker::lto_input);
  linker.add("LTO-IR \n", Linker::lto_input);
  const std::string code = linker.code();
  CHECK(linker.of<int()>("fake_links_created")() == std::atoi(std::getenv("FASTER_LINKED")));
  expect_faster(function(load_by("cuModuleLoadData", code.c_str()), "add"));
});

/// Code of which nvJitLink says too little: what the environment names.
const Scenario linked_of_several("faster-linked-unknown", [] {
  const std::string what = std::getenv("FASTER_LINKED");
  const bool lto = what.starts_with("lto");
  std::vector<const char *> options = {what == "options" ? "-maxrregcount=32" : "-arch=sm_90"};
  if (lto)
    options.push_back("-lto");
  if (what == "lto-unfused")
    options.push_back("-fma=0");
  Linker linker(options);
  if (lto && what != "lto-ptx")
    linker.add("LTO-IR " + ptx(), Linker::lto_input);
  else
    linker.add(ptx(), what == "other" ? Linker::object_input : Linker::ptx_input);
  if (what == "several" || what == "lto-several")
    linker.add("\n");
  Launches launches(function(load_by("cuModuleLoadData", linker.code().c_str()), "add"));
  for (int i = 0; i < 100; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
  }
});

// As CuPy does, too: what NVRTC made is kept in a file, and later runs load that.

std::string code_in_a_file() {
  std::ifstream file(std::getenv("FASTER_CODE_FILE"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Scenario keeps_code("faster-keeps-code", [] {
  const std::string code = compiled_code();
  std::ofstream(std::getenv("FASTER_CODE_FILE"), std::ios::binary) << code;
  Handle f = function(load_by("cuModuleLoadData", code.data()), "add");
  if (std::getenv("FASTER_BRIEF"))
    Launches(f).versions_of(20);
  else
    expect_faster(f);
});

const Scenario kept_code("faster-kept-code", [] {
  const std::string code = code_in_a_file();
  Launches launches(function(load_by("cuModuleLoadData", code.data()), "add"));
  if (std::getenv("FASTER_BRIEF"))
    CHECK(!launches.until_a_version_runs().empty());
  else
    CHECK(launches.versions_of(5) == 5);
});

const Scenario unknown_code("faster-unknown-code", [] {
  const std::string code = code_in_a_file();
  Launches launches(function(load_by("cuModuleLoadData", code.data()), "add"));
  for (int i = 0; i < 100; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
  }
});

const Scenario short_code("faster-short-code", [] {
  // Headers that say a size of which no code is known: nothing behind them is read.
  constexpr std::size_t header = 64, page = 4096;
  const std::string code = code_in_a_file();
  auto *const pages = static_cast<char *>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  CHECK(pages != MAP_FAILED && ::mprotect(pages + page, page, PROT_NONE) == 0);
  // A header, some text, and a section from there on.
  char *const file = pages + page - 3 * header, *const section = pages + page - header;
  for (const std::uint64_t size : {code.size() - header - 1, code.size() - header + 1}) {
    constexpr std::uint64_t sections = 2 * header;
    std::memcpy(file, code.data(), header);
    std::memcpy(file + 40, &sections, sizeof sections);
    std::strcpy(file + header, "fake\nkernel add 100 1 8 8 4\n");
    std::memcpy(section, code.data() + code.size() - header, header);
    std::memcpy(section + 32, &size, sizeof size);
    CHECK(Launches(function(load_by("cuModuleLoadData", file), "add")).versions_of(3) == 0);
  }
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

const Scenario options("faster-options", [] {
  // With options by which the driver compiles other code, kernels stay as they are.
  const std::string image = ptx();
  const auto load = [&](int option, const char *kernel_name) {
    std::array<char, 64> log{};
    void *value = log.data();
    Handle module = nullptr;
    call<Handle *, const void *, unsigned, int *, void **>("cuModuleLoadDataEx", &module,
                                                           image.c_str(), 1, &option, &value);
    return function(module, kernel_name);
  };
  constexpr int log_buffer = 5, fused = 24;
  expect_faster(load(log_buffer, "add"));
  Launches launches(load(fused, "scaled"));
  for (int i = 0; i < 300; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
  }
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

const Scenario seldom("faster-seldom", [] {
  const FatBinary image(ptx(), 90, 90);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  CHECK(launches.versions_of(5) == 0);
  // Nothing is written before it is launched often.
  if (const char *const place = std::getenv("PTXASW_LAUNCH_FASTER"))
    for (const auto &entry : std::filesystem::directory_iterator(place))
      CHECK(entry.path().extension() != ".question" && entry.path().extension() != ".image");
});

/// Kernels that stay as they are: `waits`, or what the environment names.
const Scenario kept("faster-kept", [] {
  const char *const code = std::getenv("FASTER_CODE"), *const name = std::getenv("FASTER_KERNEL"),
                    *const options = std::getenv("FASTER_OPTIONS");
  FatBinary image(ptx(), 80, code ? static_cast<unsigned>(std::atoi(code)) : 0, false, "",
                  options ? options : "");
  if (std::getenv("FASTER_DEVICE_LINKED"))
    image.link();
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), name ? name : "waits"));
  const char *const place = std::getenv("PTXASW_LAUNCH_FASTER");
  const auto is_answered = [&] {
    for (const auto &entry : std::filesystem::directory_iterator(place ? place : "."))
      if (entry.path().extension() == ".answer")
        return true;
    return false;
  };
  constexpr int longer = 100;
  const int most = std::getenv("FASTER_UNANSWERED") ? 1000 : 60'000;
  for (int i = 0, after = 0; i < most && after < longer; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
    after += is_answered() ? 1 : 0;
  }
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

/// Kernels of PTX for one number and two architectures.
const Scenario guessed("faster-guessed", [] {
  const FatBinary image(ptx(), 90, 0, true);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  for (int i = 0; i < 300; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
  }
});

/// The driver's variable is not of the size that the PTX says.
const Scenario resized("faster-resized", [] {
  const std::string image = ptx();
  std::string other = image;
  other.replace(other.find("gain[16]"), 8, "gain[32]");
  const FatBinary both(image, 90, 90, false, other);
  Launches launches(function(load_by("cuModuleLoadData", both.wrapper()), "scaled"));
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
  for (const char *name : {"add", "scaled", "add", "biased", "add", "scaled"})
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
