// The report of a run as JSON; its schema is docs/report.schema.json.

#include "wrapper/drop_in/report_json.h"

#include <nlohmann/json.hpp>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

Json source_line_json(const std::optional<SourceLine> &source) {
  if (!source)
    return nullptr;
  return {{"file", source->file}, {"line", source->line}};
}

Json resources_json(const std::optional<Resources> &resources) {
  if (!resources)
    return nullptr;
  Json registers = nullptr;
  if (resources->registers)
    registers = *resources->registers;
  return {{"registers", std::move(registers)},
          {"spill_stores", resources->spill_stores},
          {"spill_loads", resources->spill_loads},
          {"stack", resources->stack},
          {"shared", resources->shared}};
}

/// How many rewrites of each kind each family made; a family that made none has no entry.
Json counts_json(const KernelReport &kernel) {
  Json counts = Json::object();
  for (const RewriteRecord &record : kernel.rewrites) {
    Json &count = counts[std::string(record.family)][record.kind];
    count = count.is_null() ? 1 : count.get<unsigned>() + 1;
  }
  return counts;
}

Json rewrite_json(const RewriteRecord &record) {
  const auto load = [](std::uint32_t line, const std::optional<SourceLine> &source) {
    return Json{{"line", line}, {"source_line", source_line_json(source)}};
  };
  Json sources = Json::array();
  for (const LoadRecord &source : record.sources)
    sources.push_back(load(source.line, source.source_line));
  return {{"number", record.number},
          {"family", record.family},
          {"kind", record.kind},
          {"loads", Json::array({load(record.line, record.source_line)})},
          {"sources", std::move(sources)},
          {"details", {{"delta", record.delta}}},
          // As version 1 had it.
          {"line", record.line},
          {"source_line", source_line_json(record.source_line)},
          {"delta", record.delta},
          {"from_line", record.from_line}};
}

Json kernel_json(const KernelReport &kernel) {
  Json times = Json::object();
  for (const PassTime &time : kernel.milliseconds)
    times[time.pass] = time.milliseconds;
  Json rewrites = Json::array();
  for (const RewriteRecord &record : kernel.rewrites)
    rewrites.push_back(rewrite_json(record));
  Json kept = Json::array();
  for (const KeptRecord &record : kernel.kept) {
    kept.push_back({{"line", record.line},
                    {"source_line", source_line_json(record.source_line)},
                    {"reason", to_string(record.reason)}});
    if (!record.detail.empty())
      kept.back()["detail"] = record.detail;
    if (!record.obligation.empty())
      kept.back()["obligation"] = record.obligation;
  }
  Json result = {{"name", kernel.name},
                 {"loads", kernel.loads},
                 {"counts", counts_json(kernel)},
                 {"shuffles", kernel.shuffles},
                 {"copies", kernel.copies},
                 {"mean_delta", kernel.mean_delta},
                 {"milliseconds", std::move(times)},
                 {"expressions", kernel.expressions},
                 {"undecided_branches", kernel.undecided_branches},
                 {"rewrites", std::move(rewrites)},
                 {"kept", std::move(kept)},
                 {"assumptions", kernel.assumptions}};
  if (kernel.in_kernel)
    result["in_kernel"] = {{"variant", kernel.in_kernel->variant},
                           {"block", kernel.in_kernel->block},
                           {"why", kernel.in_kernel->why}};
  if (kernel.before || kernel.after)
    result["resources"] = {{"before", resources_json(kernel.before)},
                           {"after", resources_json(kernel.after)}};
  return result;
}

Json module_json(const ModuleReport &module) {
  Json kernels = Json::array();
  for (const KernelReport &kernel : module.kernels)
    kernels.push_back(kernel_json(kernel));
  return {{"file", module.file},
          {"module", module.module},
          {"target", module.target},
          {"decision", module.decision},
          {"parse_milliseconds", module.parse_milliseconds},
          {"kernels", std::move(kernels)}};
}

std::string text_of(const Json &json, int indent) {
  // Names come from foreign files; bytes that are not UTF-8 must not cost us the report.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string journal_line(const ModuleReport &module) { return text_of(module_json(module), -1); }

std::string report_json(const std::vector<ModuleReport> &modules) {
  Json report = {{"tool", "ptxasw"}, {"tool_version", PTXASW_VERSION}, {"schema_version", 4}};
  if (modules.size() == 1)
    report.update(module_json(modules.front()));
  else
    for (report["modules"] = Json::array(); const ModuleReport &module : modules)
      report["modules"].push_back(module_json(module));
  return text_of(report, 2);
}

} // namespace ptxasw::wrapper
