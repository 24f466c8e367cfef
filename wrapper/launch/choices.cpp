// Kernels are known by their code and launches by what their time depends on, sizes by their order
// of magnitude. Each choice has a lock of its own, held for the time of a look-up.

#include "wrapper/launch/choices.h"

#include "wrapper/launch/driver.h"
#include "wrapper/launch/measure.h"
#include "wrapper/launch/risk.h"
#include "wrapper/launch/state.h"
#include "wrapper/launch/watch.h"
#include "wrapper/launch/whole_files.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <unistd.h>

namespace ptxasw::wrapper::launch {
namespace {

constexpr std::size_t most_shapes = 256; ///< of one kernel
constexpr std::size_t most_seen = 1024;  ///< launches, of one kernel
constexpr std::size_t most_asked = 64;   ///< as many as a launch's key has bits
constexpr std::size_t most_numbers = 8;  ///< as many as it has bytes

/// All kernels with siblings by their table's text. Never destroyed: launches may come from other
/// libraries' destructors.
struct Codes {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<KernelCode>> all;
};
Codes &codes() {
  static auto *const value = new Codes;
  return *value;
}

ChoiceRules rules() {
  ChoiceRules result;
  result.eager = configuration().mode == Mode::tune;
  // What `ptxasw faster` made versions of has been launched a dozen times, in this run or before.
  if (!configuration().faster.empty())
    result.patience = result.first_originals + 1;
  return result;
}

/// How often launches of a version that takes so long, us, are held against the original; what two
/// pairs of events cost, 0.012 ms, is a thousandth of the time between, or if the version is
/// `suspect`, a two-hundredth. Primes have no period in common with the program's launches.
std::uint64_t between_checks(double chosen_us, bool suspect) {
  if (configuration().mode != Mode::measure || configuration().verify)
    return 0;
  if (chosen_us < ChoiceRules().short_kernel * 1000)
    return 2003;
  constexpr double longer = 200;
  return !suspect ? 401 : chosen_us < longer ? 127 : 17;
}

/// Returns true if a profile says that times on a GPU depend on a number.
bool is_known_to_matter(const KernelCode &code, std::string_view gpu, std::uint32_t parameter) {
  for (const Profile *const profile : {&configuration().profile, &code.known})
    for (const ProfileEntry &entry : profile->entries)
      for (const auto &number : entry.shape.numbers)
        if (entry.hash == code.table.hash && entry.gpu == gpu && number[0] == parameter)
          return true;
  return false;
}

/// What profiles say of a shape; null: nothing.
const ProfileEntry *find_entry(const KernelCode &code, const Choice &choice) {
  std::vector<std::string> all;
  for (const Sibling &sibling : code.table.siblings)
    all.push_back(sibling.name);
  std::sort(all.begin(), all.end());
  ShapeClass shape = choice.key;
  const auto find = [&] {
    const ProfileEntry *const entry =
        configuration().profile.find(code.table.hash, choice.gpu, shape, all);
    return entry ? entry : code.known.find(code.table.hash, choice.gpu, shape, all);
  };
  if (const ProfileEntry *const entry = find())
    return entry;
  // Launches are kept apart by a number as soon as one GPU is seen to depend on it.
  std::erase_if(shape.numbers, [&](const std::array<std::uint32_t, 2> &number) {
    return !is_known_to_matter(code, choice.gpu, number[0]);
  });
  if (const ProfileEntry *const entry = find(); entry || configuration().mode != Mode::profile)
    return entry;
  // Who measures nothing takes what was found before that was seen.
  shape.numbers.clear();
  return find();
}

/// What is thought of a sibling's time: if launches of other shapes have shown what it gains there,
/// the mean of that goes before rules of thumb.
Prior prior_with(const KernelCode &code, const Choice &choice, unsigned sibling, Prior prior) {
  const std::string &name = code.table.siblings[sibling].name;
  double sum = 0;
  unsigned shapes = 0;
  const auto add = [&](double original, double mine) {
    if (original > 0 && mine > 0) {
      sum += std::log(original / mine);
      ++shapes;
    }
  };
  constexpr std::size_t fewest = 2; // samples
  for (Choice *one = code.choices.load(std::memory_order_acquire); one; one = one->next) {
    const std::unique_lock lock(one->mutex, std::try_to_lock); // its launches may be waited for
    if (!lock || one->from_profile || one->gpu != choice.gpu)
      continue;
    const auto at = std::find(one->siblings.begin(), one->siblings.end(), sibling);
    const auto version = static_cast<std::size_t>(at - one->siblings.begin()) + 1;
    if (at != one->siblings.end() && one->chooser.samples(0).size() >= fewest &&
        one->chooser.samples(version).size() >= fewest)
      add(one->chooser.time(0), one->chooser.time(version));
  }
  for (const Profile *const profile : {&configuration().profile, &code.known})
    for (const ProfileEntry &entry : profile->entries) {
      if (entry.hash != code.table.hash || entry.gpu != choice.gpu)
        continue;
      const auto &among = entry.shape.among;
      const auto at = std::lower_bound(among.begin(), among.end(), name);
      if (entry.open.empty() && entry.chosen == name) {
        add(entry.original_us, entry.chosen_us);
      } else if (!entry.open.empty() && at != among.end() && *at == name) {
        const auto &mine = entry.open[static_cast<std::size_t>(at - among.begin()) + 1];
        if (entry.open[0].size() >= fewest && mine.size() >= fewest)
          add(trimmed_mean(entry.open[0]), trimmed_mean(mine));
      }
    }
  if (shapes == 0)
    return prior;
  constexpr double any = 0.1;
  prior.promise = sum / shapes;
  prior.fear = std::max(any, std::exp(-prior.promise) - 1);
  return prior;
}

/// Which version of a choice a sibling is; 0 if it is none, and for no name.
std::size_t version_of(const KernelCode &code, const Choice &choice, std::string_view name) {
  for (std::size_t i = 0; i < choice.siblings.size(); ++i)
    if (code.table.siblings[choice.siblings[i]].name == name)
      return i + 1;
  return 0;
}

/// The siblings of the table that a choice is among, one bit each.
void set_siblings(const KernelCode &code, Choice &choice, std::uint32_t bits,
                  const std::vector<Prior> &priors) {
  choice.siblings.clear();
  choice.key.among.clear();
  std::vector<Prior> of_versions(1);
  for (unsigned i = 0; i < code.table.siblings.size() && i < most_siblings; ++i)
    if (bits >> i & 1) {
      choice.siblings.push_back(i);
      of_versions.push_back(prior_with(code, choice, i, priors.at(i)));
      choice.key.among.push_back(code.table.siblings[i].name);
    }
  std::vector<std::size_t> in_own_blocks(1);
  for (const unsigned i : choice.siblings) {
    const std::size_t own = version_of(code, choice, code.table.siblings[i].code_of);
    in_own_blocks.push_back(own != 0 ? own : in_own_blocks.size());
  }
  order_blocks(of_versions, in_own_blocks);
  std::sort(choice.key.among.begin(), choice.key.among.end());
  choice.chooser = Chooser(choice.siblings.size() + 1, rules(), std::move(of_versions));
}

/// What the profile says of a new choice.
void follow_profile(KernelCode &code, Choice &choice) {
  const ProfileEntry *const entry = find_entry(code, choice);
  // `ptxasw faster --tune` tries all versions: a run before may have had no time to, or the kernel
  // was too short for trials.
  const bool tries_all = configuration().mode == Mode::tune && asks_for_versions();
  if (!entry || entry->reverted_runs >= longest_reverted ||
      (tries_all && entry->open.empty() && entry->chosen == original_word))
    return;
  if (!entry->open.empty()) {
    // Of `among`, which is in ascending order, to the chooser's, which is the table's.
    OpenRace race{{entry->open[0]}, 0, entry->budget_us / 1000, entry->in_runs};
    for (std::size_t i = 0; i < choice.siblings.size(); ++i) {
      const std::string &name = code.table.siblings[choice.siblings[i]].name;
      const auto at = std::lower_bound(choice.key.among.begin(), choice.key.among.end(), name);
      race.samples.push_back(
          entry->open[static_cast<std::size_t>(at - choice.key.among.begin()) + 1]);
      if (name == entry->chosen)
        race.candidate = i + 1;
    }
    for (std::vector<double> &samples : race.samples)
      for (double &time : samples)
        time /= 1000;
    choice.chooser.resume(race);
    if (choice.chooser.decided() && configuration().mode != Mode::profile)
      settle(code, choice);
    return;
  }
  choice.from_profile = true;
  choice.recheck.resume(*entry);
  choice.original_us = entry->original_us;
  choice.chosen_us = entry->chosen_us;
  choice.between_checks = between_checks(entry->chosen_us, false);
  choice.saves = (entry->original_us - entry->chosen_us) / 1000;
  int decided = 0;
  for (const unsigned sibling : choice.siblings) {
    const std::string &name = code.table.siblings[sibling].name;
    if (name == entry->chosen)
      decided = static_cast<int>(sibling) + 1;
    if (name == entry->in_graphs && !only_reshapes(code.table.siblings[sibling]))
      choice.in_graphs = static_cast<int>(sibling) + 1;
  }
  if (decided == 0 && entry->chosen != original_word && choice.in_graphs != 0) {
    decided = choice.in_graphs; // the module does not have what was chosen; its times are not known
    choice.between_checks = 0;
    choice.saves = 0;
    choice.recheck = {};
  }
  choice.decided.store(decided, std::memory_order_relaxed);
}

/// The numbers on which times depend by what profiles say; as KernelCode::matter.
std::uint64_t known_to_matter(const KernelCode &code) {
  std::uint64_t result = 0;
  for (const Profile *const profile : {&configuration().profile, &code.known})
    for (const ProfileEntry &entry : profile->entries)
      for (const auto &number : entry.shape.numbers)
        for (std::size_t i = 0; i < code.numbers.size(); ++i)
          if (entry.hash == code.table.hash && code.numbers[i] == number[0])
            result |= std::uint64_t{0xff} << (8 * i);
  return result;
}

/// Where KernelCode::seen has a launch: the products do not wait for one another.
std::size_t place_of(const LaunchKey &launch) {
  const auto pair = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
  const Extents &grid = launch.grid, &block = launch.block;
  const auto kernel = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(launch.kernel));
  const std::uint64_t mixed = pair(grid.x, grid.y) * 0x9e3779b97f4a7c15u +
                              pair(grid.z, block.x) * 0xbf58476d1ce4e5b9u +
                              pair(block.y, block.z) * 0x94d049bb133111ebu +
                              (kernel + launch.shared_bytes) * 0xd6e8feb86659fd93u;
  return mixed >> 56;
}

/// With the lock of the codes held: launches are kept apart by other numbers now, so none is like
/// one that was seen. What was seen is never freed: another thread may be looking at it.
void forget_seen(KernelCode &code) {
  for (std::atomic<const SeenLaunch *> &place : code.seen)
    place.store(nullptr, std::memory_order_relaxed);
  code.seen_launches = 0;
}

/// If a kernel is of the part that this process measures. By its hash, so that processes need not
/// know of each other (FNV-1a).
bool is_of_our_part(std::string_view hash) {
  std::uint32_t number = 2166136261;
  for (const char c : hash)
    number = (number ^ static_cast<unsigned char>(c)) * 16777619;
  return number % configuration().parts == configuration().part - 1;
}

/// The name of what is decided: 0, the original, or n: sibling n - 1 of the table.
std::string_view name_of_decision(const SiblingTable &table, int decided) {
  return decided <= 0
             ? original_word
             : std::string_view(table.siblings[static_cast<std::size_t>(decided) - 1].name);
}

/// A lock that is free now, or that is waited for, but not for long.
std::unique_lock<std::mutex> lock_soon(std::mutex &mutex, bool waits) {
  std::unique_lock lock(mutex, std::try_to_lock);
  for (int tries = 0; waits && !lock && tries < 200; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)lock.try_lock();
  }
  return lock;
}

