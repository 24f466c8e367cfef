// Memory is copied three times: as it was before, as the original left it, and back. Only what an
// argument points into is seen; what a kernel reaches through pointers in memory is not.

#include "wrapper/launch/verify.h"

#include "wrapper/launch/driver.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fmt/core.h>
#include <string>
#include <vector>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::size_t piece = std::size_t{16} << 20; ///< compared at once

/// An allocation and the copies of it.
struct Buffer {
  DevicePointer address = 0;
  std::size_t bytes = 0;
  std::size_t parameter = 0; ///< the first that points into it
  DevicePointer before = 0, after = 0;
};

class Check {
public:
  Check(const Launch &launch, const Arguments &arguments, const SiblingTable &table)
      : stream_(launch.stream), per_thread_(launch.per_thread) {
    for (std::size_t i = 0; i < table.parameters.size(); ++i)
      for (std::size_t at = 0; at + 8 <= table.parameters[i].bytes; at += 8)
        add(i, value(arguments, table, i, at));
  }
  ~Check() {
    for (const Buffer &buffer : buffers_)
      for (const DevicePointer copy : {buffer.before, buffer.after})
        if (copy)
          driver().release(copy);
  }
  Check(const Check &) = delete;
  Check &operator=(const Check &) = delete;

  bool allocate() {
    return std::all_of(buffers_.begin(), buffers_.end(), [](Buffer &buffer) {
      return driver().allocate(&buffer.before, buffer.bytes) == success &&
             driver().allocate(&buffer.after, buffer.bytes) == success;
    });
  }
  bool save() {
    return each([&](Buffer &b) { return copy(b.before, b.address, b.bytes); });
  }
  bool keep() {
    return each([&](Buffer &b) { return copy(b.after, b.address, b.bytes); });
  }
  bool restore() {
    return each([&](Buffer &b) { return copy(b.address, b.before, b.bytes); });
  }
  bool wait() const { return driver().stream_synchronize[per_thread_](stream_) == success; }

  /// The first difference between now and what keep() kept, in words; empty if there is none.
  std::string difference(bool &readable) {
    std::vector<unsigned char> now, then;
    for (const Buffer &buffer : buffers_)
      for (std::size_t at = 0; at < buffer.bytes; at += piece) {
        const std::size_t bytes = std::min(piece, buffer.bytes - at);
        now.resize(bytes);
        then.resize(bytes);
        if (driver().copy_to_host(now.data(), buffer.address + at, bytes, stream_) != success ||
            driver().copy_to_host(then.data(), buffer.after + at, bytes, stream_) != success ||
            !wait()) {
          readable = false;
          return "";
        }
        const auto [here, there] = std::mismatch(now.begin(), now.end(), then.begin());
        if (here != now.end())
          return fmt::format("byte {} of the {} at 0x{:x} (parameter {}) is 0x{:02x}, and 0x{:02x} "
                             "after the original",
                             at + static_cast<std::size_t>(here - now.begin()), buffer.bytes,
                             buffer.address, buffer.parameter, *here, *there);
      }
    return "";
  }

private:
  static DevicePointer value(const Arguments &arguments, const SiblingTable &table,
                             std::size_t parameter, std::size_t at) {
    DevicePointer result = 0;
    const unsigned char *from = arguments.list
                                    ? static_cast<const unsigned char *>(arguments.list[parameter])
                                    : arguments.buffer + table.parameters[parameter].offset;
    std::memcpy(&result, from + at, sizeof result);
    return result;
  }

  void add(std::size_t parameter, DevicePointer pointer) {
    Buffer buffer;
    buffer.parameter = parameter;
    if (driver().allocation(&buffer.address, &buffer.bytes, pointer) == success &&
        std::none_of(buffers_.begin(), buffers_.end(),
                     [&](const Buffer &b) { return b.address == buffer.address; }))
      buffers_.push_back(buffer);
  }

  bool copy(DevicePointer to, DevicePointer from, std::size_t bytes) const {
    return driver().copy_on_device(to, from, bytes, stream_) == success;
  }
  template <typename Action> bool each(Action action) {
    return std::all_of(buffers_.begin(), buffers_.end(), action);
  }

  Handle stream_;
  bool per_thread_;
  std::vector<Buffer> buffers_;
};

void unchecked(const Sibling &what, std::string_view why) {
  log_line("unverified",
           fmt::format("\"sibling\":{},\"reason\":{}", json_text(what.name), json_text(why)));
}

} // namespace

Result verify(const Launch &original, const Launch &sibling, const Arguments &arguments,
              const SiblingTable &table, const Sibling &what, Result (*start)(const Launch &)) {
  const Driver &d = driver();
  const RelaxedCapture relaxed;
  int capturing = capture_none;
  if (!d.allocation || !d.allocate || !d.release || !d.copy_on_device ||
      d.stream_capturing[original.per_thread](original.stream, &capturing) != success ||
      capturing != capture_none) {
    unchecked(what, "the stream is being captured");
    return start(sibling);
  }
  Check check(original, arguments, table);
  if (!check.allocate()) {
    unchecked(what, "no memory for copies");
    return start(sibling);
  }
  if (!check.save())
    return start(sibling);
  if (const Result result = start(original); result != success)
    return result;
  if (!check.keep() || !check.restore()) {
    unchecked(what, "memory cannot be copied");
    return success; // the original has run
  }
  if (const Result result = start(sibling); result != success) {
    check.restore();
    return result;
  }
  bool readable = true;
  const std::string difference = check.difference(readable);
  if (readable && difference.empty()) {
    log_line("verified", fmt::format("\"sibling\":{}", json_text(what.name)));
    return success;
  }
  // Does the original agree with itself?
  bool again = true;
  if (!readable || !check.restore() || start(original) != success ||
      !check.difference(again).empty() || !again) {
    unchecked(what, readable ? "the original differs from itself" : "memory cannot be read");
    return success;
  }
  if (table.any_order) {
    unchecked(what, "what it computes depends on the order of threads");
    return success;
  }
  log_line("mismatch",
           fmt::format("\"sibling\":{},\"text\":{}", json_text(what.name), json_text(difference)));
  tell(fmt::format("{}: {} computes something else: {}", table.kernel, what.name, difference));
  std::abort();
}

} // namespace ptxasw::wrapper::launch
