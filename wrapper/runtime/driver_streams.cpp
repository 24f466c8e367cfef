// Streams, events and graphs of the Driver API: handles are the Runtime API's.

#include "wrapper/runtime/driver.h"
#include "wrapper/runtime/toolkit.h"

#include <optional>

using namespace ptxasw::wrapper;

namespace {

/// Parameters of a kernel's node as the Runtime API has them; nothing if they are not understood.
std::optional<cudaKernelNodeParams> parameters_of(const CUDA_KERNEL_NODE_PARAMS_v2 *kernel) {
  if (!kernel || kernel->extra)
    return std::nullopt;
  cudaKernelNodeParams same{};
  same.func = kernel->func ? static_cast<void *>(kernel_of(kernel->func))
                           : static_cast<void *>(kernel->kern);
  same.gridDim = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ};
  same.blockDim = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ};
  same.sharedMemBytes = kernel->sharedMemBytes;
  same.kernelParams = kernel->kernelParams;
  return same;
}

} // namespace

extern "C" {

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  return driver([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}
CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return driver([&] { return cudaStreamDestroy(stream); });
}
CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }
CUresult cuStreamQuery(CUstream stream) {
  return driver([&] { return cudaStreamQuery(stream); });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return driver([&] { return cudaStreamSynchronize(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return driver([&] { return cudaStreamWaitEvent(stream, event, flags); });
}
CUresult cuStreamGetPriority(CUstream stream, int *priority) {
  return driver([&] { return cudaStreamGetPriority(stream, priority); });
}
CUresult cuStreamGetFlags(CUstream stream, unsigned *flags) {
  return driver([&] { return cudaStreamGetFlags(stream, flags); });
}
CUresult cuStreamGetId(CUstream stream, unsigned long long *id) {
  return driver([&] { return cudaStreamGetId(stream, id); });
}
CUresult cuStreamGetDevice(CUstream stream, CUdevice *number) {
  return driver([&] { return cudaStreamGetDevice(stream, number); });
}
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  int number = 0;
  const CUresult result = cuStreamGetDevice(stream, &number);
  return result == CUDA_SUCCESS ? cuCtxGetCurrent(context) : result;
}
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *argument,
                             unsigned flags) {
  return driver([&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), argument,
                                 flags);
  });
}
CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t size,
                                unsigned flags) {
  return driver(
      [&] { return cudaStreamAttachMemAsync(stream, host_pointer(address), size, flags); });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return driver(
      [&] { return cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(mode)); });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  return driver([&] { return cudaStreamEndCapture(stream, graph); });
}
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  return driver([&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus *>(status));
  });
}
CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  return driver([&] {
    return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode *>(mode));
  });
}
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **nodes,
                                   const CUgraphEdgeData **edges, std::size_t *count) {
  return driver([&] {
    unsigned long long number = 0;
    const cudaError_t error = cudaStreamGetCaptureInfo(
        stream, reinterpret_cast<cudaStreamCaptureStatus *>(status), &number, graph, nodes,
        reinterpret_cast<const cudaGraphEdgeData **>(edges), count);
    if (id)
      *id = number;
    return error;
  });
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                                   CUgraph *graph, const CUgraphNode **nodes, std::size_t *count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}

// ---- events

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return driver([&] { return cudaEventCreateWithFlags(event, flags); });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return driver([&] { return cudaEventDestroy(event); });
}
CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return driver([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return cuEventRecordWithFlags(event, stream, 0);
}
CUresult cuEventQuery(CUevent event) {
  return driver([&] { return cudaEventQuery(event); });
}
CUresult cuEventSynchronize(CUevent event) {
  return driver([&] { return cudaEventSynchronize(event); });
}
CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to) {
  return driver([&] { return cudaEventElapsedTime(milliseconds, from, to); });
}
CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) {
  return cuEventElapsedTime_v2(milliseconds, from, to);
}

// ---- graphs