/// What is known of each choice, but for those that are being measured just now: of these, unless
/// it `waits`, the next text tells. Nothing if another thread is in the middle of a change.
std::optional<std::string> results_text(bool waits) {
  std::string list;
  const auto lock = lock_soon(codes().mutex, waits);
  if (!lock)
    return std::nullopt;
  for (const auto &[bytes, code] : codes().all)
    for (Choice *choice = code->choices.load(std::memory_order_acquire); choice;
         choice = choice->next) {
      if (choice->elsewhere || choice->starves)
        continue;
      const auto own = lock_soon(choice->mutex, waits);
      const int decided = choice->decided.load(std::memory_order_relaxed);
      if (!own || (decided < 0 && is_left(*code, *choice))) // nobody will go on with it
        continue;
      const SiblingTable &table = code->table;
      std::string versions;
      for (std::size_t i = 0; i <= choice->siblings.size(); ++i) {
        const Comparison found = choice->chooser.against_original(i);
        std::string samples;
        for (const double ms : choice->chooser.samples(i))
          samples += fmt::format("{}{:.3f}", samples.empty() ? "" : ",", ms * 1000);
        versions += fmt::format(
            "{}{{\"name\":{},\"us\":{:.4f},\"ratio\":{:.5f},\"low\":{:.5f},\"high\":{:.5f},"
            "\"samples_us\":[{}]}}",
            i ? "," : "", json_text(name_of_version(*choice, table, i)),
            choice->chooser.time(i) * 1000, found.ratio, found.low, std::min(found.high, 1e9),
            samples);
      }
      std::string numbers;
      for (const auto &[parameter, bits] : choice->key.numbers)
        numbers += fmt::format("{}[{},{}]", numbers.empty() ? "" : ",", parameter, bits);
      const OpenRace race = choice->chooser.state();
      std::string among;
      for (const std::string &name : choice->key.among)
        among += (among.empty() ? "" : ",") + json_text(name);
      list += fmt::format(
          "{}\n{{\"kernel\":{},\"hash\":{},\"gpu\":{},\"block\":[{},{},{}],\"threads\":{},"
          "\"numbers\":[{}],\"among\":[{}],\"decided\":{},\"candidate\":{},\"budget_us\":{:.3f},"
          "\"in_runs\":{},"
          "\"from_profile\":{},"
          "\"chosen\":{},\"in_graphs\":{},\"original_us\":{:.3f},"
          "\"chosen_us\":{:.3f},{}\"launches\":{},\"redirected\":{},\"versions\":[{}]}}",
          list.empty() ? "" : ",", json_text(table.kernel), json_text(table.hash),
          json_text(choice->gpu), choice->key.block[0], choice->key.block[1], choice->key.block[2],
          choice->key.threads, numbers, among, decided >= 0,
          json_text(name_of_version(*choice, table, race.candidate)), race.budget * 1000,
          race.in_runs, choice->from_profile, json_text(name_of_decision(table, decided)),
          json_text(name_of_decision(table, choice->in_graphs)), choice->original_us,
          choice->chosen_us, choice->recheck.text(),
          choice->launches.load(std::memory_order_relaxed),
          choice->redirected.load(std::memory_order_relaxed), versions);
    }
  return list;
}

} // namespace

