// `ptxasw siblings`: the module followed by proved versions of its kernels, and for each kernel
// which they are or why there are none.

#include "synth/siblings.h"
#include "analysis/prove/no_race.h"
#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/profiled_siblings.h"
#include "wrapper/os/files.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw siblings` was asked to do.
struct SiblingsRequest {
  AnalysisRequest asked;
  std::string output;  ///< empty: only say what could be written
  std::string profile; ///< only what won in it; empty: none
  bool prove = false;
  SiblingOptions options;
};

Json to_json(const KernelSiblings &kernel) {
  Json json = {
      {"siblings", Json::array()}, {"unproved", Json::array()}, {"refusals", Json::array()}};
  for (const Proposal &proposal : kernel.written) {
    json["siblings"].push_back({{"name", proposal.sibling.name},
                                {"family", proposal.family},
                                {"kind", proposal.sibling.kind},
                                {"variant", proposal.variant},
                                {"grid", proposal.sibling.grid},
                                {"block", proposal.sibling.block},
                                {"needs", needs_json(proposal.sibling.needs)}});
    if (proposal.sibling.extent != Sibling{}.extent)
      json["siblings"].back()["extent"] = proposal.sibling.extent;
    if (!proposal.promise.empty())
      json["siblings"].back()["promise"] = proposal.promise;
  }
  for (const UnprovedSibling &one : kernel.unproved)
    json["unproved"].push_back({{"name", one.name}, {"why", one.why}});
  for (const Refusal &refusal : kernel.refusals)
    json["refusals"].push_back({{"reason", refusal.reason},
                                {"meaning", refusal.meaning},
                                {"line", refusal.line},
                                {"family", refusal.family}});
  return json;
}

std::string divided(const Sibling &sibling) {
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    for (const auto &[what, by] :
         {std::pair("grid", sibling.grid[axis]), std::pair("block", sibling.block[axis])})
      if (by != 1)
        text += fmt::format("{}{}.{} / {}", text.empty() ? "" : ", ", what, "xyz"[axis], by);
    if (sibling.extent[axis] != 0)
      text += fmt::format("{}block.{} = {}, threads.{} {}", text.empty() ? "" : ", ", "xyz"[axis],
                          sibling.extent[axis], "xyz"[axis],
                          sibling.needs.extent_multiple[axis] == 1
                              ? "any"
                              : fmt::format("% {} = 0", sibling.needs.extent_multiple[axis]));
  }
  return text.empty() ? "the same launch" : text;
}

/// Returns true if a refusal helps who asked: the kernel has no version of those that need not be
/// asked for, or what was asked for by name is not among what it has.
bool helps(const Refusal &refusal, const KernelSiblings &kernel, const SiblingOptions &options) {
  const auto has_any = [&](const auto &of) {
    return std::any_of(kernel.written.begin(), kernel.written.end(),
                       [&](const Proposal &one) { return of(*find_family(one.family)); });
  };
  const Family *const family = find_family(refusal.family);
  return !family || !has_any([](const Family &one) { return one.by_default; }) ||
         (!options.variants(family->option).empty() &&
          !has_any([&](const Family &one) { return one.name == family->name; }));
}

/// `most`: so many are named, the most promising first. `all`: all refusals are said.
std::string to_text(const KernelSiblings &kernel, const SiblingOptions &options, std::size_t most,
                    bool all) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, kernel.written.size()); ++i) {
    const Proposal &proposal = kernel.written[i];
    text +=
        fmt::format("  {} {}: {}\n", proposal.family, proposal.variant, divided(proposal.sibling));
    if (!proposal.promise.empty())
      text += fmt::format("    as promised: {}\n", proposal.promise);
  }
  if (kernel.written.size() > most)
    text += fmt::format("  and {} more that promise less (-v)\n", kernel.written.size() - most);
  for (const UnprovedSibling &one : kernel.unproved)
    text += fmt::format("  not proved: {}: {}\n", one.name, one.why);
  for (const Refusal &refusal : kernel.refusals)
    if (all || helps(refusal, kernel, options))
      text += refusal.line == 0
                  ? fmt::format("  refused: {} ({})\n", refusal.reason, refusal.meaning)
                  : fmt::format("  refused: {}, line {} ({})\n", refusal.reason, refusal.line,
                                refusal.meaning);
  return text;
}

