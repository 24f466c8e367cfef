// Launches that tell two kernels apart. Every answer is an execution of both; `differ` comes with a
// launch that shows it, and agreement says on how many.

#include "emulator/machine/warp_verify.h"

#include "emulator/machine/verifier.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::emulator {
namespace verification {
namespace {

/// Launches in which an index should wrap around.
constexpr unsigned wrapping_launches = 3;

} // namespace

KernelVerdict Verifier::run() {
  verdict_.kernel = kernel_.name;
  const auto layout = [&](const Function &f) {
    std::vector<std::pair<std::uint64_t, bool>> sizes;
    for (const Variable &parameter : f.parameters)
      sizes.emplace_back(parameter.size(), parameter.is_array);
    if (options_.stand_in)
      sizes.resize(std::min(sizes.size(), kernel_.parameters.size()));
    return sizes;
  };
  if (layout(kernel_) != layout(other_) || (options_.stand_in && !fits_stand_in())) {
    verdict_.unusable["the kernels have unlike parameters"] = 1;
    verdict_.impossible = true;
    return std::move(verdict_);
  }
  if (!rewritten_.begins_with_variables_of(original_)) {
    verdict_.unusable["the modules have unlike variables"] = 1;
    verdict_.impossible = true;
    return std::move(verdict_);
  }
  find_targets();
  discover_pointers();
  for (KernelModel *model : {&model_, &other_model_})
    for (const KernelModel::Wish &wish : model->boundaries())
      if (verdict_.changed > 0 && !(wish.near && options_.no_wrap))
        boundaries_.push_back({model, &wish, wish.near ? wrapping_launches : 1});
  const unsigned regular = 4 * options_.runs + 8;
  for (unsigned attempt = 0; attempt < regular + options_.search; ++attempt) {
    if (options_.progress)
      options_.progress(verdict_.kernel, verdict_.agreed);
    if (verdict_.out_of_work = !has_work_left(); verdict_.out_of_work)
      break;
    const bool enough = verdict_.agreed >= options_.runs || attempt >= regular;
    // Enough of anything: what is left is what has not run, and boundaries.
    if (enough && (verdict_.agreed == 0 || (!open_target() && !open_boundary())))
      break;
    const unsigned kind = !enough                               ? attempt
                          : attempt % 2 == 0 && open_boundary() ? 2
                                                                : 2 * attempt + 1;
    if (!try_launch(draw(kind)))
      return finish();
  }
  boundary_ = nullptr;
  if (verdict_.agreed > 0 && !options_.small && options_.search > 0)
    ask_solver();
  for (const bool in_rewritten : {true, false})
    if (verdict_.agreed > 0 && !options_.small && options_.search > 0)
      follow_ways(in_rewritten);
  return finish();
}

KernelVerdict Verifier::finish() {
  if (verdict_.kind == KernelVerdict::Kind::differ)
    return std::move(verdict_);
  const unsigned least = std::min(options_.runs, std::max(3u, options_.runs / 4));
  for (const Target &target : targets_)
    if (target.is_open() || target.wraps) {
      const WarpProgram &program = target.in_rewritten ? rewritten_ : original_;
      const Function &function = *program.function(target.function).function;
      auto &list = target.wraps ? (target.in_rewritten ? verdict_.wrapping : verdict_.gone_wrapping)
                   : target.outcome
                       ? (target.in_rewritten ? verdict_.one_sided : verdict_.gone_one_sided)
                   : target.in_rewritten ? verdict_.not_exercised
                                         : verdict_.gone_not_exercised;
      list.push_back(function.instructions[target.instruction].line);
    }
  if (verdict_.agreed >= least)
    verdict_.kind = verdict_.not_exercised.empty() && verdict_.one_sided.empty() &&
                            verdict_.gone_not_exercised.empty() && verdict_.gone_one_sided.empty()
                        ? KernelVerdict::Kind::agree
                        : KernelVerdict::Kind::not_exercised;
  const auto &code = original_.function(first_).code;
  for (std::size_t i = 0; i + 1 < code.size(); ++i)
    if (!executed_[i])
      verdict_.not_executed.push_back(code[i].line);
  return std::move(verdict_);
}

} // namespace verification

std::vector<KernelVerdict> verify(const Module &original, const Module &rewritten,
                                  const VerifyOptions &options) {
  return verify(WarpProgram(original), WarpProgram(rewritten), options);
}

std::vector<KernelVerdict> verify(const WarpProgram &first, const WarpProgram &second,
                                  const VerifyOptions &options) {
  std::vector<KernelVerdict> verdicts;
  for (std::uint32_t i = 0; i < first.function_count(); ++i) {
    const Function &kernel = *first.function(i).function;
    if (!kernel.is_entry || !kernel.has_body ||
        (!options.kernel.empty() && kernel.name != options.kernel))
      continue;
    const auto other = second.find_kernel(
        options.stand_in ? entry_of(*options.stand_in, std::string(kernel.name)) : kernel.name);
    if (!other) {
      KernelVerdict missing;
      missing.kernel = kernel.name;
      missing.unusable["the second module does not have it"] = 1;
      missing.impossible = true;
      verdicts.push_back(std::move(missing));
      continue;
    }
    verdicts.push_back(verification::Verifier(first, second, i, *other, options).run());
  }
  return verdicts;
}

} // namespace ptxasw::emulator
