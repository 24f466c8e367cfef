// Streams, events and graphs of the Driver API: handles are the Runtime API's.

#include "wrapper/runtime/driver.h"

using namespace ptxasw;

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
    if (!kernel || kernel->extra)
      return cudaErrorInvalidValue;
    cudaKernelNodeParams same{};
    same.func = kernel->func ? static_cast<void *>(kernel_of(kernel->func))
                             : static_cast<void *>(kernel->kern);
    same.gridDim = {kernel->gridDimX, kernel->gridDimY, kernel->gridDimZ};
    same.blockDim = {kernel->blockDimX, kernel->blockDimY, kernel->blockDimZ};
    same.sharedMemBytes = kernel->sharedMemBytes;
    same.kernelParams = kernel->kernelParams;
    return cudaGraphAddKernelNode(node, graph, before, count, &same);
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

} // extern "C"
