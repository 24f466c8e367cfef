// Finds the sibling that makes a command fail.
//
// The command runs a program and checks what it computes; nothing is compiled anew. The launch
// helper takes for each launch the first version that fits, and of the versions only those whose
// names a variable lists. The first runs list the kernels and their versions, in the helper's log.
// Then each kernel may have its first version alone, then its second alone, and so on, until the
// command fails: so every version is launched that any launch fits. Of that list of versions, one
// for each kernel, the shortest beginning with which the command fails ends with the culprit, found
// by halving.

#include "wrapper/commands/command_runs.h"

#include <algorithm>
#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

using Names = std::vector<std::string>;

/// A kernel of the program, and its versions in the order of the table.
struct KernelVersions {
  std::string kernel, hash;
  Names versions;
};

/// The kernels of the program that have siblings, in the order of their first launch.
void find_kernels(const std::vector<nlohmann::json> &log, std::vector<KernelVersions> &all) {
  for (const nlohmann::json &line : log) {
    if (line.value("event", "") != "kernel" || !line.contains("siblings"))
      continue;
    KernelVersions one{line.value("kernel", ""), line.value("hash", ""), {}};
    for (const nlohmann::json &name : line["siblings"])
      if (name.is_string())
        one.versions.push_back(name.get<std::string>());
    const bool known = std::any_of(all.begin(), all.end(), [&](const KernelVersions &other) {
      return other.kernel == one.kernel && other.hash == one.hash;
    });
    if (!known && !one.versions.empty())
      all.push_back(std::move(one));
  }
}

/// What the helper's variable says to launch only these.
std::string only(const Names &names) {
  std::string list = "=";
  for (const std::string &name : names)
    list += (list.size() > 1 ? "," : "") + name;
  return list;
}

class SiblingBisection {
public:
  SiblingBisection(const BisectRequest &request, const std::vector<std::string> &command)
      : request_(request), runs_(request, command) {}

  void run();

private:
  CommandAnswer ask(const std::string &what, const Names &names, unsigned runs) {
    set_variable("PTXASW_LAUNCH_ONLY", only(names));
    return runs_.ask(what, runs);
  }
  void find();
  Names of_rank(std::size_t rank) const;
  void halve(const Names &names);

  const BisectRequest &request_;
  CommandRuns runs_;
  std::vector<KernelVersions> kernels_;
};

/// Of each kernel the version in that place of its table.
Names SiblingBisection::of_rank(std::size_t rank) const {
  Names names;
  for (const KernelVersions &kernel : kernels_)
    if (rank < kernel.versions.size())
      names.push_back(kernel.versions[rank]);
  return names;
}

void SiblingBisection::find() {
  const CommandAnswer none = ask("without siblings", {}, runs_.first_runs());
  if (none.mixed)
    throw NoAnswer{"without siblings the command fails only sometimes: no answer can be trusted"};
  if (none.fails)
    throw NoAnswer{"the command fails without any sibling, too: the reason is elsewhere"};
  if (none.lines.empty())
    throw NoAnswer{
        "the command ran no program under the launch helper; link it in (ptxasw overlay), "
        "or bisect `ptxasw launch -- COMMAND`"};
  find_kernels(none.lines, kernels_);
  if (kernels_.empty())
    throw NoAnswer{"the program launched no kernel that has siblings"};
}

void SiblingBisection::run() {
  set_variable("PTXASW_LAUNCH_LOG", runs_.file());
  set_variable("PTXASW_LAUNCH_MODE", "first");
  find();
  std::size_t ranks = 0;
  for (const KernelVersions &kernel : kernels_)
    ranks = std::max(ranks, kernel.versions.size());
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const Names names = of_rank(rank);
    const CommandAnswer answer = ask(fmt::format("with version {} of {}, of {} kernel{}", rank + 1,
                                                 ranks, names.size(), names.size() == 1 ? "" : "s"),
                                     names, request_.repeats);
    if (answer.fails)
      return halve(names);
  }
  throw NoAnswer{
      "the command succeeds with every version: there is nothing to find. It has to exit "
      "with another code than 0 if the result is wrong"};
}

void SiblingBisection::halve(const Names &names) {
  std::size_t good = 0, bad = names.size();
  const auto beginning = [&](std::size_t length) {
    return Names(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(length));
  };
  while (bad - good > 1) {
    const std::size_t middle = good + (bad - good) / 2;
    const CommandAnswer answer = ask(fmt::format("with {} of these {}", middle, names.size()),
                                     beginning(middle), request_.repeats);
    (answer.fails ? bad : good) = middle;
  }
  const std::string &culprit = names[bad - 1];
  const CommandAnswer alone = ask("with this one only", {culprit}, request_.repeats);
  const auto kernel =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const KernelVersions &one) {
        return std::find(one.versions.begin(), one.versions.end(), culprit) != one.versions.end();
      });
  const std::string list = only(alone.fails ? Names{culprit} : beginning(good));
  const std::string lines = fmt::format(
      "  kernel {}\n  {} PTXASW_LAUNCH_MODE=first PTXASW_LAUNCH_ONLY={}\n  {} runs of the "
      "command\n",
      kernel->kernel,
      alone.fails ? "alone:" : "only together with those before it: they succeed with", list,
      runs_.count());
  tell_found(request_, fmt::format("sibling {} makes the command fail", culprit), lines,
             {{"found", "sibling"},
              {"file", nullptr},
              {"kernel", kernel->kernel},
              {"sibling", culprit},
              {"alone", alone.fails},
              {"settings", {{"PTXASW_LAUNCH_MODE", "first"}, {"PTXASW_LAUNCH_ONLY", list}}},
              {"runs", runs_.count()}});
}

} // namespace

void bisect_siblings(const BisectRequest &request, const std::vector<std::string> &command) {
  SiblingBisection(request, command).run();
}

} // namespace ptxasw::wrapper
