// `ptxasw explain`: for every global load its address, how it goes from lane to lane, and why it
// was or was not replaced, and which siblings the kernel could have; with --trace every access in
// the style of the paper's listing 5; with --opcodes, what is known about the instruction set.

#include "wrapper/lint/explain.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/instructions.h"
#include "emulator/symbolic/emulate.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/siblings.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>
#include <optional>
#include <utility>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw explain` was asked.
struct ExplainRequest {
  AnalysisRequest asked;
  bool trace = false;   ///< instead, every access
  bool opcodes = false; ///< instead, the instruction set
};

using Json = nlohmann::ordered_json;

std::string stride_text(const LoadExplanation &load) {
  if (!load.lane_stride)
    return "no one distance from lane to lane is known";
  if (*load.lane_stride == 0)
    return "uniform: one address for all lanes of a row";
  return fmt::format("lane stride {} bytes", *load.lane_stride);
}

std::string verdict_text(const LoadExplanation &load) {
  if (!load.delta)
    return fmt::format("stays: {} ({}{}{})", to_string(load.reason), load.obligation,
                       load.obligation.empty() ? "" : ": ",
                       load.detail.empty() ? describe(load.reason) : load.detail);
  if (*load.delta == 0)
    return fmt::format("copy of what line {} read", load.source_line);
  return fmt::format("shuffle: lane {:+} read it in line {}", *load.delta, load.source_line);
}

std::string to_text(const KernelExplanation &kernel, const Module &module, const Places &places) {
  std::string text;
  for (const LoadExplanation &load : kernel.loads) {
    text += fmt::format("  {}: {}\n", line_text(module, places, load.line), load.text);
    text +=
        fmt::format("    address  {}\n", load.address.empty() ? "not understood" : load.address);
    text += fmt::format("    lanes    {}\n", stride_text(load));
    text += fmt::format("    verdict  {}\n", verdict_text(load));
    for (const std::string &test : load.tests)
      text += fmt::format("    tested   {}\n", test);
  }
  return text;
}

Json to_json(const KernelExplanation &kernel) {
  Json result;
  result["loads"] = Json::array();
  for (const LoadExplanation &load : kernel.loads) {
    Json entry;
    entry["line"] = load.line;
    entry["text"] = load.text;
    entry["address"] = load.address.empty() ? Json() : Json(load.address);
    entry["lane_stride"] = load.lane_stride ? Json(*load.lane_stride) : Json();
    if (load.delta) {
      entry["delta"] = *load.delta;
      entry["from_line"] = load.source_line;
      entry["tests"] = load.tests;
    } else {
      entry["reason"] = to_string(load.reason);
      if (!load.detail.empty())
        entry["detail"] = load.detail;
      if (!load.obligation.empty())
        entry["obligation"] = load.obligation;
    }
    result["loads"].push_back(std::move(entry));
  }
  return result;
}

/// What each family of siblings would make of a kernel, or what prevents it. Where one that
/// need not be asked for can, people are told only which cannot, unless they ask for `all`.
void explain_siblings(const KernelContext &context, bool all, KernelAnswer &answer) {
  std::string refused, none; // in full; the names alone
  bool has_some = false;
  answer.json["siblings"] = answer.json["no_siblings"] = Json::array();
  for (const Family &family : families()) {
    const FamilyAnswer found = propose(family, context);
    std::string variants;
    for (const Proposal &proposal : found.proposals) {
      answer.json["siblings"].push_back(fmt::format("{} {}", proposal.family, proposal.variant));
      variants += " " + proposal.variant;
    }
    if (!variants.empty())
      answer.text += fmt::format("  siblings by {}:{}\n", family.name, variants);
    has_some = has_some || (family.by_default && !variants.empty());
    if (variants.empty() && !found.refusals.empty())
      none += fmt::format("{}{}", none.empty() ? "" : ", ", family.name);
    for (const Refusal &refusal : found.refusals) {
      answer.json["no_siblings"].push_back(
          {{"family", family.name}, {"reason", refusal.reason}, {"line", refusal.line}});
      refused += fmt::format("  no siblings by {}: {}{} ({})\n", family.name, refusal.reason,
                             refusal.line == 0 ? "" : fmt::format(", line {}", refusal.line),
                             refusal.meaning);
    }
  }
  if (all || !has_some)
    answer.text += refused;
  else if (!none.empty())
    answer.text += fmt::format("  no siblings by {} (-v says why)\n", none);
}

/// What could stand in a kernel whose blocks have a known shape, or what prevents it.
void explain_in_kernel(const KernelContext &context, const std::optional<BlockShape> &block,
                       KernelAnswer &answer) {
  answer.json["in_kernel"] = nullptr;
  const InKernelVariants found = in_kernel_variants(context, block);
  if (!found.block)
    return;
  const std::vector<unsigned> shape = {found.block->x, found.block->y, found.block->z};
  answer.json["in_kernel"] = {{"block", shape}, {"variants", found.variants}, {"why", found.why}};
  std::string variants;
  for (const std::string &variant : found.variants)
    variants += " " + variant;
  answer.text += fmt::format("  in the kernel, for blocks of {}x{}x{}:{}\n", shape[0], shape[1],
                             shape[2], variants.empty() ? " nothing" : variants);
}

std::string_view access_name(const Opcode &opcode, Effect effect) {
  return effect == Effect::load ? "LD" : effect == Effect::store ? "ST" : opcode.base;
}

