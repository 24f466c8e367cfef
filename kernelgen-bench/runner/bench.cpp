// Timing. A difference of one per cent between two variants is what this bench has to see, so:
//
//   - the variants of a case are interleaved, one launch each in turn, starting with another one
//     each round: clocks and temperature drift over all of them alike;
//   - each launch is timed by its own pair of events, and medians and quartiles are reported;
//   - no launch finds its data in the L2: where the buffers of a case are smaller than four times
//     the L2, several sets of them are used in turn.
//
// Bits are compared in images of their own, assembled without contraction: PTX leaves it to ptxas
// which of two products a multiplication, multiplication and subtraction it fuses, and ptxas
// chooses again when the surrounding code changes.
#include "runner/bench.h"

#include "runner/check.h"

#include <algorithm>

namespace kernelgen {
namespace {

struct Loaded {
  Handle module = nullptr;
  Handle function = nullptr;
};

/// One variant of a case: the image that is timed, and the one without contraction if it is valid.
struct Images {
  Loaded timed, exact;
};

bool wanted(const std::vector<std::string> &names, const std::string &name) {
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

constexpr int warm_up_launches = 3;
constexpr int most_buffer_sets = 64;

/// One case under construction.
class Case {
public:
  Case(Driver &driver, Tools &tools, const Suite &suite, const Kernel &kernel, const Plan &plan,
       std::array<unsigned, 2> block, const Progress &progress)
      : driver_(driver), tools_(tools), suite_(suite), kernel_(kernel), plan_(plan),
        progress_(progress) {
    result_.kernel = &kernel;
    result_.extents = find_size(kernel, plan.size);
    result_.launch = launch_for(kernel, result_.extents, block);
    result_.compulsory_bytes = bytes_compulsory(kernel, result_.extents);
    block_ = block;
  }

  ~Case() {
    for (const Images &images : loaded_)
      for (const Loaded &loaded : {images.timed, images.exact}) {
        try {
          if (loaded.module)
            driver_.unload(loaded.module);
        } catch (const DriverError &) {
          // As for the buffers: the context is gone, and everything in it.
        }
      }
  }

  CaseResult run() {
    load();
    bool go_on = true;
    if (plan_.profile) {
      profile();
      return std::move(result_);
    }
    if (plan_.check) {
      go_on = step("check") && check(find_size(kernel_, "check"), true);
      go_on = go_on && step("check at size") && check(result_.extents, false);
    }
    if (go_on && plan_.launches > 0)
      time();
    return std::move(result_);
  }

private:
  bool step(const std::string &what) {
    return progress_(kernel_.name + " " + std::to_string(result_.launch.block[0]) + "x" +
                     std::to_string(result_.launch.block[1]) + " " + what);
  }

  void load() {
    const unsigned threads = result_.launch.block[0] * result_.launch.block[1];
    result_.variants.reserve(suite_.variants.size());
    loaded_.reserve(suite_.variants.size());
    for (const Variant &variant : suite_.variants) {
      const auto image = kernel_.images.find(variant.name);
      // The original is always there: it is what all others are compared with.
      const bool use = wanted(plan_.variants, variant.name) || variant.name == original;
      if (!use || image == kernel_.images.end())
        continue;
      VariantResult entry;
      entry.name = variant.name;
      Images images;
      try {
        load(images.timed, image->second);
        entry.function = driver_.function_facts(images.timed.function, threads);
        const auto exact = kernel_.exact_images.find(variant.name);
        if (variant.valid && plan_.check && exact == kernel_.exact_images.end())
          entry.error = "no image without contraction to compare";
        else if (variant.valid && plan_.check)
          load(images.exact, exact->second);
        if (entry.function.blocks_per_multiprocessor == 0)
          entry.error = "a block of " + std::to_string(threads) + " threads does not fit";
      } catch (const DriverError &error) {
        entry.error = error.what();
      }
      result_.variants.push_back(std::move(entry));
      loaded_.push_back(images);
    }
  }

  void load(Loaded &loaded, const std::string &image) {
    loaded.module = driver_.load(read_file(suite_.folder / image));
    loaded.function = driver_.function(loaded.module, kernel_.entry);
  }

  bool valid(std::size_t n) const {
    for (const Variant &variant : suite_.variants)
      if (variant.name == result_.variants[n].name)
        return variant.valid;
    return false;
  }

  /// Compares at one size; true to go on.
  bool check(const Extents &extents, bool with_reference) {
    if (result_.variants.empty() || !result_.variants[0].error.empty())
      return true;
    const Launch launch = launch_for(kernel_, extents, block_);
    if (with_reference) {
      const Expected expected(kernel_, extents);
      for (std::size_t n = 0; n < loaded_.size(); n++)
        if (valid(n) && result_.variants[n].error.empty())
          result_.variants[n].reference_error =
              expected.error(driver_, tools_, loaded_[n].timed.function, launch);
    }
    if (!with_reference && driver_.free_memory() < 2 * bytes_allocated(kernel_, extents) + margin)
      return true; // no room for the original's results beside the variant's
    Workload expected(driver_, tools_, kernel_, extents);
    Workload found(driver_, tools_, kernel_, extents);
    compare(expected, found, launch, &Images::exact, &VariantResult::exact_words_differ);
    compare(expected, found, launch, &Images::timed, &VariantResult::words_differ);
    return true;
  }

  /// Adds to `counts` of every valid variant the words in which one of its images differs from the
  /// same image of the original.
  void compare(Workload &expected, Workload &found, const Launch &launch, Loaded Images::*image,
               std::optional<std::uint64_t> VariantResult::*counts) {
    expected.reset();
    expected.launch((loaded_[0].*image).function, launch);
    for (std::size_t n = 1; n < loaded_.size(); n++) {
      VariantResult &variant = result_.variants[n];
      if (!valid(n) || !variant.error.empty())
        continue;
      found.reset();
      found.launch((loaded_[n].*image).function, launch);
      variant.*counts = (variant.*counts).value_or(0) + found.compare(expected);
    }
  }

  void profile() {
    Workload workload(driver_, tools_, kernel_, result_.extents);
    for (std::size_t n = 0; n < loaded_.size(); n++) {
      // Only what was asked for: the profiler's file is named after the variant.
      if (!wanted(plan_.variants, result_.variants[n].name) || !result_.variants[n].error.empty())
        continue;
      workload.launch(loaded_[n].timed.function, result_.launch);
      driver_.synchronize();
    }
  }

  void time() {
    const std::size_t bytes = bytes_allocated(kernel_, result_.extents);
    const std::size_t beyond_cache = 4 * driver_.facts().l2_bytes;
    result_.buffer_sets = static_cast<int>(
        std::clamp<std::size_t>((beyond_cache + bytes - 1) / bytes, 1, most_buffer_sets));
    std::vector<std::unique_ptr<Workload>> sets;
    for (int n = 0; n < result_.buffer_sets; n++)
      sets.push_back(std::make_unique<Workload>(driver_, tools_, kernel_, result_.extents));

    const Handle start = driver_.create_event(), end = driver_.create_event();
    std::size_t next_set = 0;
    const std::size_t variants = loaded_.size();
    for (int round = -warm_up_launches; round < plan_.launches; round++) {
      if (!step(round < 0
                    ? "warm-up"
                    : "launch " + std::to_string(round + 1) + "/" + std::to_string(plan_.launches)))
        return;
      for (std::size_t turn = 0; turn < variants; turn++) {
        const std::size_t n =
            (turn + static_cast<std::size_t>(round + warm_up_launches)) % variants;
        if (!result_.variants[n].error.empty())
          continue;
        Workload &workload = *sets[next_set++ % sets.size()];
        driver_.record(start);
        workload.launch(loaded_[n].timed.function, result_.launch);
        driver_.record(end);
        const double milliseconds = driver_.elapsed(start, end);
        if (round >= 0)
          result_.variants[n].milliseconds.push_back(milliseconds);
      }
    }
  }

  static constexpr const char *original = "original";
  static constexpr std::size_t margin = std::size_t{256} << 20;

  Driver &driver_;
  Tools &tools_;
  const Suite &suite_;
  const Kernel &kernel_;
  const Plan &plan_;
  const Progress &progress_;
  std::array<unsigned, 2> block_{};
  std::vector<Images> loaded_;
  CaseResult result_;
};

} // namespace

CaseResult run_case(Driver &driver, Tools &tools, const Suite &suite, const Kernel &kernel,
                    const Plan &plan, std::array<unsigned, 2> block, const Progress &progress) {
  return Case(driver, tools, suite, kernel, plan, block, progress).run();
}

bool passed(const Suite &suite, const CaseResult &result) {
  for (const VariantResult &variant : result.variants) {
    if (!variant.error.empty() || variant.exact_words_differ.value_or(0) != 0)
      return false;
    if (variant.reference_error && !(*variant.reference_error <= result.kernel->tolerance))
      return false;
  }
  return !suite.kernels.empty();
}

} // namespace kernelgen
