// `ptxasw trace`: the symbolic memory trace of a module, in the style of the paper's listing 5.

#include "emulator/symbolic/emulate.h"
#include "grammar/module.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw trace` was asked.
struct TraceRequest {
  std::string input;
  std::vector<std::string> kernels; ///< only these; empty is all
  Shard shard;
  std::vector<std::string> launch;
  bool json = false;
};

using Json = nlohmann::ordered_json;

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

Json trace_of(const Module &module, const Function &function,
              const std::optional<BlockShape> &assume_block) {
  Emulation emulation(module, function, launch_facts(function, assume_block));
  Json result;
  result["name"] = function.name;
  result["complete"] = emulation.complete();
  result["undecided_branches"] = emulation.undecided_branches();
  result["trace"] = Json::array();
  for (const MemoryAccess &access : emulation.trace())
    result["trace"].push_back(describe(module, function, emulation, access));
  return result;
}

void print(const Json &kernel) {
  fmt::print("{}: {} undecided branch{}\n", kernel["name"].get<std::string>(),
             kernel["undecided_branches"].get<unsigned>(),
             kernel["undecided_branches"] == 1 ? "" : "es");
  if (!kernel["complete"])
    fmt::print("  not emulated: too large, or a branch whose targets are not known\n");
  for (const Json &access : kernel["trace"]) {
    fmt::print("{}:", access["access"].get<std::string>());
    if (access.contains("address"))
      fmt::print(" {}", access["address"].is_string() ? access["address"].get<std::string>() : "?");
    fmt::print("  // line {}, {}", access["line"].get<unsigned>(),
               access["opcode"].get<std::string>());
    if (access.contains("guard"))
      fmt::print(", if {}", access["guard"].get<std::string>());
    fmt::print("\n");
  }
}

int run(const TraceRequest &request, const Invocation &) {
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  Sources sources;
  sources.add_folder_of(request.input);
  const auto launch = read_launch(request.launch, {module.get()}, sources);
  if (!launch)
    return complain(launch.error());
  const auto &block = launch->point.block;
  const auto kernels = choose_kernels(*module, request.kernels, request.shard, request.input);
  if (!kernels)
    return usage_error;
  const auto wanted = [&](std::string_view name) {
    return kernels->empty() || std::find(kernels->begin(), kernels->end(), name) != kernels->end();
  };
  Json all;
  all["file"] = request.input;
  all["kernels"] = Json::array();
  for (const Function &function : module->functions)
    if (function.has_body && wanted(function.name)) {
      Json kernel = trace_of(*module, function, block);
      if (!request.json)
        print(kernel);
      all["kernels"].push_back(std::move(kernel));
    }
  if (request.json)
    fmt::print("{}\n", all.dump(2));
  return 0;
}

void declare(Words &words, TraceRequest &request) {
  words.required("input", request.input, "PTX or a CUDA source, - for standard input");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.shard(request.shard);
  words.launch(request.launch, "only the shape of blocks matters here");
  words.flag("--json", request.json, "as JSON");
}

} // namespace

const Command trace_command = {"trace", "print the symbolic memory trace of a PTX file",
                               bind<TraceRequest, declare, run>};

} // namespace ptxasw::wrapper
