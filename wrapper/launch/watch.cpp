// The question and the answer are files in a directory that `ptxasw faster` made for this run, each
// under its name only when it is whole: a question and a mark when a kernel is launched often, an
// answer when `ptxasw faster` has one. No process is started here; where a file cannot be written,
// no answer comes. A waiting kernel looks for its answer less and less often.
// Only for kernels of which an earlier run had versions the first launch waits a little: a program
// may have sent off all its launches before an answer can come. It does not wait for versions that
// are being made for the first time: that takes a tenth of a second and more, so such a wait was
// 6 ms lost. What comes is loaded when nothing runs (streams.cpp).
//
// What comes is a module of its own, loaded into the context of the kernel's module, or a library
// if the kernel is one's. It ends when the program ends its module. The siblings work on the
// variables of the program's module, whose addresses are asked of the driver when they are loaded.
//
// When a context ends, what was loaded into it has ended and is forgotten. A library has not: what
// was loaded beside it stays until the program ends it, since graphs and other threads may still
// hold its kernels; with addresses of variables it is not launched again.

#include "wrapper/launch/watch.h"

#include "wrapper/launch/answer.h"
#include "wrapper/launch/driver.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/images.h"
#include "wrapper/launch/streams.h"
#include "wrapper/launch/whole_files.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <fmt/core.h>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::uint32_t first_pause = 250, longest_pause = 64000; ///< microseconds
constexpr std::size_t all_images = std::size_t{64} << 20;         ///< bytes that are kept

/// An image that is loaded.
struct Image {
  KeptImage kept;
  bool in_library = false;
  Handle context = nullptr; ///< of a module, and its device
  int device = -1;
  std::string hash; ///< once it was asked about
};

/// Siblings that lie beside a kernel's module.
struct Beside {
  Handle owner = nullptr; ///< of the kernel
  Handle image = nullptr; ///< whose image was asked about: the owner, or a library that became it
  std::string id;
  Handle context = nullptr; ///< in which they were loaded; null: it has ended
  int device = -1;          ///< its device
  Handle module = nullptr; ///< theirs: a module, or a library; null: they have no code of their own
  bool in_library = false;
  Handle function = nullptr; ///< the kernel's
  const Kernel *kernel = nullptr;
};

/// Everything here is for whoever holds the lock of the handles.
struct Watching {
  std::map<Handle, Image> images;
  std::size_t bytes = 0; ///< of all images
  std::map<std::string, std::unique_ptr<Watched>> all;
  std::vector<Beside> beside;
  std::optional<std::set<std::string>>
      remembered; ///< what `ptxasw faster` remembers, once it was read
};
Watching &watching() {
  static auto *const value = new Watching; // launches may come from other libraries' destructors
  return *value;
}

class HandlesLock {
public:
  HandlesLock() { lock_handles(); }
  ~HandlesLock() { unlock_handles(); }
  HandlesLock(const HandlesLock &) = delete;
  HandlesLock &operator=(const HandlesLock &) = delete;
};

/// Of kernels that have no siblings.
KernelCode &no_code() {
  static auto *const value = new KernelCode;
  return *value;
}

std::string path_of(const std::string &name, const char *kind) {
  return fmt::format("{}/{}.{}", configuration().faster, name, kind);
}

/// Returns true if an image was known.
bool forget_image(Handle owner) {
  Watching &all = watching();
  const auto found = all.images.find(owner);
  if (found == all.images.end())
    return false;
  all.bytes -= found->second.kept.bytes.size();
  all.images.erase(found);
  return true;
}

/// A handle that the driver has just handed out: what was known of it ended unseen, and what lay
/// beside it perhaps as well, so that is not unloaded. True if anything was known.
bool forget_ended(Handle owner) {
  const bool known = forget_image(owner);
  return std::erase_if(
             watching().beside,
             [&](const Beside &one) { return one.owner == owner || one.image == owner; }) != 0 ||
         known;
}

