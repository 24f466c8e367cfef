// A launch that is captured into a graph is redirected like any other; what the node then holds is
// the sibling. A program that asks for the node's parameters, changes some and sets them must see
// the launch that it made: so the original is put back into the answer, with its grid. If it sets
// that, the node is the original's launch from then on, which is always right.

#include "wrapper/launch/doors.h"
#include "wrapper/launch/driver.h"
#include "wrapper/launch/exported.h"
#include "wrapper/launch/kernels.h"

#include <cstring>

namespace ptxasw::launch {
namespace {

/// The grid's extent of an axis as the sibling's launch was told; what is not told was not divided.
unsigned extent(const Origin &origin, const KernelNode &node, char axis, unsigned now) {
  const auto &appended = origin.sibling->appended;
  for (std::size_t i = 0; i < appended.size(); ++i)
    if (appended[i] == axis)
      std::memcpy(&now, node.parameters[origin.table->parameters.size() + i], sizeof now);
  return now;
}

void show_original(KernelNode &node, Handle function) {
  const Origin origin = origin_of(function);
  if (!origin.function)
    return;
  if (node.parameters)
    node.grid = {extent(origin, node, 'x', node.grid.x), extent(origin, node, 'y', node.grid.y),
                 extent(origin, node, 'z', node.grid.z)};
  if (origin.sibling->needs.dynamic_shared > 1)
    node.shared_bytes /= origin.sibling->needs.dynamic_shared;
  node.function = origin.function;
}

} // namespace
} // namespace ptxasw::launch

using namespace ptxasw::launch;

extern "C" {

int cuGraphKernelNodeGetParams(void *node, KernelNode *parameters) {
  auto *const function = real<Result(void *, KernelNode *)>(Door::kernel_node_get);
  if (!function)
    return not_initialized;
  const Result result = function(node, parameters);
  if (result == success && parameters && handles_in_use())
    show_original(*parameters, parameters->function);
  return result;
}

int cuGraphKernelNodeGetParams_v2(void *node, KernelNode2 *parameters) {
  auto *const function = real<Result(void *, KernelNode2 *)>(Door::kernel_node_get_2);
  if (!function)
    return not_initialized;
  const Result result = function(node, parameters);
  if (result != success || !parameters || !handles_in_use())
    return result;
  Handle const kernel = parameters->kernel;
  if (parameters->function)
    show_original(*parameters, parameters->function);
  if (kernel) {
    KernelNode copy = *parameters;
    if (parameters->function) { // the grid was put right with the function
      if (const Origin origin = origin_of(kernel); origin.function)
        parameters->kernel = origin.function;
    } else {
      copy.function = nullptr;
      show_original(copy, kernel);
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
