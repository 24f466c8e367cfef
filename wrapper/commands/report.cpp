// `ptxasw report`: one page of HTML per module, with what its kernels cost and pictures of their
// accesses.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/launch_words.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/html.h"
#include "wrapper/os/files.h"
#include "wrapper/settings/launch_point.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw report` was asked.
struct ReportRequest {
  std::string input, directory = ".";
  std::vector<std::string> kernels, source_roots, launch;
};

int run(const ReportRequest &request, const Invocation &) {
  LintQuery query;
  const auto module = load_module(request.input);
  if (!module)
    return usage_error;
  const auto kernels = kernels_called({module.get()}, request.kernels, request.input);
  if (!kernels)
    return usage_error;
  Sources sources(request.source_roots);
  sources.add_folder_of(request.input);
  const auto launch = read_launch(request.launch, {module.get()}, sources);
  if (!launch)
    return complain(launch.error(), usage_error);
  if (launch->base_alignment)
    query.choices.base_alignment = *launch->base_alignment;
  query.block = launch->point.block;
  query.parameters = [&](const Function &kernel) {
    return ParameterNames(kernel, {}).values_at(launch->point);
  };
  query.kernels = *kernels;
  const std::string file = request.input == "-" ? "stdin" : request.input;
  const Places places(*module);
  RewriteOptions options;
  options.assume_block = query.block;
  options.kernels = *kernels;
  const std::string page = report_page(lint_module(*module, places, query), places,
                                       explain(*module, options), sources, file);
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error)
    return complain(fmt::format("cannot make `{}`: {}", request.directory, error.message()),
                    usage_error);
  const std::string name = std::filesystem::path(file).stem().string() + ".html";
  const std::string path = (std::filesystem::path(request.directory) / name).string();
  if (const auto written = write_file_atomically(path, page); !written)
    return complain(written.error(), usage_error);
  fmt::print("{}\n", path);
  return 0;
}

void declare(Words &words, ReportRequest &request) {
  words.required("input", request.input, "PTX or a CUDA source, - for standard input");
  words.text("-o,--output DIR", request.directory, "where to put INPUT.html; otherwise here");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.launch(request.launch);
  words.list("--source-root DIR", request.source_roots,
             "show lines of sources in this folder, besides the current one and that of the "
             "input; may be repeated");
  words.footer("Exit codes: 0, 2 if a file cannot be read or written or an option is wrong.");
  words.examples({"ptxasw report heat.ptx -o pages --launch block=32x8",
                  "ptxasw report heat.cu --kernel step"});
}

} // namespace

const Command report_command = {"report", "write a page that shows what kernels cost",
                                bind<ReportRequest, declare, run>};

} // namespace ptxasw::wrapper
