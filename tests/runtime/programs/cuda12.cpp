// A program as CUDA 12 would have made it: it calls functions by CUDA 12's names and parameters,
// and gives structures of CUDA 12's sizes, with what must not be written behind them. What nvcc
// writes around kernels is written out.

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>

extern "C" {
int cudaGetDeviceProperties_v2(void *to, int number);
int cudaMallocManaged(void **to, std::size_t size, unsigned flags);
int cudaMemPrefetchAsync(const void *address, std::size_t size, int to, void *stream);
int cudaMemPrefetchAsync_v2(const void *address, std::size_t size, unsigned long where,
                            unsigned flags, void *stream);
int cudaMemAdvise(const void *address, std::size_t size, int advice, int number);
int cudaMemcpyBatchAsync(void **to, void **from, std::size_t *sizes, std::size_t count,
                         void *attributes, std::size_t *which, std::size_t attribute_count,
                         std::size_t *failed, void *stream);
int cudaPointerGetAttributes(void *to, const void *address);
int cudaStreamCreate(void **stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, void **graph,
                                const void ***before, std::size_t *count);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaGraphGetEdges(void *graph, void **from, void **to, std::size_t *count);
int cudaGraphGetNodes(void *graph, void **nodes, std::size_t *count);
int cudaGraphNodeGetDependencies(void *node, void **list, std::size_t *count);
int cudaGraphAddEmptyNode(void **node, void *graph, void *const *before, std::size_t count);
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, std::size_t count);
int cudaMemsetAsync(void *to, int value, std::size_t count, void *stream);
int cudaStreamGetCaptureInfo_v3(void *stream, int *status, unsigned long long *id, void **graph,
                                const void ***before, const void **edges, std::size_t *count);
int cudaStreamUpdateCaptureDependencies(void *stream, void **before, std::size_t count,
                                        unsigned flags);
int cudaGraphAddNode(void **node, void *graph, void *const *before, std::size_t count,
                     void *parameters);
int cudaGraphNodeGetDependentNodes(void *node, void **list, std::size_t *count);
int cudaGraphRemoveDependencies(void *graph, void *const *from, void *const *to, std::size_t count);
int cudaGraphNodeGetType(void *node, int *type);
int cudaEventCreate(void **event);
int cudaEventRecord(void *event, void *stream);
int cudaEventElapsedTime_v2(float *milliseconds, void *from, void *to);
int cudaThreadSynchronize();
int cudaThreadExit();
int cudaThreadGetLimit(std::size_t *value, int limit);
int cudaThreadSetLimit(int limit, std::size_t value);
int cudaThreadGetCacheConfig(int *config);
int cudaThreadSetCacheConfig(int config);
int cudaSetDoubleForDevice(double *number);
int cudaSetDoubleForHost(double *number);
int cudaFree(void *address);
int cudaRuntimeGetVersion(int *version);
#ifdef KERNEL
struct Dim {
  unsigned x, y, z;
};
int cudaLaunchKernel(const void *function, Dim grid, Dim block, void **arguments,
                     std::size_t shared, void *stream);
struct KernelNode {
  const void *function;
  Dim grid, block;
  unsigned shared;
  void **arguments, **extra;
};
int cudaGraphAddKernelNode(void **node, void *graph, void *const *before, std::size_t count,
                           const KernelNode *parameters);
int cudaGraphKernelNodeCopyAttributes(void *from, void *to);
int cudaGraphKernelNodeGetAttribute(void *node, int id, void *value);
int cudaGraphKernelNodeSetAttribute(void *node, int id, const void *value);
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *, const char *name, int, void *,
                            void *, void *, void *, int *);
extern const unsigned char image[];
#endif
}

namespace {

int failures = 0;

void expect(bool holds, const char *what) {
  if (!holds) {
    std::printf("wrong: %s\n", what);
    ++failures;
  }
}

template <class Number> Number number(const unsigned char *bytes, std::size_t at) {
  Number value;
  std::memcpy(&value, bytes + at, sizeof value);
  return value;
}

/// True if all bytes from `begin` on are still 0xee.
bool untouched(const unsigned char *bytes, std::size_t begin, std::size_t end) {
  while (begin < end && bytes[begin] == 0xee)
    ++begin;
  return begin == end;
}

#ifdef KERNEL
char twice_stub; // its address is what the host calls the kernel
struct Wrapper {
  int magic = 0x466243b1, version = 1;
  const unsigned char *data = image;
  void *unused = nullptr;
} wrapper;
#endif

} // namespace

