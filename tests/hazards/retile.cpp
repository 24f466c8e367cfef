// retile_hazards [--only NAME] [-v] [--in-kernel]
//
// Each file of retile/ is a trap for kernels several of whose blocks are run by one. With the lines
// that end in `// hazard` re-tiling is refused with the reason in the head, or is `written` and
// computes the same, or the first of its variants is `absent`; without them, and with those that
// begin with `//twin`, it is always written.
// What is written runs on the warp emulator beside its kernel, as `variants` says: K = 2 and 4
// along x if nothing is said. Where the head says `naive: differs`, writing it all the same is
// shown to be wrong.
//
// With --in-kernel the same kernels get their siblings inside, for blocks that a `.reqntid` fixes
// and for blocks that are only promised, which other launches do not keep. Where the head names a
// reason `in the kernel`, neither the kernel nor its twin may have one there.

#include "synth/retile/retile.h"
#include "emulator/machine/warp_verify.h"
#include "synth/in_kernel/in_kernel.h"
#include "synth/siblings.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <sstream>
#include <string>

using namespace ptxasw;

namespace {

struct File {
  std::string name, hazard, refused, inside;
  std::vector<std::string> variants = {"x2", "x4"};
  bool written = false, absent = false, naive = false, has_twin = false;
  std::string text, twin;
};

File read(const std::filesystem::path &path) {
  File file;
  file.name = path.stem();
  std::ifstream stream(path);
  for (std::string line; std::getline(stream, line);) {
    const auto value = [&](std::string_view key) {
      return line.starts_with(key) ? line.substr(key.size()) : std::string();
    };
    if (line.starts_with("// ")) {
      if (std::string reason = value("// refused: "); !reason.empty())
        file.refused = reason;
      if (std::string reason = value("// in the kernel: "); !reason.empty())
        file.inside = reason;
      if (const std::string words = value("// variants: "); !words.empty()) {
        file.variants.clear();
        std::istringstream list(words);
        for (std::string word; std::getline(list, word, ',');)
          file.variants.push_back(word);
      }
      file.written |= line == "// written";
      file.absent |= line == "// absent";
      file.naive |= line == "// naive: differs";
    } else if (line.starts_with("//twin")) {
      file.twin += line.substr(6) + "\n";
    } else if (line.ends_with("// hazard")) {
      file.text += line + "\n";
      file.has_twin = true;
    } else {
      file.text += line + "\n";
      file.twin += line + "\n";
    }
  }
  return file;
}

/// Returns true if a file is about wide accesses.
bool is_wide(const File &file) { return file.variants.front().starts_with("wide"); }

KernelVerdict compare(const Module &written, const Sibling &sibling) {
  VerifyOptions how;
  how.kernel = "k";
  how.stand_in = stand_in(sibling);
  how.runs = 8;
  how.search = 20;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 400'000;
  return verify(written, written, how).at(0);
}

/// A block that a variant can be made for.
BlockShape block_of(std::string_view variant) {
  if (variant.find("z4-rows") != std::string_view::npos ||
      variant.find("neighbours") != variant.npos)
    return {8, 8, 1};
  if (variant.starts_with("wide") || variant.find("rows") != std::string_view::npos)
    return {32, 1, 1};
  if (variant.starts_with("x"))
    return {12, 1, 1}; // most kernels have one thread per element along x
  return {6, 2, 1};
}

/// The kernel for blocks of one shape only.
std::string with_block(const std::string &text, const BlockShape &block) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return text;
  const Function &kernel = (*module)->functions.back();
  return kernel.directive("reqntid")
             ? text
             : text.substr(0, kernel.body.begin) +
                   fmt::format(".reqntid {}, {}, {}\n", block.x, block.y, block.z) +
                   text.substr(kernel.body.begin);
}

/// How many in-kernel versions were compared, and of how many some line never ran.
unsigned in_kernel_versions = 0, in_kernel_not_exercised = 0;