void Recheck::resume(const ProfileEntry &entry) {
  constexpr double ms = 1e-3;
  version.resume({entry.pairs_us[0] * ms, entry.pairs_us[1] * ms * ms});
  is_known = entry.pairs_us[0] > 0;
  reverted = entry.reverted_runs == 0 ? 0 : entry.reverted_runs + 1;
}

std::string Recheck::text() const {
  constexpr double us = 1e3;
  const auto [sum, squares] = version.state();
  return reverted != 0 ? fmt::format("\"reverted_runs\":{},", reverted)
         : is_known    ? fmt::format("\"pairs_us\":[{:.3f},{:.6f}],", sum * us, squares * us * us)
                       : "";
}

std::string_view name_of_version(const Choice &choice, const SiblingTable &table,
                                 std::size_t version) {
  return version == 0 ? original_word
                      : std::string_view(table.siblings[choice.siblings[version - 1]].name);
}

std::uint32_t size_class(const Extents &grid, const Extents &block) {
  const double blocks = static_cast<double>(grid.x) * grid.y * grid.z;
  return static_cast<std::uint32_t>(std::ilogb(blocks * block.x * block.y * block.z));
}

KernelCode &code_of(SiblingTable table, const Profile &known) {
  std::string bytes = encode(table);
  const std::lock_guard lock(codes().mutex);
  std::unique_ptr<KernelCode> &code = codes().all[std::move(bytes)];
  if (!code) {
    code = std::make_unique<KernelCode>();
    code->table = std::move(table);
    for (const Sibling &sibling : code->table.siblings) {
      std::vector<ArgumentDivisor> wanted = sibling.needs.divisible;
      for (const ArgumentAlignment &need : sibling.needs.aligned)
        wanted.push_back({need.parameter, need.offset, 8, need.alignment});
      const auto add = [](auto &asked, const auto &one) {
        if (std::find(asked.begin(), asked.end(), one) == asked.end())
          asked.push_back(one);
      };
      for (const ArgumentDivisor &one : wanted)
        add(code->asked.divisible, one);
      for (const ArgumentCover &one : sibling.needs.covered)
        add(code->asked.covered, one);
      for (const IndexBound &one : sibling.needs.bounded)
        add(code->asked.bounded, one);
    }
    for (const std::uint32_t size : {4u, 8u}) // addresses last
      for (std::uint32_t i = 0; i < code->table.parameters.size(); ++i)
        if (code->table.parameters[i].bytes == size && code->numbers.size() < most_numbers)
          code->numbers.push_back(i);
    std::string names;
    for (const Sibling &sibling : code->table.siblings)
      names += (names.empty() ? "" : ",") + json_text(sibling.name);
    log_line("kernel",
             fmt::format("\"kernel\":{},\"hash\":{},\"siblings\":[{}]",
                         json_text(code->table.kernel), json_text(code->table.hash), names));
    if (configuration().profile.outdated(code->table.kernel, code->table.hash))
      tell(fmt::format("the profile {} is of other code of {}; its entries are ignored",
                       configuration().profile_path, code->table.kernel));
  }
  code->known.merge(known); // another time, of another GPU perhaps
  const std::uint64_t matter = known_to_matter(*code);
  if ((code->matter.fetch_or(matter) & matter) != matter)
    forget_seen(*code);
  return *code;
}

