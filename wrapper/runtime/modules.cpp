// The PTX of a fat binary that suits the device, parsed once. Its variables are allocations of the
// device, so the host can copy to them and kernels are held to their bounds.

#include "wrapper/runtime/modules.h"

#include "wrapper/runtime/link_ptx.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>

namespace ptxasw::wrapper {

LoadedModule::~LoadedModule() {
  for (const auto &[name, place] : variables_)
    device().allocations().remove(place.address, MemoryKind::variable);
}

std::string &LoadedModule::last_failure() {
  thread_local std::string text;
  return text;
}

cudaError_t LoadedModule::fail(cudaError_t error, const std::string &why) {
  say(why);
  last_failure() = why;
  return error_ = error;
}

// Without PTX there is nothing to run: what machine code there is says which architectures it is
// for.
std::string LoadedModule::find_text() {
  std::vector<std::string> texts;
  for (const FatImage *image : choose_ptx(images_, device().sm())) {
    auto text = image->unpack();
    if (!text)
      return fmt::format("PTX of the program cannot be read: {}", text.error());
    texts.push_back(std::move(*text));
  }
  if (texts.empty()) {
    std::string targets;
    for (const FatImage &image : images_)
      if (image.kind != FatImage::Kind::other)
        targets +=
            fmt::format("{}{} for sm_{}", targets.empty() ? "" : ", ",
                        image.kind == FatImage::Kind::ptx ? "PTX" : "machine code", image.sm);
    return fmt::format("the program has no PTX for sm_{}, only {}; nvcc -arch=sm_{} puts it in",
                       device().sm(), targets.empty() ? "nothing" : targets, device().sm());
  }
  if (texts.size() == 1) {
    text_ = std::move(texts[0]);
    return {};
  }
  auto linked = link_ptx(texts);
  if (!linked)
    return fmt::format("the program's PTX cannot be linked: {}", linked.error());
  text_ = std::move(*linked);
  return {};
}

cudaError_t LoadedModule::load() {
  if (is_loaded() || error_ != cudaSuccess)
    return error_;
  if (text_.empty())
    if (const std::string why = find_text(); !why.empty())
      return fail(cudaErrorNoKernelImageForDevice, why);
  auto parsed = parse(std::move(text_), "the program's PTX");
  if (!parsed)
    return fail(cudaErrorInvalidPtx, format(parsed.error()));
  module_ = std::move(*parsed);
  bool full = false;
  program_ = std::make_unique<WarpProgram>(*module_, [&](const Variable &variable) {
    void *const memory =
        device().allocations().add(std::max<std::uint64_t>(variable.size(), 1),
                                   MemoryKind::variable, fmt::format("`{}`", variable.name));
    full |= !memory;
    variables_[std::string(variable.name)] = {memory, variable.size()};
    return reinterpret_cast<std::uint64_t>(memory);
  });
  if (full)
    return fail(cudaErrorMemoryAllocation, "no memory for the program's variables");
  if (const auto done = program_->initialize_variables(device().memory()); !done)
    return fail(cudaErrorInvalidPtx, done.error());
  for (const auto &[symbol, variable] : Registry::get().variables)
    if (variable.module == this && variable.managed)
      if (const Place *place = find(variable.name))
        *variable.managed = place->address;
  return cudaSuccess;
}

const LoadedModule::Place *LoadedModule::find(const std::string &name) const {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

CUkern_st *LoadedModule::kernel(const std::string &name) {
  std::unique_ptr<CUkern_st> &place = kernels_[name];
  if (!place)
    place.reset(new CUkern_st{this, name});
  return place.get();
}

Registry &Registry::get() {
  static Registry *const registry = new Registry;
  return *registry;
}

CUkern_st *Registry::find_kernel(const void *function) const {
  const auto found = kernels.find(function);
  if (found != kernels.end())
    return found->second;
  for (const auto &module : modules)
    for (const auto &[name, kernel] : module->kernels())
      if (kernel.get() == function)
        return kernel.get();
  return nullptr;
}

cudaError_t Registry::find_variable(const void *symbol, LoadedModule::Place &place) const {
  const auto found = variables.find(symbol);
  if (found == variables.end())
    return cudaErrorInvalidSymbol;
  if (const cudaError_t error = found->second.module->load(); error != cudaSuccess)
    return error;
  const LoadedModule::Place *const known = found->second.module->find(found->second.name);
  if (!known)
    return cudaErrorInvalidSymbol;
  place = *known;
  return cudaSuccess;
}

} // namespace ptxasw::wrapper
