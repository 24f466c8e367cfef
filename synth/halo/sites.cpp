// Which loads read elements at small distances from each other, and by which distance they differ
// between neighbouring threads, is found out by trying: addresses are evaluated for a few threads
// of made-up launches. That this holds in a launch the version tests, in each block.
//
// The law is about when loads may be done by other threads, and before. Let a place be the last
// load that is staged. Looked at are loads of its block and of those that dominate it, and threads
// that come there by ways that go around no loop: they have then done each of these loads once.
//
//   - What decides about these ways, and what the addresses are made of, is computed from
//     parameters and special registers (synth/stage/before.h), and no register that holds such an
//     address is written between its load and the place. So a thread can find out whether it comes
//     and with which addresses before the kernel begins.
//   - What a load reads may be read earlier, by whichever thread of the block that reads it as
//     well: what could change it in between? Nothing in the kernel synchronises, so a store of one
//     thread to what another one reads is a race, whose result is not defined. And no thread has
//     itself stored before the place is reached: on the ways to it there is no instruction that
//     writes global memory, except before `.nc` loads, by which the program has said that nothing
//     writes there. What it stores later comes after its loads, and in the version after those of
//     the whole block.

#include "synth/halo/sites.h"

#include "emulator/semantics/scramble.h"
#include "emulator/symbolic/evaluation.h"
#include "grammar/roles.h"
#include "synth/cache/qualified.h"
#include "synth/cache/writers.h"
#include "synth/halo/group.h"
#include "synth/halo/halo.h"
#include "synth/stage/sites.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <set>
#include <unordered_map>

namespace ptxasw::inline synth::halo {
namespace {

constexpr Refusal unknown{"control-flow", "its control flow is not understood"};
constexpr Refusal shape{"block-shape", "its blocks have another shape"};
constexpr Refusal none{"nothing-shared",
                       "no loads that all threads come to read one array element by element"};
constexpr Refusal little{"little-shared", "neighbours read little of what a thread reads"};
constexpr Refusal written{"may-be-written", "the thread may have written what it reads"};
constexpr Refusal changed{"address-changes", "its address is not known any more behind it"};

constexpr std::size_t most_groups = 16;

Refusal at(Refusal refusal, const Function &kernel, std::uint32_t instruction) {
  refusal.line = kernel.instructions[instruction].line;
  return refusal;
}

/// Addresses in made-up launches of blocks of a shape.
class Launches {
public:
  Launches(Emulation &emulation, const Extents3 &block) {
    for (std::size_t launch = 0; launch < samples; ++launch)
      for (std::size_t thread = 0; thread < threads; ++thread) {
        std::unordered_map<Expr, std::uint64_t> known;
        for (int axis = 0; axis < 3; ++axis) {
          const std::string name(1, static_cast<char>('x' + axis));
          known[emulation.special("%tid." + name)] =
              thread == static_cast<std::size_t>(axis) + 1 ? 1 : 0;
          known[emulation.special("%ntid." + name)] = static_cast<std::uint64_t>(block[axis]);
          known[emulation.special("%ctaid." + name)] = 1;
          known[emulation.special("%nctaid." + name)] = 5;
        }
        evaluators_.emplace_back([known = std::move(known), launch](Expr symbol) {
          const auto found = known.find(symbol);
          return Bits{found == known.end() ? made_up(symbol, launch) : found->second};
        });
      }
  }

  void find(Expr address, Candidate &load) {
    for (std::size_t launch = 0; launch < samples; ++launch) {
      const auto of = [&](std::size_t thread) -> std::uint64_t {
        return evaluators_[launch * threads + thread](address).low;
      };
      load.address[launch] = static_cast<std::int64_t>(of(0));
      for (std::size_t axis = 0; axis < 3; ++axis)
        load.step[launch][axis] = static_cast<std::int64_t>(of(axis + 1) - of(0));
    }
  }

private:
  static constexpr std::size_t threads = 4; ///< the first one, and its neighbours along x, y and z