Choice *find_choice(const KernelCode &code, const Shape &shape) {
  for (Choice *one = code.choices.load(std::memory_order_acquire); one; one = one->next)
    if (one->shape == shape)
      return one;
  return nullptr;
}

const SeenLaunch *find_seen(const KernelCode &code, const LaunchKey &launch) {
  for (const SeenLaunch *one = code.seen[place_of(launch)].load(std::memory_order_acquire); one;
       one = one->next)
    if (one->launch == launch)
      return one;
  return nullptr;
}

void keep_seen(KernelCode &code, const LaunchKey &launch, Choice *choice, Outcome why) {
  if (code.seen_launches.load(std::memory_order_relaxed) >= most_seen)
    return;
  const std::lock_guard lock(codes().mutex);
  if (code.asked.size() > most_asked || code.seen_launches >= most_seen || find_seen(code, launch))
    return;
  ++code.seen_launches;
  std::atomic<const SeenLaunch *> &place = code.seen[place_of(launch)];
  place.store(new SeenLaunch{launch, choice, why, place.load(std::memory_order_relaxed)},
              std::memory_order_release);
}

bool all_stay(const KernelCode &code, const LaunchKey &launch) {
  if (code.seen_launches.load(std::memory_order_relaxed) >= most_seen)
    return false; // there may be others
  for (const SeenLaunch *one = code.seen[place_of(launch)].load(std::memory_order_acquire); one;
       one = one->next)
    if (one->choice && one->launch.kernel == launch.kernel && one->launch.grid == launch.grid &&
        one->launch.block == launch.block && one->launch.shared_bytes == launch.shared_bytes &&
        one->choice->decided.load(std::memory_order_relaxed) != 0)
      return false;
  return true;
}