/// Forgets what ends with the contexts of which `ends` is true.
template <typename Ends> void forget_where(const Ends &ends) {
  if (!asks_for_versions())
    return;
  const HandlesLock lock;
  Watching &all = watching();
  for (auto one = all.images.begin(); one != all.images.end();) {
    const auto next = std::next(one);
    if (!one->second.in_library && ends(one->second))
      forget_image(one->first);
    one = next;
  }
  std::erase_if(all.beside, [&](const Beside &one) { return !one.in_library && ends(one); });
  for (Beside &one : all.beside) {
    if (ends(one))
      one.context = nullptr;
    for (std::atomic<Handle> &ready : one.kernel->ready) // what still is becomes so again
      ready.store(nullptr, std::memory_order_relaxed);
  }
}

/// The image of a module or library. A module may be what a library became in this context; then it
/// is the library of which the function is a kernel. If several have one of that name, asking them
/// loads those that are not loaded: `later` says that something runs and they cannot be asked now.
std::map<Handle, Image>::iterator image_of(Handle function, const Home &home, bool &later) {
  auto &images = watching().images;
  const auto own = images.find(home.owner);
  const Driver &d = driver();
  if (own != images.end() || home.in_library || !d.library_kernel || !d.kernel_function)
    return own;
  std::vector<std::pair<std::map<Handle, Image>::iterator, Handle>> found;
  for (auto one = images.begin(); one != images.end(); ++one)
    if (Handle kernel = nullptr;
        one->second.in_library && d.library_kernel(&kernel, one->first, home.name) == success)
      found.emplace_back(one, kernel);
  later = found.size() > 1 && !nothing_runs();
  if (!later)
    for (const auto &[one, kernel] : found)
      if (Handle same = nullptr; d.kernel_function(&same, kernel) == success && same == function)
        return one;
  return images.end();
}

/// Writes the question, unless another process has asked it.
bool ask(Image &image, const std::string &id, const std::string &name, unsigned sm) {
  const std::string text = path_of(image.hash, "image"), question = path_of(id, "question");
  if (::access(text.c_str(), F_OK) != 0 && !replace_whole(text, image.kept.bytes))
    return false;
  return ::access(question.c_str(), F_OK) == 0 ||
         replace_whole(question, question_text(image.hash, sm, name));
}

/// What a handle of a kernel without siblings gets.
const Kernel *without_siblings(Watched &watched, bool settled) {
  std::unique_ptr<const Kernel> &one = settled ? watched.settled : watched.waiting;
  if (!one)
    one.reset(new Kernel{no_code(), false, {}, nullptr, {}, {}, &watched, settled, {}, nullptr});
  return one.get();
}

/// Says once what this process is, for versions that are made before they are asked for.
void tell_program(int device) {
  static std::atomic<bool> told{false};
  if (told.load(std::memory_order_relaxed) || told.exchange(true))
    return;
  const unsigned sm = capability(std::max(device, 0)); // mostly all are alike
  std::array<char, 4096> path;
  const ssize_t size = ::readlink("/proc/self/exe", path.data(), path.size());
  if (sm == 0 || size <= 0 || static_cast<std::size_t>(size) == path.size())
    return;
  const std::string text(path.data(), static_cast<std::size_t>(size));
  (void)replace_whole(path_of(std::to_string(::getpid()), program_suffix + 1),
                      fmt::format("{}\n{}", sm, text));
}

/// Returns true if versions of a kernel of this name are being made before it is launched.
bool is_early(const std::string &name, unsigned sm) {
  const std::string text = read_whole_own(configuration().faster + "/early").value_or("");
  return text.find(" " + remembered_name(name, sm) + "\n") != std::string::npos;
}

/// Returns true if an earlier run had versions of a kernel of this name.
bool is_remembered(const std::string &name, unsigned sm) {
  auto &known = watching().remembered;
  if (!known) {
    known.emplace();
    const std::string text = read_whole_own(configuration().faster + "/remembered").value_or("");
    for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1)
      known->insert(text.substr(at, end - at));
  }
  return known->contains(remembered_name(name, sm));
}

