// Every function of the Driver API that driver.cpp does not call, and what each gives for arguments
// that cuda.h forbids. Kernels are PTX by hand, so that nothing but a linker is needed.
#include "driver.h"

#include <dlfcn.h>

#include <array>
#include <fstream>
#include <iterator>
#include <thread>

namespace {

const char source[] = R"(.version 9.0
.target sm_90
.address_size 64
.visible .const .align 4 .b32 offset = 5;
.visible .global .align 4 .b32 counters[3] = {7, 8, 9};
.visible .entry add(.param .u64 to, .param .u32 value) {
  .reg .b64 %p;
  .reg .b32 %v, %o;
  ld.param.u64 %p, [to];
  ld.param.u32 %v, [value];
  ld.const.u32 %o, [offset];
  add.u32 %v, %v, %o;
  red.global.add.u32 [%p], %v;
  ret;
}
.visible .entry rooms(.param .u64 to) .maxntid 64 {
  .local .align 8 .b8 own[16];
  .shared .align 4 .b8 room[96];
  .reg .b64 %p;
  .reg .b32 %v;
  ld.param.u64 %p, [to];
  mov.u32 %v, 3;
  st.local.u32 [own], %v;
  ld.local.u32 %v, [own];
  st.shared.u32 [room], %v;
  ld.shared.u32 %v, [room];
  st.global.u32 [%p], %v;
  ret;
}
.visible .entry pair(.param .u64 to) .explicitcluster .reqnctapercluster 2 {
  .reg .b64 %p;
  .reg .b32 %v;
  ld.param.u64 %p, [to];
  mov.u32 %v, %cluster_nctaid.x;
  red.global.add.u32 [%p], %v;
  ret;
}
.visible .entry sample(.param .u64 texture, .param .u64 to) {
  .reg .b64 %t, %p, %o;
  .reg .b32 %x, %y, %i;
  .reg .f32 %u, %v, %a, %b, %c, %d;
  ld.param.u64 %t, [texture];
  ld.param.u64 %p, [to];
  mov.u32 %x, %tid.x;
  mov.u32 %y, %tid.y;
  cvt.rn.f32.u32 %u, %x;
  cvt.rn.f32.u32 %v, %y;
  tex.2d.v4.f32.f32 {%a, %b, %c, %d}, [%t, {%u, %v}];
  mad.lo.u32 %i, %y, 4, %x;
  mul.wide.u32 %o, %i, 4;
  add.u64 %p, %p, %o;
  st.global.f32 [%p], %a;
  ret;
}
.visible .entry row(.param .u64 texture, .param .u64 to) {
  .reg .b64 %t, %p, %o;
  .reg .b32 %x, %a, %b, %c, %d;
  ld.param.u64 %t, [texture];
  ld.param.u64 %p, [to];
  mov.u32 %x, %tid.x;
  tex.1d.v4.u32.s32 {%a, %b, %c, %d}, [%t, {%x}];
  mul.wide.u32 %o, %x, 4;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %b;
  ret;
}
.visible .entry invert(.param .u64 surface) {
  .reg .b64 %s;
  .reg .b32 %x, %y, %v;
  ld.param.u64 %s, [surface];
  mov.u32 %x, %tid.x;
  shl.b32 %x, %x, 2;
  mov.u32 %y, %tid.y;
  suld.b.2d.b32.trap {%v}, [%s, {%x, %y}];
  not.b32 %v, %v;
  sust.b.2d.b32.trap [%s, {%x, %y}], {%v};
  ret;
}
)";

/// A function by its name and the version of CUDA that a program was written for.
template <class Function> Function by_name(const char *name, int version) {
  void *found = nullptr;
  CUdriverProcAddressQueryResult status;
  GOOD(cuGetProcAddress(name, &found, version, CU_GET_PROC_ADDRESS_DEFAULT, &status));
  EXPECT(status == CU_GET_PROC_ADDRESS_SUCCESS);
  return reinterpret_cast<Function>(found);
}

int value_at(CUdeviceptr address) {
  int value = -1;
  GOOD(cuMemcpyDtoH(&value, address, sizeof value));
  return value;
}

struct Kernels {
  CUmodule module = nullptr;
  CUfunction add = nullptr, rooms = nullptr, pair = nullptr, sample = nullptr, row = nullptr,
             invert = nullptr;
};

Kernels load() {
  Kernels all;
  GOOD(cuModuleLoadData(&all.module, source));
  GOOD(cuModuleGetFunction(&all.add, all.module, "add"));
  GOOD(cuModuleGetFunction(&all.rooms, all.module, "rooms"));
  GOOD(cuModuleGetFunction(&all.pair, all.module, "pair"));
  GOOD(cuModuleGetFunction(&all.sample, all.module, "sample"));
  GOOD(cuModuleGetFunction(&all.row, all.module, "row"));
  GOOD(cuModuleGetFunction(&all.invert, all.module, "invert"));
  return all;
}

// ---- what can be asked before a context is made

