// What decides is how often lines are read, as far as facts show it without a launch:
//
//   again: a loop around the load goes on by less than a line, or not at all; or every block reads
//          the same; or other loads read places in the same array, as those of a stencil do
//   once:  lanes read side by side, each block its own, and nothing else reads the array
//
// A hint is no promise, so this needs no proof. For `.nc` the array of each address is looked up
// among the addends of its expression, and by the text, as the proof does it (unwritten.h): a load
// of which only one of the two knows stays as it was.

#include "synth/cache/sites.h"

#include "emulator/facts/waiting.h"
#include "synth/cache/qualified.h"
#include "synth/cache/unwritten.h"

#include <algorithm>
#include <cstdlib>
#include <fmt/core.h>
#include <map>
#include <set>

namespace ptxasw::inline synth::cache {
namespace {

using facts::Access;
using facts::AccessKind;
using facts::KernelFacts;

namespace refusal {
constexpr Refusal unknown{"control-flow", "the kernel is too large, or not understood"};
constexpr Refusal nothing{"no-global-load", "no load of global memory without qualifiers"};
constexpr Refusal old{"target-too-old", "the module's PTX version or target has no such qualifier"};
constexpr Refusal written{"may-be-written", "the kernel may write what it reads"};
constexpr Refusal address{"unknown-address", "which array it reads or writes is not known"};
constexpr Refusal polls{"decides-the-end", "the end of the loop depends on what the load reads"};
constexpr Refusal once{"not-reused", "no line is seen to be read again"};
constexpr Refusal again{"not-streamed", "no array is seen to be read once, side by side"};
} // namespace refusal

constexpr std::int64_t line_bytes = 128;

Refusal at(Refusal refusal, const Instruction &instruction) {
  refusal.line = instruction.line;
  return refusal;
}

/// What is worked out once for all accesses of a kernel.
class Sites {
public:
  Sites(const KernelFacts &facts, const Wishes &wishes)
      : module_(facts.module()), kernel_(facts.function()), wishes_(wishes), facts_(facts),
        unwritten_(facts.module(), facts.function(), wishes.apart), writers_(unwritten_.writers()) {
  }

  Changes run();

private:
  /// The name of the one parameter or variable that an address is a distance from; nothing if it
  /// has none, several, or holds what memory held.
  std::optional<std::string> array_of(const Access &access);
  std::optional<std::string> name_of(Expr symbol);
  bool hides_pointer(Expr distance);
  bool depends_on_block(Expr expr, std::set<Expr> &seen);
  /// Bytes from one round of the innermost loop to the next; nothing if there is no loop, or they
  /// are not known.
  std::optional<std::int64_t> step_of(const Access &access);
  bool has_neighbours(const Access &access);
  bool is_reused(const Access &access);
  bool is_streamed(const Access &access);
  /// Why a load must not be `.nc`.
  std::optional<Refusal> reach_of(const Access &access);
  std::optional<Refusal> conflict_of(const Access &access);
  bool is_old(const QualifiedLoad &load);
  void consider(const Access &access, const QualifiedLoad &before);
  void refuse(const Refusal &refusal) { add_refusal(result_.refusals, refusal); }