/// The one object for a question; without one, for a kernel's name and why it was not asked.
Watched &watched_of(const std::string &name, const std::string &id, unsigned sm,
                    const std::string &reason, const std::string &words) {
  auto &watched = watching().all[id.empty() ? name + "\n" + reason : id];
  if (!watched) {
    watched = std::make_unique<Watched>();
    watched->kernel = name;
    watched->id = id;
    watched->sm = sm;
    watched->reason = reason;
    watched->words = words;
    watched->remembered = is_remembered(name, sm);
    watched->early = !watched->remembered && is_early(name, sm);
  }
  return *watched;
}

const Kernel *find_beside(Handle owner, const std::string &id, Handle context) {
  for (const Beside &one : watching().beside)
    if (one.owner == owner && one.id == id &&
        ((context && one.context == context) || (one.in_library && one.kernel->addresses.empty())))
      return one.kernel;
  return nullptr;
}

void unload(const Beside &one) {
  if (!one.module)
    return;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  if (one.in_library) {
    if (auto *const function = real<Result(Handle)>(Hook::library_unload))
      function(one.module);
  } else if (auto *const function = real<Result(Handle)>(Hook::module_unload);
             function && one.context == current_context()) {
    function(one.module);
  }
}

bool load_module(bool in_library, const std::string &image, Handle &module) {
  if (in_library) {
    using Load = Result(Handle *, const void *, int *, void **, unsigned, int *, void **, unsigned);
    auto *const load = real<Load>(Hook::library_load_data);
    return load && load(&module, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0) == success;
  }
  auto *const load = real<Result(Handle *, const void *)>(Hook::module_load_data);
  return load && load(&module, image.data()) == success;
}

/// The addresses of variables of the program's module or library, in this context. False, too, if
/// one is not of the size that its PTX says.
bool find_addresses(const Home &home, const std::vector<AnswerVariable> &variables,
                    std::vector<DevicePointer> &addresses) {
  const Driver &d = driver();
  for (const auto &[name, size] : variables) {
    DevicePointer address = 0;
    std::size_t bytes = 0;
    const Result found = home.in_library
                             ? d.library_global(&address, &bytes, home.owner, name.c_str())
                             : d.module_global(&address, &bytes, home.owner, name.c_str());
    if (found != success || address == 0 || bytes != size)
      return false;
    addresses.push_back(address);
  }
  return true;
}

/// Has the driver load a function's code now. False: it does not want to.
bool load_code(Handle function, bool in_library) {
  const Driver &d = driver();
  Handle loaded = nullptr;
  return in_library ? !d.kernel_function || d.kernel_function(&loaded, function) == success
                    : !d.function_load || d.function_load(function) == success;
}

/// Has the driver load the code of the versions now, when nothing runs; a first launch would wait
/// for what runs then. For the same reason no version may need more local memory for a thread than
/// the kernel does. False: none is left.
bool make_ready(Kernel &kernel, std::size_t siblings) {
  bool any = false;
  for (std::size_t i = 0; i < siblings; ++i) {
    LoadedSibling &one = kernel.siblings[i];
    if (one.function &&
        (one.limits.local > kernel.limits.local || !load_code(one.function, kernel.in_library)))
      one.function = nullptr;
    any = any || one.function;
  }
  return any;
}

/// The same for the original, in the calling thread's context. Where versions run from the first
/// launch on, its own first one comes at any time after that: for comparison, or because a launch
/// is not for them. If it needs more local memory than they do, or if nothing loads its code, only
/// a launch now will do.
bool make_own_ready(const Kernel &kernel) {
  bool needs_launch = !kernel.in_library && !driver().function_load;
  for (std::size_t i = 0; i < kernel.code.table.siblings.size(); ++i)
    if (const LoadedSibling &one = kernel.siblings[i]; one.function)
      needs_launch = needs_launch || one.limits.local < kernel.limits.local;
  kernel.own_first.store(needs_launch, std::memory_order_relaxed);
  return load_code(kernel.own, kernel.in_library);
}