int run(const SiblingsRequest &request, const Invocation &) {
  constexpr unsigned written = 8, named = 3; // where nothing else is asked for
  auto inputs = read_analysis(request.asked, "siblings");
  if (!inputs)
    return exit_code::failed;
  if (inputs->files.size() > 1 && !request.output.empty())
    return complain("-o takes the siblings of one input");
  const bool chosen = request.options.most != ~0U || !request.profile.empty() ||
                      std::any_of(request.options.wanted.begin(), request.options.wanted.end(),
                                  [](const auto &family) { return !family.second.empty(); });
  SiblingOptions options = request.options;
  if (!chosen && !request.output.empty())
    options.most = written;
  const bool all = chosen || !request.output.empty() || request.asked.verbose;
  tl::expected<launch::Profile, std::string> profile;
  if (!request.profile.empty() && !(profile = read_profile(request.profile)))
    return complain(profile.error());
  const Module *module = nullptr; // what the result is of
  SiblingResult result;
  // Adds to a module, writes it if that is asked for; why it is not written, or nothing.
  const auto add = [&](const Module &to, const std::vector<std::string> &kernels) -> std::string {
    module = &to;
    options.kernels = kernels;
    if (!request.profile.empty())
      options.names = profiled_siblings(*profile, request.profile, to, [](const std::string &said) {
        fmt::print(stderr, "ptxasw: warning: {}\n", said);
      });
    result = add_siblings(to, options);
    if (request.output.empty())
      return "";
    const auto done = write_file_atomically(request.output, result.text);
    return done ? "" : done.error();
  };
  AnalysisRequest asked = request.asked;
  asked.to = request.output == "-" ? stderr : stdout;
  const auto each = [&](const AnalysedKernel &one) -> tl::expected<KernelAnswer, Unanswered> {
    if (module != &one.module())
      if (std::string why = add(one.module(), *one.names); !why.empty())
        return tl::unexpected(Unanswered{std::move(why)});
    const KernelSiblings &kernel = *std::find_if(
        result.kernels.begin(), result.kernels.end(),
        [&](const KernelSiblings &other) { return other.kernel == one.function.name; });
    KernelAnswer told{one.called() + ":",
                      to_text(kernel, options, all ? ~std::size_t{0} : named, asked.verbose),
                      to_json(kernel)};
    if (request.prove && !kernel.written.empty()) {
      const NoRace answer = no_race(one.module(), one.function);
      told.text += fmt::format("  if: {}\n", answer.text());
      for (const std::string &condition : answer.conditions)
        told.text += fmt::format("    which rests on: {}\n", condition);
      told.json["no_race"] = {{"proved", answer.proved}, {"conditions", answer.conditions}};
    }
    return told;
  };
  const Module &first = *inputs->files.front().module;
  if (!request.output.empty() && !has_kernel(first)) {
    const std::string why = add(first, {}); // nothing to add to
    return why.empty() ? 0 : complain(why);
  }
  return analyse(asked, *inputs, each);
}

void declare(Words &words, SiblingsRequest &request) {
  declare_analysis(words, request.asked, "");
  words.text(
      "-o,--output FILE", request.output,
      "PTX to write, - for standard output; otherwise only say what could be added, the three "
      "that promise most");
  for (const FamilyOption &option : family_options())
    words.choices(fmt::format("--{} {}", option.setting, option.values),
                  request.options.wanted[std::string(option.name)], option.variants, option.help);
  words.text("--profile FILE", request.profile,
             "only the siblings that won in this profile of `ptxasw tune`");
  words.flag(
      "--prove", request.prove,
      "versions compute the same where the kernel has no race: look for a proof of that, and\n"
      "say if it is proved or assumed");
  words.gone("--halo");
  words.number("--siblings", request.options.most,
               "the largest number of siblings per kernel; otherwise 8 where none are named and -o "
               "is given");
  words.examples({"ptxasw siblings heat.ptx", "ptxasw siblings heat.ptx -o more.ptx --siblings 2"});
}

} // namespace

const Command siblings_command = {
    "siblings", "add versions of kernels that may be faster in some launches, each proved",
    bind<SiblingsRequest, declare, run>};

} // namespace ptxasw::wrapper
