// The two bodies are compared byte for byte, but for the opcodes of loads of global memory, which
// may have `.nc` and else be the same. So each thread does the same instructions on the same
// registers.
//
// `.nc` demands that nobody writes what is read as long as the kernel runs. Who could?
//
//   - the host, or another kernel, ordered with the load by what a thread of this one does: nothing
//     in the kernel could be that (emulator/facts/writers.h). Not ordered, it would be a race with
//     the weak load that is there already, whose value is not defined either (PTX ISA 8.7.1). What
//     was written before the kernel began, or is written after its end, is no matter: caches do not
//     keep anything from one kernel to the next.
//   - a thread of this kernel: there is no store in its text that may go to global memory; or each
//     goes to an address that is made from other parameters and variables than the load's
//     (origins.h), and it was promised that these lead to arrays which do not overlap.

#include "synth/cache/cache.h"

#include "emulator/facts/writers.h"
#include "emulator/semantics/global_load.h"
#include "synth/cache/sites.h"
#include "synth/prove/header.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::inline synth {
namespace {

/// What is to be shown of a pair of functions.
class Requalification {
public:
  Requalification(const Module &before, const Function &kernel, const Module &after,
                  const Function &other, bool apart)
      : before_(before), kernel_(kernel), after_(after), other_(other), apart_(apart) {}

  /// What is not proved; empty: all is.
  std::string fault();

private:
  std::string fault_at(std::size_t i);
  /// What may write what a load reads.
  std::optional<std::uint32_t> writer_of(std::uint32_t load, facts::Writers &writers) const;

  const Module &before_;
  const Function &kernel_;
  const Module &after_;
  const Function &other_;
  const bool apart_;
  std::vector<std::uint32_t> became_nc_;
};

std::string Requalification::fault() {
  if (kernel_.instructions.size() != other_.instructions.size())
    return "it has more instructions, or fewer";
  std::uint32_t mine = kernel_.body.begin, theirs = other_.body.begin;
  for (std::size_t i = 0; i < kernel_.instructions.size(); ++i) {
    const Instruction &a = kernel_.instructions[i], &b = other_.instructions[i];
    if (before_.text({mine, a.opcode_span.begin}) != after_.text({theirs, b.opcode_span.begin}))
      return fmt::format("line {}: something else than an opcode is another one", b.line);
    if (std::string why = fault_at(i); !why.empty())
      return fmt::format("line {}: {}", b.line, why);
    mine = a.opcode_span.end;
    theirs = b.opcode_span.end;
  }
  if (before_.text({mine, kernel_.body.end}) != after_.text({theirs, other_.body.end}))
    return "its end is another one";
  facts::Writers writers(before_, kernel_);
  for (const std::uint32_t load : became_nc_)
    if (const auto by = writer_of(load, writers))
      return fmt::format("line {}: line {} may write what it reads", other_.instructions[load].line,
                         kernel_.instructions[*by].line);
  return "";
}

std::optional<std::uint32_t> Requalification::writer_of(std::uint32_t load,
                                                        facts::Writers &writers) const {
  if (writers.unknown() || writers.stores().empty())
    return writers.unknown();
  const auto conflict = apart_ ? writers.conflict(load) : facts::Conflict{writers.stores().front()};
  return conflict ? std::optional(conflict->store) : std::nullopt;
}

std::string Requalification::fault_at(std::size_t i) {
  const Instruction &a = kernel_.instructions[i], &b = other_.instructions[i];
  if (before_.text(a.opcode_span) == after_.text(b.opcode_span))
    return "";
  const auto was = qualified_load(before_.opcode(a));
  if (!was || was->hinted || was->nc || !a.well_formed || !b.well_formed)
    return "an opcode changed that must not";
  constexpr std::string_view space = "ld.global";
  std::string wanted(before_.text(a.opcode_span));
  if (!wanted.starts_with(space) ||
      after_.text(b.opcode_span) != wanted.insert(space.size(), ".nc"))
    return "it loads something else";
  if (const std::string_view old = cache::too_old_for_nc(after_); !old.empty())
    return std::string(old);
  became_nc_.push_back(static_cast<std::uint32_t>(i));
  return "";
}

std::string fault_between(const Module &before, const Function &kernel, const Module &after,
                          const Function &other, bool apart) {
  if (std::string fault = same_launch_header_fault(before, kernel, after, other); !fault.empty())
    return fault;
  return Requalification(before, kernel, after, other, apart).fault();
}

} // namespace

std::string prove_requalified(const Module &before, const Function &kernel, const Module &after,
                              const Function &other) {
  std::string fault = proof::surroundings_fault(before, kernel, after, other);
  return fault.empty() ? fault_between(before, kernel, after, other, false) : fault;
}

std::string prove_cache(const KernelContext &context, const Function &sibling,
                        const Proposal &proposal) {
  const auto &[written, kernel] = std::tie(context.module, context.kernel);
  if (std::string fault = same_launch_fault(context, proposal); !fault.empty())
    return fault;
  return fault_between(written, kernel, written, sibling, proposal.promise == arrays_apart);
}

} // namespace ptxasw::synth
