// A handle may be a CUfunction, of a module in one context, or a CUkernel, of a library and any
// context; cuLaunchKernel takes both, and each has its own functions to ask for names and
// neighbours. The table is a variable in the memory of the device. It is fetched on a stream of our
// own that waits for nothing, so that the program's streams, and a capture on one of them, go on.

#include "wrapper/launch/kernels.h"

#include "wrapper/launch/cache.h"
#include "wrapper/launch/driver.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/watch.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <optional>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::size_t largest_table = 1 << 20;

struct Known {
  std::mutex mutex;
  KernelCache cache;
  /// Originals by the names of their siblings, for origin_of().
  std::vector<const KernelCode *> codes;
  std::atomic<bool> used{false};
};
Known &known() {
  static auto *const value = new Known;
  return *value;
}

std::optional<std::string> fetch(DevicePointer address, std::size_t bytes) {
  const Driver &d = driver();
  std::string text(bytes, '\0');
  Handle stream = nullptr;
  if (d.stream_create(&stream, stream_non_blocking) != success)
    return std::nullopt;
  const bool good = d.copy_to_host(text.data(), address, bytes, stream) == success &&
                    d.stream_synchronize[0](stream) == success;
  d.stream_destroy(stream);
  return good ? std::optional(std::move(text)) : std::nullopt;
}

/// Reads an attribute of a function, or of a library's kernel on a device. False: the driver says
/// nothing.
bool read_attribute(bool in_library, int device, Handle function, int attribute, unsigned &to) {
  const Driver &d = driver();
  int value = -1;
  const Result result = in_library ? d.kernel_attribute(&value, attribute, function, device)
                                   : d.function_attribute(&value, attribute, function);
  if (result != success || value < 0)
    return false;
  to = static_cast<unsigned>(value);
  return true;
}

/// Returns true if functions like a kernel's can be allowed more shared memory.
bool can_allow(const Kernel &kernel) {
  return kernel.in_library ? driver().set_kernel_attribute != nullptr
                           : driver().set_function_attribute != nullptr;
}

enum class Reading { none, unreadable, read };

Reading read_table(const Home &home, SiblingTable &table) {
  const Driver &d = driver();
  const std::string symbol = home.name + std::string(sibling_table_suffix);
  DevicePointer address = 0;
  std::size_t bytes = 0;
  const Result found = home.in_library
                           ? d.library_global(&address, &bytes, home.owner, symbol.c_str())
                           : d.module_global(&address, &bytes, home.owner, symbol.c_str());
  if (found != success || !address)
    return Reading::none;
  if (bytes < sibling_table_head || bytes > largest_table)
    return Reading::unreadable;
  const auto text = fetch(address, bytes);
  if (!text)
    return Reading::unreadable;
  auto decoded = decode(*text);
  if (!decoded || decoded->kernel != home.name)
    return Reading::unreadable;
  table = std::move(*decoded);
  return Reading::read;
}

/// Returns true if `only` admits a sibling: its name contains that, or after a `=` is one of a
/// list.
bool is_admitted(const std::string &name, const std::string &only) {
  if (only.empty() || only.front() != '=')
    return name.find(only) != std::string::npos;
  for (std::size_t begin = 1; begin < only.size();) {
    const std::size_t end = std::min(only.find(',', begin), only.size());
    if (only.compare(begin, end - begin, name) == 0)
      return true;
    begin = end + 1;
  }
  return false;
}

void load_sibling(const Home &home, Handle own, const SiblingTable &table, const Sibling &sibling,
                  const Kernel &kernel, LoadedSibling &loaded) {
  if (!is_admitted(sibling.name, configuration().only))
    return;
  if (sibling.own_code) {
    loaded.limits = kernel.limits;
    loaded.function = own;
    return;
  }
  const Driver &d = driver();
  Handle function = nullptr;
  const char *const entry = entry_of(sibling, table.kernel).c_str();
  const Result found = home.in_library ? d.library_kernel(&function, home.owner, entry)
                                       : d.module_function(&function, home.owner, entry);
  if (found == success && read_limits(home, function, loaded.limits))
    loaded.function = function;
}

/// Asks the driver. The lock is held.
const Kernel *look_up(Handle function) {
  known().used.store(true, std::memory_order_relaxed);
  if (!driver().usable())
    return nullptr;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  Home home;
  SiblingTable table;
  if (!find_home(function, home)) {
    known().cache.insert(function, nullptr, nullptr);
    return nullptr;
  }
  const Kernel *result = nullptr;
  const Reading reading = read_table(home, table);
  if (reading == Reading::unreadable) {
    count(Outcome::table);
    log_line("table",
             fmt::format("\"kernel\":{},\"problem\":\"not understood\"", json_text(home.name)));
  } else if (reading == Reading::read && !table.siblings.empty()) {
    KernelCode &code = code_of(std::move(table));
    // Never freed: another thread may still be looking at it when its module goes.
    auto *kernel = new Kernel{code, home.in_library, {}, nullptr, {}};
    read_limits(home, function, kernel->limits);
    load_siblings(home, function, code.table, *kernel);
    if (std::find(known().codes.begin(), known().codes.end(), &code) == known().codes.end())
      known().codes.push_back(&code);
    result = kernel;
  } else if (reading == Reading::none) {
    result = watch(function, home);
  }
  known().cache.insert(function, home.owner, result);
  return result;
}

} // namespace