CUresult cuGraphCreate(CUgraph *graph, unsigned flags) {
  return driver([&] { return cudaGraphCreate(graph, flags); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return driver([&] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphClone(CUgraph *copy, CUgraph graph) {
  return driver([&] { return cudaGraphClone(copy, graph); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count) {
  return driver([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode *nodes, std::size_t *count) {
  return driver([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type) {
  return driver(
      [&] { return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType *>(type)); });
}
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                             std::size_t count) {
  return driver([&] { return cudaGraphAddEmptyNode(node, graph, before, count); });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                  std::size_t count, CUgraph child) {
  return driver([&] { return cudaGraphAddChildGraphNode(node, graph, before, count, child); });
}
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS *host) {
  return driver([&] {
    if (!host)
      return cudaErrorInvalidValue;
    const cudaHostNodeParams same{host->fn, host->userData};
    return cudaGraphAddHostNode(node, graph, before, count, &same);
  });
}
CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 std::size_t count, const CUDA_KERNEL_NODE_PARAMS_v2 *kernel) {
  return driver([&] {
    const auto same = parameters_of(kernel);
    if (!same)
      return cudaErrorInvalidValue;
    return cudaGraphAddKernelNode(node, graph, before, count, &*same);
  });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return driver([&] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec *executable, CUgraph graph,
                                     unsigned long long flags) {
  return driver([&] { return cudaGraphInstantiateWithFlags(executable, graph, flags); });
}
CUresult cuGraphInstantiate_v2(CUgraphExec *executable, CUgraph graph, CUgraphNode *, char *,
                               std::size_t) {
  return cuGraphInstantiateWithFlags(executable, graph, 0);
}
CUresult cuGraphUpload(CUgraphExec executable, CUstream stream) {
  return driver([&] { return cudaGraphUpload(executable, stream); });
}
CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return driver([&] { return cudaGraphLaunch(executable, stream); });
}
CUresult cuGraphExecDestroy(CUgraphExec executable) {
  return driver([&] { return cudaGraphExecDestroy(executable); });
}

// ---- nodes of graphs

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *, std::size_t count) {
  return driver([&] { return cudaGraphAddDependencies_v2(graph, from, to, nullptr, count); });
}
CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                      const CUgraphEdgeData *, std::size_t count) {
  return driver([&] { return cudaGraphRemoveDependencies_v2(graph, from, to, nullptr, count); });
}
CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                            CUgraphEdgeData *data, std::size_t *count) {
  return driver([&] {
    return cudaGraphGetEdges_v2(graph, from, to, reinterpret_cast<cudaGraphEdgeData *>(data),
                                count);
  });
}
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *,
                                       std::size_t *count) {
  return driver([&] { return cudaGraphNodeGetDependencies_v2(node, list, nullptr, count); });
}
CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *,
                                         std::size_t *count) {
  return driver([&] { return cudaGraphNodeGetDependentNodes_v2(node, list, nullptr, count); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode *copy, CUgraphNode node, CUgraph graph) {
  return driver([&] { return cudaGraphNodeFindInClone(copy, node, graph); });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec executable, CUgraphNode node, unsigned enabled) {
  return driver([&] { return cudaGraphNodeSetEnabled(executable, node, enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec executable, CUgraphNode node, unsigned *enabled) {
  return driver([&] { return cudaGraphNodeGetEnabled(executable, node, enabled); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
  return driver([&] { return cudaGraphChildGraphNodeGetGraph(node, graph); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                            CUgraph child) {
  return driver([&] { return cudaGraphExecChildGraphNodeSetParams(executable, node, child); });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                   std::size_t count, CUevent event) {
  return driver([&] { return cudaGraphAddEventRecordNode(node, graph, before, count, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
                                 std::size_t count, CUevent event) {
  return driver([&] { return cudaGraphAddEventWaitNode(node, graph, before, count, event); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent *event) {
  return driver([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent *event) {
  return driver([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return driver([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec executable, CUgraphNode node,
                                            CUevent event) {
  return driver([&] { return cudaGraphExecEventRecordNodeSetEvent(executable, node, event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec executable, CUgraphNode node, CUevent event) {
  return driver([&] { return cudaGraphExecEventWaitNodeSetEvent(executable, node, event); });
}

// Parameters of a call on the host are two pointers for both.
static_assert(sizeof(CUDA_HOST_NODE_PARAMS) == sizeof(cudaHostNodeParams));
CUresult cuGraphHostNodeGetParams(CUgraphNode node, CUDA_HOST_NODE_PARAMS *host) {
  return driver([&] {
    return cudaGraphHostNodeGetParams(node, reinterpret_cast<cudaHostNodeParams *>(host));
  });
}
CUresult cuGraphHostNodeSetParams(CUgraphNode node, const CUDA_HOST_NODE_PARAMS *host) {
  return driver([&] {
    return cudaGraphHostNodeSetParams(node, reinterpret_cast<const cudaHostNodeParams *>(host));
  });
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *host) {
  return driver([&] {
    return cudaGraphExecHostNodeSetParams(executable, node,
                                          reinterpret_cast<const cudaHostNodeParams *>(host));
  });
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *to) {
  return driver([&] {
    cudaKernelNodeParams known{};
    if (!to)
      return cudaErrorInvalidValue;
    const cudaError_t error = cudaGraphKernelNodeGetParams(node, &known);
    if (error != cudaSuccess)
      return error;
    *to = {};
    to->func = reinterpret_cast<CUfunction>(Registry::get().find_kernel(known.func));
    to->gridDimX = known.gridDim.x;
    to->gridDimY = known.gridDim.y;
    to->gridDimZ = known.gridDim.z;
    to->blockDimX = known.blockDim.x;
    to->blockDimY = known.blockDim.y;
    to->blockDimZ = known.blockDim.z;
    to->sharedMemBytes = known.sharedMemBytes;
    to->kernelParams = known.kernelParams;
    return cudaSuccess;
  });
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *kernel) {
  return driver([&] {
    const auto same = parameters_of(kernel);
    return cudaGraphKernelNodeSetParams(node, same ? &*same : nullptr);
  });
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec executable, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2 *kernel) {
  return driver([&] {
    const auto same = parameters_of(kernel);
    return cudaGraphExecKernelNodeSetParams(executable, node, same ? &*same : nullptr);
  });
}
CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       CUlaunchAttributeValue *value) {
  return driver([&] {
    return cudaGraphKernelNodeGetAttribute(node, static_cast<cudaLaunchAttributeID>(id),
                                           reinterpret_cast<cudaLaunchAttributeValue *>(value));
  });
}
CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID id,
                                       const CUlaunchAttributeValue *value) {
  return driver([&] {
    return cudaGraphKernelNodeSetAttribute(
        node, static_cast<cudaLaunchAttributeID>(id),
        reinterpret_cast<const cudaLaunchAttributeValue *>(value));
  });
}
CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  return driver([&] { return copy_attributes(to, from); });
}

// ---- what runs of a graph

CUresult cuGraphExecGetFlags(CUgraphExec executable, cuuint64_t *flags) {
  return driver([&] {
    unsigned long long known = 0;
    const cudaError_t error = cudaGraphExecGetFlags(executable, flags ? &known : nullptr);
    if (error == cudaSuccess)
      *flags = known;
    return error;
  });
}
CUresult cuGraphExecUpdate_v2(CUgraphExec executable, CUgraph graph,
                              CUgraphExecUpdateResultInfo *result) {
  static_assert(sizeof(CUgraphExecUpdateResultInfo) == sizeof(cudaGraphExecUpdateResultInfo));
  return driver([&] {
    return cudaGraphExecUpdate(executable, graph,
                               reinterpret_cast<cudaGraphExecUpdateResultInfo *>(result));
  });
}
CUresult cuGraphInstantiateWithParams(CUgraphExec *executable, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *parameters) {
  static_assert(sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(cudaGraphInstantiateParams));
  return driver([&] {
    return cudaGraphInstantiateWithParams(
        executable, graph, reinterpret_cast<cudaGraphInstantiateParams *>(parameters));
  });
}
CUresult cuGraphDebugDotPrint(CUgraph graph, const char *path, unsigned flags) {
  return driver([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

// ---- attributes and captures of streams

CUresult cuStreamGetAttribute(CUstream stream, CUlaunchAttributeID id,
                              CUlaunchAttributeValue *value) {
  return driver([&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaLaunchAttributeID>(id),
                                  reinterpret_cast<cudaLaunchAttributeValue *>(value));
  });
}
CUresult cuStreamSetAttribute(CUstream stream, CUlaunchAttributeID id,
                              const CUlaunchAttributeValue *value) {
  return driver([&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaLaunchAttributeID>(id),
                                  reinterpret_cast<const cudaLaunchAttributeValue *>(value));
  });
}
CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return driver([&] { return cudaStreamCopyAttributes(to, from); });
}
CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *before,
                                              const CUgraphEdgeData *, std::size_t count,
                                              unsigned flags) {
  return driver([&] {
    return cudaStreamUpdateCaptureDependencies_v2(stream, before, nullptr, count, flags);
  });
}
CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *before,
                                     const CUgraphEdgeData *, std::size_t count,
                                     CUstreamCaptureMode mode) {
  return driver([&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, before, nullptr, count,
                                         static_cast<cudaStreamCaptureMode>(mode));
  });
}

} // extern "C"
