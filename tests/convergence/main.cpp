// convergence --seed S --count N [--schedules N] [--write DIRECTORY]
//
// Loops in which lanes may get out of step (soundness.md, E1): where the tool lets a lane take its
// neighbour's value, no schedule of the warp emulator has all lanes of a warp active there in
// different iterations, and the rewritten kernel computes what the original does. Kernels whose
// lanes wait forever under some schedule are dropped. With --write the kernels and what is expected
// of them are left for device/run, many to a module.

#include "emulator/machine/warp_launch.h"
#include "loop_kernel.h"
#include "synth/rewrite.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <fmt/core.h>
#include <fstream>
#include <optional>
#include <string>

using namespace ptxasw::test;

namespace {

constexpr unsigned kernels_a_module = 100;

const std::string head = ".version 7.8\n.target sm_80\n.address_size 64\n";

struct Results {
  std::vector<std::uint8_t> out, flag;
};

/// What a kernel leaves under a schedule; nothing if it faults or never ends.
std::optional<Results> run(const WarpProgram &program, WarpSchedule policy, std::uint64_t seed) {
  constexpr std::uint64_t words = std::uint64_t{4} * 32;
  GlobalMemory memory;
  WarpLaunch launch;
  launch.block = {32, 1, 1};
  const std::uint32_t kernel = program.find_kernel("k").value();
  launch.parameters.resize(24);
  std::uint64_t places[3];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t index =
        memory.allocate(i == 0 ? "a" : "results", i == 0 ? loop_kernel_input : words,
                        i == 0 ? GlobalMemory::Fill::random : GlobalMemory::Fill::zeros, 7);
    places[i] = memory.allocations()[index].base;
    std::memcpy(launch.parameters.data() + 8 * i, &places[i], 8);
  }
  WarpOptions options;
  options.schedule = policy;
  options.seed = seed;
  options.step_limit = 200'000;
  if (run_kernel(program, kernel, launch, memory, options).fault)
    return std::nullopt;
  Results results{std::vector<std::uint8_t>(words), std::vector<std::uint8_t>(words)};
  memory.read(places[1], results.out);
  memory.read(places[2], results.flag);
  return results;
}

bool is_set(const std::vector<std::uint8_t> &bytes) {
  for (const std::uint8_t byte : bytes)
    if (byte != 0)
      return true;
  return false;
}

struct Totals {
  unsigned kernels = 0, dropped = 0, rewritten = 0, trapped = 0, wrong = 0;
};

} // namespace

int main(int argc, char **argv) try {
  std::uint64_t seed = 1, count = 300;
  std::string write;
  unsigned schedules = 24;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    if (option == "--seed")
      seed = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--count")
      count = std::strtoull(argv[i + 1], nullptr, 10);
    else if (option == "--schedules")
      schedules = static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    else if (option == "--write")
      write = argv[i + 1];
  }
  Totals totals;
  std::ofstream original, rewritten, trap, list;
  unsigned written = 0;
  const auto open = [&] {
    const std::string name = fmt::format("{}/{}", write, written / kernels_a_module);
    const auto start = [](std::ofstream &file, const std::string &path) {
      file.close();
      file.open(path);
      file << head << loop_functions;
    };
    start(original, name + ".original.ptx");
    start(rewritten, name + ".rewritten.ptx");
    start(trap, name + ".trap.ptx");
  };
  if (!write.empty()) {
    list.open(write + "/kernels.txt");
    if (!list) {
      fmt::print("cannot write to {}\n", write);
      return 2;
    }
  }

  RewriteOptions options;
  options.shuffle = ShuffleMode::always;
  for (std::uint64_t s = seed; s < seed + count; ++s) {
    const LoopKernel kernel = loop_kernel(s, "k");
    const std::string text = head + loop_functions + kernel.original,
                      with_trap = head + loop_functions + kernel.trap;
    const auto module = parse(text, "loops.ptx");
    const auto trap_module = parse(with_trap, "trap.ptx");
    const auto result = rewrite_module(text, "loops.ptx", options);
    if (!module || !trap_module || !result) {
      fmt::print("seed {}: not PTX\n{}", s, text);
      return 2;
    }
    ++totals.kernels;
    const auto changed = parse(result->text, "rewritten.ptx");
    const WarpProgram program(**module), trap_program(**trap_module), other(**changed);
    bool ends = true, trapped = false;
    std::string wrong;
    std::optional<Results> reference;
    for (unsigned i = 0; i < schedules && ends; ++i) {
      const WarpSchedule policy = i == 0   ? WarpSchedule::reconverge
                                  : i == 1 ? WarpSchedule::apart
                                           : WarpSchedule::random;
      const auto results = run(program, policy, i), traps = run(trap_program, policy, i);
      ends = results && traps;
      if (!ends)
        break;
      if (!reference)
        reference = results;
      trapped |= is_set(traps->flag);
      if (!result->changed)
        continue;
      if (is_set(traps->flag))
        wrong = fmt::format("lanes are out of step under schedule {}", i);
      if (const auto got = run(other, policy, i); !got || got->out != reference->out)
        wrong = fmt::format("the rewritten kernel computes something else under schedule {}", i);
    }
    if (!ends) {
      ++totals.dropped;
      continue;
    }
    totals.rewritten += result->changed;
    totals.trapped += trapped;
    if (!wrong.empty()) {
      ++totals.wrong;
      fmt::print("seed {}: {}\n{}\n{}", s, wrong, text, result->text);
    }
    if (write.empty())
      continue;
    if (written++ % kernels_a_module == 0) {
      --written;
      open();
      ++written;
    }
    const std::string name = fmt::format("k{}", s);
    const LoopKernel named = loop_kernel(s, name);
    original << named.original;
    trap << named.trap;
    const auto again = rewrite_module(head + loop_functions + named.original, "loops.ptx", options);
    rewritten << std::string_view(again->text).substr(again->text.find(".visible"));
    list << (written - 1) / kernels_a_module << " " << name << " " << result->changed << " "
         << trapped << "\n";
  }
  fmt::print(
      "{} kernels, {} of them dropped because lanes wait forever, {} rewritten; {} get out of "
      "step under some schedule; {} wrong\n",
      totals.kernels, totals.dropped, totals.rewritten, totals.trapped, totals.wrong);
  return totals.wrong != 0 || totals.rewritten == 0 || totals.trapped == 0;
} catch (const std::exception &error) {
  fmt::print("{}\n", error.what());
  return 2;
}
