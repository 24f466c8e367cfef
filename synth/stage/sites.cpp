// A loop can be staged that is entered once, counts its iterations and is left by one branch alone
// that each iteration passes, once, as there is no loop within. At the foot of the loop that is the
// latch, and iterations begin with the header. Anywhere else what stands before the branch runs
// once more than what stands behind it, which may not run at all: there an iteration begins with
// the first instruction behind the branch, to which no other way leads. Let n be the number of the
// iteration in which the branch leaves, from 0; so one has begun n + 1 times if it is at the foot,
// else n times. Every thread that comes to the loop runs so many iterations, each to a latch.
//
// If there is a loop around it, that one must be of this kind, too, and all threads of a block must
// come to the inner one in the same of its iterations (before.cpp); so two threads that have as
// many iterations of the outer loop enter the inner one as often.
//
// Of the loads behind that beginning those are staged whose addresses all lanes share, go on by a
// constant, and are read in each iteration: every way from where it begins to a latch leads through
// a load of the same bytes, be it in an arm of each branch. The tile has of it what all read.
//
// Why a thread may find in shared memory what another one has read before: what could have changed
// it in between? Nothing in the kernel synchronises (no barrier, atomic, fence, call, ordered
// access), so a store of any other thread to what this one reads would be a race, whose result is
// not defined. All threads of the block read every byte that is staged, and a block that is staged
// has at least two; so a store of the thread itself would be a race with the others. As for
// families that carry values this is not all that is asked for: a store must also go elsewhere by
// the text alone (emulator/facts/writers.h), unless the load is `.nc`, by which the program has
// said that nothing writes there. A generic load is one of global memory where all generic
// addresses of the module are (emulator/symbolic/generic.h).

#include "synth/stage/stage.h"

#include "analysis/occupancy.h"
#include "emulator/facts/come_alike.h"
#include "emulator/facts/kernel_facts.h"
#include "emulator/facts/writers.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/global_load.h"
#include "emulator/semantics/parameter_layout.h"
#include "emulator/symbolic/generic.h"
#include "grammar/next.h"
#include "grammar/roles.h"

#include <algorithm>
#include <bit>
#include <iterator>

namespace ptxasw::synth::stage {
namespace {

using facts::Condition;
using facts::LoopValues;
using facts::Polynomial;

namespace refusal {
constexpr Refusal old{"target-too-old", "barriers within a loop need PTX 6.0 and sm_70"};
constexpr Refusal large{"too-large", "the kernel is too large to be written twice"};
constexpr Refusal synchronises{"synchronises", "something in the kernel synchronises"};
constexpr Refusal lanes{"warp-collective", "lanes must agree, or it asks which are together"};
constexpr Refusal alone{"one-thread", "its blocks have one thread"};
constexpr Refusal sizes{"shared-size", "it asks how much shared memory there is"};
constexpr Refusal inner{"nested-loop", "there is a loop in it, or it is in more than one"};
constexpr Refusal passed{"nested-loop", "threads may differ in whether they come to it"};
constexpr Refusal ends{"several-exits",
                       "it is not left by one branch alone that each round passes"};
constexpr Refusal uncounted{"rounds-unknown", "how many rounds it has is not known before"};
constexpr Refusal none{"nothing-shared", "no load in it that all lanes have in common goes on"};
constexpr Refusal sparse{"too-sparse", "a round reads too little of what it passes"};
constexpr Refusal room{"shared-memory", "there is not enough shared memory for a tile"};
constexpr Refusal text{"control-flow", "its text declares something between instructions"};
constexpr Refusal occupied{"occupancy", "fewer blocks would run at a time"};
} // namespace refusal

constexpr std::size_t largest_kernel = 5'000; ///< instructions
constexpr std::uint64_t static_limit = std::uint64_t{48} * 1024;
constexpr unsigned most_ranges = 8, most_loads = 128, most_conditions = 64, least_rounds = 2;
constexpr std::uint64_t threads_unknown = 256; ///< of a block, where the kernel does not say
constexpr std::uint32_t tile_alignment = 16;

std::uint32_t aligned(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(emulator::align(bytes, tile_alignment));
}

/// Why nothing of a kernel may be brought to shared memory by a block, whatever it reads: something
/// in it synchronises, or lanes must agree, or it is no kernel for that.
std::optional<Refusal> obstacle_of(const Module &module, const Function &kernel) {
  if (module.address_size != 64)
    return refusals::address_size;
  if (module.version_major < 6 || module.sm < 70)
    return refusal::old;
  if (kernel.most_threads() == 1)
    return refusal::alone;
  if (kernel.instructions.size() > largest_kernel)
    return refusal::large;
  for (const Instruction &one : kernel.instructions) {
    const Opcode &opcode = module.opcode(one);
    if (!one.well_formed || opcode.op == Op::brx)
      return refusals::control_flow.at(one.line);
    if (opcode.op == Op::call)
      return refusals::call.at(one.line);
    if (asks_which_lanes(opcode) ||
        (wants_agreement(opcode) && (one.guard != no_register || opcode.op != Op::bra)))
      return refusal::lanes.at(one.line);
    if (!is_way(opcode) && (effect_of(opcode) == Effect::sync || gathers_lanes(opcode)))
      return refusal::synchronises.at(one.line);
    if (any_operand(module, module.operands(one), [&](const Operand &operand) {
          return operand.kind == Operand::Kind::special &&
                 module.text(operand.span).find("smem") != std::string_view::npos;
        }))
      return refusal::sizes.at(one.line);
  }
  if (kernel.scopes.size() != 1 || !kernel.target_lists.empty() || kernel.instructions.empty())
    return refusals::control_flow;
  return std::nullopt;
}

/// Returns true if something is declared behind the beginning of the code.
bool declares_between(const KernelContext &context) {
  const Function &kernel = context.kernel;
  const std::uint32_t begin = begin_of_code(kernel);
  return context.module.text({begin, kernel.body.end}).find(".reg") != std::string_view::npos ||
         std::any_of(kernel.variables.begin(), kernel.variables.end(),
                     [&](const Variable &one) { return one.span.begin >= begin; });
}

/// Shared memory that the kernel has already, as far as variables say; at most.
std::uint64_t shared_of(const Module &module, const Function &kernel) {
  std::uint64_t bytes = 0;
  for (const auto *variables : {&module.variables, &kernel.variables})
    for (const Variable &variable : *variables)
      if (variable.space == StateSpace::shared)
        bytes += aligned(variable.size()) + variable.alignment;
  return bytes;
}

class Loop : OfKernel {
public:
  Loop(const KernelContext &context, LoopId loop, facts::Atoms &atoms)
      : OfKernel(context), loop_(cfg().loops()[loop]),
        values_(module_, kernel_, cfg(), loop, atoms), atoms_(atoms), writers_(module_, kernel_) {
    staging_.loop = loop;
    staging_.entry = block(loop_.header).first;
    staging_.header = block(cfg().loops()[outermost()].header).first;
  }

