// `ptxasw prove`: the answers of analysis/prove as text and as JSON.

#include "analysis/prove/prove.h"
#include "emulator/facts/reading.h"
#include "emulator/symbolic/solver.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/describe_run.h"
#include "wrapper/commands/launch_file.h"
#include "wrapper/commands/numbers.h"
#include "wrapper/commands/prove_equal.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/names.h"
#include "wrapper/lint/sarif.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// `ptxasw prove FILE`.
struct ProveRequest {
  AnalysisRequest asked;
  std::vector<std::string> assume, sizes, races;
  std::string witness, sarif;
  std::string equal; ///< another file, to be compared with the input
  bool real = false; ///< over the reals
  unsigned launches = 24;
  bool only_given = false; ///< no other assumptions are tried
};

/// What an argument of a launch file says of its parameter, as prepare_launch() writes it: all but
/// addresses.
void give_argument(const Variable &parameter, const ArgumentDescription &argument,
                   const std::string &name, GivenParameters &given) {
  GivenParameters::Bytes bytes(argument.bytes.begin(), argument.bytes.end());
  bytes.resize(parameter.size(), 0);
  for (const FieldDescription &field : argument.fields) {
    const bool is_number = field.kind == FieldDescription::Kind::bits;
    const std::uint32_t size = is_number ? std::min(field.size, 8u) : 8;
    for (std::uint32_t i = 0; i < size && field.at + i < bytes.size(); ++i)
      bytes[field.at + i] =
          is_number ? std::optional(static_cast<std::uint8_t>(field.bits >> 8 * i)) : std::nullopt;
  }
  if (std::none_of(bytes.begin(), bytes.end(), [](const auto &byte) { return byte.has_value(); }))
    return;
  std::string text = fmt::format("{} as in the launch", name);
  if (!parameter.is_array && parameter.size() <= 8) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
      number |= std::uint64_t{bytes[i].value_or(0)} << 8 * i;
    text = fmt::format("{} = {}", name, static_cast<std::int64_t>(number));
  }
  given.give(parameter, bytes, std::move(text));
}

/// Adds words of --launch that are not among the whole numbers: real ones, and those of a member of
/// a structure. Empty, or what is wrong with one.
std::string give_values(const Function &kernel, const AskedLaunch &asked,
                        const ParameterNames &names,
                        const std::map<std::string, std::int64_t> &numbers,
                        GivenParameters &given) {
  for (const ParameterValue &word : values_for(kernel, asked)) {
    const Variable &parameter = kernel.parameters[word.parameter];
    const std::string text = names.own(word.parameter) + word.member;
    const auto fault = [&](const std::string &why) {
      return fmt::format("--launch {}={}: {}", text, word.value, why);
    };
    std::uint32_t at = 0;
    Variable part;
    part.type = parameter.type;
    if (const std::size_t colon = word.member.find(':'); colon != std::string::npos) {
      part.type = scalar_type(word.member.substr(colon + 1));
      if (!to_number(word.member.substr(1, colon - 1), at) || part.size() < 1 ||
          at + part.size() > parameter.size())
        return fault("a member is NAME+OFFSET:TYPE, its offset in bytes");
    } else if (numbers.contains(text)) {
      continue;
    }
    LaunchDescription one;
    if (const auto added = add_argument(word.value, text, part, one); !added)
      return fault(added.error());
    if (one.arguments[0].fields[0].kind != FieldDescription::Kind::bits)
      return fault("it is no number; buffers are for launch files");
    const std::uint64_t bits = one.arguments[0].fields[0].bits;
    GivenParameters::Bytes bytes(parameter.size());
    for (std::uint32_t i = 0; i < part.size(); ++i)
      bytes[at + i] = static_cast<std::uint8_t>(bits >> 8 * i);
    given.give(parameter, bytes, fmt::format("{} = {}", text, word.value));
  }
  return {};
}

