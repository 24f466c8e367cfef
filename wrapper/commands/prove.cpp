// `ptxasw prove`: the answers of analysis/prove as text and as JSON.

#include "analysis/prove/prove.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/commands/words.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <set>

namespace ptxasw::inline wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// `ptxasw prove FILE`.
struct ProveRequest {
  std::string input;
  std::vector<std::string> kernels; ///< only these; empty is all
  std::vector<std::string> launch, assume, sizes, races;
  std::string witness;
  unsigned launches = 24;
  Shard shard;
  bool only_given = false; ///< no other assumptions are tried
  bool json = false, verbose = false;
};

constexpr int proved = 0, refuted = 1, not_possible = 2, unknown = 3;

/// What was given, for one kernel. Errors: the first word that is not understood.
tl::expected<ProofAssumptions, std::string>
assumptions_of(const ProveRequest &request, const AskedLaunch &asked, const Function &kernel,
               const ParameterNames &names, std::optional<LaunchDescription> &launch) {
  ProofAssumptions result;
  const LaunchPoint &point = asked.point;
  result.block = point.block;
  const auto has_grid = std::any_of(point.numbers.begin(), point.numbers.end(),
                                    [](const auto &n) { return n.first.starts_with("nctaid."); });
  for (const auto &[name, value] : names.values_at(point))
    if (name.starts_with("nctaid."))
      (result.grid ? *result.grid : result.grid.emplace())[name.back() - 'x'] =
          static_cast<std::uint32_t>(value);
    else if (!name.starts_with("ntid."))
      result.parameters[name] = value;
  if (has_grid && !result.grid)
    return tl::unexpected(std::string("--launch: the grid is not understood"));
  result.dynamic_shared = asked.shared;
  // Names on the command line stand for those of the PTX.
  const auto own = [&](const std::string &called) -> std::string {
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
      if (names(names.own(i)) == called)
        return names.own(i);
    return called;
  };
  for (const std::string &word : cut_at_commas(request.assume)) {
    if (!assume(word, result))
      return tl::unexpected(
          fmt::format("--assume: `{}` is not disjoint, no-wrap, 1d, 2d, a comparison such as "
                      "n >= 0, or NAME % NUMBER == 0",
                      word));
  }
  for (LaunchRelation &relation : result.relations)
    for (auto *side : {&relation.left, &relation.right})
      for (LaunchRelation::Product &product : *side)
        for (std::string &name : product.names)
          name = own(name);
  for (const std::string &word : cut_at_commas(request.sizes)) {
    const auto parts = split_at(word, '=');
    std::uint64_t bytes = 0;
    if (parts.size() != 2 || !to_number(parts[1], bytes))
      return tl::unexpected(fmt::format("--size: `{}` is not NAME=BYTES", word));
    if (parts[0] == "shared")
      result.dynamic_shared = bytes;
    else
      result.sizes[own(parts[0])] = bytes;
  }
  if (asked.file) {
    launch = asked.file;
    launch->kernel = kernel.name;
    result.block = launch->block;
    result.grid = launch->grid;
    result.dynamic_shared = launch->shared;
    std::set<std::string> buffers;
    for (std::size_t i = 0; i < launch->arguments.size() && i < kernel.parameters.size(); ++i) {
      const ArgumentDescription &argument = launch->arguments[i];
      const bool number = argument.fields.size() == 1 && argument.fields[0].at == 0 &&
                          argument.fields[0].kind == FieldDescription::Kind::bits;
      if ((argument.fields.empty() && argument.bytes.size() <= 8) || number) {
        std::uint64_t bits = 0;
        if (number)
          bits = argument.fields[0].bits;
        else
          std::memcpy(&bits, argument.bytes.data(), argument.bytes.size());
        result.parameters[names.own(i)] = static_cast<std::int64_t>(bits);
      } else if (argument.fields.size() == 1 && argument.fields[0].at == 0 &&
                 argument.fields[0].kind == FieldDescription::Kind::buffer) {
        const BufferDescription *buffer = launch->buffer(argument.fields[0].name);
        if (result.disjoint && !buffers.insert(argument.fields[0].name).second)
          return tl::unexpected(std::string("--assume: two parameters of the launch lead to one "
                                            "buffer, so they are not disjoint"));
        if (buffer && buffer->size >= argument.fields[0].bits)
          result.sizes[names.own(i)] = buffer->size - argument.fields[0].bits;
      }
    }
  }
  return result;
}

