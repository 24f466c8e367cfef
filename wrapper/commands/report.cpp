// `ptxasw report`: one page of HTML per module, with what its kernels cost and pictures of their
// accesses.

#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/html.h"
#include "wrapper/os/files.h"
#include "wrapper/os/progress.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>

namespace ptxasw::inline wrapper {
namespace {

/// What `ptxasw report` was asked.
struct ReportRequest {
  AnalysisRequest asked;
  std::string directory = ".";
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
bool write_page(const ReportRequest &request, const std::string &name, const std::string &text) {
  const std::string path = (std::filesystem::path(request.directory) / name).string();
  if (const auto written = write_file_atomically(path, text); !written) {
    complain(written.error());
    return false;
  }
  if (!request.asked.quiet && !request.asked.json)
    fmt::print("{}\n", path);
  return true;
}

/// The pages, for programs.
std::string to_json(const std::vector<IndexEntry> &pages) {
  nlohmann::ordered_json all = {
      {"schema_version", 1},
      {"file", pages.size() == 1 ? nlohmann::ordered_json(pages[0].input) : nullptr},
      {"pages", nlohmann::ordered_json::array()}};
  for (const IndexEntry &page : pages)
    all["pages"].push_back({{"file", page.input},
                            {"page", page.page},
                            {"kernels", page.kernels},
                            {"warnings", page.warnings}});
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

int run(const ReportRequest &request, const Invocation &) {
  auto inputs = read_analysis(request.asked, "report");
  if (!inputs)
    return usage_error;
  const AskedLaunch &launch = inputs->launch;
  LintQuery query;
  query.choices.base_alignment = launch.base_alignment.value_or(query.choices.base_alignment);
  query.block = launch.point.block;
  query.parameters = [&](const Function &kernel) {
    return ParameterNames(kernel, {}).values_at(launch.point);
  };
  query.kernels = inputs->kernels;
  if (request.asked.verbose)
    query.choices.warn("pedantic");
  RewriteOptions options;
  options.assume_block = query.block;
  options.kernels = inputs->kernels;
  std::error_code error;
  std::filesystem::create_directories(request.directory, error);
  if (error)
    return complain(fmt::format("cannot make `{}`: {}", request.directory, error.message()),
                    usage_error);
  std::vector<IndexEntry> written;
  bool none = false;
  Progress progress;
  for (const InputFile &input : inputs->files) {
    if (!request.asked.quiet)
      progress.show(input.name);
    const Places places(*input.module);
    const auto linted = lint_module(*input.module, places, query);
    if (!has_kernel(*input.module)) {
      complain(no_kernel(input.name));
      none = true;
    }
    IndexEntry page{page_name(input.name, written), input.name, linted.size(), 0};
    for (const KernelLint &kernel : linted)
      page.warnings += kernel.warnings.size();
    const std::string shown = input.name == "<stdin>" ? "stdin" : input.name;
    const std::string text =
        report_page(linted, places, explain(*input.module, options), inputs->sources, shown);
    progress.clear();
    if (!write_page(request, page.page, text))
      return usage_error;
    written.push_back(std::move(page));
  }
  if (written.size() > 1) {
    if (!write_page(request, "index.html", index_page(written)))
      return usage_error;
  }
  if (request.asked.json)
    fmt::print("{}\n", to_json(written));
  return inputs->missing != 0 || none ? usage_error : 0;
}

void declare(Words &words, ReportRequest &request) {
  declare_analysis(words, request.asked, "what is said then holds for it", false);
  words.text("-o,--output DIR", request.directory,
             "where to put INPUT.html, and index.html if there are several; otherwise here");
  words.examples({"ptxasw report heat.ptx -o pages --launch block=32x8",
                  "ptxasw report build/ptx --exclude 'third_party/*' -o pages"});
}

} // namespace

const Command report_command = {"report", "write a page that shows what kernels cost",
                                bind<ReportRequest, declare, run>};

} // namespace ptxasw::wrapper
