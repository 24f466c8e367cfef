// The array of each address is looked up among the addends of its expression, and by the text, as
// the proof does it (unwritten.h): a load of which only one of the two knows stays as it was.

#include "synth/cache/sites.h"

#include "emulator/facts/waiting.h"
#include "synth/cache/qualified.h"
#include "synth/cache/unwritten.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <optional>
#include <string>

namespace ptxasw::inline synth::cache {
namespace {

using facts::Access;
using facts::AccessKind;
using facts::KernelFacts;

namespace refusal {
constexpr Refusal unknown{"control-flow", "the kernel is too large, or not understood"};
constexpr Refusal nothing{"no-global-load", "no load of global memory without qualifiers"};
constexpr Refusal written{"may-be-written", "the kernel may write what it reads"};
constexpr Refusal address{"unknown-address", "which array it reads or writes is not known"};
constexpr Refusal polls{"decides-the-end", "the end of the loop depends on what the load reads"};
} // namespace refusal

Refusal at(Refusal refusal, const Instruction &instruction) {
  refusal.line = instruction.line;
  return refusal;
}

/// What is worked out once for all accesses of a kernel.
class Sites {
public:
  Sites(const KernelFacts &facts, bool apart)
      : module_(facts.module()), kernel_(facts.function()), apart_(apart), facts_(facts),
        unwritten_(facts.module(), facts.function(), apart), writers_(unwritten_.writers()) {}

  ReadOnlyLoads run();

private:
  /// The name of the one parameter or variable that an address is a distance from; nothing if it
  /// has none, several, or holds what memory held.
  std::optional<std::string> array_of(const Access &access);
  std::optional<std::string> name_of(Expr symbol);
  bool hides_pointer(Expr distance);
  /// Why a load must not be `.nc`.
  std::optional<Refusal> reach_of(const Access &access);
  std::optional<Refusal> conflict_of(const Access &access);
  void refuse(const Refusal &refusal) { add_refusal(result_.refusals, refusal); }

  const Module &module_;
  const Function &kernel_;
  const bool apart_;
  const KernelFacts &facts_;
  Unwritten unwritten_;
  const Writers &writers_;
  std::map<std::uint32_t, std::optional<std::string>> arrays_; ///< by number of the access
  ReadOnlyLoads result_;
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
    if (!apart_ || (array && to == array))
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

ReadOnlyLoads Sites::run() {
  if (!facts_.complete() || !facts_.cfg().well_formed()) {
    refuse(refusal::unknown);
    return std::move(result_);
  }
  const std::string_view old = too_old_for_nc(module_);
  bool any = false;
  for (const Access &access : facts_.accesses()) {
    const Instruction &instruction = kernel_.instructions[access.site.instruction];
    const auto load = qualified_load(module_.opcode(instruction));
    if (access.site.kind != AccessKind::load || !load || load->hinted || !instruction.well_formed)
      continue;
    any = true;
    if (load->nc)
      continue;
    if (const auto reach = reach_of(access))
      refuse(*reach);
    else if (!old.empty())
      refuse({"target-too-old", old});
    else
      result_.loads.push_back(access.site.instruction);
  }
  if (!any)
    refuse(refusal::nothing);
  return std::move(result_);
}

} // namespace

std::string_view too_old_for_nc(const Module &module) {
  const unsigned version = 100 * module.version_major + module.version_minor;
  return version < 301 || module.sm < 32 ? ".nc needs PTX 3.1 and sm_32" : "";
}

ReadOnlyLoads read_only_loads(const facts::KernelFacts &facts, bool apart) {
  return Sites(facts, apart).run();
}

} // namespace ptxasw::synth::cache
