// What has not ended yet is checked again at the kernel's next launch. A program may launch
// hundreds of times before the first launch has ended; it would be over before anything is known.
// So while nothing is decided, a program may only be a limited number of launches ahead of the
// oldest that is timed, and then that one is waited for, while the others keep the GPU busy. The
// wait is short: the GPU may be waiting for the very thread that launches.

#include "wrapper/launch/measure.h"

#include "wrapper/launch/driver.h"
#include "wrapper/launch/state.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fmt/core.h>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

namespace ptxasw::wrapper::launch {

/// A launch may ask about events of another context, which another thread may end at any time.
struct ContextEvents {
  ContextEvents(Handle which, int of) : context(which), device(of) {}

  const Handle context;
  const int device;
  std::mutex mutex; ///< of what follows; who asks about an event holds it, and so does who ends it
  bool ended = false;
  std::vector<std::pair<Handle, Handle>> free;
};

namespace {

constexpr std::size_t most_pending = 16; ///< launches that are timed, or since the oldest of them
constexpr std::size_t least_pending = 3; ///< enough for the GPU to stay busy
constexpr double busy = 1; ///< launches that take this many ms together keep the GPU busy, too

/// Runs that are under way in the process, and launches while there are any.
std::atomic<unsigned> runs{0};
std::atomic<std::uint64_t> launches_noted{0};

/// Contexts that have not ended, as far as is known.
struct Contexts {
  std::mutex mutex;
  std::vector<std::shared_ptr<ContextEvents>> all;
};
Contexts &contexts() {
  static auto *const value = new Contexts;
  return *value;
}

/// The calling thread's; null: it has none.
std::shared_ptr<ContextEvents> current_events() {
  const Handle context = current_context();
  if (!context)
    return nullptr;
  Contexts &known = contexts();
  const std::lock_guard lock(known.mutex);
  for (const std::shared_ptr<ContextEvents> &one : known.all)
    if (one->context == context)
      return one;
  return known.all.emplace_back(std::make_shared<ContextEvents>(context, current_device()));
}

} // namespace

bool take_events(Pending &pending) {
  const Driver &d = driver();
  pending.of = current_events();
  if (!pending.of)
    return false;
  {
    const std::lock_guard lock(pending.of->mutex);
    if (auto &free = pending.of->free; !free.empty()) {
      std::tie(pending.start, pending.end) = free.back();
      free.pop_back();
      return true;
    }
  }
  return d.event_create(&pending.start, event_default) == success &&
         d.event_create(&pending.end, event_default) == success;
}

void give_events(const Pending &pending) {
  if (!pending.end)
    return;
  const std::lock_guard lock(pending.of->mutex);
  if (!pending.of->ended)
    pending.of->free.emplace_back(pending.start, pending.end);
}

bool record_end(const Pending &pending, Handle stream, bool per_thread) {
  const std::lock_guard lock(pending.of->mutex);
  return !pending.of->ended && driver().event_record[per_thread](pending.end, stream) == success;
}

void forget_events(Handle context, int device) {
  Contexts &known = contexts();
  std::vector<std::shared_ptr<ContextEvents>> ended;
  {
    const std::lock_guard lock(known.mutex);
    std::erase_if(known.all, [&](const std::shared_ptr<ContextEvents> &one) {
      const bool ends = context ? one->context == context : device < 0 || one->device == device;
      if (ends)
        ended.push_back(one);
      return ends;
    });
  }
  for (const std::shared_ptr<ContextEvents> &one : ended) {
    const std::lock_guard lock(one->mutex);
    one->ended = true;
    one->free.clear();
  }
}

void note_launch() {
  if (runs.load(std::memory_order_relaxed) != 0)
    launches_noted.fetch_add(1, std::memory_order_relaxed);
}

void begin_run(Choice &choice, const Pending &pending, std::size_t launches,
               const LaunchStream &stream) {
  choice.run = {pending, launches - 1, stream, 0};
  choice.run.pending.launches = launches;
  runs.fetch_add(1, std::memory_order_relaxed);
  choice.run.noted = launches_noted.load(std::memory_order_relaxed);
}

void end_run(Choice &choice) {
  choice.run.left = 0;
  runs.fetch_sub(1, std::memory_order_relaxed);
}

bool goes_on(Choice &choice, const LaunchStream &stream) {
  LaunchRun &run = choice.run;
  if (run.left == 0)
    return false;
  const std::uint64_t now = launches_noted.load(std::memory_order_relaxed);
  if (now != run.noted + 1 || stream != run.stream) {
    break_run(choice);
    return false;
  }
  run.noted = now;
  choice.chooser.go_on();
  return true;
}

void break_run(Choice &choice) {
  end_run(choice);
  give_events(choice.run.pending);
  choice.chooser.broken(choice.run.pending.version);
}

namespace {

/// How long a launch took; `state`: success, or why that is not known.
float time_of(const Pending &launch, Result &state) {
  const Driver &d = driver();
  float milliseconds = 0;
  const std::lock_guard lock(launch.of->mutex);
  state = launch.of->ended ? invalid_handle : d.event_query(launch.end);
  if (state == success)
    state = d.event_time(&milliseconds, launch.start, launch.end);
  return milliseconds;
}

/// Takes launches that have ended out of a list: `done(launch, milliseconds)` of those that were
/// timed, `failed(launch)` of the others.
template <typename Done, typename Failed>
void take_ended(std::vector<Pending> &pending, const Done &done, const Failed &failed) {
  for (std::size_t i = 0; i < pending.size();) {
    Result state = success;
    const float milliseconds = time_of(pending[i], state);
    if (state == not_ready) {
      ++i;
      continue;
    }
    if (state == success)
      done(pending[i], static_cast<double>(milliseconds));
    else
      failed(pending[i]);
    if (state == success)
      give_events(pending[i]);
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void log_trial(const KernelCode &code, const Choice &choice, const Pending &one, double each) {
  const auto &block = choice.key.block;
  log_line("trial", fmt::format("\"kernel\":{},\"block\":[{},{},{}],\"version\":{},\"launch\":{},"
                                "\"launches\":{},\"us\":{:.3f}",
                                json_text(code.table.kernel), block[0], block[1], block[2],
                                json_text(name_of_version(choice, code.table, one.version)),
                                one.turn, one.launches, each * 1000));
}

} // namespace

void collect(KernelCode &code, Choice &choice) {
  take_ended(
      choice.pending,
      [&](const Pending &one, double milliseconds) {
        const double each = milliseconds / static_cast<double>(one.launches);
        if (!configuration().log.empty())
          log_trial(code, choice, one, each);
        // A run's time is of several launches and no pair of events: another kind of time.
        if (one.version == 0 && one.launches == 1)
          learn_numbers(code, choice, one, each);
        choice.chooser.record(one.version, each, one.launches);
      },
      [&](const Pending &one) { choice.chooser.cancel(one.version); });
  if (choice.chooser.decided() && choice.decided.load(std::memory_order_relaxed) < 0)
    settle(code, choice);
  if (!is_open(code, choice) && choice.run.left != 0)
    break_run(choice);
}

void collect_checks(KernelCode &code, Choice &choice) {
  take_ended(
      choice.checks,
      [&](const Pending &one, double milliseconds) {
        learn_numbers(code, choice, one, milliseconds);
        check_again(code, choice, one, milliseconds);
      },
      [](const Pending &) {});
}

void TimeTaken::add(const Pending &one) {
  const std::lock_guard lock(mutex);
  pending.push_back(one);
  is_timing.store(true, std::memory_order_relaxed);
}

bool TimeTaken::collect() {
  const std::lock_guard lock(mutex);
  const std::uint64_t before = launches;
  take_ended(
      pending,
      [&](const Pending &, double took) {
        milliseconds += took;
        ++launches;
      },
      [](const Pending &) {});
  is_timing.store(!pending.empty(), std::memory_order_relaxed);
  return launches != before;
}

double TimeTaken::each_us() {
  constexpr double us = 1000;
  const std::lock_guard lock(mutex);
  return launches == 0 ? 0 : milliseconds * us / static_cast<double>(launches);
}

bool make_room(KernelCode &code, Choice &choice) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  using Clock = std::chrono::steady_clock;
  const double each = std::max(choice.chooser.time(0), 0.001);
  // The launches of a run must not wait for the program.
  const auto ahead = std::clamp(static_cast<std::size_t>(busy / each), least_pending,
                                choice.pending.empty() || choice.pending.front().launches == 1
                                    ? most_pending
                                    : most_pending * choice.pending.front().launches);
  const auto is_ahead = [&] {
    return !choice.pending.empty() && (choice.pending.size() >= most_pending ||
                                       choice.turns - choice.pending.front().turn >= ahead);
  };
  if (!is_ahead())
    return true;
  const bool eager = configuration().mode == Mode::tune;
  const auto start = Clock::now();
  // Whoever launches one after the other, with nothing to do between, has no other use for the
  // time.
  constexpr double at_once = 0.02, first_wait = 100; // ms
  const bool is_unknown = choice.chooser.time(0) == 0;
  const bool in_a_row =
      Milliseconds(start - choice.returned).count() < (is_unknown ? at_once : each / 4);
  const std::size_t under_way =
      std::max<std::size_t>(choice.turns - choice.pending.front().turn, choice.pending.size());
  const double once = eager                    ? 2000
                      : is_unknown && in_a_row ? first_wait
                                               : longest_wait(each, under_way),
               in_all = eager ? 60000 : 100;
  const double counts = in_a_row ? 0.1 : 1;
  double waited = 0;
  while (is_ahead() && choice.waited < in_all && waited < once) {
    std::this_thread::sleep_for(std::chrono::microseconds(waited < 1 ? 20 : 200));
    collect(code, choice);
    waited = Milliseconds(Clock::now() - start).count();
  }
  choice.waited = waited < once ? choice.waited + counts * waited : in_all;
  return choice.pending.size() < most_pending;
}

} // namespace ptxasw::wrapper::launch