Choice *make_choice(KernelCode &code, const Shape &shape, const std::vector<Prior> &priors) {
  const std::lock_guard lock(codes().mutex);
  if (Choice *const known = find_choice(code, shape))
    return known;
  if (code.shapes >= most_shapes)
    return nullptr;
  ++code.shapes;
  auto choice = std::make_unique<Choice>();
  choice->shape = shape;
  choice->gpu = gpu_name(shape.device);
  choice->key.block = {shape.block.x, shape.block.y, shape.block.z};
  choice->key.threads = shape.threads;
  for (std::size_t i = 0; i < code.numbers.size(); ++i)
    if (shape.matter >> (8 * i) & 0xff)
      choice->key.numbers.push_back(
          {code.numbers[i], static_cast<std::uint32_t>(shape.numbers >> (8 * i) & 0xff)});
  std::sort(choice->key.numbers.begin(), choice->key.numbers.end());
  set_siblings(code, *choice, shape.fitting, priors);
  if (shape.starving != 0 && !find_entry(code, *choice)) {
    set_siblings(code, *choice, shape.fitting & ~shape.starving, priors);
    choice->starves = choice->siblings.empty();
  }
  switch (configuration().mode) {
  case Mode::first:
    choice->decided = choice->siblings.empty() ? 0 : static_cast<int>(choice->siblings[0]) + 1;
    break;
  case Mode::profile:
    choice->decided = 0;
    [[fallthrough]];
  case Mode::tune:
  case Mode::measure:
    follow_profile(code, *choice);
    if (choice->starves)
      choice->decided = 0;
    if (!is_of_our_part(code.table.hash)) {
      choice->elsewhere = true;
      choice->decided = 0;
    }
    break;
  }
  choice->next = code.choices.load(std::memory_order_relaxed);
  Choice *const result = choice.release();
  code.choices.store(result, std::memory_order_release);
  return result;
}

