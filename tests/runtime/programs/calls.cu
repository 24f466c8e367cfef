// Every function of the Runtime API that no other program calls, and what each gives for arguments
// that cuda_runtime_api.h forbids.
#include "common.h"

#include <fstream>
#include <iterator>
#include <string>

__device__ int numbers[4] = {1, 2, 3, 4};
__global__ void add(int *p, int value) { atomicAdd(p, value); }
__global__ void rooms(int *p) {
  __shared__ int room[24];
  room[threadIdx.x] = threadIdx.x;
  *p = room[0];
}

void CUDART_CB note(void *to) { ++*static_cast<int *>(to); }

const void *const add_handle = reinterpret_cast<const void *>(add);
const void *const rooms_handle = reinterpret_cast<const void *>(rooms);

int value_at(const void *address) {
  int value = -1;
  RIGHT(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDefault));
  return value;
}

// ---- the device

void which_device() {
  int number = 9, list[] = {0, 1};
  RIGHT(cudaGetDeviceCount(&number));
  EXPECT(number == 1);
  WRONG(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  RIGHT(cudaGetDevice(&number));
  EXPECT(number == 0);
  WRONG(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  RIGHT(cudaSetDevice(0));
  WRONG(cudaSetDevice(1), cudaErrorInvalidDevice);
  RIGHT(cudaInitDevice(0, 0, 0));
  WRONG(cudaInitDevice(-1, 0, 0), cudaErrorInvalidDevice);
  RIGHT(cudaSetValidDevices(list, 1));
  RIGHT(cudaSetValidDevices(nullptr, 0));
  WRONG(cudaSetValidDevices(list, 2), cudaErrorInvalidDevice);
  WRONG(cudaSetValidDevices(nullptr, 1), cudaErrorInvalidValue);
  cudaDeviceProp wanted{};
  number = 9;
  RIGHT(cudaChooseDevice(&number, &wanted));
  EXPECT(number == 0);
  WRONG(cudaChooseDevice(&number, nullptr), cudaErrorInvalidValue);
  WRONG(cudaChooseDevice(nullptr, &wanted), cudaErrorInvalidValue);
  unsigned flags = 9;
  RIGHT(cudaSetDeviceFlags(cudaDeviceScheduleYield));
  RIGHT(cudaGetDeviceFlags(&flags));
  EXPECT(flags == cudaDeviceScheduleYield);
  WRONG(cudaSetDeviceFlags(1 << 20), cudaErrorInvalidValue);
  WRONG(cudaGetDeviceFlags(nullptr), cudaErrorInvalidValue);
  char text[20];
  RIGHT(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  EXPECT(std::strcmp(text, "0000:00:00.0") == 0);
  WRONG(cudaDeviceGetPCIBusId(text, 5, 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceGetPCIBusId(text, sizeof text, 1), cudaErrorInvalidDevice);
  number = 9;
  RIGHT(cudaDeviceGetByPCIBusId(&number, text));
  EXPECT(number == 0);
  WRONG(cudaDeviceGetByPCIBusId(&number, "0001:00:00.0"), cudaErrorInvalidDevice);
  WRONG(cudaDeviceGetByPCIBusId(nullptr, text), cudaErrorInvalidValue);
  RIGHT(cudaDriverGetVersion(&number));
  EXPECT(number == CUDART_VERSION);
  WRONG(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  // No other device.
  RIGHT(cudaDeviceCanAccessPeer(&number, 0, 0));
  EXPECT(number == 0);
  WRONG(cudaDeviceCanAccessPeer(&number, 0, 1), cudaErrorInvalidDevice);
  WRONG(cudaDeviceCanAccessPeer(nullptr, 0, 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceEnablePeerAccess(1, 0), cudaErrorInvalidDevice);
  WRONG(cudaDeviceDisablePeerAccess(1), cudaErrorInvalidDevice);
  WRONG(cudaDeviceGetP2PAttribute(&number, cudaDevP2PAttrAccessSupported, 0, 1),
        cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaErrorInvalidDevice); // it stays
  EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
  EXPECT(cudaPeekAtLastError() == cudaSuccess);
}

// An attribute is what the properties say of the same.
void attributes_of_the_device() {
  cudaDeviceProp all{};
  RIGHT(cudaGetDeviceProperties(&all, 0));
  WRONG(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  WRONG(cudaGetDeviceProperties(&all, 1), cudaErrorInvalidDevice);
  const struct {
    cudaDeviceAttr attribute;
    long long property, known;
  } rows[] = {
      {cudaDevAttrMaxThreadsPerBlock, all.maxThreadsPerBlock, 1024},
      {cudaDevAttrMaxBlockDimX, all.maxThreadsDim[0], 1024},
      {cudaDevAttrMaxBlockDimY, all.maxThreadsDim[1], 1024},
      {cudaDevAttrMaxBlockDimZ, all.maxThreadsDim[2], 64},
      {cudaDevAttrMaxGridDimX, all.maxGridSize[0], 2147483647},
      {cudaDevAttrMaxGridDimY, all.maxGridSize[1], 65535},
      {cudaDevAttrMaxGridDimZ, all.maxGridSize[2], 65535},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<long long>(all.sharedMemPerBlock), 49152},
      {cudaDevAttrTotalConstantMemory, static_cast<long long>(all.totalConstMem), 65536},
      {cudaDevAttrWarpSize, all.warpSize, 32},
      {cudaDevAttrMaxPitch, static_cast<long long>(all.memPitch), 2147483647},
      {cudaDevAttrMaxRegistersPerBlock, all.regsPerBlock, 65536},
      {cudaDevAttrTextureAlignment, static_cast<long long>(all.textureAlignment), 512},
      {cudaDevAttrMultiProcessorCount, all.multiProcessorCount, 132},
      {cudaDevAttrCanMapHostMemory, all.canMapHostMemory, 1},
      {cudaDevAttrSurfaceAlignment, static_cast<long long>(all.surfaceAlignment), 512},
      {cudaDevAttrConcurrentKernels, all.concurrentKernels, 1},
      {cudaDevAttrGlobalMemoryBusWidth, all.memoryBusWidth, 5120},
      {cudaDevAttrL2CacheSize, all.l2CacheSize, 50 << 20},
      {cudaDevAttrMaxThreadsPerMultiProcessor, all.maxThreadsPerMultiProcessor, 2048},
      {cudaDevAttrAsyncEngineCount, all.asyncEngineCount, 3},
      {cudaDevAttrUnifiedAddressing, all.unifiedAddressing, 1},
      {cudaDevAttrTexturePitchAlignment, static_cast<long long>(all.texturePitchAlignment), 32},
      {cudaDevAttrComputeCapabilityMajor, all.major, 9},
      {cudaDevAttrComputeCapabilityMinor, all.minor, 0},
      {cudaDevAttrStreamPrioritiesSupported, all.streamPrioritiesSupported, 1},
      {cudaDevAttrGlobalL1CacheSupported, all.globalL1CacheSupported, 1},
      {cudaDevAttrLocalL1CacheSupported, all.localL1CacheSupported, 1},
      {cudaDevAttrMaxSharedMemoryPerMultiprocessor,
       static_cast<long long>(all.sharedMemPerMultiprocessor), 228 << 10},
      {cudaDevAttrMaxRegistersPerMultiprocessor, all.regsPerMultiprocessor, 65536},
      {cudaDevAttrManagedMemory, all.managedMemory, 1},
      {cudaDevAttrConcurrentManagedAccess, all.concurrentManagedAccess, 1},
      {cudaDevAttrComputePreemptionSupported, all.computePreemptionSupported, 1},
      {cudaDevAttrCanUseHostPointerForRegisteredMem, all.canUseHostPointerForRegisteredMem, 1},
      {cudaDevAttrCooperativeLaunch, all.cooperativeLaunch, 1},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<long long>(all.sharedMemPerBlockOptin),
       227 << 10},
      {cudaDevAttrHostRegisterSupported, all.hostRegisterSupported, 1},
      {cudaDevAttrDirectManagedMemAccessFromHost, all.directManagedMemAccessFromHost, 1},
      {cudaDevAttrMaxBlocksPerMultiprocessor, all.maxBlocksPerMultiProcessor, 32},
      {cudaDevAttrReservedSharedMemoryPerBlock,
       static_cast<long long>(all.reservedSharedMemPerBlock), 1024},
      {cudaDevAttrMemoryPoolsSupported, all.memoryPoolsSupported, 1},
      {cudaDevAttrHostNumaId, all.hostNumaId, -1},
      {cudaDevAttrEccEnabled, all.ECCEnabled, 0},
      {cudaDevAttrIntegrated, all.integrated, 0},
      {cudaDevAttrPciDeviceId, all.pciDeviceID, 0}};
  for (const auto &row : rows) {
    int value = -9;
    RIGHT(cudaDeviceGetAttribute(&value, row.attribute, 0));
    if (value != row.property || value != row.known)
      expect(false, ("attribute " + std::to_string(row.attribute)).c_str(), __LINE__);
  }
  int value = -9;
  for (const cudaDeviceAttr positive :
       {cudaDevAttrClockRate, cudaDevAttrMemoryClockRate, cudaDevAttrGpuOverlap,
        cudaDevAttrSingleToDoublePrecisionPerfRatio}) {
    RIGHT(cudaDeviceGetAttribute(&value, positive, 0));
    EXPECT(value > 0);
  }
  WRONG(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(0), 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceGetAttribute(&value, cudaDevAttrMax, 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 1), cudaErrorInvalidDevice);
}

void settings_of_the_device() {
  std::size_t value = 0;
  for (const cudaLimit limit :
       {cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize,
        cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount,
        cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize}) {
    RIGHT(cudaDeviceSetLimit(limit, 4096 + limit));
    RIGHT(cudaDeviceGetLimit(&value, limit));
    EXPECT(value == 4096u + limit);
  }
  RIGHT(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 8 << 20));
  WRONG(cudaDeviceGetLimit(nullptr, cudaLimitStackSize), cudaErrorInvalidValue);
  WRONG(cudaDeviceGetLimit(&value, static_cast<cudaLimit>(99)), cudaErrorUnsupportedLimit);
  WRONG(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorUnsupportedLimit);
  cudaFuncCache cache = cudaFuncCachePreferL1;
  RIGHT(cudaDeviceSetCacheConfig(cudaFuncCachePreferNone));
  RIGHT(cudaDeviceGetCacheConfig(&cache));
  EXPECT(cache == cudaFuncCachePreferNone);
  cudaSharedMemConfig banks = cudaSharedMemBankSizeEightByte;
  RIGHT(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeFourByte));
  RIGHT(cudaDeviceGetSharedMemConfig(&banks));
  EXPECT(banks == cudaSharedMemBankSizeFourByte);
  WRONG(cudaDeviceGetSharedMemConfig(nullptr), cudaErrorInvalidValue);
  RIGHT(cudaCtxResetPersistingL2Cache());
  int least = 9, greatest = 9;
  RIGHT(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest == -5);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  RIGHT(cudaDeviceGetTexture1DLinearMaxWidth(&value, &format, 0));
  EXPECT(value == std::size_t{1} << 28);
  WRONG(cudaDeviceGetTexture1DLinearMaxWidth(&value, &format, 1), cudaErrorInvalidDevice);
  WRONG(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &format, 0), cudaErrorInvalidValue);
}

// ---- kernels

void kernels() {
  cudaKernel_t kernel = nullptr;
  cudaFunction_t function = nullptr;
  const char *name = nullptr;
  std::size_t offset = 9, size = 9, bytes = 0;
  int blocks = 0, value = 5, *p = nullptr;
  RIGHT(cudaMalloc(&p, 4));
  RIGHT(cudaMemset(p, 0, 4));
  RIGHT(cudaGetKernel(&kernel, add_handle));
  RIGHT(cudaGetFuncBySymbol(&function, add_handle));
  EXPECT(static_cast<void *>(kernel) == static_cast<void *>(function));
  WRONG(cudaGetKernel(nullptr, add_handle), cudaErrorInvalidValue);
  WRONG(cudaGetKernel(&kernel, &value), cudaErrorInvalidDeviceFunction);
  RIGHT(cudaGetKernel(&kernel, add_handle));
  RIGHT(cudaFuncGetName(&name, add_handle));
  EXPECT(std::strcmp(name, "_Z3addPii") == 0);
  WRONG(cudaFuncGetName(nullptr, add_handle), cudaErrorInvalidValue);
  WRONG(cudaFuncGetName(&name, &value), cudaErrorInvalidDeviceFunction);
  RIGHT(cudaFuncGetParamInfo(add_handle, 1, &offset, &size));
  EXPECT(offset == 8 && size == 4);
  WRONG(cudaFuncGetParamInfo(add_handle, 2, &offset, &size), cudaErrorInvalidValue);
  RIGHT(cudaFuncSetCacheConfig(add_handle, cudaFuncCachePreferShared));
  RIGHT(cudaFuncSetSharedMemConfig(add_handle, cudaSharedMemBankSizeFourByte));
  WRONG(cudaFuncSetCacheConfig(&value, cudaFuncCachePreferShared), cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes{};
  const auto largest = cudaFuncAttributeMaxDynamicSharedMemorySize;
  RIGHT(cudaKernelSetAttributeForDevice(kernel, largest, 65536, 0));
  RIGHT(cudaFuncGetAttributes(&attributes, add_handle));
  EXPECT(attributes.maxDynamicSharedSizeBytes == 65536 && attributes.sharedSizeBytes == 0);
  WRONG(cudaKernelSetAttributeForDevice(kernel, largest, 65536, 1), cudaErrorInvalidDevice);
  WRONG(cudaFuncSetAttribute(add_handle, largest, -1), cudaErrorInvalidValue);
  RIGHT(cudaFuncSetAttribute(add_handle, cudaFuncAttributePreferredSharedMemoryCarveout, 25));
  WRONG(cudaFuncSetAttribute(add_handle, cudaFuncAttributePreferredSharedMemoryCarveout, -2),
        cudaErrorInvalidValue);
  RIGHT(cudaFuncGetAttributes(&attributes, rooms_handle));
  EXPECT(attributes.sharedSizeBytes == 96 && attributes.preferredShmemCarveout == -1);
  RIGHT(cudaFuncGetAttributes(&attributes, add_handle));
  EXPECT(attributes.preferredShmemCarveout == 25);
  WRONG(cudaFuncGetAttributes(nullptr, add_handle), cudaErrorInvalidValue);
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, add_handle, 512, 0,
                                                               cudaOccupancyDefault));
  EXPECT(blocks == 4);
  WRONG(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add_handle, 0, 0),
        cudaErrorInvalidValue);
  RIGHT(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, rooms_handle, 4, 32));
  EXPECT(bytes == (57 << 10) - 1024 - 96);
  RIGHT(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, rooms_handle, 1, 32));
  EXPECT(bytes == (227 << 10) - 96);
  WRONG(cudaOccupancyAvailableDynamicSMemPerBlock(nullptr, add_handle, 1, 32),
        cudaErrorInvalidValue);
  WRONG(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, &value, 1, 32),
        cudaErrorInvalidDeviceFunction);
  void *arguments[] = {&p, &value};
  cudaLaunchConfig_t config{};
  config.gridDim = config.blockDim = dim3(2);
  RIGHT(cudaLaunchKernelExC(&config, add_handle, arguments));
  EXPECT(value_at(p) == 4 * 5);
  WRONG(cudaLaunchKernelExC(nullptr, add_handle, arguments), cudaErrorInvalidValue);
  void *found = nullptr;
  cudaDriverEntryPointQueryResult status;
  RIGHT(cudaGetDriverEntryPoint("cuTexObjectCreate", &found, cudaEnableDefault, &status));
  EXPECT(found && status == cudaDriverEntryPointSuccess);
  RIGHT(cudaGetDriverEntryPoint("cuNothing", &found, cudaEnableDefault, &status));
  EXPECT(!found && status == cudaDriverEntryPointSymbolNotFound);
  WRONG(cudaGetDriverEntryPoint(nullptr, &found, cudaEnableDefault, &status),
        cudaErrorInvalidValue);
  RIGHT(cudaFree(p));
}