/// What was given, for one kernel. Errors: the first word that is not understood.
tl::expected<ProofAssumptions, std::string>
assumptions_of(const ProveRequest &request, const AskedLaunch &asked, const Module &module,
               const Function &kernel, const ParameterNames &names,
               std::optional<LaunchDescription> &launch) {
  ProofAssumptions result;
  const LaunchPoint &point = asked.point;
  result.block = point.block;
  const auto has_grid = std::any_of(point.numbers.begin(), point.numbers.end(),
                                    [](const auto &n) { return n.first.starts_with("nctaid."); });
  std::map<std::string, std::int64_t> numbers;
  for (const auto &[name, value] : names.values_at(point))
    if (name.starts_with("nctaid."))
      (result.grid ? *result.grid : result.grid.emplace())[name.back() - 'x'] =
          static_cast<std::uint32_t>(value);
    else if (!name.starts_with("ntid."))
      numbers[name] = value;
  if (!asked.file) {
    result.parameters.give(module, kernel, numbers);
    if (std::string why = give_values(kernel, asked, names, numbers, result.parameters);
        !why.empty())
      return tl::unexpected(std::move(why));
  }
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
      give_argument(kernel.parameters[i], argument, names.own(i), result.parameters);
      for (const FieldDescription &field : argument.fields) {
        if (field.kind != FieldDescription::Kind::buffer)
          continue;
        const BufferDescription *buffer = launch->buffer(field.name);
        if (result.disjoint && !buffers.insert(field.name).second)
          return tl::unexpected(std::string("--assume: two parameters of the launch lead to one "
                                            "buffer, so they are not disjoint"));
        if (buffer && buffer->size >= field.bits)
          result.sizes[facts::parameter_name({kernel.parameters[i].name, field.at, 64}, kernel)] =
              buffer->size - field.bits;
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

std::string to_text(const Module &module, const Places &places, const char *name,
                    const PropertyProof &proof, const std::optional<SafetyWitness> &witness,
                    const std::string &file) {
  std::string text = fmt::format("  {:<9} {}", name, verdict_of(proof, witness));
  if (witness)
    text +=
        fmt::format(": {}{}{}", with_source(module, places, witness->fault.line),
                    format(witness->fault), file.empty() ? "" : "\n            launch: " + file);
  else if (proof.verdict == ProofVerdict::unknown)
    text += fmt::format("{}: {}", proof.line ? ", " + line_text(module, places, proof.line) : "",
                        proof.reason);
  else if (proof.verdict == ProofVerdict::not_asked)
    text += ": no sizes are given (--size, --launch)";
  return text + '\n';
}

/// What SARIF says of each property: its rule.
struct ProofRule {
  const char *id, *meaning;
};
constexpr ProofRule proof_rules[] = {
    {"race-free",
     "no two threads access one byte, one of them to write, unless something orders them"},
    {"barriers", "all threads of a block come to the same barriers"},
    {"in-bounds", "every access stays inside the variable or buffer it goes to"},
};

/// Adds what is refuted or unknown.
void add_sarif(Json &results, const Module &module, const Places &places, const std::string &file,
               const SafetyAnswer &answer) {
  const PropertyProof *const proofs[] = {&answer.proof.races, &answer.proof.barriers,
                                         &answer.proof.bounds};
  const std::optional<SafetyWitness> none, *const witnesses[] = {&answer.race, &answer.barrier,
                                                                 &none};
  const auto location = [&](std::uint32_t line) {
    const auto source = source_of(module, places, line);
    return sarif_location(source ? *source : Place{file, line, 0});
  };
  for (std::size_t i = 0; i < std::size(proof_rules); ++i) {
    const auto &witness = *witnesses[i];
    if (!witness && proofs[i]->verdict != ProofVerdict::unknown)
      continue;
    const std::uint32_t line = witness ? witness->fault.line : proofs[i]->line;
    const std::uint32_t other = !witness                        ? proofs[i]->other_line
                                : witness->fault.others.empty() ? 0
                                                                : witness->fault.others[0].line;
    Json result;
    result["ruleId"] = proof_rules[i].id;
    result["ruleIndex"] = i;
    result["level"] = witness ? "error" : "warning";
    result["message"]["text"] =
        fmt::format("{} (kernel {}): {}", verdict_of(*proofs[i], witness), answer.kernel,
                    witness ? format(witness->fault) : proofs[i]->reason);
    result["locations"] = Json::array({location(line)});
    result["partialFingerprints"]["ptxasw/v1"] =
        fmt::format("{}:{}:{}", proof_rules[i].id, shown_path(file), answer.kernel);
    if (other != 0)
      result["relatedLocations"] = Json::array({location(other)});
    results.push_back(std::move(result));
  }
}

/// Writes them all; an error, or nothing if that went well.
std::string write_sarif(const std::string &path, const Json &results) {
  Json rules = Json::array();
  for (const ProofRule &rule : proof_rules)
    rules.push_back({{"id", rule.id}, {"shortDescription", {{"text", rule.meaning}}}});
  const auto written = write_file_atomically(path, sarif_text(rules, results));
  return written ? "" : written.error();
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

/// The kernels that are asked for.
std::vector<std::pair<const Module *, const Function *>> kernels_of(const AnalysisInputs &inputs) {
  std::vector<std::pair<const Module *, const Function *>> result;
  for (const InputFile &file : inputs.files)
    for (const Function &function : file.module->functions)
      if (function.is_entry && function.has_body && inputs.wants(function))
        result.emplace_back(file.module.get(), &function);
  return result;
}

/// What is wrong with the names that were given numbers or relations: that no kernel has such a
/// parameter, or that it is not a whole number of 32 or 64 bits. Empty if nothing is.
std::string name_fault(const ProveRequest &request, AnalysisInputs &inputs) {
  const AskedLaunch &asked = inputs.launch;
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
    for (const auto &[module, function] : kernels_of(inputs)) {
      const Function &kernel = *function;
      const ParameterNames names = source_names(kernel, *module, inputs.sources);
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

/// Asks for one kernel.
tl::expected<KernelAnswer, std::string>
answer_for(const ProveRequest &request, const AskedLaunch &asked, const ParameterNames &names,
           const WarpProgram &program, std::uint32_t number, const Places &places,
           const std::string &file, Json &sarif) {
  const Module &module = program.module();
  SafetyOptions options;
  options.launches = request.launches;
  options.propose = !request.only_given;
  options.proof.volatile_races =
      std::find(request.races.begin(), request.races.end(), "volatile") != request.races.end();
  const auto assumptions = assumptions_of(
      request, asked, module, *program.function(number).function, names, options.launch);
  if (!assumptions)
    return tl::unexpected(assumptions.error());
  const SafetyAnswer answer = answer_safety(program, number, *assumptions, options);
  const KernelProof &proof = answer.proof;
  if (proof.contradiction)
    return tl::unexpected(fmt::format("no launch of `{}` keeps all that is assumed: {}",
                                      answer.kernel, fmt::join(answer.used, ", ")));
  const auto race_file = write_witness(request, answer.race, answer.kernel, "race");
  const auto barrier_file = write_witness(request, answer.barrier, answer.kernel, "barrier");
  if (!race_file || !barrier_file)
    return tl::unexpected(race_file ? barrier_file.error() : race_file.error());
  add_sarif(sarif, module, places, file, answer);
  KernelAnswer told{demangled(answer.kernel) + ":", "", {}};
  struct Property {
    const char *name, *key;
    const PropertyProof &proof;
    const std::optional<SafetyWitness> &witness;
    const std::string &file;
  };
  const std::optional<SafetyWitness> none;
  const std::string no_file;
  bool open = false;
  for (const Property &one :
       {Property{"race free", "race_free", proof.races, answer.race, *race_file},
        Property{"barriers", "barriers", proof.barriers, answer.barrier, *barrier_file},
        Property{"in bounds", "in_bounds", proof.bounds, none, no_file}}) {
    PropertyProof shown = one.proof;
    if (solver_version().empty())
      shown.reason += "; Z3, which might know, is not installed (libz3.so.4)";
    told.json[one.key] = to_json(shown, one.witness, one.file);
    told.text += to_text(module, places, one.name, shown, one.witness, one.file);
    open |= one.proof.verdict == ProofVerdict::unknown;
  }
  told.code = answer.race || answer.barrier ? exit_code::found
              : open                        ? exit_code::incomplete
                                            : exit_code::fine;
  told.json["assumptions"] = answer.used;
  told.json["would_do"] = answer.would_do;
  told.json["questions"] = proof.asked.questions();
  told.json["unanswered"] = proof.asked.open;
  for (const std::string &text : answer.used)
    told.text += fmt::format("  if: {}\n", text);
  if (!answer.would_do.empty())
    told.text += fmt::format("  all would be proved with: {}\n", fmt::join(answer.would_do, ", "));
  if (request.asked.verbose)
    told.text += fmt::format("  {}\n", to_string(proof.asked));
  return told;
}

/// Whether words of --launch leave some parameter of a kernel, or the launch's shape, open. Errors:
/// they do, and yet give contents of a buffer, which are those of one launch.
tl::expected<bool, std::string> leaves_open(const AskedLaunch &asked, const Function &kernel,
                                            const ParameterNames &names) {
  std::set<std::size_t> given;
  std::string buffer;
  for (const ParameterValue &value : values_for(kernel, asked)) {
    double number = 0;
    if (!to_number(value.value, number))
      buffer = fmt::format("{}={}", names(names.own(value.parameter)), value.value);
    given.insert(value.parameter);
  }
  for (std::size_t i = 0; i < kernel.parameters.size() && !buffer.empty(); ++i)
    if (!given.contains(i))
      return tl::unexpected(fmt::format("--launch: `{}` is for one launch, which gives a value to "
                                        "all parameters, and `{}` has none",
                                        buffer, names(names.own(i))));
  return buffer.empty() && (given.size() < kernel.parameters.size() || !asked.point.block);
}

/// The question about two files, if the words fit it.
int compare_two(const ProveRequest &request) {
  const AnalysisRequest &asked = request.asked;
  if (asked.inputs.paths.size() != 1 || asked.kernels.size() > 2)
    return complain("--equal: one input and one kernel are compared with another file");
  if (!request.sizes.empty() || !request.races.empty() || !request.sarif.empty() ||
      request.only_given || asked.shard.count > 1)
    return complain("--equal does not go with --size, --races, --sarif, --only-given, --shard");
  EqualRequest two;
  two.first = asked.inputs.paths[0];
  two.second = request.equal;
  two.kernel = asked.kernels.empty() ? "" : asked.kernels[0];
  two.second_kernel = asked.kernels.size() < 2 ? "" : asked.kernels[1];
  two.launch = asked.launch;
  two.witness = request.witness;
  two.options.over_reals = request.real;
  two.options.launches = request.launches;
  two.json = asked.json;
  two.verbose = asked.verbose;
  const bool is_file = asked.launch.size() == 1 && asked.launch[0].find('=') == std::string::npos;
  if (!is_file) {
    AnalysisRequest first = asked;
    first.kernels.resize(std::min<std::size_t>(1, first.kernels.size()));
    auto inputs = read_analysis(first, "prove");
    if (!inputs)
      return exit_code::failed;
    const auto kernels = kernels_of(*inputs);
    const auto open =
        kernels.empty()
            ? false
            : leaves_open(inputs->launch, *kernels[0].second,
                          source_names(*kernels[0].second, *kernels[0].first, inputs->sources));
    if (!open)
      return complain(open.error());
    if (*open) {
      const auto &[module, kernel] = kernels[0];
      if (const std::string fault = name_fault(request, *inputs); !fault.empty())
        return complain(fault);
      std::optional<LaunchDescription> none;
      auto assumed = assumptions_of(request, inputs->launch, *module, *kernel,
                                    source_names(*kernel, *module, inputs->sources), none);
      if (!assumed)
        return complain(assumed.error());
      two.kernel = kernel->name;
      if (two.second_kernel.empty() && !asked.kernels.empty())
        two.second_kernel = asked.kernels[0];
      two.assumed = std::move(*assumed);
    }
  }
  if (!two.assumed && (!request.assume.empty() || !two.second_kernel.empty()))
    return complain("--equal: --assume and a second --kernel are for launches that are left open");
  return prove_two(two);
}

int run(const ProveRequest &request, const Invocation &) {
  if (!request.equal.empty())
    return compare_two(request);
  if (request.real)
    return complain("--reals is for --equal");
  auto inputs = read_analysis(request.asked, "prove");
  if (!inputs)
    return exit_code::failed;
  if (const std::string fault = name_fault(request, *inputs); !fault.empty())
    return complain(fault);
  std::optional<WarpProgram> program; // of the module that the kernel is in
  std::optional<Places> places;
  Json sarif = Json::array();
  const int code =
      analyse(request.asked, *inputs,
              [&](const AnalysedKernel &one) -> tl::expected<KernelAnswer, Unanswered> {
                if (!program || &program->module() != &one.module()) {
                  program.emplace(one.module());
                  places.emplace(one.module());
                }
                std::uint32_t number = 0;
                while (program->function(number).function != &one.function)
                  ++number;
                auto answer = answer_for(request, inputs->launch,
                                         source_names(one.function, one.module(), inputs->sources),
                                         *program, number, *places, one.input.name, sarif);
                if (!answer)
                  return tl::unexpected(Unanswered{answer.error()});
                return std::move(*answer);
              });
  if (!request.sarif.empty())
    if (const std::string why = write_sarif(request.sarif, sarif); !why.empty())
      return exit_code::worse(code, complain(why));
  return code;
}

void declare(Words &words, ProveRequest &request) {
  declare_analysis(words, request.asked, "only launches of this kind");
  words.list("--assume WHAT,...", request.assume,
             "disjoint: no two pointers or variables lead to the same memory; no-wrap: index\n"
             "arithmetic does not overflow; 1d, 2d: so many dimensions of blocks and grids;\n"
             "comparisons of parameters, blockDim.x and gridDim.x:\n"
             "n >= 0, n == blockDim.x * gridDim.x, blockDim.x % 32 == 0");
  words.list("--size NAME=BYTES,...", request.sizes,
             "bytes behind a pointer parameter, or of dynamic shared memory (shared)");
  words.flag("--only-given", request.only_given, "do not look for assumptions that would do");
  words.text("--equal FILE", request.equal,
             "prove that the kernel leaves the same in memory as that of another file, for all\n"
             "contents of buffers: in the launch that --launch describes, or in all");
  words.flag("--reals", request.real,
             "with --equal: results are real numbers, and sums may be in any order");
  words.choices("--races", request.races, {"volatile"}, "volatile accesses race, too");
  words.number("--launches", request.launches, "that are tried for a refutation");
  words.text("--witness DIRECTORY", request.witness,
             "where to write launches that refute, for `emulate`");
  words.text("--sarif FILE", request.sarif, "also write what is refuted or unknown as SARIF 2.1.0");
  words.footer("Exit codes: 1 something is refuted, 3 something is unknown.");
  words.examples({"ptxasw prove heat.cu --kernel step",
                  "ptxasw prove heat.ptx --assume 'disjoint,n >= 0' --witness launches"});
}

} // namespace

const Command prove_command = {
    "prove", "prove for every launch that a kernel has no race and its barriers are met by all",
    bind<ProveRequest, declare, run>};

} // namespace ptxasw::wrapper
