// The Driver API: a kernel by NVRTC, launched in each way, its memory, streams, events, contexts
// and errors. Says "ok" if all is as cuda.h says.
#include "driver.h"

#include <nvrtc.h>

static const char source[] = R"(
__constant__ int offset = 5;
__device__ int counter;
extern "C" __global__ void add(int *to, const int *from, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    to[i] = from[i] + offset;
  if (i == 0)
    counter = n;
}
extern "C" __global__ void reversed(int *to) {
  extern __shared__ int room[];
  room[threadIdx.x] = to[threadIdx.x];
  __syncthreads();
  to[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void sample(unsigned long long texture, float *to) {
  to[threadIdx.x] = tex2D<float>(texture, (threadIdx.x % 4 + 0.5f) / 4, (threadIdx.x / 4 + 0.5f) / 2);
}
)";

static std::string compile(const char *text) {
  nvrtcProgram program;
  EXPECT(nvrtcCreateProgram(&program, text, "kernels.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS);
  const char *options[] = {"--gpu-architecture=compute_90"};
  EXPECT(nvrtcCompileProgram(program, 1, options) == NVRTC_SUCCESS);
  std::size_t size = 0;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, 0);
  nvrtcGetPTX(program, ptx.data());
  nvrtcDestroyProgram(&program);
  return ptx;
}

static void devices() {
  int count = 0, major = 0, warp = 0, version = 0;
  EXPECT(cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED);
  GOOD(cuInit(0));
  EXPECT(cuInit(1) == CUDA_ERROR_INVALID_VALUE);
  GOOD(cuDriverGetVersion(&version));
  EXPECT(version == CUDA_VERSION);
  GOOD(cuDeviceGetCount(&count));
  EXPECT(count == 1);
  CUdevice device = -1;
  GOOD(cuDeviceGet(&device, 0));
  EXPECT(cuDeviceGet(&device, 1) == CUDA_ERROR_INVALID_DEVICE);
  char name[100];
  GOOD(cuDeviceGetName(name, sizeof name, device));
  EXPECT(std::strstr(name, "ptxasw"));
  GOOD(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  GOOD(cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, device));
  EXPECT(major == 9 && warp == 32);
  std::size_t bytes = 0;
  GOOD(cuDeviceTotalMem(&bytes, device));
  EXPECT(bytes == std::size_t{80} << 30);
  const char *words = nullptr;
  GOOD(cuGetErrorName(CUDA_ERROR_INVALID_VALUE, &words));
  EXPECT(std::strcmp(words, "CUDA_ERROR_INVALID_VALUE") == 0);
  GOOD(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &words));
  EXPECT(std::strcmp(words, "out of memory") == 0);
  EXPECT(cuGetErrorName(static_cast<CUresult>(12345), &words) == CUDA_ERROR_INVALID_VALUE);
}

static void contexts() {
  CUdeviceptr p = 0;
  EXPECT(cuMemAlloc(&p, 4) == CUDA_ERROR_INVALID_CONTEXT);
  CUcontext primary = nullptr, other = nullptr, current = nullptr;
  unsigned flags = 9;
  int active = 9;
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active == 0);
  GOOD(cuDevicePrimaryCtxRetain(&primary, 0));
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(active == 1);
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == nullptr);
  GOOD(cuCtxPushCurrent(primary));
  GOOD(cuCtxCreate(&other, nullptr, CU_CTX_SCHED_YIELD, 0));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == other);
  GOOD(cuCtxPopCurrent(&current));
  EXPECT(current == other);
  GOOD(cuCtxDestroy(other));
  EXPECT(cuCtxDestroy(other) == CUDA_ERROR_INVALID_CONTEXT);
  EXPECT(cuCtxPushCurrent(other) == CUDA_ERROR_INVALID_CONTEXT);
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(current == primary);
  GOOD(cuCtxSynchronize());
}

