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
#include "grammar/edits.h"
#include "synth/prove/header.h"
#include "synth/same_launch.h"

#include <fmt/core.h>
#include <vector>

namespace ptxasw::synth {
namespace {

using proof::show_at;

/// The loads that became `.nc` in another function, whose body is else the kernel's.
std::vector<std::uint32_t> requalified_loads(const Module &before, const Function &kernel,
                                             const Module &after, const Function &other) {
  show_at(other.line, kernel.instructions.size() == other.instructions.size(),
          "it has more instructions, or fewer");
  std::vector<std::uint32_t> loads;
  Edits back; // to the kernel's opcodes
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &a = kernel.instructions[i], &b = other.instructions[i];
    const std::string_view was = before.text(a.opcode_span), now = after.text(b.opcode_span);
    if (was == now)
      continue;
    const auto load = qualified_load(before.opcode(a));
    show_at(b.line,
            load && !load->hinted && !load->nc && a.well_formed && b.well_formed &&
                was.starts_with(cache::before_nc) &&
                now ==
                    fmt::format("{}.nc{}", cache::before_nc, was.substr(cache::before_nc.size())),
            "an opcode changed that must not");
    show_at(b.line, cache::has_nc(after), cache::too_old.meaning);
    loads.push_back(i);
    back.replace({b.opcode_span.begin - other.body.begin, b.opcode_span.end - other.body.begin},
                 std::string(was));
  }
  show_at(other.line, back.apply(after.text(other.body)) == before.text(kernel.body),
          "something else than an opcode is another one");
  return loads;
}

void check_requalified(const Module &before, const Function &kernel, const Module &after,
                       const Function &other, bool apart) {
  check_same_header(before, kernel, after, other);
  facts::Writers writers(before, kernel);
  for (const std::uint32_t load : requalified_loads(before, kernel, after, other)) {
    const auto conflict = writers.conflict(load, apart);
    if (const auto by = writers.unknown() ? writers.unknown()
                        : conflict        ? std::optional(conflict->store)
                                          : std::nullopt)
      show_at(other.instructions[load].line, false,
              fmt::format("line {} may write what it reads", kernel.instructions[*by].line));
  }
}

} // namespace

proof::Proved prove_requalified(const Module &before, const Function &kernel, const Module &after,
                                const Function &other) {
  return proof::proved([&] {
    proof::check_surroundings(before, kernel, after, other);
    check_requalified(before, kernel, after, other, false);
  });
}

proof::Proved prove_cache(const KernelContext &context, const Function &sibling,
                          const Proposal &proposal) {
  return proof::proved([&] {
    check_same_launch(context, proposal);
    check_requalified(context.module, context.kernel, context.module, sibling,
                      proposal.promise == arrays_apart);
  });
}

} // namespace ptxasw::synth