/// One access: its expressions written out, everything else as the text has it.
Json describe(const Module &module, const Function &function, Emulation &emulation,
              const MemoryAccess &access) {
  const Instruction &instruction = function.instructions[access.instruction];
  const Opcode &opcode = module.opcode(instruction);
  Json result;
  result["line"] = instruction.line;
  result["access"] = access_name(opcode, access.effect);
  result["opcode"] = opcode.text;
  if (access.effect != Effect::sync) {
    result["space"] = to_string(access.space);
    result["bytes"] = access.bytes;
    result["address"] = access.address
                            ? Json(to_string(emulation.pool(), emulation.expand(access.address)))
                            : Json();
  }
  if (access.guard)
    result["guard"] = to_string(emulation.pool(), emulation.expand(access.guard));
  return result;
}

/// Every access of a kernel and of functions, in text order.
KernelAnswer trace_of(const AnalysedKernel &one, const std::optional<BlockShape> &block) {
  Emulation emulation(one.module(), one.function, launch_facts(one.function, block));
  const unsigned undecided = emulation.undecided_branches();
  KernelAnswer answer;
  answer.heading =
      fmt::format("{}: {} undecided branch{}", one.called(), undecided, undecided == 1 ? "" : "es");
  answer.json["complete"] = emulation.complete();
  answer.json["undecided_branches"] = undecided;
  answer.json["trace"] = Json::array();
  if (!emulation.complete())
    answer.text += "  not emulated: too large, or a branch whose targets are not known\n";
  for (const MemoryAccess &access : emulation.trace()) {
    const Json told = describe(one.module(), one.function, emulation, access);
    answer.text += told["access"].get<std::string>() + ":";
    if (told.contains("address"))
      answer.text += " " + (told["address"].is_string() ? told["address"].get<std::string>() : "?");
    answer.text += fmt::format("  // line {}, {}", told["line"].get<unsigned>(),
                               told["opcode"].get<std::string>());
    if (told.contains("guard"))
      answer.text += ", if " + told["guard"].get<std::string>();
    answer.text += '\n';
    answer.json["trace"].push_back(told);
  }
  return answer;
}

/// Prints the base opcodes that do one thing to memory, in one line.
void print_opcodes(MemoryUse use) {
  for (const OpcodeTraits &row : opcode_table())
    if (row.memory == use)
      fmt::print(" {}", row.name);
}

int explain_opcodes() {
  fmt::print("Modelled exactly (opcode, types, modifiers; + means required):\n");
  for (const Line<ExprPool> &line : instruction_table<ExprPool>())
    fmt::print("  {:10} {:48} {}\n", line.base, line.types, line.modifiers);
  fmt::print("\nIn any other form a function of its operands, named by the opcode:\n ");
  print_opcodes(MemoryUse::pure);
  fmt::print("\n\nOpaque results, no effect on global memory:\n ");
  print_opcodes(MemoryUse::harmless);
  fmt::print(
      "\n\nLoads and stores: ld, ldu, st, if weak and without .cv.\n"
      "Calls of functions of the module that only compute, load, or store to local or shared "
      "memory.\n"
      "Between loads of global memory, with no store beside them: shfl, vote, match, redux, "
      "nanosleep, and relaxed red, cp.async and its waits if they write shared memory.\n"
      "Everything else, and any opcode not named here, has opaque results and is an obstacle "
      "between two loads.\n");
  return 0;
}

int run(const ExplainRequest &request, const Invocation &) {
  if (request.opcodes)
    return explain_opcodes();
  const auto inputs = read_analysis(request.asked, "explain");
  if (!inputs)
    return exit_code::failed;
  const auto &block = inputs->launch.point.block;
  const Module *module = nullptr; // what the rest is of
  std::optional<Places> places;
  std::vector<KernelExplanation> explained;
  return analyse(
      request.asked, *inputs,
      [&](const AnalysedKernel &one) {
        if (request.trace)
          return trace_of(one, block);
        if (std::exchange(module, &one.module()) != &one.module()) {
          RewriteOptions options;
          options.kernels = *one.names;
          options.assume_block = block;
          explained = explain(*module, options);
          places.emplace(*module);
        }
        const KernelExplanation &kernel =
            *std::find_if(explained.begin(), explained.end(),
                          [&](const auto &each) { return each.name == one.function.name; });
        KernelAnswer answer{fmt::format("{}: {} global loads", one.called(), kernel.loads.size()),
                            to_text(kernel, *module, *places), to_json(kernel)};
        const KernelContext context(one.module(), one.function);
        explain_siblings(context, request.asked.verbose, answer);
        explain_in_kernel(context, block, answer);
        return answer;
      },
      true);
}

void declare(Words &words, ExplainRequest &request) {
  declare_analysis(words, request.asked, "only the shape of blocks matters here");
  words.gone("--shared");
  words.flag("--trace", request.trace, "instead, the address of every access to memory");
  words.flag("--opcodes", request.opcodes, "instead, what is known of the instruction set");
  words.examples({"ptxasw explain heat.cu --kernel step",
                  "ptxasw explain heat.ptx --trace --launch block=32x8"});
}

} // namespace

const Command explain_command = {
    "explain",
    "explain for every global load what its address is and why it was or was not replaced",
    bind<ExplainRequest, declare, run>};

} // namespace ptxasw::wrapper
