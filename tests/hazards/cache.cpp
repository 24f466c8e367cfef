// cache_hazards [--only NAME] [-v]
//
// Each file of cache/ is a trap for who makes a load read-only. With the lines that end in
// `// hazard`, and without those that begin with `//twin`, the variant in the head is refused with
// the reason that stands there; the other way round it is written, and runs on the warp emulator
// beside its kernel. And what a naive rewriter would make of the hazard, with each load changed, is
// not proved; unless the head says `// alone`: then it is right, and left alone as it may be
// waiting for somebody.

#include "synth/cache/cache.h"
#include "emulator/machine/warp_verify.h"
#include "grammar/edits.h"
#include "synth/siblings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <map>
#include <string>

using namespace ptxasw;

namespace {

struct Trap {
  std::map<std::string, std::string> head; ///< by word
  std::string text, twin;
};

Trap trap_in(const std::filesystem::path &path) {
  constexpr std::string_view twin = "//twin", hazard = " // hazard";
  Trap trap;
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("// ")) {
      const std::size_t colon = std::min(line.find(": "), line.size());
      trap.head[line.substr(3, colon - 3)] = colon == line.size() ? "" : line.substr(colon + 2);
    } else if (line.starts_with(twin)) {
      trap.twin += line.substr(twin.size()) + "\n";
    } else {
      trap.text += line + "\n";
      trap.twin += line.ends_with(hazard) ? "" : line + "\n";
    }
  }
  return trap;
}

SiblingResult requalified(const Module &module, const std::string &variant) {
  SiblingOptions options;
  options.retile = {"none"};
  options.cache = {variant};
  return add_siblings(module, options);
}

std::string fault_of_twin(const Trap &trap) {
  const std::string &variant = trap.head.at("variant");
  const auto module = parse(trap.twin, "twin.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = requalified(**module, variant);
  const KernelSiblings &kernel = result.kernels.back();
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  if (kernel.written.size() != 1) {
    std::string why = "it was not written:";
    for (const Refusal &refusal : kernel.refusals)
      why += fmt::format(" {} (line {})", refusal.reason, refusal.line);
    return why;
  }
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = stand_in(kernel.written[0].sibling);
  how.no_alias = !kernel.written[0].promise.empty();
  how.runs = 8;
  how.search = 100;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 200'000;
  const KernelVerdict verdict = verify(**written, **written, how).at(0);
  if (verdict.kind == KernelVerdict::Kind::differ)
    return verdict.counter_example;
  if (verdict.kind == KernelVerdict::Kind::unchecked)
    return verdict.unusable.empty() ? "it cannot be run"
                                    : "it cannot be run: " + verdict.unusable.begin()->first;
  return verdict.not_exercised.empty()
             ? ""
             : fmt::format("line {} of the version never ran", verdict.not_exercised[0]);
}

/// What all loads of a kernel would be to someone who does not look.
std::string naive(const Module &module, const Function &kernel, const Proposal &proposal) {
  Edits edits;
  for (const Instruction &one : kernel.instructions) {
    const Opcode &opcode = module.opcode(one);
    if (opcode.op == Op::ld && opcode.space != StateSpace::param)
      edits.replace(one.opcode_span, fmt::format("ld.global.nc.{}", to_string(opcode.type)));
  }
  const std::string text = edits.apply(module.text()).value_or("");
  const std::size_t behind = module.text().size() - kernel.body.end;
  std::string header(module.text({kernel.span.begin, kernel.body.begin}));
  header.replace(header.find(" k("), 2, " " + proposal.sibling.name);
  return std::string(module.text()) + "\n" + header +
         text.substr(kernel.body.begin, text.size() - behind - kernel.body.begin) + "\n";
}

std::string fault_of_hazard(const Trap &trap) {
  const std::string &variant = trap.head.at("variant");
  const auto module = parse(trap.text, "hazard.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = requalified(**module, variant);
  const KernelSiblings &kernel = result.kernels.back();
  if (result.changed)
    return "it was written";
  if (std::none_of(kernel.refusals.begin(), kernel.refusals.end(), [&](const Refusal &refusal) {
        return refusal.reason == trap.head.at("refused");
      })) {
    std::string reasons = "refused for other reasons:";
    for (const Refusal &refusal : kernel.refusals)
      reasons += fmt::format(" {}", refusal.reason);
    return reasons;
  }
  Proposal proposal;
  proposal.family = proposal.sibling.family = "cache";
  proposal.variant = proposal.sibling.kind = variant;
  proposal.sibling.name = "k__ptxasw_cache_naive";
  if (variant == "nc-apart")
    proposal.promise = arrays_apart;
  const Function *const own =
      &*std::find_if((*module)->functions.begin(), (*module)->functions.end(),
                     [](const Function &function) { return function.name == "k"; });
  const auto written = parse(naive(**module, *own, proposal), "naive.ptx");
  if (!written)
    return format(written.error());
  const bool is_right =
      prove_cache(**written, (*written)->functions[(*written)->functions.size() - 2],
                  (*written)->functions.back(), proposal)
          .empty();
  if (is_right != trap.head.contains("alone"))
    return is_right ? "the naive version is taken for right"
                    : "not even the naive version is right";
  return "";
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
  for (const auto &entry : std::filesystem::directory_iterator(CACHE_HAZARDS_DIR))
    if (only.empty() || entry.path().stem() == only)
      paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  unsigned wrong = 0;
  for (const std::filesystem::path &path : paths) {
    const Trap trap = trap_in(path);
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