  /// Extents of arrays that are larger than blocks, and whose cubes are indices of 32 bits.
  static std::uint64_t made_up(Expr symbol, std::size_t launch) {
    const std::uint64_t random = scramble(std::uint64_t{symbol->index} * samples + launch + 1);
    if (symbol->width > 32)
      return random & 0xffffffff00; // an aligned pointer
    const std::uint64_t value = symbol->width < 16 ? random : 4096 + random % 4096;
    return std::min(value & mask64(symbol->width), symbol->maximum);
  }

  std::vector<Evaluator> evaluators_;
};

class Finder {
public:
  Finder(const facts::KernelFacts &facts, const Extents3 &block)
      : facts_(facts), module_(facts.module()), kernel_(facts.function()), cfg_(facts.cfg()),
        writers_(cache::writers_of(module_, kernel_)) {
    answer_.block = block;
  }

  HaloAnswer run() {
    HaloAnswer result;
    if (writers_.unknown) {
      result.refusals.push_back(*writers_.unknown);
      return result;
    }
    find_candidates();
    std::set<BlockId> places;
    for (const Candidate &one : candidates_)
      places.insert(cfg_.block_of(one.instruction));
    std::uint64_t best = 0;
    for (const BlockId place : places) {
      Halo halo = answer_;
      const std::uint64_t gain = try_place(place, halo);
      if (gain > best)
        result.found = {std::move(halo)};
      best = std::max(best, gain);
    }
    if (places.empty())
      refuse(none);
    result.refusals = std::move(refusals_);
    return result;
  }

private:
  void find_candidates() {
    Launches launches(facts_.emulation(), answer_.block);
    for (const facts::Access &access : facts_.accesses()) {
      const std::uint32_t i = access.site.instruction;
      const Instruction &one = kernel_.instructions[i];
      const Opcode &opcode = module_.opcode(one);
      if (!cache::qualified_load(opcode) || one.guard != no_register || !access.address)
        continue;
      Candidate load;
      load.instruction = i;
      load.bytes = bit_width(opcode.type) / 8 * opcode.vector;
      const Operand &address = module_.operands(one)[1];
      const auto parts = module_.children(address);
      if (!std::has_single_bit(load.bytes) || parts.empty() ||
          parts[0].kind != Operand::Kind::reg || parts[0].selector != 0 || parts[0].negated ||
          kernel_.registers[parts[0].reg].vector != 1 ||
          bit_width(kernel_.registers[parts[0].reg].type) != 64)
        continue;
      load.base = parts[0].reg;
      load.constant = address.value;
      launches.find(access.address, load);
      if (std::all_of(load.step.begin(), load.step.end(),
                      [&](const auto &step) { return step[0] == load.bytes; }))
        candidates_.push_back(load);
    }
  }

  /// The first place for each reason is enough.
  void refuse(const Refusal &refusal) {
    if (std::none_of(refusals_.begin(), refusals_.end(),
                     [&](const Refusal &known) { return known.reason == refusal.reason; }))
      refusals_.push_back(refusal);
  }

  bool is_nc(const Candidate &load) const {
    return cache::qualified_load(module_.opcode(kernel_.instructions[load.instruction]))->nc;
  }

  /// How many loads are staged if that is what comes before one of the kernel's blocks ends; 0 if
  /// nothing is.
  std::uint64_t try_place(BlockId place, Halo &halo) {
    std::vector<Candidate> loads;
    for (const Candidate &one : candidates_) {
      const BlockId block = cfg_.block_of(one.instruction);
      if (cfg_.dominates(block, place) &&
          (block == place || cfg_.order_of(block) < cfg_.order_of(place)))
        loads.push_back(one);
    }
    std::sort(loads.begin(), loads.end(), [&](const Candidate &a, const Candidate &b) {
      return comes_before(a.instruction, b.instruction);
    });
    std::uint64_t best = 0;
    for (bool changes = true; changes && !loads.empty(); loads.pop_back()) {
      Halo one = answer_;
      changes = false;
      const std::uint64_t gain = try_loads(loads, one, changes);
      if (gain > best)
        halo = std::move(one);
      best = std::max(best, gain);
    }
    return best;
  }

