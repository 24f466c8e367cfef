// Needs come from the real ptxas (or the command line), the rest is analysis/occupancy.

#include "analysis/occupancy.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/kernel_needs.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/names.h"

#include <algorithm>
#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw occupancy` was asked.
struct OccupancyRequest {
  std::string input;                ///< PTX; empty: the numbers below
  std::vector<std::string> kernels; ///< only these; empty is all
  std::string arch;                 ///< empty: the module's target
  std::vector<std::string> launch;
  std::optional<std::uint32_t> registers; ///< instead of what ptxas gives
  std::uint64_t static_shared = 0;        ///< bytes, without a module
  bool opted_in = false;
  bool all = false; ///< every shape, in a table
  bool json = false;
};

using Json = nlohmann::ordered_json;

std::string known_architectures() {
  std::string list;
  for (const Architecture &a : architectures())
    list += (list.empty() ? "" : ", ") + std::string(a.name);
  return list;
}

/// The block sizes to examine: those asked for, those required, or every number of warps.
std::vector<std::uint64_t> sizes(const std::optional<BlockShape> &block, const KernelNeeds &subject,
                                 const Architecture &architecture) {
  if (block)
    return {block->count()};
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

void print(const KernelNeeds &subject, const Architecture &architecture,
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

/// One line: the most warps that a multiprocessor holds, by which blocks, and what prevents more.
void print_best(const KernelNeeds &subject, const Architecture &architecture,
                const std::vector<std::pair<std::uint64_t, Occupancy>> &rows) {
  constexpr std::size_t shown = 4;
  const auto best = std::max_element(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.second.share < b.second.share;
  });
  std::vector<std::uint64_t> sizes;
  for (const auto &[threads, found] : rows)
    if (found.share == best->second.share)
      sizes.push_back(threads);
  std::string text;
  for (std::size_t i = 0; i < std::min(sizes.size(), shown); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", sizes[i]);
  if (sizes.size() > shown)
    text += fmt::format(" and {} more sizes", sizes.size() - shown);
  const BlockNeeds &needs = subject.needs;
  fmt::print("{} on {}: {:.1f} % in blocks of {} threads, limited by {}; {} registers, {} bytes of "
             "shared memory{}\n",
             short_name(subject.name), architecture.name, 100 * best->second.share, text,
             reached_text(best->second), needs.registers,
             needs.static_shared + needs.dynamic_shared,
             architecture.confirmed ? "" : " (the architecture's numbers are not confirmed)");
}

Json to_json(const KernelNeeds &subject, const Architecture &architecture,
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
  std::unique_ptr<Module> module;
  std::vector<KernelNeeds> subjects;
  if (request.input.empty()) {
    if (!request.registers || target.empty())
      return complain("without a PTX file --arch and --registers are needed");
    KernelNeeds subject;
    subject.name = "kernel";
    subject.needs.registers = *request.registers;
    subject.needs.static_shared = request.static_shared;
    subjects.push_back(std::move(subject));
  } else {
    module = load_module(request.input);
    if (!module)
      return usage_error;
    const auto kernels = kernels_called({module.get()}, request.kernels, request.input);
    if (!kernels)
      return usage_error;
    if (target.empty())
      target = module->target;
    if (target.empty())
      return complain(no_target(request.input));
    if (!request.json && !has_a_kernel(*module, request.input))
      return 0;
    auto found = needs_of_kernels(*settings, *module, request.input, *kernels, target,
                                  request.registers, request.static_shared);
    if (!found)
      return complain(found.error());
    subjects = std::move(*found);
  }
  Sources sources;
  sources.add_folder_of(request.input);
  std::vector<const Module *> modules;
  if (module)
    modules.push_back(module.get());
  const auto launch = read_launch(request.launch, modules, sources);
  if (!launch)
    return complain(launch.error());
  const Architecture *architecture = find_architecture(target);
  if (!architecture)
    return complain(fmt::format("the limits of `{}` are not known; there are {}", target,
                                known_architectures()));
  Json all;
  all["file"] = request.input;
  all["kernels"] = Json::array();
  for (KernelNeeds &subject : subjects) {
    subject.needs.dynamic_shared = launch->shared.value_or(0);
    subject.needs.opted_in = request.opted_in;
    std::vector<std::pair<std::uint64_t, Occupancy>> rows;
    for (const std::uint64_t threads : sizes(launch->point.block, subject, *architecture)) {
      subject.needs.threads = threads;
      rows.emplace_back(threads, occupancy(*architecture, subject.needs));
    }
    if (request.json)
      all["kernels"].push_back(to_json(subject, *architecture, rows));
    else if (request.all || rows.size() < 2)
      print(subject, *architecture, rows);
    else
      print_best(subject, *architecture, rows);
  }
  if (request.json)
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return 0;
}

void declare(Words &words, OccupancyRequest &request) {
  words.text("input", request.input,
             "PTX to read; the real ptxas assembles it to learn its registers");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.text("--arch sm_XX", request.arch, "otherwise the target that the PTX names");
  words.launch(request.launch,
               "with block=32x8 only this shape, otherwise the best ones; shared=BYTES of "
               "dynamic shared memory");
  words.number("--registers", request.registers, "of a thread, instead of asking ptxas", 1, 255);
  words.number("--static-shared", request.static_shared, "bytes of a block, with --registers");
  words.flag("--opt-in", request.opted_in,
             "the program raised the limit of dynamic shared memory for the kernel");
  words.flag("--all", request.all, "a table of every number of warps; otherwise a line a kernel");
  words.flag("--json", request.json, "as JSON");
  words.footer(
      "Exit codes: 0, or 2 if the file, the architecture or ptxas does not give the answer.");
  words.examples(
      {"ptxasw occupancy heat.ptx", "ptxasw occupancy heat.ptx --launch block=32x8,shared=16384"});
}

} // namespace

const Command occupancy_command = {
    "occupancy",
    "how many blocks of a kernel a multiprocessor holds, and what is in the way of more",
    bind<OccupancyRequest, declare, run>};

} // namespace ptxasw::wrapper
