// Kernels several of whose blocks are run by one.
//
// For the hazard re-tiling is `refused` for the reason in the head, or it is `written` and computes
// the same, or the first of its variants is `absent`; for the twin it is always written. What is
// written runs on the warp emulator beside its kernel, as `variants` says: K = 2 and 4 along x if
// nothing is said. Where the head says `naive: differs`, writing it all the same is shown to be
// wrong.
//
// In the kernel the same kernels get their versions inside, for blocks that a `.reqntid` fixes and
// for blocks that are only promised, which other launches do not keep. Where the head names a
// reason `in the kernel`, neither the kernel nor its twin may have one there.

#include "family.h"
#include "synth/coarsen/coarsen.h"
#include "synth/in_kernel/in_kernel.h"
#include "versions.h"

#include <algorithm>
#include <fmt/core.h>
#include <stdexcept>

namespace ptxasw::test {
namespace {

constexpr VersionFamily retiled{
    .name = "retile", .runs = 8, .search = 20, .to_the_last_line = false, .one_reason = true};

/// What is asked of one module, and who is told.
struct Asked {
  const TrapOptions &options;
  TrapReport &report;
  VersionFamily family = retiled;
};

/// A block that a variant can be made for.
BlockShape block_of(std::string_view variant) {
  if (variant.find("z4-rows") != std::string_view::npos ||
      variant.find("neighbours") != variant.npos)
    return {8, 8, 1};
  if (variant.starts_with("wide") || variant.find("rows") != std::string_view::npos)
    return {32, 1, 1};
  if (variant.starts_with("x"))
    return {12, 1, 1}; // most kernels have one thread per element along x
  return {6, 2, 1};
}

/// The kernel for blocks of one shape only.
std::string with_block(const std::string &text, const BlockShape &block) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return text;
  const Function &kernel = (*module)->functions.back();
  return kernel.directive("reqntid")
             ? text
             : text.substr(0, kernel.body.begin) +
                   fmt::format(".reqntid {}, {}, {}\n", block.x, block.y, block.z) +
                   text.substr(kernel.body.begin);
}

/// What is wrong with one sibling inside its kernel.
std::string check_in_kernel(const std::string &text, const std::string &variant,
                            const BlockShape &block, bool must, Asked &run) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  InKernelOptions options;
  options.variants = {variant};
  options.block = block;
  const InKernelResult result = replace_in_kernel(**module, options);
  const InKernelOutcome &outcome = result.kernels.back();
  for (const std::string &why : outcome.why)
    if (why.find("unproved") != std::string::npos)
      return why;
  if (outcome.variant.empty())
    return must ? fmt::format("{} is not written: {}", variant,
                              outcome.why.empty() ? "" : outcome.why.front())
                : "";
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  VerifyOptions how;
  how.kernel = "k";
  how.runs = run.options.runs != 0 ? run.options.runs : first_of(retiled.runs, run.options.share);
  how.search = first_of(retiled.search, run.options.share);
  how.schedules = 1;
  how.small = true;
  how.step_limit = retiled.step_limit;
  how.whole_grid = true;
  KernelVerdict verdict = verify(**module, **written, how).at(0);
  if (verdict.kind == KernelVerdict::Kind::unchecked) {
    how.runs = std::max(how.runs, retiled.runs);
    how.search = retiled.search;
    verdict = verify(**module, **written, how).at(0);
  }
  run.report.count("versions in a kernel");
  run.report.count("of them with a line that no launch reached",
                   verdict.kind == KernelVerdict::Kind::not_exercised);
  if (verdict.kind == KernelVerdict::Kind::differ)
    return fmt::format("{}: {}", variant, verdict.counter_example);
  if (verdict.kind == KernelVerdict::Kind::unchecked)
    return fmt::format("{}: only {} launches", variant, verdict.agreed);
  return "";
}

/// The same of a module that siblings can be written for. What those for one round of a loop ask of
/// a launch cannot be tested in the kernel, so they are not written there.
std::string check_all_in_kernel(const std::string &text, const std::vector<std::string> &variants,
                                Asked &run) {
  for (const std::string &variant : variants) {
    const BlockShape block = block_of(variant);
    for (const std::string &one : {with_block(text, block), text})
      if (std::string wrong =
              check_in_kernel(one, variant, block, variant.find("-once") == variant.npos, run);
          !wrong.empty())
        return wrong;
  }
  return "";
}

