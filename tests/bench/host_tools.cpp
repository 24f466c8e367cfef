// The runner's own device functions, compiled for the host.
#include "host_cuda.h"

#include "tools.cu"

namespace {
using host_cuda::call;
const host_cuda::Registered fill("tools tool_fill",
                                 {[](void **arguments) { call(&tool_fill, arguments); }, 4, true});
const host_cuda::Registered compare("tools tool_compare",
                                    {[](void **arguments) { call(&tool_compare, arguments); }, 4,
                                     true});
const host_cuda::Registered copy("tools tool_copy",
                                 {[](void **arguments) { call(&tool_copy, arguments); }, 3, true});
} // namespace
