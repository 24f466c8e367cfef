// Each kernel by itself: the first wanted variant that it can have, for the block that is known, is
// written as a sibling, proved as one, put into the kernel, and proved there. Nothing of another
// kernel matters to that, so the proofs hold for all of them together.

#include "synth/in_kernel/in_kernel.h"

#include "grammar/edits.h"
#include "synth/same_launch.h"

#include <algorithm>
#include <fmt/core.h>
#include <tuple>

namespace ptxasw::synth {
namespace {

constexpr Refusal block_unknown{"block-unknown",
                                "the shape of blocks is neither in the PTX nor promised"};
constexpr unsigned registers_of_multiprocessor = 65'536;

/// What the assembler must be told beyond what the kernel says. A limit is kept; without one, and
/// without a `.reqntid` or `.maxntid`, every block that could be launched before still can be.
std::string directive_for(const Function &kernel, const Proposal &proposal,
                          const BlockShape &block) {
  const bool block_known = kernel.directive("reqntid") || kernel.directive("maxntid");
  if (proposal.registers == 0)
    return block_known || limits_registers(kernel)
               ? ""
               : fmt::format(".maxntid {}\n", threads_of_any_block);
  constexpr unsigned step = 8;
  const auto threads = static_cast<unsigned>(block.count());
  const unsigned room = registers_of_multiprocessor / threads / step * step;
  return fmt::format(".maxnreg {}\n",
                     block_known ? proposal.registers : std::min(proposal.registers, room));
}

std::unique_ptr<Module> parsed(std::string text) {
  auto module = parse(std::move(text), "in-kernel");
  return module ? std::move(*module) : nullptr;
}

/// A body with a sibling in it, or why there is none. `own` is the kernel without a `.reqntid`.
tl::expected<std::string, proof::NotProved> write_and_prove(const KernelContext &context,
                                                            const KernelContext &own,
                                                            const Proposal &proposal,
                                                            const BlockShape &block) {
  const auto &[module, kernel] = std::tie(context.module, context.kernel);
  const Family &family = *find_family(proposal.family);
  const auto made = proved_version(own, family, proposal, with_version(own, family, proposal));
  if (!made)
    return tl::unexpected(made.error());
  const InKernelForm form{proposal.sibling, block};
  const auto arm = in_kernel_arm(*made->module, *made->version, form);
  if (!arm)
    return tl::unexpected(arm.error());
  std::string body = directive_for(kernel, proposal, block) + in_kernel_body(context, form, *arm);
  Edits edit;
  edit.replace(kernel.body, body);
  const auto text = edit.apply(module.text());
  const auto after = text ? parsed(*text) : nullptr;
  const Function *const replaced = after ? kernel_named(*after, kernel.name) : nullptr;
  if (!replaced || after->functions.size() != module.functions.size() ||
      after->variables.size() != module.variables.size())
    return proof::not_proved("what was written is not understood");
  return prove_in_kernel(context, *made->kernel, {*made->module, *made->version},
                         {*after, *replaced}, form)
      .map([&] { return std::move(body); });
}

void refuse(std::vector<std::string> &all, const Refusal &refusal, std::string_view variant = "") {
  std::string why =
      fmt::format("{}{}{}{}: {}", variant, variant.empty() ? "" : ": ", refusal.reason,
                  refusal.line == 0 ? "" : fmt::format(", line {}", refusal.line), refusal.meaning);
  if (std::find(all.begin(), all.end(), why) == all.end())
    all.push_back(std::move(why));
}

/// The module with no `.reqntid` at a kernel that has one.
std::unique_ptr<Module> without_block(const Module &module, const Function &kernel) {
  constexpr std::string_view word = ".reqntid";
  std::string text(module.text());
  const std::size_t at = text.rfind(word, kernel.body.begin);
  if (at == std::string::npos || at < kernel.span.begin)
    return nullptr;
  // The word and its numbers become blanks, so that lines stay as they are.
  const std::size_t end =
      text.find_first_not_of(" \t\r\n0123456789,xXabcdefABCDEFuU", at + word.size());
  std::replace_if(
      text.begin() + at, text.begin() + end, [](char c) { return c != '\n'; }, ' ');
  auto result = parsed(std::move(text));
  const Function *const same = result ? kernel_named(*result, kernel.name) : nullptr;
  return same && !same->directive("reqntid") && same->body == kernel.body ? std::move(result)
                                                                          : nullptr;
}

/// A kernel, what is known of its blocks, and what could stand in it, for blocks of any shape. That
/// is asked of the kernel without its `.reqntid`, which only says that siblings cannot be launched
/// otherwise.
struct Offers {
  LaunchFacts facts;
  std::unique_ptr<Module> free;             ///< the module in which the kernel has no `.reqntid`
  std::unique_ptr<const KernelContext> own; ///< the kernel there
  const KernelContext *kernel = nullptr;    ///< that, or what has none; null: nothing can be done
  std::vector<Proposal> proposals;
};

Offers offers_for(const KernelContext &context, const std::optional<BlockShape> &block,
                  std::vector<std::string> &why) {
  Offers offers;
  offers.facts = launch_facts(context.kernel, block);
  if (!context.kernel.directive("reqntid"))
    offers.kernel = offers.facts.block ? &context : nullptr;
  else if ((offers.free = without_block(context.module, context.kernel))) {
    offers.own = std::make_unique<const KernelContext>(
        *offers.free, *kernel_named(*offers.free, context.kernel.name));
    offers.kernel = offers.own.get();
  }
  if (!offers.kernel)
    refuse(why, block_unknown);
  for (const Family &family : families()) {
    if (!offers.kernel)
      break;
    FamilyAnswer answer = propose(family, *offers.kernel, Place::inside);
    for (const Refusal &refusal : answer.refusals)
      refuse(why, refusal);
    std::move(answer.proposals.begin(), answer.proposals.end(),
              std::back_inserter(offers.proposals));
  }
  return offers;
}

/// Why one of them cannot be.
std::optional<Refusal> obstacle_to(const Offers &offers, const Proposal &proposal) {
  if (proposal.registers != 0 && limits_registers(offers.kernel->kernel))
    return refusals::registers_given;
  return in_kernel_obstacle(*offers.kernel, {proposal.sibling, *offers.facts.block});
}

/// Returns the new body; empty: the kernel stays.
std::string replace(const KernelContext &context, const InKernelOptions &options,
                    InKernelOutcome &outcome) {
  const Offers offers = offers_for(context, options.block, outcome.why);
  const std::optional<BlockShape> &block = offers.facts.block;
  if (block)
    outcome.block = {block->x, block->y, block->z};
  outcome.block_assumed = offers.facts.block_assumed;
  for (const std::string &wanted : options.variants)
    for (const Proposal &proposal : offers.proposals) {
      const std::string &variant = proposal.variant;
      if (variant != (wanted == in_kernel_auto ? "wide" : wanted))
        continue;
      if (const auto obstacle = obstacle_to(offers, proposal)) {
        refuse(outcome.why, *obstacle, variant);
        continue;
      }
      auto body = write_and_prove(context, *offers.kernel, proposal, *block);
      if (body) {
        outcome.variant = variant;
        return std::move(*body);
      }
      outcome.why.push_back(fmt::format("{}: unproved: {}", variant, body.error().why));
    }
  return "";
}

} // namespace

InKernelVariants in_kernel_variants(const KernelContext &context,
                                    const std::optional<BlockShape> &block) {
  InKernelVariants result;
  const Offers offers = offers_for(context, block, result.why);
  result.block = offers.facts.block;
  for (const Proposal &proposal : offers.proposals)
    if (const auto obstacle = obstacle_to(offers, proposal))
      refuse(result.why, *obstacle, proposal.variant);
    else
      result.variants.push_back(proposal.variant);
  return result;
}

InKernelResult replace_in_kernel(const Module &module, const InKernelOptions &options) {
  InKernelResult result;
  result.text = module.text();
  Edits edits;
  for (const Function &kernel : module.functions) {
    if (!kernel.is_entry || !kernel.has_body || !is_selected(kernel, options.kernels))
      continue;
    InKernelOutcome &outcome = result.kernels.emplace_back();
    outcome.kernel = kernel.name;
    const std::string body = replace({module, kernel}, options, outcome);
    if (!body.empty())
      edits.replace(kernel.body, body);
  }
  if (auto text = edits.empty() ? std::nullopt : edits.apply(module.text())) {
    result.text = std::move(*text);
    result.lines = edits.lines(module.text());
    result.changed = true;
  }
  return result;
}

} // namespace ptxasw::synth