  /// Throws a Refusal.
  Staging run(std::uint32_t bytes) {
    const BlockId end = check_shape();
    Refusal why = refusal::none.at(instruction(staging_.entry).line);
    for (const BlockId one : blocks_in(cfg(), staging_.loop))
      for (std::uint32_t i = block(one).first; i < block(one).end; ++i)
        if (cfg().dominates(cfg().block_of(staging_.round), one))
          if (const auto refused = consider(i))
            why = *refused;
    for (const Candidate &one : candidates_)
      if (is_read_in_each_round(one))
        add(one);
    if (staging_.ranges.empty())
      throw why;
    count_rounds(values_, end, staging_.own);
    if (staging_.round == staging_.entry)
      staging_.own.count += Polynomial(1);
    if (loop_.parent != no_index)
      count_around();
    lay_out(bytes);
    staging_.before = before_loop(context_, outermost(), entry_registers());
    return std::move(staging_);
  }

private:
  void require(bool holds, const Refusal &refusal) const { demand(holds, refusal, staging_.entry); }

  LoopId outermost() const { return loop_.parent == no_index ? staging_.loop : loop_.parent; }

  /// Every thread that enters the loop leaves it by the one branch that ends it: that of this
  /// block.
  BlockId check_shape() {
    require(loop_.parent == no_index || cfg().loops()[loop_.parent].parent == no_index,
            refusal::inner);
    for (const BlockId one : blocks_in(cfg(), staging_.loop))
      require(cfg().loop_of(one) == staging_.loop, refusal::inner);
    const BlockId end = end_of(staging_.loop);
    const auto &next = block(end).successors;
    const BlockId stays = next[cfg().contains(staging_.loop, next[0]) ? 0 : 1];
    require(stays == loop_.header || block(stays).predecessors == std::vector{end}, refusal::ends);
    staging_.round = block(stays).first;
    return end;
  }

  /// The block at whose end a loop is left, in each iteration that does not go on: nowhere else.
  BlockId end_of(LoopId loop) const {
    const auto leaves = [&](BlockId to) { return !cfg().contains(loop, to); };
    std::vector<BlockId> found;
    for (const BlockId inside : blocks_in(cfg(), loop)) {
      require(!cfg().irreducible(inside), refusal::inner);
      require(!returns(opcode(block(inside).end - 1)), refusal::ends);
      if (const auto &next = block(inside).successors;
          std::any_of(next.begin(), next.end(), leaves))
        found.push_back(inside);
    }
    require(found.size() == 1 && cfg().loop_of(found[0]) == loop &&
                cfg().in_each_round(loop, found[0]),
            refusal::ends);
    const BasicBlock &end = block(found[0]);
    require(end.branch == end.end - 1 && end.successors.size() == 2 &&
                leaves(end.successors[0]) != leaves(end.successors[1]),
            refusal::ends);
    return found[0];
  }

