// An observer of the machine turns instructions into the steps that a walk would make: one for each
// time that lanes come to a piece of code. Addresses are taken from the registers. Parameters that
// stand for buffers get memory around where they point to.

#include "analysis/cost/warp_runs.h"

#include "emulator/machine/warp_launch.h"
#include "emulator/semantics/banks.h"
#include "emulator/semantics/scramble.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::analysis::cost {
namespace {

/// Thread-instructions of a run, and bytes of the emulation.
constexpr std::uint64_t most_steps = 1 << 25, most_bytes = 1 << 29;
/// Bytes between two buffers; each reaches a quarter of that to both sides of its pointer.
constexpr unsigned buffer_distance_bits = 40;
constexpr std::uint64_t buffer_half = std::uint64_t{1} << (buffer_distance_bits - 2);
/// Of which a launch is counted: so many threads, or blocks if they are large.
constexpr std::uint64_t threads_counted = 1 << 14, blocks_counted = 16;

class StepRecorder : public WarpObserver {
public:
  StepRecorder(const Kernel &kernel, std::uint32_t function, const Extents &grid, bool records)
      : function_(function), grid_(grid), records_(records),
        at_(kernel.function().instructions.size()) {
    for (const CodeBlock &block : kernel.blocks()) {
      at_[kernel.cfg().blocks()[block.id].first].begins = &block;
      for (const Access &access : block.accesses)
        at_[access.instruction].access = {access.instruction, access.traffic, access.bytes, false};
      for (const UnreadAccess &access : block.unread)
        at_[access.instruction].access = access;
    }
  }

  void before(const WarpStep &step) override {
    const std::uint32_t source = step.instruction->source;
    seen_ = scramble(seen_ ^ (std::uint64_t{step.function} << 52) ^ (std::uint64_t{source} << 32) ^
                     step.lanes);
    if (step.function != function_)
      return;
    const Place &place = at_[source];
    std::vector<RecordedStep> *steps = nullptr;
    if (records_ && (place.begins || place.access.bytes != 0))
      steps =
          &runs.steps[{step.block[0] + std::uint64_t{grid_.x} *
                                           (step.block[1] + std::uint64_t{grid_.y} * step.block[2]),
                       step.warp}];
    if (steps && place.begins)
      steps->push_back({1, place.begins, false, {}, 0});
    if (place.access.bytes != 0)
      access(step, place.access, steps);
  }

  std::uint64_t seen() const { return seen_; }
  WarpRuns runs;

private:
  struct Place {
    const CodeBlock *begins = nullptr; ///< the piece of code that begins here
    UnreadAccess access;               ///< without bytes: none
  };

  void access(const WarpStep &step, const UnreadAccess &access, std::vector<RecordedStep> *steps) {
    const WarpInstruction &in = *step.instruction;
    const WarpOperand &base = in.address.base;
    LaneMask lanes = step.lanes;
    Lanes addresses{};
    std::vector<SharedAccess> shared;
    for (LaneMask left = step.lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      const auto row = [&](RegisterId reg) {
        return step.registers[std::size_t{reg} * warp_lanes + lane];
      };
      if (in.guard != no_register && (row(in.guard) != 0) == in.guard_negated) {
        lanes &= ~(LaneMask{1} << lane);
        continue;
      }
      addresses[lane] =
          (base.kind == WarpOperand::Kind::reg ? row(base.reg) & mask64(base.width) : base.value) +
          static_cast<std::uint64_t>(in.address.offset);
      seen_ = scramble(seen_ ^ addresses[lane]);
      if (steps && access.shared)
        shared.push_back({lane, addresses[lane]});
    }
    if (!steps || steps->empty() || lanes == 0)
      return;
    if (!access.shared) {
      steps->back().requests.push_back(
          request_of(access.traffic, access.bytes, addresses.data(), lanes));
      return;
    }
    const Pairing pairing = access.traffic == Traffic::load ? Pairing::allowed : Pairing::never;
    steps->back().shared += shared_wavefronts(shared, access.bytes, pairing) - 1.0; // the block's
  }

  const std::uint32_t function_;
  const Extents grid_;
  const bool records_;
  std::vector<Place> at_; ///< by instruction
  std::uint64_t seen_ = 0;
};

/// The bytes of a kernel's parameters.
std::vector<std::uint8_t> parameter_bytes(const Function &function, const RunInputs &inputs,
                                          const Extents &grid, const Extents &block) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const std::size_t begin = kernel_parameter_offset(function, i);
    const std::size_t size = function.parameters[i].size();
    bytes.resize(begin + size);
    for (const auto &[key, argument] : inputs.arguments) {
      const auto at = static_cast<std::size_t>(key.second);
      if (key.first != function.parameters[i].name || at >= size)
        continue;
      std::uint64_t bits = argument.bits;
      if (argument.threads_along) {
        const int axis = static_cast<int>(*argument.threads_along);
        bits = std::uint64_t{grid[axis]} * block[axis];
      }
      std::memcpy(&bytes[begin + at], &bits, std::min<std::size_t>(argument.bytes, size - at));
    }
  }
  return bytes;
}

} // namespace

