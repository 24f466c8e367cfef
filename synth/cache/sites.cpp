// What may write what a load reads is told by the text alone (emulator/facts/writers.h), as to the
// proof. Besides, a load on which the end of a loop depends stays: the program may wait there.

#include "synth/cache/sites.h"

#include "emulator/facts/waiting.h"
#include "emulator/facts/writers.h"
#include "emulator/semantics/global_load.h"

#include <optional>

namespace ptxasw::inline synth::cache {
namespace {

using facts::Access;
using facts::AccessKind;
using facts::KernelFacts;

namespace refusal {
constexpr Refusal nothing{"no-global-load", "no load of global memory without qualifiers"};
constexpr Refusal address{"unknown-address", "which array it reads or writes is not known"};
constexpr Refusal ordered{"synchronises",
                          "it may see what others write while it runs, or writes anywhere"};
} // namespace refusal

/// What is worked out once for all accesses of a kernel.
class LoadFinder {
public:
  LoadFinder(const KernelFacts &facts, bool apart)
      : module_(facts.module()), kernel_(facts.function()), apart_(apart), facts_(facts),
        writers_(facts.module(), facts.function()) {}

  Sites<std::uint32_t> run();

private:
  /// Why a load must not be `.nc`.
  std::optional<Refusal> reach_of(const Access &access);
  std::optional<Refusal> conflict_of(std::uint32_t load);
  void refuse(const Refusal &refusal) { add_refusal(result_.refusals, refusal); }

  const Module &module_;
  const Function &kernel_;
  const bool apart_;
  const KernelFacts &facts_;
  facts::Writers writers_;
  Sites<std::uint32_t> result_;
};

std::optional<Refusal> LoadFinder::conflict_of(std::uint32_t load) {
  const auto &all = kernel_.instructions;
  if (const auto unknown = writers_.unknown())
    return refusal::ordered.at(all[*unknown].line);
  const auto conflict = writers_.conflict(load, apart_);
  if (!conflict)
    return std::nullopt;
  return conflict->unknown == no_index ? refusals::may_be_written.at(all[conflict->store].line)
                                       : refusal::address.at(all[conflict->unknown].line);
}

std::optional<Refusal> LoadFinder::reach_of(const Access &access) {
  const Instruction &instruction = kernel_.instructions[access.site.instruction];
  if (const auto conflict = conflict_of(access.site.instruction))
    return conflict;
  if (facts_.cfg().irreducible(facts_.cfg().block_of(access.site.instruction)))
    return refusals::decides_the_end.at(
        instruction.line); // it may go round without a loop that is known
  LoopId outermost = access.loop;
  for (LoopId loop = access.loop; loop != no_index; loop = facts_.cfg().loops()[loop].parent)
    outermost = loop;
  if (outermost != no_index &&
      facts::decides_end(module_, kernel_, facts_.cfg(), outermost, access.site.instruction))
    return refusals::decides_the_end.at(instruction.line);
  return std::nullopt;
}

Sites<std::uint32_t> LoadFinder::run() {
  if (!facts_.complete() || !facts_.cfg().well_formed()) {
    refuse(refusals::control_flow);
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
      result_.sites.push_back(access.site.instruction);
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

Sites<std::uint32_t> read_only_loads(const facts::KernelFacts &facts, bool apart) {
  return LoadFinder(facts, apart).run();
}

} // namespace ptxasw::synth::cache
