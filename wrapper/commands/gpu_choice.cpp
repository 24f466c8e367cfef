// A probe's file has the constants under the names that analysis/cost/gpu.cpp gives in its
// comments; the sizes of the caches are read off its windows by the same rule.

#include "wrapper/commands/gpu_choice.h"

#include "analysis/architecture.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <charconv>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

std::string known_gpus() {
  std::string list;
  for (const cost::Gpu &gpu : cost::gpus())
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", gpu.name, gpu.target);
  list += ", which were measured";
  for (const cost::DocumentedGpu &gpu : cost::documented_gpus())
    list += fmt::format(", {} ({})", gpu.name, gpu.target);
  return list;
}

/// `multiprocessors=84,clock=1.86,bandwidth=936,l2=6`, each once.
tl::expected<cost::Gpu, std::string> from_numbers(const std::string &asked,
                                                  const std::string &target) {
  cost::DocumentedGpu gpu;
  gpu.target = target;
  double multiprocessors = 0;
  const std::pair<std::string_view, double *> fields[] = {{"multiprocessors", &multiprocessors},
                                                          {"clock", &gpu.clock},
                                                          {"bandwidth", &gpu.bandwidth},
                                                          {"l2", &gpu.l2_mib}};
  std::istringstream words(asked);
  for (std::string word; std::getline(words, word, ',');) {
    const std::size_t equal = std::min(word.find('='), word.size());
    const auto field = std::find_if(std::begin(fields), std::end(fields), [&](const auto &one) {
      return word.compare(0, equal, one.first) == 0;
    });
    const char *const begin = word.data() + std::min(equal + 1, word.size());
    const char *const end = word.data() + word.size();
    double number = 0;
    if (field == std::end(fields) || *field->second != 0 || begin == end ||
        std::from_chars(begin, end, number).ptr != end || !(number > 0) || number > 1e6)
      return tl::unexpected(fmt::format("--gpu: `{}`: expected multiprocessors=, clock= (GHz), "
                                        "bandwidth= (GB/s) and l2= (MiB), each a number above 0",
                                        word));
    *field->second = number;
  }
  for (const auto &[name, value] : fields)
    if (*value == 0)
      return tl::unexpected(fmt::format("--gpu: `{}=` is missing", name));
  gpu.multiprocessors = static_cast<unsigned>(multiprocessors);
  if (gpu.multiprocessors != multiprocessors)
    return tl::unexpected(
        fmt::format("--gpu: {} multiprocessors are no whole number", multiprocessors));
  const std::string name = fmt::format("a GPU of {} multiprocessors", gpu.multiprocessors);
  gpu.name = name;
  auto made = gpu.multiprocessors > 0 ? cost::gpu_of(gpu) : std::nullopt;
  if (!made)
    return tl::unexpected(fmt::format(
        "--gpu: nothing is known of the architecture `{}`; --arch names another one", target));
  return *std::move(made);
}

/// A number of the probe with its least and most.
cost::Measured measured(const Json &constants, const std::string &name, double scale = 1) {
  const Json &one = constants.at(name);
  return {one.at("median").get<double>() * scale, one.at("least").get<double>() * scale,
          one.at("most").get<double>() * scale};
}

/// Half-way from the largest window of the L2 at nearly full speed to the next one, at most all.
double l2_of(const Json &probe) {
  const Json &constants = probe.at("constants");
  const double all = probe.at("l2_bytes").get<double>() / (1 << 20);
  std::vector<std::pair<unsigned, double>> windows;
  double fastest = 0;
  for (const auto &[name, value] : constants.items()) {
    unsigned size = 0;
    const std::string_view text = name;
    if (text.starts_with("l2.bytes.") &&
        std::from_chars(text.data() + 9, text.data() + text.size(), size).ec == std::errc{}) {
      windows.emplace_back(size, value.at("median").get<double>());
      fastest = std::max(fastest, windows.back().second);
    }
  }
  std::sort(windows.begin(), windows.end());
  double result = all;
  for (std::size_t i = 0; i + 1 < windows.size(); ++i)
    if (windows[i].second > 0.9 * fastest)
      result = (windows[i].first + windows[i + 1].first) / 2.0;
  return std::min(result, all);
}

cost::Gpu from_probe(const Json &probe, const std::string &target) {
  const Json &constants = probe.at("constants");
  const auto of = [&](const char *name, double scale = 1) {
    return measured(constants, name, scale);
  };
  cost::Gpu gpu;
  gpu.name = probe.at("device").get<std::string>();
  gpu.target = target;
  gpu.date = probe.at("date").get<std::string>();
  gpu.multiprocessors = probe.at("multiprocessors").get<unsigned>();
  gpu.l1_kib = find_architecture(target)->l1 / 1024.0;
  gpu.l2_mib = l2_of(probe);
  gpu.clock = of("clock", 1e-3);
  gpu.latency_l1 = of("latency.l1");
  gpu.latency_l2 = of("latency.l2");
  gpu.latency_dram = of("latency.dram");
  gpu.l2_bytes = of("l2.bytes.24mb");
  gpu.l2_bytes_each = of("l2.bytes.multiprocessor");
  gpu.dram_read = of("dram.read");
  gpu.dram_copy = of("dram.copy");
  gpu.partial_writes = of("dram.sparse_write32");
  gpu.late_read = of("dram.sparse256");
  gpu.late_write = of("dram.sparse_write256");
  gpu.block_start = of("start.64");
  gpu.turnover = of("turnover.512");
  // It was fitted for the GPUs that are known, to about the same: the mean.
  for (const cost::Gpu &known : cost::gpus())
    gpu.turnover_of_warp += known.turnover_of_warp / static_cast<double>(cost::gpus().size());
  gpu.launch = of("launch");
  return gpu;
}

} // namespace

tl::expected<cost::Gpu, std::string> choose_gpu(const std::string &asked,
                                                const std::string &target) {
  const std::string &name = asked.empty() ? target : asked;
  if (const cost::Gpu *known = cost::find_gpu(name))
    return *known;
  if (const cost::DocumentedGpu *known = cost::find_documented_gpu(name))
    return *cost::gpu_of(*known);
  if (asked.find('=') != std::string::npos)
    return from_numbers(asked, target);
  if (!asked.ends_with(".json"))
    return tl::unexpected(fmt::format("no GPU that is `{}` is known; there are {}; or a file of "
                                      "kernelgen-bench/probe, or --gpu "
                                      "multiprocessors=84,clock=1.86,bandwidth=936,l2=6",
                                      name, known_gpus()));
  const auto text = read_regular_file(asked);
  if (!text)
    return tl::unexpected(fmt::format("cannot read `{}`", asked));
  if (!find_architecture(target))
    return tl::unexpected(fmt::format(
        "--gpu: nothing is known of the architecture `{}`; --arch names another one", target));
  try {
    const cost::Gpu gpu = from_probe(Json::parse(*text), target);
    if (gpu.multiprocessors > 0 && gpu.clock.value > 0 && gpu.dram_read.value > 0)
      return gpu;
    return tl::unexpected(fmt::format("`{}` has a zero where the probe has none", asked));
  } catch (const Json::exception &error) {
    return tl::unexpected(
        fmt::format("`{}` is no file of kernelgen-bench/probe: {}", asked, error.what()));
  }
}

} // namespace ptxasw::wrapper
