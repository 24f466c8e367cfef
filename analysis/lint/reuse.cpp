// A thread that walks a row or a chunk of its own reads a few bytes of a line in each iteration.
// The rest of the line serves its next iterations if no other thread's lines have driven it out by
// then. Counted are whole lines, although only the sectors that are read are fetched: by lines it
// is told where hit rates fall (docs/internals/cache-reuse.md). A line that the warp shares counts
// once; where lanes share sectors, walking costs little and nothing is said.
//
// All threads that a multiprocessor can hold are taken to be in the loop together: shared memory
// and the number of blocks limit them, registers are not known.

#include "analysis/lint/reuse.h"

#include "analysis/lint/lint.h"
#include "analysis/occupancy.h"
#include "emulator/facts/address_form.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/core.h>
#include <optional>
#include <set>

namespace ptxasw::analysis::lint {
namespace {

using facts::Access;
using facts::AddressForm;

constexpr std::int64_t line_bytes = 128;

bool mentions(const std::vector<facts::Term> &terms, Expr symbol) {
  return std::any_of(terms.begin(), terms.end(), [&](const facts::Term &term) {
    bool found = false;
    for_each_node(term.atom, [&](Expr node) { found = found || node == symbol; });
    return found;
  });
}

/// A number without what only says how wide it is.
Expr unextended(Expr expr) {
  while (expr->kind == ExprKind::zext || expr->kind == ExprKind::sext ||
         (expr->kind == ExprKind::extract && expr->index == 0))
    expr = expr->children[0];
  return expr;
}

/// Bytes by which an address goes on in each iteration of the innermost loop around it; nothing if
/// that is no number, or nothing.
std::optional<std::int64_t> step_of(const facts::KernelFacts &facts, const Access &access) {
  const Expr trip = facts.emulation().trip_count(access.loop);
  std::int64_t step = 0;
  for (const facts::Term &term : access.form.loops)
    if (unextended(term.atom) == trip)
      step += term.factor;
    else if (mentions({term}, trip))
      return std::nullopt;
  for (const auto *terms :
       {&access.form.uniform, &access.form.of_lane, &access.form.mixed, &access.form.varying})
    if (mentions(*terms, trip))
      return std::nullopt;
  return step == 0 ? std::nullopt : std::optional(step);
}

/// Returns true if a number is another one in each lane of a warp: a multiple of the lane's place
/// and what all share, or the rest of that by a number that all share.
bool counts_lanes(const facts::KernelFacts &facts, Expr expr, BlockId block) {
  const auto form = [&](Expr one) {
    return facts::address_form(facts.emulation(), facts.lane_values(), one, block);
  };
  if ((expr->kind == ExprKind::urem || expr->kind == ExprKind::srem) &&
      form(expr->children[1]).is_uniform())
    return counts_lanes(facts, unextended(expr->children[0]), block);
  const AddressForm place = form(expr);
  return place.is_linear() && place.tid[0] != 0;
}

/// Returns true if lanes are as far apart as a number of the launch says: of rows or chunks.
bool by_a_pitch(const facts::KernelFacts &facts, Expr atom, BlockId block) {
  const Expr product = unextended(atom);
  if (product->kind != ExprKind::product)
    return false;
  unsigned lanes = 0;
  for (const Expr child : product->operands()) {
    if (facts::address_form(facts.emulation(), facts.lane_values(), child, block).is_uniform())
      continue;
    if (!counts_lanes(facts, unextended(child), block))
      return false;
    ++lanes;
  }
  return lanes == 1;
}

/// Bytes of the lines that a full warp touches with one access; nothing if its lanes share sectors,
/// or if it is not known where they go.
std::optional<std::uint32_t> lines_of_warp(const facts::KernelFacts &facts, const Access &access) {
  const facts::Traffic &traffic = facts.traffic(access);
  if (traffic.lanes == 0)
    return std::nullopt;
  if (!access.form.is_linear()) {
    for (const auto *terms : {&access.form.mixed, &access.form.varying})
      for (const facts::Term &term : *terms)
        if (!by_a_pitch(facts, term.atom, access.block))
          return std::nullopt;
    return static_cast<std::uint32_t>(warp_lanes * line_bytes);
  }
  if (traffic.sectors.verdict == facts::Verdict::unknown || traffic.sectors.typical < traffic.lanes)
    return std::nullopt;
  return static_cast<std::uint32_t>(traffic.lines.typical * line_bytes * warp_lanes /
                                    traffic.lanes);
}

bool same_terms(const std::vector<facts::Term> &a, const std::vector<facts::Term> &b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const facts::Term &x, const facts::Term &y) {
                      return x.atom == y.atom && x.factor == y.factor;
                    });
}