std::vector<std::string_view> assume_pointers(const Function &function, Arguments &arguments) {
  std::vector<std::string_view> assumed;
  for (std::size_t i = 0; i < function.parameters.size(); ++i) {
    const Variable &parameter = function.parameters[i];
    if (parameter.size() != 8 || is_float(parameter.type))
      continue;
    const Argument pointer{(i + 1) << buffer_distance_bits, 8, std::nullopt};
    if (arguments.try_emplace({std::string(parameter.name), 0}, pointer).second)
      assumed.push_back(parameter.name);
  }
  return assumed;
}

tl::expected<WarpRuns, std::string> run_warps(const Kernel &kernel, const RunInputs &inputs,
                                              const Extents &grid, const Extents &block,
                                              const std::vector<std::uint64_t> &blocks) {
  const WarpProgram program(kernel.module());
  const std::uint32_t index = program.find_kernel(kernel.function().name).value();
  WarpLaunch launch;
  launch.grid = grid;
  launch.block = block;
  launch.blocks = blocks;
  launch.dynamic_shared = inputs.dynamic_shared;
  launch.parameters = parameter_bytes(kernel.function(), inputs, grid, block);
  WarpRuns runs;
  std::uint64_t seen = 0;
  for (const bool again : {false, true}) {
    GlobalMemory memory;
    if (const auto placed = program.place_variables(memory, again ? 1 : 0); !placed)
      return tl::unexpected(placed.error());
    for (const std::string_view pointer : inputs.pointers) {
      const Argument &argument = inputs.arguments.at({std::string(pointer), 0});
      memory.continue_at(argument.bits - buffer_half);
      memory.allocate(std::string(pointer), 2 * buffer_half,
                      again ? GlobalMemory::Fill::random : GlobalMemory::Fill::zeros, 1);
    }
    WarpOptions options;
    options.go_on = options.count = true;
    options.shared_seed = again ? 1 : 0;
    options.step_limit = most_steps;
    options.memory_limit = most_bytes;
    StepRecorder recorder(kernel, index, grid, inputs.record && !again);
    options.observer = &recorder;
    const WarpOutcome outcome = run_kernel(program, index, launch, memory, options);
    if (outcome.fault && !again)
      return tl::unexpected(outcome.fault->message);
    std::vector<WarpCount> counts;
    for (const auto &of_block : outcome.counts) {
      WarpCount &sum = counts.emplace_back();
      for (const WarpCount &warp : of_block) {
        sum.instructions += warp.instructions;
        sum.sectors += warp.sectors;
        sum.conflicts += warp.conflicts;
        sum.divwarps += warp.divwarps;
      }
    }
    const auto same = [](const WarpCount &a, const WarpCount &b) {
      return a.instructions == b.instructions && a.sectors == b.sectors &&
             a.conflicts == b.conflicts && a.divwarps == b.divwarps;
    };
    if (again &&
        (outcome.fault || recorder.seen() != seen ||
         !std::equal(counts.begin(), counts.end(), runs.counts.begin(), runs.counts.end(), same)))
      return tl::unexpected(std::string("what memory holds decides what it does"));
    if (again)
      break;
    seen = recorder.seen();
    runs = std::move(recorder.runs);
    runs.counts = std::move(counts);
  }
  return runs;
}

tl::expected<LaunchCount, std::string> count_launch(const Module &module, const Function &function,
                                                    Arguments arguments, const Extents &grid,
                                                    const Extents &block,
                                                    std::uint32_t dynamic_shared) {
  const std::vector<std::string_view> pointers = assume_pointers(function, arguments);
  const Kernel kernel(module, function, arguments, pointers);
  if (kernel.error())
    return tl::unexpected(*kernel.error());
  if (!kernel.missing().empty())
    return tl::unexpected(
        fmt::format("the value of {} is not given", kernel.missing()[0].parameter));
  const std::uint64_t all = grid.count();
  const std::uint64_t some =
      std::min(all, std::max(blocks_counted, threads_counted / block.count()));
  std::vector<std::uint64_t> blocks;
  // The first block, the last one, and of each of as many parts in between one that no stride hits.
  const auto begin_of = [&](std::uint64_t part) {
    return 1 + (all - 2) / (some - 2) * part + (all - 2) % (some - 2) * part / (some - 2);
  };
  for (std::uint64_t i = 0; i < some; ++i)
    blocks.push_back(i == 0 ? 0
                     : i + 1 == some
                         ? all - 1
                         : begin_of(i - 1) + scramble(i) % (begin_of(i) - begin_of(i - 1)));
  const auto runs =
      run_warps(kernel, {arguments, pointers, dynamic_shared, false}, grid, block, blocks);
  if (!runs)
    return tl::unexpected(runs.error());
  LaunchCount result;
  result.run = some;
  result.all = all;
  for (std::uint64_t i = 0; i < some; ++i) {
    const bool at_end = i == 0 || i + 1 == some;
    const double stands_for =
        at_end ? 1 : static_cast<double>(all - 2) / static_cast<double>(some - 2);
    const WarpCount &one = runs->counts[i];
    result.instructions += stands_for * static_cast<double>(one.instructions);
    result.sectors += stands_for * static_cast<double>(one.sectors);
    result.conflicts += stands_for * static_cast<double>(one.conflicts);
    result.divwarps += stands_for * static_cast<double>(one.divwarps);
  }
  return result;
}

} // namespace ptxasw::analysis::cost