  const Module &module_;
  const Function &kernel_;
  const Wishes &wishes_;
  const KernelFacts &facts_;
  Unwritten unwritten_;
  const Writers &writers_;
  std::map<std::uint32_t, std::optional<std::string>> arrays_; ///< by number of the access
  bool reused_ = false, streamed_ = false;                     ///< some load is
  Changes result_;
};

std::optional<std::string> Sites::name_of(Expr symbol) {
  if (const auto field = facts_.emulation().parameter_field(symbol))
    return fmt::format("{}+{}", field->parameter, field->offset);
  for (const Variable &variable : module_.variables)
    if (facts_.emulation().symbol_address(variable.name) == symbol)
      return std::string(variable.name);
  return std::nullopt;
}

/// Returns true if a distance has bits of a pointer in it that may become one again.
bool Sites::hides_pointer(Expr distance) {
  bool result = false;
  for_each_node(distance, [&](Expr node) {
    if (node->width != 64 || node->kind == ExprKind::sum || node->kind == ExprKind::product ||
        node->kind == ExprKind::symbol)
      return;
    for_each_node(node, [&](Expr inner) {
      result |= inner->kind == ExprKind::symbol && inner->width == 64 && name_of(inner).has_value();
    });
  });
  return result;
}

std::optional<std::string> Sites::array_of(const Access &access) {
  const auto known = arrays_.find(access.number);
  if (known != arrays_.end())
    return known->second;
  std::optional<std::string> &result = arrays_[access.number];
  if (!access.address || access.address->width != 64)
    return std::nullopt;
  std::vector<Expr> addends{access.address};
  if (access.address->kind == ExprKind::sum) {
    addends.clear();
    for (std::uint32_t i = 0; i < access.address->child_count; ++i) {
      const Expr addend = access.address->children[i];
      const bool once = access.address->coefficients[i] == 1;
      if (!once && addend->kind == ExprKind::symbol && addend->width == 64 && name_of(addend))
        return std::nullopt; // a pointer that is taken away, or several times
      if (once || hides_pointer(addend))
        addends.push_back(addend);
    }
  }
  unsigned arrays = 0;
  for (const Expr addend : addends) {
    if (addend->kind == ExprKind::sext || addend->kind == ExprKind::zext)
      continue;
    ++arrays;
    result = addend->kind == ExprKind::symbol ? name_of(addend) : std::nullopt;
    if (!result)
      return std::nullopt;
  }
  if (arrays != 1)
    result.reset();
  return result;
}

bool Sites::depends_on_block(Expr expr, std::set<Expr> &seen) {
  if (!seen.insert(expr).second)
    return false;
  for (const char *name : {"%ctaid.x", "%ctaid.y", "%ctaid.z"})
    if (facts_.emulation().special(name) == expr)
      return true;
  // What memory held, or what flows brought together, may do so, too.
  if (expr->kind == ExprKind::symbol &&
      (facts_.emulation().produced_by(expr) || facts_.emulation().join_register(expr) ||
       facts_.emulation().loop_register(expr)))
    return true;
  return std::any_of(expr->operands().begin(), expr->operands().end(),
                     [&](Expr child) { return depends_on_block(child, seen); });
}

std::optional<std::int64_t> Sites::step_of(const Access &access) {
  if (access.loop == no_index)
    return std::nullopt;
  const facts::AddressForm &form = access.form;
  const auto stays = [&](Expr part) { return facts_.emulation().invariant(part, access.loop); };
  for (const auto *terms : {&form.of_lane, &form.uniform, &form.mixed, &form.varying})
    for (const facts::Term &term : *terms)
      if (!stays(term.atom))
        return std::nullopt;
  for (const facts::StrideTerm &stride : form.strides)
    if (!stays(stride.by) || !stays(stride.lane))
      return std::nullopt;
  const Expr trip = facts_.emulation().trip_count(access.loop);
  for (const facts::Term &term : form.loops)
    if (term.atom == trip)
      return std::abs(term.factor);
  return 0;
}

bool Sites::has_neighbours(const Access &access) {
  const auto array = array_of(access);
  return array &&
         std::any_of(facts_.accesses().begin(), facts_.accesses().end(), [&](const Access &other) {
           return other.number != access.number && other.site.kind == AccessKind::load &&
                  other.address != access.address && array_of(other) == array;
         });
}

bool Sites::is_reused(const Access &access) {
  const auto step = step_of(access);
  std::set<Expr> seen;
  return access.address && ((step && *step < line_bytes) || has_neighbours(access) ||
                            !depends_on_block(access.address, seen));
}

bool Sites::is_streamed(const Access &access) {
  const auto step = step_of(access);
  return !is_reused(access) && array_of(access) && access.form.is_linear() &&
         access.form.tid[0] == access.site.bytes && access.form.strides.empty() &&
         (access.loop == no_index || (step && *step >= line_bytes));
}

std::optional<Refusal> Sites::conflict_of(const Access &access) {
  const auto array = array_of(access);
  for (const std::uint32_t store : writers_.stores) {
    const auto other =
        std::find_if(facts_.accesses().begin(), facts_.accesses().end(), [&](const Access &one) {
          return one.site.instruction == store && one.site.kind != AccessKind::load;
        });
    if (other == facts_.accesses().end())
      continue; // never reached
    const auto to = array_of(*other);
    const Instruction &instruction = kernel_.instructions[store];
    if (!wishes_.apart || (array && to == array))
      return at(refusal::written, instruction);
    if (!to)
      return at(refusal::address, instruction);
  }
  return std::nullopt;
}

std::optional<Refusal> Sites::reach_of(const Access &access) {
  const Instruction &instruction = kernel_.instructions[access.site.instruction];
  if (writers_.unknown)
    return writers_.unknown;
  if (const auto conflict = conflict_of(access))
    return conflict;
  if (!writers_.stores.empty() && !array_of(access))
    return at(refusal::address, instruction);
  if (facts_.cfg().irreducible(facts_.cfg().block_of(access.site.instruction)))
    return at(refusal::polls, instruction); // it may go round without a loop that is known
  LoopId outermost = access.loop;
  for (LoopId loop = access.loop; loop != no_index; loop = facts_.cfg().loops()[loop].parent)
    outermost = loop;
  if (outermost != no_index &&
      facts::decides_end(module_, kernel_, facts_.cfg(), outermost, access.site.instruction))
    return at(refusal::polls, instruction);
  if (!unwritten_.fault(instruction).empty()) // the expression shows it, the text does not
    return at(refusal::address, instruction);
  return std::nullopt;
}

/// Says so once.
bool Sites::is_old(const QualifiedLoad &load) {
  const std::string_view why = too_old_for(module_, load);
  if (why.empty())
    return false;
  refuse({refusal::old.reason, why});
  return true;
}

void Sites::consider(const Access &access, const QualifiedLoad &before) {
  QualifiedLoad load = before;
  const auto wish = [&](auto &&set) {
    QualifiedLoad wished = load;
    set(wished);
    if (!is_old(wished))
      load = wished;
  };
  if (wishes_.nc && !before.nc) {
    if (const auto reach = reach_of(access))
      refuse(*reach);
    else
      wish([](QualifiedLoad &one) { one.nc = true; });
  }
  const bool reused = is_reused(access), streamed = is_streamed(access);
  if (wishes_.evict_last && reused)
    wish([](QualifiedLoad &one) { one.l1 = "evict_last"; });
  if (wishes_.no_allocate && streamed)
    wish([](QualifiedLoad &one) { one.l1 = "no_allocate"; });
  const std::int64_t step = step_of(access).value_or(0);
  if (wishes_.l2_128 && (streamed || (step != 0 && step < line_bytes)))
    wish([](QualifiedLoad &one) { one.l2 = "128B"; });
  reused_ |= reused;
  streamed_ |= streamed;
  if (std::string opcode = load.opcode(); opcode != before.opcode())
    result_.changes.push_back({access.site.instruction, std::move(opcode)});
}

Changes Sites::run() {
  if (!facts_.complete() || !facts_.cfg().well_formed()) {
    refuse(refusal::unknown);
    return std::move(result_);
  }
  bool any = false;
  for (const Access &access : facts_.accesses()) {
    const Instruction &instruction = kernel_.instructions[access.site.instruction];
    const auto load = qualified_load(module_.opcode(instruction));
    if (access.site.kind != AccessKind::load || !load || !load->is_plain() ||
        !instruction.well_formed)
      continue;
    any = true;
    consider(access, *load);
  }
  if (!any)
    refuse(refusal::nothing);
  else if (wishes_.evict_last && !reused_)
    refuse(refusal::once);
  else if (wishes_.no_allocate && !streamed_)
    refuse(refusal::again);
  return std::move(result_);
}

} // namespace

std::optional<Wishes> wishes_of(std::string_view variant) {
  Wishes wishes;
  if (variant == "nc" || variant == "nc-apart")
    wishes.nc = true;
  else if (variant == "hints")
    wishes.evict_last = wishes.no_allocate = wishes.l2_128 = true;
  else if (variant == "evict-last")
    wishes.evict_last = true;
  else if (variant == "no-allocate")
    wishes.no_allocate = true;
  else if (variant == "l2-128")
    wishes.l2_128 = true;
  else
    return std::nullopt;
  wishes.apart = variant == "nc-apart";
  return wishes;
}

Changes changes_of(const facts::KernelFacts &facts, const Wishes &wishes) {
  return Sites(facts, wishes).run();
}

} // namespace ptxasw::synth::cache
