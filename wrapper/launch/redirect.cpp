// The launch functions. A launch costs a program without siblings a table lookup; with a decided
// choice it costs checking the conditions of the siblings and copying a few pointers. Anything
// unexpected ends in the original launch.

#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/kernels.h"
#include "wrapper/launch/measure.h"
#include "wrapper/launch/risk.h"
#include "wrapper/launch/streams.h"
#include "wrapper/launch/verify.h"
#include "wrapper/launch/watch.h"

#include <algorithm>
#include <atomic>
#include <fmt/core.h>
#include <optional>

namespace ptxasw::wrapper::launch {
namespace {

using LaunchFunction = Result(Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              unsigned, Handle, void **, void **);
using LaunchExFunction = Result(const LaunchConfig *, Handle, void **, void **);

/// Everything about one launch of a kernel with siblings.
struct Redirection {
  const Launch &launch;
  const Kernel &kernel;
  Arguments arguments;

  const SiblingTable &table() const { return kernel.code.table; }
};

/// The driver's launch, of whatever function, with the attributes that the program gave.
Result start(const Launch &launch) {
  if (launch.config) {
    auto *const function = real<LaunchExFunction>(launch.per_thread ? Hook::launch_kernel_ex_ptsz
                                                                    : Hook::launch_kernel_ex);
    LaunchConfig config = *launch.config;
    config.grid = launch.grid;
    config.block = launch.block;
    config.shared_bytes = launch.shared_bytes;
    return function(&config, launch.function, launch.parameters, launch.extra);
  }
  auto *const function =
      real<LaunchFunction>(launch.per_thread ? Hook::launch_kernel_ptsz : Hook::launch_kernel);
  return function(launch.function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x,
                  launch.block.y, launch.block.z, launch.shared_bytes, launch.stream,
                  launch.parameters, launch.extra);
}

Result original(const Launch &launch, Outcome why) {
  count(why);
  return start(launch);
}

/// Returns true if a launch is captured into a graph, or might be.
bool is_captured(const Launch &launch) {
  const RelaxedCapture relaxed;
  int capturing = capture_none;
  return driver().stream_capturing[launch.per_thread](launch.stream, &capturing) != success ||
         capturing != capture_none;
}

/// A sibling's launch, or the original's if the driver does not want it; `ran` says which.
Result sibling(const Redirection &r, unsigned index, bool &ran) {
  ran = false;
  const LoadedSibling &loaded = r.kernel.siblings[index];
  const Sibling &what = r.table().siblings[index];
  SiblingLaunch changed; // not initialised on purpose
  if (!changed.prepare(r.launch, r.arguments, r.table(), what))
    return original(r.launch, Outcome::arguments);
  // From what a graph's node has of dynamic shared memory the program's must follow (graph.cpp).
  if (changed.shared_bytes != r.launch.shared_bytes * what.needs.dynamic_shared &&
      is_captured(r.launch))
    return original(r.launch, Outcome::captured);
  Launch launch = r.launch;
  launch.function = what.own_code ? r.launch.function : loaded.function;
  launch.grid = changed.grid;
  launch.block = changed.block;
  launch.shared_bytes = changed.shared_bytes;
  launch.parameters = changed.parameters;
  launch.extra = changed.extra;
  // What the program allows the kernel is its own affair.
  Result result = what.own_code ? success : allow_shared(r.kernel, loaded, launch.shared_bytes);
  if (result == success)
    result = configuration().verify ? verify(r.launch, launch, r.arguments, r.table(), what, start)
                                    : start(launch);
  if (result == success) {
    ran = true;
    count(Outcome::sibling);
    return result;
  }
  // An error of something earlier comes back again; a refusal of this launch does not.
  const Result again = original(r.launch, Outcome::refused);
  if (again == success) {
    loaded.refused.store(true, std::memory_order_relaxed);
    r.kernel.refused.store(true, std::memory_order_relaxed);
    log_line("refused", fmt::format("\"sibling\":{},\"error\":{}", json_text(what.name), result));
  }
  return again;
}

/// What a sibling may have in a launch.
SiblingLimits limits_in(const Redirection &r, unsigned index) {
  const LoadedSibling &loaded = r.kernel.siblings[index];
  if (r.launch.shared_bytes == 0)
    return loaded.limits;
  return r.table().siblings[index].own_code
             ? limits_of(r.kernel, r.launch.function, r.launch.shared_bytes)
             : limits_of(r.kernel, loaded);
}

/// Says once for each kernel and outcome why a sibling is not used, if that is wanted.
void tell_why(const Redirection &r, unsigned index, Outcome why) {
  KernelCode &code = r.kernel.code;
  const std::uint32_t bit = 1u << static_cast<unsigned>(why);
  if ((!configuration().check && configuration().log.empty()) ||
      code.told.fetch_or(bit, std::memory_order_relaxed) & bit)
    return;
  const Sibling &sibling = code.table.siblings[index];
  const std::string words =
      explain(why, r.launch, r.arguments, code.table, sibling, limits_in(r, index));
  log_line("kept", fmt::format("\"kernel\":{},\"sibling\":{},\"reason\":{},\"text\":{}",
                               json_text(code.table.kernel), json_text(sibling.name),
                               json_text(name_of(why)), json_text(words)));
  if (configuration().check)
    tell(fmt::format("{}: {} is not used: {}", code.table.kernel, sibling.name, words));
}

/// The siblings that may take this launch, one bit each. If none may, `why` says what was in the
/// way of the first.
std::uint32_t fitting(const Redirection &r, Outcome &why) {
  std::uint32_t bits = 0;
  why = own_fault(r.launch, limits_of(r.kernel, r.launch.function, r.launch.shared_bytes));
  if (why != Outcome::sibling)
    return bits;
  const auto &siblings = r.table().siblings;
  for (unsigned i = 0; i < siblings.size() && i < most_siblings; ++i) {
    const LoadedSibling &loaded = r.kernel.siblings[i];
    if (!loaded.function || loaded.refused.load(std::memory_order_relaxed))
      continue;
    const Outcome outcome = fit(r.launch, r.arguments, r.table(), siblings[i], limits_in(r, i));
    if (outcome == Outcome::sibling)
      bits |= 1u << i;
    else {
      tell_why(r, i, outcome);
      if (why == Outcome::sibling)
        why = outcome;
    }
  }
  if (bits == 0 && why == Outcome::sibling)
    why = Outcome::refused; // none is there
  return bits;
}

/// The siblings among `bits` that would leave multiprocessors of the device without a block
/// although the program asked for more blocks: a trial of these could cost the kernel's time
/// several times over, which only `ptxasw tune` may. The first is told.
std::uint32_t starving(const Redirection &r, std::uint32_t bits, int device) {
  if (configuration().mode != Mode::measure)
    return 0;
  const unsigned enough = multiprocessors(device);
  const Extents &grid = r.launch.grid;
  const std::uint64_t own = std::uint64_t{grid.x} * grid.y * grid.z;
  std::uint32_t found = 0;
  for (unsigned i = 0; i < 32; ++i)
    if (bits >> i & 1) {
      const std::uint64_t blocks = blocks_of(r.launch, r.table().siblings[i]);
      if (blocks < enough && blocks < own) {
        tell_why(r, i, Outcome::few_blocks);
        found |= 1u << i;
      }
    }
  return found;
}

/// Of the siblings of the table, as far as they are loaded.
std::vector<Prior> priors(const Redirection &r, int device) {
  std::vector<Prior> result;
  const WorkOfText &work = r.kernel.work;
  for (std::size_t i = 0; i < r.table().siblings.size(); ++i)
    result.push_back(prior_of(r.launch, r.table().siblings[i], r.kernel.limits,
                              r.kernel.siblings[i].limits, multiprocessors(device),
                              {work.cycles_per_byte, i < work.times.size() ? work.times[i] : 1}));
  return result;
}

/// What trials of this process may still lose before the launches have paid for them, ms. A program
/// that is over in less than a second notices no more, and one that gains can spare a part of that.
std::atomic<double> credit{6};

void earn(double saved) {
  pay_for_waits(saved);
  constexpr double part = 0.1, most = 30; // ms
  double before = credit.load(std::memory_order_relaxed);
  while (before < most &&
         !credit.compare_exchange_weak(before, std::min(most, before + part * saved),
                                       std::memory_order_relaxed))
    ;
}

/// Takes from that. False if so much is not there any more: other threads take, too.
bool spend(double milliseconds) {
  double before = credit.load(std::memory_order_relaxed);
  while (before >= milliseconds)
    if (credit.compare_exchange_weak(before, before - milliseconds, std::memory_order_relaxed))
      return true;
  return false;
}

/// A launch of a version of a choice that is not decided, 0: the original.
Result try_version(const Redirection &r, Choice &choice, std::size_t version, bool &ran) {
  ran = true;
  const Result result = version == 0 ? original(r.launch, Outcome::measuring)
                                     : sibling(r, choice.siblings[version - 1], ran);
  if (version != 0 && ran)
    choice.redirected.fetch_add(1, std::memory_order_relaxed);
  return result;
}

LaunchStream stream_of(const Launch &launch) {
  return {launch.stream, launch.per_thread, current_context(), this_thread()};
}

/// A launch of a run that is under way; nothing if there is none.
std::optional<Result> trial_in_run(const Redirection &r, Choice &choice) {
  std::size_t version = 0;
  std::uint64_t begun = 0;
  {
    const std::lock_guard lock(choice.mutex);
    if (!goes_on(choice, stream_of(r.launch)))
      return std::nullopt;
    version = choice.run.pending.version;
    begun = choice.run.pending.turn;
    ++choice.turns;
  }
  bool ran = true;
  const Result result = try_version(r, choice, version, ran);
  const std::lock_guard lock(choice.mutex);
  choice.returned = std::chrono::steady_clock::now();
  LaunchRun &run = choice.run;
  if (run.left == 0 || run.pending.turn != begun) // another thread's launch came between
    return result;
  if (result != success || !ran || !is_open(r.kernel.code, choice)) {
    break_run(choice);
  } else if (--run.left == 0) {
    end_run(choice);
    if (record_end(run.pending, r.launch.stream, r.launch.per_thread)) {
      choice.pending.push_back(run.pending);
    } else {
      give_events(run.pending);
      choice.chooser.cancel(version);
    }
  }
  return result;
}

/// A launch while it is not decided which version is best.
Result trial(const Redirection &r, Choice &choice) {
  const Driver &d = driver();
  const RelaxedCapture relaxed;
  if (is_captured(r.launch))
    return original(r.launch, Outcome::captured);
  if (const auto result = trial_in_run(r, choice))
    return *result;
  Chooser::Turn asked, turn;
  Pending pending;
  bool settled = false;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(choice.mutex);
    const bool open = choice.decided.load(std::memory_order_relaxed) < 0;
    number = ++choice.turns;
    collect(r.kernel.code, choice);
    const bool room = make_room(r.kernel.code, choice);
    settled = open && choice.decided.load(std::memory_order_relaxed) >= 0;
    turn = asked = choice.chooser.next(credit.load(std::memory_order_relaxed));
    if ((turn.measure && !room) || (asked.credit > 0 && !spend(asked.credit)))
      turn = {};
  }
  if (settled)
    write_results(false);
  const auto &record = d.event_record[r.launch.per_thread];
  if (turn.measure &&
      (!take_events(pending) || record(pending.start, r.launch.stream) != success)) {
    give_events(pending);
    turn = {};
    pending = {};
  }
  bool ran = true;
  const Result result = try_version(r, choice, turn.version, ran);
  const bool in_run = turn.launches > 1;
  const bool timed = turn.measure && result == success && ran &&
                     (in_run || record(pending.end, r.launch.stream) == success);
  const std::lock_guard lock(choice.mutex);
  pending.version = asked.version; // the events come from a pool, and had another
  pending.turn = number;
  pending.numbers = bits_of(r.arguments, r.table(), r.kernel.code.numbers);
  pending.launches = 1;
  if (!asked.measure) {
    std::size_t version = 0;
    if (const std::size_t idle = choice.chooser.idle(version); idle != 0) {
      choice.idle_version.store(version, std::memory_order_relaxed);
      choice.idle.store(static_cast<std::int64_t>(idle), std::memory_order_relaxed);
    }
  }
  if (timed && in_run && choice.run.left == 0 && is_open(r.kernel.code, choice))
    begin_run(choice, pending, turn.launches, stream_of(r.launch));
  else if (timed && !in_run)
    choice.pending.push_back(pending);
  else if (asked.measure) {
    give_events(pending);
    choice.chooser.cancel(asked.version);
  }
  choice.returned = std::chrono::steady_clock::now();
  return result;
}

/// A launch between trials.
Result idle(const Redirection &r, Choice &choice) {
  bool ran = true;
  const std::size_t version = choice.idle_version.load(std::memory_order_relaxed);
  if (version != 0 && only_reshapes(r.table().siblings[choice.siblings[version - 1]]) &&
      is_captured(r.launch))
    return original(r.launch, Outcome::captured);
  return try_version(r, choice, version, ran);
}

/// A launch after the choice that is timed where that can be: of a sibling, or of the original, and
/// why. `pair`: both launches of a pair have this number.
Result timed(const Redirection &r, Choice &choice, std::uint64_t pair,
             std::optional<unsigned> index, Outcome why, bool &ran) {
  const auto run = [&] { return index ? sibling(r, *index, ran) : original(r.launch, why); };
  const auto &record = driver().event_record[r.launch.per_thread];
  Pending pending;
  if (!take_events(pending) || record(pending.start, r.launch.stream) != success) {
    give_events(pending);
    return run();
  }
  const Result result = run();
  if (record(pending.end, r.launch.stream) != success || result != success ||
      ran != index.has_value()) {
    give_events(pending);
    return result;
  }
  pending.version = index ? 1 : 0;
  pending.turn = pair;
  pending.numbers = bits_of(r.arguments, r.table(), r.kernel.code.numbers);
  const std::lock_guard lock(choice.mutex);
  choice.checks.push_back(pending);
  return result;
}

/// A launch of a version that was chosen, or of the original for comparison: what held once need
/// not hold for later arguments. Which of a pair of launches is which, is by chance.
Result check(const Redirection &r, Choice &choice, unsigned index, std::uint64_t number,
             bool is_second, bool &ran) {
  const std::uint64_t pair = number - (is_second ? 1 : 0);
  const bool wants_original = by_chance(pair) != is_second;
  const RelaxedCapture relaxed;
  if (is_captured(r.launch))
    return sibling(r, index, ran);
  bool stays = false;
  {
    const std::lock_guard lock(choice.mutex);
    collect_checks(r.kernel.code, choice);
    stays = choice.decided.load(std::memory_order_relaxed) == 0;
  }
  if (stays) { // from now on
    write_results(false);
    return original(r.launch, Outcome::original_chosen);
  }
  return timed(r, choice, pair, wants_original ? std::nullopt : std::optional(index),
               Outcome::measuring, ran);
}

/// Of launches like one that stays the original's only one in so many is looked at: no period of a
/// program's launches.
constexpr std::uint64_t between_looks = 127;

/// A launch that stays the original's. It is timed now and then, since its time may depend on a
/// number that it had not seen when that was decided: another number may have a faster version.
Result stay(const Redirection &r, Choice &choice, std::uint64_t number, Outcome why) {
  const std::uint64_t between = choice.between_checks.load(std::memory_order_relaxed);
  const std::uint64_t looks = (between + between_looks - 1) / between_looks;
  if (between == 0 || number < between || number % (looks * between_looks) != 0 ||
      r.kernel.code.numbers.empty())
    return original(r.launch, why);
  const RelaxedCapture relaxed;
  if (is_captured(r.launch))
    return original(r.launch, why);
  {
    const std::lock_guard lock(choice.mutex);
    collect_checks(r.kernel.code, choice);
  }
  bool ran = false;
  return timed(r, choice, number, std::nullopt, why, ran);
}

/// The choice for a launch; null, and why, if there is none. `kept`: what is kept of it.
Choice *choice_of(const Redirection &r, Outcome &why, const SeenLaunch *&kept) {
  KernelCode &code = r.kernel.code;
  const int device = current_device();
  const std::uint64_t matter = code.matter.load(std::memory_order_relaxed);
  const LaunchKey launch{
      &r.kernel,      r.launch.grid,
      r.launch.block, r.launch.shared_bytes,
      device,         met(r.launch, r.arguments, code.table, code.asked),
      matter,         matter == 0 ? 0 : matter & bits_of(r.arguments, code.table, code.numbers)};
  const bool refused = r.kernel.refused.load(std::memory_order_relaxed);
  kept = refused ? nullptr : find_seen(code, launch);
  if (kept) {
    why = kept->why;
    return kept->choice;
  }
  Choice *choice = nullptr;
  if (const std::uint32_t bits = fitting(r, why); bits != 0) {
    const Shape shape{r.launch.block, size_class(r.launch.grid, r.launch.block),
                      bits,           starving(r, bits, device),
                      device,         matter,
                      launch.numbers};
    why = Outcome::too_many_shapes;
    choice = find_choice(code, shape);
    if (!choice)
      choice = make_choice(code, shape, priors(r, device));
  }
  if (!refused)
    keep_seen(code, launch, choice, why);
  return choice;
}

/// Why a choice is for the original.
Outcome why_original(const Choice &choice) {
  if (choice.starves)
    return Outcome::few_blocks;
  return configuration().mode == Mode::profile && !choice.from_profile ? Outcome::not_in_profile
                                                                       : Outcome::original_chosen;
}

Result redirect(const Redirection &r) {
  if (r.kernel.own_first.load(std::memory_order_relaxed) &&
      r.kernel.own_first.exchange(false, std::memory_order_relaxed))
    return original(r.launch, Outcome::measuring);
  Outcome why = Outcome::sibling;
  const SeenLaunch *kept = nullptr;
  Choice *const choice = choice_of(r, why, kept);
  if (!choice)
    return original(r.launch, why);
  const std::uint64_t number = choice->launches.fetch_add(1, std::memory_order_relaxed);
  const int decided = choice->decided.load(std::memory_order_acquire);
  if (decided < 0) {
    if (choice->idle.load(std::memory_order_relaxed) > 0 &&
        choice->idle.fetch_sub(1, std::memory_order_relaxed) > 0)
      return idle(r, *choice);
    return trial(r, *choice);
  }
  if (decided == 0) {
    if (kept && configuration().mode == Mode::measure && all_stay(r.kernel.code, kept->launch))
      r.kernel.rests_on.store(kept, std::memory_order_release);
    return stay(r, *choice, number, why_original(*choice));
  }
  const unsigned index = static_cast<unsigned>(decided) - 1;
  bool ran = false;
  // What a graph's node is, nothing but the name of its function tells (graph.cpp).
  if (only_reshapes(r.table().siblings[index]) && is_captured(r.launch))
    return choice->in_graphs == 0 ? original(r.launch, Outcome::captured)
                                  : sibling(r, static_cast<unsigned>(choice->in_graphs) - 1, ran);
  const std::uint64_t between = choice->between_checks.load(std::memory_order_relaxed);
  const bool checks = between != 0 && number >= between && number % between < 2;
  const Result result = checks ? check(r, *choice, index, number, number % between == 1, ran)
                               : sibling(r, index, ran);
  constexpr std::uint64_t at_once = 16;
  if (ran && choice->redirected.fetch_add(1, std::memory_order_relaxed) % at_once == at_once - 1)
    earn(at_once * choice->saves);
  return result;
}

/// A launch whose siblings get the addresses of variables behind the kernel's arguments.
Result with_addresses(Redirection &r) {
  const Kernel &kernel = r.kernel;
  ExtendedArguments extended; // not initialised on purpose
  if (!extended.find(r.launch, r.table(), kernel.addresses, r.arguments))
    return original(r.launch, Outcome::arguments);
  return redirect(r);
}

/// Returns true if what lies beside a kernel's module may run where this launch runs. Addresses are
/// those of one context. A kernel of a library runs in any; its versions were made for one
/// architecture, and its source may say something else for another.
bool may_run_here(const Launch &launch, const Kernel &kernel) {
  if (kernel.addresses.empty() && !kernel.in_library)
    return true;
  const Handle context = context_of(launch.stream, launch.per_thread);
  if (!context || !kernel.addresses.empty())
    return context && context == kernel.context;
  if (is_ready_in(kernel, context))
    return true;
  const int device = context == current_context() ? current_device() : -1;
  return device >= 0 &&
         (device == kernel.device || capability(device) == capability(kernel.device)) &&
         make_ready_in(kernel, context);
}

/// A launch like one before whose choice is for the original, unless it is time to look at its
/// arguments, too: that takes as long as a hundredth of a short kernel.
bool rests(const Kernel &kernel, const Launch &launch, Outcome &why) {
  const SeenLaunch *const seen = kernel.rests_on.load(std::memory_order_acquire);
  if (!seen || seen->launch.grid != launch.grid || seen->launch.block != launch.block ||
      seen->launch.shared_bytes != launch.shared_bytes)
    return false;
  Choice &choice = *seen->choice;
  if (choice.launches.load(std::memory_order_relaxed) % between_looks == 0) {
    kernel.rests_on.store(nullptr, std::memory_order_relaxed);
    return false;
  }
  choice.launches.fetch_add(1, std::memory_order_relaxed);
  why = why_original(choice);
  return true;
}

/// A launch of a kernel whose versions have been asked for. A few are timed: versions of what takes
/// most time are made first.
Result awaiting(const Launch &launch, Watched &watched) {
  if (is_to_be_timed(watched)) {
    const RelaxedCapture relaxed;
    Pending pending;
    if (!is_captured(launch) && take_events(pending) &&
        driver().event_record[launch.per_thread](pending.start, launch.stream) == success) {
      const Result result = original(launch, Outcome::no_siblings);
      if (result == success && record_end(pending, launch.stream, launch.per_thread))
        watched.taken.add(pending);
      else
        give_events(pending);
      return result;
    }
    give_events(pending);
  }
  // Of a kernel that is launched very often the clock is looked at once in so many launches.
  const std::uint64_t launches = watched.launches.load(std::memory_order_relaxed);
  const unsigned stands_for = launches > launched_very_often ? between_looks_at_clock : 1;
  if (launches % stands_for != 0)
    return original(launch, Outcome::no_siblings);
  const std::int64_t begin = microseconds_now();
  const Result result = original(launch, Outcome::no_siblings);
  note_awaiting_launch(begin, microseconds_now(), stands_for);
  return result;
}

/// Every launch gets here.
Result launch(const Launch &launch) {
  if (!at_work())
    return original(launch, Outcome::off);
  const LaunchUnderWay under_way;
  note_stream(launch.stream, launch.per_thread);
  note_launch();
  const Kernel *kernel = find_kernel(launch.function);
  if (kernel && kernel->watched) {
    kernel->watched->launches.fetch_add(1, std::memory_order_relaxed);
    if (!kernel->siblings && !kernel->settled)
      kernel = await_versions(launch.function, launch.stream, launch.per_thread, *kernel);
  }
  if (kernel && !kernel->siblings && kernel->watched && !kernel->settled &&
      !kernel->watched->id.empty())
    return awaiting(launch, *kernel->watched);
  if (!kernel || !kernel->siblings)
    return original(launch, Outcome::no_siblings);
  if (Outcome why = Outcome::sibling; rests(*kernel, launch, why))
    return original(launch, why);
  if (kernel->watched && !may_run_here(launch, *kernel))
    return original(launch, Outcome::other_context);
  if (launch.config && !harmless_attributes(*launch.config))
    return original(launch, Outcome::attributes);
  Redirection r{launch, *kernel, {}};
  if (kernel->addresses.empty())
    return find_arguments(launch, r.table(), r.arguments) ? redirect(r)
                                                          : original(launch, Outcome::arguments);
  return with_addresses(r);
}

Result launch_plain(Launch launch, Hook hook) {
  return behind(hook) ? ptxasw::wrapper::launch::launch(launch) : not_initialized;
}

Result launch_extended(const LaunchConfig *config, Handle function, void **parameters, void **extra,
                       bool per_thread) {
  auto *const through =
      real<LaunchExFunction>(per_thread ? Hook::launch_kernel_ex_ptsz : Hook::launch_kernel_ex);
  if (!through)
    return not_initialized;
  if (!config || (config->attribute_count > 0 && !config->attributes))
    return through(config, function, parameters, extra); // the driver says what it thinks of it
  return launch({function, config->grid, config->block, config->shared_bytes, config->stream,
                 parameters, extra, config, per_thread});
}

} // namespace
} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" {

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                   void *stream, void **parameters, void **extra) {
  return launch_plain({function,
                       {grid_x, grid_y, grid_z},
                       {block_x, block_y, block_z},
                       shared_bytes,
                       stream,
                       parameters,
                       extra,
                       nullptr,
                       false},
                      Hook::launch_kernel);
}

int cuLaunchKernel_ptsz(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                        void *stream, void **parameters, void **extra) {
  return launch_plain({function,
                       {grid_x, grid_y, grid_z},
                       {block_x, block_y, block_z},
                       shared_bytes,
                       stream,
                       parameters,
                       extra,
                       nullptr,
                       true},
                      Hook::launch_kernel_ptsz);
}

int cuLaunchKernelEx(const LaunchConfig *config, void *function, void **parameters, void **extra) {
  return launch_extended(config, function, parameters, extra, false);
}

int cuLaunchKernelEx_ptsz(const LaunchConfig *config, void *function, void **parameters,
                          void **extra) {
  return launch_extended(config, function, parameters, extra, true);
}
}
