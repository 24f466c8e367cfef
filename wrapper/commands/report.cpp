// `ptxasw report`: a page of HTML for each kernel, with what it costs and pictures of its accesses,
// and one that lists them.

#include "wrapper/commands/analyse.h"
#include "wrapper/commands/commands.h"
#include "wrapper/commands/load_module.h"
#include "wrapper/commands/words.h"
#include "wrapper/lint/html.h"
#include "wrapper/lint/names.h"
#include "wrapper/os/files.h"
#include "wrapper/os/progress.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/core.h>
#include <set>

namespace ptxasw::wrapper {
namespace {

/// What `ptxasw report` was asked.
struct ReportRequest {
  AnalysisRequest asked;
  std::string directory = ".";
};

/// `heat.html`, and where that is taken `heat-2.html`; `taken` then has it, too, without regard to
/// upper case, as some file systems.
std::string page_name(const std::string &kernel, std::set<std::string> &taken) {
  constexpr std::size_t longest = 100;
  std::string stem = base_name(kernel).substr(0, longest), name;
  std::replace_if(
      stem.begin(), stem.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '-');
  for (unsigned number = 1;; ++number) {
    name = number == 1 ? stem + ".html" : fmt::format("{}-{}.html", stem, number);
    std::string small = name;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    if (taken.insert(small).second)
      return name;
  }
}

/// Writes one page, says where it is, and returns true; or says why not.
bool write_page(const ReportRequest &request, const std::string &name, const std::string &text) {
  const std::string path = (std::filesystem::path(request.directory) / name).string();
  if (const auto written = write_file_atomically(path, text); !written) {
    complain(written.error());
    return false;
  }
  return true;
}

/// The pages, for programs.
std::string to_json(const std::vector<InputFile> &inputs, const std::vector<IndexEntry> &pages) {
  nlohmann::ordered_json all = {
      {"schema_version", 1},
      {"file", inputs.size() == 1 ? nlohmann::ordered_json(inputs[0].name) : nullptr},
      {"index", "index.html"},
      {"pages", nlohmann::ordered_json::array()}};
  for (const IndexEntry &page : pages)
    all["pages"].push_back({{"file", page.input},
                            {"kernel", page.kernel},
                            {"page", page.page},
                            {"warnings", page.warnings}});
  return all.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

int run(const ReportRequest &request, const Invocation &) {
  auto inputs = read_analysis(request.asked, "report");
  if (!inputs)
    return exit_code::failed;
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
    return complain(fmt::format("cannot make `{}`: {}", request.directory, error.message()));
  std::vector<IndexEntry> written;
  std::set<std::string> taken{"index.html"};
  bool none = false;
  Progress progress;
  for (const InputFile &input : inputs->files) {
    const Places places(*input.module);
    const auto linted = lint_module(*input.module, places, query);
    if (!has_kernel(*input.module)) {
      complain(no_kernel(input.name));
      none = true;
    }
    const std::string shown = input.name == "<stdin>" ? "stdin" : input.name;
    const auto explained = explain(*input.module, options);
    for (const KernelLint &kernel : linted) {
      if (!request.asked.quiet)
        progress.show(fmt::format("{} {}", input.name, short_name(kernel.name)));
      IndexEntry page{page_name(kernel.name, taken), input.name, kernel.name,
                      kernel.warnings.size(),        {},         0};
      for (const Told &told : kernel.warnings) {
        ++page.codes[told.code];
        page.excess += told.weight;
      }
      if (!write_page(request, page.page,
                      kernel_page(kernel, places, explained, inputs->sources, shown)))
        return exit_code::failed;
      written.push_back(std::move(page));
    }
  }
  progress.clear();
  if (!write_page(request, "index.html", index_page(written)))
    return exit_code::failed;
  if (request.asked.json)
    fmt::print("{}\n", to_json(inputs->files, written));
  else if (!request.asked.quiet)
    fmt::print("{}\n", (std::filesystem::path(request.directory) / "index.html").string());
  return inputs->missing != 0 || none ? exit_code::failed : 0;
}

void declare(Words &words, ReportRequest &request) {
  declare_analysis(words, request.asked, "what is said then holds for it", false);
  words.text("-o,--output DIR", request.directory,
             "where to put index.html, and a page for each kernel; otherwise here");
  words.examples({"ptxasw report heat.ptx -o pages --launch block=32x8",
                  "ptxasw report build/ptx --exclude 'third_party/*' -o pages"});
}

} // namespace

const Command report_command = {"report", "write pages that show what kernels cost",
                                bind<ReportRequest, declare, run>};

} // namespace ptxasw::wrapper
