// Measures the constants of the cost model on the GPU of this machine: latencies by chains and
// pointer chases, rates of a multiprocessor by the cycles that one block takes, what the whole GPU
// shares by events around launches. Each number is taken several times; median, least and most of
// them are written. Needs the CUDA driver and the cubin of probe.cu.

#include "runner/driver.h"
#include "runner/results.h"
#include "runner/suite.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

namespace {

using namespace kernelgen;
using Json = nlohmann::ordered_json;

constexpr std::size_t window_bytes = std::size_t{1} << 30;

class Probe {
public:
  Probe(Driver &driver, const std::string &image, int rounds)
      : driver_(driver), module_(driver.load(image)), rounds_(rounds),
        start_(driver.create_event()), end_(driver.create_event()),
        memory_(driver.allocate(window_bytes)), second_(driver.allocate(window_bytes)),
        cycles_(driver.allocate(1 << 20)), sink_(driver.allocate(64)) {}

  Json run() {
    multiprocessors_ = static_cast<unsigned>(driver_.facts().multiprocessors);
    clock();
    latencies();
    rates();
    caches();
    memory();
    blocks();
    return std::move(results_);
  }

private:
  using Arguments = std::vector<void *>;

  void record(const std::string &name, const std::string &unit, std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    results_[name] = {{"unit", unit},
                      {"median", quantile(samples, 0.5)},
                      {"least", samples.front()},
                      {"most", samples.back()},
                      {"samples", samples.size()}};
    fmt::print("{:<34} {:>12.4f} {}  ({:.4f} to {:.4f})\n", name, quantile(samples, 0.5), unit,
               samples.front(), samples.back());
  }

  /// `sample` as often as there are rounds, after one that does not count.
  void measure(const std::string &name, const std::string &unit,
               const std::function<double()> &sample) {
    sample();
    std::vector<double> samples;
    for (int round = 0; round < rounds_; round++)
      samples.push_back(sample());
    record(name, unit, std::move(samples));
  }

  void launch(const std::string &name, unsigned blocks, unsigned threads, Arguments arguments) {
    auto [found, is_new] = functions_.try_emplace(name, nullptr);
    if (is_new)
      found->second = driver_.function(module_, name);
    Launch at;
    at.grid[0] = blocks;
    at.block[0] = threads;
    driver_.launch(found->second, at, arguments);
  }

  /// Nanoseconds of a launch.
  double timed(const std::string &name, unsigned blocks, unsigned threads, Arguments arguments) {
    driver_.record(start_);
    launch(name, blocks, threads, std::move(arguments));
    driver_.record(end_);
    return driver_.elapsed(start_, end_) * 1e6;
  }

  /// What block 0 wrote.
  double cycles() {
    std::uint64_t value = 0;
    driver_.copy_to_host(&value, cycles_, sizeof value);
    return static_cast<double>(value);
  }

  void clock() {
    measure("clock", "MHz", [&] {
      DevicePointer nanoseconds = cycles_ + 8;
      launch("probe_clock", 1, 1, {&cycles_, &nanoseconds});
      std::uint64_t values[2];
      driver_.copy_to_host(values, cycles_, sizeof values);
      clock_ = static_cast<double>(values[0]) / static_cast<double>(values[1]);
      return 1e3 * clock_;
    });
  }

  /// Cycles of a load that waits for the one before: nodes `stride` apart, `count` of them, in an
  /// order that a step of `step` nodes gives.
  void chase(const std::string &name, const char *kernel, std::uint64_t count, std::uint64_t stride,
             std::uint64_t step, int warm, int steps) {
    launch("probe_link", 4 * multiprocessors_, 256, {&memory_, &count, &stride, &step});
    std::uint64_t begin = 0;
    measure(name, "cycles", [&] {
      // Every sample starts elsewhere: what an earlier one read may be in the L2.
      DevicePointer from = memory_ + begin * stride;
      begin = (begin + step * 17 + 1) % count;
      launch(kernel, 1, 1, {&from, &warm, &steps, &cycles_, &sink_});
      return cycles() / steps;
    });
  }