namespace {

/// The fastest version in the program's own blocks that is faster than the original; as
/// Choice::in_graphs.
int best_for_graphs(const KernelCode &code, const Choice &choice) {
  const ChoiceRules of;
  std::size_t best = 0;
  for (std::size_t version = 1; version <= choice.siblings.size(); ++version)
    if (!only_reshapes(code.table.siblings[choice.siblings[version - 1]]) &&
        choice.chooser.samples(version).size() >= of.fewest && choice.chooser.is_faster(version) &&
        (best == 0 || choice.chooser.time(version) < choice.chooser.time(best)))
      best = version;
  return best == 0 ? 0 : static_cast<int>(choice.siblings[best - 1]) + 1;
}

} // namespace

void settle(KernelCode &code, Choice &choice) {
  const std::size_t best = choice.chooser.best();
  const int decided = best == 0 ? 0 : static_cast<int>(choice.siblings[best - 1]) + 1;
  if (decided != 0 && only_reshapes(code.table.siblings[choice.siblings[best - 1]]))
    choice.in_graphs = best_for_graphs(code, choice);
  choice.between_checks = between_checks(choice.chooser.time(best) * 1000, false);
  choice.saves = choice.chooser.time(0) - choice.chooser.time(best);
  choice.decided.store(decided, std::memory_order_release);
  const auto &block = choice.key.block;
  log_line("choice",
           fmt::format("\"kernel\":{},\"hash\":{},\"gpu\":{},\"block\":[{},{},{}],\"threads\":{},"
                       "\"chosen\":{},\"original_us\":{:.3f},\"chosen_us\":{:.3f}",
                       json_text(code.table.kernel), json_text(code.table.hash),
                       json_text(choice.gpu), block[0], block[1], block[2], choice.key.threads,
                       json_text(name_of_decision(code.table, decided)),
                       choice.chooser.time(0) * 1000, choice.chooser.time(best) * 1000));
}