void before_the_beginning() {
  CUdevice device = 0;
  CUcontext context = nullptr;
  int number = 0;
  WRONG(cuDeviceGet(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
  WRONG(cuDevicePrimaryCtxRetain(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
  WRONG(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
  WRONG(cuDriverGetVersion(nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuDriverGetVersion(&number)); // needs no cuInit
  EXPECT(number == CUDA_VERSION);
  const char *words = nullptr;
  GOOD(cuGetErrorString(CUDA_SUCCESS, &words));
  EXPECT(std::strcmp(words, "no error") == 0);
  WRONG(cuGetErrorString(static_cast<CUresult>(-1), &words), CUDA_ERROR_INVALID_VALUE);
  EXPECT(words == nullptr);
  WRONG(cuGetErrorName(CUDA_SUCCESS, nullptr), CUDA_ERROR_INVALID_VALUE);
}

void names_of_the_device() {
  CUdevice device = -1;
  char text[100];
  GOOD(cuDeviceGet(&device, 0));
  EXPECT(device == 0);
  WRONG(cuDeviceGet(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceGetCount(nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuDeviceGetName(text, 5, device));
  EXPECT(std::strcmp(text, "ptxa") == 0);
  WRONG(cuDeviceGetName(nullptr, 5, device), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceGetName(text, 0, device), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceGetName(text, 5, 1), CUDA_ERROR_INVALID_DEVICE);
  CUuuid uuid{}, same{};
  GOOD(cuDeviceGetUuid(&uuid, device));
  EXPECT(std::memcmp(uuid.bytes, "ptxasw emulation", sizeof uuid.bytes) == 0);
  WRONG(cuDeviceGetUuid(nullptr, device), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<CUresult (*)(CUuuid *, CUdevice)>("cuDeviceGetUuid", 9020)(&same, device));
  EXPECT(std::memcmp(uuid.bytes, same.bytes, sizeof uuid.bytes) == 0);
  char luid[8];
  unsigned mask = 0;
  WRONG(cuDeviceGetLuid(luid, &mask, device), CUDA_ERROR_NOT_SUPPORTED); // only Windows has them
  GOOD(cuDeviceGetPCIBusId(text, sizeof text, device));
  EXPECT(std::strcmp(text, "0000:00:00.0") == 0);
  WRONG(cuDeviceGetPCIBusId(text, 12, device), CUDA_ERROR_INVALID_VALUE); // one too few
  for (const char *const name : {"0000:00:00.0", "0000:00:00", "00:00.0"}) {
    device = -1;
    GOOD(cuDeviceGetByPCIBusId(&device, name));
    EXPECT(device == 0);
  }
  WRONG(cuDeviceGetByPCIBusId(&device, "0000:01:00.0"), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuDeviceGetByPCIBusId(&device, ""), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuDeviceGetByPCIBusId(&device, nullptr), CUDA_ERROR_INVALID_VALUE);
}

void numbers_of_the_device() {
  CUdevprop all{};
  int major = 0, minor = -1, value = -1;
  GOOD(cuDeviceGetProperties(&all, 0));
  EXPECT(all.maxThreadsPerBlock == 1024 && all.maxThreadsDim[2] == 64 && all.SIMDWidth == 32);
  EXPECT(all.maxGridSize[0] == 2147483647 && all.maxGridSize[1] == 65535);
  EXPECT(all.sharedMemPerBlock == 48 << 10 && all.totalConstantMemory == 64 << 10);
  EXPECT(all.regsPerBlock == 65536 && all.memPitch == 2147483647 && all.textureAlign == 512);
  EXPECT(all.clockRate > 0);
  WRONG(cuDeviceGetProperties(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceGetProperties(&all, 1), CUDA_ERROR_INVALID_DEVICE);
  GOOD(cuDeviceComputeCapability(&major, &minor, 0));
  EXPECT(major == 9 && minor == 0);
  WRONG(cuDeviceComputeCapability(&major, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceTotalMem(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0), CUDA_ERROR_INVALID_VALUE);
  // A device is no peer of itself.
  GOOD(cuDeviceCanAccessPeer(&value, 0, 0));
  EXPECT(value == 0);
  WRONG(cuDeviceCanAccessPeer(&value, 0, 1), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
        CUDA_ERROR_INVALID_DEVICE);
}

// ---- contexts

void primary_context() {
  CUcontext context = nullptr;
  unsigned flags = 9;
  int active = 9;
  WRONG(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT); // nobody has it
  WRONG(cuDevicePrimaryCtxRetain(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDevicePrimaryCtxRetain(&context, 1), CUDA_ERROR_INVALID_DEVICE);
  GOOD(cuDevicePrimaryCtxSetFlags(0, CU_CTX_SCHED_SPIN));
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(flags == CU_CTX_SCHED_SPIN && active == 0);
  WRONG(cuDevicePrimaryCtxGetState(0, nullptr, &active), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<CUresult (*)(CUdevice, unsigned)>("cuDevicePrimaryCtxSetFlags", 7000)(0, 0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuDevicePrimaryCtxRelease(0));
  GOOD(by_name<CUresult (*)(CUdevice)>("cuDevicePrimaryCtxRelease", 7000)(0));
  GOOD(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT(flags == 0 && active == 0);
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  WRONG(cuCtxDestroy(context), CUDA_ERROR_INVALID_CONTEXT); // the primary one is released instead
}

void stack_of_contexts() {
  using Take = CUresult (*)(CUcontext);
  using Give = CUresult (*)(CUcontext *);
  CUcontext one = nullptr, two = nullptr, three = nullptr, found = nullptr;
  WRONG(cuCtxCreate(nullptr, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuCtxCreate(&one, nullptr, 0, 1), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuCtxPopCurrent(&found), CUDA_ERROR_INVALID_CONTEXT);
  // As programs of CUDA 11, 12.5 and 13 create them.
  using Create2 = CUresult (*)(CUcontext *, unsigned, CUdevice);
  using Create3 = CUresult (*)(CUcontext *, CUexecAffinityParam *, int, unsigned, CUdevice);
  GOOD(by_name<Create2>("cuCtxCreate", 11000)(&one, CU_CTX_SCHED_YIELD, 0));
  GOOD(by_name<Create3>("cuCtxCreate", 12050)(&two, nullptr, 0, CU_CTX_SCHED_BLOCKING_SYNC, 0));
  GOOD(cuCtxCreate(&three, nullptr, 0, 0));
  unsigned flags = 9, version = 0;
  unsigned long long first = 0, second = 0;
  GOOD(cuCtxSetCurrent(two)); // in the place of three
  GOOD(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_BLOCKING_SYNC);
  GOOD(cuCtxSetFlags(CU_CTX_SCHED_SPIN));
  GOOD(cuCtxGetFlags(&flags));
  EXPECT(flags == CU_CTX_SCHED_SPIN);
  WRONG(cuCtxGetFlags(nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuCtxGetId(nullptr, &first));
  GOOD(cuCtxGetId(two, &second));
  EXPECT(first == second);
  GOOD(cuCtxGetId(one, &second));
  EXPECT(first != second);
  WRONG(cuCtxGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuCtxGetApiVersion(one, &version));
  EXPECT(version == 3020);
  WRONG(cuCtxGetApiVersion(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = -1;
  GOOD(cuCtxGetDevice(&device));
  EXPECT(device == 0);
  WRONG(cuCtxGetDevice(nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuCtxGetCurrent(nullptr), CUDA_ERROR_INVALID_VALUE);

  // A context that is destroyed is gone from this thread, wherever it was; to others it stays
  // current, and nothing can be done there.
  GOOD(cuCtxSetCurrent(three));
  GOOD(cuCtxDestroy(two));
  GOOD(by_name<Take>("cuCtxPushCurrent", 3000)(one));
  GOOD(cuCtxPopCurrent(nullptr));
  GOOD(by_name<Give>("cuCtxPopCurrent", 3000)(&found));
  EXPECT(found == three);
  GOOD(cuCtxPushCurrent(three));
  GOOD(cuCtxPushCurrent(three));
  const auto elsewhere = [](auto body) { std::thread(body).join(); };
  elsewhere([&] {
    GOOD(cuCtxSetCurrent(three));
    elsewhere([&] { GOOD(by_name<Take>("cuCtxDestroy", 2000)(three)); });
    WRONG(cuCtxGetFlags(&flags), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CUdeviceptr p = 0;
    WRONG(cuMemAlloc(&p, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    GOOD(cuCtxGetDevice(&device)); // which GCC's libgomp asks for at its end
    CUcontext known = nullptr;
    GOOD(cuCtxPopCurrent(&known));
    EXPECT(known == three);
    WRONG(cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
  });
  WRONG(cuCtxDestroy(three), CUDA_ERROR_INVALID_CONTEXT);
  WRONG(cuCtxSetCurrent(three), CUDA_ERROR_INVALID_CONTEXT);
  for (int i = 0; i < 2; ++i) // twice on this thread, too
    GOOD(cuCtxPopCurrent(&found));
  EXPECT(found == three);
  GOOD(cuCtxGetCurrent(&found));
  EXPECT(found == one);
  WRONG(cuCtxGetId(three, &first), CUDA_ERROR_INVALID_CONTEXT);
  WRONG(cuCtxGetApiVersion(three, &version), CUDA_ERROR_INVALID_CONTEXT);
  GOOD(cuCtxCreate(&two, nullptr, 0, 0));
  GOOD(cuCtxPushCurrent(two));
  GOOD(cuCtxDestroy(two));
  GOOD(cuCtxGetCurrent(&found));
  EXPECT(found == one);
  GOOD(cuCtxSetCurrent(nullptr));
  GOOD(cuCtxGetCurrent(&found));
  EXPECT(found == nullptr);
  WRONG(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
  GOOD(cuCtxDestroy(one));
}

void settings_of_contexts() {
  CUcontext context = nullptr;
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  std::size_t value = 0;
  GOOD(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
  GOOD(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE));
  EXPECT(value == 16 << 20);
  GOOD(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
  GOOD(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
  EXPECT(value == 4096);
  WRONG(cuCtxGetLimit(nullptr, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_UNSUPPORTED_LIMIT);
  WRONG(cuCtxSetLimit(CU_LIMIT_MAX, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
  CUfunc_cache cache = CU_FUNC_CACHE_PREFER_L1;
  GOOD(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_NONE));
  GOOD(cuCtxGetCacheConfig(&cache));
  EXPECT(cache == CU_FUNC_CACHE_PREFER_NONE);
  CUsharedconfig banks = CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
  GOOD(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  GOOD(cuCtxGetSharedMemConfig(&banks));
  EXPECT(banks == CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
  WRONG(cuCtxGetSharedMemConfig(nullptr), CUDA_ERROR_INVALID_VALUE);
  int least = 9, greatest = 9;
  GOOD(cuCtxGetStreamPriorityRange(&least, &greatest));
  EXPECT(least == 0 && greatest == -5);
  GOOD(cuCtxGetStreamPriorityRange(nullptr, nullptr));
  GOOD(cuCtxResetPersistingL2Cache());
}

// ---- memory

void host_memory() {
  void *host = nullptr;
  CUdeviceptr p = 0;
  unsigned flags = 0;
  GOOD(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  GOOD(cuMemHostGetFlags(&flags, host));
  EXPECT(flags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  GOOD(cuMemHostGetDevicePointer(&p, host, 0));
  EXPECT(p == reinterpret_cast<CUdeviceptr>(host)); // one address for both
  WRONG(cuMemHostGetDevicePointer(&p, host, 1), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemHostAlloc(&host, 64, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  unsigned kind = 0;
  GOOD(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
  EXPECT(kind == CU_MEMORYTYPE_HOST);
  GOOD(cuMemFreeHost(host));
  WRONG(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemHostGetFlags(&flags, host), CUDA_ERROR_INVALID_VALUE);
  std::vector<int> own(16);
  GOOD(cuMemHostRegister(own.data(), own.size() * 4, 0));
  WRONG(cuMemHostRegister(own.data() + 1, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  WRONG(cuMemHostRegister(own.data(), 0, 0), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemHostGetDevicePointer(&p, own.data(), 0));
  GOOD(cuMemsetD32(p, 3, own.size()));
  EXPECT(own.front() == 3 && own.back() == 3);
  GOOD(cuMemHostUnregister(own.data()));
  WRONG(cuMemHostUnregister(own.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

void attributes_of_pointers() {
  CUdeviceptr p = 0, managed = 0, begin = 0, device_pointer = 0;
  CUcontext context = nullptr, current = nullptr;
  std::size_t size = 0;
  unsigned is_managed = 9, mapped = 9, kind = 9;
  int ordinal = 9;
  void *host = nullptr;
  GOOD(cuMemAlloc(&p, 100));
  GOOD(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  WRONG(cuMemAllocManaged(&managed, 64, 0), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuCtxGetCurrent(&current));
  GOOD(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, p));
  EXPECT(context == current);
  GOOD(cuPointerGetAttribute(&device_pointer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, p + 8));
  EXPECT(device_pointer == p + 8);
  WRONG(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, p),
        CUDA_ERROR_INVALID_VALUE);
  GOOD(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, managed));
  EXPECT(host == reinterpret_cast<void *>(managed));
  GOOD(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
  EXPECT(is_managed == 1);
  GOOD(cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p));
  EXPECT(is_managed == 0);
  GOOD(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
  EXPECT(ordinal == 0);
  GOOD(cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 50));
  GOOD(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 50));
  EXPECT(begin == p && size == 100);
  GOOD(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, p));
  EXPECT(mapped == 1);
  const CUdeviceptr nowhere = reinterpret_cast<CUdeviceptr>(&size);
  GOOD(cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_MAPPED, nowhere));
  EXPECT(mapped == 0);
  WRONG(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, nowhere),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MAPPED, p), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_P2P_TOKENS, p), CUDA_ERROR_NOT_SUPPORTED);
  const unsigned one = 1;
  GOOD(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
  WRONG(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_MAPPED, p), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemGetAddressRange(&begin, &size, nowhere), CUDA_ERROR_NOT_FOUND);

  // Several at once: what does not apply becomes null, all of it.
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                 CU_POINTER_ATTRIBUTE_HOST_POINTER,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  host = reinterpret_cast<void *>(~std::uintptr_t{0});
  void *places[] = {&kind, &host, &size};
  GOOD(cuPointerGetAttributes(3, which, places, p));
  EXPECT(kind == CU_MEMORYTYPE_DEVICE && host == nullptr && size == 100);
  GOOD(cuPointerGetAttributes(3, which, places, nowhere));
  EXPECT(kind == 0 && size == 0);
  WRONG(cuPointerGetAttributes(3, nullptr, places, p), CUDA_ERROR_INVALID_VALUE);

  // Where managed memory is makes no difference; that it is some does.
  using Advise = CUresult (*)(CUdeviceptr, std::size_t, CUmem_advise, CUdevice);
  using Prefetch = CUresult (*)(CUdeviceptr, std::size_t, CUdevice, CUstream);
  const CUmemLocation there{CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  GOOD(cuMemAdvise(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, there));
  WRONG(cuMemAdvise(p, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, there), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemPrefetchAsync(managed, 64, there, 0, nullptr));
  WRONG(cuMemPrefetchAsync(managed, 65, there, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<Advise>("cuMemAdvise", 8000)(managed, 64, CU_MEM_ADVISE_SET_READ_MOSTLY,
                                            CU_DEVICE_CPU));
  GOOD(by_name<Prefetch>("cuMemPrefetchAsync", 8000)(managed, 64, 0, nullptr));
  GOOD(cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL));
  WRONG(cuStreamAttachMemAsync(nullptr, p, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  std::size_t free = 0, total = 0, less = 0, pitch = 0;
  GOOD(cuMemGetInfo(&free, &total));
  EXPECT(total == std::size_t{80} << 30 && free < total);
  GOOD(cuMemFree(managed));
  GOOD(cuMemGetInfo(&less, &total));
  EXPECT(less == free + 64);
  WRONG(cuMemGetInfo(nullptr, &total), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemAllocPitch(&managed, &pitch, 0, 4, 4), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemAllocPitch(&managed, &pitch, 4, 4, 3), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemFree(p));
}

void pools() {
  CUmemoryPool first = nullptr, second = nullptr, found = nullptr;
  GOOD(cuDeviceGetDefaultMemPool(&first, 0));
  GOOD(cuDeviceGetMemPool(&found, 0));
  EXPECT(first && found == first);
  WRONG(cuDeviceGetDefaultMemPool(&first, 1), CUDA_ERROR_INVALID_DEVICE);
  WRONG(cuDeviceGetMemPool(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  GOOD(cuMemPoolCreate(&second, &properties));
  WRONG(cuMemPoolCreate(&second, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuDeviceSetMemPool(0, second));
  GOOD(cuDeviceGetMemPool(&found, 0));
  EXPECT(found == second);
  WRONG(cuDeviceSetMemPool(0, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuDeviceSetMemPool(1, second), CUDA_ERROR_INVALID_DEVICE);
  int reuse = 9;
  cuuint64_t threshold = 9;
  GOOD(cuMemPoolGetAttribute(second, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &reuse));
  GOOD(cuMemPoolGetAttribute(second, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT(reuse == 1 && threshold == 0);
  threshold = cuuint64_t{1} << 40;
  GOOD(cuMemPoolSetAttribute(second, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  GOOD(cuMemPoolGetAttribute(second, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT(threshold == cuuint64_t{1} << 40);
  WRONG(cuMemPoolGetAttribute(second, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemPoolSetAttribute(nullptr, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
        CUDA_ERROR_INVALID_VALUE);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  GOOD(cuMemPoolSetAccess(second, &access, 1));
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  GOOD(cuMemPoolGetAccess(&flags, second, &access.location));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  access.location.id = 1;
  GOOD(cuMemPoolGetAccess(&flags, second, &access.location));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_NONE);
  WRONG(cuMemPoolGetAccess(nullptr, second, &access.location), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemPoolSetAccess(second, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemPoolTrimTo(second, 0));
  WRONG(cuMemPoolTrimTo(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr p = 0, q = 0;
  GOOD(cuMemAllocAsync(&p, 8, nullptr));
  GOOD(cuMemAllocFromPoolAsync(&q, 8, second, nullptr));
  EXPECT(p && q && p != q);
  WRONG(cuMemAllocFromPoolAsync(&q, 8, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemFreeAsync(p, nullptr));
  GOOD(cuMemFreeAsync(q, nullptr));
  WRONG(cuMemFreeAsync(q, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemPoolDestroy(second));
  GOOD(cuDeviceGetMemPool(&found, 0)); // again the first
  EXPECT(found == first);
  WRONG(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
}

void sets_and_copies() {
  constexpr std::size_t bytes = 96;
  CUdeviceptr p = 0, q = 0;
  CUstream stream = nullptr;
  std::vector<unsigned char> host(bytes, 0xee);
  const auto fetch = [&] { GOOD(cuMemcpyDtoH(host.data(), p, bytes)); };
  GOOD(cuMemAlloc(&p, bytes));
  GOOD(cuMemAlloc(&q, bytes));
  GOOD(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  GOOD(cuMemsetD8Async(p, 1, bytes, stream));
  GOOD(cuMemsetD16(p, 0x0302, 2));
  GOOD(cuMemsetD16Async(p + 4, 0x0504, 1, stream));
  GOOD(cuMemsetD32Async(p + 8, 0x09080706, 1, stream));
  GOOD(cuMemsetD8(p + 12, 10, 1));
  fetch();
  const unsigned char wanted[] = {2, 3, 2, 3, 4, 5, 1, 1, 6, 7, 8, 9, 10, 1};
  EXPECT(std::memcmp(host.data(), wanted, sizeof wanted) == 0 && host.back() == 1);
  WRONG(cuMemsetD16(p + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  // Rows of 24 bytes, of which 8 are set.
  const auto rows_are = [&](unsigned char first, unsigned char second) {
    fetch();
    bool right = true;
    for (std::size_t i = 0; i < bytes; ++i)
      right &= host[i] == (i % 24 >= 8 ? 1 : i % 2 == 0 ? first : second);
    return right;
  };
  GOOD(cuMemsetD8(p, 1, bytes));
  GOOD(cuMemsetD2D8(p, 24, 20, 8, 4));
  EXPECT(rows_are(20, 20));
  GOOD(cuMemsetD2D8Async(p, 24, 21, 8, 4, stream));
  EXPECT(rows_are(21, 21));
  GOOD(cuMemsetD2D16Async(p, 24, 0x1716, 4, 4, stream));
  EXPECT(rows_are(0x16, 0x17));
  GOOD(cuMemsetD2D32(p, 24, 0x19181918, 2, 4));
  EXPECT(rows_are(0x18, 0x19));
  GOOD(cuMemsetD2D32Async(p, 24, 0x1b1a1b1a, 2, 4, stream));
  EXPECT(rows_are(0x1a, 0x1b));
  GOOD(cuStreamWriteValue32(stream, p + 8, 0x0d0c0b0a, 0));
  EXPECT(value_at(p + 8) == 0x0d0c0b0a);
  WRONG(cuStreamWriteValue64(stream, p + 92, 1, 0), CUDA_ERROR_INVALID_VALUE);

  for (std::size_t i = 0; i < bytes; ++i)
    host[i] = static_cast<unsigned char>(i);
  const auto arrived = [&](CUdeviceptr from) {
    std::vector<unsigned char> back(bytes);
    GOOD(cuMemcpyDtoHAsync(back.data(), from, bytes, stream));
    GOOD(cuMemsetD8(from, 0, bytes));
    return back == host;
  };
  GOOD(cuMemcpyHtoDAsync(p, host.data(), bytes, stream));
  GOOD(cuMemcpyDtoD(q, p, bytes));
  EXPECT(arrived(q));
  GOOD(cuMemcpyDtoDAsync(q, p, bytes, stream));
  EXPECT(arrived(q));
  GOOD(cuMemcpy(q, p, bytes));
  EXPECT(arrived(q));
  GOOD(cuMemcpyAsync(q, reinterpret_cast<CUdeviceptr>(host.data()), bytes, stream));
  EXPECT(arrived(q));
  CUcontext context = nullptr;
  GOOD(cuCtxGetCurrent(&context));
  GOOD(cuMemcpyPeer(q, context, p, context, bytes));
  EXPECT(arrived(q));
  GOOD(cuMemcpyPeerAsync(q, context, p, context, bytes, stream));
  EXPECT(arrived(q));
  CUdeviceptr to[] = {q, q + 32}, from[] = {p, p + 32};
  std::size_t sizes[] = {32, 64}, index = 0;
  CUmemcpyAttributes how{};
  how.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  GOOD(cuMemcpyBatchAsync(to, from, sizes, 2, &how, &index, 1, stream));
  EXPECT(arrived(q));
  sizes[1] = 65;
  WRONG(cuMemcpyBatchAsync(to, from, sizes, 2, &how, &index, 1, stream), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemcpyBatchAsync(nullptr, from, sizes, 2, &how, &index, 1, stream),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemcpyDtoD(q, p, bytes + 1), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuMemcpyDtoD(reinterpret_cast<CUdeviceptr>(host.data()), p, 1), CUDA_ERROR_INVALID_VALUE);

  // A rectangle, and a box of two planes: the middle of rows of 12 bytes, 4 rows a plane.
  CUDA_MEMCPY2D rectangle{};
  rectangle.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  rectangle.srcDevice = p;
  rectangle.srcPitch = 12;
  rectangle.srcXInBytes = 4;
  rectangle.srcY = 1;
  rectangle.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  rectangle.dstDevice = q;
  rectangle.dstPitch = 4;
  rectangle.WidthInBytes = 4;
  rectangle.Height = 2;
  GOOD(cuMemcpy2DAsync(&rectangle, stream));
  EXPECT(value_at(q) == 0x13121110 && value_at(q + 4) == 0x1f1e1d1c);
  GOOD(cuMemsetD8(q, 0, bytes));
  GOOD(cuMemcpy2DUnaligned(&rectangle));
  EXPECT(value_at(q + 4) == 0x1f1e1d1c);
  WRONG(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
  rectangle.srcMemoryType = static_cast<CUmemorytype>(9);
  WRONG(cuMemcpy2D(&rectangle), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = p;
  box.srcPitch = 12;
  box.srcHeight = 4;
  box.srcXInBytes = 8;
  box.srcY = 3;
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  box.dstDevice = q;
  box.dstHeight = 1;
  box.WidthInBytes = 4;
  box.Height = 1;
  box.Depth = 2;
  GOOD(cuMemcpy3D(&box));
  EXPECT(value_at(q) == 0x2f2e2d2c && value_at(q + 4) == 0x5f5e5d5c);
  GOOD(cuMemsetD8(q, 0, bytes));
  GOOD(cuMemcpy3DAsync(&box, stream));
  EXPECT(value_at(q + 4) == 0x5f5e5d5c);
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = host.data();
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  int two[2] = {};
  box.dstHost = two;
  GOOD(cuMemcpy3D(&box));
  EXPECT(two[0] == 0x2f2e2d2c && two[1] == 0x5f5e5d5c);
  box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  GOOD(cuMemsetD8(q, 0, bytes));
  GOOD(cuMemcpy3D(&box));
  EXPECT(value_at(q) == 0x2f2e2d2c);
  WRONG(cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuStreamDestroy(stream));
  GOOD(cuMemFree(p));
  GOOD(cuMemFree(q));
}

// ---- modules, libraries, kernels

void modules(const Kernels &all) {
  CUmodule module = nullptr;
  CUfunction list[6] = {};
  unsigned count = 0;
  CUdeviceptr where = 0;
  std::size_t size = 0;
  CUmoduleLoadingMode mode;
  GOOD(cuModuleGetLoadingMode(&mode));
  EXPECT(mode == CU_MODULE_EAGER_LOADING);
  WRONG(cuModuleGetLoadingMode(nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuModuleGetFunctionCount(&count, all.module));
  EXPECT(count == 6);
  GOOD(cuModuleEnumerateFunctions(list, 6, all.module));
  EXPECT(list[0] == all.add && list[5] == all.invert);
  WRONG(cuModuleEnumerateFunctions(nullptr, 6, all.module), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuModuleGetFunctionCount(nullptr, all.module), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuModuleGetGlobal(&where, &size, all.module, "counters"));
  EXPECT(size == 12 && value_at(where + 4) == 8);
  WRONG(cuModuleGetGlobal(&where, &size, all.module, "nothing"), CUDA_ERROR_NOT_FOUND);
  WRONG(cuModuleGetGlobal(&where, &size, all.module, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuModuleLoadData(nullptr, source), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuModuleLoadData(&module, "\x7f"
                                  "ELF machine code"),
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  std::ofstream("module.ptx") << source;
  GOOD(cuModuleLoad(&module, "module.ptx"));
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 6);
  GOOD(cuModuleUnload(module));
  WRONG(cuModuleLoad(&module, "no such file"), CUDA_ERROR_FILE_NOT_FOUND);
  WRONG(cuModuleLoad(nullptr, "module.ptx"), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuModuleUnload(nullptr), CUDA_ERROR_INVALID_VALUE);
  // Fat binaries, which the test makes beside this program.
  std::ifstream file("module.fatbin", std::ios::binary);
  const std::string fat{std::istreambuf_iterator<char>(file), {}};
  GOOD(cuModuleLoadFatBinary(&module, fat.data()));
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 6);
  GOOD(cuModuleUnload(module));
  GOOD(cuModuleLoad(&module, "module.fatbin"));
  GOOD(cuModuleUnload(module));
  std::ofstream("short.fatbin", std::ios::binary).write(fat.data(), 20);
  WRONG(cuModuleLoad(&module, "short.fatbin"), CUDA_ERROR_INVALID_IMAGE);
}

void libraries() {
  CUlibrary library = nullptr, of = nullptr;
  CUkernel kernel = nullptr, list[6] = {};
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr where = 0;
  std::size_t size = 0, offset = 9;
  unsigned count = 0;
  const char *name = nullptr;
  GOOD(cuLibraryLoadFromFile(&library, "module.ptx", nullptr, nullptr, 0, nullptr, nullptr, 0));
  WRONG(cuLibraryLoadFromFile(&library, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuLibraryLoadFromFile(&library, "no", nullptr, nullptr, 0, nullptr, nullptr, 0),
        CUDA_ERROR_FILE_NOT_FOUND);
  GOOD(cuLibraryGetKernel(&kernel, library, "add"));
  WRONG(cuLibraryGetKernel(&kernel, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  GOOD(cuLibraryGetKernelCount(&count, library));
  GOOD(cuLibraryEnumerateKernels(list, 2, library)); // no more than there is room for
  EXPECT(count == 6 && list[0] == kernel && list[1] && !list[2]);
  WRONG(cuLibraryEnumerateKernels(nullptr, 2, library), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuLibraryGetModule(&module, library));
  WRONG(cuLibraryGetModule(nullptr, library), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuModuleGetFunction(&function, module, "add"));
  GOOD(cuLibraryGetGlobal(&where, &size, library, "counters"));
  EXPECT(size == 12 && value_at(where + 8) == 9);
  WRONG(cuLibraryGetGlobal(&where, &size, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  WRONG(cuLibraryGetGlobal(&where, &size, nullptr, "counters"), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuLibraryGetManaged(&where, &size, library, "nothing"), CUDA_ERROR_NOT_FOUND);
  GOOD(cuKernelGetLibrary(&of, kernel));
  EXPECT(of == library);
  WRONG(cuKernelGetLibrary(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuKernelGetLibrary(&of, nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUfunction again = nullptr;
  GOOD(cuKernelGetFunction(&again, kernel));
  EXPECT(again == function);
  WRONG(cuKernelGetFunction(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuKernelGetName(&name, kernel));
  EXPECT(std::strcmp(name, "add") == 0);
  WRONG(cuKernelGetName(nullptr, kernel), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuKernelGetParamInfo(kernel, 0, &offset, &size));
  EXPECT(offset == 0 && size == 8);
  GOOD(cuKernelGetParamInfo(kernel, 1, &offset, nullptr));
  EXPECT(offset == 8);
  WRONG(cuKernelGetParamInfo(kernel, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536, kernel, 0));
  int value = 0;
  GOOD(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel, 0));
  EXPECT(value == 65536);
  WRONG(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20, kernel, 0),
        CUDA_ERROR_INVALID_VALUE);
  GOOD(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_L1, 0));
  WRONG(cuKernelSetCacheConfig(nullptr, CU_FUNC_CACHE_PREFER_L1, 0), CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuLibraryUnload(library));
  WRONG(cuLibraryUnload(nullptr), CUDA_ERROR_INVALID_VALUE);
  // A text that is wrong, and the log of it.
  char log[200] = "before", information[10] = "before";
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(12), information, reinterpret_cast<void *>(10)};
  WRONG(cuLibraryLoadData(&library, ".version 8.0\n.target sm_90\n.entry k( { }\n", options, values,
                          4, nullptr, nullptr, 0),
        CUDA_ERROR_INVALID_PTX);
  EXPECT(std::strlen(log) == 11 && values[1] == reinterpret_cast<void *>(11)); // as much as fits
  EXPECT(*information == 0 && values[3] == nullptr);
}

int attribute(CUfunction function, CUfunction_attribute which) {
  int value = -1;
  GOOD(cuFuncGetAttribute(&value, which, function));
  return value;
}

void functions(const Kernels &all) {
  EXPECT(attribute(all.rooms, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 64);
  EXPECT(attribute(all.rooms, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) == 96);
  EXPECT(attribute(all.rooms, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) >= 16 &&
         attribute(all.add, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES) == 0);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES) == 4);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_PTX_VERSION) == 90);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_BINARY_VERSION) == 90);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA) == 0);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) == 48 << 10);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == -1);
  GOOD(cuFuncSetAttribute(all.add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) == 50);
  WRONG(cuFuncSetAttribute(all.add, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101),
        CUDA_ERROR_INVALID_VALUE);
  EXPECT(attribute(all.add, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) == 0);
  EXPECT(attribute(all.pair, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET) == 1);
  EXPECT(attribute(all.pair, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH) == 2);
  EXPECT(attribute(all.pair, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT) == 1);
  EXPECT(attribute(all.pair, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH) == 1);
  int value = 0;
  WRONG(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX, all.add), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuFuncGetAttribute(nullptr, CU_FUNC_ATTRIBUTE_NUM_REGS, all.add), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, nullptr), CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuFuncSetCacheConfig(all.add, CU_FUNC_CACHE_PREFER_SHARED));
  GOOD(cuFuncSetSharedMemConfig(all.add, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  CUfunctionLoadingState state = CU_FUNCTION_LOADING_STATE_UNLOADED;
  GOOD(cuFuncIsLoaded(&state, all.add));
  EXPECT(state == CU_FUNCTION_LOADING_STATE_LOADED);
  WRONG(cuFuncIsLoaded(nullptr, all.add), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuFuncLoad(all.add));
  WRONG(cuFuncLoad(nullptr), CUDA_ERROR_INVALID_HANDLE);

  // 64 threads at most, 96 bytes and 1 KiB of the system's of 228 KiB.
  int blocks = 0, grid = 0, block = 0;
  std::size_t bytes = 0;
  GOOD(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, all.rooms, 64, 0,
                                                            CU_OCCUPANCY_DEFAULT));
  EXPECT(blocks == 32);
  WRONG(cuOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, all.rooms, 64, 0),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, all.rooms, 0, 0),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nullptr, 64, 0),
        CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, all.rooms, 2, 64));
  EXPECT(bytes == (114 << 10) - 1024 - 96);
  WRONG(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, all.rooms, 0, 64),
        CUDA_ERROR_INVALID_VALUE);
  GOOD(cuOccupancyMaxPotentialBlockSizeWithFlags(
      &grid, &block, all.add, [](int) { return std::size_t{0}; }, 0, 250, 0));
  EXPECT(block == 128 && grid == 16 * 132); // the largest of which whole ones fill 2,048 threads
  WRONG(cuOccupancyMaxPotentialBlockSize(nullptr, &block, all.add, nullptr, 0, 0),
        CUDA_ERROR_INVALID_VALUE);
}

void CUDA_CB note(void *to) { ++*static_cast<int *>(to); }
void CUDA_CB call_back(CUstream, CUresult status, void *to) {
  *static_cast<int *>(to) += status == CUDA_SUCCESS ? 10 : 0;
}

void launches(const Kernels &all) {
  CUdeviceptr p = 0;
  int value = 4;
  GOOD(cuMemAlloc(&p, 4));
  GOOD(cuMemsetD32(p, 0, 1));
  void *arguments[] = {&p, &value};
  struct {
    CUdeviceptr to;
    int value;
  } packed{p, 4};
  std::size_t size = sizeof packed;
  void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  GOOD(cuLaunchCooperativeKernel(all.add, 2, 1, 1, 3, 1, 1, 0, nullptr, arguments));
  EXPECT(value_at(p) == 6 * 9);
  WRONG(cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr),
        CUDA_ERROR_INVALID_HANDLE);
  WRONG(cuLaunchKernel(all.add, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, extra),
        CUDA_ERROR_INVALID_VALUE); // one or the other
  size = 11;
  WRONG(cuLaunchKernel(all.add, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
        CUDA_ERROR_INVALID_VALUE); // too short for the second
  extra[0] = extra;                // no word of the list
  WRONG(cuLaunchKernel(all.add, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuLaunchKernelEx(nullptr, all.add, arguments, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemsetD32(p, 0, 1));
  CUlaunchConfig config{};
  config.gridDimX = 4;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  CUlaunchAttribute of_cluster{};
  of_cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  of_cluster.value.clusterDim = {2, 1, 1};
  config.attrs = &of_cluster;
  config.numAttrs = 1;
  GOOD(cuLaunchKernelEx(&config, all.pair, arguments, nullptr));
  EXPECT(value_at(p) == 4 * 2);
  int noted = 0;
  GOOD(cuLaunchHostFunc(nullptr, note, &noted));
  GOOD(cuStreamAddCallback(nullptr, call_back, &noted, 0));
  EXPECT(noted == 11);
  WRONG(cuLaunchHostFunc(nullptr, nullptr, &noted), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamAddCallback(nullptr, call_back, &noted, 1), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuMemFree(p));
}

// ---- streams and events

void streams() {
  CUstream one = nullptr, two = nullptr;
  CUevent event = nullptr, later = nullptr;
  int priority = 9;
  unsigned flags = 9;
  unsigned long long first = 0, second = 0;
  CUdevice device = 9;
  CUcontext context = nullptr, current = nullptr;
  GOOD(cuStreamCreateWithPriority(&one, CU_STREAM_NON_BLOCKING, -9)); // as far as it goes
  GOOD(cuStreamCreate(&two, CU_STREAM_DEFAULT));
  WRONG(cuStreamCreate(&two, 8), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuStreamGetPriority(one, &priority));
  GOOD(cuStreamGetFlags(one, &flags));
  EXPECT(priority == -5 && flags == CU_STREAM_NON_BLOCKING);
  WRONG(cuStreamGetPriority(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamGetFlags(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuStreamGetId(one, &first));
  GOOD(cuStreamGetId(two, &second));
  EXPECT(first != second);
  WRONG(cuStreamGetId(one, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuStreamGetDevice(one, &device));
  GOOD(cuStreamGetCtx(one, &context));
  GOOD(cuCtxGetCurrent(&current));
  EXPECT(device == 0 && context == current);
  GOOD(cuStreamQuery(one));
  CUlaunchAttributeValue value{}, found{};
  value.accessPolicyWindow.num_bytes = 64;
  GOOD(cuStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  GOOD(cuStreamCopyAttributes(two, one));
  GOOD(cuStreamGetAttribute(two, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &found));
  EXPECT(found.accessPolicyWindow.num_bytes == 64);
  WRONG(cuStreamSetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamGetAttribute(one, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  GOOD(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_GLOBAL);
  GOOD(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT(mode == CU_STREAM_CAPTURE_MODE_RELAXED);
  WRONG(cuThreadExchangeStreamCaptureMode(nullptr), CUDA_ERROR_INVALID_VALUE);

  GOOD(cuEventCreate(&event, CU_EVENT_BLOCKING_SYNC));
  GOOD(cuEventCreate(&later, CU_EVENT_DISABLE_TIMING));
  WRONG(cuEventCreate(&later, 64), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuEventCreate(&later, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
        CUDA_ERROR_NOT_SUPPORTED);
  GOOD(cuEventQuery(event)); // nothing is recorded: it is done
  GOOD(cuEventRecordWithFlags(event, one, CU_EVENT_RECORD_DEFAULT));
  GOOD(cuEventRecord(later, one));
  using Elapsed = CUresult (*)(float *, CUevent, CUevent);
  float time = -1;
  WRONG(cuEventElapsedTime(&time, event, later), CUDA_ERROR_INVALID_HANDLE); // without time
  WRONG(cuEventElapsedTime(nullptr, event, event), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<Elapsed>("cuEventElapsedTime", 12000)(&time, event, event));
  EXPECT(time == 0);
  GOOD(by_name<CUresult (*)(CUevent)>("cuEventDestroy", 2000)(event));
  WRONG(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
  WRONG(cuStreamWaitEvent(one, event, 0), CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuEventDestroy(later));
  GOOD(by_name<CUresult (*)(CUstream)>("cuStreamDestroy", 2000)(one));
  WRONG(cuStreamQuery(one), CUDA_ERROR_INVALID_HANDLE);
  WRONG(cuStreamGetCtx(one, &context), CUDA_ERROR_INVALID_HANDLE);
  GOOD(cuStreamDestroy(two));
}

void captures(const Kernels &all) {
  using Info = CUresult (*)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                            const CUgraphNode **, std::size_t *);
  CUstream stream = nullptr;
  CUgraph graph = nullptr, inner = nullptr, other = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CUdeviceptr p = 0;
  int value = 1;
  void *arguments[] = {&p, &value};
  cuuint64_t id = 0, again = 0;
  const CUgraphNode *last = nullptr;
  const CUgraphEdgeData *edges = nullptr;
  std::size_t count = 9;
  GOOD(cuMemAlloc(&p, 4));
  GOOD(cuMemsetD32(p, 0, 1));
  GOOD(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  GOOD(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  WRONG(cuStreamIsCapturing(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  WRONG(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0),
        CUDA_ERROR_ILLEGAL_STATE);
  GOOD(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  WRONG(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  GOOD(cuLaunchKernel(all.add, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr));
  GOOD(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE);
  GOOD(cuStreamGetCaptureInfo(stream, &status, &id, &inner, &last, &edges, &count));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && count == 1 && inner);
  CUgraphNode kernel = *last, empty = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  GOOD(cuGraphNodeGetType(kernel, &type));
  EXPECT(type == CU_GRAPH_NODE_TYPE_KERNEL);
  // A node that the program adds itself, behind which the rest comes.
  GOOD(cuGraphAddEmptyNode(&empty, inner, &kernel, 1));
  GOOD(cuStreamUpdateCaptureDependencies(stream, &empty, nullptr, 1,
                                         CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  GOOD(by_name<Info>("cuStreamGetCaptureInfo", 12000)(stream, &status, &again, nullptr, &last,
                                                      &count));
  EXPECT(again == id && count == 1 && *last == empty);
  GOOD(cuStreamUpdateCaptureDependencies(stream, &kernel, nullptr, 1,
                                         CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  GOOD(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT(count == 2);
  CUgraphNode nobody = nullptr;
  WRONG(cuStreamUpdateCaptureDependencies(stream, &nobody, nullptr, 1,
                                          CU_STREAM_ADD_CAPTURE_DEPENDENCIES),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamGetCaptureInfo(stream, nullptr, &id, nullptr, nullptr, nullptr, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  WRONG(cuStreamEndCapture(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuStreamEndCapture(stream, &graph));
  EXPECT(graph == inner);
  EXPECT(value_at(p) == 0);
  // More of the same graph.
  GOOD(cuStreamBeginCaptureToGraph(stream, graph, &empty, nullptr, 1,
                                   CU_STREAM_CAPTURE_MODE_RELAXED));
  GOOD(cuLaunchKernel(all.add, 1, 1, 1, 2, 1, 1, 0, stream, arguments, nullptr));
  GOOD(cuStreamEndCapture(stream, &other));
  EXPECT(other == graph);
  WRONG(cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0,
                                    CU_STREAM_CAPTURE_MODE_RELAXED),
        CUDA_ERROR_INVALID_VALUE);
  CUgraphExec executable = nullptr;
  GOOD(cuGraphInstantiate(&executable, graph, 0));
  GOOD(cuGraphUpload(executable, stream));
  GOOD(cuGraphLaunch(executable, stream));
  EXPECT(value_at(p) == 3 * 6);
  GOOD(cuGraphExecDestroy(executable));
  WRONG(cuGraphUpload(executable, stream), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphDestroy(graph));
  // What a capture does not allow makes it invalid, and it says so.
  GOOD(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
  WRONG(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  GOOD(cuStreamIsCapturing(stream, &status));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  GOOD(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  WRONG(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT(graph == nullptr);
  GOOD(cuStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr));
  EXPECT(status == CU_STREAM_CAPTURE_STATUS_NONE);
  GOOD(cuStreamDestroy(stream));
  GOOD(cuMemFree(p));
}

// ---- graphs

CUgraphNodeType type_of(CUgraphNode node) {
  CUgraphNodeType type{};
  GOOD(cuGraphNodeGetType(node, &type));
  return type;
}

void nodes_of_graphs() {
  CUgraph graph = nullptr, copy = nullptr;
  CUgraphNode first = nullptr, second = nullptr, third = nullptr, found[3] = {}, ends[3] = {};
  std::size_t count = 0;
  WRONG(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphCreate(&graph, 0));
  GOOD(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
  GOOD(cuGraphAddEmptyNode(&second, graph, nullptr, 0));
  GOOD(cuGraphAddEmptyNode(&third, graph, &first, 1));
  EXPECT(type_of(first) == CU_GRAPH_NODE_TYPE_EMPTY);
  WRONG(cuGraphNodeGetType(first, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  count = 3;
  GOOD(cuGraphGetRootNodes(graph, found, &count));
  EXPECT(count == 2 && found[0] == first && found[1] == second && found[2] == nullptr);
  WRONG(cuGraphGetRootNodes(graph, found, nullptr), CUDA_ERROR_INVALID_VALUE);
  const CUgraphNode twice[] = {second, second}, thirds[] = {third, third};
  WRONG(cuGraphAddDependencies(graph, twice, thirds, nullptr, 2), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphAddDependencies(graph, &second, &third, nullptr, 1));
  WRONG(cuGraphAddDependencies(graph, &second, &third, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  CUgraphEdgeData data[3];
  std::memset(data, 0xff, sizeof data);
  count = 3;
  GOOD(cuGraphGetEdges(graph, found, ends, data, &count));
  EXPECT(count == 2 && found[0] == first && found[1] == second && ends[0] == third &&
         ends[1] == third);
  EXPECT(data[1].from_port == 0 && data[1].to_port == 0 && data[1].type == 0);
  GOOD(cuGraphNodeGetDependencies(third, nullptr, nullptr, &count));
  EXPECT(count == 2);
  GOOD(cuGraphNodeGetDependentNodes(second, found, nullptr, &count));
  EXPECT(count == 1 && found[0] == third);
  GOOD(cuGraphRemoveDependencies(graph, &first, &third, nullptr, 1));
  WRONG(cuGraphRemoveDependencies(graph, &first, &third, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphNodeGetDependencies(third, nullptr, nullptr, &count));
  EXPECT(count == 1);
  GOOD(cuGraphClone(&copy, graph));
  GOOD(cuGraphNodeFindInClone(found, third, copy));
  EXPECT(found[0] != third && type_of(found[0]) == CU_GRAPH_NODE_TYPE_EMPTY);
  WRONG(cuGraphNodeFindInClone(found, found[0], copy), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphNodeFindInClone(nullptr, third, copy), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphDestroyNode(first));
  GOOD(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 2);
  // In circles there is no order.
  CUgraphExec executable = nullptr;
  GOOD(cuGraphAddDependencies(graph, &third, &second, nullptr, 1));
  WRONG(cuGraphInstantiate(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphDestroy(graph));
  GOOD(cuGraphDestroy(copy));
  WRONG(cuGraphDestroy(copy), CUDA_ERROR_INVALID_VALUE);
}

void work_of_graphs(const Kernels &all) {
  CUgraph graph = nullptr, child = nullptr, inner = nullptr, empty = nullptr;
  CUgraphNode calls = nullptr, kernel = nullptr, copies = nullptr, records = nullptr,
              waits = nullptr, nested = nullptr, sets = nullptr;
  CUevent one = nullptr, two = nullptr, found = nullptr;
  CUdeviceptr p = 0;
  int noted = 0, value = 1, back[2] = {};
  void *arguments[] = {&p, &value};
  GOOD(cuMemAlloc(&p, 8));
  GOOD(cuEventCreate(&one, 0));
  GOOD(cuEventCreate(&two, 0));
  GOOD(cuGraphCreate(&graph, 0));
  GOOD(cuGraphCreate(&child, 0));
  GOOD(cuGraphCreate(&empty, 0));

  CUDA_MEMSET_NODE_PARAMS zeros{p, 0, 0, 4, 2, 1}, sevens{p, 0, 7, 4, 2, 1}, said_set{};
  GOOD(cuGraphAddMemsetNode(&sets, graph, nullptr, 0, &zeros, nullptr));
  GOOD(cuGraphMemsetNodeSetParams(sets, &sevens));
  GOOD(cuGraphMemsetNodeGetParams(sets, &said_set));
  EXPECT(said_set.value == 7 && type_of(sets) == CU_GRAPH_NODE_TYPE_MEMSET);
  CUDA_HOST_NODE_PARAMS host{note, &noted}, said{};
  GOOD(cuGraphAddHostNode(&calls, graph, &sets, 1, &host));
  WRONG(cuGraphAddHostNode(&calls, graph, &sets, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphHostNodeGetParams(calls, &said));
  EXPECT(said.fn == note && said.userData == &noted && type_of(calls) == CU_GRAPH_NODE_TYPE_HOST);
  CUDA_KERNEL_NODE_PARAMS node{}, said_kernel{};
  node.func = all.add;
  node.gridDimX = 2;
  node.gridDimY = node.gridDimZ = node.blockDimX = node.blockDimY = node.blockDimZ = 1;
  node.kernelParams = arguments;
  GOOD(cuGraphAddKernelNode(&kernel, graph, &calls, 1, &node));
  WRONG(cuGraphAddKernelNode(&kernel, graph, &calls, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphKernelNodeGetParams(kernel, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphKernelNodeGetParams(calls, &said_kernel), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphKernelNodeSetParams(kernel, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  box.srcDevice = p;
  box.dstMemoryType = CU_MEMORYTYPE_HOST;
  box.dstHost = back;
  box.WidthInBytes = 4;
  box.Height = box.Depth = 1;
  GOOD(cuGraphAddMemcpyNode(&copies, graph, &kernel, 1, &box, nullptr));
  WRONG(cuGraphAddMemcpyNode(&copies, graph, &kernel, 1, nullptr, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  box.WidthInBytes = 8;
  GOOD(cuGraphMemcpyNodeSetParams(copies, &box));
  WRONG(cuGraphMemcpyNodeSetParams(copies, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphAddEventRecordNode(&records, graph, &copies, 1, one));
  GOOD(cuGraphAddEventWaitNode(&waits, graph, &records, 1, one));
  EXPECT(type_of(records) == CU_GRAPH_NODE_TYPE_EVENT_RECORD &&
         type_of(waits) == CU_GRAPH_NODE_TYPE_WAIT_EVENT);
  GOOD(cuGraphEventRecordNodeSetEvent(records, two));
  GOOD(cuGraphEventRecordNodeGetEvent(records, &found));
  EXPECT(found == two);
  GOOD(cuGraphEventWaitNodeSetEvent(waits, two));
  GOOD(cuGraphEventWaitNodeGetEvent(waits, &found));
  EXPECT(found == two);
  WRONG(cuGraphEventWaitNodeGetEvent(records, &found), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode in_child = nullptr;
  GOOD(cuGraphAddHostNode(&in_child, child, nullptr, 0, &host));
  GOOD(cuGraphAddChildGraphNode(&nested, graph, &waits, 1, child));
  GOOD(cuGraphChildGraphNodeGetGraph(nested, &inner));
  std::size_t count = 0;
  GOOD(cuGraphGetNodes(inner, nullptr, &count));
  EXPECT(count == 1 && inner != child && type_of(nested) == CU_GRAPH_NODE_TYPE_GRAPH);

  // Instantiated in each way.
  using Older = CUresult (*)(CUgraphExec *, CUgraph, CUgraphNode *, char *, std::size_t);
  CUgraphExec executable = nullptr, older = nullptr;
  CUDA_GRAPH_INSTANTIATE_PARAMS how{};
  how.flags = CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  GOOD(cuGraphInstantiateWithParams(&executable, graph, &how));
  EXPECT(how.result_out == CUDA_GRAPH_INSTANTIATE_SUCCESS);
  WRONG(cuGraphInstantiateWithParams(&executable, graph, nullptr), CUDA_ERROR_INVALID_VALUE);
  cuuint64_t flags = 0;
  GOOD(cuGraphExecGetFlags(executable, &flags));
  EXPECT(flags == CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
  WRONG(cuGraphExecGetFlags(executable, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<Older>("cuGraphInstantiate", 11000)(&older, graph, nullptr, nullptr, 0));
  GOOD(cuGraphExecDestroy(older));
  GOOD(cuGraphLaunch(executable, nullptr));
  EXPECT(noted == 2 && back[0] == 7 + 2 * 6 && back[1] == 7);
  GOOD(cuEventQuery(two));

  // What is executed is given other parameters; the graph keeps its own.
  int other_noted = 0, other_back[2] = {};
  const CUDA_HOST_NODE_PARAMS other_host{note, &other_noted};
  GOOD(cuGraphExecHostNodeSetParams(executable, calls, &other_host));
  WRONG(cuGraphExecHostNodeSetParams(executable, kernel, &other_host), CUDA_ERROR_INVALID_VALUE);
  value = 10;
  node.gridDimX = 1;
  GOOD(cuGraphExecKernelNodeSetParams(executable, kernel, &node));
  WRONG(cuGraphExecKernelNodeSetParams(executable, kernel, nullptr), CUDA_ERROR_INVALID_VALUE);
  box.dstHost = other_back;
  GOOD(cuGraphExecMemcpyNodeSetParams(executable, copies, &box, nullptr));
  WRONG(cuGraphExecMemcpyNodeSetParams(executable, copies, nullptr, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphExecMemsetNodeSetParams(executable, sets, &zeros, nullptr));
  GOOD(cuGraphExecEventRecordNodeSetEvent(executable, records, one));
  GOOD(cuGraphExecEventWaitNodeSetEvent(executable, waits, one));
  WRONG(cuGraphExecEventWaitNodeSetEvent(executable, records, one), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphExecChildGraphNodeSetParams(executable, nested, empty));
  GOOD(cuGraphLaunch(executable, nullptr));
  EXPECT(noted == 2 && other_noted == 1 && other_back[0] == 15 && other_back[1] == 0);
  unsigned enabled = 9;
  GOOD(cuGraphNodeGetEnabled(executable, kernel, &enabled));
  EXPECT(enabled == 1);
  GOOD(cuGraphNodeSetEnabled(executable, kernel, 0));
  GOOD(cuGraphNodeGetEnabled(executable, kernel, &enabled));
  EXPECT(enabled == 0);
  GOOD(cuGraphLaunch(executable, nullptr));
  EXPECT(other_back[0] == 0);
  WRONG(cuGraphNodeGetEnabled(executable, kernel, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphNodeGetEnabled(executable, nullptr, &enabled), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphNodeSetEnabled(executable, nullptr, 1), CUDA_ERROR_INVALID_VALUE);

  // As the graph has it again.
  CUgraphExecUpdateResultInfo result{};
  GOOD(cuGraphExecUpdate(executable, graph, &result));
  EXPECT(result.result == CU_GRAPH_EXEC_UPDATE_SUCCESS);
  GOOD(cuGraphHostNodeSetParams(calls, &other_host));
  GOOD(cuGraphHostNodeGetParams(calls, &said));
  EXPECT(said.userData == &other_noted);
  const CUDA_HOST_NODE_PARAMS nothing{nullptr, nullptr};
  WRONG(cuGraphHostNodeSetParams(calls, &nothing), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphExecHostNodeSetParams(executable, calls, &nothing), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphExecUpdate(executable, child, &result), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT(result.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);

  // Attributes of launches, and a picture.
  CUlaunchAttributeValue cluster{}, known{};
  CUgraphNode second = nullptr;
  cluster.clusterDim = {2, 1, 1};
  GOOD(cuGraphAddKernelNode(&second, graph, nullptr, 0, &node));
  GOOD(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &cluster));
  GOOD(cuGraphKernelNodeCopyAttributes(second, kernel));
  GOOD(cuGraphKernelNodeGetAttribute(second, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &known));
  EXPECT(known.clusterDim.x == 2 && known.clusterDim.y == 1);
  known.cooperative = 1;
  GOOD(cuGraphKernelNodeSetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &known));
  known = {};
  GOOD(cuGraphKernelNodeGetAttribute(kernel, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &known));
  EXPECT(known.cooperative == 1);
  WRONG(cuGraphKernelNodeCopyAttributes(second, calls), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGraphKernelNodeSetAttribute(calls, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &known),
        CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphDebugDotPrint(graph, "graph.dot", 0));
  std::ifstream file("graph.dot");
  const std::string dot{std::istreambuf_iterator<char>(file), {}};
  EXPECT(dot.find("[label=\"add\"]") != std::string::npos &&
         dot.find("node0 -> node1;") != std::string::npos);
  WRONG(cuGraphDebugDotPrint(graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuGraphExecDestroy(executable));
  GOOD(cuGraphDestroy(graph));
  GOOD(cuMemFree(p));
}

// ---- arrays, textures and surfaces

void arrays() {
  CUarray array = nullptr;
  CUDA_ARRAY_DESCRIPTOR said{};
  for (const CUarray_format format :
       {CU_AD_FORMAT_UNSIGNED_INT8, CU_AD_FORMAT_UNSIGNED_INT16, CU_AD_FORMAT_UNSIGNED_INT32,
        CU_AD_FORMAT_SIGNED_INT8, CU_AD_FORMAT_SIGNED_INT16, CU_AD_FORMAT_SIGNED_INT32,
        CU_AD_FORMAT_HALF, CU_AD_FORMAT_FLOAT})
    for (const unsigned channels : {1u, 2u, 4u}) {
      const CUDA_ARRAY_DESCRIPTOR what{8, 4, format, channels};
      GOOD(cuArrayCreate(&array, &what));
      GOOD(cuArrayGetDescriptor(&said, array));
      EXPECT(said.Width == 8 && said.Height == 4 && said.Format == format &&
             said.NumChannels == channels);
      GOOD(cuArrayDestroy(array));
    }
  const CUDA_ARRAY_DESCRIPTOR three{8, 4, CU_AD_FORMAT_FLOAT, 3}, none{0, 4, CU_AD_FORMAT_FLOAT, 1},
      packed{8, 4, CU_AD_FORMAT_NV12, 1};
  for (const CUDA_ARRAY_DESCRIPTOR *const wrong : {&three, &packed})
    EXPECT(cuArrayCreate(&array, wrong) != CUDA_SUCCESS);
  WRONG(cuArrayCreate(&array, &none), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuArrayCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuArrayCreate(nullptr, &three), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuArrayDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUDA_ARRAY3D_DESCRIPTOR deep{2, 3, 4, CU_AD_FORMAT_SIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST},
      told{};
  GOOD(cuArray3DCreate(&array, &deep));
  GOOD(cuArray3DGetDescriptor(&told, array));
  EXPECT(told.Width == 2 && told.Height == 3 && told.Depth == 4 &&
         told.Flags == CUDA_ARRAY3D_SURFACE_LDST && told.Format == CU_AD_FORMAT_SIGNED_INT32);
  WRONG(cuArray3DGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuArrayGetDescriptor(nullptr, array), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuArray3DCreate(&array, nullptr), CUDA_ERROR_INVALID_VALUE);

  // A box into it, and one row of the second plane back.
  std::array<int, 24> numbers{};
  for (int i = 0; i < 24; ++i)
    numbers[i] = i;
  CUDA_MEMCPY3D box{};
  box.srcMemoryType = CU_MEMORYTYPE_HOST;
  box.srcHost = numbers.data();
  box.srcPitch = 8;
  box.srcHeight = 3;
  box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  box.dstArray = array;
  box.WidthInBytes = 8;
  box.Height = 3;
  box.Depth = 4;
  GOOD(cuMemcpy3D(&box));
  int back = 0;
  CUDA_MEMCPY3D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.srcXInBytes = 4;
  out.srcY = 2;
  out.srcZ = 1;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = &back;
  out.WidthInBytes = 4;
  out.Height = out.Depth = 1;
  GOOD(cuMemcpy3D(&out));
  EXPECT(back == 11);
  out.srcXInBytes = 2; // within an element
  WRONG(cuMemcpy3D(&out), CUDA_ERROR_INVALID_VALUE);
  out.srcXInBytes = 0;
  out.WidthInBytes = 6;
  WRONG(cuMemcpy3D(&out), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuArrayDestroy(array));
  WRONG(cuArrayGetDescriptor(&said, array), CUDA_ERROR_INVALID_HANDLE);
}

void textures(const Kernels &all) {
  constexpr std::size_t pitch = 512;
  CUdeviceptr memory = 0, to = 0;
  GOOD(cuMemAlloc(&memory, 2 * pitch));
  GOOD(cuMemAlloc(&to, 64));
  const float rows[2][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}};
  for (int y = 0; y < 2; ++y)
    GOOD(cuMemcpyHtoD(memory + y * pitch, rows[y], sizeof rows[y]));
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_PITCH2D;
  resource.res.pitch2D = {memory, CU_AD_FORMAT_FLOAT, 1, 4, 2, pitch};
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = CU_TR_ADDRESS_MODE_CLAMP;
  CUtexObject texture = 0;
  GOOD(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  void *arguments[] = {&texture, &to};
  GOOD(cuLaunchKernel(all.sample, 1, 1, 1, 4, 2, 1, 0, nullptr, arguments, nullptr));
  float found[8];
  GOOD(cuMemcpyDtoH(found, to, sizeof found));
  EXPECT(std::memcmp(found, rows, sizeof found) == 0);
  GOOD(cuTexObjectDestroy(texture));
  WRONG(cuTexObjectDestroy(texture), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuTexObjectCreate(&texture, nullptr, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_RESOURCE_VIEW_DESC view{};
  WRONG(cuTexObjectCreate(&texture, &resource, &how, &view), CUDA_ERROR_NOT_SUPPORTED);
  how.flags = CU_TRSF_SRGB;
  WRONG(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  how.flags = 0;
  how.addressMode[0] = static_cast<CUaddress_mode>(7);
  WRONG(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_ERROR_INVALID_VALUE);
  how.addressMode[0] = CU_TR_ADDRESS_MODE_CLAMP;
  resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
  WRONG(cuTexObjectCreate(&texture, &resource, &how, nullptr), CUDA_ERROR_NOT_SUPPORTED);

  // A row of pairs of bytes, as the numbers that they are.
  const unsigned char pairs[] = {1, 2, 3, 4, 5, 6};
  GOOD(cuMemcpyHtoD(memory, pairs, sizeof pairs));
  resource = {};
  resource.resType = CU_RESOURCE_TYPE_LINEAR;
  resource.res.linear = {memory, CU_AD_FORMAT_UNSIGNED_INT8, 2, sizeof pairs};
  how.flags = CU_TRSF_READ_AS_INTEGER;
  GOOD(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  GOOD(cuLaunchKernel(all.row, 1, 1, 1, 3, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(value_at(to) == 2 && value_at(to + 4) == 4 && value_at(to + 8) == 6);
  GOOD(cuTexObjectDestroy(texture));
  WRONG(cuSurfObjectCreate(&texture, &resource), CUDA_ERROR_INVALID_VALUE); // of arrays alone
  WRONG(cuSurfObjectCreate(&texture, nullptr), CUDA_ERROR_INVALID_VALUE);

  CUarray array = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR what{4, 2, 0, CU_AD_FORMAT_UNSIGNED_INT32, 1, CUDA_ARRAY3D_SURFACE_LDST};
  GOOD(cuArray3DCreate(&array, &what));
  unsigned words[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = words;
  copy.srcPitch = 16;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = 16;
  copy.Height = 2;
  GOOD(cuMemcpy2D(&copy));
  resource = {};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUsurfObject surface = 0;
  GOOD(cuSurfObjectCreate(&surface, &resource));
  void *of_surface[] = {&surface};
  GOOD(cuLaunchKernel(all.invert, 1, 1, 1, 4, 2, 1, 0, nullptr, of_surface, nullptr));
  CUDA_MEMCPY2D out{};
  out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  out.srcArray = array;
  out.dstMemoryType = CU_MEMORYTYPE_HOST;
  out.dstHost = words;
  out.dstPitch = 16;
  out.WidthInBytes = 16;
  out.Height = 2;
  GOOD(cuMemcpy2D(&out));
  for (unsigned i = 0; i < 8; ++i)
    EXPECT(words[i] == ~i);
  GOOD(cuSurfObjectDestroy(surface));
  WRONG(cuSurfObjectDestroy(surface), CUDA_ERROR_INVALID_VALUE);
  GOOD(cuArrayDestroy(array));
  GOOD(cuMemFree(memory));
  GOOD(cuMemFree(to));
}

void tensor_maps() {
  CUdeviceptr p = 0;
  GOOD(cuMemAlloc(&p, 1024));
  alignas(64) CUtensorMap map{}, other{};
  const cuuint64_t extents[] = {16, 8}, strides[] = {64};
  const cuuint32_t box[] = {8, 4}, steps[] = {1, 1}, far[] = {9, 1};
  const auto encode = [&](CUtensorMap *to, const cuuint32_t *with, CUdeviceptr where) {
    return cuTensorMapEncodeTiled(
        to, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, reinterpret_cast<void *>(where), extents, strides,
        box, with, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  GOOD(encode(&map, steps, p));
  GOOD(encode(&other, steps, p + 512));
  EXPECT(std::memcmp(&map, &other, sizeof map) != 0);
  GOOD(cuTensorMapReplaceAddress(&map, reinterpret_cast<void *>(p + 512)));
  EXPECT(std::memcmp(&map, &other, sizeof map) == 0);
  WRONG(encode(nullptr, steps, p), CUDA_ERROR_INVALID_VALUE);
  WRONG(encode(&map, nullptr, p), CUDA_ERROR_INVALID_VALUE);
  WRONG(encode(&map, far, p), CUDA_ERROR_INVALID_VALUE);
  WRONG(encode(&map, steps, p + 4), CUDA_ERROR_INVALID_VALUE); // 16 bytes at least
  WRONG(cuTensorMapReplaceAddress(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  std::memset(&map, 0, sizeof map);
  WRONG(cuTensorMapReplaceAddress(&map, nullptr), CUDA_ERROR_INVALID_VALUE); // no map
  GOOD(cuMemFree(p));
}

// ---- linking

void links() {
  using Create = CUresult (*)(unsigned, CUjit_option *, void **, CUlinkState *);
  using Add = CUresult (*)(CUlinkState, CUjitInputType, void *, std::size_t, const char *, unsigned,
                           CUjit_option *, void **);
  CUlinkState state = nullptr;
  void *image = nullptr;
  std::size_t size = 0;
  unsigned count = 0;
  CUmodule module = nullptr;
  WRONG(cuLinkCreate(0, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  GOOD(by_name<Create>("cuLinkCreate", 6000)(0, nullptr, nullptr, &state));
  WRONG(cuLinkComplete(state, &image, &size), CUDA_ERROR_INVALID_VALUE); // of nothing
  WRONG(cuLinkAddData(state, CU_JIT_INPUT_PTX, nullptr, 0, "a", 0, nullptr, nullptr),
        CUDA_ERROR_INVALID_VALUE);
  char code[] = "\x7f"
                "ELF";
  WRONG(cuLinkAddData(state, CU_JIT_INPUT_PTX, code, sizeof code, "a", 0, nullptr, nullptr),
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  WRONG(cuLinkAddData(state, CU_JIT_INPUT_CUBIN, code, sizeof code, "a", 0, nullptr, nullptr),
        CUDA_ERROR_INVALID_IMAGE); // it ends within its head
  WRONG(cuLinkAddData(state, CU_JIT_INPUT_OBJECT, code, sizeof code, "a", 0, nullptr, nullptr),
        CUDA_ERROR_NO_BINARY_FOR_GPU);
  WRONG(cuLinkAddData(state, CU_JIT_INPUT_FATBINARY, code, sizeof code, "a", 0, nullptr, nullptr),
        CUDA_ERROR_INVALID_IMAGE);
  WRONG(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "no such file", 0, nullptr, nullptr),
        CUDA_ERROR_FILE_NOT_FOUND);
  GOOD(cuLinkAddFile(state, CU_JIT_INPUT_FATBINARY, "module.fatbin", 0, nullptr, nullptr));
  GOOD(cuLinkComplete(state, &image, &size));
  EXPECT(size == std::strlen(static_cast<char *>(image)) + 1);
  GOOD(cuModuleLoadData(&module, image));
  GOOD(cuModuleGetFunctionCount(&count, module));
  EXPECT(count == 6);
  GOOD(cuModuleUnload(module));
  GOOD(cuLinkDestroy(state));

  // Weak, common and internal names of several texts, and the lines of their files.
  const std::string head = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const std::string variables = ".visible .global .align 4 .b32 set = 3;\n"
                                ".common .global .align 4 .b32 room[2];\n"
                                ".global .align 4 .b32 own = 1;\n";
  const std::string others = ".extern .global .align 4 .b32 set;\n"
                             ".common .global .align 4 .b32 room[4];\n"
                             ".global .align 4 .b32 own = 2;\n"
                             ".extern .shared .align 4 .b8 dynamic[];\n";
  const std::string weak = ".weak .func (.param .b32 r) number() {\n.reg .b32 %v;\n";
  const auto function = [&](int value) {
    return weak + "mov.u32 %v, " + std::to_string(value) + ";\nst.param.b32 [r], %v;\nret;\n}\n";
  };
  const auto kernel = [](const std::string &name) {
    return ".visible .entry " + name +
           "(.param .u64 to) {\n.reg .b64 %p;\n.reg .b32 %v, %w;\n.param .b32 r;\n.loc 1 7 0\n"
           "ld.param.u64 %p, [to];\ncall (r), number, ();\nld.param.b32 %v, [r];\n"
           "ld.global.u32 %w, [own];\nadd.u32 %v, %v, %w;\nld.global.u32 %w, [set];\n"
           "add.u32 %v, %v, %w;\nst.global.u32 [%p], %v;\nret;\n}\n";
  };
  std::string one = head + ".file 1 \"one.cu\"\n" + variables + function(100) + kernel("first"),
              two = head + ".file 1 \"two.cu\"\n" + others + function(200) + kernel("second");
  GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
  GOOD(by_name<Add>("cuLinkAddData", 6000)(state, CU_JIT_INPUT_PTX, one.data(), one.size(), "one",
                                           0, nullptr, nullptr));
  GOOD(cuLinkAddData(state, CU_JIT_INPUT_PTX, two.data(), two.size(), "two", 0, nullptr, nullptr));
  GOOD(cuLinkComplete(state, &image, &size));
  const std::string linked = static_cast<char *>(image);
  EXPECT(linked.find(".file 2 \"two.cu\"") != std::string::npos &&
         linked.find(".loc 2 7 0") != std::string::npos);
  GOOD(cuModuleLoadData(&module, image));
  GOOD(cuLinkDestroy(state));
  CUdeviceptr to = 0, room = 0;
  GOOD(cuMemAlloc(&to, 4));
  void *arguments[] = {&to};
  int wanted = 100 + 1 + 3; // one weak function is everybody's, `own` each has its own
  for (const char *const name : {"first", "second"}) {
    CUfunction found = nullptr;
    GOOD(cuModuleGetFunction(&found, module, name));
    GOOD(cuLaunchKernel(found, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
    EXPECT(value_at(to) == wanted++);
  }
  GOOD(cuModuleGetGlobal(&room, &size, module, "room"));
  EXPECT(size == 16); // the largest of the common ones
  GOOD(cuModuleUnload(module));
  GOOD(cuMemFree(to));

  // What does not fit together.
  std::string nowhere = head + ".extern .global .align 4 .b32 absent;\n";
  std::string wrong = head + ".visible .entry k( {\n";
  for (std::string *const bad : {&one, &nowhere, &wrong}) {
    GOOD(cuLinkCreate(0, nullptr, nullptr, &state));
    GOOD(cuLinkAddData(state, CU_JIT_INPUT_PTX, one.data(), one.size(), "", 0, nullptr, nullptr));
    GOOD(cuLinkAddData(state, CU_JIT_INPUT_PTX, bad->data(), bad->size(), "", 0, nullptr, nullptr));
    WRONG(cuLinkComplete(state, &image, &size), CUDA_ERROR_INVALID_PTX);
    GOOD(cuLinkDestroy(state));
  }
}

// ---- names

void names() {
  void *found = nullptr;
  CUdriverProcAddressQueryResult status;
  WRONG(cuGetProcAddress(nullptr, &found, CUDA_VERSION, 0, &status), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGetProcAddress("cuInit", nullptr, CUDA_VERSION, 0, &status), CUDA_ERROR_INVALID_VALUE);
  WRONG(cuGetProcAddress("cuLinkNothing", &found, CUDA_VERSION, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && found == nullptr);
  // What came with CUDA 13 is not there for programs of CUDA 12.
  WRONG(cuGetProcAddress("cuGraphAddDependencies", &found, 12000, 0, &status),
        CUDA_ERROR_NOT_FOUND);
  EXPECT(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  using Older = CUresult (*)(const char *, void **, int, cuuint64_t);
  const auto older = by_name<Older>("cuGetProcAddress", 11030);
  GOOD(older("cuInit", &found, 11030, 0));
  EXPECT(found == dlsym(RTLD_DEFAULT, "cuInit") && found);
  WRONG(older("cuNothing", &found, 11030, 0), CUDA_ERROR_NOT_FOUND);
}

} // namespace

// With an argument it only says its PTX, of which the test makes module.fatbin.
int main(int count, char **) {
  if (count > 1)
    return std::puts(source) < 0;
  before_the_beginning();
  GOOD(cuInit(0));
  names_of_the_device();
  numbers_of_the_device();
  names();
  primary_context();
  stack_of_contexts();
  settings_of_contexts();
  host_memory();
  attributes_of_pointers();
  pools();
  sets_and_copies();
  const Kernels all = load();
  modules(all);
  libraries();
  functions(all);
  launches(all);
  streams();
  captures(all);
  nodes_of_graphs();
  work_of_graphs(all);
  arrays();
  textures(all);
  tensor_maps();
  links();
  // Everything goes with the device.
  CUdeviceptr p = 0;
  using Reset = CUresult (*)(CUdevice);
  for (const Reset reset :
       {Reset{cuDevicePrimaryCtxReset}, by_name<Reset>("cuDevicePrimaryCtxReset", 7000)}) {
    GOOD(cuMemAlloc(&p, 4));
    GOOD(reset(0));
    WRONG(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
  }
  return finish();
}