// ---- libraries

void libraries() {
  const char source[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                        ".visible .global .align 4 .b32 where = 6;\n"
                        ".visible .entry first() { ret; }\n.visible .entry second() { ret; }\n";
  std::ofstream("library.ptx") << source;
  cudaLibrary_t library = nullptr, of_file = nullptr;
  cudaKernel_t kernel = nullptr, list[2] = {};
  unsigned count = 0;
  void *address = nullptr;
  std::size_t size = 0;
  const auto from_file = [&](const char *name) {
    return cudaLibraryLoadFromFile(&of_file, name, nullptr, nullptr, 0, nullptr, nullptr, 0);
  };
  RIGHT(cudaLibraryLoadData(&library, source, nullptr, nullptr, 0, nullptr, nullptr, 0));
  WRONG(cudaLibraryLoadData(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
        cudaErrorInvalidValue);
  RIGHT(from_file("library.ptx"));
  WRONG(from_file("no such file"), cudaErrorFileNotFound);
  WRONG(from_file(nullptr), cudaErrorInvalidValue);
  RIGHT(cudaLibraryGetKernelCount(&count, of_file));
  RIGHT(cudaLibraryEnumerateKernels(list, 2, of_file));
  RIGHT(cudaLibraryGetKernel(&kernel, of_file, "second"));
  EXPECT(count == 2 && list[1] == kernel);
  WRONG(cudaLibraryGetKernel(&kernel, of_file, ""), cudaErrorSymbolNotFound);
  WRONG(cudaLibraryGetKernel(nullptr, of_file, "second"), cudaErrorInvalidValue);
  WRONG(cudaLibraryGetKernelCount(nullptr, of_file), cudaErrorInvalidValue);
  WRONG(cudaLibraryEnumerateKernels(list, 2, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr));
  RIGHT(cudaLibraryGetGlobal(&address, &size, library, "where"));
  EXPECT(size == 4 && value_at(address) == 6);
  RIGHT(cudaLibraryGetManaged(nullptr, &size, library, "where"));
  WRONG(cudaLibraryGetGlobal(&address, &size, library, "first"), cudaErrorSymbolNotFound);
  WRONG(cudaLibraryGetGlobal(&address, &size, nullptr, "where"), cudaErrorInvalidValue);
  RIGHT(cudaLibraryUnload(library));
  RIGHT(cudaLibraryUnload(of_file));
  WRONG(cudaLibraryUnload(nullptr), cudaErrorInvalidValue);
}

// ---- memory

void pools_and_host_memory() {
  cudaMemPool_t first = nullptr, second = nullptr, found = nullptr;
  RIGHT(cudaDeviceGetDefaultMemPool(&first, 0));
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 0};
  RIGHT(cudaMemPoolCreate(&second, &properties));
  WRONG(cudaMemPoolCreate(nullptr, &properties), cudaErrorInvalidValue);
  RIGHT(cudaDeviceSetMemPool(0, second));
  RIGHT(cudaDeviceGetMemPool(&found, 0));
  EXPECT(found == second);
  WRONG(cudaDeviceGetMemPool(&found, 1), cudaErrorInvalidDevice);
  WRONG(cudaDeviceGetDefaultMemPool(nullptr, 0), cudaErrorInvalidValue);
  WRONG(cudaDeviceSetMemPool(0, nullptr), cudaErrorInvalidValue);
  std::uint64_t threshold = 1 << 20, kept = 0;
  RIGHT(cudaMemPoolSetAttribute(second, cudaMemPoolAttrReleaseThreshold, &threshold));
  RIGHT(cudaMemPoolGetAttribute(second, cudaMemPoolAttrReleaseThreshold, &kept));
  EXPECT(kept == threshold);
  WRONG(cudaMemPoolGetAttribute(second, cudaMemPoolAttrReleaseThreshold, nullptr),
        cudaErrorInvalidValue);
  RIGHT(cudaMemPoolTrimTo(second, 0));
  WRONG(cudaMemPoolTrimTo(nullptr, 0), cudaErrorInvalidValue);
  cudaMemAccessDesc access{};
  access.location = {cudaMemLocationTypeDevice, 0};
  access.flags = cudaMemAccessFlagsProtReadWrite;
  RIGHT(cudaMemPoolSetAccess(second, &access, 1));
  WRONG(cudaMemPoolSetAccess(second, nullptr, 1), cudaErrorInvalidValue);
  cudaMemAccessFlags flags = cudaMemAccessFlagsProtNone;
  RIGHT(cudaMemPoolGetAccess(&flags, second, &access.location));
  EXPECT(flags == cudaMemAccessFlagsProtReadWrite);
  int *p = nullptr, *host = nullptr;
  RIGHT(cudaMallocFromPoolAsync(&p, 4, second, 0));
  WRONG(cudaMallocFromPoolAsync(&p, 4, static_cast<cudaMemPool_t>(nullptr), 0),
        cudaErrorInvalidValue);
  RIGHT(cudaFreeAsync(p, 0));
  RIGHT(cudaFreeAsync(nullptr, 0));
  RIGHT(cudaMemPoolDestroy(second));
  RIGHT(cudaDeviceGetMemPool(&found, 0));
  EXPECT(found == first);
  WRONG(cudaMemPoolDestroy(first), cudaErrorInvalidValue); // it is the device's

  unsigned how = 0;
  RIGHT(cudaHostAlloc(&host, 4, cudaHostAllocWriteCombined));
  RIGHT(cudaHostGetFlags(&how, host));
  EXPECT(how == (cudaHostAllocWriteCombined | cudaHostAllocMapped));
  WRONG(cudaHostGetFlags(&how, &how), cudaErrorInvalidValue);
  WRONG(cudaHostAlloc(&host, 4, 1 << 10), cudaErrorInvalidValue);
  RIGHT(cudaFreeHost(host));
  WRONG(cudaMallocManaged(&p, 4, 8), cudaErrorInvalidValue);
  RIGHT(cudaMallocManaged(&p, 4, cudaMemAttachHost));
  RIGHT(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle));
  WRONG(cudaStreamAttachMemAsync(0, &how, 0, cudaMemAttachSingle), cudaErrorInvalidValue);
  RIGHT(cudaFree(p));
  WRONG(cudaMalloc(static_cast<void **>(nullptr), 4), cudaErrorInvalidValue);
  WRONG(cudaMallocPitch(reinterpret_cast<void **>(&p), nullptr, 4, 4), cudaErrorInvalidValue);
  WRONG(cudaMemGetInfo(nullptr, nullptr), cudaErrorInvalidValue);
  WRONG(cudaPointerGetAttributes(nullptr, p), cudaErrorInvalidValue);
  WRONG(cudaGetSymbolAddress(nullptr, numbers), cudaErrorInvalidValue);
  WRONG(cudaGetSymbolSize(nullptr, numbers), cudaErrorInvalidValue);
}

