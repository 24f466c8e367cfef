// The driver loads code only when nothing runs any more in the context (seen with driver 580, for
// modules and for lazily loaded kernels). A kernel may run that waits for this very thread: for a
// flag that the host sets, or for another rank of a collective. So what `ptxasw faster` adds is
// loaded only when nothing runs, which takes knowing all streams: those that the program makes, the
// default stream, and the calling thread's own. Asking about a stream that is being captured would
// end the capture; so captures begin under the lock under which streams are asked. No launch waits
// for that lock: whoever holds it is in the driver, which may itself wait for what is launched
// next.
//
// A stream may end before what runs on it; nobody can ask for that any more.

#include "wrapper/launch/streams.h"

#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/measure.h"
#include "wrapper/launch/state.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace ptxasw::wrapper::launch {
namespace {

using Clock = std::chrono::steady_clock;

struct Stream {
  Handle handle = nullptr;
  Handle context = nullptr; ///< in which it was made, and its device
  int device = -1;
};

struct Streams {
  std::mutex asking; ///< captures begin, streams end, or all are asked; before `mutex`
  std::mutex mutex;  ///< of what follows; nothing is asked of the driver under it
  std::vector<Stream> all;
  std::atomic<bool> unknown{false}; ///< something runs, or may run, on another
  std::uint64_t per_thread = 0; ///< who launches on the default stream of a thread; 0: nobody yet
  std::atomic<unsigned> endings{0};
};
Streams &streams() {
  static auto *const value = new Streams;
  return *value;
}

/// What launches have waited for altogether.
struct Waits {
  std::mutex mutex;             ///< of the one that waits now
  std::atomic<double> spent{0}; ///< ms
};
Waits &waits() {
  static auto *const value = new Waits;
  return *value;
}

/// What is left for waits, ms; may be negative.
double left_for_waits() {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  static const Clock::time_point begin = Clock::now();
  constexpr double eager = 120000, share = 0.01;
  return (configuration().mode == Mode::tune ? eager : configuration().wait) +
         share * Milliseconds(Clock::now() - begin).count() - waits().spent.load();
}

/// A handle of a default stream: CU_STREAM_LEGACY is 1, CU_STREAM_PER_THREAD is 2.
bool is_default(Handle stream) { return reinterpret_cast<std::uintptr_t>(stream) <= 2; }
Handle default_stream(std::uintptr_t which) { return reinterpret_cast<Handle>(which); }

bool captures(Handle stream, bool per_thread) {
  int status = capture_none;
  return driver().stream_capturing[per_thread](stream, &status) != success ||
         status != capture_none;
}

std::atomic<std::uint64_t> loading{0};   ///< who holds back launches; 0: nobody
std::atomic<std::uint64_t> launching{0}; ///< launches that are under way
std::atomic<std::uint64_t> begun{0};     ///< all launches

/// With `asking` held: a stream of the program's is about to end. True if all on it has ended.
bool is_idle(Handle stream) {
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  return driver().stream_query[0] && !captures(stream, false) &&
         driver().stream_query[0](stream) == success;
}

/// A launch that is the original's whatever happens; but it runs.
template <typename... Arguments>
Result pass(Hook hook, Handle stream, bool per_thread, Arguments... arguments) {
  auto *const function = real<Result(Arguments...)>(hook);
  if (!function)
    return not_initialized;
  if (!at_work())
    return function(arguments...);
  const LaunchUnderWay under_way;
  note_stream(stream, per_thread);
  note_launch();
  return function(arguments...);
}

template <typename... More> Result create(Hook hook, Handle *stream, More... more) {
  auto *const function = real<Result(Handle *, More...)>(hook);
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

Result destroy(Hook hook, Handle stream) {
  auto *const function = real<Result(Handle)>(hook);
  if (!function)
    return not_initialized;
  if (asks_for_versions() && at_work()) {
    Streams &known = streams();
    const auto is_it = [&](const Stream &one) { return one.handle == stream; };
    const std::lock_guard lock(known.asking);
    std::unique_lock own(known.mutex);
    if (std::any_of(known.all.begin(), known.all.end(), is_it)) {
      own.unlock();
      const bool idle = is_idle(stream);
      own.lock();
      std::erase_if(known.all, is_it);
      known.unknown = known.unknown || !idle;
      ++known.endings;
    }
  }
  return function(stream);
}

template <typename... Arguments>
Result begin_capture(Hook hook, bool per_thread, Handle stream, Arguments... arguments) {
  auto *const function = real<Result(Handle, Arguments...)>(hook);
  if (!function)
    return not_initialized;
  if (!asks_for_versions() || !at_work())
    return function(stream, arguments...);
  const std::lock_guard lock(streams().asking);
  note_stream(stream, per_thread);
  return function(stream, arguments...);
}

} // namespace

std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> threads{0};
  thread_local const std::uint64_t mine = ++threads;
  return mine;
}

