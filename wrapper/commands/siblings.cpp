// `ptxasw siblings`: the module followed by proved versions of its kernels, and for each kernel
// which they are or why there are none.

#include "synth/siblings.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/drop_in/profiled_siblings.h"
#include "wrapper/os/files.h"

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace ptxasw::inline wrapper {
namespace {

using Json = nlohmann::ordered_json;

/// What `ptxasw siblings` was asked to do.
struct SiblingsRequest {
  std::string input;
  std::string output;  ///< empty: only say what could be written
  std::string profile; ///< only what won in it; empty: none
  bool json = false;
  SiblingOptions options;
};

/// What a sibling needs of the arguments, as the table in the module says it.
Json needs_of(const Sibling &sibling) {
  Json needs = Json::object();
  for (const ArgumentAlignment &one : sibling.needs.aligned)
    needs["align"].push_back({one.parameter, one.offset, one.alignment});
  for (const ArgumentDivisor &one : sibling.needs.divisible)
    needs["divisible"].push_back({one.parameter, one.offset, one.bytes, one.divisor});
  if (sibling.needs.extent_multiple != SiblingNeeds{}.extent_multiple)
    needs["extent_multiple"] = sibling.needs.extent_multiple;
  return needs;
}

Json to_json(const KernelSiblings &kernel) {
  Json json = {{"name", kernel.kernel},
               {"siblings", Json::array()},
               {"unproved", Json::array()},
               {"refusals", Json::array()}};
  for (const Proposal &proposal : kernel.written) {
    json["siblings"].push_back({{"name", proposal.sibling.name},
                                {"family", proposal.family},
                                {"kind", proposal.sibling.kind},
                                {"variant", proposal.variant},
                                {"grid", proposal.sibling.grid},
                                {"block", proposal.sibling.block},
                                {"needs", needs_of(proposal.sibling)}});
    if (proposal.sibling.extent != Sibling{}.extent)
      json["siblings"].back()["extent"] = proposal.sibling.extent;
    if (!proposal.promise.empty())
      json["siblings"].back()["promise"] = proposal.promise;
  }
  for (const UnprovedSibling &one : kernel.unproved)
    json["unproved"].push_back({{"name", one.name}, {"why", one.why}});
  for (const Refusal &refusal : kernel.refusals)
    json["refusals"].push_back(
        {{"reason", refusal.reason}, {"meaning", refusal.meaning}, {"line", refusal.line}});
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

std::string to_text(const KernelSiblings &kernel) {
  std::string text = kernel.kernel + ":\n";
  for (const Proposal &proposal : kernel.written) {
    text +=
        fmt::format("  {} {}: {}\n", proposal.family, proposal.variant, divided(proposal.sibling));
    if (!proposal.promise.empty())
      text += fmt::format("    as promised: {}\n", proposal.promise);
  }
  for (const UnprovedSibling &one : kernel.unproved)
    text += fmt::format("  not proved: {}: {}\n", one.name, one.why);
  for (const Refusal &refusal : kernel.refusals)
    text += refusal.line == 0 ? fmt::format("  refused: {} ({})\n", refusal.reason, refusal.meaning)
                              : fmt::format("  refused: {}, line {} ({})\n", refusal.reason,
                                            refusal.line, refusal.meaning);
  return text;
}

int run(const SiblingsRequest &request, const Invocation &) {
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  const auto kernels = kernels_called({module.get()}, request.options.kernels, request.input);
  if (!kernels)
    return usage_error;
  SiblingOptions options = request.options;
  options.kernels = *kernels;
  if (!request.profile.empty()) {
    const auto profile = read_profile(request.profile);
    if (!profile)
      return complain(profile.error());
    options.names =
        profiled_siblings(*profile, request.profile, *module, [](const std::string &said) {
          fmt::print(stderr, "ptxasw: warning: {}\n", said);
        });
  }
  const SiblingResult result = add_siblings(*module, options);
  std::string said;
  if (request.json) {
    Json all;
    all["file"] = request.input;
    all["kernels"] = Json::array();
    for (const KernelSiblings &kernel : result.kernels)
      all["kernels"].push_back(to_json(kernel));
    said = all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  } else {
    for (const KernelSiblings &kernel : result.kernels)
      said += to_text(kernel);
  }
  if (!request.output.empty())
    if (const auto written = write_file_atomically(request.output, result.text); !written)
      return complain(written.error());
  fmt::print(request.output == "-" ? stderr : stdout, "{}", said);
  return 0;
}

void declare(Words &words, SiblingsRequest &request) {
  words.required("input", request.input, "PTX to read, - for standard input");
  words.text("-o,--output", request.output,
             "PTX to write, - for standard output; otherwise only say what could be added");
  words.list("--kernel", request.options.kernels, "only this kernel; may be repeated");
  for (const FamilyOption &option : family_options())
    words.choices(fmt::format("--{}", option.name),
                  request.options.wanted[std::string(option.name)], option.variants, option.help);
  words.text("--profile", request.profile,
             "only the siblings that won in this profile of `ptxasw tune`");
  words.gone("--halo");
  words.number("--most", request.options.most, "the largest number of siblings per kernel");
  words.flag("--json", request.json, "as JSON");
  words.examples({"ptxasw siblings heat.ptx", "ptxasw siblings heat.ptx -o more.ptx --most 2"});
}

} // namespace

const Command siblings_command = {
    "siblings", "add versions of kernels that may be faster in some launches, each proved",
    bind<SiblingsRequest, declare, run>};

} // namespace ptxasw::wrapper
