// The ways to launch through the driver's own interface, on a real one: paths CUBIN OTHER, where
// CUBIN is of siblings.cu and OTHER has a kernel of the same name without siblings. Prints a line
// for each way with what came out; `ptxasw launch --log` counts what was redirected.

#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#define CHECK(call)                                                                                \
  do {                                                                                             \
    const CUresult result_ = (call);                                                               \
    if (result_ != CUDA_SUCCESS) {                                                                 \
      const char *text_ = "";                                                                      \
      cuGetErrorString(result_, &text_);                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, text_);                              \
      std::exit(1);                                                                                \
    }                                                                                              \
  } while (0)

namespace {

constexpr int n = 100000;

struct Data {
  CUdeviceptr in = 0, out = 0;
  std::vector<float> host;

  Data() : host(n) {
    for (int i = 0; i < n; ++i)
      host[i] = static_cast<float>(i % 1000);
    CHECK(cuMemAlloc(&in, n * 4));
    CHECK(cuMemAlloc(&out, n * 4));
    CHECK(cuMemcpyHtoD(in, host.data(), n * 4));
  }
  ~Data() {
    cuMemFree(in);
    cuMemFree(out);
  }

  /// Launches by `how` and says if the result is right.
  template <typename How> void run(const char *name, How how) {
    CHECK(cuMemsetD8(out, 0xff, n * 4));
    int count = n;
    float a = 2, b = 1;
    void *list[] = {&in, &out, &count, &a, &b};
    how(list);
    CHECK(cuCtxSynchronize());
    std::vector<float> result(n);
    CHECK(cuMemcpyDtoH(result.data(), out, n * 4));
    int wrong = 0;
    for (int i = 0; i < n; ++i)
      wrong += result[i] != 2 * host[i] + 1;
    std::printf("%s: %s\n", name, wrong ? "WRONG" : "right");
  }
};

unsigned blocks() { return (n + 255) / 256; }

void plain(CUfunction f, void **list, CUstream stream = nullptr) {
  CHECK(cuLaunchKernel(f, blocks(), 1, 1, 256, 1, 1, 0, stream, list, nullptr));
}

CUfunction load(const char *file, CUmodule *module) {
  CUfunction f = nullptr;
  CHECK(cuModuleLoad(module, file));
  CHECK(cuModuleGetFunction(&f, *module, "stream"));
  return f;
}

void modules(const char *cubin, const char *other) {
  Data data;
  CUmodule module = nullptr;
  CUfunction f = load(cubin, &module);
  data.run("module", [&](void **list) { plain(f, list); });
  data.run("extended", [&](void **list) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    CUlaunchConfig config = {blocks(), 1, 1, 256, 1, 1, 0, nullptr, &attribute, 1};
    CHECK(cuLaunchKernelEx(&config, f, list, nullptr));
  });
  data.run("buffer", [&](void **list) {
    unsigned char buffer[28];
    std::memcpy(buffer, list[0], 8);
    std::memcpy(buffer + 8, list[1], 8);
    for (int i = 0; i < 3; ++i)
      std::memcpy(buffer + 16 + 4 * i, list[2 + i], 4);
    std::size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(f, blocks(), 1, 1, 256, 1, 1, 0, nullptr, nullptr, extra));
  });
  data.run("per thread", [&](void **list) { plain(f, list, CU_STREAM_PER_THREAD); });
  data.run("cooperative", [&](void **list) {
    CHECK(cuLaunchCooperativeKernel(f, blocks(), 1, 1, 256, 1, 1, 0, nullptr, list));
  });
  CHECK(cuModuleUnload(module));
  int same = 0;
  CUfunction before = f;
  for (int i = 0; i < 100; ++i) {
    f = load(i % 2 ? cubin : other, &module);
    same += f == before;
    before = f;
    int count = n;
    float a = 2, b = 1;
    void *list[] = {&data.in, &data.out, &count, &a, &b};
    plain(f, list);
    CHECK(cuCtxSynchronize());
    CHECK(cuModuleUnload(module));
  }
  f = load(other, &module);
  data.run("reused", [&](void **list) { plain(f, list); });
  std::printf("handles used again: %d of 100\n", same);
}

