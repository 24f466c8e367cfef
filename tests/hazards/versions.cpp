// Versions beside a kernel that are launched as it is, or with other blocks.
//
// Each trap is one for the versions of its family. The hazard is `refused` for the reason in the
// head, or its versions are `written`; those of the twin are always written. What is written runs
// on the warp emulator beside its kernel. Where the head names `variants`, it is about these.
//
// What a naive rewriter would make of a hazard of cache/, with each load changed, is not proved
// either; unless the head says `alone`: then it is right, and left alone as the load may be waiting
// for somebody.

#include "versions.h"
#include "grammar/edits.h"
#include "synth/cache/cache.h"

#include <algorithm>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>

namespace ptxasw::test {
namespace {

/// The families that are run otherwise than VersionFamily has it.
constexpr VersionFamily special[] = {
    {.name = "meld", .runs = 6, .search = 10, .to_the_last_line = false},
    {.name = "ahead", .executed = "%ahead0_b32_"},
    {.name = "resize", .runs = 5, .search = 20},
    {.name = "stage", .runs = 6, .search = 60, .executed = "_shift"},
    {.name = "cache", .runs = 8, .search = 100, .step_limit = 200'000},
};

/// Launches that are searched for at first.
constexpr unsigned first_search = 20;

VersionFamily family_of_traps(std::string_view name) {
  for (const VersionFamily &one : special)
    if (one.name == name)
      return one;
  return {.name = name};
}

SiblingResult with_versions(const VersionFamily &family, const Module &module,
                            const std::vector<std::string> &variants) {
  SiblingOptions options;
  const Family &of = *find_family(family.name);
  options.defaults = false;
  options.wanted[std::string(of.option)] =
      variants.empty() ? family_option(of.option).variants : variants;
  return add_siblings(module, options);
}

/// Returns true if a line of a text has this in it.
bool has(const std::string &text, std::uint32_t line, std::string_view word) {
  std::istringstream lines(text);
  std::string one;
  for (std::uint32_t i = 0; i < line; ++i)
    std::getline(lines, one);
  return one.find(word) != std::string::npos;
}

/// What all loads of a kernel would be to someone who does not look.
std::string all_read_only(const Module &module, const Function &kernel, const Sibling &sibling) {
  Edits edits;
  for (const Instruction &one : kernel.instructions) {
    const Opcode &opcode = module.opcode(one);
    if (opcode.op == Op::ld && opcode.space != StateSpace::param)
      edits.replace(one.opcode_span, fmt::format("ld.global.nc.{}", to_string(opcode.type)));
  }
  const std::string text = edits.apply(module.text()).value_or("");
  const std::size_t behind = module.text().size() - kernel.body.end;
  std::string header(module.text({kernel.span.begin, kernel.body.begin}));
  header.replace(header.find(" k("), 2, " " + sibling.name);
  return std::string(module.text()) + "\n" + header +
         text.substr(kernel.body.begin, text.size() - behind - kernel.body.begin) + "\n";
}

/// What is wrong with a hazard of cache/, seen by who takes each load for read-only.
std::string fault_of_naive_cache(const Trap &trap) {
  const auto module = parse(trap.text, "hazard.ptx");
  if (!module)
    return format(module.error());
  Proposal proposal;
  proposal.family = proposal.sibling.family = "cache";
  proposal.variant = proposal.sibling.kind = trap.value("variants");
  proposal.sibling.name = "k__ptxasw_cache_naive";
  if (proposal.variant == "nc-apart")
    proposal.promise = arrays_apart;
  const Function *const own =
      &*std::find_if((*module)->functions.begin(), (*module)->functions.end(),
                     [](const Function &function) { return function.name == "k"; });
  const auto written = parse(all_read_only(**module, *own, proposal.sibling), "naive.ptx");
  if (!written)
    return format(written.error());
  const auto &functions = (*written)->functions;
  const bool is_right =
      prove_cache({**written, functions[functions.size() - 2]}, functions.back(), proposal)
          .has_value();
  if (is_right == trap.has("alone"))
    return "";
  return is_right ? "the naive version is taken for right" : "not even the naive version is right";
}

} // namespace

std::vector<std::string> listed(const std::string &words) {
  std::vector<std::string> list;
  std::istringstream stream(words);
  for (std::string word; std::getline(stream, word, ',');)
    list.push_back(word);
  return list;
}

KernelVerdict compare(const VersionFamily &family, const Module &written, const Proposal &proposal,
                      unsigned runs, unsigned search) {
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = proposal.sibling;
  how.no_alias = !proposal.promise.empty();
  how.runs = runs != 0 ? runs : family.runs;
  how.search = std::min(search, family.search);
  how.schedules = 1;
  how.small = true;
  how.step_limit = family.step_limit;
  how.dynamic_shared = family.dynamic_shared;
  return verify(written, written, how).at(0);
}

namespace {

/// A line of a version that must run and did not.
std::optional<std::uint32_t> never_ran(const VersionFamily &family, const std::string &text,
                                       const KernelVerdict &verdict) {
  for (const std::uint32_t line : verdict.not_exercised)
    if (family.to_the_last_line && has(text, line, family.executed))
      return line;
  return std::nullopt;
}

/// What is wrong with one version. Most need few launches until all has run; the family's whole
/// number is searched for if that does not do, or if so many `runs` are asked for.
std::string fault_of_version(const VersionFamily &family, const SiblingResult &result,
                             const Module &written, const Proposal &proposal,
                             const TrapOptions &options) {
  const unsigned runs = options.runs;
  KernelVerdict verdict =
      runs == 0 ? compare(family, written, proposal, first_of(family.runs, options.share),
                          first_of(first_search, options.share))
                : compare(family, written, proposal, runs);
  if (verdict.kind == KernelVerdict::Kind::unchecked || never_ran(family, result.text, verdict))
    verdict = compare(family, written, proposal, runs);
  if (verdict.kind == KernelVerdict::Kind::differ)
    return fmt::format("{}: {}", proposal.variant, verdict.counter_example);
  if (const auto line = never_ran(family, result.text, verdict))
    return fmt::format("{}: line {} of the version never ran", proposal.variant, *line);
  if (verdict.kind == KernelVerdict::Kind::unchecked)
    return fmt::format("{}: only {} launches", proposal.variant, verdict.agreed);
  return "";
}

} // namespace

unsigned first_of(unsigned launches, unsigned share) {
  constexpr unsigned least = 3;
  return std::min(launches, std::max(least, launches / share));
}

std::string fault_of_written(const VersionFamily &family, const std::string &text,
                             const std::vector<std::string> &variants, const TrapOptions &options) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = with_versions(family, **module, variants);
  const KernelSiblings &kernel = result.kernels.back();
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  if (kernel.written.size() < std::max<std::size_t>(1, variants.size()) ||
      (family.one_reason && !kernel.refusals.empty())) {
    std::string why = "not written:";
    for (const Refusal &refusal : kernel.refusals)
      why += fmt::format(" {} (line {})", refusal.reason, refusal.line);
    return why;
  }
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  for (const Proposal &proposal : kernel.written)
    if (std::string wrong = fault_of_version(family, result, **written, proposal, options);
        !wrong.empty())
      return wrong;
  return "";
}

std::string fault_of_refused(const VersionFamily &family, const std::string &text,
                             const std::vector<std::string> &variants, const std::string &reasons) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  const SiblingResult result = with_versions(family, **module, variants);
  if (result.changed)
    return "it was written";
  std::set<std::string> found;
  for (const Refusal &refusal : result.kernels.back().refusals)
    found.emplace(refusal.reason);
  const std::vector<std::string> names = listed(reasons);
  const std::set<std::string> wanted(names.begin(), names.end());
  const bool right = family.one_reason
                         ? found == wanted
                         : std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
  return right ? "" : fmt::format("refused for other reasons: {}", fmt::join(found, " "));
}

void check_versions(std::string_view name, const Trap &trap, const TrapOptions &options,
                    TrapReport &report) {
  const VersionFamily family = family_of_traps(name);
  const std::vector<std::string> variants = listed(trap.value("variants"));
  if (trap.has("written") == trap.has("refused"))
    throw std::runtime_error("the head says neither `written` nor `refused`, or both");
  report.say(trap.name, "hazard",
             trap.has("written")
                 ? fault_of_written(family, trap.text, variants, options)
                 : fault_of_refused(family, trap.text, variants, trap.value("refused")));
  if (family.name == "cache")
    report.say(trap.name, "naive", fault_of_naive_cache(trap));
  report.say(trap.name, "twin", fault_of_written(family, trap.twin, variants, options));
}

} // namespace ptxasw::test