  /// The number of a loop's last iteration, by the block that ends it.
  void count_rounds(LoopValues &values, BlockId end, Counted &result) const {
    const auto last = values.last_round(block(end).branch, result.conditions);
    require(last.has_value(), refusal::uncounted);
    result.count = *last;
    std::vector<Condition> each;
    std::copy_if(result.conditions.begin(), result.conditions.end(), std::back_inserter(each),
                 [&](const Condition &one) {
                   return std::find(each.begin(), each.end(), one) == each.end();
                 });
    require(each.size() <= most_conditions, refusal::large);
    result.conditions = std::move(each);
  }

  /// What is known of the loop around this one.
  void count_around() {
    const BlockId end = end_of(loop_.parent);
    require(facts::come_alike(context_, loop_.parent, end, loop_.header), refusal::passed);
    const std::uint32_t entry = staging_.entry; // the block before it goes on there?
    require(entry == 0 || !cfg().contains(staging_.loop, cfg().block_of(entry - 1)) ||
                !falls_through(module_, instruction(entry - 1)),
            refusal::ends);
    LoopValues values(module_, kernel_, cfg(), loop_.parent, atoms_);
    count_rounds(values, end, staging_.around.emplace());
  }

  /// A load that may be staged, if each iteration reads what it names.
  struct Candidate {
    std::uint32_t instruction = 0;
    facts::Progress address;
    std::int64_t step = 0;
    unsigned bytes = 0;
    std::vector<Condition> conditions;
  };

  /// Finds a candidate, or says why it is none; nothing, too, if it is no load for that.
  std::optional<Refusal> consider(std::uint32_t i) {
    const Instruction &one = instruction(i);
    auto load = qualified_load(opcode(i));
    if (!load && context_.once("generic is global", [&] { return generic_is_global(module_); }))
      load = generic_load(opcode(i));
    if (!load || one.guard != no_register || !is_common(i))
      return std::nullopt;
    Candidate found{i, {}, 0, opcode(i).bytes(), {}};
    const auto address = values_.address(i, found.conditions);
    const auto step = address ? address->step.number() : std::nullopt;
    if (!step || *step <= 0)
      return std::nullopt;
    // There is nothing that writers do not know: it would synchronise.
    if (const auto conflict = load->nc ? std::nullopt : writers_.conflict(i))
      return refusals::may_be_written.at(instruction(conflict->store).line);
    if (candidates_.size() == most_loads)
      return refusal::large.at(one.line);
    if (!std::has_single_bit(found.bytes) || *step % found.bytes != 0 || *step > std::int64_t{4096})
      return refusal::sparse.at(one.line);
    found.address = *address;
    found.step = *step;
    candidates_.push_back(std::move(found));
    return std::nullopt;
  }

  /// Returns true if each way through an iteration has a load of what a candidate loads.
  bool is_read_in_each_round(const Candidate &one) const {
    std::set<BlockId> readers;
    for (const Candidate &other : candidates_)
      if (other.address.first == one.address.first && other.step == one.step &&
          other.bytes == one.bytes)
        readers.insert(cfg().block_of(other.instruction));
    const BlockId begin = cfg().block_of(staging_.round);
    const auto without =
        reached_from(cfg(), begin, [&](BlockId from, BlockId) { return !readers.contains(from); });
    return std::none_of(loop_.latches.begin(), loop_.latches.end(), [&](BlockId latch) {
      return !readers.contains(latch) && (latch == begin || without.contains(latch));
    });
  }

  /// Returns true if nothing shows that threads have different addresses; that is tested.
  bool is_common(std::uint32_t i) const {
    const auto &all = context_.facts().accesses();
    return std::any_of(all.begin(), all.end(), [&](const facts::Access &access) {
      if (access.site.instruction != i)
        return false;
      facts::AddressForm form = access.form;
      form.varying.clear();
      return form.is_uniform();
    });
  }

