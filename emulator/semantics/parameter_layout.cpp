// Where parameters lie: each behind the one before, aligned as the driver and ptxas align it (PTX
// ISA 5.1.6, CUDA's rules of C structs).

#include "emulator/semantics/parameter_layout.h"

#include <algorithm>

namespace ptxasw::emulator {

std::uint64_t alignment_of(const Variable &variable) {
  const std::uint64_t natural = std::max(1u, bit_width(variable.type) / 8 * variable.vector);
  return std::max<std::uint64_t>(variable.alignment, natural);
}

std::uint64_t align(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

ParameterLayout parameter_layout(const Function &function) {
  ParameterLayout result;
  std::uint64_t next = 0;
  const auto add = [&](const Variable &variable) {
    next = align(next, alignment_of(variable));
    result[&variable] = static_cast<std::uint32_t>(next);
    next += variable.size();
  };
  for (const Variable &variable : function.parameters)
    add(variable);
  for (const Variable &variable : function.return_parameters)
    add(variable);
  for (const Variable &variable : function.variables)
    if (variable.space == StateSpace::param)
      add(variable);
  return result;
}

std::uint32_t parameter_bytes(const Function &function) {
  std::uint64_t end = 0;
  for (const auto &[variable, offset] : parameter_layout(function))
    end = std::max(end, offset + variable->size());
  return static_cast<std::uint32_t>(end);
}

std::uint32_t kernel_parameter_bytes(const Function &kernel) {
  std::uint32_t end = 0;
  const ParameterLayout layout = parameter_layout(kernel);
  for (const Variable &parameter : kernel.parameters)
    end = std::max(end, layout.at(&parameter) + static_cast<std::uint32_t>(parameter.size()));
  return end;
}

std::uint32_t kernel_parameter_offset(const Function &kernel, std::size_t index) {
  return parameter_layout(kernel).at(&kernel.parameters[index]);
}

} // namespace ptxasw::emulator
