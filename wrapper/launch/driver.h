#pragma once

// The functions of the driver that the helper calls on its own account.

#include "wrapper/launch/driver_types.h"

#include <string>

namespace ptxasw::wrapper::launch {

/// Null where the driver is too old to have one; `usable()` says that none of those that
/// redirecting needs is missing.
struct Driver {
  Result (*function_name)(const char **, Handle) = nullptr; // 12.3
  Result (*function_module)(Handle *, Handle) = nullptr;    // 11.0
  Result (*function_attribute)(int *, int, Handle) = nullptr;
  Result (*set_function_attribute)(Handle, int, int) = nullptr; // 9.0, may be missing
  Result (*module_function)(Handle *, Handle, const char *) = nullptr;
  Result (*module_global)(DevicePointer *, std::size_t *, Handle, const char *) = nullptr;
  Result (*kernel_name)(const char **, Handle) = nullptr;             // 12.3
  Result (*kernel_library)(Handle *, Handle) = nullptr;               // 12.5
  Result (*kernel_attribute)(int *, int, Handle, int) = nullptr;      // 12.0
  Result (*set_kernel_attribute)(int, int, Handle, int) = nullptr;    // 12.0
  Result (*library_kernel)(Handle *, Handle, const char *) = nullptr; // 12.0
  Result (*kernel_function)(Handle *, Handle) = nullptr;              // 12.0, may be missing
  Result (*function_load)(Handle) = nullptr;                          // 12.4, may be missing
  Result (*library_global)(DevicePointer *, std::size_t *, Handle, const char *) = nullptr;
  Result (*copy_to_host)(void *, DevicePointer, std::size_t, Handle) = nullptr; // asynchronous
  Result (*copy_on_device)(DevicePointer, DevicePointer, std::size_t, Handle) = nullptr;
  Result (*stream_create)(Handle *, unsigned) = nullptr;
  Result (*stream_destroy)(Handle) = nullptr;
  Result (*stream_query[2])(Handle) = {}; ///< by whether streams are per thread; may be missing
  Result (*stream_synchronize[2])(Handle) = {};
  Result (*stream_capturing[2])(Handle, int *) = {};
  Result (*stream_context[2])(Handle, Handle *) = {}; ///< may be missing
  Result (*exchange_capture_mode)(int *) = nullptr;
  Result (*event_create)(Handle *, unsigned) = nullptr;
  Result (*event_record[2])(Handle, Handle) = {};
  Result (*event_query)(Handle) = nullptr;
  Result (*event_time)(float *, Handle, Handle) = nullptr;
  Result (*context_current)(Handle *) = nullptr;
  Result (*context_device)(int *) = nullptr;
  Result (*primary_state)(int, unsigned *, int *) = nullptr; ///< may be missing
  Result (*device_name)(char *, int, int) = nullptr;
  Result (*device_attribute)(int *, int, int) = nullptr; ///< may be missing
  Result (*allocation)(DevicePointer *, std::size_t *, DevicePointer) = nullptr;
  Result (*allocate)(DevicePointer *, std::size_t) = nullptr;
  Result (*release)(DevicePointer) = nullptr;

  bool usable() const;
};

/// Those of the driver that is loaded, looked up at the first call.
const Driver &driver();

/// Devices beyond these are not told apart: nothing is known of them.
inline constexpr int most_devices = 64;

/// The name of a device as the driver gives it; empty if it gives none.
const std::string &gpu_name(int device);

/// The compute capability of a device: 90 for 9.0; 0 if the driver does not say.
unsigned capability(int device);

/// How many multiprocessors a device has; 0 if the driver does not say.
unsigned multiprocessors(int device);
/// Bytes of shared memory that a block may have on a device, static and dynamic together, if its
/// function is allowed them; 0 if the driver does not say. What the driver itself takes of each
/// block is not among them.
unsigned shared_limit(int device);
/// The device of the calling thread's context, -1 if there is none.
int current_device();

/// The calling thread's context; null: there is none.
Handle current_context();

/// The context in which a launch on a stream runs: the stream's own, and the calling thread's only
/// for a default stream. Null: the driver does not say.
Handle context_of(Handle stream, bool per_thread);

/// While one lives, calls of this thread do not disturb a capture in progress.
class RelaxedCapture {
public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  int mode_ = capture_relaxed;
};

} // namespace ptxasw::wrapper::launch
