// One loop over the kernels of all inputs. Text is printed kernel by kernel, so that the parts of a
// run, put together by `cat`, are the run; JSON at the end.

#include "wrapper/commands/analyse.h"

#include "wrapper/commands/command.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/os/progress.h"
#include "wrapper/os/terminal.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using Json = nlohmann::ordered_json;

} // namespace

void declare_analysis(Words &words, AnalysisRequest &request, std::string_view launch,
                      bool shards) {
  declare_inputs(words, request.inputs);
  words.text("--arch sm_XX", request.inputs.arch,
             "for CUDA sources, of several PTX in a program, and for ptxas; otherwise nvcc's own, "
             "and the target of the PTX");
  words.list("--kernel", request.kernels,
             "only this kernel: its name, with or without parameters, or a pattern such as "
             "'heat*'; may be repeated");
  if (!launch.empty())
    words.launch(request.launch, launch);
  words.list("--source-root DIR", request.source_roots,
             "read sources in this folder, besides the current one and that of the input; may be "
             "repeated");
  if (shards)
    words.shard(request.shard);
  words.output(request);
}

std::vector<const Module *> AnalysisInputs::modules() const {
  std::vector<const Module *> result;
  for (const InputFile &file : files)
    result.push_back(file.module.get());
  return result;
}

bool AnalysisInputs::wants(const Function &function) const {
  return kernels.empty() ||
         std::find(kernels.begin(), kernels.end(), function.name) != kernels.end();
}

std::string AnalysisInputs::name() const {
  return files.size() == 1 ? files.front().name : fmt::format("{} files", files.size());
}

std::optional<AnalysisInputs> read_analysis(const AnalysisRequest &request,
                                            std::string_view command, const Module *beside) {
  const auto refuse = [](const std::string &why) {
    complain(why);
    return std::nullopt;
  };
  // Also where none is asked for: one that is gone was meant for something.
  if (const auto settings = load_settings({}, "--"); !settings)
    return refuse(settings.error());
  if (request.inputs.paths.empty() && request.inputs.build.empty())
    return refuse(fmt::format("nothing to read; give PTX, a CUDA source, a program or a folder: "
                              "ptxasw {} heat.cu",
                              command));
  AnalysisInputs inputs{{}, {}, Sources(request.source_roots), {}, 0};
  auto files = load_inputs(request.inputs, &inputs.missing);
  if (!files || files->empty())
    return std::nullopt;
  inputs.files = std::move(*files);
  for (const InputFile &file : inputs.files)
    inputs.sources.add_folder_of(file.name);
  const auto kernels = kernels_called(inputs.modules(), request.kernels, inputs.name());
  if (!kernels)
    return std::nullopt;
  inputs.kernels = *kernels;
  auto modules = inputs.modules();
  if (beside)
    modules.push_back(beside);
  auto launch = read_launch(request.launch, modules, inputs.sources);
  if (!launch)
    return refuse(launch.error());
  inputs.launch = std::move(*launch);
  return inputs;
}

int analyse(const AnalysisRequest &request, const AnalysisInputs &inputs, const AnalyseKernel &each,
            bool functions, const Json &head) {
  std::vector<AnalysedKernel> kernels;
  for (const InputFile &file : inputs.files) {
    for (const Function &function : file.module->functions)
      if (function.has_body && (function.is_entry || functions) && inputs.wants(function))
        kernels.push_back({file, function, nullptr});
    if (inputs.files.size() > 1 && !request.quiet && !has_kernel(*file.module))
      fmt::print(stderr, "ptxasw: warning: {}\n", no_kernel(file.name));
  }
  if (kernels.empty())
    complain(no_kernel(inputs.name()));
  const auto [begin, end] = request.shard.range(kernels.size());
  for (std::size_t i = begin; i < end; ++i) {
    const bool same = i > begin && &kernels[i].input == &kernels[i - 1].input;
    auto names = same ? kernels[i - 1].names : std::make_shared<std::vector<std::string>>();
    names->emplace_back(kernels[i].function.name);
    kernels[i].names = std::move(names);
  }
  int code = inputs.missing != 0 || kernels.empty() ? exit_code::failed : exit_code::fine;
  const Painter paint(request.colour, ::fileno(request.to));
  Json all{{"schema_version", 1},
           {"file", inputs.files.size() == 1 ? Json(inputs.files.front().name) : Json()}};
  all.update(head);
  all["kernels"] = Json::array();
  std::string said; // one reason for all kernels is said once
  Progress progress;
  for (std::size_t i = begin; i < end; ++i) {
    const AnalysedKernel &one = kernels[i];
    if (!request.quiet)
      progress.show(fmt::format("{} ({} of {})", one.called(), i + 1, kernels.size()));
    auto answer = each(one);
    progress.clear();
    if (!answer) {
      code = exit_code::worse(code, answer.error().code);
      if (answer.error().why != said)
        complain(answer.error().why);
      said = answer.error().why;
      continue;
    }
    code = exit_code::worse(code, answer->code);
    if (request.json) {
      Json kernel{{"name", one.function.name}, {"file", one.input.name}};
      kernel.update(answer->json);
      all["kernels"].push_back(std::move(kernel));
      continue;
    }
    if (inputs.files.size() > 1)
      answer->heading = fmt::format("{}: {}", one.input.name, answer->heading);
    fmt::print(request.to, "{}\n{}", paint(answer->heading), answer->text);
  }
  if (request.json)
    fmt::print(request.to, "{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return code;
}

} // namespace ptxasw::wrapper