  void latencies() {
    chase("latency.l1", "probe_chase_l1", 64, 128, 1, 64, 4096);
    chase("latency.l2", "probe_chase_l2", 1 << 14, 512, 4099, 1 << 14, 1 << 14);
    chase("latency.dram", "probe_chase_l2", 1 << 21, 512, 700001, 0, 4096);
    for (std::uint64_t kib : {64u, 128u, 160u, 192u, 208u, 224u, 240u, 256u, 288u}) {
      const auto nodes = kib * 8; // of 128 bytes
      chase(fmt::format("latency.window{}k", kib), "probe_chase_l1", nodes, 128, 1,
            static_cast<int>(nodes), static_cast<int>(2 * nodes));
    }
    int steps = 1024;
    measure("latency.shared", "cycles", [&] {
      launch("probe_chase_shared", 1, 32, {&steps, &cycles_, &sink_});
      return cycles() / steps;
    });
    for (const char *what : {"fma", "mad", "special", "shfl", "double"})
      measure(std::string("latency.") + what, "cycles", [&] {
        std::uint64_t value = 0; // as wide as any of them
        launch(std::string("probe_chain_") + what, 1, 32, {&value, &steps, &cycles_, &sink_});
        return cycles() / steps / 16;
      });
  }

  /// Cycles of a multiprocessor for one instruction of one warp, with 32 warps at work.
  void rate(const std::string &name, const std::string &kernel, Arguments before) {
    int steps = 128;
    constexpr unsigned threads = 1024;
    measure(name, "cycles a warp instruction", [&] {
      Arguments arguments = before;
      arguments.insert(arguments.end(), {&steps, &cycles_});
      if (kernel != "probe_rate_store")
        arguments.push_back(&sink_);
      launch(kernel, 1, threads, std::move(arguments));
      return cycles() / steps / 16 / (threads / 32);
    });
  }

  void rates() {
    unsigned mask = 0x4000, shared_mask = 0x800;
    std::uint64_t value = 0;
    for (const char *what : {"fma", "mad", "add", "special", "shfl", "double", "divide", "root",
                             "divide_integer", "divide_long", "divide_double", "convert"})
      rate(std::string("rate.") + what, std::string("probe_rate_") + what, {&value});
    rate("rate.shared", "probe_rate_shared", {&shared_mask});
    for (const char *width : {"32", "64", "128"})
      for (unsigned stride : {0u, 4u, 8u, 16u, 32u, 36u, 64u, 68u, 128u, 132u, 256u, 260u}) {
        if (stride % (std::stoul(width) / 8) != 0)
          continue;
        rate(fmt::format("rate.load{}.stride{}", width, stride),
             std::string("probe_rate_load") + width, {&memory_, &mask, &stride});
      }
    for (unsigned stride : {0u, 4u, 8u, 16u, 32u, 128u})
      rate(fmt::format("rate.store32.stride{}", stride), "probe_rate_store",
           {&memory_, &mask, &stride});
  }

  void caches() {
    std::uint64_t count = 0;
    int passes = 0;
    const auto bytes_per_clock = [&](unsigned blocks, unsigned threads) {
      const double ns = timed("probe_l2", blocks, threads, {&memory_, &count, &passes, &sink_});
      return static_cast<double>(count) * 16 * passes / ns / clock_;
    };
    for (std::uint64_t mib : {12u, 24u, 32u, 40u, 48u, 56u, 64u, 96u}) {
      count = (mib << 20) / 16;
      passes = static_cast<int>(480 / mib);
      measure(fmt::format("l2.bytes.{}mb", mib), "bytes a cycle",
              [&] { return bytes_per_clock(2 * multiprocessors_, 1024); });
    }
    count = (12 << 20) / 16;
    passes = 20;
    // Four loads of 16 bytes per lane in flight.
    for (unsigned warps : {1u, 2u, 4u, 8u, 16u, 32u})
      measure(fmt::format("l2.flight.{}", warps * 32 * 64), "bytes a cycle",
              [&] { return bytes_per_clock(multiprocessors_, warps * 32); });
    count = (1 << 20) / 16;
    measure("l2.bytes.multiprocessor", "bytes a cycle", [&] { return bytes_per_clock(1, 1024); });
  }

