// Looked up by name in the driver that the program has loaded; nothing is linked, so a program
// without a driver is not disturbed.

#include "wrapper/launch/driver.h"

#include "wrapper/launch/hooks.h"

#include <array>
#include <atomic>
#include <mutex>

namespace ptxasw::wrapper::launch {
namespace {

/// The first symbol of a list that the driver has.
template <typename Function, typename... Names>
void find(void *library, Function *&function, Names... names) {
  for (const char *name : {names...})
    if (!function)
      function = reinterpret_cast<Function *>(real_dlsym(library, name));
}

Driver look_up() {
  Driver d;
  const LookupGuard guard;
  void *const library = driver_library();
  if (!library)
    return d;
  find(library, d.function_name, "cuFuncGetName");
  find(library, d.function_module, "cuFuncGetModule");
  find(library, d.function_attribute, "cuFuncGetAttribute");
  find(library, d.set_function_attribute, "cuFuncSetAttribute");
  find(library, d.module_function, "cuModuleGetFunction");
  find(library, d.module_global, "cuModuleGetGlobal_v2");
  find(library, d.kernel_name, "cuKernelGetName");
  find(library, d.kernel_library, "cuKernelGetLibrary");
  find(library, d.kernel_attribute, "cuKernelGetAttribute");
  find(library, d.set_kernel_attribute, "cuKernelSetAttribute");
  find(library, d.library_kernel, "cuLibraryGetKernel");
  find(library, d.kernel_function, "cuKernelGetFunction");
  find(library, d.function_load, "cuFuncLoad");
  find(library, d.library_global, "cuLibraryGetGlobal");
  find(library, d.copy_to_host, "cuMemcpyDtoHAsync_v2");
  find(library, d.copy_on_device, "cuMemcpyDtoDAsync_v2");
  find(library, d.stream_create, "cuStreamCreate");
  find(library, d.stream_destroy, "cuStreamDestroy_v2");
  find(library, d.stream_query[0], "cuStreamQuery");
  find(library, d.stream_query[1], "cuStreamQuery_ptsz");
  find(library, d.stream_synchronize[0], "cuStreamSynchronize");
  find(library, d.stream_synchronize[1], "cuStreamSynchronize_ptsz");
  find(library, d.stream_capturing[0], "cuStreamIsCapturing");
  find(library, d.stream_capturing[1], "cuStreamIsCapturing_ptsz");
  find(library, d.stream_context[0], "cuStreamGetCtx");
  find(library, d.stream_context[1], "cuStreamGetCtx_ptsz");
  find(library, d.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode");
  find(library, d.event_create, "cuEventCreate");
  find(library, d.event_record[0], "cuEventRecord");
  find(library, d.event_record[1], "cuEventRecord_ptsz");
  find(library, d.event_query, "cuEventQuery");
  find(library, d.event_time, "cuEventElapsedTime_v2", "cuEventElapsedTime");
  find(library, d.context_current, "cuCtxGetCurrent");
  find(library, d.context_device, "cuCtxGetDevice");
  find(library, d.primary_state, "cuDevicePrimaryCtxGetState");
  find(library, d.device_name, "cuDeviceGetName");
  find(library, d.device_attribute, "cuDeviceGetAttribute");
  find(library, d.allocation, "cuMemGetAddressRange_v2");
  find(library, d.allocate, "cuMemAlloc_v2");
  find(library, d.release, "cuMemFree_v2");
  return d;
}

} // namespace

bool Driver::usable() const {
  return function_name && function_module && function_attribute && module_function &&
         module_global && copy_to_host && stream_create && stream_destroy &&
         stream_synchronize[0] && stream_synchronize[1] && stream_capturing[0] &&
         stream_capturing[1] && exchange_capture_mode && event_create && event_record[0] &&
         event_record[1] && event_query && event_time && context_current && context_device &&
         device_name;
}

const Driver &driver() {
  static const Driver *const found = new Driver(look_up());
  return *found;
}

int current_device() {
  int device = -1;
  return driver().context_device(&device) == success ? device : -1;
}

Handle current_context() {
  Handle context = nullptr;
  return driver().context_current(&context) == success ? context : nullptr;
}

Handle context_of(Handle stream, bool per_thread) {
  // CU_STREAM_LEGACY and CU_STREAM_PER_THREAD are 1 and 2.
  if (reinterpret_cast<std::uintptr_t>(stream) <= 2)
    return current_context();
  const auto ask = driver().stream_context[per_thread];
  Handle context = nullptr;
  return ask && ask(stream, &context) == success ? context : nullptr;
}

const std::string &gpu_name(int device) {
  static std::mutex mutex;
  static auto *const names = new std::array<std::string, most_devices>;
  static const std::string unknown;
  if (device < 0 || device >= most_devices)
    return unknown;
  const std::lock_guard lock(mutex);
  std::string &name = (*names)[static_cast<std::size_t>(device)];
  if (char text[256] = {}; name.empty() && driver().device_name(text, 255, device) == success)
    name = text;
  return name;
}

namespace {

/// By device; 0: not asked yet, -1: the driver does not say.
using DeviceNumbers = std::array<std::atomic<int>, most_devices>;

/// An attribute of a device, of which the driver is asked once; 0 if it does not say.
unsigned attribute_of(int device, int attribute, DeviceNumbers &known) {
  if (device < 0 || device >= most_devices)
    return 0;
  std::atomic<int> &number = known[static_cast<std::size_t>(device)];
  if (number.load(std::memory_order_relaxed) == 0) {
    int found = -1;
    if (!driver().device_attribute ||
        driver().device_attribute(&found, attribute, device) != success || found <= 0)
      found = -1;
    number.store(found, std::memory_order_relaxed);
  }
  const int found = number.load(std::memory_order_relaxed);
  return found > 0 ? static_cast<unsigned>(found) : 0;
}

} // namespace

unsigned multiprocessors(int device) {
  static DeviceNumbers known{};
  return attribute_of(device, device_multiprocessors, known);
}

unsigned shared_limit(int device) {
  static DeviceNumbers known{};
  return attribute_of(device, device_most_shared, known);
}

unsigned capability(int device) {
  int high = 0, low = 0;
  if (!driver().device_attribute ||
      driver().device_attribute(&high, device_major, device) != success ||
      driver().device_attribute(&low, device_minor, device) != success || high <= 0 || low < 0 ||
      low > 9)
    return 0;
  return static_cast<unsigned>(high * 10 + low);
}

RelaxedCapture::RelaxedCapture() { driver().exchange_capture_mode(&mode_); }
RelaxedCapture::~RelaxedCapture() { driver().exchange_capture_mode(&mode_); }

} // namespace ptxasw::wrapper::launch
