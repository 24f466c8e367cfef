// A launch that is captured into a graph is redirected like any other; what the node then holds is
// the sibling. A program that asks for the node's parameters, changes some and sets them must see
// the launch that it made: so the original is put back into the answer, with its grid. If it sets
// that, the node is the original's launch from then on, which is always right.

#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/hooks.h"
#include "wrapper/launch/kernels.h"

#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace ptxasw::wrapper::launch {
namespace {

/// The kernel's extent of an axis as the sibling's launch was given it among the parameters that
/// `axes` lists, of which the first is number `first` behind the kernel's own; otherwise what else
/// it would be.
unsigned extent(const Origin &origin, const KernelNode &node, const std::vector<char> &axes,
                std::size_t first, char axis, unsigned otherwise) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] == axis)
      std::memcpy(&otherwise, node.parameters[origin.table->parameters.size() + first + i],
                  sizeof otherwise);
  return otherwise;
}

/// What a node's parameters are shown as. The driver's own memory for them ends when they are set
/// anew, with the sibling's layout; this lives until the same node is asked for again.
struct Shown {
  std::vector<std::vector<unsigned char>> values;
  std::vector<void *> pointers;
};

void show_parameters(Handle node, KernelNode &parameters, const Origin &origin) {
  static std::mutex mutex;
  static auto *const all = new std::map<Handle, Shown>;
  const std::lock_guard lock(mutex);
  Shown &shown = (*all)[node];
  shown = {};
  for (std::size_t i = 0; i < origin.parameters; ++i) {
    const auto *from = static_cast<const unsigned char *>(parameters.parameters[i]);
    shown.values.emplace_back(from, from + origin.table->parameters[i].bytes);
  }
  for (std::vector<unsigned char> &value : shown.values)
    shown.pointers.push_back(value.data());
  parameters.parameters = shown.pointers.data();
}

void show_original(Handle node, KernelNode &parameters, Handle function) {
  const Origin origin = origin_of(function);
  if (!origin.function || !parameters.parameters)
    return;
  const Sibling &sibling = *origin.sibling;
  const auto grid = [&](char axis, unsigned now) { // what is not given was not divided
    return extent(origin, parameters, sibling.appended, 0, axis, now);
  };
  const auto block = [&](char axis, unsigned now) {
    const auto by = sibling.block[static_cast<std::size_t>(axis - 'x')];
    return extent(origin, parameters, sibling.appended_blocks, sibling.appended.size(), axis,
                  now * by);
  };
  parameters.grid = {grid('x', parameters.grid.x), grid('y', parameters.grid.y),
                     grid('z', parameters.grid.z)};
  parameters.block = {block('x', parameters.block.x), block('y', parameters.block.y),
                      block('z', parameters.block.z)};
  if (origin.sibling->needs.dynamic_shared > 1) // nothing was rounded up (redirect.cpp)
    parameters.shared_bytes /= origin.sibling->needs.dynamic_shared;
  parameters.function = origin.function;
  show_parameters(node, parameters, origin);
}

} // namespace
} // namespace ptxasw::wrapper::launch

using namespace ptxasw::wrapper::launch;

extern "C" {

int cuGraphKernelNodeGetParams(void *node, KernelNode *parameters) {
  auto *const function = real<Result(void *, KernelNode *)>(Hook::kernel_node_get);
  if (!function)
    return not_initialized;
  const Result result = function(node, parameters);
  if (result == success && parameters && handles_in_use())
    show_original(node, *parameters, parameters->function);
  return result;
}

int cuGraphKernelNodeGetParams_v2(void *node, KernelNode2 *parameters) {
  auto *const function = real<Result(void *, KernelNode2 *)>(Hook::kernel_node_get_2);
  if (!function)
    return not_initialized;
  const Result result = function(node, parameters);
  if (result != success || !parameters || !handles_in_use())
    return result;
  Handle const kernel = parameters->kernel;
  if (parameters->function)
    show_original(node, *parameters, parameters->function);
  if (kernel) {
    KernelNode copy = *parameters;
    if (parameters->function) { // the grid was put right with the function
      if (const Origin origin = origin_of(kernel); origin.function)
        parameters->kernel = origin.function;
    } else {
      copy.function = nullptr;
      show_original(node, copy, kernel);
      if (copy.function) {
        static_cast<KernelNode &>(*parameters) = copy;
        parameters->kernel = copy.function;
        parameters->function = nullptr;
      }
    }
  }
  return result;
}
}
