// Under `ptxasw faster`: the ways in which PTX comes, and what stays as it is since nobody knows
// what its machine code was made of.

#include "tests/launch/unprepared.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace host;

namespace {

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

const Scenario in_library("faster-library", [] {
  const FatBinary image(ptx(), 80);
  expect_faster(kernel(library_of(image.wrapper()), "add"));
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

/// Launches run as they are until it is answered what there is for the kernel, and a while longer;
/// for so many milliseconds at most.
void stay(Launches &launches, int most = 60'000) {
  const char *const place = std::getenv("PTXASW_LAUNCH_FASTER");
  const auto is_answered = [&] {
    for (const auto &entry : std::filesystem::directory_iterator(place ? place : "."))
      if (entry.path().extension() == ".answer")
        return true;
    return false;
  };
  constexpr int longer = 100;
  for (int i = 0, after = 0; i < most && after < longer; ++i) {
    CHECK(launches.versions_of(1) == 0);
    ::usleep(1000);
    after += is_answered() ? 1 : 0;
  }
}

/// Kernels that stay as they are: `waits`, or what the environment names.
const Scenario kept("faster-kept", [] {
  const char *const code = std::getenv("FASTER_CODE"), *const name = std::getenv("FASTER_KERNEL"),
                    *const options = std::getenv("FASTER_OPTIONS");
  FatBinary image(ptx(), 80, code ? static_cast<unsigned>(std::atoi(code)) : 0, false, "",
                  options ? options : "");
  if (std::getenv("FASTER_DEVICE_LINKED"))
    image.link();
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), name ? name : "waits"));
  stay(launches, std::getenv("FASTER_UNANSWERED") ? 1000 : 60'000);
});

/// Kernels of PTX for one number and two architectures.
const Scenario guessed("faster-guessed", [] {
  const FatBinary image(ptx(), 90, 0, true);
  Launches launches(function(load_by("cuModuleLoadData", image.wrapper()), "add"));
  stay(launches);
});

/// The driver's variable is not of the size that the PTX says.
const Scenario resized("faster-resized", [] {
  const std::string image = ptx();
  std::string other = image;
  other.replace(other.find("gain[16]"), 8, "gain[32]");
  const FatBinary both(image, 90, 90, false, other);
  Launches launches(function(load_by("cuModuleLoadData", both.wrapper()), "scaled"));
  stay(launches);
});

const Scenario no_ptx("faster-no-ptx", [] {
  const std::string image = "fake\nkernel add 100 1 8 8 4\n";
  Launches launches(function(load(image), "add"));
  CHECK(launches.versions_of(30) == 0);
});

} // namespace