const char *verdict_of(const PropertyProof &proof, const std::optional<SafetyWitness> &witness) {
  return witness                                    ? "refuted"
         : proof.verdict == ProofVerdict::proved    ? "proved"
         : proof.verdict == ProofVerdict::not_asked ? "not asked"
                                                    : "unknown";
}

Json to_json(const PropertyProof &proof, const std::optional<SafetyWitness> &witness,
             const std::string &file) {
  Json json;
  json["verdict"] = verdict_of(proof, witness);
  const bool open = proof.verdict == ProofVerdict::unknown;
  json["line"] = witness              ? Json(witness->fault.line)
                 : open && proof.line ? Json(proof.line)
                                      : Json();
  const std::uint32_t other = !witness                        ? proof.other_line
                              : witness->fault.others.empty() ? 0
                                                              : witness->fault.others[0].line;
  json["other_line"] = other && (witness || open) ? Json(other) : Json();
  json["reason"] = witness ? Json(format(witness->fault)) : open ? Json(proof.reason) : Json();
  json["launch"] = witness && !file.empty() ? Json(file) : Json();
  return json;
}

/// `heat.cu:5:3: `, where that is known.
std::string with_source(const Module &module, const Places &places, std::uint32_t line) {
  const std::string text = line_text(module, places, line);
  return text.starts_with("line ") ? "" : text + ": ";
}

void print(const Module &module, const Places &places, const char *name, const PropertyProof &proof,
           const std::optional<SafetyWitness> &witness, const std::string &file) {
  fmt::print("  {:<9} {}", name, verdict_of(proof, witness));
  if (witness)
    fmt::print(": {}{}{}", with_source(module, places, witness->fault.line), format(witness->fault),
               file.empty() ? "" : "\n            launch: " + file);
  else if (proof.verdict == ProofVerdict::unknown)
    fmt::print("{}: {}", proof.line ? ", " + line_text(module, places, proof.line) : "",
               proof.reason);
  else if (proof.verdict == ProofVerdict::not_asked)
    fmt::print(": no sizes are given (--size, --launch)");
  fmt::print("\n");
}

/// Writes a witness next to others; the file's name, empty if none is asked for. Errors: it cannot
/// be written.
tl::expected<std::string, std::string> write_witness(const ProveRequest &request,
                                                     const std::optional<SafetyWitness> &witness,
                                                     const std::string &kernel, const char *what) {
  if (!witness || request.witness.empty())
    return std::string();
  std::error_code none; // writing says what is wrong
  std::filesystem::create_directories(request.witness, none);
  const std::string path = fmt::format("{}/{}.{}.toml", request.witness, kernel, what);
  if (const auto written = write_file_atomically(path, launch_file_text(witness->launch)); !written)
    return tl::unexpected(written.error());
  return path;
}

