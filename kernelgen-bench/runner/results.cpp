#include "runner/results.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kernelgen {
namespace {

using Json = nlohmann::ordered_json;

Json describe(const DeviceFacts &device) {
  return {{"name", device.name},
          {"compute_capability", std::to_string(device.major) + "." + std::to_string(device.minor)},
          {"multiprocessors", device.multiprocessors},
          {"threads_per_multiprocessor", device.threads_per_multiprocessor},
          {"clock_khz", device.clock_khz},
          {"memory_clock_khz", device.memory_clock_khz},
          {"bus_bits", device.bus_bits},
          {"l2_bytes", device.l2_bytes},
          {"memory_bytes", device.memory_bytes},
          {"driver_version", device.driver_version}};
}

Json describe(const VariantResult &variant, const CaseResult &result, const DeviceFacts &device,
              double original_median, double copy_bandwidth) {
  Json json{{"name", variant.name}};
  if (!variant.error.empty()) {
    json["error"] = variant.error;
    return json;
  }
  const unsigned threads = result.launch.block[0] * result.launch.block[1];
  json["registers"] = variant.function.registers;
  json["local_bytes"] = variant.function.local_bytes;
  json["occupancy"] = static_cast<double>(variant.function.blocks_per_multiprocessor) * threads /
                      std::max(1, device.threads_per_multiprocessor);
  if (variant.exact_words_differ)
    json["words_different_without_contraction"] = *variant.exact_words_differ;
  if (variant.words_differ)
    json["words_different_as_timed"] = *variant.words_differ;
  if (variant.reference_error)
    json["reference_error"] = *variant.reference_error;
  if (variant.milliseconds.empty())
    return json;
  const auto &samples = variant.milliseconds;
  const double median = quantile(samples, 0.5);
  json["median_ms"] = median;
  json["first_quartile_ms"] = quantile(samples, 0.25);
  json["third_quartile_ms"] = quantile(samples, 0.75);
  json["minimum_ms"] = quantile(samples, 0);
  json["maximum_ms"] = quantile(samples, 1);
  if (original_median > 0 && median > 0)
    json["speedup"] = original_median / median;
  if (median > 0)
    json["compulsory_gigabytes_per_second"] =
        static_cast<double>(result.compulsory_bytes) / median * 1e-6;
  if (median > 0 && copy_bandwidth > 0)
    json["fraction_of_copy"] =
        static_cast<double>(result.compulsory_bytes) / median * 1e-6 / copy_bandwidth;
  json["samples_ms"] = samples;
  return json;
}

Json describe(const CaseResult &result, const DeviceFacts &device, double copy_bandwidth) {
  Json json{{"kernel", result.kernel->name},
            {"extents", result.extents},
            {"block", {result.launch.block[0], result.launch.block[1]}},
            {"grid", result.launch.grid},
            {"compulsory_bytes", result.compulsory_bytes},
            {"buffer_sets", result.buffer_sets}};
  const double original =
      result.variants.empty() ? 0 : quantile(result.variants[0].milliseconds, 0.5);
  json["variants"] = Json::array();
  for (const VariantResult &variant : result.variants)
    json["variants"].push_back(describe(variant, result, device, original, copy_bandwidth));
  return json;
}

} // namespace

double quantile(std::vector<double> samples, double q) {
  if (samples.empty())
    return 0;
  std::sort(samples.begin(), samples.end());
  const double at = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (at - static_cast<double>(below)) * (samples[above] - samples[below]);
}

void write_results(const std::filesystem::path &path, const Suite &suite, const Plan &plan,
                   const DeviceFacts &device, const RunFacts &facts,
                   const std::vector<CaseResult> &cases) {
  Json json{{"date", facts.date},
            {"complete", facts.complete},
            {"device", describe(device)},
            {"target", suite.target},
            {"size", plan.size},
            {"launches", plan.launches},
            {"copy_gigabytes_per_second", facts.copy_gigabytes_per_second},
            {"static", Json::parse(suite.static_facts)}};
  json["cases"] = Json::array();
  for (const CaseResult &result : cases)
    json["cases"].push_back(describe(result, device, facts.copy_gigabytes_per_second));

  if (path.has_parent_path())
    std::filesystem::create_directories(path.parent_path());
  std::filesystem::path temporary = path;
  temporary += ".part";
  std::ofstream out(temporary);
  out << json.dump(1) << '\n';
  out.close();
  if (!out)
    throw std::runtime_error("cannot write " + temporary.string());
  std::filesystem::rename(temporary, path);
}

} // namespace kernelgen