bool find_home(Handle function, Home &home) {
  const Driver &d = driver();
  if (d.kernel_library && d.kernel_name && d.library_kernel && d.library_global &&
      d.kernel_attribute && d.kernel_library(&home.owner, function) == success && home.owner) {
    home.in_library = true;
    return d.kernel_name(&home.name, function) == success && home.name;
  }
  return d.function_module(&home.owner, function) == success && home.owner &&
         d.function_name(&home.name, function) == success && home.name;
}

bool read_limits(const Home &home, Handle function, SiblingLimits &limits) {
  const int device = home.in_library ? current_device() : 0;
  const auto read = [&](int attribute, unsigned &to) {
    return read_attribute(home.in_library, device, function, attribute, to);
  };
  return read(attribute_max_threads, limits.max_threads) &&
         read(attribute_static_shared, limits.static_shared) &&
         read(attribute_registers, limits.registers) && read(attribute_local, limits.local);
}

bool load_siblings(const Home &home, Handle function, const SiblingTable &table, Kernel &kernel) {
  kernel.siblings = std::make_unique<LoadedSibling[]>(table.siblings.size());
  bool any = false;
  for (std::size_t i = 0; i < std::min(table.siblings.size(), most_siblings); ++i) {
    load_sibling(home, function, table, table.siblings[i], kernel, kernel.siblings[i]);
    any = any || kernel.siblings[i].function;
  }
  return any;
}

SiblingLimits limits_of(const Kernel &kernel, Handle function, unsigned shared_bytes) {
  SiblingLimits limits = kernel.limits;
  if (std::uint64_t{shared_bytes} + limits.static_shared <= limits.most_shared)
    return limits;
  const RelaxedCapture relaxed;
  if (unsigned dynamic = 0; read_attribute(kernel.in_library, current_device(), function,
                                           attribute_most_dynamic_shared, dynamic))
    limits.most_shared = std::max(limits.most_shared, limits.static_shared + dynamic);
  return limits;
}

SiblingLimits limits_of(const Kernel &kernel, const LoadedSibling &sibling) {
  SiblingLimits limits = sibling.limits;
  if (can_allow(kernel))
    limits.most_shared = std::max(limits.most_shared, shared_limit(current_device()));
  return limits;
}

// The driver's number may be larger than what is known here: handles that were forgotten and are
// looked up again, or siblings of one code.
Result allow_shared(const Kernel &kernel, const LoadedSibling &sibling, unsigned shared_bytes) {
  if (std::uint64_t{shared_bytes} + sibling.limits.static_shared <= default_shared)
    return success;
  const int device = current_device();
  if (device < 0 || device >= most_devices || !can_allow(kernel))
    return invalid_handle;
  std::atomic<unsigned> &allowed = sibling.allowed[static_cast<std::size_t>(device)];
  if (shared_bytes <= allowed.load(std::memory_order_acquire))
    return success;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const RelaxedCapture relaxed;
  const Driver &d = driver();
  unsigned now = 0;
  if (!read_attribute(kernel.in_library, device, sibling.function, attribute_most_dynamic_shared,
                      now) ||
      now < shared_bytes) {
    const auto bytes = static_cast<int>(shared_bytes);
    const Result result =
        kernel.in_library
            ? d.set_kernel_attribute(attribute_most_dynamic_shared, bytes, sibling.function, device)
            : d.set_function_attribute(sibling.function, attribute_most_dynamic_shared, bytes);
    if (result != success)
      return result;
    now = shared_bytes;
  }
  allowed.store(now, std::memory_order_release);
  return success;
}

void replace_kernel(Handle function, Handle owner, const Kernel *kernel) {
  known().cache.insert(function, owner, kernel);
}

const Kernel *find_kernel(Handle function) {
  const Kernel *kernel = nullptr;
  Known &all = known();
  if (all.cache.find(function, kernel))
    return kernel;
  const std::lock_guard lock(all.mutex);
  if (all.cache.find(function, kernel))
    return kernel;
  return look_up(function);
}

bool handles_in_use() { return known().used.load(std::memory_order_relaxed); }
void lock_handles() { known().mutex.lock(); }
bool try_lock_handles() { return known().mutex.try_lock(); }
void unlock_handles() { known().mutex.unlock(); }

void forget_handles(Handle owner) {
  Known &all = known();
  const std::lock_guard lock(all.mutex);
  if (owner)
    all.cache.forget(owner);
  else
    all.cache.forget_all();
}

Origin origin_of(Handle function) {
  Origin origin;
  if (!function || !driver().usable())
    return origin;
  const LookupGuard guard;
  Home home;
  if (!find_home(function, home))
    return origin;
  const std::lock_guard lock(known().mutex);
  if (watched_origin(function, origin))
    return origin;
  for (const KernelCode *code : known().codes)
    for (const Sibling &sibling : code->table.siblings)
      if (sibling.name == home.name) {
        const Driver &d = driver();
        const char *name = code->table.kernel.c_str();
        const Result found = home.in_library
                                 ? d.library_kernel(&origin.function, home.owner, name)
                                 : d.module_function(&origin.function, home.owner, name);
        if (found != success)
          return {};
        origin.table = &code->table;
        origin.sibling = &sibling;
        origin.parameters = code->table.parameters.size();
        return origin;
      }
  return origin;
}

} // namespace ptxasw::wrapper::launch
