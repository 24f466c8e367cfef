// `ptxasw report`: one page of HTML per module, with what its kernels cost and pictures of their
// accesses.

#include "wrapper/commands/commands.h"
#include "wrapper/commands/inputs.h"
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
  InputRequest inputs;
  std::string directory = ".";
  std::vector<std::string> kernels, source_roots, launch;
};

/// `heat.html`, and where that is taken `heat-2.html`.
std::string page_name(const std::string &input, const std::vector<IndexEntry> &written) {
  const std::string stem =
      input == "<stdin>" ? "stdin" : std::filesystem::path(input).stem().string();
  std::string name = stem + ".html";
  const auto is_taken = [&] {
    return name == "index.html" ||
           std::any_of(written.begin(), written.end(),
                       [&](const IndexEntry &page) { return page.page == name; });
  };
  for (unsigned number = 2; is_taken(); ++number)
    name = fmt::format("{}-{}.html", stem, number);
  return name;
}

/// Writes one page, says where it is, and returns true; or says why not.
bool write_page(const std::string &directory, const std::string &name, const std::string &text) {
  const std::string path = (std::filesystem::path(directory) / name).string();
  if (const auto written = write_file_atomically(path, text); !written) {
    complain(written.error());
    return false;
  }
  fmt::print("{}\n", path);
  return true;
}

int run(const ReportRequest &request, const Invocation &) {
  if (request.inputs.paths.empty() && request.inputs.build.empty())
    return complain("nothing to read; give PTX, a CUDA source or a folder: ptxasw report heat.cu",
                    usage_error);
  unsigned missing = 0; // have been told of
  const auto inputs = load_inputs(request.inputs, &missing);
  if (!inputs || inputs->empty())
    return usage_error;
  std::vector<const Module *> modules;
  Sources sources(request.source_roots);
  for (const InputFile &input : *inputs) {
    modules.push_back(input.module.get());
    sources.add_folder_of(input.name);
  }
  const std::string called =
      inputs->size() == 1 ? inputs->front().name : fmt::format("{} files", inputs->size());
  const auto kernels = kernels_called(modules, request.kernels, called);
  if (!kernels)
    return usage_error;
  const auto launch = read_launch(request.launch, modules, sources);
  if (!launch)
    return complain(launch.error(), usage_error);
  LintQuery query;
  query.choices.base_alignment = launch->base_alignment.value_or(query.choices.base_alignment);
  query.block = launch->point.block;
  query.parameters = [&](const Function &kernel) {
    return ParameterNames(kernel, {}).values_at(launch->point);
  };
  query.kernels = *kernels;
  RewriteOptions options;
  options.assume_block = query.block;
  options.kernels = *kernels;
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error)
    return complain(fmt::format("cannot make `{}`: {}", request.directory, error.message()),
                    usage_error);
  std::vector<IndexEntry> written;
  bool none = false;
  for (const InputFile &input : *inputs) {
    const Places places(*input.module);
    const auto linted = lint_module(*input.module, places, query);
    none |= linted.empty() && !has_a_kernel(*input.module, input.name);
    IndexEntry page{page_name(input.name, written), input.name, linted.size(), 0};
    for (const KernelLint &kernel : linted)
      page.warnings += kernel.warnings.size();
    const std::string shown = input.name == "<stdin>" ? "stdin" : input.name;
    if (!write_page(request.directory, page.page,
                    report_page(linted, places, explain(*input.module, options), sources, shown)))
      return usage_error;
    written.push_back(std::move(page));
  }
  if (written.size() > 1) {
    if (!write_page(request.directory, "index.html", index_page(written)))
      return usage_error;
  }
  return missing != 0 || none ? usage_error : 0;
}

void declare(Words &words, ReportRequest &request) {
  declare_inputs(words, request.inputs);
  words.text("-o,--output DIR", request.directory,
             "where to put INPUT.html, and index.html if there are several; otherwise here");
  words.list("--kernel", request.kernels, "only this kernel; may be repeated");
  words.launch(request.launch);
  words.list("--source-root DIR", request.source_roots,
             "show lines of sources in this folder, besides the current one and that of the "
             "input; may be repeated");
  words.footer("Exit codes: 0, 2 if a file cannot be read or written, has no kernel, or an option "
               "is wrong.");
  words.examples({"ptxasw report heat.ptx -o pages --launch block=32x8",
                  "ptxasw report build/ptx --exclude 'third_party/*' -o pages"});
}

} // namespace

const Command report_command = {"report", "write a page that shows what kernels cost",
                                bind<ReportRequest, declare, run>};

} // namespace ptxasw::wrapper
