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
#include "synth/prove/header.h"
#include "synth/same_launch.h"

#include <fmt/core.h>
#include <vector>

namespace ptxasw::synth {
namespace {

using proof::show_at;

void check_requalified(const Module &before, const Function &kernel, const Module &after,
                       const Function &other, bool apart) {
  check_same_header(before, kernel, after, other);
  show_at(other.line, kernel.instructions.size() == other.instructions.size(),
          "it has more instructions, or fewer");
  facts::Writers writers(before, kernel);
  std::vector<std::uint32_t> loads; // that became `.nc`
  for (std::uint32_t i = 0; i < kernel.instructions.size(); ++i) {
    const Instruction &own = kernel.instructions[i], &now = other.instructions[i];
    if (before.text(own.opcode_span) == after.text(now.opcode_span))
      continue;
    const auto load = qualified_load(before.opcode(own));
    show_at(now.line, load && !load->hinted && !load->nc && own.well_formed,
            "an opcode changed that must not");
    show_at(now.line, has_nc(after), nc_too_new.meaning);
    auto by = writers.unknown();
    if (const auto conflict = by ? std::nullopt : writers.conflict(i, apart))
      by = conflict->store;
    show_at(
        now.line, !by,
        fmt::format("line {} may write what it reads", kernel.instructions[by.value_or(i)].line));
    loads.push_back(i);
  }
  const auto expected = with_nc(before, kernel, loads);
  const std::size_t own_end = before.text().size() - kernel.body.end;
  show_at(other.line,
          expected && std::string_view(*expected)
                              .substr(0, expected->size() - own_end)
                              .substr(kernel.body.begin) == after.text(other.body),
          "something else than an opcode is another one");
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
