// `ptxasw explain`: for every global load its address, how it goes from lane to lane, and why it
// was or was not replaced, and which siblings the kernel could have; with --opcodes, what is known
// about the instruction set.

#include "synth/explain.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/instructions.h"
#include "emulator/symbolic/expr.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/siblings.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw explain` was asked.
struct ExplainRequest {
  std::string input;
  std::vector<std::string> kernels;
  Shard shard;
  std::vector<std::string> launch;
  bool json = false;
  bool opcodes = false;
};

using Json = nlohmann::ordered_json;

std::string stride_text(const LoadExplanation &load) {
  if (!load.lane_stride)
    return "varies from lane to lane";
  if (*load.lane_stride == 0)
    return "uniform: one address for all lanes of a row";
  return fmt::format("lane stride {} bytes", *load.lane_stride);
}

std::string verdict_text(const LoadExplanation &load) {
  if (!load.from)
    return fmt::format("stays: {} ({}{}{})", to_string(load.reason), load.obligation,
                       load.obligation.empty() ? "" : ": ",
                       load.detail.empty() ? describe(load.reason) : load.detail);
  if (load.from->is_own())
    return fmt::format("copy of what line {} read", load.source_line);
  return fmt::format("shuffle: {} read it in line {}", to_string(*load.from), load.source_line);
}

void print(const KernelExplanation &kernel, const Module &module, const Places &places) {
  fmt::print("{}: {} global loads\n", kernel.name, kernel.loads.size());
  for (const LoadExplanation &load : kernel.loads) {
    fmt::print("  {}: {}\n", line_text(module, places, load.line), load.text);
    fmt::print("    address  {}\n", load.address.empty() ? "not understood" : load.address);
    fmt::print("    lanes    {}\n", stride_text(load));
    fmt::print("    verdict  {}\n", verdict_text(load));
    for (const std::string &test : load.tests)
      fmt::print("    tested   {}\n", test);
    for (const std::string_view shown : load.by_solver)
      fmt::print("    by Z3    {}\n", shown);
  }
}

Json to_json(const KernelExplanation &kernel) {
  Json result;
  result["name"] = kernel.name;
  result["loads"] = Json::array();
  for (const LoadExplanation &load : kernel.loads) {
    Json entry;
    entry["line"] = load.line;
    entry["text"] = load.text;
    entry["address"] = load.address.empty() ? Json() : Json(load.address);
    entry["lane_stride"] = load.lane_stride ? Json(*load.lane_stride) : Json();
    if (load.from) {
      entry["delta"] = load.from->lanes_up();
      if (load.from->flip != 0)
        entry["flip"] = load.from->flip;
      entry["from_line"] = load.source_line;
      entry["tests"] = load.tests;
      if (!load.by_solver.empty())
        entry["z3"] = load.by_solver;
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

/// What each family of siblings would make of a kernel, or what prevents it.
Json explain_siblings(const Module &module, std::string_view kernel, bool json) {
  Json result = {{"siblings", Json::array()}, {"no_siblings", Json::array()}};
  const auto function =
      std::find_if(module.functions.begin(), module.functions.end(),
                   [&](const Function &f) { return f.name == kernel && f.has_body; });
  if (function == module.functions.end())
    return result;
  const KernelContext context(module, *function);
  for (const Family &family : families()) {
    const FamilyAnswer answer = propose(family, context);
    std::string variants;
    for (const Proposal &proposal : answer.proposals) {
      result["siblings"].push_back(fmt::format("{} {}", proposal.family, proposal.variant));
      variants += " " + proposal.variant;
    }
    if (!json && !variants.empty())
      fmt::print("  siblings by {}:{}\n", family.name, variants);
    for (const Refusal &refusal : answer.refusals) {
      result["no_siblings"].push_back(
          {{"family", family.name}, {"reason", refusal.reason}, {"line", refusal.line}});
      if (!json)
        fmt::print("  no siblings by {}: {}{} ({})\n", family.name, refusal.reason,
                   refusal.line == 0 ? "" : fmt::format(", line {}", refusal.line),
                   refusal.meaning);
    }
  }
  return result;
}

/// What could stand in a kernel whose blocks have a known shape, or what prevents it.
Json explain_in_kernel(const Module &module, std::string_view kernel,
                       const std::optional<BlockShape> &block, bool json) {
  Json result = {{"in_kernel", nullptr}};
  for (const Function &function : module.functions) {
    if (function.name != kernel || !function.has_body)
      continue;
    const InKernelVariants found = in_kernel_variants(module, function, block);
    if (!found.block)
      continue;
    const std::vector<unsigned> shape = {found.block->x, found.block->y, found.block->z};
    result["in_kernel"] = {{"block", shape}, {"variants", found.variants}, {"why", found.why}};
    if (json)
      continue;
    std::string variants;
    for (const std::string &variant : found.variants)
      variants += " " + variant;
    fmt::print("  in the kernel, for blocks of {}x{}x{}:{}\n", shape[0], shape[1], shape[2],
               variants.empty() ? " nothing" : variants);
  }
  return result;
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
  if (request.input.empty())
    return complain("nothing to explain; name a PTX file, or say --opcodes");
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  Sources sources;
  sources.add_folder_of(request.input);
  const auto launch = read_launch(request.launch, {module.get()}, sources);
  if (!launch)
    return complain(launch.error());
  const auto &block = launch->point.block;
  const Places places(*module);
  const auto kernels = choose_kernels(*module, request.kernels, request.shard, request.input);
  if (!kernels)
    return usage_error;
  RewriteOptions options;
  options.kernels = *kernels;
  options.assume_block = block;
  Json all;
  all["file"] = request.input;
  all["kernels"] = Json::array();
  for (const KernelExplanation &kernel : explain(*module, options)) {
    if (!request.json)
      print(kernel, *module, places);
    Json siblings = explain_siblings(*module, kernel.name, request.json);
    const Json in_kernel = explain_in_kernel(*module, kernel.name, block, request.json);
    if (!request.json)
      continue;
    siblings.update(in_kernel);
    all["kernels"].push_back(to_json(kernel));
    all["kernels"].back().update(siblings);
  }
  if (request.json)
    fmt::print("{}\n", all.dump(2));
  return 0;
}

void declare(Words &words, ExplainRequest &request) {
  words.text("input", request.input, "PTX or a CUDA source, - for standard input");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.shard(request.shard);
  words.launch(request.launch, "only the shape of blocks matters here");
  words.gone("--shared");
  words.flag("--json", request.json, "as JSON");
  words.flag("--opcodes", request.opcodes, "instead, what is known of the instruction set");
}

} // namespace

const Command explain_command = {
    "explain",
    "explain for every global load what its address is and why it was or was not replaced",
    bind<ExplainRequest, declare, run>};

} // namespace ptxasw::wrapper