/// What is wrong with one sibling inside its kernel.
std::string check_in_kernel(const std::string &text, const std::string &variant,
                            const BlockShape &block, bool must) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  InKernelOptions options;
  options.variants = {variant};
  options.block = block;
  const InKernelResult result = replace_in_kernel(**module, options);
  const InKernelOutcome &outcome = result.kernels.back();
  for (const std::string &why : outcome.why)
    if (why.find("unproved") != std::string::npos)
      return why;
  if (outcome.variant.empty())
    return must ? fmt::format("{} is not written: {}", variant,
                              outcome.why.empty() ? "" : outcome.why.front())
                : "";
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  VerifyOptions how;
  how.kernel = "k";
  how.runs = 8;
  how.search = 20;
  how.schedules = 1;
  how.small = true;
  how.step_limit = 400'000;
  how.whole_grid = true;
  const KernelVerdict verdict = verify(**module, **written, how).at(0);
  ++in_kernel_versions;
  in_kernel_not_exercised += verdict.kind == KernelVerdict::Kind::not_exercised;
  if (verdict.kind == KernelVerdict::Kind::differ)
    return fmt::format("{}: {}", variant, verdict.counter_example);
  if (verdict.kind == KernelVerdict::Kind::unchecked)
    return fmt::format("{}: only {} launches", variant, verdict.agreed);
  return "";
}

/// The same of a module that siblings can be written for.
std::string check_all_in_kernel(const std::string &text, const std::vector<std::string> &variants) {
  for (const std::string &variant : variants) {
    const BlockShape block = block_of(variant);
    for (const std::string &one : {with_block(text, block), text})
      if (std::string wrong = check_in_kernel(one, variant, block, true); !wrong.empty())
        return wrong;
  }
  return "";
}

/// What siblings are refused for is refused in the kernel, too.
std::string check_none_in_kernel(const std::string &text, const std::string &reason, bool wide) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  InKernelOptions options;
  for (const std::string &variant : retile_variants())
    if (wide == variant.starts_with("wide"))
      options.variants.push_back(variant);
  for (const BlockShape &block : {BlockShape{32, 1, 1}, BlockShape{8, 8, 1}}) {
    options.block = block;
    const InKernelResult result = replace_in_kernel(**module, options);
    const InKernelOutcome &outcome = result.kernels.back();
    if (result.changed)
      return fmt::format("{} was written", outcome.variant);
    if (std::none_of(outcome.why.begin(), outcome.why.end(),
                     [&](const std::string &why) { return why.starts_with(reason); }))
      return "refused for another reason";
  }
  return "";
}

/// What is wrong with a module that siblings are to be written for; empty if nothing is.
std::string check_written(const std::string &text, const std::vector<std::string> &variants) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  SiblingOptions options;
  options.retile = variants;
  const SiblingResult result = add_siblings(**module, options);
  const KernelSiblings &kernel = result.kernels.at(0);
  for (const UnprovedSibling &one : kernel.unproved)
    return fmt::format("{} is not proved: {}", one.name, one.why);
  for (const Refusal &refusal : kernel.refusals)
    return fmt::format("refused: {}, line {}", refusal.reason, refusal.line);
  if (kernel.written.size() != variants.size())
    return "not all were written";
  const auto written = parse(result.text, "written.ptx");
  if (!written)
    return format(written.error());
  for (const Proposal &proposal : kernel.written) {
    const KernelVerdict verdict = compare(**written, proposal.sibling);
    if (verdict.kind == KernelVerdict::Kind::differ)
      return fmt::format("{}: {}", proposal.variant, verdict.counter_example);
    // Some ways no launch goes: blocks that always part never go on together.
    if (verdict.kind == KernelVerdict::Kind::unchecked)
      return fmt::format("{}: only {} launches", proposal.variant, verdict.agreed);
  }
  return "";
}

