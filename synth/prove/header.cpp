// Variables are compared as texts: of parameters `.ptr .align` promises something of what they
// point at.

#include "synth/prove/header.h"

#include "synth/prove/not_proved.h"

#include <algorithm>
#include <set>
#include <span>

namespace ptxasw::proof {

bool same_directives(const Function &kernel, const Function &other, std::string_view aside) {
  std::vector<PerformanceDirective> rest = other.directives;
  std::erase_if(rest, [&](const PerformanceDirective &one) { return one.name == aside; });
  return kernel.directives == rest;
}

bool same_declarations(const Module &before, std::span<const Variable> own, const Module &after,
                       std::span<const Variable> others) {
  return std::equal(own.begin(), own.end(), others.begin(), others.end(),
                    [&](const Variable &a, const Variable &b) {
                      return before.text(a.span) == after.text(b.span);
                    });
}

void check_entry(const Module &before, const Function &kernel, const Module &after,
                 const Function &other, std::size_t appended) {
  show(kernel.has_body && other.has_body && other.is_entry && kernel.is_entry &&
           other.linkage == kernel.linkage,
       "it is no entry like the kernel");
  const std::size_t own = kernel.parameters.size();
  show(other.parameters.size() == own + appended &&
           same_declarations(before, kernel.parameters, after,
                             std::span(other.parameters).first(own)),
       "its parameters are others");
  for (const Variable &parameter : std::span(other.parameters).subspan(own))
    show(parameter.type == ScalarType::u32 && parameter.size() == 4 && !parameter.is_array &&
             parameter.alignment <= 4,
         "an appended parameter is no extent");
}

void check_surroundings(const Module &before, const Function &kernel, const Module &after,
                        const Function &other) {
  show(&before == &after ||
           (before.text({0, kernel.body.begin}) == after.text({0, other.body.begin}) &&
            before.text().substr(kernel.body.end) == after.text().substr(other.body.end)),
       "something beside the kernel changed");
}

std::vector<bool> added_registers(const Function &kernel, const Function &other) {
  std::set<std::string_view> own;
  for (const Register &reg : kernel.registers)
    own.insert(reg.name);
  std::vector<bool> added;
  for (const Register &reg : other.registers)
    added.push_back(!own.contains(reg.name));
  return added;
}

void check_names(const Module &module, const Function &kernel, const Function &version) {
  std::set<std::string_view> meant{"%tid", "%ntid", "%ctaid", "%nctaid"};
  for (const Operand &operand : module.all_operands)
    if (const std::string_view text = module.text(operand.span);
        operand.kind == Operand::Kind::special)
      meant.insert(text.substr(0, text.find('.')));
  for (const auto *variables : {&module.variables, &kernel.parameters})
    for (const Variable &variable : *variables)
      meant.insert(variable.name);
  for (const Function &function : module.functions)
    meant.insert(function.name);
  const auto check = [&](const auto &one) {
    show(!meant.contains(one.name), "a name stands for something else");
  };
  const auto appended = std::span(version.parameters)
                            .subspan(std::min(kernel.parameters.size(), version.parameters.size()));
  std::for_each(appended.begin(), appended.end(), check);
  for (const Variable &parameter : appended)
    meant.insert(parameter.name);
  std::for_each(version.registers.begin(), version.registers.end(), check);
  std::for_each(version.variables.begin(), version.variables.end(), check);
  for (const Label &label : version.labels)
    if (std::none_of(kernel.labels.begin(), kernel.labels.end(),
                     [&](const Label &own) { return own.name == label.name; }))
      check(label);
}

} // namespace ptxasw::proof
