// Everything but the name, `.maxnreg` and what it excludes is copied. A kernel whose author has
// limited its registers, directly or by blocks per multiprocessor, is left alone.

#include "synth/registers/registers.h"

#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace ptxasw::inline synth {
namespace {

constexpr std::string_view limit_directive = "maxnreg";

constexpr Refusal no_entry{"no-kernel", "no kernel with a body"};
constexpr Refusal limited{"registers-given",
                          "the kernel says itself how many registers it may have"};
constexpr Refusal debugged{"debug-module", "the module is compiled for debugging"};
constexpr Refusal moved{"registers-moved",
                        "warps hand registers to each other, of those that a block begins with"};

bool is_limit(std::string_view directive) {
  return directive == limit_directive || directive == "minnctapersm" || directive == "maxnctapersm";
}

/// Why a limit could change more than the time. With `setmaxnreg` warps wait for registers that
/// others of the block give back (PTX ISA 9.7.19.5): of a smaller number they may wait forever. A
/// function that is called may do so, too.
std::optional<Refusal> obstacle(const Module &module, const Function &kernel) {
  if (std::any_of(module.opcodes.begin(), module.opcodes.end(),
                  [](const Opcode &opcode) { return opcode.op == Op::setmaxnreg; }))
    return moved;
  return same_launch_obstacle(module, kernel);
}

/// Steps at which another block fits on a multiprocessor with 65,536 registers, for blocks of 128
/// to 512 threads.
const std::vector<std::string> &register_limits() {
  static const std::vector<std::string> all{"32", "40", "48", "56", "64", "80", "96", "128"};
  return all;
}

} // namespace

FamilyAnswer propose_registers(const Module &module, const Function &kernel) {
  FamilyAnswer answer;
  const bool is_limited =
      std::any_of(kernel.directives.begin(), kernel.directives.end(),
                  [](const PerformanceDirective &one) { return is_limit(one.name); });
  if (!kernel.is_entry || !kernel.has_body)
    answer.refusals.push_back(no_entry);
  else if (module.debug)
    answer.refusals.push_back(debugged);
  else if (is_limited)
    answer.refusals.push_back(limited);
  else if (const auto in_the_way = obstacle(module, kernel))
    answer.refusals.push_back(*in_the_way);
  if (!answer.refusals.empty())
    return answer;
  for (const std::string &limit : register_limits())
    answer.proposals.push_back(same_launch_proposal(kernel, "registers", limit));
  return answer;
}

std::string write_registers(const Module &module, const Function &kernel,
                            const Proposal &proposal) {
  return fmt::format("{}.{} {}\n{}\n", same_launch_header(module, kernel, proposal.sibling.name),
                     limit_directive, proposal.variant, module.text(kernel.body));
}

std::string prove_registers(const Module &written, const Function &kernel, const Function &sibling,
                            const Proposal &proposal) {
  if (std::string fault = same_launch_fault(written, kernel, proposal); !fault.empty())
    return fault;
  if (const auto in_the_way = obstacle(written, kernel))
    return std::string(in_the_way->meaning);
  if (written.text(kernel.body) != written.text(sibling.body))
    return "its body is another";
  return same_launch_header_fault(written, kernel, written, sibling,
                                  {.directive = limit_directive});
}

extern const Family registers_family;
const Family registers_family = {
    .name = "registers",
    .option = "maxnreg",
    .help =
        "add versions that are the kernel itself with at most this number of registers per thread",
    .variants = register_limits,
    .propose = propose_registers,
    .write = write_registers,
    .prove = prove_registers,
};

} // namespace ptxasw::synth
