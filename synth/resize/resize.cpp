// Which kernels get such versions, and how they are written: as an outer body of a few instructions
// around the kernel's own, which keeps every byte.

#include "synth/resize/resize.h"

#include "emulator/facts/global_index.h"
#include "emulator/semantics/effects.h"
#include "emulator/semantics/one_value.h"
#include "synth/same_launch.h"
#include "synth/spread.h"

#include <fmt/core.h>

namespace ptxasw::synth {
namespace {

constexpr Refusal block_bounded{"block-bounded",
                                "the kernel says that its blocks have fewer threads"};
constexpr Refusal name_in_use{"name-taken", "the kernel has a name that a version would get"};

/// Begins the names of registers that a version has beside the kernel's.
constexpr std::string_view own_prefix = "%ptxasw_";

/// Threads of a block along x.
constexpr std::string_view resize_variants[] = {"b32", "b64", "b128", "b256", "b512", "b1024"};

} // namespace

std::string resized_body(const Module &module, const Function &kernel, std::string_view grid,
                         std::string_view block) {
  return fmt::format(
      "{{\n"
      "\t.reg .b32 %ptxasw_place<7>;\n"
      "\t.reg .pred %ptxasw_beyond;\n"
      "\tmov.u32 %ptxasw_place0, %ctaid.x;\n"
      "\tmov.u32 %ptxasw_place1, %ntid.x;\n"
      "\tmov.u32 %ptxasw_place2, %tid.x;\n"
      "\tmad.lo.u32 %ptxasw_place3, %ptxasw_place0, %ptxasw_place1, %ptxasw_place2;\n" // g
      "\tld.param.u32 %ptxasw_place4, [{}];\n"
      "\tld.param.u32 %ptxasw_place5, [{}];\n"
      "\tmul.lo.u32 %ptxasw_place6, %ptxasw_place4, %ptxasw_place5;\n" // N
      "\tsetp.ge.u32 %ptxasw_beyond, %ptxasw_place3, %ptxasw_place6;\n"
      "\t@%ptxasw_beyond ret;\n"
      "{}\n"
      "}}",
      grid, block, module.text(kernel.body));
}

bool counts_threads(const Module &module, const Function &kernel) {
  return mentions_special(module, kernel, "%nctaid.x");
}

std::optional<Refusal> resize_obstacle(const KernelContext &context) {
  if (const auto obstacle = extent_obstacle(context, 'x'))
    return obstacle;
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  if (module.text(kernel.body).find(own_prefix) != std::string_view::npos)
    return name_in_use;
  return std::nullopt;
}

Sibling resized(std::uint32_t extent, bool counts) {
  Sibling sibling;
  sibling.family = "resize";
  sibling.kind = fmt::format("b{}", extent);
  sibling.extent[0] = extent;
  // How many threads there are, and for whoever asks a graph's node what was launched.
  sibling.appended = sibling.appended_blocks = {'x'};
  sibling.needs.max_extent[0] = max_points;
  if (counts)
    sibling.needs.extent_multiple[0] = extent;
  return sibling;
}

namespace {

FamilyAnswer propose_resize(const KernelContext &context) {
  const Function &kernel = context.kernel;
  FamilyAnswer answer;
  if (const auto obstacle = resize_obstacle(context))
    return {{}, {*obstacle}};
  const auto bound = kernel.most_threads();
  for (const std::string_view variant : resize_variants) {
    const std::uint32_t extent = number_in(variant);
    if (bound && extent > *bound) {
      add_refusal(answer.refusals, block_bounded);
      continue;
    }
    Proposal proposal = same_launch_proposal(kernel, "resize", variant);
    std::string name = std::move(proposal.sibling.name);
    proposal.sibling = resized(extent, counts_threads(context.module, kernel));
    proposal.sibling.name = std::move(name);
    answer.proposals.push_back(std::move(proposal));
  }
  return answer;
}

std::string write_resize(const KernelContext &context, const Proposal &proposal) {
  const Module &module = context.module;
  const Function &kernel = context.kernel;
  const std::string &name = proposal.sibling.name;
  const std::string grid = name + "_grid", block = name + "_block";
  return same_launch_header(module, kernel, name, {grid, block}) +
         (proposal.sibling.needs.extent_multiple[0] != 1
              ? std::string(module.text(kernel.body))
              : resized_body(module, kernel, grid, block)) +
         "\n";
}

} // namespace

const Family resize_family = {
    .name = "resize",
    .option = "resize",
    .help =
        "add versions for blocks of this number of threads along x, for launches to choose from",
    .variants = listed<resize_variants>,
    .propose = propose_resize,
    .write = write_resize,
    .prove = prove_resize,
};

} // namespace ptxasw::synth