void learn_numbers(KernelCode &code, Choice &choice, const Pending &launch, double milliseconds) {
  TimesByNumbers &times = choice.times[launch.version];
  times.add(launch.numbers, milliseconds);
  const std::uint64_t found = times.depend_on();
  if ((code.matter.fetch_or(found) & found) == found)
    return;
  {
    const std::lock_guard lock(codes().mutex);
    forget_seen(code);
  }
  // Of choices that no launch gets any more a run would never end.
  for (Choice *one = code.choices.load(std::memory_order_acquire); one; one = one->next) {
    std::unique_lock lock(one->mutex, std::defer_lock);
    if ((one == &choice || lock.try_lock()) && one->run.left != 0 && is_left(code, *one))
      break_run(*one);
  }
  std::string parameters;
  for (std::size_t i = 0; i < code.numbers.size(); ++i)
    if (found >> (8 * i) & 0xff)
      parameters += fmt::format("{}{}", parameters.empty() ? "" : ",", code.numbers[i]);
  log_line("numbers",
           fmt::format("\"kernel\":{},\"hash\":{},\"parameters\":[{}]",
                       json_text(code.table.kernel), json_text(code.table.hash), parameters));
}

void check_again(KernelCode &code, Choice &choice, const Pending &launch, double milliseconds) {
  constexpr double suspicion = 1.7, certainty = 4; // of equal versions one in 3,000
  if (choice.decided.load(std::memory_order_relaxed) == 0) {
    choice.between_checks = between_checks(milliseconds * 1000, false);
    return;
  }
  Recheck &known = choice.recheck;
  if (known.half.turn != launch.turn || known.half.version == launch.version) {
    known.half = launch;
    known.half_ms = milliseconds;
    return;
  }
  known.half.turn = 0;
  if (std::min(milliseconds, known.half_ms) < ChoiceRules().short_kernel)
    return; // what events cost hides what it gains
  known.version.add((milliseconds - known.half_ms) * (launch.version == 1 ? 1 : -1));
  known.is_known = true;
  const double slower = known.version.certainty();
  choice.between_checks = between_checks(milliseconds * 1000, slower > suspicion);
  if (slower <= certainty)
    return;
  choice.decided.store(0, std::memory_order_release);
  choice.from_profile = false; // which says something else
  known.reverted = 1;
  log_line("chosen-again", fmt::format("\"kernel\":{},\"hash\":{},\"chosen\":\"original\"",
                                       json_text(code.table.kernel), json_text(code.table.hash)));
}

void lock_choices() { codes().mutex.lock(); }
void unlock_choices() { codes().mutex.unlock(); }

void write_results(bool at_end) {
  using Clock = std::chrono::steady_clock;
  const std::string &directory = configuration().results;
  if (directory.empty())
    return;
  static std::mutex one_at_a_time;
  static Clock::time_point next;
  const auto lock = lock_soon(one_at_a_time, at_end);
  const Clock::time_point begin = Clock::now();
  if (!lock || (!at_end && begin < next))
    return;
  std::string kept;
  for (unsigned i = 0; i < static_cast<unsigned>(Outcome::count); ++i)
    kept += fmt::format("{}{}:{}", i ? "," : "", json_text(name_of(static_cast<Outcome>(i))),
                        counted(static_cast<Outcome>(i)));
  // What was written before says more than nothing.
  static bool is_written = false;
  const std::optional<std::string> choices = results_text(at_end), kernels = watched_text();
  if (is_written && (!choices || !kernels))
    return;
  const std::string text =
      fmt::format("{{\"off\":{},\"outcomes\":{{{}}},\"choices\":[{}],\"kernels\":[{}]}}\n",
                  json_text(name_of(why_off())), kept, choices.value_or(""), kernels.value_or(""));
  is_written = replace_whole(fmt::format("{}/{}.json", directory, ::getpid()), text) || is_written;
  next = Clock::now() + 200 * (Clock::now() - begin);
}

} // namespace ptxasw::wrapper::launch