/// What is wrong with the names that were given numbers or relations: that no kernel has such a
/// parameter, or that it is not a whole number of 32 or 64 bits. Empty if nothing is.
std::string name_fault(const Module &module, const std::vector<std::string> &chosen,
                       const ProveRequest &request, const AskedLaunch &asked, Sources &sources) {
  struct Use {
    std::string option, name;
    bool is_number = true;
  };
  std::vector<Use> uses;
  for (const auto &[name, value] : asked.point.numbers)
    if (!asked.file)
      uses.push_back({"--launch", name, true});
  ProofAssumptions assumed;
  for (const std::string &word : cut_at_commas(request.assume))
    if (!assume(word, assumed))
      return fmt::format("--assume: `{}` is not disjoint, no-wrap, 1d, 2d, a comparison such as "
                         "n >= 0, or NAME % NUMBER == 0",
                         word);
  for (const LaunchRelation &relation : assumed.relations)
    for (const auto *side : {&relation.left, &relation.right})
      for (const LaunchRelation::Product &product : *side)
        for (const std::string &name : product.names)
          uses.push_back({"--assume", name, true});
  for (const std::string &word : cut_at_commas(request.sizes))
    if (const std::string name = word.substr(0, word.find('=')); name != "shared")
      uses.push_back({"--size", name, false});
  for (const Use &use : uses) {
    const auto is_extent = [&](const char *what) {
      const std::string prefix = what;
      return use.name.starts_with(prefix) && use.name.size() == prefix.size() + 1 &&
             std::string_view("xyz").find(use.name.back()) != std::string_view::npos;
    };
    if (is_extent("ntid.") || is_extent("nctaid."))
      continue;
    bool known = false;
    std::set<std::string> there;
    for (const Function &kernel : module.functions) {
      if (!kernel.is_entry || !kernel.has_body ||
          (!chosen.empty() && std::find(chosen.begin(), chosen.end(), kernel.name) == chosen.end()))
        continue;
      const ParameterNames names = source_names(kernel, module, sources);
      std::string name = use.name;
      const std::string prefix = std::string(kernel.name) + ":";
      if (name.starts_with(prefix))
        name = name.substr(prefix.size());
      for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
        const Variable &parameter = kernel.parameters[i];
        const std::string called = names(names.own(i));
        there.insert(called);
        const std::size_t plus = std::min(name.find('+'), name.size());
        if (name.substr(0, plus) != called && name.substr(0, plus) != names.own(i))
          continue;
        known = true;
        using enum ScalarType;
        const bool is_whole =
            parameter.vector == 1 && plus == name.size() &&
            (parameter.type == b32 || parameter.type == u32 || parameter.type == s32 ||
             parameter.type == b64 || parameter.type == u64 || parameter.type == s64);
        if (use.is_number && !parameter.is_array && !is_whole)
          return fmt::format(
              "{}: `{}` is not a parameter of 32 or 64 bits that holds a whole number", use.option,
              use.name);
      }
    }
    if (!known)
      return fmt::format("{}: there is no parameter `{}`; there are: {}", use.option, use.name,
                         there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", ")));
  }
  return {};
}