int main() {
#ifdef KERNEL
  void **const handle = __cudaRegisterFatBinary(&wrapper);
  __cudaRegisterFunction(handle, &twice_stub, nullptr, "twice", -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
  __cudaRegisterFatBinaryEnd(handle);
#endif
  unsigned char bytes[2048];
  std::memset(bytes, 0xee, sizeof bytes);
  expect(cudaGetDeviceProperties_v2(bytes, 0) == 0, "properties");
  expect(std::strstr(reinterpret_cast<char *>(bytes), "ptxasw") != nullptr, "the name");
  expect(number<int>(bytes, 308) == 32, "warpSize");
  expect(number<int>(bytes, 348) == 1000000 && number<int>(bytes, 608) == 1000000,
         "clockRate, memoryClockRate");
  expect(number<std::size_t>(bytes, 352) == 65536, "totalConstMem");
  expect(number<int>(bytes, 360) == 9 && number<int>(bytes, 364) == 0, "major, minor");
  expect(number<int>(bytes, 388) > 100, "multiProcessorCount");
  expect(number<int>(bytes, 400) == 1, "canMapHostMemory");
  expect(number<int>(bytes, 604) == 1 && number<int>(bytes, 612) == 5120,
         "unifiedAddressing, memoryBusWidth");
  expect(number<int>(bytes, 624) == 2048, "maxThreadsPerMultiProcessor");
  expect(number<std::size_t>(bytes, 640) == 233472, "sharedMemPerMultiprocessor");
  expect(number<int>(bytes, 676) == 1 && number<int>(bytes, 688) == 1,
         "concurrentManagedAccess, cooperativeLaunch");
  expect(number<std::size_t>(bytes, 696) == 232448, "sharedMemPerBlockOptin");
  expect(untouched(bytes, 1032, sizeof bytes), "what lies behind the properties");

  float *data = nullptr;
  constexpr int count = 1000;
  expect(cudaMallocManaged(reinterpret_cast<void **>(&data), count * sizeof(float), 1) == 0,
         "managed memory");
  void *stream = nullptr;
  expect(cudaStreamCreate(&stream) == 0, "a stream");
  expect(cudaMemPrefetchAsync(data, count * sizeof(float), 0, stream) == 0, "prefetch");
  expect(cudaMemPrefetchAsync(data, count * sizeof(float), -1, &failures) != 0,
         "prefetch in no stream");
  expect(cudaMemPrefetchAsync_v2(data, count * sizeof(float), 1, 0, stream) == 0,
         "prefetch to a location");
  expect(cudaMemAdvise(data, count * sizeof(float), 1, 0) == 0, "advice");
  std::memset(bytes, 0xee, sizeof bytes);
  expect(cudaPointerGetAttributes(bytes, data) == 0 && number<int>(bytes, 0) == 3,
         "attributes of managed memory");
  expect(number<void *>(bytes, 8) == data, "its address on the device");
  expect(untouched(bytes, 24, sizeof bytes), "what lies behind the attributes");

  float other[4] = {1, 2, 3, 4};
  void *to[] = {data, data + 2}, *from[] = {other, other + 2};
  std::size_t sizes[] = {8, 8}, failed = 7;
  expect(cudaMemcpyBatchAsync(to, from, sizes, 2, nullptr, nullptr, 0, &failed, stream) == 0 &&
             data[3] == 4 && failed == 7,
         "copies in a batch");
  expect(cudaMemcpyBatchAsync(to, nullptr, sizes, 2, nullptr, nullptr, 0, &failed, stream) != 0 &&
             failed == static_cast<std::size_t>(-1),
         "copies of a batch that fail");

  void *graph = nullptr, *capturing = nullptr;
  int status = 0;
  unsigned long long id = 0;
  const void **before = nullptr;
  std::size_t edges = 9, nodes = 3;
  expect(cudaStreamBeginCapture(stream, 0) == 0, "capture");
  for (int i = 0; i < 3; ++i)
    expect(cudaMemsetAsync(data, i, 4, stream) == 0, "captured memset");
  expect(cudaStreamGetCaptureInfo_v2(stream, &status, &id, &capturing, &before, &edges) == 0 &&
             status == 1 && edges == 1,
         "information on the capture");
  const void *data_of_edges = stream;
  expect(cudaStreamGetCaptureInfo_v3(stream, &status, &id, &capturing, &before, &data_of_edges,
                                     &edges) == 0 &&
             edges == 1 && data_of_edges == nullptr,
         "information on the capture and its edges");
  void *last = const_cast<void *>(before[0]);
  expect(cudaStreamUpdateCaptureDependencies(stream, &last, 1, 1) == 0, "what comes before");
  expect(cudaStreamUpdateCaptureDependencies(stream, nullptr, 1, 1) != 0, "nothing before");
  expect(cudaStreamEndCapture(stream, &graph) == 0 && graph == capturing, "the graph");
  void *begins[9], *ends[9], *list[3];
  edges = 9;
  expect(cudaGraphGetEdges(graph, begins, ends, &edges) == 0 && edges == 2 && begins[1] == ends[0],
         "edges");
  expect(cudaGraphGetNodes(graph, list, &nodes) == 0 && nodes == 3, "nodes");
  std::size_t some = 3;
  expect(cudaGraphNodeGetDependencies(ends[1], list, &some) == 0 && some == 1 &&
             list[0] == begins[1],
         "dependencies");
  void *empty = nullptr;
  expect(cudaGraphAddEmptyNode(&empty, graph, nullptr, 0) == 0, "an empty node");
  expect(cudaGraphAddDependencies(graph, &empty, begins, 1) == 0, "a dependency");
  edges = 9;
  expect(cudaGraphGetEdges(graph, nullptr, nullptr, &edges) == 0 && edges == 3, "one edge more");
  some = 3;
  expect(cudaGraphNodeGetDependentNodes(empty, list, &some) == 0 && some == 1 &&
             list[0] == begins[0],
         "dependent nodes");
  expect(cudaGraphRemoveDependencies(graph, &empty, begins, 1) == 0, "a dependency less");
  expect(cudaGraphGetEdges(graph, nullptr, nullptr, &edges) == 0 && edges == 2, "one edge less");
  alignas(8) unsigned char node[256] = {5}; // cudaGraphNodeTypeEmpty
  void *added = nullptr;
  int type = 0;
  expect(cudaGraphAddNode(&added, graph, &empty, 1, node) == 0, "a node by its type");
  some = 3;
  expect(cudaGraphNodeGetType(added, &type) == 0 && type == 5 &&
             cudaGraphNodeGetDependencies(added, list, &some) == 0 && some == 1 && list[0] == empty,
         "its type and what it is behind");

  void *event = nullptr;
  float time = -1;
  expect(cudaEventCreate(&event) == 0 && cudaEventRecord(event, stream) == 0 &&
             cudaEventElapsedTime_v2(&time, event, event) == 0 && time == 0,
         "the time between an event and itself");
  std::size_t stack = 0;
  expect(cudaThreadSetLimit(0, 2048) == 0 && cudaThreadGetLimit(&stack, 0) == 0 && stack == 2048,
         "the limit of stacks");
  int config = 7;
  expect(cudaThreadSetCacheConfig(1) == 0 && cudaThreadGetCacheConfig(&config) == 0 && config == 0,
         "the configuration of caches");
  double real = 0.5;
  expect(cudaSetDoubleForDevice(&real) == 0 && cudaSetDoubleForHost(&real) == 0 && real == 0.5,
         "doubles");

#ifdef KERNEL
  for (int i = 0; i < count; ++i)
    data[i] = static_cast<float>(i);
  int n = count;
  void *arguments[] = {&data, &n};
  expect(cudaLaunchKernel(&twice_stub, {4, 1, 1}, {256, 1, 1}, arguments, 0, stream) == 0,
         "a launch");
  expect(cudaThreadSynchronize() == 0, "synchronisation");
  for (int i = 0; i < count; ++i)
    expect(data[i] == 2.0f * static_cast<float>(i), "what the kernel computes");
  // Attributes are copied from the first to the second, which CUDA 13 has the other way round.
  const KernelNode call{&twice_stub, {1, 1, 1}, {1, 1, 1}, 0, arguments, nullptr};
  void *first = nullptr, *second = nullptr;
  alignas(8) unsigned char cooperative[64] = {1};
  expect(cudaGraphAddKernelNode(&first, graph, nullptr, 0, &call) == 0 &&
             cudaGraphAddKernelNode(&second, graph, nullptr, 0, &call) == 0,
         "nodes of kernels");
  expect(cudaGraphKernelNodeSetAttribute(first, 2, cooperative) == 0 &&
             cudaGraphKernelNodeCopyAttributes(first, second) == 0,
         "attributes of a node");
  cooperative[0] = 0;
  expect(cudaGraphKernelNodeGetAttribute(second, 2, cooperative) == 0 && cooperative[0] == 1,
         "the copied attribute");
#endif
  expect(cudaThreadSynchronize() == 0, "synchronisation at the end");
  expect(cudaThreadExit() == 0 && cudaFree(data) != 0, "nothing left at the end");
  std::puts(failures == 0 ? "ok" : "failed");
  return failures != 0;
}