/// Returns true if two accesses are a fixed number of bytes apart.
bool side_by_side(const AddressForm &a, const AddressForm &b) {
  return std::equal(std::begin(a.tid), std::end(a.tid), std::begin(b.tid)) &&
         a.laneid == b.laneid && same_terms(a.of_lane, b.of_lane) && same_terms(a.loops, b.loops) &&
         same_terms(a.uniform, b.uniform) && same_terms(a.mixed, b.mixed) &&
         same_terms(a.varying, b.varying) &&
         std::equal(a.strides.begin(), a.strides.end(), b.strides.begin(), b.strides.end(),
                    [](const facts::StrideTerm &x, const facts::StrideTerm &y) {
                      return x.lane == y.lane && x.by == y.by && x.factor == y.factor;
                    });
}

/// A stream on its way: where its accesses lie, from the first one on.
struct Walk {
  Stream stream;
  const AddressForm *form = nullptr;
  std::set<std::int64_t> places;
  bool loads = false;

  /// Iterations of the loop, and accesses of one, come to each sector more than once.
  bool reuses() const {
    return std::abs(stream.step) < facts::sector_bytes * static_cast<std::int64_t>(places.size());
  }
  bool near(std::int64_t place) const {
    return std::any_of(places.begin(), places.end(),
                       [&](std::int64_t one) { return std::abs(one - place) < line_bytes; });
  }
};

void add_access(const facts::KernelFacts &facts, const Access &access, std::vector<Walk> &walks) {
  if (access.space != StateSpace::global || !access.address ||
      access.site.kind == facts::AccessKind::atomic)
    return;
  const auto step = step_of(facts, access);
  const auto bytes = step ? lines_of_warp(facts, access) : std::nullopt;
  if (!bytes)
    return;
  auto found = std::find_if(walks.begin(), walks.end(), [&](const Walk &walk) {
    return side_by_side(*walk.form, access.form) && walk.near(access.form.constant);
  });
  if (found == walks.end()) {
    walks.push_back({{{}, *step, *bytes}, &access.form, {}, false});
    found = walks.end() - 1;
  }
  found->stream.accesses.push_back(access.number);
  found->places.insert(access.form.constant);
  found->loads |= access.site.kind == facts::AccessKind::load;
}

std::string kilobytes(std::uint64_t bytes) {
  return bytes % 1024 == 0 ? fmt::format("{} KB", bytes / 1024)
                           : fmt::format("{:.1f} KB", static_cast<double>(bytes) / 1024);
}

std::string places_of(const facts::KernelFacts &facts, const WalkedLoop &loop) {
  std::string text;
  for (const Stream &stream : loop.streams) {
    const Access &first = facts.accesses()[stream.accesses.front()];
    text += fmt::format("{}{}", text.empty() ? "" : ", ",
                        facts.function().instructions[first.site.instruction].line);
    if (stream.accesses.size() > 1)
      text += fmt::format(" (and {} more)", stream.accesses.size() - 1);
  }
  return text;
}

/// Which accesses, and what a thread, a block and a multiprocessor hold of their lines.
std::string working_set(const facts::KernelFacts &facts, const WalkedLoop &loop,
                        const Residence &now) {
  const std::uint64_t each = loop.bytes_per_warp();
  std::string block;
  if (!facts.layout().symbolic)
    block =
        fmt::format("{} per block of {}, ", kilobytes(lines_of(now.threads, each)), now.threads);
  return fmt::format("PTX line{} {}: {} bytes of cache lines per thread, {}{} on a multiprocessor",
                     loop.streams.size() == 1 ? "" : "s", places_of(facts, loop), each / warp_lanes,
                     block, kilobytes(lines_of(now.all, each)));
}