/// What siblings are refused for is refused in the kernel, too; there no shared memory is allowed
/// at all, which may be found first.
std::string check_none_in_kernel(const std::string &text, const std::string &reason,
                                 const std::vector<std::string> &variants) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  InKernelOptions options;
  options.variants = variants;
  for (const BlockShape &block : {BlockShape{32, 1, 1}, BlockShape{8, 8, 1}}) {
    options.block = block;
    const InKernelResult result = replace_in_kernel(**module, options);
    const InKernelOutcome &outcome = result.kernels.back();
    if (result.changed)
      return fmt::format("{} was written", outcome.variant);
    if (std::none_of(outcome.why.begin(), outcome.why.end(), [&](const std::string &why) {
          return why.starts_with(reason) ||
                 (reason == "shared-address" && why.starts_with("shared-memory,"));
        }))
      return "refused for another reason";
  }
  return "";
}

/// The first of the variants is not proposed, others may be.
std::string check_absent(const std::string &text, const std::string &variant) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  SiblingOptions options;
  options.wanted["retile"] = {variant};
  return add_siblings(**module, options).changed ? "it was written" : "";
}

/// Writes it although it is refused: it must be wrong.
std::string check_naive(const std::string &text) {
  const auto module = parse(text, "k.ptx");
  Proposal proposal;
  proposal.sibling.name = "naive";
  proposal.sibling.grid = {2, 1, 1};
  proposal.sibling.appended = {'x'};
  const auto written =
      parse(text + write_coarsen({**module, (*module)->functions.back()}, proposal), "naive.ptx");
  if (!written)
    return format(written.error());
  return compare(retiled, **written, proposal, 0).kind == KernelVerdict::Kind::differ
             ? ""
             : "the naive rewrite is not wrong";
}

/// The variants that what is refused is refused for: those with wide accesses, or all others.
std::vector<std::string> variants_like(const std::string &variant) {
  std::vector<std::string> list;
  for (const std::string &one : family_option("retile").variants)
    if (one.starts_with("wide") == variant.starts_with("wide"))
      list.push_back(one);
  return list;
}

void check_beside(const Trap &trap, const std::vector<std::string> &variants, Asked &run) {
  if (trap.has("written"))
    run.report.say(trap.name, "written",
                   fault_of_written(run.family, trap.text, variants, run.options));
  else if (trap.has("absent"))
    run.report.say(trap.name, "absent", check_absent(trap.text, variants.front()));
  else
    run.report.say(trap.name, "refused",
                   fault_of_refused(retiled, trap.text, variants_like(variants.front()),
                                    trap.value("refused")));
  if (trap.value("naive") == "differs")
    run.report.say(trap.name, "naive", check_naive(trap.text));
  if (!trap.twin.empty())
    run.report.say(trap.name, "twin",
                   fault_of_written(run.family, trap.twin, variants, run.options));
}

void check_inside(const Trap &trap, const std::vector<std::string> &variants, Asked &run) {
  const std::vector<std::string> refused = variants_like(variants.front());
  const std::string inside = trap.value("in the kernel");
  if (!inside.empty())
    run.report.say(trap.name, "inside", check_none_in_kernel(trap.text, inside, refused));
  else if (trap.has("written"))
    run.report.say(trap.name, "written", check_all_in_kernel(trap.text, variants, run));
  else if (trap.has("absent")) // of siblings; what is written all the same is right
    for (const std::string &variant : variants)
      run.report.say(trap.name, "absent",
                     check_in_kernel(trap.text, variant, block_of(variant), false, run));
  else
    run.report.say(trap.name, "refused",
                   check_none_in_kernel(trap.text, listed(trap.value("refused")).front(), refused));
  if (!trap.twin.empty())
    run.report.say(trap.name, "twin",
                   inside.empty() ? check_all_in_kernel(trap.twin, variants, run)
                                  : check_none_in_kernel(trap.twin, inside, refused));
}

} // namespace

void check_retiled(const Trap &trap, const TrapOptions &options, TrapReport &report) {
  const std::vector<std::string> variants = listed(trap.value("variants", "x2,x4"));
  if (trap.has("written") + trap.has("absent") + trap.has("refused") != 1)
    throw std::runtime_error("the head says none of `written`, `absent` and `refused`, or several");
  Asked run{options, report};
  if (trap.has("shared"))
    run.family.dynamic_shared = static_cast<std::uint32_t>(std::stoul(trap.value("shared")));
  (options.in_kernel ? check_inside : check_beside)(trap, variants, run);
}

} // namespace ptxasw::test