WorkOfText work_of(const AnswerWork &work, const SiblingTable &table) {
  WorkOfText result{work.cycles_per_byte, {}};
  for (const Sibling &sibling : table.siblings) {
    const auto found = std::find_if(work.times.begin(), work.times.end(), [&](const auto &one) {
      return one.first == entry_of(sibling, table.kernel);
    });
    result.times.push_back(found == work.times.end() ? 1 : found->second);
  }
  return result;
}

/// Loads the versions of an answer. Null, with the reason in `watched`, if they may not be used.
const Kernel *load(Handle function, const Home &home, Watched &watched, Answer &&answer) {
  const auto refuse = [&](const char *reason, const char *words) {
    watched.reason = reason;
    watched.words = words;
    return nullptr;
  };
  bool later = false;
  const auto image = image_of(function, home, later);
  if (image == watching().images.end())
    return refuse("not-seen", "its image has ended");
  Beside beside{home.owner,        image->first,     watched.id,
                current_context(), current_device(), nullptr,
                home.in_library,   function,         nullptr};
  std::vector<DevicePointer> addresses;
  if (!find_addresses(home, answer.variables, addresses))
    return refuse("variable",
                  "the driver does not say where its variables are, or not as its PTX does");
  // Without an image all versions are the kernel's own code.
  if (!answer.image.empty() && !load_module(home.in_library, answer.image, beside.module))
    return refuse("not-loaded", "the driver did not take the versions");
  watched.words = std::move(answer.words);
  auto known = parse_profile(answer.choices, "choices");
  KernelCode &code = code_of(std::move(answer.table), known ? std::move(*known) : Profile{});
  std::unique_ptr<Kernel> kernel(new Kernel{code, home.in_library, {}, nullptr, {}});
  Home versions = home;
  versions.owner = beside.module;
  if (!read_limits(home, function, kernel->limits) ||
      !load_siblings(versions, function, code.table, *kernel)) {
    unload(beside);
    return refuse("not-loaded", "the driver does not know the versions");
  }
  kernel->own = function;
  if (!make_ready(*kernel, code.table.siblings.size()) || !make_own_ready(*kernel)) {
    unload(beside);
    return refuse("not-loaded",
                  "its versions need more local memory than it, or the driver does not load them");
  }
  kernel->watched = &watched;
  kernel->work = work_of(answer.work, code.table);
  kernel->context = addresses.empty() ? nullptr : beside.context;
  kernel->device = beside.device;
  kernel->ready[0].store(beside.context, std::memory_order_relaxed);
  kernel->addresses = std::move(addresses);
  beside.kernel = kernel.release(); // never freed: another thread may be looking at it
  watching().beside.push_back(beside);
  log_line("beside", fmt::format("\"kernel\":{}", json_text(watched.kernel)));
  return beside.kernel;
}

/// Reads the answer. Null: none yet. With the lock held.
const Kernel *receive(Handle function, Watched &watched) {
  const std::string path = path_of(watched.id, "answer");
  const auto bytes = ::access(path.c_str(), R_OK) == 0 ? read_whole_own(path) : std::nullopt;
  if (!bytes)
    return nullptr;
  Home home;
  if (!find_home(function, home) || capability(current_device()) != watched.sm)
    return nullptr;
  const Kernel *result = find_beside(home.owner, watched.id, current_context());
  if (!result) {
    auto answer = decode_answer(*bytes);
    if (!answer) {
      watched.reason = "answer";
      watched.words = answer.error();
    } else if (!answer->reason.empty()) {
      watched.reason = answer->reason;
      watched.words = answer->words;
    } else {
      result = load(function, home, watched, std::move(*answer));
    }
    if (!result)
      result = without_siblings(watched, true);
  }
  replace_kernel(function, home.owner, result);
  return result;
}

