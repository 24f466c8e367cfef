// Rules about single accesses. Unknown numbers are never reported as found; of bounds, what the
// pattern costs whatever the alignment is reported (Count::typical).

#include "analysis/lint/iterations.h"
#include "analysis/lint/lint.h"
#include "analysis/lint/private_data.h"
#include "emulator/facts/waiting.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/core.h>
#include <optional>
#include <set>
#include <span>

namespace ptxasw::analysis::lint {
namespace {

using facts::Access;
using facts::AccessKind;
using facts::Count;
using facts::Verdict;

std::string_view verb(AccessKind kind) { return facts::to_string(kind); }

bool beyond(const Options &options, std::uint64_t cost, std::uint64_t ideal) {
  return cost > ideal && cost * 100 >= ideal * options.threshold;
}

std::string plural(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// How many numbers that all lanes of a block share an expression chooses from, whatever decides in
/// each lane: one, if it is shared itself; `many`, if it is not seen that there are fewer.
constexpr std::uint64_t many = 64;
std::uint64_t choices(Emulation &emulation, Expr expr, BlockId block, unsigned depth = 8) {
  if (expr->width == 1)
    return 2;
  if (expr->kind == ExprKind::constant || emulation.uniform(expr, block))
    return 1;
  if (depth == 0)
    return many;
  const auto of = [&](Expr part) { return choices(emulation, part, block, depth - 1); };
  switch (expr->kind) {
  case ExprKind::ite:
    return std::min(of(expr->children[1]) + of(expr->children[2]), many);
  case ExprKind::symbol: {
    const auto join = emulation.join_register(expr);
    std::uint64_t sum = join ? 0 : many;
    if (join)
      for (const auto &[from, value] : join->values)
        sum += value ? of(emulation.expand(value)) : many;
    return std::min(sum, many);
  }
  case ExprKind::zext:
  case ExprKind::sext:
  case ExprKind::extract:
  case ExprKind::sum:
  case ExprKind::product: {
    std::uint64_t all = 1;
    for (const Expr operand : expr->operands())
      all = std::min(all * of(operand), many);
    return all;
  }
  default:
    return many;
  }
}

/// Returns true if each lane's address comes from what it has loaded itself, or where that led it,
/// and no more is known. A few places that all lanes share, of which data chooses one
/// (`v > 3 ? 7 : 0`), are not that. What is loaded of memory that nobody writes is a function of
/// the lane's address.
bool is_indirect(const facts::KernelFacts &facts, const Access &access) {
  Emulation &emulation = facts.emulation();
  const auto comes_from_data = [&](const facts::Term &term) {
    bool loaded = false;
    for_each_node(term.atom, [&](Expr node) {
      loaded = loaded || node->kind == ExprKind::uf || emulation.produced_by(node) ||
               emulation.join_register(node);
    });
    return loaded;
  };
  constexpr std::uint64_t few = 4;
  std::vector<facts::Term> terms = access.form.varying;
  terms.insert(terms.end(), access.form.mixed.begin(), access.form.mixed.end());
  PrivateData is_private(facts);
  return access.address && access.in_step && !terms.empty() &&
         std::all_of(terms.begin(), terms.end(), comes_from_data) &&
         std::any_of(terms.begin(), terms.end(), [&](const facts::Term &term) {
           return choices(emulation, term.atom, access.block) > few && is_private(term.atom);
         });
}

/// Sectors between the first and the last byte that a warp can touch, where what lanes add to each
/// other's distance has a largest value (`v & 7`), and the first lies at the beginning of one.
/// Nothing if that is not known, or no bound.
std::optional<std::uint64_t> sectors_within_reach(const facts::KernelFacts &facts,
                                                  const Access &access) {
  constexpr std::uint64_t most = warp_lanes * facts::sector_bytes;
  if (!access.form.mixed.empty() || !access.form.strides.empty())
    return std::nullopt;
  std::uint64_t reach = access.site.bytes;
  for (const facts::Term &term : access.form.varying) {
    const std::uint64_t factor = static_cast<std::uint64_t>(std::abs(term.factor));
    if (term.atom->maximum > most || factor > most)
      return std::nullopt;
    reach += term.atom->maximum * factor;
  }
  std::uint64_t result = 0;
  const std::vector<std::int64_t> offsets = lane_offsets(facts.lane_values(), access.form);
  for (const facts::WarpThreads &warp : facts.layout().warps) {
    const auto begin = offsets.begin() + warp.first, end = begin + warp.count;
    const auto [least, greatest] = std::minmax_element(begin, end);
    const auto distance = static_cast<std::uint64_t>(*greatest - *least);
    result = std::max(result, (distance + reach + facts::sector_bytes - 1) / facts::sector_bytes);
  }
  return result;
}

/// Sectors of the variable that an access goes to by its name: a small table has few, wherever in
/// it each lane goes. Nothing if it is no variable of a known size.
std::optional<std::uint64_t> sectors_of_variable(const facts::KernelFacts &facts,
                                                 const Access &access) {
  const ExprPool &pool = facts.emulation().pool();
  std::optional<std::uint64_t> result;
  for (const facts::Term &term : access.form.uniform) {
    const Expr atom = term.atom->kind == ExprKind::uf && term.atom->child_count == 1 &&
                              pool.function_name(term.atom).starts_with("cvta.")
                          ? term.atom->children[0]
                          : term.atom;
    if (atom->kind != ExprKind::symbol || term.factor != 1)
      continue;
    for (const Variable &variable : facts.module().variables)
      if (pool.symbols()[atom->index].name == fmt::format("&{}", variable.name)) {
        if (result || variable.size() == 0)
          return std::nullopt;
        // From the last byte of a sector on, if the declaration does not say otherwise.
        const auto sector = static_cast<std::uint64_t>(facts::sector_bytes);
        const std::uint64_t into = variable.alignment >= sector ? 0 : sector - 1;
        result = (into + variable.size() + sector - 1) / sector;
      }
  }
  return result;
}

std::string coalescing_note(const facts::KernelFacts &facts, Access access,
                            const facts::Traffic &traffic) {
  if (access.usual)
    access.form = *access.usual;
  const std::string distance = stride_text(facts, access);
  const auto stride = facts.lane_stride(access);
  if (stride && std::abs(*stride) > access.site.bytes && std::abs(*stride) <= 32)
    return fmt::format("lanes are {} bytes apart and use {} of them: a structure of arrays instead "
                       "of an array of structures, or one vector access for what lies together",
                       *stride, access.site.bytes);
  if (!distance.empty() && distance != "0" && (!stride || std::abs(*stride) > 32))
    return fmt::format("lanes are {} bytes apart: swap the loops or the indices so that "
                       "neighbouring lanes touch neighbouring elements, or transpose through "
                       "shared memory: {}, {} would do",
                       distance, plural(traffic.sectors.typical, "sector"), traffic.ideal_sectors);
  if (stride && std::abs(*stride) == access.site.bytes && access.form.strides.empty() &&
      facts.layout().whole_rows)
    return "the warp begins in the middle of a sector: align the first element of each warp, by "
           "padding rows to a multiple of 32 bytes";
  return "rows of the block that share a warp lie apart in memory: make the block wider along x, "
         "or "
         "pad rows to a multiple of 32 bytes";
}

} // namespace

/// Returns true if two accesses differ at most in where they begin.
bool is_beside(const Access &a, const Access &b) {
  const auto same = [](const std::vector<facts::Term> &one, const std::vector<facts::Term> &two) {
    return std::equal(one.begin(), one.end(), two.begin(), two.end(),
                      [](const facts::Term &x, const facts::Term &y) {
                        return x.atom == y.atom && x.factor == y.factor;
                      });
  };
  return a.site.kind == b.site.kind && a.site.bytes == b.site.bytes && a.space == b.space &&
         std::equal(std::begin(a.form.tid), std::end(a.form.tid), std::begin(b.form.tid)) &&
         same(a.form.loops, b.form.loops) && same(a.form.uniform, b.form.uniform);
}

/// Returns true if an access is one part of what the threads of a warp read or write together
/// without a gap, in as many of the widest instructions as it takes: each fetches what the next
/// ones want.
bool is_part_of_wide(const facts::KernelFacts &facts, const Access &access) {
  constexpr std::int64_t widest = 16;
  const auto &form = access.form;
  if (access.site.bytes != widest || !facts.cfg().well_formed() || !form.is_linear() ||
      form.tid[0] <= widest || form.tid[1] != 0 || form.tid[2] != 0 || form.laneid != 0 ||
      !form.of_lane.empty() || !form.strides.empty())
    return false;
  const BlockId block = facts.cfg().block_of(access.site.instruction);
  std::set<std::int64_t> parts;
  for (const Access &other : facts.accesses())
    if (facts.cfg().block_of(other.site.instruction) == block && is_beside(access, other))
      parts.insert(other.form.constant);
  std::int64_t begin = form.constant, end = form.constant + widest;
  while (parts.contains(begin - widest))
    begin -= widest;
  while (parts.contains(end))
    end += widest;
  return end - begin == form.tid[0];
}

void find_uncoalesced(Context &context) {
  for (const Access &access : context.facts.accesses()) {
    if (access.space != StateSpace::global)
      continue;
    const facts::Traffic &traffic = context.facts.traffic(access);
    const Count &sectors = traffic.sectors;
    if (sectors.verdict == Verdict::unknown) {
      const std::uint64_t most = std::min<std::uint64_t>(
          {sectors.most, sectors_of_variable(context.facts, access).value_or(sectors.most),
           sectors_within_reach(context.facts, access).value_or(sectors.most)});
      if (traffic.lanes > 1 && beyond(context.options, most, traffic.ideal_sectors) &&
          is_indirect(context.facts, access))
        context.warnings.push_back(
            {Code::uncoalesced, access.site.instruction,
             fmt::format(
                 "excessive sectors: every lane of this {} goes where its own data says, up "
                 "to {} per warp where {} would do",
                 verb(access.site.kind), plural(most, "sector"), traffic.ideal_sectors),
             "sort or group what the indices come from, or stage the table in shared memory",
             most});
      continue;
    }
    // Where it is known where a warp begins, that counts, too; an unlucky pitch does not, unless
    // there is no lucky one.
    std::uint32_t cost = std::max(sectors.typical, sectors.least);
    const std::uint32_t without_beginnings = cost;
    if (!beyond(context.options, cost, traffic.ideal_sectors) &&
        beyond(context.options, sectors.most, traffic.ideal_sectors))
      cost = context.facts.certain_sectors(access);
    if (!beyond(context.options, cost, traffic.ideal_sectors) ||
        is_part_of_wide(context.facts, access))
      continue;
    const bool exact = sectors.least == sectors.most;
    context.warnings.push_back(
        {Code::uncoalesced, access.site.instruction,
         fmt::format("excessive sectors: this {} takes {}{} per warp where {} would do",
                     verb(access.site.kind), exact ? "" : "up to ", plural(cost, "sector"),
                     traffic.ideal_sectors),
         cost > without_beginnings
             ? "some warps begin in the middle of a sector, whatever the numbers of the launch: "
               "align the first element of a row, and pad rows to a multiple of 32 bytes"
             : coalescing_note(context.facts, access, traffic),
         cost});
  }
}

void find_bank_conflicts(Context &context) {
  for (const Access &access : context.facts.accesses()) {
    if (access.space != StateSpace::shared)
      continue;
    const facts::Traffic &traffic = context.facts.traffic(access);
    const Count &wavefronts = traffic.wavefronts;
    if (!access.form.is_linear() || !access.form.strides.empty()) {
      const auto rounds =
          access.loop == no_index ? std::nullopt : costs_of_rounds(context.facts, access);
      if (rounds && rounds->clash && beyond(context.options, rounds->sum, rounds->ideal_sum)) {
        context.warnings.push_back(
            {Code::bank_conflict, access.site.instruction,
             fmt::format(
                 "bank conflicts: this {} takes up to {} per warp where {} would do, as the "
                 "loop changes how far lanes are apart",
                 verb(access.site.kind), plural(rounds->most, "wavefront"), rounds->ideal),
             fmt::format("in a round lanes {} and {} want different words of bank {}: let "
                         "neighbouring lanes take neighbouring words in every round, as "
                         "s[t] += s[t + k] does where k is halved",
                         rounds->clash->lanes[0], rounds->clash->lanes[1], rounds->clash->bank),
             rounds->most});
        continue;
      }
    }
    if (wavefronts.verdict == Verdict::unknown ||
        !beyond(context.options, std::max(wavefronts.least, wavefronts.typical),
                traffic.ideal_wavefronts) ||
        wavefronts.typical <= traffic.ideal_wavefronts || !traffic.clash)
      continue;
    std::string note =
        fmt::format("lanes {} and {} want different words of bank {}", traffic.clash->lanes[0],
                    traffic.clash->lanes[1], traffic.clash->bank);
    if (const std::string distance = stride_text(context.facts, access); !distance.empty())
      note += fmt::format("; lanes are {} bytes apart", distance);
    note += ": pad each row by one element, or swizzle the index (xor it with the row)";
    context.warnings.push_back(
        {Code::bank_conflict, access.site.instruction,
         fmt::format("bank conflicts: this {} takes {} per warp where {} would do",
                     verb(access.site.kind), plural(wavefronts.typical, "wavefront"),
                     traffic.ideal_wavefronts),
         std::move(note), wavefronts.typical});
  }
}

/// Accesses to local memory that the compiler makes of printf and of trigonometric functions, which
/// no change of the source avoids: an argument of vprintf is stored before it is called; sin() and
/// its like reduce large arguments, where hardly anybody comes by, with a table of 2/pi.
class MadeByCompiler {
public:
  explicit MadeByCompiler(const Context &context)
      : module_(context.facts.module()), function_(context.facts.function()),
        cfg_(context.facts.cfg()) {
    for (BlockId block = 0; cfg_.well_formed() && block < cfg_.blocks().size(); ++block)
      if (names(cfg_.blocks()[block].first, block, "__cudart_i2opi_"))
        reductions_.push_back(block);
  }