std::string way_out(const Residence &now, const Residence &best, std::uint64_t bytes_per_warp) {
  const std::uint64_t left = lines_of(best.all, bytes_per_warp);
  const std::string smaller =
      best.all < now.all
          ? fmt::format("blocks of {} threads leave {}, {}", best.threads, kilobytes(left),
                        left <= best.l1 ? "which fit" : "the least of all")
          : "no smaller block leaves fewer threads at a time";
  return "; " + smaller + "; or let neighbouring lanes read neighbouring elements";
}

} // namespace

std::uint64_t WalkedLoop::bytes_per_warp() const {
  std::uint64_t sum = 0;
  for (const Stream &stream : streams)
    sum += stream.bytes_per_warp;
  return sum;
}

std::vector<WalkedLoop> walked_loops(const facts::KernelFacts &facts) {
  std::vector<WalkedLoop> result;
  std::set<LoopId> seen;
  for (const Access &first : facts.accesses()) {
    if (first.loop == no_index || !seen.insert(first.loop).second)
      continue;
    std::vector<Walk> walks;
    for (const Access &access : facts.accesses())
      if (access.loop == first.loop)
        add_access(facts, access, walks);
    WalkedLoop loop{first.loop, {}};
    for (Walk &walk : walks)
      if (walk.loads && walk.reuses())
        loop.streams.push_back(std::move(walk.stream));
    if (!loop.streams.empty())
      result.push_back(std::move(loop));
  }
  return result;
}

std::uint64_t lines_of(std::uint64_t threads, std::uint64_t bytes_per_warp) {
  return (threads * bytes_per_warp + warp_lanes - 1) / warp_lanes;
}

Residence best_residence(const Architecture &architecture, std::uint64_t threads,
                         std::uint64_t shared, std::uint64_t bytes_per_warp) {
  Residence best = residence(architecture, threads, shared);
  for (std::uint64_t less = std::bit_floor(threads); less >= warp_lanes; less /= 2) {
    if (lines_of(best.all, bytes_per_warp) <= best.l1)
      break;
    if (const Residence now = residence(architecture, less, shared);
        now.all > 0 && now.all * best.l1 < best.all * now.l1)
      best = now;
  }
  return best;
}

Residence residence(const Architecture &architecture, std::uint64_t threads, std::uint64_t shared) {
  const Occupancy fits =
      occupancy(architecture, {.threads = threads, .static_shared = shared, .opted_in = true});
  const std::uint64_t taken = fits.blocks * fits.shared_per_block;
  return {static_cast<std::uint32_t>(threads), static_cast<std::uint32_t>(fits.blocks * threads),
          architecture.l1 > taken ? architecture.l1 - taken : 0};
}

std::uint64_t declared_shared(const facts::KernelFacts &facts) {
  std::uint64_t bytes = 0;
  for (const auto *variables : {&facts.module().variables, &facts.function().variables})
    for (const Variable &variable : *variables)
      if (variable.space == StateSpace::shared)
        bytes += variable.size();
  return bytes;
}

void find_reuse_thrashing(Context &context) {
  const facts::KernelFacts &facts = context.facts;
  const Architecture *const architecture = find_architecture(facts.module().target);
  if (!architecture)
    return;
  const facts::Layout &layout = facts.layout();
  const std::uint64_t shared = declared_shared(facts);
  // Of a block whose shape is not known it is only known that a multiprocessor may be full.
  const std::uint64_t threads =
      layout.symbolic ? architecture->threads_per_block
                      : std::uint64_t{layout.shape.x} * layout.shape.y * layout.shape.z;
  const Residence now = residence(*architecture, threads, shared);
  for (const WalkedLoop &loop : walked_loops(facts)) {
    const std::uint64_t each = loop.bytes_per_warp(), all = lines_of(now.all, each);
    if (now.all == 0 || all <= now.l1)
      continue;
    const Residence best = best_residence(*architecture, threads, shared, each);
    context.warnings.push_back(
        {Code::reuse_thrashing,
         facts.accesses()[loop.streams.front().accesses.front()].site.instruction,
         fmt::format("threads walk cache lines of their own in this loop, {} at a time where the "
                     "L1 of {} has {}",
                     kilobytes(all), architecture->name, kilobytes(now.l1)),
         working_set(facts, loop, now) + way_out(now, best, each), all / 1024,
         best.all < now.all ? best.threads : 0});
  }
}

} // namespace ptxasw::analysis::lint