/// Launches that wait for room follow each other as fast as the GPU ends them, and at most this
/// many are in the driver's queue (seen with driver 580).
constexpr std::int64_t whole_queue = 1024;

/// Launches since the first one that waited for room in the driver's queue.
struct FullQueue {
  std::atomic<std::int64_t> since{0}; ///< microseconds; 0: none has waited
  std::atomic<std::uint64_t> launches_before{0};
  std::atomic<std::int64_t> waited{0}; ///< of those, microseconds
};
FullQueue &full_queue() {
  static FullQueue value;
  return value;
}

/// Waits until nothing runs if that costs the program next to nothing: its launches have waited for
/// room in a full queue for most of the time in which a whole queue was launched, and what it
/// launches after this finds room at once. Tried once, and given up where others launch.
/// Time counts, not how many launches have waited: who wakes up late finds room for several.
bool let_run_empty() {
  static std::atomic<bool> was_tried{false};
  FullQueue &queue = full_queue();
  const std::int64_t since = queue.since.load(std::memory_order_relaxed);
  const auto launched = static_cast<std::int64_t>(
      launches_begun() - queue.launches_before.load(std::memory_order_relaxed));
  if (since == 0 || launched < whole_queue)
    return false;
  const std::int64_t begin = microseconds_now();
  if (2 * queue.waited.load(std::memory_order_relaxed) < begin - since) {
    queue.since.store(0, std::memory_order_relaxed); // something else took the time
    return false;
  }
  if (!knows_all_streams() || was_tried.exchange(true))
    return false;
  constexpr std::int64_t longest = 2000000; // microseconds
  const std::int64_t most = std::min(longest, (begin - since) * whole_queue / launched * 5 / 4);
  const std::uint64_t launches = launches_begun();
  bool quiet = false;
  while (!(quiet = nothing_runs()) && launches_begun() == launches &&
         microseconds_now() - begin < most)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  add_to_waits(static_cast<double>(microseconds_now() - begin) / 1000);
  return quiet;
}

/// Returns true if an answer says why there are no versions.
bool says_no(const Watched &watched) {
  const auto bytes = read_whole_own(path_of(watched.id, "answer"));
  if (!bytes)
    return false;
  const auto answer = decode_answer(*bytes);
  return !answer || !answer->reason.empty();
}

bool is_answered(const void *watched) {
  return ::access(path_of(static_cast<const Watched *>(watched)->id, "answer").c_str(), R_OK) == 0;
}

/// Returns true if what is asked and loaded now is for where a launch on the stream runs, and no
/// capture is in the way.
bool is_at_home(Handle stream, bool per_thread) {
  int capturing = capture_none;
  const Handle context = context_of(stream, per_thread);
  return context && context == current_context() &&
         driver().stream_capturing[per_thread](stream, &capturing) == success &&
         capturing == capture_none;
}

/// Tells `ptxasw faster` that a kernel is launched often, and what that takes, so that it makes the
/// versions of the dearest kernel first: at once, then when it has been launched four times as
/// often, and when it is first known how long a launch takes.
void tell_how_often(Watched &watched) {
  constexpr std::uint64_t between_looks = 4, times = 4;
  const std::uint64_t launches = watched.launches.load(std::memory_order_relaxed);
  bool is_news = false;
  if (watched.taken.is_timing.load(std::memory_order_relaxed) && launches % between_looks == 0) {
    const RelaxedCapture relaxed;
    const bool is_known = watched.taken.each_us() > 0;
    is_news = watched.taken.collect() && !is_known;
  }
  std::uint64_t next = watched.next_told.load(std::memory_order_relaxed);
  if (!is_news && launches < next)
    return;
  if (!watched.next_told.compare_exchange_strong(next, times * std::max(launches, launched_often),
                                                 std::memory_order_relaxed))
    return; // another thread tells
  watched.wanted.store(true, std::memory_order_relaxed);
  (void)replace_whole(path_of(watched.id, often_suffix + 1),
                      often_text({launches, watched.taken.each_us()}));
}

