// waits [--only NAME] [-v]
//
// Each file of waits/ is a kernel in which a thread may wait in a loop. With the lines that end in
// `// hazard`, and without those that begin with `//twin`, every family refuses it, beside the
// kernel and in its place; and what a family writes all the same is not proved. The other way round
// every family has a version of it, except those that the head names as `without`; each is proved
// and computes the same on the warp emulator.

#include "emulator/machine/warp_verify.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/search/search.h"
#include "synth/siblings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace ptxasw;

namespace {

struct Trap {
  std::string text, twin;
  std::set<std::string> without;
};

Trap read_trap(const std::filesystem::path &path) {
  constexpr std::string_view twin = "//twin", without = "// without: ";
  Trap trap;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(without)) {
      std::istringstream words(line.substr(without.size()));
      for (std::string word; words >> word;)
        trap.without.insert(word);
    } else if (line.starts_with(twin)) {
      trap.twin += line.substr(twin.size()) + "\n";
    } else {
      trap.text += line + "\n";
      trap.twin += line.ends_with("// hazard") ? "" : line + "\n";
    }
  }
  return trap;
}

/// One version of each family, and of both kinds that copy blocks.
SiblingResult with_all(const Module &module) {
  SiblingOptions options;
  options.kernels = {"k"};
  options.retile = {"x2", "wide-x2"};
  options.registers = {"32"};
  options.meld = options.promote = options.carry = {"all"};
  options.cache = {"nc-apart"};
  options.shuffle = {"copies"};
  options.resize = {"b64"};
  options.stage = {"4k"};
  return add_siblings(module, options);
}

const std::set<std::string> &all_of_them() {
  static const std::set<std::string> all{"cache",   "carry",     "in-kernel", "meld",
                                         "promote", "registers", "resize",    "retile",
                                         "shuffle", "stage",     "vectorise"};
  return all;
}

InKernelOutcome inside(const Module &module) {
  return replace_in_kernel(module, {{"k"}, {"x2"}, BlockShape{32, 1, 1}}).kernels.back();
}

std::string fault_of_twin(const Trap &trap) {
  const auto module = parse(trap.twin, "twin.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = with_all(**module);
  const KernelSiblings &kernel = result.kernels.back();
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  std::set<std::string> written, expected;
  for (const Proposal &proposal : kernel.written)
    written.emplace(proposal.family);
  if (!inside(**module).variant.empty())
    written.emplace("in-kernel");
  std::set_difference(all_of_them().begin(), all_of_them().end(), trap.without.begin(),
                      trap.without.end(), std::inserter(expected, expected.end()));
  if (written != expected) {
    std::string why;
    for (const Refusal &refusal : kernel.refusals)
      why += fmt::format(", {} (line {})", refusal.reason, refusal.line);
    return fmt::format("versions of {}, not of {}{}", fmt::join(written, " "),
                       fmt::join(expected, " "), why);
  }
  const auto after = parse(result.text, "written.ptx");
  if (!after)
    return format(after.error());
  for (const Proposal &proposal : kernel.written) {
    VerifyOptions how;
    how.kernel = "k";
    how.stand_in = stand_in(proposal.sibling);
    how.no_alias = !proposal.promise.empty();
    how.runs = 2;
    how.schedules = 1;
    how.small = true;
    how.step_limit = 200'000;
    const KernelVerdict verdict = verify(**after, **after, how).at(0);
    if (verdict.kind == KernelVerdict::Kind::differ)
      return fmt::format("{}: {}", proposal.sibling.name, verdict.counter_example);
  }
  return "";
}

/// What families would write of the twin is written of the hazard: none of it is proved.
std::string fault_of_proofs(const Trap &trap, const Module &module) {
  const auto twin = parse(trap.twin, "twin.ptx");
  if (!twin)
    return format(twin.error());
  const Function &kernel = module.functions.back();
  const SiblingResult all = with_all(**twin);
  for (const Proposal &proposal : all.kernels.back().written) {
    const auto family = std::find_if(families().begin(), families().end(), [&](const Family &one) {
      return one.name == proposal.family;
    });
    const auto written =
        parse(fmt::format("{}\n{}", module.text(), family->write(module, kernel, proposal)), "k");
    if (written && (*written)->functions.size() == module.functions.size() + 1 &&
        family
            ->prove(**written, (*written)->functions[module.functions.size() - 1],
                    (*written)->functions.back(), proposal)
            .empty())
      return fmt::format("{} is taken for proved", proposal.sibling.name);
  }
  return "";
}

std::string fault_of_hazard(const Trap &trap) {
  auto parsed = parse(trap.text, "hazard.ptx");
  if (!parsed)
    return format(parsed.error());
  const std::shared_ptr<const Module> module(std::move(*parsed));
  const SiblingResult result = with_all(*module);
  const KernelSiblings &kernel = result.kernels.back();
  std::string why;
  for (const Refusal &refusal : kernel.refusals)
    why += fmt::format(" {}", refusal.reason);
  if (result.changed)
    return fmt::format("{} was written", kernel.written.front().sibling.name);
  if (!kernel.unproved.empty())
    return fmt::format("{} was proposed", kernel.unproved.front().name);
  if (why.find(" waits") == std::string::npos)
    return "refused for other reasons:" + why;
  if (!inside(*module).variant.empty())
    return "it was written in the kernel";
  SearchOptions options;
  options.rounds = 1;
  if (search(module, "k", options).candidates.size() != 1)
    return "it was rewritten in its place";
  return fault_of_proofs(trap, *module);
}

} // namespace

int main(int argc, char **argv) {
  std::string only;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    verbose |= word == "-v";
    if (word == "--only" && i + 1 < argc)
      only = argv[++i];
  }
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(WAITS_DIR))
    if (only.empty() || entry.path().stem() == only)
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  unsigned wrong = 0;
  for (const std::filesystem::path &path : paths) {
    const Trap trap = read_trap(path);
    for (const auto &[which, fault] :
         {std::pair("hazard", fault_of_hazard(trap)), std::pair("twin", fault_of_twin(trap))}) {
      wrong += !fault.empty();
      if (!fault.empty() || verbose)
        fmt::print("{}, {}: {}\n", path.stem().string(), which, fault.empty() ? "ok" : fault);
    }
  }
  fmt::print("{} hazards, {} wrong\n", paths.size(), wrong);
  return wrong != 0 || paths.empty();
}
