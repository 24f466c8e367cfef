// The driver loads code only when nothing runs any more in the context (seen with driver 580, for
// modules and for lazily loaded kernels). A kernel may run that waits for this very thread: for a
// flag that the host sets, or for another rank of a collective. So what `ptxasw faster` adds is
// loaded only when nothing runs, which takes knowing all streams: those that the program makes, the
// default stream, and the calling thread's own. Asking about a stream that is being captured would
// end the capture; so captures begin under the same lock.

#include "wrapper/launch/streams.h"

#include "wrapper/launch/doors.h"
#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/state.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace ptxasw::inline wrapper::launch {
namespace {

using Clock = std::chrono::steady_clock;

struct Stream {
  Handle handle = nullptr;
  Handle context = nullptr; ///< in which it was made, and its device
  int device = -1;
};

struct Streams {
  std::mutex mutex; ///< also of the beginnings of captures
  std::vector<Stream> all;
  bool unknown = false;       ///< something was launched on another
  std::thread::id per_thread; ///< who launches on the default stream of a thread; none yet
};
Streams &streams() {
  static auto *const value = new Streams;
  return *value;
}

/// A handle of a default stream: CU_STREAM_LEGACY is 1, CU_STREAM_PER_THREAD is 2.
bool is_default(Handle stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }
Handle default_stream(std::uintptr_t which) { return reinterpret_cast<Handle>(which); }

bool captures(Handle stream, bool per_thread) {
  int status = capture_none;
  return driver().stream_capturing[per_thread](stream, &status) != success ||
         status != capture_none;
}

std::atomic<std::thread::id> loading{};

template <typename... More> Result create(Door door, Handle *stream, More... more) {
  auto *const function = real<Result(Handle *, More...)>(door);
  if (!function)
    return not_initialized;
  const Result result = function(stream, more...);
  if (result == success && stream && asks_for_versions() && at_work()) {
    const Stream made{*stream, current_context(), current_device()};
    const std::lock_guard lock(streams().mutex);
    streams().all.push_back(made);
  }
  return result;
}

Result destroy(Door door, Handle stream) {
  auto *const function = real<Result(Handle)>(door);
  if (!function)
    return not_initialized;
  if (asks_for_versions()) {
    const std::lock_guard lock(streams().mutex);
    std::erase_if(streams().all, [&](const Stream &one) { return one.handle == stream; });
  }
  return function(stream);
}

template <typename... Arguments> Result begin_capture(Door door, Arguments... arguments) {
  auto *const function = real<Result(Arguments...)>(door);
  if (!function)
    return not_initialized;
  if (!asks_for_versions())
    return function(arguments...);
  const std::lock_guard lock(streams().mutex);
  return function(arguments...);
}

} // namespace

void note_stream(Handle stream, bool per_thread) {
  thread_local Handle last = nullptr; // that was found to be known
  if (!asks_for_versions() || (stream == last && stream))
    return;
  const auto which = reinterpret_cast<std::uintptr_t>(stream);
  Streams &known = streams();
  if (is_default(stream)) {
    if (which != 2 && !(per_thread && which == 0))
      return;
    const std::lock_guard lock(known.mutex);
    if (known.per_thread == std::thread::id{})
      known.per_thread = std::this_thread::get_id();
    else if (known.per_thread != std::this_thread::get_id())
      known.unknown = true; // nobody can ask about another thread's
    return;
  }
  const std::lock_guard lock(known.mutex);
  if (std::any_of(known.all.begin(), known.all.end(),
                  [&](const Stream &one) { return one.handle == stream; }))
    last = stream;
  else
    known.unknown = true;
}

bool nothing_runs() {
  const Driver &d = driver();
  if (!d.stream_query[0] || !d.stream_query[1])
    return false;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  Streams &known = streams();
  const std::lock_guard lock(known.mutex);
  if (known.unknown ||
      (known.per_thread != std::thread::id{} && known.per_thread != std::this_thread::get_id()))
    return false;
  for (const Stream &one : known.all)
    if (captures(one.handle, false))
      return false;
  if (captures(default_stream(2), true))
    return false;
  for (std::size_t i = 0; i < known.all.size(); ++i)
    if (d.stream_query[0](known.all[i].handle) != success) {
      std::swap(known.all[0], known.all[i]); // asked first the next time
      return false;
    }
  return d.stream_query[0](default_stream(1)) == success &&
         d.stream_query[1](default_stream(2)) == success;
}

void forget_streams(Handle context, int device) {
  Streams &known = streams();
  const std::lock_guard lock(known.mutex);
  std::erase_if(known.all, [&](const Stream &one) {
    return context ? one.context == context : device < 0 || one.device == device;
  });
}

bool wait_a_little(bool (*done)(const void *), const void *argument) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const bool eager = configuration().mode == Mode::tune;
  const double at_once = eager ? 120000 : 20, share = 0.01;
  static std::mutex mutex;
  static const Clock::time_point begin = Clock::now();
  static double spent = 0;
  if (done(argument))
    return true;
  const std::lock_guard lock(mutex);
  const Clock::time_point start = Clock::now();
  bool is_done = false;
  double waited = 0;
  while (!is_done && spent + waited < at_once + share * Milliseconds(start - begin).count()) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    is_done = done(argument);
    waited = Milliseconds(Clock::now() - start).count();
  }
  spent += waited;
  return is_done;
}

LaunchesWait::LaunchesWait() { loading.store(std::this_thread::get_id()); }
LaunchesWait::~LaunchesWait() { loading.store(std::thread::id{}); }

void wait_for_loading() {
  for (std::thread::id who = loading.load(std::memory_order_relaxed);
       who != std::thread::id{} && who != std::this_thread::get_id();
       who = loading.load(std::memory_order_relaxed))
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

} // namespace ptxasw::wrapper::launch

using namespace ptxasw::launch;

extern "C" {

int cuStreamCreate(void **stream, unsigned flags) {
  return create(Door::stream_create, stream, flags);
}
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  return create(Door::stream_create_with_priority, stream, flags, priority);
}
int cuStreamDestroy(void *stream) { return destroy(Door::stream_destroy, stream); }
int cuStreamDestroy_v2(void *stream) { return destroy(Door::stream_destroy_2, stream); }

int cuStreamBeginCapture(void *stream) { return begin_capture(Door::begin_capture, stream); }
int cuStreamBeginCapture_ptsz(void *stream) {
  return begin_capture(Door::begin_capture_ptsz, stream);
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
  return begin_capture(Door::begin_capture_2, stream, mode);
}
int cuStreamBeginCapture_v2_ptsz(void *stream, int mode) {
  return begin_capture(Door::begin_capture_2_ptsz, stream, mode);
}
int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void *nodes, const void *edges,
                                std::size_t count, int mode) {
  return begin_capture(Door::begin_capture_to_graph, stream, graph, nodes, edges, count, mode);
}
int cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void *nodes,
                                     const void *edges, std::size_t count, int mode) {
  return begin_capture(Door::begin_capture_to_graph_ptsz, stream, graph, nodes, edges, count, mode);
}
}