void note_stream(Handle stream, bool per_thread) {
  thread_local Handle last = nullptr; // that was found to be known
  thread_local unsigned endings = 0;  // until then
  if (!asks_for_versions())
    return;
  Streams &known = streams();
  if (known.unknown.load(std::memory_order_relaxed)) // for good
    return;
  if (stream && stream == last && endings == known.endings.load(std::memory_order_relaxed))
    return;
  const auto which = reinterpret_cast<std::uintptr_t>(stream);
  if (is_default(stream)) {
    if (which != 2 && !(per_thread && which == 0))
      return;
    const std::lock_guard lock(known.mutex);
    if (known.per_thread == 0)
      known.per_thread = this_thread();
    else if (known.per_thread != this_thread())
      known.unknown = true; // nobody can ask about another thread's
    return;
  }
  const std::lock_guard lock(known.mutex);
  if (std::any_of(known.all.begin(), known.all.end(),
                  [&](const Stream &one) { return one.handle == stream; })) {
    last = stream;
    endings = known.endings.load(std::memory_order_relaxed);
  } else {
    known.unknown = true;
  }
}

bool nothing_runs() {
  const Driver &d = driver();
  if (!d.stream_query[0] || !d.stream_query[1])
    return false;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  Streams &known = streams();
  const std::unique_lock asking(known.asking, std::try_to_lock);
  if (!asking)
    return false;
  static Handle busy = nullptr; // the last time: asked first
  std::vector<Stream> all;
  {
    const std::lock_guard lock(known.mutex);
    if (known.unknown || (known.per_thread != 0 && known.per_thread != this_thread()))
      return false;
    all = known.all;
  }
  std::partition(all.begin(), all.end(), [](const Stream &one) { return one.handle == busy; });
  for (const Stream &one : all)
    if (captures(one.handle, false) || d.stream_query[0](one.handle) != success) {
      busy = one.handle;
      return false;
    }
  // The default stream says if any stream that it waits for is being captured; it must not be asked
  // for more then.
  return !captures(default_stream(2), true) && !captures(default_stream(1), false) &&
         d.stream_query[0](default_stream(1)) == success &&
         d.stream_query[1](default_stream(2)) == success;
}

void forget_streams(Handle context, int device) {
  Streams &known = streams();
  const std::lock_guard lock(known.mutex);
  const auto ended = std::erase_if(known.all, [&](const Stream &one) {
    return context ? one.context == context : device < 0 || one.device == device;
  });
  known.unknown = known.unknown || (!context && ended != 0);
  ++known.endings;
}

bool wait_a_little(bool (*done)(const void *), const void *argument, double longest) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const bool eager = configuration().mode == Mode::tune;
  // What was waited for is loaded then, which takes its time, too.
  if (are_waits_spent())
    return false;
  if (done(argument))
    return true;
  Waits &all = waits();
  std::unique_lock lock(all.mutex, std::defer_lock);
  if (eager)
    lock.lock();
  else if (!lock.try_lock())
    return false;
  const Clock::time_point start = Clock::now();
  // One wait leaves something for those of other kernels.
  const double left = left_for_waits(), limit = std::min(longest, eager ? left : left / 2);
  constexpr double without_sleep = 0.03; // ms
  bool is_done = false;
  double waited = 0;
  while (!is_done && waited < limit) {
    if (waited < without_sleep)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    is_done = done(argument);
    waited = Milliseconds(Clock::now() - start).count();
  }
  add_to_waits(waited);
  return is_done;
}