  void memory() {
    std::uint64_t count = window_bytes / 16;
    const auto bytes = static_cast<double>(window_bytes);
    const unsigned full = 2 * multiprocessors_;
    measure("dram.read", "bytes a ns", [&] {
      return bytes / timed("probe_read", full, 1024, {&memory_, &count, &sink_});
    });
    measure("dram.write", "bytes a ns", [&] {
      return bytes / timed("probe_write", full, 1024, {&second_, &count});
    });
    measure("dram.copy", "bytes a ns", [&] {
      return 2 * bytes / timed("probe_copy", full, 1024, {&memory_, &second_, &count});
    });
    for (unsigned stride : {32u, 64u, 128u, 256u}) {
      std::uint64_t values = window_bytes / stride;
      measure(fmt::format("dram.sparse{}", stride), "ns a value", [&] {
        return timed("probe_sparse", full, 1024, {&memory_, &values, &stride, &sink_}) /
               static_cast<double>(values);
      });
      measure(fmt::format("dram.sparse_write{}", stride), "ns a value", [&] {
        return timed("probe_sparse_write", full, 1024, {&second_, &values, &stride}) /
               static_cast<double>(values);
      });
    }
    // Bytes in flight against bandwidth: this many warps per multiprocessor, 16 bytes per lane.
    for (unsigned warps : {1u, 2u, 4u, 8u, 12u, 16u, 24u, 32u, 48u, 64u})
      measure(fmt::format("flight.{}", warps * 32 * 16), "bytes a ns", [&] {
        return bytes / timed("probe_read", (warps > 32 ? 2 : 1) * multiprocessors_,
                             warps > 32 ? warps * 16 : warps * 32, {&memory_, &count, &sink_});
      });
  }

  void blocks() {
    measure("launch", "ns", [&] { return timed("probe_empty", 1, 32, {}); });
    for (unsigned threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
      const unsigned blocks = (1u << 22) / (threads / 32);
      measure(fmt::format("start.{}", threads), "ns a block",
              [&] { return timed("probe_empty", blocks, threads, {}) / blocks; });
      // Blocks that stay a while: what passes between the end of one and the work of the next.
      const unsigned resident = std::min(32u, 2048 / threads) * multiprocessors_;
      std::uint64_t stay = 20000;
      constexpr unsigned waves = 30;
      measure(fmt::format("turnover.{}", threads), "cycles", [&] {
        const double more = timed("probe_stay", (waves + 1) * resident, threads, {&stay});
        const double less = timed("probe_stay", resident, threads, {&stay});
        return (more - less) * clock_ / waves - static_cast<double>(stay);
      });
      const unsigned elements = 1u << 27;
      const DevicePointer half = memory_ + window_bytes / 2, third = second_ + window_bytes / 2;
      DevicePointer b = half, c = third;
      measure(fmt::format("stream1.{}", threads), "bytes a ns", [&] {
        return 8.0 * elements /
               timed("probe_stream1", elements / threads, threads, {&memory_, &second_});
      });
      measure(fmt::format("stream3.{}", threads), "bytes a ns", [&] {
        return 16.0 * elements /
               timed("probe_stream3", elements / threads, threads, {&memory_, &b, &c, &second_});
      });
    }
  }

  Driver &driver_;
  Handle module_;
  int rounds_;
  Handle start_, end_;
  DevicePointer memory_, second_, cycles_, sink_;
  unsigned multiprocessors_ = 0;
  double clock_ = 0; ///< GHz
  std::map<std::string, Handle> functions_;
  Json results_;
};

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d", &parts)};
}

} // namespace

int main(int argc, char **argv) {
  CLI::App app{"Measures the constants of the cost model on a CUDA device."};
  std::string image = "probe.cubin", out;
  int device = 0, rounds = 9;
  app.add_option("cubin", image, "what nvcc made of probe.cu (default probe.cubin)");
  app.add_option("--out", out, "results file, JSON")->required();
  app.add_option("--device", device, "ordinal of the CUDA device")->check(CLI::NonNegativeNumber);
  app.add_option("--rounds", rounds, "samples of each number (default 9)")
      ->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    Driver driver(device);
    const DeviceFacts &facts = driver.facts();
    Json json{{"date", today()},
              {"device", facts.name},
              {"multiprocessors", facts.multiprocessors},
              {"l2_bytes", facts.l2_bytes},
              {"driver_version", facts.driver_version}};
    json["constants"] = Probe(driver, read_file(image), rounds).run();
    std::ofstream file(out);
    file << json.dump(1) << '\n';
    file.close();
    if (!file)
      throw std::runtime_error("cannot write " + out);
    return 0;
  } catch (const NoDevice &error) {
    fmt::print(stderr, "probe: {}\n", error.what());
    return 3;
  } catch (const std::exception &error) {
    fmt::print(stderr, "probe: {}\n", error.what());
    return 1;
  }
}