/// The ways to get hold of the launch function.
void hooks(const char *cubin) {
  using LaunchFunction = decltype(&cuLaunchKernel);
  Data data;
  CUmodule module = nullptr;
  CUfunction f = load(cubin, &module);
  const auto through = [&](const char *name, void *function) {
    if (!function) {
      std::printf("%s: not there\n", name);
      return;
    }
    data.run(name, [&](void **list) {
      CHECK(reinterpret_cast<LaunchFunction>(function)(f, blocks(), 1, 1, 256, 1, 1, 0, nullptr,
                                                       list, nullptr));
    });
  };
  void *const library = ::dlopen("libcuda.so.1", RTLD_NOW);
  through("dlsym of a handle", ::dlsym(library, "cuLaunchKernel"));
  through("dlsym of no handle", ::dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
  through("dlsym of the next", ::dlsym(RTLD_NEXT, "cuLaunchKernel"));
  through("dlsym per thread", ::dlsym(library, "cuLaunchKernel_ptsz"));
  void *function = nullptr;
  const auto first = reinterpret_cast<CUresult (*)(const char *, void **, int, cuuint64_t)>(
      ::dlsym(library, "cuGetProcAddress"));
  CHECK(first("cuLaunchKernel", &function, 11030, CU_GET_PROC_ADDRESS_DEFAULT));
  through("the first cuGetProcAddress", function);
  for (const auto &[name, flags] :
       {std::pair("cuGetProcAddress", CU_GET_PROC_ADDRESS_DEFAULT),
        std::pair("cuGetProcAddress per thread", CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)}) {
    CHECK(cuGetProcAddress("cuLaunchKernel", &function, 12000, flags, nullptr));
    through(name, function);
  }
  // That function itself may be asked for.
  CHECK(
      cuGetProcAddress("cuGetProcAddress", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  const auto asked = reinterpret_cast<decltype(&cuGetProcAddress)>(function);
  CHECK(asked("cuLaunchKernel", &function, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr));
  through("cuGetProcAddress of itself", function);
  CHECK(cuModuleUnload(module));
}

/// Attributes with which a launch is left alone.
void attributes(const char *cubin) {
  Data data;
  CUmodule module = nullptr;
  CUfunction f = load(cubin, &module);
  CUlaunchAttribute cluster = {}, serialized = {}, cooperative = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {1, 1, 1};
  serialized.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
  serialized.value.programmaticStreamSerializationAllowed = 1;
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  for (auto &[name, attribute] :
       {std::pair("cluster", &cluster), std::pair("dependent", &serialized),
        std::pair("cooperative attribute", &cooperative)})
    data.run(name, [&, attribute = attribute](void **list) {
      CUlaunchConfig config = {blocks(), 1, 1, 256, 1, 1, 0, nullptr, attribute, 1};
      CHECK(cuLaunchKernelEx(&config, f, list, nullptr));
    });
  CHECK(cuModuleUnload(module));
}

void libraries(const char *cubin) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  CHECK(cuLibraryLoadFromFile(&library, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0));
  CHECK(cuLibraryGetKernel(&kernel, library, "stream"));
  {
    Data data;
    data.run("kernel", [&](void **list) { plain(reinterpret_cast<CUfunction>(kernel), list); });
    CUfunction f = nullptr;
    CHECK(cuKernelGetFunction(&f, kernel));
    data.run("function of a kernel", [&](void **list) { plain(f, list); });
  }
  CUcontext context = nullptr;
  CUdevice device = 0;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
  {
    Data data;
    data.run("kernel in another context",
             [&](void **list) { plain(reinterpret_cast<CUfunction>(kernel), list); });
    CUmodule module = nullptr;
    CUfunction f = load(cubin, &module);
    data.run("module in another context", [&](void **list) { plain(f, list); });
  }
  CHECK(cuCtxDestroy(context));
  CHECK(cuLibraryUnload(library));
}

} // namespace

int main(int count, char **words) {
  if (count != 3)
    return 2;
  CHECK(cuInit(0));
  CUdevice device = 0;
  CUcontext context = nullptr;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));
  hooks(words[1]);
  attributes(words[1]);
  modules(words[1], words[2]);
  libraries(words[1]);
  CHECK(cuCtxSetCurrent(context));
  const pid_t child = ::fork();
  if (child == 0)
    std::_Exit(0);
  int status = 0;
  ::waitpid(child, &status, 0);
  Data data;
  CUmodule module = nullptr;
  CUfunction f = load(words[1], &module);
  data.run("after a fork", [&](void **list) { plain(f, list); });
  if (!::dlopen("libm.so.6", RTLD_NOW | RTLD_DEEPBIND))
    return 1;
  data.run("after a deep bind", [&](void **list) { plain(f, list); });
}
