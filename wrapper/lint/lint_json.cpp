// Numbers are written as far as they are known, with what they claim; what is not known is null and
// never 0.

#include "wrapper/lint/lint_json.h"

#include "analysis/lint/times.h"
#include "wrapper/lint/code_pages.h"
#include "wrapper/lint/sarif.h"

#include <algorithm>
#include <cmath>
#include <fmt/core.h>
#include <map>
#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;
using facts::Access;
using facts::Count;
using facts::KernelFacts;
using facts::Traffic;
using facts::Verdict;

Json to_json(const Place &place) {
  Json json;
  json["file"] = place.file;
  json["line"] = place.line;
  json["column"] = place.column ? Json(place.column) : Json();
  return json;
}

Json source_of(const Places &places, const Instruction &instruction) {
  const auto place = places.of(instruction);
  if (!place)
    return {};
  Json json = to_json(*place);
  json["inlined_at"] = Json::array();
  for (const Place &call : places.inlined_at(instruction))
    json["inlined_at"].push_back(to_json(call));
  return json;
}

/// A number that is not known is null.
Json value_of(const Count &count, std::uint32_t less = 0) {
  return count.verdict == Verdict::unknown ? Json() : Json(count.most - std::min(count.most, less));
}

/// What is said about a number does not depend on it being reported in full.
Json counted(const Count &count, std::uint32_t less) {
  Json json;
  json["value"] = value_of(count, less);
  json["verdict"] = to_string(count.verdict);
  return json;
}

/// A number, a formula, or null.
Json times_of(const Access &access, lint::Times &times) {
  const auto text = times.of(access.block);
  if (!text)
    return {};
  const bool number = text->size() < 16 && std::all_of(text->begin(), text->end(),
                                                       [](char c) { return c >= '0' && c <= '9'; });
  return number ? Json(std::stoll(*text)) : Json(*text);
}

Json to_json(const KernelFacts &facts, const Access &access, const Places &places,
             lint::Times &times) {
  const Instruction &instruction = facts.function().instructions[access.site.instruction];
  const bool known_space = access.space == StateSpace::global;
  const bool shared = access.space == StateSpace::shared;
  const Traffic &traffic = facts.traffic(access);
  Json json;
  json["line"] = instruction.line;
  json["source"] = source_of(places, instruction);
  json["space"] = to_string(access.space);
  json["op"] = to_string(access.site.kind);
  json["bytes"] = access.site.bytes;
  if (const auto stride = facts.lane_stride(access))
    json["lane_stride"] = *stride;
  else if (const std::string text = lint::stride_text(facts, access); !text.empty())
    json["lane_stride"] = text;
  else
    json["lane_stride"] = nullptr;
  json["sectors"] = nullptr;
  if (known_space) {
    json["sectors"] = Json::object();
    json["sectors"]["value"] = value_of(traffic.sectors);
    json["sectors"]["ideal"] = traffic.ideal_sectors;
    json["sectors"]["verdict"] = to_string(traffic.sectors.verdict);
  }
  json["conflicts"] = shared ? counted(traffic.wavefronts, 1) : Json();
  json["loop_depth"] = access.loop_depth;
  json["times"] = times_of(access, times);
  return json;
}

Json to_json(const KernelFacts &facts, const facts::Branch &branch, const Places &places) {
  const Instruction &instruction = facts.function().instructions[branch.instruction];
  Json json;
  json["line"] = instruction.line;
  json["source"] = source_of(places, instruction);
  json["parting"] = to_string(branch.parting);
  json["lanes"] =
      branch.parting == facts::Parting::by_lane ? Json({branch.lanes[0], branch.lanes[1]}) : Json();
  json["leaves_loop"] = branch.leaves != no_index;
  json["loop_depth"] = branch.loop == no_index ? 0 : facts.cfg().loops()[branch.loop].depth;
  return json;
}

Json to_json(const Told &told) {
  Json json;
  json["code"] = lint::info(told.code).name;
  json["line"] = told.line;
  json["source"] = told.source ? to_json(*told.source) : Json();
  if (told.source) {
    json["source"]["inlined_at"] = Json::array();
    for (const Place &call : told.inlined_at)
      json["source"]["inlined_at"].push_back(to_json(call));
  }
  json["message"] = told.message;
  json["note"] = told.note;
  json["share"] = told.share > 0 ? Json(std::round(1000 * told.share) / 1000) : Json();
  return json;
}

Json to_json(const KernelLint &kernel, const Places &places, const std::string &file) {
  const KernelFacts &facts = *kernel.facts;
  Json json;
  json["name"] = kernel.name;
  json["file"] = file;
  const auto &block = facts.launch().block;
  json["block"] = block ? Json({block->x, block->y, block->z}) : Json();
  json["accesses"] = Json::array();
  lint::Times times(facts);
  for (const Access &access : facts.accesses())
    json["accesses"].push_back(to_json(facts, access, places, times));
  json["branches"] = Json::array();
  for (const facts::Branch &branch : facts.branches())
    json["branches"].push_back(to_json(facts, branch, places));
  json["warnings"] = Json::array();
  for (const Told &told : kernel.warnings)
    json["warnings"].push_back(to_json(told));
  return json;
}

std::string dump(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string lint_json(std::span<const LintedModule> modules) {
  Json all;
  all["schema_version"] = 1;
  all["file"] = modules.size() == 1 ? Json(modules[0].file) : Json();
  all["kernels"] = Json::array();
  for (const LintedModule &module : modules)
    for (const KernelLint &kernel : *module.kernels)
      all["kernels"].push_back(to_json(kernel, *module.places, module.file));
  return dump(all);
}

std::string lint_sarif(const std::vector<Finding> &findings) {
  Json rules = Json::array();
  for (const lint::CodeInfo &info : lint::codes())
    rules.push_back({{"id", info.name},
                     {"shortDescription", {{"text", info.meaning}}},
                     {"help", {{"text", code_page(info.code)}}},
                     {"helpUri", code_url(info.code)},
                     {"defaultConfiguration", {{"enabled", info.on}, {"level", "warning"}}}});
  Json results = Json::array();
  std::map<std::string, unsigned> seen; // findings that differ by their line alone
  for (const Finding &finding : findings) {
    const Told &told = finding.told;
    const std::string_view code = lint::info(told.code).name;
    Json result;
    result["ruleId"] = code;
    result["ruleIndex"] = static_cast<std::size_t>(told.code);
    result["level"] = told.error ? "error" : "warning";
    result["message"]["text"] = told.message + " (kernel " + finding.kernels[0] + ")\n" + told.note;
    Json kernel{{"fullyQualifiedName", finding.kernels[0]}, {"kind", "function"}};
    result["locations"] =
        Json::array({finding.place.file.empty() ? Json{{"logicalLocations", Json::array({kernel})}}
                                                : sarif_location(finding.place)});
    const std::string same =
        fmt::format("{}:{}:{}", code, shown_path(finding.place.file), finding.kernels[0]);
    result["partialFingerprints"]["ptxasw/v1"] = fmt::format("{}:{}", same, ++seen[same]);
    Json related = Json::array();
    for (const Place &call : told.inlined_at) {
      Json at = sarif_location(call);
      at["message"]["text"] = "inlined at";
      related.push_back(std::move(at));
    }
    if (!related.empty())
      result["relatedLocations"] = std::move(related);
    results.push_back(std::move(result));
  }
  return sarif_text(rules, results);
}

} // namespace ptxasw::wrapper