void copies() {
  cudaStream_t stream;
  RIGHT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  WRONG(cudaStreamCreateWithFlags(&stream, 8), cudaErrorInvalidValue);
  int host[8] = {0, 1, 2, 3, 4, 5, 6, 7}, back[8] = {};
  int *p = nullptr, *q = nullptr;
  RIGHT(cudaMalloc(&p, sizeof host));
  RIGHT(cudaMalloc(&q, sizeof host));
  RIGHT(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpyPeer(q, 0, p, 0, sizeof host));
  EXPECT(value_at(q + 7) == 7);
  RIGHT(cudaMemset(q, 0, sizeof host));
  RIGHT(cudaMemcpyPeerAsync(q, 0, p, 0, sizeof host, stream));
  EXPECT(value_at(q + 7) == 7);
  WRONG(cudaMemcpyPeer(q, 1, p, 0, sizeof host), cudaErrorInvalidDevice);
  // Rows of 16 bytes, of which the last 8.
  RIGHT(cudaMemcpy2DAsync(back, 8, p + 2, 16, 8, 2, cudaMemcpyDeviceToHost, stream));
  EXPECT(back[0] == 2 && back[1] == 3 && back[2] == 6 && back[3] == 7 && back[4] == 0);
  WRONG(cudaMemcpy2DAsync(back, 4, p + 2, 16, 8, 2, cudaMemcpyDeviceToHost, stream),
        cudaErrorInvalidPitchValue);
  RIGHT(cudaMemset2DAsync(p, 16, 1, 4, 2, stream));
  EXPECT(value_at(p) == 0x01010101 && value_at(p + 1) == 1 && value_at(p + 4) == 0x01010101);
  WRONG(cudaMemset2DAsync(p, 2, 1, 4, 2, stream), cudaErrorInvalidPitchValue);
  const cudaPitchedPtr planes = make_cudaPitchedPtr(p, 8, 8, 2);
  RIGHT(cudaMemset3D(planes, 2, make_cudaExtent(4, 1, 2)));
  EXPECT(value_at(p) == 0x02020202 && value_at(p + 2) == 2 && value_at(p + 4) == 0x02020202);
  RIGHT(cudaMemset3DAsync(planes, 3, make_cudaExtent(8, 2, 2), stream));
  EXPECT(value_at(p + 7) == 0x03030303);
  WRONG(cudaMemset3D(planes, 3, make_cudaExtent(8, 2, 3)), cudaErrorInvalidValue);
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(host, 8, 8, 2);
  box.dstPtr = make_cudaPitchedPtr(q, 4, 4, 1);
  box.srcPos = make_cudaPos(4, 1, 0);
  box.extent = make_cudaExtent(4, 1, 2);
  box.kind = cudaMemcpyHostToDevice;
  RIGHT(cudaMemcpy3DAsync(&box, stream));
  EXPECT(value_at(q) == 3 && value_at(q + 1) == 7);
  WRONG(cudaMemcpy3DAsync(nullptr, stream), cudaErrorInvalidValue);
  RIGHT(cudaMemcpyToSymbolAsync(numbers, host + 5, 4, 8, cudaMemcpyHostToDevice, stream));
  RIGHT(cudaMemcpyFromSymbolAsync(back, numbers, 16, 0, cudaMemcpyDeviceToHost, stream));
  EXPECT(back[1] == 2 && back[2] == 5 && back[3] == 4);
  WRONG(cudaMemcpyToSymbolAsync(numbers, host, 4, 13, cudaMemcpyHostToDevice, stream),
        cudaErrorInvalidValue);
  WRONG(cudaMemcpyFromSymbolAsync(back, host, 4, 0, cudaMemcpyDeviceToHost, stream),
        cudaErrorInvalidSymbol);
  void *to[] = {p, p + 2};
  const void *from[] = {host, host + 4};
  std::size_t sizes[] = {8, 16}, which = 0;
  cudaMemcpyAttributes how{};
  how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  RIGHT(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &which, 1, stream));
  EXPECT(value_at(p + 1) == 1 && value_at(p + 5) == 7);
  sizes[1] = 100;
  WRONG(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &which, 1, stream), cudaErrorInvalidValue);
  RIGHT(cudaStreamDestroy(stream));
  WRONG(cudaMemcpyAsync(p, host, 4, cudaMemcpyHostToDevice, stream),
        cudaErrorInvalidResourceHandle);
  RIGHT(cudaFree(p));
  RIGHT(cudaFree(q));
}

