// Types come from the mangled name; PTX has only their widths, and a parameter of 64 bits counts as
// a pointer. Sizes are such that kernels of one and of two dimensions stay within the buffers.

#include "wrapper/commands/launch_guess.h"

#include "wrapper/lint/kernel_names.h"
#include "wrapper/lint/names.h"

#include <fmt/core.h>

namespace ptxasw::wrapper {
namespace {

/// The C++ types of the parameters; empty strings where they are not known.
std::vector<std::string> types_of(const Function &kernel) {
  std::vector<std::string> types = parameter_types(kernel.name);
  if (types.size() != kernel.parameters.size())
    types.assign(kernel.parameters.size(), "");
  return types;
}

} // namespace

std::string kernel_signature(const Function &kernel, const Module &module,
                             const std::string &file) {
  Sources sources;
  sources.add_folder_of(file);
  const Places places(module);
  const KernelNames names(kernel, places, sources);
  const std::vector<std::string> types = types_of(kernel);
  std::string text;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const Variable &parameter = kernel.parameters[i];
    std::string type = types[i];
    if (type.empty())
      type = parameter.is_array || parameter.count != 1
                 ? fmt::format("{} bytes", parameter.size())
                 : fmt::format(".{}", to_string(parameter.type));
    const std::string name = names.of_source(std::string(parameter.name));
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", type, name.empty() ? "" : " ", name);
  }
  return fmt::format("{}({})", names.shown(), text);
}

std::vector<std::string> guessed_arguments(const Function &kernel) {
  std::vector<std::string> result;
  const std::vector<std::string> types = types_of(kernel);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const bool pointer = types[i].empty() ? bit_width(kernel.parameters[i].type) == 64 &&
                                                !is_float(kernel.parameters[i].type)
                                          : types[i].ends_with('*');
    if (!pointer)
      result.emplace_back("32");
    else if (types[i].starts_with("float"))
      result.emplace_back("random:f32:4096");
    else if (types[i].starts_with("double"))
      result.emplace_back("random:f64:4096");
    else
      result.emplace_back("zeros:32768");
  }
  return result;
}

} // namespace ptxasw::wrapper
