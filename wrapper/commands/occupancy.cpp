// Needs come from the real ptxas (or the command line), the rest is analysis/occupancy.

#include "analysis/occupancy.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/find_real.h"
#include "wrapper/drop_in/handover.h"
#include "wrapper/drop_in/resources.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw {
namespace {

/// What `ptxasw occupancy` was asked.
struct OccupancyRequest {
  std::string input;                      ///< PTX; empty: the numbers below
  std::vector<std::string> kernels;       ///< only these; empty is all
  std::string arch;                       ///< empty: the module's target
  std::optional<BlockShape> block;        ///< nothing: every number of warps
  std::optional<std::uint32_t> registers; ///< instead of what ptxas gives
  std::uint64_t static_shared = 0;        ///< bytes, without a module
  std::uint64_t dynamic_shared = 0;       ///< bytes
  bool opted_in = false;
  bool json = false;
};

using Json = nlohmann::ordered_json;

/// A kernel, or what the command line says of one.
struct Subject {
  std::string name;
  BlockNeeds needs;
  std::optional<BlockShape> required; ///< by .reqntid
};

std::string known_architectures() {
  std::string list;
  for (const Architecture &a : architectures())
    list += (list.empty() ? "" : ", ") + std::string(a.name);
  return list;
}

/// What ptxas makes of the module's kernels for a target.
tl::expected<std::map<std::string, Resources, std::less<>>, std::string>
ask_ptxas(const Settings &settings, const std::string &input, const std::string &target) {
  const auto real = find_real(settings.real, invoked_path());
  if (!real)
    return tl::unexpected(real.error());
  const CommandLine line = parse_command_line({"-arch=" + target, input});
  auto modules = read_modules(line);
  if (!modules)
    return tl::unexpected(
        fmt::format("cannot read `{}` a second time, for ptxas; give a file", modules.error()));
  const auto messages = assemble_for_messages(real->path, "ptxas", line, *modules, false);
  if (!messages)
    return tl::unexpected(messages.error());
  return parse_resources(*messages);
}

tl::expected<std::vector<Subject>, std::string> subjects_of(const Settings &settings,
                                                            const OccupancyRequest &request,
                                                            const Module &module,
                                                            const std::string &target) {
  std::map<std::string, Resources, std::less<>> resources;
  if (!request.registers) {
    auto found = ask_ptxas(settings, request.input, target);
    if (!found)
      return tl::unexpected(found.error());
    resources = std::move(*found);
  }
  std::vector<Subject> subjects;
  for (const Function &function : module.functions) {
    if (!function.is_entry || !function.has_body ||
        (!request.kernels.empty() && std::find(request.kernels.begin(), request.kernels.end(),
                                               function.name) == request.kernels.end()))
      continue;
    Subject subject{std::string(function.name), {}, std::nullopt};
    BlockNeeds &needs = subject.needs;
    if (const auto found = resources.find(function.name); found != resources.end()) {
      needs.registers = found->second.registers.value_or(0);
      needs.static_shared = found->second.shared;
      needs.barriers = std::max(1u, found->second.barriers);
    } else if (!request.registers) {
      return tl::unexpected(fmt::format("ptxas says nothing of `{}`", function.name));
    }
    needs.registers = request.registers.value_or(needs.registers);
    if (request.registers)
      needs.static_shared = request.static_shared;
    for (const char *directive : {"maxntid", "reqntid"})
      if (const PerformanceDirective *bound = function.directive(directive)) {
        std::uint64_t threads = 1;
        for (const std::uint64_t extent : bound->values)
          threads *= std::min<std::uint64_t>(extent, 1 << 20);
        needs.most_threads = threads;
      }
    const LaunchFacts launch = launch_facts(function);
    if (function.directive("reqntid") && launch.block)
      subject.required = launch.block;
    subjects.push_back(std::move(subject));
  }
  return subjects;
}

/// The threads of a block to look at: those asked for, those required, or every number of warps.
std::vector<std::uint64_t> sizes(const OccupancyRequest &request, const Subject &subject,
                                 const Architecture &architecture) {
  if (request.block)
    return {request.block->count()};
  if (subject.required)
    return {subject.required->count()};
  std::vector<std::uint64_t> list;
  for (std::uint64_t threads = 32; threads <= architecture.threads_per_block; threads += 32)
    if (subject.needs.most_threads == 0 || threads <= subject.needs.most_threads)
      list.push_back(threads);
  if (list.empty() && subject.needs.most_threads > 0)
    list.push_back(subject.needs.most_threads);
  return list;
}

std::string reached_text(const Occupancy &found) {
  std::string text;
  for (const OccupancyLimit limit : found.reached())
    text += (text.empty() ? "" : ", ") + std::string(to_string(limit));
  return text;
}

void print(const Subject &subject, const Architecture &architecture,
           const std::vector<std::pair<std::uint64_t, Occupancy>> &rows) {
  const BlockNeeds &needs = subject.needs;
  fmt::print("{} on {}{}: {} registers per thread, {} bytes of shared memory ({} of them dynamic), "
             "{} barrier{}\n",
             subject.name, architecture.name,
             architecture.confirmed ? "" : " (whose numbers are not confirmed)", needs.registers,
             needs.static_shared + needs.dynamic_shared, needs.dynamic_shared, needs.barriers,
             needs.barriers == 1 ? "" : "s");
  fmt::print("  {:>7} {:>7} {:>7} {:>10}  limited by\n", "threads", "blocks", "warps", "occupancy");
  for (const auto &[threads, found] : rows)
    fmt::print("  {:>7} {:>7} {:>7} {:>8.1f} %  {}{}\n", threads, found.blocks, found.warps,
               100 * found.share, reached_text(found),
               found.blocks == 0 ? ": cannot be launched" : "");
}

Json to_json(const Subject &subject, const Architecture &architecture,
             const std::vector<std::pair<std::uint64_t, Occupancy>> &rows) {
  const BlockNeeds &needs = subject.needs;
  Json kernel;
  kernel["name"] = subject.name;
  kernel["arch"] = architecture.name;
  kernel["confirmed"] = architecture.confirmed;
  kernel["registers"] = needs.registers;
  kernel["static_shared"] = needs.static_shared;
  kernel["dynamic_shared"] = needs.dynamic_shared;
  kernel["barriers"] = needs.barriers;
  kernel["shapes"] = Json::array();
  for (const auto &[threads, found] : rows) {
    Json shape;
    shape["threads"] = threads;
    shape["blocks"] = found.blocks;
    shape["warps"] = found.warps;
    shape["occupancy"] = found.share;
    shape["limited_by"] = Json::array();
    for (const OccupancyLimit limit : found.reached())
      shape["limited_by"].push_back(to_string(limit));
    for (std::size_t i = 0; i < occupancy_limits; ++i) {
      const auto &blocks = found.by_limit[i];
      shape["blocks_by"][std::string(to_string(static_cast<OccupancyLimit>(i)))] =
          blocks ? Json(*blocks) : Json(nullptr);
    }
    kernel["shapes"].push_back(std::move(shape));
  }
  return kernel;
}

int run(const OccupancyRequest &request, const Invocation &invocation) {
  const auto settings = invocation.settings();
  if (!settings)
    return complain(settings.error(), usage_error);
  std::string target = request.arch;
  std::vector<Subject> subjects;
  if (request.input.empty()) {
    if (!request.registers || target.empty())
      return complain("without a PTX file --arch and --registers are needed");
    Subject subject{"kernel", {}, std::nullopt};
    subject.needs.registers = *request.registers;
    subject.needs.static_shared = request.static_shared;
    subjects.push_back(std::move(subject));
  } else {
    const auto module = load_module(request.input);
    if (!module || !has_kernels(*module, request.kernels, request.input))
      return 1;
    if (target.empty())
      target = module->target;
    auto found = subjects_of(*settings, request, *module, target);
    if (!found)
      return complain(found.error());
    subjects = std::move(*found);
  }
  const Architecture *architecture = find_architecture(target);
  if (!architecture)
    return complain(fmt::format("the limits of `{}` are not known; there are {}", target,
                                known_architectures()));
  Json all;
  all["file"] = request.input;
  all["kernels"] = Json::array();
  for (Subject &subject : subjects) {
    subject.needs.dynamic_shared = request.dynamic_shared;
    subject.needs.opted_in = request.opted_in;
    std::vector<std::pair<std::uint64_t, Occupancy>> rows;
    for (const std::uint64_t threads : sizes(request, subject, *architecture)) {
      subject.needs.threads = threads;
      rows.emplace_back(threads, occupancy(*architecture, subject.needs));
    }
    if (request.json)
      all["kernels"].push_back(to_json(subject, *architecture, rows));
    else
      print(subject, *architecture, rows);
  }
  if (request.json)
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

void declare(Words &words, OccupancyRequest &request) {
  words.text("input", request.input, "PTX, which the real ptxas assembles for its registers");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.text("--arch sm_XX", request.arch, "otherwise the target that the PTX names");
  words.block_shape("--block", request.block, "only this shape; otherwise every number of warps");
  words.number("--registers", request.registers, "of a thread, instead of asking ptxas", 0, 256);
  words.number("--static-shared", request.static_shared, "bytes of a block, with --registers");
  words.number("--dynamic-shared", request.dynamic_shared, "bytes of a block at the launch");
  words.flag("--opt-in", request.opted_in,
             "the program raised the limit of dynamic shared memory for the kernel");
  words.flag("--json", request.json, "as JSON");
  words.footer("Exit codes: 0, or 1 if the file, the architecture or ptxas does not say.");
}

} // namespace

const Command occupancy_command = {
    "occupancy",
    "how many blocks of a kernel a multiprocessor holds, and what is in the way of more",
    bind<OccupancyRequest, declare, run>};

} // namespace ptxasw