std::string check_refused(const std::string &text, const std::string &reason, bool wide) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  SiblingOptions options;
  for (const std::string &variant : retile_variants())
    if (wide == variant.starts_with("wide"))
      options.retile.push_back(variant);
  const SiblingResult result = add_siblings(**module, options);
  const KernelSiblings &kernel = result.kernels.back();
  if (result.changed || !kernel.written.empty())
    return "it was written";
  if (kernel.refusals.size() != 1 || kernel.refusals[0].reason != reason)
    return fmt::format("refused for another reason: {}",
                       kernel.refusals.empty() ? "none" : kernel.refusals[0].reason);
  return "";
}

/// The first of the variants is not proposed, others may be.
std::string check_absent(const std::string &text, const std::vector<std::string> &variants) {
  const auto module = parse(text, "k.ptx");
  if (!module)
    return format(module.error());
  SiblingOptions options;
  options.retile = {variants.front()};
  return add_siblings(**module, options).changed ? "it was written" : "";
}

/// Writes it although it is refused: it must be wrong.
std::string check_naive(const std::string &text) {
  const auto module = parse(text, "k.ptx");
  Proposal proposal;
  proposal.factor = 2;
  proposal.sibling.name = "naive";
  proposal.sibling.grid = {2, 1, 1};
  proposal.sibling.appended = {'x'};
  const auto written =
      parse(text + write_retile(**module, (*module)->functions.back(), proposal), "naive.ptx");
  if (!written)
    return format(written.error());
  return compare(**written, proposal.sibling).kind == KernelVerdict::Kind::differ
             ? ""
             : "the naive rewrite is not wrong";
}

} // namespace

int main(int argc, char **argv) {
  std::string only;
  bool verbose = false, in_kernel = false;
  for (int i = 1; i < argc; ++i) {
    verbose |= std::string_view(argv[i]) == "-v";
    in_kernel |= std::string_view(argv[i]) == "--in-kernel";
    if (std::string_view(argv[i]) == "--only" && i + 1 < argc)
      only = argv[++i];
  }
  std::vector<std::filesystem::path> paths;
  for (const auto &entry : std::filesystem::directory_iterator(RETILE_HAZARDS_DIR))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  unsigned refused = 0, written = 0, twins = 0, failed = 0;
  for (const auto &path : paths) {
    const File file = read(path);
    if (!only.empty() && file.name != only)
      continue;
    const auto tell = [&](std::string_view which, const std::string &wrong) {
      failed += !wrong.empty();
      if (!wrong.empty() || verbose)
        fmt::print("{} ({}): {}\n", file.name, which, wrong.empty() ? "as expected" : wrong);
    };
    if (file.written + file.absent + !file.refused.empty() != 1)
      tell("head", "neither refused nor written");
    if (in_kernel) {
      if (!file.inside.empty())
        tell("inside", check_none_in_kernel(file.text, file.inside, is_wide(file)));
      else if (file.written)
        tell("written", check_all_in_kernel(file.text, file.variants));
      else if (file.absent) // of siblings; what is written all the same is right
        for (const std::string &variant : file.variants)
          tell("absent", check_in_kernel(file.text, variant, block_of(variant), false));
      else
        tell("refused", check_none_in_kernel(file.text, file.refused, is_wide(file)));
      if (file.has_twin)
        tell("twin", file.inside.empty()
                         ? check_all_in_kernel(file.twin, file.variants)
                         : check_none_in_kernel(file.twin, file.inside, is_wide(file)));
    } else if (file.written)
      tell("written", check_written(file.text, file.variants));
    else if (file.absent)
      tell("absent", check_absent(file.text, file.variants));
    else
      tell("refused", check_refused(file.text, file.refused, is_wide(file)));
    if (file.naive && !in_kernel)
      tell("naive", check_naive(file.text));
    if (file.has_twin && !in_kernel)
      tell("twin", check_written(file.twin, file.variants));
    ++(file.written ? written : refused);
    twins += file.has_twin;
  }
  fmt::print("{} refused, {} written, {} twins written, {} wrong\n", refused, written, twins,
             failed);
  if (in_kernel)
    fmt::print("{} in a kernel, {} of them with a line that no launch reached\n",
               in_kernel_versions, in_kernel_not_exercised);
  return failed != 0 ? 1 : 0;
}