/// Asks for versions of a kernel that has been launched often. Null: it has no home. With the lock
/// held.
const Kernel *ask_now(Handle function, Watched &counted) {
  Home home;
  if (!find_home(function, home))
    return nullptr;
  counted.wanted.store(true, std::memory_order_relaxed);
  const Kernel *const found = watch(function, home);
  found->watched->launches.fetch_add(counted.launches.exchange(0, std::memory_order_relaxed),
                                     std::memory_order_relaxed);
  replace_kernel(function, home.owner, found);
  return found;
}

} // namespace

std::int64_t microseconds_now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1000000 + time.tv_nsec / 1000;
}

bool is_to_be_timed(Watched &watched) {
  constexpr std::uint64_t times = 4;
  const std::uint64_t launches = watched.launches.load(std::memory_order_relaxed);
  std::uint64_t next = watched.next_timed.load(std::memory_order_relaxed);
  return launches >= next && !watched.answered.load(std::memory_order_relaxed) &&
         watched.next_timed.compare_exchange_strong(next, times * launches,
                                                    std::memory_order_relaxed);
}

void note_awaiting_launch(std::int64_t begin, std::int64_t end, unsigned stands_for) {
  constexpr std::int64_t at_once = 20; // a launch takes two to four
  if (end - begin <= at_once)
    return;
  FullQueue &queue = full_queue();
  std::int64_t none = 0;
  if (queue.since.load(std::memory_order_relaxed) == 0 &&
      queue.since.compare_exchange_strong(none, begin, std::memory_order_relaxed)) {
    queue.launches_before.store(launches_begun(), std::memory_order_relaxed);
    queue.waited.store(0, std::memory_order_relaxed);
  }
  queue.waited.fetch_add((end - begin) * stands_for, std::memory_order_relaxed);
}

void remember_image(Handle owner, bool in_library, const void *image, bool other_code) {
  forget_unseen(&owner);
  if (!asks_for_versions() || !at_work() || !owner || !driver().usable())
    return;
  KeptImage kept = keep_image(image);
  if (other_code && !kept.bytes.empty())
    kept = {"", "options", "the program told the driver how to compile it"};
  const Handle context = in_library ? nullptr : current_context();
  const int device = in_library ? -1 : current_device();
  tell_program(device);
  const HandlesLock lock;
  Watching &all = watching();
  if (kept.bytes.size() > all_images - all.bytes)
    kept = {"", "too-large", "the program has more PTX than is looked at"};
  all.bytes += kept.bytes.size();
  all.images[owner] = {std::move(kept), in_library, context, device, ""};
}

void forget_unseen(const Handle *owner) {
  if (!asks_for_versions() || !owner)
    return;
  lock_handles();
  const bool known = forget_ended(*owner);
  unlock_handles();
  if (known)
    forget_handles(*owner);
}

void forget_images(Handle owner) {
  if (!asks_for_versions())
    return;
  std::vector<Beside> ended;
  {
    const HandlesLock lock;
    forget_image(owner);
    auto &beside = watching().beside;
    for (std::size_t i = beside.size(); i-- > 0;)
      if (beside[i].owner == owner || beside[i].image == owner) {
        ended.push_back(beside[i]);
        beside.erase(beside.begin() + static_cast<std::ptrdiff_t>(i));
      }
  }
  for (const Beside &one : ended)
    unload(one);
}

void forget_context(Handle context) {
  forget_streams(context, -1);
  forget_where([&](const auto &one) { return !context || !one.context || one.context == context; });
}

void forget_device(int device) {
  forget_streams(nullptr, device);
  forget_where([&](const auto &one) { return one.device < 0 || one.device == device; });
}

