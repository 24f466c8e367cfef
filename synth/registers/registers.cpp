// Occupancy by a limit of registers (`.maxnreg`, PTX ISA 11.4.2), the kernel once more: more
// threads fit, and the assembler is free to use all of them instead of as few as it likes. It may
// have to spill; so this is for launches to choose, by measuring.
//
// Everything but the name, `.maxnreg` and what it excludes is copied: the body is the kernel's own,
// byte for byte, and so is what its names can mean; that is the proof. A kernel whose author has
// limited its registers, directly or by blocks per multiprocessor, is left alone.

#include "synth/same_launch.h"

#include <algorithm>

namespace ptxasw::synth {
namespace {

constexpr std::string_view limit_directive = "maxnreg";

constexpr Refusal moved{"registers-moved",
                        "warps hand registers to each other, of those that a block begins with"};

/// With `setmaxnreg` warps wait for registers that others of the block give back (PTX ISA
/// 9.7.19.5): of a smaller number they may wait forever. A function that is called may do so, too.
bool moves_registers(const Module &module) {
  return std::any_of(module.opcodes.begin(), module.opcodes.end(),
                     [](const Opcode &opcode) { return opcode.op == Op::setmaxnreg; });
}

/// Steps at which another block fits on a multiprocessor with 65,536 registers, for blocks of 128
/// to 512 threads.
constexpr std::string_view register_limits[] = {"32", "40", "48", "56", "64", "80", "96", "128"};

FamilyAnswer propose_registers(const KernelContext &context) {
  if (limits_registers(context.kernel))
    return {{}, {refusals::registers_given}};
  if (moves_registers(context.module))
    return {{}, {moved}};
  FamilyAnswer answer;
  for (const std::string_view limit : register_limits) {
    answer.proposals.push_back(same_launch_proposal(context.kernel, "registers", limit));
    answer.proposals.back().registers = number_in(limit);
  }
  return answer;
}

std::string write_registers(const KernelContext &context, const Proposal &proposal) {
  return same_launch_version(context, proposal, std::nullopt);
}

proof::Proved prove_registers(const KernelContext &context, const Function &sibling,
                              const Proposal &proposal) {
  return proof::proved([&] {
    const Module &module = context.module;
    check_same_launch(context, proposal);
    proof::show(!moves_registers(module), moved.meaning);
    proof::show(module.text(context.kernel.body) == module.text(sibling.body),
                "its body is another");
    check_same_header(module, context.kernel, module, sibling, {.directive = limit_directive});
  });
}

} // namespace

const Family registers_family = {
    .name = "registers",
    .option = "maxnreg",
    .help =
        "add versions that are the kernel itself with at most this number of registers per thread",
    .same_launch = true,
    .variants = listed<register_limits>,
    .propose = propose_registers,
    .write = write_registers,
    .prove = prove_registers,
    .changes_no_bound = true,
};

} // namespace ptxasw::synth
