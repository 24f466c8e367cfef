// `.shared`, `.local` and `.param` variables begin anew with each block, thread and call. Others
// that PTX lets a body declare (ptxas takes `.global` and `.const`) exist once for each function
// that declares them.

#include "synth/same_launch.h"

#include "grammar/code_writer.h"

#include <fmt/core.h>

namespace ptxasw {

std::string same_launch_header(const Module &module, const Function &kernel,
                               std::string_view name) {
  const FunctionHeader own = header_of(module, kernel);
  std::string text = fmt::format("{}{}({})\n", own.before_name, name, own.parameters);
  for (const PerformanceDirective &directive : kernel.directives) {
    text += fmt::format(".{}", directive.name);
    for (unsigned i = 0; i < directive.count; ++i)
      text += fmt::format("{} {}", i == 0 ? "" : ",", directive.values[i]);
    text += '\n';
  }
  return text;
}

std::optional<Refusal> lasting_variable(const Function &kernel) {
  for (const Variable &variable : kernel.variables)
    if (variable.space != StateSpace::shared && variable.space != StateSpace::local &&
        variable.space != StateSpace::param)
      return Refusal{"variable", "the kernel has a variable of its own that lasts"};
  return std::nullopt;
}

} // namespace ptxasw