const Kernel *watch(Handle function, const Home &home) {
  if (!asks_for_versions())
    return nullptr;
  bool later = false;
  const auto found = image_of(function, home, later);
  Image *const image = found == watching().images.end() ? nullptr : &found->second;
  const unsigned sm = capability(current_device());
  if (later)
    return without_siblings(watched_of(home.name, "", sm, "", ""), false);
  std::string reason, words, id;
  if (!image) {
    reason = "not-seen";
    words = "its image was loaded in a way that is not seen";
  } else if (image->kept.bytes.empty()) {
    reason = image->kept.why;
    words = image->kept.words;
  } else if (sm == 0) {
    reason = "not-seen";
    words = "the driver does not say what the GPU is";
  } else {
    // Before it is launched often it is not worth the time, unless an earlier run had versions.
    Watched &counted = watched_of(home.name, "", sm, "", "");
    if (!counted.wanted.load(std::memory_order_relaxed))
      return without_siblings(counted, false);
    if (image->hash.empty())
      image->hash = long_hash(image->kept.bytes);
    id = question_id(image->hash, sm, home.name);
    if (!ask(*image, id, home.name, sm)) {
      id.clear();
      reason = "not-asked";
      words = "`ptxasw faster` could not be asked: no room, or it has ended";
    }
  }
  Watched &watched = watched_of(home.name, id, sm, reason, words);
  if (const Kernel *const loaded = find_beside(home.owner, id, current_context());
      loaded && !id.empty())
    return loaded;
  return without_siblings(watched, id.empty());
}

const Kernel *await_versions(Handle function, Handle stream, bool per_thread,
                             const Kernel &waiting) {
  Watched &watched = *waiting.watched;
  const bool asked = !watched.id.empty();
  const bool eager = configuration().mode == Mode::tune;
  const bool is_often = watched.remembered || watched.launches.load(std::memory_order_relaxed) >=
                                                  (eager ? 2 : launched_often);
  if (!asked && !is_often && !watched.early && !watched.wanted.load(std::memory_order_relaxed))
    return &waiting;
  if (asked && is_often)
    tell_how_often(watched);
  if (const std::uint64_t launches = watched.launches.load(std::memory_order_relaxed);
      launches > launched_very_often && launches % between_looks_at_clock != 0)
    return &waiting;
  const std::int64_t now = microseconds_now();
  std::int64_t next = watched.next_look.load(std::memory_order_relaxed);
  if (now < next)
    return &waiting;
  const std::uint32_t pause =
      std::clamp(watched.pause.load(std::memory_order_relaxed), first_pause, longest_pause);
  if (!watched.next_look.compare_exchange_strong(next, now + pause, std::memory_order_relaxed))
    return &waiting; // another thread looks
  watched.pause.store(pause * 2, std::memory_order_relaxed);
  if (asked && !watched.answered.load(std::memory_order_relaxed) && !is_answered(&watched))
    return &waiting;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  if (!is_at_home(stream, per_thread))
    return &waiting;
  const Kernel *found = &waiting;
  if (!asked) {
    const HandlesLock lock;
    found = ask_now(function, watched);
  }
  if (!found || found->siblings || found->settled)
    return found ? found : &waiting;
  Watched &question = *found->watched;
  if (question.id.empty())
    return found; // which image is its own cannot be asked now
  if (eager && !question.wanted.load(std::memory_order_relaxed))
    tell_how_often(question);
  const bool waits = question.remembered || eager;
  if (!is_answered(&question) && !(waits && wait_a_little(is_answered, &question)))
    return found;
  // A long wait for what runs is tried once; after that the versions come when nothing does, or
  // nothing but what a program that waits for each launch has just begun, an event's record.
  const bool first = !question.answered.exchange(true, std::memory_order_relaxed);
  if (first) { // the next look is at the next launch
    question.pause.store(0, std::memory_order_relaxed);
    question.next_look.store(0, std::memory_order_relaxed);
  }
  if (first && says_no(question)) { // nothing is loaded
    const HandlesLock lock;
    const Kernel *const settled = receive(function, question);
    return settled ? settled : found;
  }
  const auto quiet = [](const void *) { return nothing_runs(); };
  // Another thread's capture may go on for as long as the program likes, and this thread's does.
  constexpr double longest = 5000, short_wait = 0.1; // ms
  int capturing = capture_none;
  const bool captures = driver().stream_capturing[per_thread](stream, &capturing) != success ||
                        capturing != capture_none;
  if (captures || !(wait_a_little(quiet, nullptr, first ? longest : short_wait) || let_run_empty()))
    return found;
  const HandlesLock lock;
  const LaunchesWait others;
  if (!nobody_else_launches() || !nothing_runs())
    return found;
  const std::int64_t start = microseconds_now();
  const Kernel *const received = receive(function, question);
  const double milliseconds = static_cast<double>(microseconds_now() - start) / 1000;
  add_to_waits(milliseconds);
  log_line("loaded",
           fmt::format("\"kernel\":{},\"ms\":{:.3f}", json_text(question.kernel), milliseconds));
  return received ? received : found;
}