  /// The same for loads in the order in which a thread comes to them. `changes`: with fewer of them
  /// it may be more.
  std::uint64_t try_loads(std::vector<Candidate> loads, Halo &halo, bool &changes) {
    const std::uint32_t end = loads.back().instruction + 1;
    const auto all = stage::before_instruction(module_, kernel_, cfg_, end, {});
    if (!all) {
      refuse(all.error());
      return 0;
    }
    std::set<RegisterId> bases;
    for (const Candidate &one : loads)
      bases.insert(one.base);
    const bool all_ready =
        stage::before_instruction(module_, kernel_, cfg_, end, bases).has_value();
    std::erase_if(loads, [&](const Candidate &one) {
      return (!all_ready && !is_ready(one, end)) || is_refused(one, end, all->blocks, changes);
    });
    for (Group &group : grouped(loads, answer_.block)) {
      if (group.loads.size() < 2)
        refuse(at(none, kernel_, group.loads[0].instruction));
      else if (!share_out(group, answer_.block))
        refuse(at(little, kernel_, group.loads[0].instruction));
      else if (halo.groups.size() < most_groups)
        halo.groups.push_back(std::move(group));
    }
    return halo.groups.empty() ? 0 : lay_out(halo);
  }

  /// Returns true if the address of a load can be told before the kernel begins.
  bool is_ready(const Candidate &load, std::uint32_t end) {
    const auto ready = stage::before_instruction(module_, kernel_, cfg_, end, {load.base});
    if (!ready)
      refuse(ready.error());
    return ready.has_value();
  }

  /// Returns true if the thread may have written what a load reads, or writes the register with its
  /// address before the end.
  bool is_refused(const Candidate &load, std::uint32_t end, const std::vector<BlockId> &ways,
                  bool &changes_later) {
    const std::uint32_t i = load.instruction;
    for (const BlockId block : ways) {
      const BasicBlock &one = cfg_.blocks()[block];
      const std::uint32_t behind = one.first < end && end <= one.end ? end : one.end;
      for (std::uint32_t k = one.first; k < behind; ++k) {
        const bool before_load = k < end && comes_before(k, i);
        if (before_load && !is_nc(load) &&
            std::find(writers_.stores.begin(), writers_.stores.end(), k) != writers_.stores.end()) {
          refuse(at(written, kernel_, k));
          return true;
        }
        bool changes = false;
        for_each_register(module_, kernel_.instructions[k], [&](RegisterId reg, RegisterUse use) {
          changes = changes || (reg == load.base && use != RegisterUse::read);
        });
        if (changes && !before_load) {
          refuse(at(changed, kernel_, i));
          changes_later = true;
          return true;
        }
      }
    }
    return false;
  }

  /// Returns true unless an instruction can only come behind another one, both on the ways.
  bool comes_before(std::uint32_t one, std::uint32_t other) const {
    const BlockId a = cfg_.block_of(one), b = cfg_.block_of(other);
    return a == b ? one < other : cfg_.order_of(a) < cfg_.order_of(b);
  }

  /// Says how many loads are staged, of as many groups as there is room for.
  std::uint64_t lay_out(Halo &halo) {
    const auto threads = static_cast<std::uint64_t>(halo.block[0]) *
                         static_cast<unsigned>(halo.block[1]) *
                         static_cast<unsigned>(halo.block[2]);
    const auto aligned = [](auto bytes) { return (bytes + 15) / 16 * 16; };
    const auto worth = [](const Group &one) {
      return static_cast<double>(one.loads.size()) / one.size;
    };
    for (;;) {
      // All of it, too: what the assembler lays behind the tile lies as if there were none.
      halo.size = aligned(place_of_base(halo.groups.size(), 0));
      for (Group &group : halo.groups) {
        group.first = halo.size;
        halo.size = aligned(group.first + group.size);
      }
      const auto full = stage::room_for(module_, kernel_, halo.size, threads);
      if (!full)
        break;
      refuse(*full);
      halo.groups.erase(
          std::min_element(halo.groups.begin(), halo.groups.end(),
                           [&](const Group &a, const Group &b) { return worth(a) < worth(b); }));
      if (halo.groups.empty())
        return 0;
    }
    return find_before(halo) ? loads_of(halo) : 0;
  }