  bool made(std::uint32_t access) const {
    if (!cfg_.well_formed())
      return false;
    const BlockId block = cfg_.block_of(access);
    return names(access, block, "vprintf") ||
           std::any_of(reductions_.begin(), reductions_.end(),
                       [&](BlockId table) { return cfg_.dominates(table, block); });
  }

private:
  // A name that begins so, from an instruction of a block to its end.
  bool names(std::uint32_t from, BlockId block, std::string_view beginning) const {
    for (std::uint32_t i = from; i < cfg_.blocks()[block].end; ++i)
      if (has_name(module_.operands(function_.instructions[i]), beginning))
        return true;
    return false;
  }

  bool has_name(std::span<const Operand> operands, std::string_view beginning) const {
    return std::any_of(operands.begin(), operands.end(), [&](const Operand &operand) {
      return (operand.kind == Operand::Kind::symbol &&
              module_.symbol(operand).name.starts_with(beginning)) ||
             has_name(module_.children(operand), beginning);
    });
  }

  const Module &module_;
  const Function &function_;
  const ControlFlowGraph &cfg_;
  std::vector<BlockId> reductions_;
};

void find_local_memory(Context &context) {
  std::optional<MadeByCompiler> by_compiler;
  for (const Access &access : context.facts.accesses()) {
    if (access.space != StateSpace::local)
      continue;
    if (!by_compiler)
      by_compiler.emplace(context);
    if (!by_compiler->made(access.site.instruction))
      context.warnings.push_back(
          {Code::local_memory, access.site.instruction,
           fmt::format("this {} goes to local memory{}", verb(access.site.kind),
                       access.loop_depth > 0 ? ", in a loop" : ""),
           "an array that is indexed by what the compiler does not know cannot be in registers: "
           "unroll the loop that indexes it, choose by comparisons, or use shared memory"});
  }
}

/// Of 32-bit integers ptxas has one lane update for all (seen in what ptxas 13.0 makes for sm_90).
bool is_combined(const Opcode &opcode) {
  return bit_width(opcode.type) == 32 && !is_float(opcode.type) && !opcode.has(Modifier::cas) &&
         !opcode.has(Modifier::exch);
}

void find_contended_atomics(Context &context) {
  for (const Access &access : context.facts.accesses()) {
    const Function &function = context.facts.function();
    const std::uint32_t lanes = context.facts.traffic(access).lanes;
    if (access.site.kind != AccessKind::atomic || access.space == StateSpace::generic ||
        lanes < 2 || !access.in_step || !access.form.is_uniform() ||
        is_combined(context.facts.module().opcode(function.instructions[access.site.instruction])))
      continue;
    context.warnings.push_back(
        {Code::contended_atomic, access.site.instruction,
         fmt::format("up to {} lanes of a warp update one address, one after the other", lanes),
         "put the values of the warp together first (__shfl_down_sync, cub::WarpReduce), and let "
         "one lane update; the compiler does so for 32-bit integers only",
         lanes});
  }
}

void find_uniform_loads(Context &context) {
  std::vector<const Access *> found;
  std::vector<std::uint32_t> loads;
  for (const Access &access : context.facts.accesses())
    if (access.site.kind == AccessKind::load && access.space == StateSpace::global &&
        access.loop != no_index && access.in_step && access.form.is_uniform()) {
      found.push_back(&access);
      loads.push_back(access.site.instruction);
    }
  // A loop that polls must load again and again, and not from constant memory.
  for (const std::uint32_t load : facts::awaited(
           {context.facts.module(), context.facts.function(), context.facts.cfg()}, loads))
    std::erase_if(found, [&](const Access *one) { return one->site.instruction == load; });
  for (const Access *const access : found) {
    Emulation &emulation = context.facts.emulation();
    const bool same = access->address && emulation.invariant(access->address, access->loop);
    context.warnings.push_back(
        {Code::uniform_load, access->site.instruction,
         "all lanes load one address, in every iteration of a loop",
         same ? "it is the same in all iterations, too: load it before the loop (a store that may "
                "change it is in the way of the compiler: __restrict__ and const tell it)"
              : "it is served once per warp and mostly from the cache, so that other ways are not "
                "always faster: a table that a launch does not change may go into __constant__ "
                "memory; or each lane loads another element and all share them"});
  }
}

void find_misaligned_vectors(Context &context) {
  for (const Access &access : context.facts.accesses()) {
    if (access.site.bytes < 2 || !access.form.is_linear())
      continue;
    if (!context.facts.traffic(access).misaligned)
      continue;
    context.warnings.push_back(
        {Code::misaligned_vector, access.site.instruction,
         fmt::format("no launch aligns this {} of {} bytes in every lane: it faults",
                     verb(access.site.kind), access.site.bytes),
         "addresses must be multiples of the size of the access: use narrower accesses, or pad the "
         "record or the row"});
  }
}

namespace {

/// A product without the factors that take the value 1 within a launch, as indices of blocks and
/// iterations of loops do: what the rest has to be a multiple of, all of it has.
Expr what_launch_gives(const facts::KernelFacts &facts, Expr what) {
  Expr product = what;
  while (product->kind == ExprKind::zext || product->kind == ExprKind::sext)
    product = product->children[0]; // the low bits are the same
  if (product->kind != ExprKind::product)
    return what;
  Emulation &emulation = facts.emulation();
  Expr rest = nullptr;
  for (const Expr child : product->operands()) {
    bool counts = child->kind == ExprKind::symbol &&
                  emulation.pool().symbols()[child->index].name.starts_with("%ctaid.");
    for (LoopId loop = 0; loop < facts.cfg().loops().size(); ++loop)
      counts = counts || child == emulation.trip_count(loop);
    if (!counts)
      rest = rest ? emulation.pool().mul(rest, child) : child;
  }
  return rest ? rest : what;
}

} // namespace

void find_vector_preconditions(Context &context) {
  ExprPool &pool = context.facts.emulation().pool();
  for (const Access &access : context.facts.accesses()) {
    const unsigned bytes = std::bit_floor(access.site.bytes);
    // Parameters lie where the ABI puts them.
    if (bytes < 8 || access.space == StateSpace::param || access.space == StateSpace::constant ||
        access.alignment >= bytes || !access.form.is_linear())
      continue;
    std::string needs;
    const auto need = [&](Expr what, std::int64_t factor) {
      what = what_launch_gives(context.facts, what);
      const auto zeros =
          static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(factor)));
      const unsigned left = zeros >= 5 ? 1 : bytes >> std::min(zeros, 5u);
      if (left <= 1 || what->trailing_zeros >= std::countr_zero(left))
        return;
      needs +=
          fmt::format("{}{} % {} == 0", needs.empty() ? "" : " and ", readable(pool, what), left);
    };
    for (const auto *terms : {&access.form.uniform, &access.form.loops})
      for (const facts::Term &term : *terms)
        need(term.atom, term.factor);
    for (const facts::StrideTerm &term : access.form.strides)
      need(term.by, term.factor);
    if (!needs.empty())
      context.warnings.push_back({Code::vector_precondition, access.site.instruction,
                                  fmt::format("this {} of {} bytes needs {}",
                                              verb(access.site.kind), access.site.bytes, needs),
                                  "each part by itself is enough; their sum would be, too"});
  }
}

} // namespace ptxasw::analysis::lint