  /// To a range whose iterations have room for it; else it begins one.
  void add(const Candidate &one) {
    auto &conditions = staging_.own.conditions;
    conditions.insert(conditions.end(), one.conditions.begin(), one.conditions.end());
    for (StagedRange &range : staging_.ranges) {
      const auto distance = (one.address.first - range.first).number();
      if (range.step != one.step || !distance)
        continue;
      const std::int64_t begin = std::min<std::int64_t>(*distance, 0);
      std::vector<StagedLoad> loads = range.loads;
      loads.push_back({one.instruction, *distance, one.bytes});
      for (StagedLoad &load : loads)
        load.offset -= begin;
      if (!fit(loads, one.step))
        continue;
      range.loads = std::move(loads);
      if (begin < 0)
        range.first = one.address.first;
      return;
    }
    staging_.ranges.push_back({one.address.first, one.step, {{one.instruction, 0, one.bytes}}, 0});
  }

  /// Returns true if loads read bytes of one iteration each, or the same, and all are aligned in
  /// the tile if they are in memory.
  static bool fit(const std::vector<StagedLoad> &loads, std::int64_t step) {
    for (const StagedLoad &a : loads) {
      if (a.offset % a.bytes != 0 || a.offset + a.bytes > step)
        return false;
      for (const StagedLoad &b : loads)
        if ((a.offset != b.offset || a.bytes != b.bytes) && a.offset < b.offset + b.bytes &&
            b.offset < a.offset + a.bytes)
          return false;
    }
    return true;
  }

  void lay_out(std::uint32_t bytes) {
    std::int64_t of_a_round = 0;
    for (const StagedRange &range : staging_.ranges) {
      std::int64_t read = 0;
      for (const StagedLoad &load : range.loads)
        read += is_first(range, load) ? load.bytes : 0;
      require(read * 4 >= range.step, refusal::sparse);
      of_a_round += range.step;
    }
    require(staging_.ranges.size() <= most_ranges, refusal::large);
    staging_.rounds = static_cast<std::uint32_t>(bytes / of_a_round);
    require(staging_.rounds >= least_rounds, refusal::room);
    staging_.size = aligned(staging_.place_of_rounds() + 8);
    for (StagedRange &range : staging_.ranges) {
      range.place = staging_.size;
      staging_.size += aligned(static_cast<std::uint64_t>(range.step) * staging_.rounds);
    }
    check_room();
  }

  /// As few blocks as a tile leaves run at a time.
  void check_room() const {
    const std::uint64_t shared = shared_of(module_, kernel_) + staging_.size;
    require(shared <= static_limit, refusal::room);
    const Architecture *const architecture = find_architecture(module_.target);
    if (!architecture)
      return;
    BlockNeeds needs;
    needs.threads = kernel_.most_threads().value_or(threads_unknown);
    needs.registers = 32; // as many as leave room for all warps
    const std::uint32_t before = occupancy(*architecture, needs).blocks;
    needs.static_shared = shared;
    require(occupancy(*architecture, needs).blocks >= before, refusal::occupied);
  }

  /// What must be known before the kernel begins.
  std::set<RegisterId> entry_registers() const {
    const Counted &known = staging_.at_first();
    std::set<RegisterId> result = atoms_.leaves(known.count);
    for (std::size_t i = 0; i < staging_.ranges_at_first(); ++i)
      result.merge(atoms_.leaves(staging_.ranges[i].first));
    for (const Condition &condition : known.conditions)
      result.merge(atoms_.leaves(condition.value));
    return result;
  }

  const ptxasw::ptx::Loop &loop_;
  LoopValues values_;
  facts::Atoms &atoms_;
  facts::Writers writers_;
  std::vector<Candidate> candidates_;
  Staging staging_;
};

} // namespace

bool is_first(const StagedRange &range, const StagedLoad &load) {
  return std::none_of(range.loads.begin(), range.loads.end(), [&](const StagedLoad &one) {
    return &one < &load && one.offset == load.offset;
  });
}

Sites<Staging> staging_of(const KernelContext &context, std::string_view variant) {
  if (std::find(std::begin(stage_variants), std::end(stage_variants), variant) ==
      std::end(stage_variants))
    return {};
  if (const auto obstacle = obstacle_of(context.module, context.kernel))
    return {{}, {*obstacle}};
  const facts::KernelFacts &facts = context.facts();
  if (!facts.complete() || !facts.cfg().well_formed())
    return {{}, {refusals::control_flow}};
  Sites<Staging> answer;
  facts::Atoms atoms;
  for (LoopId loop = 0; loop < facts.cfg().loops().size() && answer.sites.empty(); ++loop)
    try {
      answer.sites.push_back(Loop(context, loop, atoms).run(number_in(variant) * 1024));
      answer.sites[0].atoms = atoms;
    } catch (const Refusal &stop) {
      add_refusal(answer.refusals, stop);
    }
  if (facts.cfg().loops().empty())
    answer.refusals.push_back(refusals::no_loop);
  if (!answer.sites.empty() && declares_between(context)) {
    answer.sites.clear();
    answer.refusals.push_back(refusal::text);
  }
  return answer;
}

} // namespace ptxasw::synth::stage