  static std::uint64_t loads_of(const Halo &halo) {
    std::uint64_t loads = 0;
    for (const Group &group : halo.groups)
      loads += group.loads.size();
    return loads;
  }

  /// What a thread does to find out whether it comes, and with which addresses.
  bool find_before(Halo &halo) {
    std::set<RegisterId> registers;
    for (Group &group : halo.groups) {
      std::set<RegisterId> used;
      for (const HaloLoad &load : group.loads) {
        if (halo.end == 0 || comes_before(halo.end - 1, load.instruction))
          halo.end = load.instruction + 1;
        const Instruction &one = kernel_.instructions[load.instruction];
        used.insert(module_.children(module_.operands(one)[1])[0].reg);
      }
      std::erase_if(group.related, [&](const Related &one) { return !used.contains(one.reg); });
      for (const Related &one : group.related)
        registers.insert(one.reg);
      registers.insert(group.base);
    }
    if (halo.end >= kernel_.instructions.size()) {
      refuse(unknown);
      return false;
    }
    auto before = stage::before_instruction(module_, kernel_, cfg_, halo.end, registers);
    if (!before) {
      refuse(before.error());
      return false;
    }
    halo.before = std::move(*before);
    return true;
  }

  const facts::KernelFacts &facts_;
  const Module &module_;
  const Function &kernel_;
  const ControlFlowGraph &cfg_;
  const cache::Writers writers_;
  std::vector<Candidate> candidates_;
  std::vector<Refusal> refusals_;
  Halo answer_; ///< its shape alone
};

/// Why no block of a kernel has a shape.
std::optional<Refusal> shape_fault(const Function &kernel, const Extents3 &block) {
  if (const PerformanceDirective *const fixed = kernel.directive("reqntid"))
    for (std::size_t axis = 0; axis < 3; ++axis)
      if (fixed->values[axis] != static_cast<std::uint32_t>(block[axis]))
        return shape;
  if (const PerformanceDirective *const most = kernel.directive("maxntid")) {
    const std::uint64_t threads =
        std::uint64_t{most->values[0]} * most->values[1] * most->values[2];
    if (static_cast<std::uint64_t>(block[0]) * static_cast<unsigned>(block[1]) *
            static_cast<unsigned>(block[2]) >
        threads)
      return shape;
  }
  return std::nullopt;
}

} // namespace

std::uint32_t place_of_base(std::size_t group, int axis) {
  return static_cast<std::uint32_t>(8 * (3 * group + static_cast<std::size_t>(axis)));
}

Extents3 shape_of(std::string_view variant) {
  const auto &all = halo_variants();
  if (std::find(all.begin(), all.end(), variant) == all.end())
    return {};
  Extents3 result = {1, 1, 1};
  for (std::size_t axis = 0; axis < 3 && !variant.empty(); ++axis) {
    variant.remove_prefix(1); // `b`, then `x`
    const char *const begin = variant.data();
    const auto read = std::from_chars(begin, begin + variant.size(), result[axis]);
    variant.remove_prefix(static_cast<std::size_t>(read.ptr - begin));
  }
  return result;
}

HaloAnswer halo_of(const Module &module, const Function &kernel, const Extents3 &block,
                   std::optional<facts::KernelFacts> &facts) {
  HaloAnswer answer;
  auto obstacle = stage::obstacle_of(module, kernel);
  if (!obstacle && block[0] > 0)
    obstacle = shape_fault(kernel, block);
  if (obstacle || block[0] <= 0) {
    answer.refusals.push_back(obstacle.value_or(shape));
    return answer;
  }
  if (!facts)
    facts.emplace(module, kernel);
  if (!facts->complete() || !facts->cfg().well_formed()) {
    answer.refusals.push_back(unknown);
    return answer;
  }
  return Finder(*facts, block).run();
}

} // namespace ptxasw::synth::halo