bool is_ready_in(const Kernel &kernel, Handle context) {
  return std::any_of(kernel.ready.begin(), kernel.ready.end(), [&](const std::atomic<Handle> &one) {
    return one.load(std::memory_order_acquire) == context;
  });
}

bool make_ready_in(const Kernel &kernel, Handle context) {
  constexpr std::int64_t pause = 1000; // microseconds, after what did not work
  const std::int64_t now = microseconds_now();
  std::int64_t next = kernel.watched->next_look.load(std::memory_order_relaxed);
  if (kernel.ready.back().load(std::memory_order_relaxed) != nullptr || now < next ||
      !kernel.watched->next_look.compare_exchange_strong(next, now + pause,
                                                         std::memory_order_relaxed))
    return false;
  const LookupGuard guard;
  const RelaxedCapture relaxed;
  if (are_waits_spent() || !nothing_runs())
    return false;
  const HandlesLock lock;
  const LaunchesWait others;
  const auto place = std::find_if(kernel.ready.begin(), kernel.ready.end(), [](const auto &one) {
    return one.load(std::memory_order_relaxed) == nullptr;
  });
  if (place == kernel.ready.end() || !nobody_else_launches() || !nothing_runs())
    return false;
  const std::int64_t start = microseconds_now();
  bool is_ready = make_own_ready(kernel);
  for (std::size_t i = 0; i < kernel.code.table.siblings.size(); ++i)
    if (Handle function = kernel.siblings[i].function; function)
      is_ready = is_ready && load_code(function, true);
  add_to_waits(static_cast<double>(microseconds_now() - start) / 1000);
  if (is_ready)
    place->store(context, std::memory_order_release);
  return is_ready;
}

bool watched_origin(Handle function, Origin &origin) {
  for (const Beside &one : watching().beside) {
    const Kernel &kernel = *one.kernel;
    const SiblingTable &table = kernel.code.table;
    for (std::size_t i = 0; i < table.siblings.size(); ++i)
      if (kernel.siblings[i].function == function && !only_reshapes(table.siblings[i])) {
        origin = {one.function, &table, &table.siblings[i],
                  table.parameters.size() - kernel.addresses.size()};
        return true;
      }
  }
  return false;
}

std::optional<std::string> watched_text() {
  if (!asks_for_versions())
    return "";
  // At the end of the process nothing may wait: a thread may hold the lock and never come back.
  if (!try_lock_handles())
    return std::nullopt;
  std::string list;
  for (const auto &[key, watched] : watching().all)
    if (watched->launches.load(std::memory_order_relaxed) != 0)
      list += fmt::format(
          "{}\n{{\"kernel\":{},\"launches\":{},\"asked\":{},\"reason\":{},\"words\":{}}}",
          list.empty() ? "" : ",", json_text(watched->kernel),
          watched->launches.load(std::memory_order_relaxed), json_text(watched->id),
          json_text(watched->reason), json_text(watched->words));
  unlock_handles();
  return list;
}

} // namespace ptxasw::wrapper::launch