static void kernels(const std::string &ptx) {
  char log[1000];
  std::strcpy(log, "before");
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  CUmodule module = nullptr;
  EXPECT(cuModuleLoadDataEx(&module, ".version 8.0\n.target sm_90\n.entry k( { }\n", 2, options,
                            values) == CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strstr(log, "error"));
  GOOD(cuModuleLoadDataEx(&module, ptx.c_str(), 0, nullptr, nullptr));
  CUfunction add = nullptr, reversed = nullptr;
  GOOD(cuModuleGetFunction(&add, module, "add"));
  GOOD(cuModuleGetFunction(&reversed, module, "reversed"));
  EXPECT(cuModuleGetFunction(&add, module, "nothing") == CUDA_ERROR_NOT_FOUND);
  const char *name = nullptr;
  GOOD(cuFuncGetName(&name, add));
  EXPECT(std::strcmp(name, "add") == 0);
  CUmodule of = nullptr;
  GOOD(cuFuncGetModule(&of, add));
  EXPECT(of == module);

  constexpr int n = 100;
  CUdeviceptr from = 0, to = 0;
  GOOD(cuMemAlloc(&from, n * 4));
  GOOD(cuMemAlloc(&to, n * 4));
  std::vector<int> host(n), back(n);
  for (int i = 0; i < n; ++i)
    host[i] = i;
  GOOD(cuMemcpyHtoD(from, host.data(), n * 4));
  int count = n;
  void *arguments[] = {&to, &from, &count};
  CUstream stream;
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUevent before, after;
  GOOD(cuEventCreate(&before, CU_EVENT_DEFAULT));
  GOOD(cuEventCreate(&after, CU_EVENT_DEFAULT));
  GOOD(cuEventRecord(before, stream));
  GOOD(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  GOOD(cuEventRecord(after, stream));
  GOOD(cuStreamWaitEvent(nullptr, after, 0));
  GOOD(cuEventSynchronize(after));
  float milliseconds = -1;
  GOOD(cuEventElapsedTime(&milliseconds, before, after));
  EXPECT(milliseconds >= 0);
  GOOD(cuMemcpyDtoHAsync(back.data(), to, n * 4, stream));
  GOOD(cuStreamSynchronize(stream));
  for (int i = 0; i < n; ++i)
    EXPECT(back[i] == i + 5);

  // Variables of the module, and parameters in one buffer.
  CUdeviceptr offset = 0, counter = 0;
  std::size_t size = 0;
  GOOD(cuModuleGetGlobal(&offset, &size, module, "offset"));
  EXPECT(size == 4);
  GOOD(cuMemsetD32(offset, 1000, 1));
  struct {
    CUdeviceptr to, from;
    int n;
  } packed{to, from, n};
  std::size_t bytes = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  GOOD(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, nullptr, nullptr, extra));
  GOOD(cuMemcpyDtoH(back.data(), to, n * 4));
  EXPECT(back[7] == 1007);
  GOOD(cuModuleGetGlobal(&counter, nullptr, module, "counter"));
  int counted = 0;
  GOOD(cuMemcpyDtoH(&counted, counter, 4));
  EXPECT(counted == n);

  // With shared memory, by attributes.
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = n;
  config.sharedMemBytes = n * 4;
  void *one[] = {&to};
  GOOD(cuLaunchKernelEx(&config, reversed, one, nullptr));
  GOOD(cuMemcpyDtoH(back.data(), to, n * 4));
  EXPECT(back[0] == 1099 && back[99] == 1000);
  EXPECT(cuLaunchKernel(reversed, 1, 1, 1, 2000, 1, 1, 0, nullptr, one, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuLaunchKernel(reversed, 1, 1, 1, 32, 1, 1, 60000, nullptr, one, nullptr) ==
         CUDA_ERROR_INVALID_VALUE);
  GOOD(cuFuncSetAttribute(reversed, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60000));
  GOOD(cuLaunchKernel(reversed, 1, 1, 1, 32, 1, 1, 60000, nullptr, one, nullptr));
  int most = 0, blocks = 0, grid = 0, block = 0;
  GOOD(cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, add));
  EXPECT(most == 1024);
  GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
  EXPECT(blocks == 8);
  GOOD(cuOccupancyMaxPotentialBlockSize(&grid, &block, add, nullptr, 0, 0));
  EXPECT(block == 1024 && grid == 2 * 132);

  // Captured.
  CUgraph graph;
  CUgraphExec executable;
  GOOD(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  GOOD(cuLaunchKernel(add, 2, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
  GOOD(cuStreamEndCapture(stream, &graph));
  GOOD(cuMemsetD32(to, 0, n));
  GOOD(cuGraphInstantiate(&executable, graph, 0));
  GOOD(cuGraphLaunch(executable, stream));
  GOOD(cuMemcpyDtoH(back.data(), to, n * 4));
  EXPECT(back[3] == 1003);
  GOOD(cuGraphExecDestroy(executable));

  // Node by node: set, add, copy.
  CUgraphNode captured, sets, copies, found[2];
  std::size_t node_count = 1;
  GOOD(cuGraphGetNodes(graph, &captured, &node_count));
  CUDA_MEMSET_NODE_PARAMS zeros{to, 0, 7, 4, n, 1}, said{};
  GOOD(cuGraphAddMemsetNode(&sets, graph, nullptr, 0, &zeros, nullptr));
  GOOD(cuGraphAddDependencies(graph, &sets, &captured, nullptr, 1));
  GOOD(cuGraphMemsetNodeGetParams(sets, &said));
  EXPECT(said.dst == to && said.value == 7 && said.width == static_cast<std::size_t>(n));
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = to;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = back.data();
  box.WidthInBytes = n * 4;
  box.Height = box.Depth = 1;
  GOOD(cuGraphAddMemcpyNode(&copies, graph, &captured, 1, &box, nullptr));
  node_count = 2;
  GOOD(cuGraphGetEdges(graph, found, found, nullptr, &node_count));
  EXPECT(node_count == 2);
  CUDA_KERNEL_NODE_PARAMS node{};
  GOOD(cuGraphKernelNodeGetParams(captured, &node));
  EXPECT(node.func == add && node.gridDimX == 2 && node.blockDimX == 64);
  node.gridDimX = 1;
  GOOD(cuGraphKernelNodeSetParams(captured, &node));
  GOOD(cuGraphInstantiate(&executable, graph, 0));
  GOOD(cuGraphLaunch(executable, stream));
  EXPECT(back[3] == 1003 && back[63] == 1063 && back[64] == 7);
  zeros.value = 8;
  GOOD(cuGraphExecMemsetNodeSetParams(executable, sets, &zeros, nullptr));
  GOOD(cuGraphLaunch(executable, stream));
  EXPECT(back[64] == 8);
  GOOD(cuStreamWriteValue64(stream, to, 0x100000002, 0));
  GOOD(cuMemcpyDtoH(back.data(), to, 8));
  EXPECT(back[0] == 2 && back[1] == 1);
  GOOD(cuGraphExecDestroy(executable));
  GOOD(cuGraphDestroy(graph));

  GOOD(cuEventDestroy(before));
  GOOD(cuEventDestroy(after));
  GOOD(cuStreamDestroy(stream));
  GOOD(cuMemFree(from));
  GOOD(cuMemFree(to));
  EXPECT(cuMemFree(to) == CUDA_ERROR_INVALID_VALUE);
  GOOD(cuModuleUnload(module));

  CUlibrary library;
  CUkernel kernel;
  unsigned kernels = 0;
  GOOD(cuLibraryLoadData(&library, ptx.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  GOOD(cuLibraryGetKernelCount(&kernels, library));
  EXPECT(kernels == 3);
  GOOD(cuLibraryGetKernel(&kernel, library, "add"));
  GOOD(cuKernelGetFunction(&add, kernel));
  std::size_t where = 0;
  GOOD(cuFuncGetParamInfo(add, 2, &where, &size));
  EXPECT(where == 16 && size == 4);
  GOOD(cuLibraryUnload(library));
}

static void memory() {
  CUdeviceptr p = 0, begin = 0;
  std::size_t size = 0, pitch = 0;
  GOOD(cuMemAllocPitch(&p, &pitch, 100, 10, 4));
  GOOD(cuMemsetD2D16(p, pitch, 0x1234, 50, 10));
  std::vector<unsigned short> rows(500);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = p;
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = rows.data();
  copy.dstPitch = 100;
  copy.WidthInBytes = 100;
  copy.Height = 10;
  GOOD(cuMemcpy2D(&copy));
  for (const unsigned short value : rows)
    EXPECT(value == 0x1234);
  rows.assign(500, 1);
  copy.srcY = 8;
  copy.srcXInBytes = 90;
  copy.WidthInBytes = 10;
  copy.Height = 2;
  GOOD(cuMemcpy2D(&copy));
  EXPECT(rows[4] == 0x1234 && rows[5] == 1 && rows[54] == 0x1234 && rows[100] == 1);
  copy.srcY = 9;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemGetAddressRange(&begin, &size, p + 300));
  EXPECT(begin == p && size == pitch * 10);
  unsigned kind = 0;
  GOOD(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  EXPECT(kind == CU_MEMORYTYPE_DEVICE);
  EXPECT(cuMemsetD32(p + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemsetD8(p, 0, pitch * 10 + 1) == CUDA_ERROR_INVALID_VALUE);
  EXPECT(cuMemAlloc(&p, std::size_t{100} << 30) == CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT(cuMemAlloc(&p, 0) == CUDA_ERROR_INVALID_VALUE);
  void *host = nullptr;
  GOOD(cuMemAllocHost(&host, 64));
  GOOD(cuMemHostGetDevicePointer(&p, host, 0));
  GOOD(cuMemFreeHost(host));
  GOOD(cuMemFree(begin));
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  GOOD(cuGetProcAddress("cuMemAlloc", &function, CUDA_VERSION, 0, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS && function == reinterpret_cast<void *>(cuMemAlloc));
  EXPECT(cuGetProcAddress("cuNothing", &function, CUDA_VERSION, 0, &status) ==
         CUDA_ERROR_NOT_FOUND);
  EXPECT(cuDeviceGetTexture1DLinearMaxWidth(&size, CU_AD_FORMAT_FLOAT, 1, 0) ==
         CUDA_ERROR_NOT_SUPPORTED);
}

/// Two texts that need each other.
static void linked() {
  const char *parts[] = {
      ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func (.param .b32 r) twice(.param "
      ".b32 a);\n"
      ".visible .entry k(.param .u64 to) {\n.reg .b64 %p;\n.reg .b32 %r;\n.param .b32 a, r;\n"
      "ld.param.u64 %p, [to];\nst.param.b32 [a], 21;\ncall (r), twice, (a);\nld.param.b32 %r, "
      "[r];\n"
      "st.global.b32 [%p], %r;\nret;\n}\n",
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .func (.param .b32 r) twice(.param "
      ".b32 a) {\n"
      ".reg .b32 %r;\nld.param.b32 %r, [a];\nadd.u32 %r, %r, %r;\nst.param.b32 [r], "
      "%r;\nret;\n}\n"};
  CUlinkState state;
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  for (const char *part : parts)
    GOOD(cuLinkAddData(state, CU_JIT_INPUT_PTX, const_cast<char *>(part), std::strlen(part) + 1,
                       "part", 0, nullptr, nullptr));
  void *image = nullptr;
  std::size_t size = 0;
  GOOD(cuLinkComplete(state, &image, &size));
  CUmodule module;
  CUfunction kernel;
  CUdeviceptr to;
  int value = 0;
  GOOD(cuModuleLoadData(&module, image));
  GOOD(cuLinkDestroy(state));
  GOOD(cuModuleGetFunction(&kernel, module, "k"));
  GOOD(cuMemAlloc(&to, 4));
  void *arguments[] = {&to};
  GOOD(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuMemcpyDtoH(&value, to, 4));
  EXPECT(value == 42);
  // A kernel that fails loses the device.
  size = 4096;
  arguments[0] = &size;
  GOOD(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void textures(const std::string &ptx) {
  CUmodule module = nullptr;
  CUfunction sample = nullptr;
  GOOD(cuModuleLoadData(&module, ptx.c_str()));
  GOOD(cuModuleGetFunction(&sample, module, "sample"));
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR what{4, 2, CU_AD_FORMAT_UNSIGNED_INT8, 1};
  GOOD(cuArrayCreate(&array, &what));
  const unsigned char bytes[8] = {0, 51, 102, 153, 204, 255, 1, 2};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = bytes;
  copy.srcPitch = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 4;
  copy.Height = 2;
  GOOD(cuMemcpy2D(&copy));
  copy.Height = 3;
  EXPECT(cuMemcpy2D(&copy) == CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.flags = CU_TRSF_NORMALIZED_COORDINATES; // and bytes as numbers from 0 to 1
  CUtexObject texture = 0;
  GOOD(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CUdeviceptr to = 0;
  GOOD(cuMemAlloc(&to, 32));
  void *arguments[] = {&texture, &to};
  GOOD(cuLaunchKernel(sample, 1, 1, 1, 8, 1, 1, 0, nullptr, arguments, nullptr));
  float found[8];
  GOOD(cuMemcpyDtoH(found, to, 32));
  for (int i = 0; i < 8; ++i)
    EXPECT(found[i] == bytes[i] / 255.0f);
  CUDA_ARRAY3D_DESCRIPTOR same{};
  GOOD(cuArray3DGetDescriptor(&same, array));
  EXPECT(same.Width == 4 && same.Depth == 0 && same.NumChannels == 1 &&
         same.Format == CU_AD_FORMAT_UNSIGNED_INT8);
  GOOD(cuTexObjectDestroy(texture));
  GOOD(cuArrayDestroy(array));
  EXPECT(cuArrayDestroy(array) == CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuMemFree(to));
  GOOD(cuModuleUnload(module));
}

int main() {
  devices();
  contexts();
  kernels(compile(source));
  textures(compile(source));
  memory();
  linked();
  return finish();
}
