// The report for people, and the name of its file.

#include "wrapper/drop_in/summary.h"

#include <algorithm>
#include <fmt/core.h>
#include <map>
#include <unistd.h>

namespace ptxasw::wrapper {

std::string report_file(const std::string &setting, const std::string &input,
                        const std::string &target, const std::string &module) {
  if (::access((setting + "/.").c_str(), F_OK) != 0)
    return setting;
  std::string stem = input.substr(input.rfind('/') + 1);
  stem.resize(std::min(stem.rfind('.'), stem.size()));
  // nvcc's temporary files: tmpxft_PROCESS_NUMBER-STEP_NAME.
  if (const std::size_t dash = stem.find('-');
      stem.starts_with("tmpxft_") && dash != std::string::npos)
    if (const std::size_t name = stem.find('_', dash); name != std::string::npos)
      stem.erase(0, name + 1);
  // GCC's: cc and six characters of chance.
  if (constexpr std::size_t length = 8;
      stem.starts_with("cc") && stem.size() == length && input.ends_with(".s"))
    stem = "gcc";
  return fmt::format("{}/{}.{}.{}.json", setting, stem, target, module);
}

std::string summarize(const ModuleReport &module) {
  std::string text = fmt::format("ptxasw: {} for {}{}{}\n", module.file, module.target,
                                 module.decision.empty() ? "" : ": ", module.decision);
  for (const KernelReport &kernel : module.kernels) {
    double milliseconds = 0;
    for (const PassTime &time : kernel.milliseconds)
      milliseconds += time.milliseconds;
    text += fmt::format("  {}: {} of {} loads replaced ({} by shuffles, {} by copies), mean "
                        "distance {:.2f}, {} undecided branch{}, {:.2f} ms\n",
                        kernel.name, kernel.shuffles + kernel.copies, kernel.loads, kernel.shuffles,
                        kernel.copies, kernel.mean_delta, kernel.undecided_branches,
                        kernel.undecided_branches == 1 ? "" : "es", milliseconds);
    if (kernel.before && kernel.after) {
      const Resources &before = *kernel.before, &after = *kernel.after;
      const auto registers = [](const Resources &needs) {
        return needs.registers ? std::to_string(*needs.registers) : std::string("-");
      };
      text +=
          fmt::format("    registers {} -> {}, spilled bytes {} -> {}, shared bytes {} -> {}\n",
                      registers(before), registers(after), before.spill_stores + before.spill_loads,
                      after.spill_stores + after.spill_loads, before.shared, after.shared);
    }
    std::map<Reason, unsigned> reasons;
    for (const KeptRecord &record : kernel.kept)
      ++reasons[record.reason];
    for (const auto &[reason, count] : reasons)
      text += fmt::format("    kept {}: {} ({})\n", count, to_string(reason), describe(reason));
    if (kernel.in_kernel) {
      const InKernelRecord &made = *kernel.in_kernel;
      if (!made.variant.empty())
        text += fmt::format("    in the kernel: {} for blocks of {}x{}x{}\n", made.variant,
                            made.block.at(0), made.block.at(1), made.block.at(2));
      for (const std::string &why : made.why)
        text += fmt::format("    not in the kernel: {}\n", why);
    }
    for (const std::string &assumption : kernel.assumptions)
      text += fmt::format("    relies on: {}\n", assumption);
  }
  return text;
}

} // namespace ptxasw::wrapper