int run(const ProveRequest &request, const Invocation &) {
  const auto module = load_module(request.input);
  if (!module)
    return not_possible;
  const auto kernels = choose_kernels(*module, request.kernels, request.shard, request.input);
  if (!kernels)
    return not_possible;
  if (!has_a_kernel(*module, request.input))
    return not_possible;
  Sources sources;
  sources.add_folder_of(request.input);
  const auto launch = read_launch(request.launch, {module.get()}, sources);
  if (!launch)
    return complain(launch.error(), not_possible);
  if (const std::string fault = name_fault(*module, *kernels, request, *launch, sources);
      !fault.empty())
    return complain(fault, not_possible);
  const WarpProgram program(*module);
  const Places places(*module);
  Json all;
  all["file"] = request.input;
  all["kernels"] = Json::array();
  bool any_refuted = false, any_unknown = false;
  for (std::uint32_t number = 0; number < program.function_count(); ++number) {
    const Function &kernel = *program.function(number).function;
    if (!kernel.is_entry || !kernel.has_body ||
        (!kernels->empty() &&
         std::find(kernels->begin(), kernels->end(), kernel.name) == kernels->end()))
      continue;
    SafetyOptions options;
    options.launches = request.launches;
    options.propose = !request.only_given;
    options.proof.volatile_races =
        std::find(request.races.begin(), request.races.end(), "volatile") != request.races.end();
    const ParameterNames names = source_names(kernel, *module, sources);
    const auto assumptions = assumptions_of(request, *launch, kernel, names, options.launch);
    if (!assumptions)
      return complain(assumptions.error(), not_possible);
    const SafetyAnswer answer = answer_safety(program, number, *assumptions, options);
    if (answer.proof.contradiction)
      return complain(fmt::format("no launch of `{}` keeps all that is assumed: {}", answer.kernel,
                                  fmt::join(answer.used, ", ")),
                      not_possible);
    const auto race_file = write_witness(request, answer.race, answer.kernel, "race");
    const auto barrier_file = write_witness(request, answer.barrier, answer.kernel, "barrier");
    if (!race_file || !barrier_file)
      return complain(race_file ? barrier_file.error() : race_file.error(), not_possible);
    const KernelProof &proof = answer.proof;
    any_refuted |= answer.race || answer.barrier;
    for (const PropertyProof *one : {&proof.races, &proof.barriers, &proof.bounds})
      any_unknown |= one->verdict == ProofVerdict::unknown;
    if (request.json) {
      Json json;
      json["name"] = answer.kernel;
      json["race_free"] = to_json(proof.races, answer.race, *race_file);
      json["barriers"] = to_json(proof.barriers, answer.barrier, *barrier_file);
      json["in_bounds"] = to_json(proof.bounds, std::nullopt, "");
      json["assumptions"] = answer.used;
      json["would_do"] = answer.would_do;
      json["questions"] = proof.questions;
      json["unanswered"] = proof.unanswered;
      all["kernels"].push_back(std::move(json));
      continue;
    }
    fmt::print("{}:\n", answer.kernel);
    print(*module, places, "race free", proof.races, answer.race, *race_file);
    print(*module, places, "barriers", proof.barriers, answer.barrier, *barrier_file);
    print(*module, places, "in bounds", proof.bounds, std::nullopt, "");
    for (const std::string &text : answer.used)
      fmt::print("  if: {}\n", text);
    if (!answer.would_do.empty()) {
      std::string texts;
      for (const std::string &text : answer.would_do)
        texts += (texts.empty() ? "" : ", ") + text;
      fmt::print("  all would be proved with: {}\n", texts);
    }
    if (request.verbose)
      fmt::print("  questions to Z3: {}, without an answer: {}\n", proof.questions,
                 proof.unanswered);
  }
  if (request.json)
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return any_refuted ? refuted : any_unknown ? unknown : proved;
}

void declare(Words &words, ProveRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.launch(request.launch, "only launches of this kind");
  words.list("--assume WHAT,...", request.assume,
             "disjoint: no two pointers or variables lead to the same memory; no-wrap: index\n"
             "arithmetic does not overflow; 1d, 2d: so many dimensions of blocks and grids;\n"
             "comparisons of parameters, blockDim.x and gridDim.x:\n"
             "n >= 0, n == blockDim.x * gridDim.x, blockDim.x % 32 == 0");
  words.list("--size NAME=BYTES,...", request.sizes,
             "bytes behind a pointer parameter, or of dynamic shared memory (shared)");
  words.flag("--only-given", request.only_given, "do not look for assumptions that would do");
  words.choices("--races", request.races, {"volatile"}, "volatile accesses race, too");
  words.number("--launches", request.launches, "that are tried for a refutation");
  words.text("--witness DIRECTORY", request.witness,
             "where to write launches that refute, for `emulate`");
  words.shard(request.shard);
  words.flag("--json", request.json, "as JSON");
  words.flag("-v,--verbose", request.verbose, "how many questions were asked");
  words.footer(
      "Exit codes: 0 everything that was asked is proved, 1 something is refuted, 2 a file "
      "or word\nis not understood, 3 something is unknown.");
}

} // namespace

const Command prove_command = {
    "prove", "prove for every launch that a kernel has no race and its barriers are met by all",
    bind<ProveRequest, declare, run>};

} // namespace ptxasw::wrapper