bool are_waits_spent() { return configuration().mode != Mode::tune && left_for_waits() <= 0; }

void add_to_waits(double milliseconds) {
  std::atomic<double> &spent = waits().spent;
  double before = spent.load();
  while (!spent.compare_exchange_weak(before, before + milliseconds))
    ;
}

void pay_for_waits(double saved) {
  constexpr double part = 0.5, most = 100;
  std::atomic<double> &spent = waits().spent;
  double before = spent.load();
  while (before > -most &&
         !spent.compare_exchange_weak(before, std::max(-most, before - part * saved)))
    ;
}

// Each of the two writes its own and then reads the other's, in one order for all threads.
LaunchUnderWay::LaunchUnderWay() : counted_(asks_for_versions()) {
  if (!counted_)
    return;
  const auto is_held_back = [] {
    const std::uint64_t who = loading.load();
    return who != 0 && who != this_thread();
  };
  begun.fetch_add(1, std::memory_order_relaxed);
  ++launching;
  while (is_held_back()) {
    --launching;
    while (is_held_back())
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    ++launching;
  }
}
LaunchUnderWay::~LaunchUnderWay() {
  if (counted_)
    --launching;
}

LaunchesWait::LaunchesWait() { loading.store(this_thread()); }
LaunchesWait::~LaunchesWait() { loading.store(0); }
std::uint64_t launches_begun() { return begun.load(std::memory_order_relaxed); }
bool knows_all_streams() {
  Streams &known = streams();
  const std::lock_guard lock(known.mutex);
  return !known.unknown && (known.per_thread == 0 || known.per_thread == this_thread());
}
bool nobody_else_launches() { return launching.load() == 1; }

void lock_streams() {
  streams().asking.lock();
  streams().mutex.lock();
}
void unlock_streams() {
  streams().mutex.unlock();
  streams().asking.unlock();
}

} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" {

int cuStreamCreate(void **stream, unsigned flags) {
  return create(Hook::stream_create, stream, flags);
}
int cuStreamCreateWithPriority(void **stream, unsigned flags, int priority) {
  return create(Hook::stream_create_with_priority, stream, flags, priority);
}
int cuStreamDestroy(void *stream) { return destroy(Hook::stream_destroy, stream); }
int cuStreamDestroy_v2(void *stream) { return destroy(Hook::stream_destroy_2, stream); }

int cuStreamBeginCapture(void *stream) { return begin_capture(Hook::begin_capture, false, stream); }
int cuStreamBeginCapture_ptsz(void *stream) {
  return begin_capture(Hook::begin_capture_ptsz, true, stream);
}
int cuStreamBeginCapture_v2(void *stream, int mode) {
  return begin_capture(Hook::begin_capture_2, false, stream, mode);
}
int cuStreamBeginCapture_v2_ptsz(void *stream, int mode) {
  return begin_capture(Hook::begin_capture_2_ptsz, true, stream, mode);
}
int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void *nodes, const void *edges,
                                std::size_t count, int mode) {
  return begin_capture(Hook::begin_capture_to_graph, false, stream, graph, nodes, edges, count,
                       mode);
}
int cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void *nodes,
                                     const void *edges, std::size_t count, int mode) {
  return begin_capture(Hook::begin_capture_to_graph_ptsz, true, stream, graph, nodes, edges, count,
                       mode);
}

int cuGraphLaunch(void *graph, void *stream) {
  return pass(Hook::graph_launch, stream, false, graph, stream);
}
int cuGraphLaunch_ptsz(void *graph, void *stream) {
  return pass(Hook::graph_launch_ptsz, stream, true, graph, stream);
}
int cuLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              unsigned shared_bytes, void *stream, void **parameters) {
  return pass(Hook::launch_cooperative, stream, false, function, grid_x, grid_y, grid_z, block_x,
              block_y, block_z, shared_bytes, stream, parameters);
}
int cuLaunchCooperativeKernel_ptsz(void *function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared_bytes, void *stream,
                                   void **parameters) {
  return pass(Hook::launch_cooperative_ptsz, stream, true, function, grid_x, grid_y, grid_z,
              block_x, block_y, block_z, shared_bytes, stream, parameters);
}
}