void copies_of_arrays() {
  constexpr std::size_t width = 4, height = 3;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<int>();
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc<char>();
  cudaArray_t one = nullptr, two = nullptr, of_bytes = nullptr;
  RIGHT(cudaMallocArray(&one, &format, width, height));
  RIGHT(cudaMallocArray(&two, &format, width, height));
  RIGHT(cudaMallocArray(&of_bytes, &bytes, width, height));
  WRONG(cudaMallocArray(&two, &format, 0, height), cudaErrorInvalidValue);
  WRONG(cudaMallocArray(&two, &format, width, height, cudaArraySparse), cudaErrorNotSupported);
  const cudaChannelFormatDesc odd = {32, 8, 0, 0, cudaChannelFormatKindSigned};
  WRONG(cudaMallocArray(&two, &odd, width, height), cudaErrorInvalidChannelDescriptor);
  WRONG(cudaMallocArray(&two, &format, std::size_t{1} << 33, height), cudaErrorInvalidValue);
  WRONG(cudaMallocArray(&two, &format, std::size_t{1} << 30, std::size_t{1} << 20),
        cudaErrorMemoryAllocation);
  cudaChannelFormatDesc said{};
  RIGHT(cudaGetChannelDesc(&said, one));
  EXPECT(said.x == 32 && said.y == 0 && said.f == cudaChannelFormatKindSigned);
  WRONG(cudaGetChannelDesc(nullptr, one), cudaErrorInvalidValue);
  cudaExtent extent{};
  unsigned flags = 9;
  RIGHT(cudaArrayGetInfo(&said, &extent, &flags, one));
  EXPECT(extent.width == width && extent.height == height && extent.depth == 0 && flags == 0);
  RIGHT(cudaArrayGetInfo(nullptr, nullptr, nullptr, one));

  int host[12], back[12] = {};
  for (int i = 0; i < 12; ++i)
    host[i] = i;
  // Bytes one after the other, from the middle of the first row on.
  RIGHT(cudaMemcpyToArray(one, 0, 0, host, sizeof host, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpyFromArray(back, one, 8, 0, 24, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 2 && back[5] == 7 && back[6] == 0);
  WRONG(cudaMemcpyToArray(one, 16, 0, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  WRONG(cudaMemcpyToArray(one, 0, 2, host, 20, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  WRONG(cudaMemcpyToArray(one, 2, 0, host, 4, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  RIGHT(cudaMemcpyToArrayAsync(two, 0, 0, host, sizeof host, cudaMemcpyHostToDevice, 0));
  RIGHT(cudaMemcpyFromArrayAsync(back, two, 4, 1, 8, cudaMemcpyDeviceToHost, 0));
  EXPECT(back[0] == 5 && back[1] == 6);
  // Rectangles.
  const int square[] = {100, 101, 102, 103};
  RIGHT(cudaMemcpy2DToArrayAsync(two, 8, 1, square, 8, 8, 2, cudaMemcpyHostToDevice, 0));
  RIGHT(cudaMemcpy2DFromArrayAsync(back, 16, two, 0, 0, 16, 3, cudaMemcpyDeviceToHost, 0));
  EXPECT(back[6] == 100 && back[7] == 101 && back[10] == 102 && back[11] == 103 && back[5] == 5);
  RIGHT(cudaMemcpy2DArrayToArray(one, 0, 0, two, 8, 1, 8, 2, cudaMemcpyDeviceToDevice));
  RIGHT(cudaMemcpy2DFromArray(back, 16, one, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
  EXPECT(back[0] == 100 && back[1] == 101 && back[2] == 2 && back[4] == 102 && back[8] == 8);
  WRONG(cudaMemcpy2DArrayToArray(one, 0, 0, of_bytes, 0, 0, 4, 1, cudaMemcpyDeviceToDevice),
        cudaErrorInvalidValue); // other elements
  WRONG(cudaMemcpy2DToArray(one, 0, 0, square, 8, 8, 4, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);

  // What objects are made of.
  cudaResourceDesc resource{}, known{};
  cudaTextureDesc texture{}, how{};
  cudaTextureObject_t object = 0;
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = one;
  texture.addressMode[0] = cudaAddressModeBorder;
  RIGHT(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  RIGHT(cudaGetTextureObjectTextureDesc(&how, object));
  EXPECT(how.addressMode[0] == cudaAddressModeBorder);
  WRONG(cudaGetTextureObjectTextureDesc(nullptr, object), cudaErrorInvalidValue);
  RIGHT(cudaDestroyTextureObject(object));
  WRONG(cudaGetTextureObjectTextureDesc(&how, object), cudaErrorInvalidValue);
  WRONG(cudaCreateSurfaceObject(&object, &resource), cudaErrorInvalidValue); // not made for it
  RIGHT(cudaFreeArray(two));
  RIGHT(cudaMallocArray(&two, &format, width, height, cudaArraySurfaceLoadStore));
  resource.res.array.array = two;
  RIGHT(cudaCreateSurfaceObject(&object, &resource));
  RIGHT(cudaGetSurfaceObjectResourceDesc(&known, object));
  EXPECT(known.resType == cudaResourceTypeArray && known.res.array.array == two);
  RIGHT(cudaDestroySurfaceObject(object));
  WRONG(cudaGetSurfaceObjectResourceDesc(&known, object), cudaErrorInvalidValue);

  RIGHT(cudaFreeArray(nullptr));
  RIGHT(cudaFreeArray(two));
  WRONG(cudaFreeArray(two), cudaErrorInvalidResourceHandle);
  WRONG(cudaArrayGetInfo(&said, &extent, &flags, two), cudaErrorInvalidResourceHandle);
  WRONG(cudaGetChannelDesc(&said, two), cudaErrorInvalidValue);
  WRONG(cudaMemcpyToArray(two, 0, 0, host, 4, cudaMemcpyHostToDevice),
        cudaErrorInvalidResourceHandle);
  WRONG(cudaMemcpy2DToArray(two, 0, 0, host, 8, 8, 1, cudaMemcpyHostToDevice),
        cudaErrorInvalidResourceHandle);
  resource.res.array.array = two;
  WRONG(cudaCreateTextureObject(&object, &resource, &texture, nullptr),
        cudaErrorInvalidResourceHandle);
  RIGHT(cudaFreeArray(one));
  RIGHT(cudaFreeArray(of_bytes));
}

// ---- streams

void streams() {
  cudaStream_t one, two, dead;
  unsigned long long first = 0, second = 0;
  int number = 9;
  RIGHT(cudaStreamCreate(&one));
  RIGHT(cudaStreamCreate(&two));
  RIGHT(cudaStreamCreate(&dead));
  RIGHT(cudaStreamDestroy(dead));
  RIGHT(cudaStreamGetId(one, &first));
  RIGHT(cudaStreamGetId(two, &second));
  EXPECT(first != second);
  RIGHT(cudaStreamGetId(cudaStreamPerThread, &first));
  RIGHT(cudaStreamGetId(cudaStreamLegacy, &second));
  EXPECT(first != second);
  WRONG(cudaStreamGetId(dead, &first), cudaErrorInvalidResourceHandle);
  RIGHT(cudaStreamGetDevice(one, &number));
  EXPECT(number == 0);
  WRONG(cudaStreamGetDevice(one, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaStreamQuery(one));
  cudaLaunchAttributeValue value{}, found{};
  value.priority = -3;
  RIGHT(cudaStreamSetAttribute(one, cudaLaunchAttributePriority, &value));
  RIGHT(cudaStreamCopyAttributes(two, one));
  RIGHT(cudaStreamGetAttribute(two, cudaLaunchAttributePriority, &found));
  EXPECT(found.priority == -3);
  WRONG(cudaStreamSetAttribute(one, cudaLaunchAttributePriority, nullptr), cudaErrorInvalidValue);
  WRONG(cudaStreamCopyAttributes(two, dead), cudaErrorInvalidResourceHandle);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
  RIGHT(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == cudaStreamCaptureModeGlobal);
  WRONG(cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
  cudaEvent_t event, done;
  RIGHT(cudaEventCreateWithFlags(&done, cudaEventDisableTiming | cudaEventBlockingSync));
  RIGHT(cudaEventCreate(&event));
  WRONG(cudaEventCreateWithFlags(&event, 64), cudaErrorInvalidValue);
  WRONG(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming),
        cudaErrorNotSupported);
  WRONG(cudaEventElapsedTime(nullptr, event, event), cudaErrorInvalidValue);
  WRONG(cudaStreamAddCallback(one, nullptr, nullptr, 0), cudaErrorInvalidValue);

  // Recorded while it is captured, an event is the capture's; external ones are nodes.
  cudaStreamCaptureStatus status;
  cudaGraph_t graph = nullptr, made = nullptr;
  const cudaGraphNode_t *last = nullptr;
  std::size_t count = 9;
  WRONG(cudaStreamUpdateCaptureDependencies(one, nullptr, nullptr, 0, 0), cudaErrorIllegalState);
  RIGHT(cudaStreamGetCaptureInfo(one, &status, nullptr));
  EXPECT(status == cudaStreamCaptureStatusNone);
  WRONG(
      cudaStreamBeginCaptureToGraph(one, nullptr, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal),
      cudaErrorInvalidValue);
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  RIGHT(cudaEventRecord(event, one));
  WRONG(cudaEventQuery(event), cudaErrorCapturedEvent);
  RIGHT(cudaEventRecordWithFlags(done, one, cudaEventRecordExternal));
  RIGHT(cudaStreamGetCaptureInfo(one, &status, &first, &graph, &last, nullptr, &count));
  EXPECT(status == cudaStreamCaptureStatusActive && count == 1 && graph);
  cudaGraphNodeType type;
  RIGHT(cudaGraphNodeGetType(*last, &type));
  EXPECT(type == cudaGraphNodeTypeEventRecord);
  RIGHT(cudaStreamWaitEvent(one, done, cudaEventWaitExternal));
  RIGHT(cudaStreamGetCaptureInfo(one, &status, nullptr, nullptr, &last, nullptr, &count));
  RIGHT(cudaGraphNodeGetType(*last, &type));
  EXPECT(type == cudaGraphNodeTypeWaitEvent);
  WRONG(cudaStreamAddCallback(
            one, [](cudaStream_t, cudaError_t, void *) {}, nullptr, 0),
        cudaErrorStreamCaptureUnsupported);
  cudaGraphNode_t node = *last;
  RIGHT(cudaStreamUpdateCaptureDependencies(one, &node, nullptr, 1,
                                            cudaStreamSetCaptureDependencies));
  // Another capture is none of this one's.
  RIGHT(cudaStreamBeginCapture(two, cudaStreamCaptureModeGlobal));
  WRONG(cudaStreamWaitEvent(two, event, 0), cudaErrorStreamCaptureMerge);
  RIGHT(cudaStreamEndCapture(two, &made));
  RIGHT(cudaStreamWaitEvent(two, event, 0));
  WRONG(cudaStreamEndCapture(two, &made), cudaErrorStreamCaptureUnmatched); // it began in one
  RIGHT(cudaStreamEndCapture(one, &made));
  EXPECT(made == graph);
  RIGHT(cudaEventQuery(event));
  RIGHT(cudaGraphDestroy(made));
  RIGHT(cudaStreamDestroy(one));
  RIGHT(cudaStreamDestroy(two));
  WRONG(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal), cudaErrorInvalidResourceHandle);
}

// ---- graphs

cudaGraphNodeParams of_type(cudaGraphNodeType type) {
  cudaGraphNodeParams parameters = {};
  parameters.type = type;
  return parameters;
}

void nodes_that_copy() {
  int *p = nullptr, host[2] = {7, 8}, back[2] = {};
  RIGHT(cudaMalloc(&p, 8));
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t in, out, set, plain, none;
  RIGHT(cudaGraphCreate(&graph, 0));
  // By the type of a node.
  cudaGraphNodeParams copy = of_type(cudaGraphNodeTypeMemcpy),
                      zero = of_type(cudaGraphNodeTypeMemset);
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(host, 8, 8, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(p, 8, 8, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(8, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyHostToDevice;
  zero.memset = {};
  zero.memset.dst = p;
  zero.memset.elementSize = 4;
  zero.memset.value = 5;
  zero.memset.width = zero.memset.height = 1;
  RIGHT(cudaGraphAddNode(&in, graph, nullptr, nullptr, 0, &copy));
  RIGHT(cudaGraphAddNode(&set, graph, &in, nullptr, 1, &zero));
  WRONG(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, nullptr), cudaErrorInvalidValue);
  zero.memset.elementSize = 3;
  WRONG(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &zero), cudaErrorInvalidValue);
  zero.memset.elementSize = 4;
  cudaGraphNodeParams nested = of_type(cudaGraphNodeTypeGraph);
  WRONG(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &nested), cudaErrorInvalidValue);
  // By their own functions.
  cudaMemcpy3DParms row{}, said{};
  row.srcPtr = make_cudaPitchedPtr(p, 8, 8, 1);
  row.dstPtr = make_cudaPitchedPtr(back, 8, 8, 1);
  row.extent = make_cudaExtent(4, 1, 1);
  row.kind = cudaMemcpyDeviceToHost;
  RIGHT(cudaGraphAddMemcpyNode(&out, graph, &set, 1, &row));
  WRONG(cudaGraphAddMemcpyNode(&none, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaGraphMemcpyNodeGetParams(out, &said));
  EXPECT(said.extent.width == 4 && said.dstPtr.ptr == back && said.kind == cudaMemcpyDeviceToHost);
  WRONG(cudaGraphMemcpyNodeGetParams(set, &said), cudaErrorInvalidValue);
  row.extent.width = 8;
  RIGHT(cudaGraphMemcpyNodeSetParams(out, &row));
  WRONG(cudaGraphMemcpyNodeSetParams(out, nullptr), cudaErrorInvalidValue);
  cudaMemcpy3DParms nowhere = row;
  nowhere.srcPtr.ptr = back; // not of the device
  WRONG(cudaGraphMemcpyNodeSetParams(out, &nowhere), cudaErrorInvalidValue);
  cudaMemsetParams known{}, nines = {p, 0, 9, 4, 1, 1};
  RIGHT(cudaGraphMemsetNodeGetParams(set, &known));
  EXPECT(known.dst == p && known.value == 5 && known.elementSize == 4 && known.width == 1);
  RIGHT(cudaGraphMemsetNodeSetParams(set, &nines));
  RIGHT(cudaGraphMemsetNodeGetParams(set, &known));
  EXPECT(known.value == 9);
  WRONG(cudaGraphMemsetNodeSetParams(out, &nines), cudaErrorInvalidValue);
  cudaMemsetParams of_three = nines;
  of_three.elementSize = 3;
  WRONG(cudaGraphMemsetNodeSetParams(set, &of_three), cudaErrorInvalidValue);
  WRONG(cudaGraphMemsetNodeSetParams(set, nullptr), cudaErrorInvalidValue);
  WRONG(cudaGraphMemsetNodeGetParams(set, nullptr), cudaErrorInvalidValue);
  WRONG(cudaGraphAddMemsetNode(&none, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaGraphInstantiateWithFlags(&executable, graph, 0));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(back[0] == 9 && back[1] == 8);
  // In what runs.
  int other[2] = {1, 2};
  RIGHT(cudaGraphExecMemcpyNodeSetParams1D(executable, in, p, other, 8, cudaMemcpyHostToDevice));
  nines.value = 3;
  RIGHT(cudaGraphExecMemsetNodeSetParams(executable, set, &nines));
  row.dstPtr.ptr = other;
  RIGHT(cudaGraphExecMemcpyNodeSetParams(executable, out, &row));
  WRONG(cudaGraphExecMemcpyNodeSetParams(executable, set, &row), cudaErrorInvalidValue);
  WRONG(cudaGraphExecMemcpyNodeSetParams(executable, out, nullptr), cudaErrorInvalidValue);
  WRONG(cudaGraphExecMemcpyNodeSetParams(executable, out, &nowhere), cudaErrorInvalidValue);
  WRONG(cudaGraphExecMemsetNodeSetParams(executable, set, &of_three), cudaErrorInvalidValue);
  WRONG(cudaGraphExecMemsetNodeSetParams(executable, set, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(other[0] == 3 && other[1] == 2 && back[0] == 9);
  RIGHT(cudaGraphExecNodeSetParams(executable, in, &copy)); // again from host
  RIGHT(cudaGraphExecNodeSetParams(executable, set, &zero));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(other[0] == 5 && other[1] == 8);
  WRONG(cudaGraphExecNodeSetParams(executable, in, &zero), cudaErrorInvalidValue);
  RIGHT(cudaGraphAddMemcpyNode1D(&plain, graph, &out, 1, back, p, 4, cudaMemcpyDeviceToHost));
  RIGHT(cudaGraphMemcpyNodeSetParams1D(plain, back + 1, p, 4, cudaMemcpyDeviceToHost));
  RIGHT(cudaGraphMemcpyNodeGetParams(plain, &said));
  EXPECT(said.dstPtr.ptr == back + 1);
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphDestroy(graph));
  RIGHT(cudaFree(p));
}

void nodes_that_call() {
  int *p = nullptr, noted = 0, other_noted = 0, value = 3;
  void *arguments[] = {&p, &value};
  RIGHT(cudaMalloc(&p, 4));
  RIGHT(cudaMemset(p, 0, 4));
  cudaGraph_t graph, child, inner = nullptr;
  cudaGraphExec_t executable;
  cudaGraphNode_t kernel, calls, records, waits, nested, none, found[4], ends[4];
  cudaEvent_t event;
  RIGHT(cudaEventCreate(&event));
  RIGHT(cudaGraphCreate(&graph, 0));
  RIGHT(cudaGraphCreate(&child, 0));
  cudaKernelNodeParams launch = {
      const_cast<void *>(add_handle), dim3(1), dim3(2), 0, arguments, nullptr};
  RIGHT(cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &launch));
  launch.blockDim = dim3(4);
  RIGHT(cudaGraphKernelNodeSetParams(kernel, &launch));
  WRONG(cudaGraphKernelNodeSetParams(kernel, nullptr), cudaErrorInvalidValue);
  launch.func = &value;
  WRONG(cudaGraphKernelNodeSetParams(kernel, &launch), cudaErrorInvalidDeviceFunction);
  cudaHostNodeParams host = {note, &noted}, said = {}, nobody = {nullptr, nullptr};
  RIGHT(cudaGraphAddHostNode(&calls, graph, &kernel, 1, &host));
  WRONG(cudaGraphAddHostNode(&none, graph, &kernel, 1, &nobody), cudaErrorInvalidValue);
  WRONG(cudaGraphHostNodeSetParams(calls, &nobody), cudaErrorInvalidValue);
  RIGHT(cudaGraphHostNodeGetParams(calls, &said));
  EXPECT(said.fn == note && said.userData == &noted);
  WRONG(cudaGraphHostNodeGetParams(kernel, &said), cudaErrorInvalidValue);
  RIGHT(cudaGraphAddEventRecordNode(&records, graph, &calls, 1, event));
  RIGHT(cudaGraphAddEventWaitNode(&waits, graph, &records, 1, event));
  WRONG(cudaGraphAddEventWaitNode(&none, graph, &records, 1, nullptr), cudaErrorInvalidValue);
  WRONG(cudaGraphAddEventRecordNode(&none, graph, &records, 1, nullptr), cudaErrorInvalidValue);
  RIGHT(cudaGraphAddHostNode(&none, child, nullptr, 0, &host));
  RIGHT(cudaGraphAddChildGraphNode(&nested, graph, &waits, 1, child));
  RIGHT(cudaGraphChildGraphNodeGetGraph(nested, &inner));
  EXPECT(inner && inner != child);
  WRONG(cudaGraphChildGraphNodeGetGraph(kernel, &inner), cudaErrorInvalidValue);
  WRONG(cudaGraphAddChildGraphNode(&none, inner, nullptr, 0, nullptr), cudaErrorInvalidValue);
  const cudaGraphNodeType types[] = {cudaGraphNodeTypeKernel, cudaGraphNodeTypeHost,
                                     cudaGraphNodeTypeEventRecord, cudaGraphNodeTypeWaitEvent,
                                     cudaGraphNodeTypeGraph};
  const cudaGraphNode_t nodes[] = {kernel, calls, records, waits, nested};
  for (int i = 0; i < 5; ++i) {
    cudaGraphNodeType type;
    RIGHT(cudaGraphNodeGetType(nodes[i], &type));
    EXPECT(type == types[i]);
  }
  // Edges.
  std::size_t count = 4;
  cudaGraphEdgeData data[4];
  RIGHT(cudaGraphGetRootNodes(graph, found, &count));
  EXPECT(count == 1 && found[0] == kernel);
  count = 4;
  std::memset(data, 0xff, sizeof data);
  RIGHT(cudaGraphGetEdges(graph, found, ends, data, &count));
  EXPECT(count == 4 && found[3] == waits && ends[3] == nested && data[3].type == 0);
  WRONG(cudaGraphGetEdges(graph, found, ends, data, nullptr), cudaErrorInvalidValue);
  count = 4;
  RIGHT(cudaGraphNodeGetDependentNodes(calls, found, nullptr, &count));
  EXPECT(count == 1 && found[0] == records);
  RIGHT(cudaGraphNodeGetDependencies(calls, found, nullptr, &count));
  EXPECT(count == 1 && found[0] == kernel);
  WRONG(cudaGraphAddDependencies(graph, &kernel, &calls, nullptr, 1), cudaErrorInvalidValue);
  WRONG(cudaGraphRemoveDependencies(graph, &kernel, &records, nullptr, 1), cudaErrorInvalidValue);
  RIGHT(cudaGraphAddDependencies(graph, &kernel, &records, nullptr, 1));
  RIGHT(cudaGraphRemoveDependencies(graph, &kernel, &records, nullptr, 1));
  cudaGraph_t copy;
  RIGHT(cudaGraphClone(&copy, graph));
  RIGHT(cudaGraphNodeFindInClone(&none, calls, copy));
  RIGHT(cudaGraphHostNodeGetParams(none, &said));
  EXPECT(none != calls && said.userData == &noted);
  WRONG(cudaGraphNodeFindInClone(&none, calls, child), cudaErrorInvalidValue);

  cudaGraphInstantiateParams how{};
  how.flags = cudaGraphInstantiateFlagUseNodePriority;
  unsigned long long flags = 0;
  RIGHT(cudaGraphInstantiateWithParams(&executable, graph, &how));
  EXPECT(how.result_out == cudaGraphInstantiateSuccess);
  RIGHT(cudaGraphExecGetFlags(executable, &flags));
  EXPECT(flags == cudaGraphInstantiateFlagUseNodePriority);
  RIGHT(cudaGraphUpload(executable, 0));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(noted == 2 && value_at(p) == 4 * 3);
  host.userData = &other_noted;
  RIGHT(cudaGraphExecHostNodeSetParams(executable, calls, &host));
  WRONG(cudaGraphExecHostNodeSetParams(executable, calls, &nobody), cudaErrorInvalidValue);
  WRONG(cudaGraphExecHostNodeSetParams(executable, kernel, &host), cudaErrorInvalidValue);
  unsigned enabled = 9;
  RIGHT(cudaGraphNodeGetEnabled(executable, kernel, &enabled));
  EXPECT(enabled == 1);
  RIGHT(cudaGraphNodeSetEnabled(executable, kernel, 0));
  WRONG(cudaGraphNodeSetEnabled(executable, calls, 0), cudaErrorInvalidValue);
  WRONG(cudaGraphNodeGetEnabled(executable, calls, &enabled), cudaErrorInvalidValue);
  RIGHT(cudaGraphNodeGetEnabled(executable, kernel, &enabled));
  EXPECT(enabled == 0);
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(noted == 3 && other_noted == 1 && value_at(p) == 4 * 3);
  RIGHT(cudaGraphHostNodeSetParams(calls, &host));
  RIGHT(cudaGraphHostNodeGetParams(calls, &said));
  EXPECT(said.userData == &other_noted);

  // An attribute of no node of the kind is 0.
  cudaLaunchAttributeValue attribute{};
  attribute.cooperative = 1;
  RIGHT(cudaGraphKernelNodeSetAttribute(kernel, cudaLaunchAttributeCooperative, &attribute));
  attribute = {};
  RIGHT(cudaGraphKernelNodeGetAttribute(kernel, cudaLaunchAttributeCooperative, &attribute));
  EXPECT(attribute.cooperative == 1);
  WRONG(cudaGraphKernelNodeSetAttribute(calls, cudaLaunchAttributeCooperative, &attribute),
        cudaErrorInvalidValue);
  RIGHT(cudaGraphExecDestroy(executable));
  WRONG(cudaGraphExecGetFlags(executable, &flags), cudaErrorInvalidValue);
  WRONG(cudaGraphNodeSetEnabled(executable, kernel, 1), cudaErrorInvalidValue);
  RIGHT(cudaGraphDestroy(graph));
  RIGHT(cudaFree(p));
}

// What may change in a graph that is executed already, and what may not.
void updates() {
  int *p = nullptr;
  RIGHT(cudaMalloc(&p, 4));
  cudaMemsetParams zero = {p, 0, 0, 4, 1, 1};
  cudaGraph_t graph, other;
  cudaGraphNode_t first, second, third;
  cudaGraphExec_t executable;
  cudaGraphExecUpdateResultInfo result{};
  RIGHT(cudaGraphCreate(&graph, 0));
  RIGHT(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &zero));
  RIGHT(cudaGraphAddMemsetNode(&second, graph, &first, 1, &zero));
  RIGHT(cudaGraphInstantiate(&executable, graph, 0));
  const auto changed = [&](cudaGraphExecUpdateResult why) {
    WRONG(cudaGraphExecUpdate(executable, other, &result), cudaErrorGraphExecUpdateFailure);
    EXPECT(result.result == why);
    RIGHT(cudaGraphDestroy(other));
    RIGHT(cudaGraphCreate(&other, 0));
  };
  RIGHT(cudaGraphCreate(&other, 0));
  changed(cudaGraphExecUpdateErrorTopologyChanged); // fewer nodes
  RIGHT(cudaGraphAddMemsetNode(&first, other, nullptr, 0, &zero));
  RIGHT(cudaGraphAddMemsetNode(&second, other, nullptr, 0, &zero));
  changed(cudaGraphExecUpdateErrorTopologyChanged); // without the edge
  RIGHT(cudaGraphAddMemsetNode(&first, other, nullptr, 0, &zero));
  RIGHT(cudaGraphAddEmptyNode(&second, other, &first, 1));
  changed(cudaGraphExecUpdateErrorNodeTypeChanged);
  WRONG(cudaGraphExecUpdate(executable, nullptr, &result), cudaErrorInvalidValue);
  // Three in a row, then the third behind the first.
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphDestroy(graph));
  RIGHT(cudaGraphCreate(&graph, 0));
  RIGHT(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  RIGHT(cudaGraphAddEmptyNode(&second, graph, &first, 1));
  RIGHT(cudaGraphAddEmptyNode(&third, graph, &second, 1));
  RIGHT(cudaGraphInstantiate(&executable, graph, 0));
  RIGHT(cudaGraphAddEmptyNode(&first, other, nullptr, 0));
  RIGHT(cudaGraphAddEmptyNode(&second, other, &first, 1));
  RIGHT(cudaGraphAddEmptyNode(&third, other, &first, 1));
  changed(cudaGraphExecUpdateErrorTopologyChanged);
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphDestroy(graph));
  // Memory that a graph allocates keeps its address.
  RIGHT(cudaGraphCreate(&graph, 0));
  cudaMemAllocNodeParams wanted = {}, more = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = 8;
  more = wanted;
  RIGHT(cudaGraphAddMemAllocNode(&first, graph, nullptr, 0, &wanted));
  RIGHT(cudaGraphInstantiate(&executable, graph, 0));
  RIGHT(cudaGraphAddMemAllocNode(&first, other, nullptr, 0, &more));
  changed(cudaGraphExecUpdateErrorParametersChanged);
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphDestroy(other));
  // By the type of a node, memory that a graph allocates and frees.
  cudaGraphNodeParams takes = of_type(cudaGraphNodeTypeMemAlloc),
                      gives = of_type(cudaGraphNodeTypeMemFree);
  takes.alloc = {};
  takes.alloc.poolProps = wanted.poolProps;
  takes.alloc.bytesize = 16;
  RIGHT(cudaGraphCreate(&other, 0));
  RIGHT(cudaGraphAddNode(&first, other, nullptr, nullptr, 0, &takes));
  EXPECT(takes.alloc.dptr);
  gives.free.dptr = takes.alloc.dptr;
  RIGHT(cudaGraphAddNode(&second, other, &first, nullptr, 1, &gives));
  WRONG(cudaGraphNodeSetParams(first, &takes), cudaErrorInvalidValue); // it stays as it is
  RIGHT(cudaGraphInstantiate(&executable, other, 0));
  RIGHT(cudaGraphLaunch(executable, 0));
  RIGHT(cudaGraphLaunch(executable, 0));
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaFree(p));
}

int main() {
  which_device();
  attributes_of_the_device();
  settings_of_the_device();
  kernels();
  libraries();
  pools_and_host_memory();
  copies();
  copies_of_arrays();
  streams();
  nodes_that_copy();
  nodes_that_call();
  updates();
  return finish();
}
