// Graphs built node by node, of all kinds, and what nodes say of themselves.
#include "common.h"

#include <fstream>
#include <string>

__constant__ int constant_value;
__device__ int device_value;

__global__ void add(int *p, int value) { atomicAdd(p, value + constant_value); }
__global__ void keep(const int *p) { device_value = *p; }

void CUDART_CB note(void *to) { ++*static_cast<int *>(to); }

cudaGraphNodeParams of_type(cudaGraphNodeType type) {
  cudaGraphNodeParams parameters = {};
  parameters.type = type;
  return parameters;
}

cudaMemAllocNodeParams memory_of(std::size_t bytes) {
  cudaMemAllocNodeParams wanted = {};
  wanted.poolProps.allocType = cudaMemAllocationTypePinned;
  wanted.poolProps.location = {cudaMemLocationTypeDevice, 0};
  wanted.bytesize = bytes;
  return wanted;
}

// Memory that a graph allocates, and that somebody else frees, or nobody.
void memory_that_stays() {
  cudaGraph_t graph, freeing;
  cudaGraphExec_t executable, ends;
  cudaGraphNode_t allocates, sets, frees, none;
  RIGHT(cudaGraphCreate(&graph, 0));
  RIGHT(cudaGraphCreate(&freeing, 0));
  cudaMemAllocNodeParams wanted = memory_of(0);
  WRONG(cudaGraphAddMemAllocNode(&none, graph, nullptr, 0, &wanted), cudaErrorInvalidValue);
  wanted = memory_of(4);
  RIGHT(cudaGraphAddMemAllocNode(&allocates, graph, nullptr, 0, &wanted));
  void *const p = wanted.dptr;
  cudaMemsetParams ones = {p, 0, 1, 4, 1, 1};
  RIGHT(cudaGraphAddMemsetNode(&sets, graph, &allocates, 1, &ones));
  RIGHT(cudaGraphInstantiate(&executable, graph));
  int value = 0;
  WRONG(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue); // not yet there
  WRONG(cudaFree(p), cudaErrorInvalidValue);
  for (int i = 0; i < 3; ++i) {
    RIGHT(cudaGraphLaunch(executable, 0));
    RIGHT(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(value == 1);
    WRONG(cudaGraphLaunch(executable, 0), cudaErrorInvalidValue); // it is not freed
    RIGHT(cudaMemset(p, 0, 4));
    RIGHT(i == 1 ? cudaFreeAsync(p, 0) : cudaFree(p));
    WRONG(cudaFree(p), cudaErrorInvalidValue);
    WRONG(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  }
  // By another graph.
  RIGHT(cudaGraphAddMemFreeNode(&frees, freeing, nullptr, 0, p));
  WRONG(cudaGraphAddMemFreeNode(&none, freeing, nullptr, 0, p), cudaErrorInvalidValue);
  RIGHT(cudaGraphInstantiate(&ends, freeing));
  WRONG(cudaGraphLaunch(ends, 0), cudaErrorInvalidValue);
  RIGHT(cudaGraphLaunch(executable, 0));
  RIGHT(cudaGraphLaunch(ends, 0));
  WRONG(cudaGraphLaunch(ends, 0), cudaErrorInvalidValue);
  // By the next launch.
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
  for (int i = 0; i < 2; ++i) {
    RIGHT(cudaGraphLaunch(executable, 0));
    RIGHT(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    EXPECT(value == 1);
    RIGHT(cudaMemset(p, 0, 4));
  }
  // There is one executable of it, no copy, and nothing is taken out.
  cudaGraph_t copy, outer;
  cudaGraphExec_t another;
  WRONG(cudaGraphInstantiate(&another, graph), cudaErrorInvalidValue);
  WRONG(cudaGraphClone(&copy, graph), cudaErrorInvalidValue);
  RIGHT(cudaGraphCreate(&outer, 0));
  WRONG(cudaGraphAddChildGraphNode(&none, outer, nullptr, 0, graph), cudaErrorInvalidValue);
  WRONG(cudaGraphDestroyNode(sets), cudaErrorInvalidValue);
  WRONG(cudaGraphRemoveDependencies(graph, &allocates, &sets, nullptr, 1), cudaErrorInvalidValue);
  RIGHT(cudaFree(p));

  // Captured: only a graph's memory may be freed there.
  cudaStream_t stream;
  cudaGraph_t captured;
  void *plain, *inner;
  RIGHT(cudaMalloc(&plain, 4));
  RIGHT(cudaStreamCreate(&stream));
  RIGHT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  RIGHT(cudaMallocAsync(&inner, 4, stream));
  WRONG(cudaFreeAsync(plain, stream), cudaErrorInvalidValue);
  RIGHT(cudaMemsetAsync(inner, 0, 4, stream));
  RIGHT(cudaFreeAsync(inner, stream));
  WRONG(cudaFreeAsync(inner, stream), cudaErrorInvalidValue);
  RIGHT(cudaStreamEndCapture(stream, &captured));
  RIGHT(cudaGraphInstantiate(&another, captured));
  RIGHT(cudaGraphLaunch(another, stream));
  RIGHT(cudaGraphLaunch(another, stream));
  RIGHT(cudaFree(plain));
}

// Handles of what is no more.
void handles() {
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaGraphNode_t first, second, none;
  cudaGraphNodeType type;
  std::size_t count = 0;
  RIGHT(cudaGraphCreate(&graph, 0));
  RIGHT(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  RIGHT(cudaGraphAddEmptyNode(&second, graph, &first, 1));
  RIGHT(cudaGraphInstantiate(&executable, graph));
  RIGHT(cudaGraphDestroyNode(first));
  WRONG(cudaGraphNodeGetType(first, &type), cudaErrorInvalidValue);
  WRONG(cudaGraphDestroyNode(first), cudaErrorInvalidValue);
  WRONG(cudaGraphAddEmptyNode(&none, graph, &first, 1), cudaErrorInvalidValue);
  WRONG(cudaGraphAddDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue);
  WRONG(cudaGraphNodeGetDependencies(first, nullptr, nullptr, &count), cudaErrorInvalidValue);
  RIGHT(cudaGraphDestroy(graph));
  WRONG(cudaGraphDestroy(graph), cudaErrorInvalidValue);
  WRONG(cudaGraphAddEmptyNode(&none, graph, nullptr, 0), cudaErrorInvalidValue);
  WRONG(cudaGraphGetNodes(graph, nullptr, &count), cudaErrorInvalidValue);
  WRONG(cudaGraphNodeGetType(second, &type), cudaErrorInvalidValue);
  cudaGraphExec_t another;
  WRONG(cudaGraphInstantiate(&another, graph), cudaErrorInvalidValue);
  cudaGraph_t copy;
  WRONG(cudaGraphClone(&copy, graph), cudaErrorInvalidValue);
  RIGHT(cudaGraphLaunch(executable, 0));
  RIGHT(cudaGraphExecDestroy(executable));
  WRONG(cudaGraphExecDestroy(executable), cudaErrorInvalidValue);
  WRONG(cudaGraphLaunch(executable, 0), cudaErrorInvalidValue);
}

int main() {
  memory_that_stays();
  handles();
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  RIGHT(cudaGraphCreate(&graph, 0));

  // Memory of the graph, a variable, a kernel that uses both, and what it has left.
  cudaGraphNode_t memory, to_symbol, kernel, last, from_symbol, release;
  cudaMemAllocNodeParams wanted = memory_of(sizeof(int));
  RIGHT(cudaGraphAddMemAllocNode(&memory, graph, nullptr, 0, &wanted));
  int *const p = static_cast<int *>(wanted.dptr);
  EXPECT(p != nullptr);
  cudaGraphNode_t set;
  cudaMemsetParams zero = {p, 0, 0, 4, 1, 1};
  RIGHT(cudaGraphAddMemsetNode(&set, graph, &memory, 1, &zero));
  int constant = 5, result = 0, noted = 0;
  RIGHT(cudaGraphAddMemcpyNodeToSymbol(&to_symbol, graph, nullptr, 0, constant_value, &constant,
                                       sizeof constant, 0, cudaMemcpyHostToDevice));
  WRONG(cudaGraphAddMemcpyNodeToSymbol(&from_symbol, graph, nullptr, 0, constant_value, &constant,
                                       sizeof constant, 4, cudaMemcpyHostToDevice),
        cudaErrorInvalidValue);
  int value = 2;
  int *pointer = p;
  void *arguments[] = {&pointer, &value};
  cudaGraphNodeParams parameters = of_type(cudaGraphNodeTypeKernel);
  parameters.kernel.func = reinterpret_cast<void *>(add);
  parameters.kernel.gridDim = {2, 1, 1};
  parameters.kernel.blockDim = {3, 1, 1};
  parameters.kernel.kernelParams = arguments;
  const cudaGraphNode_t both[] = {set, to_symbol};
  RIGHT(cudaGraphAddNode(&kernel, graph, both, nullptr, 2, &parameters));
  cudaKernelNodeParams keeps = {
      reinterpret_cast<void *>(keep), dim3(1), dim3(1), 0, arguments, nullptr};
  RIGHT(cudaGraphAddKernelNode(&last, graph, &kernel, 1, &keeps));
  RIGHT(cudaGraphAddMemcpyNodeFromSymbol(&from_symbol, graph, &last, 1, &result, device_value,
                                         sizeof result, 0, cudaMemcpyDeviceToHost));
  RIGHT(cudaGraphAddMemFreeNode(&release, graph, &last, 1, p));
  WRONG(cudaGraphAddMemFreeNode(&release, graph, &last, 1, &result), cudaErrorInvalidValue);
  RIGHT(cudaGraphInstantiate(&executable, graph));
  for (int i = 0; i < 2; ++i) {
    RIGHT(cudaGraphLaunch(executable, 0));
    EXPECT(result == 6 * 7);
  }

  // What nodes say.
  cudaKernelNodeParams said = {};
  RIGHT(cudaGraphKernelNodeGetParams(kernel, &said));
  EXPECT(said.func == reinterpret_cast<void *>(add) && said.gridDim.x == 2 && said.blockDim.x == 3);
  EXPECT(*static_cast<int **>(said.kernelParams[0]) == p &&
         *static_cast<int *>(said.kernelParams[1]) == 2);
  WRONG(cudaGraphKernelNodeGetParams(set, &said), cudaErrorInvalidValue);
  cudaMemAllocNodeParams known = {};
  RIGHT(cudaGraphMemAllocNodeGetParams(memory, &known));
  EXPECT(known.dptr == p && known.bytesize == sizeof(int));
  void *released = nullptr;
  RIGHT(cudaGraphMemFreeNodeGetParams(release, &released));
  EXPECT(released == p);
  cudaGraphNodeType type;
  RIGHT(cudaGraphNodeGetType(release, &type));
  EXPECT(type == cudaGraphNodeTypeMemFree);
  RIGHT(cudaDeviceGraphMemTrim(0));

  // What nodes are given, in the graph and in what was made of it.
  value = 10;
  RIGHT(cudaGraphExecNodeSetParams(executable, kernel, &parameters));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(result == 6 * 15);
  int other_constant = 1, other_result = 0;
  RIGHT(cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, to_symbol, constant_value,
                                                 &other_constant, sizeof(int), 0,
                                                 cudaMemcpyHostToDevice));
  RIGHT(cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, from_symbol, &other_result,
                                                   device_value, sizeof(int), 0,
                                                   cudaMemcpyDeviceToHost));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(other_result == 6 * 11 && result == 6 * 15);
  RIGHT(cudaGraphNodeSetParams(kernel, &parameters));
  RIGHT(cudaGraphMemcpyNodeSetParamsToSymbol(to_symbol, constant_value, &other_constant,
                                             sizeof(int), 0, cudaMemcpyHostToDevice));
  RIGHT(cudaGraphMemcpyNodeSetParamsFromSymbol(from_symbol, &other_result, device_value,
                                               sizeof(int), 0, cudaMemcpyDeviceToHost));
  cudaGraphExec_t again;
  other_result = 0;
  RIGHT(cudaGraphExecDestroy(executable));
  RIGHT(cudaGraphInstantiate(&again, graph));
  RIGHT(cudaGraphLaunch(again, 0));
  EXPECT(other_result == 6 * 11);
  cudaGraphNodeParams host = of_type(cudaGraphNodeTypeHost);
  host.host.fn = note;
  host.host.userData = &noted;
  WRONG(cudaGraphNodeSetParams(kernel, &host), cudaErrorInvalidValue);
  cudaGraphNodeParams condition = of_type(cudaGraphNodeTypeConditional);
  cudaGraphNode_t none;
  WRONG(cudaGraphAddNode(&none, graph, nullptr, nullptr, 0, &condition), cudaErrorNotSupported);

  // Attributes.
  cudaLaunchAttributeValue attribute = {}, found = {};
  attribute.clusterDim.x = 2;
  attribute.clusterDim.y = attribute.clusterDim.z = 1;
  RIGHT(cudaGraphKernelNodeSetAttribute(kernel, cudaLaunchAttributeClusterDimension, &attribute));
  RIGHT(cudaGraphKernelNodeCopyAttributes(last, kernel));
  RIGHT(cudaGraphKernelNodeGetAttribute(last, cudaLaunchAttributeClusterDimension, &found));
  EXPECT(found.clusterDim.x == 2);
  WRONG(cudaGraphKernelNodeGetAttribute(set, cudaLaunchAttributeClusterDimension, &found),
        cudaErrorInvalidValue);

  // Events, and a graph in a graph.
  cudaEvent_t one, two, event = nullptr;
  RIGHT(cudaEventCreate(&one));
  RIGHT(cudaEventCreate(&two));
  cudaGraph_t child, outer;
  RIGHT(cudaGraphCreate(&child, 0));
  RIGHT(cudaGraphCreate(&outer, 0));
  cudaGraphNode_t noting, records, waits, inner, nothing, moved;
  RIGHT(cudaGraphAddNode(&noting, child, nullptr, nullptr, 0, &host));
  cudaGraphNodeParams record = of_type(cudaGraphNodeTypeEventRecord),
                      wait = of_type(cudaGraphNodeTypeWaitEvent);
  record.eventRecord.event = wait.eventWait.event = one;
  RIGHT(cudaGraphAddNode(&records, outer, nullptr, nullptr, 0, &record));
  RIGHT(cudaGraphAddNode(&waits, outer, &records, nullptr, 1, &wait));
  RIGHT(cudaGraphAddChildGraphNode(&inner, outer, &waits, 1, child));
  cudaGraphNodeParams empty = of_type(cudaGraphNodeTypeEmpty),
                      moves = of_type(cudaGraphNodeTypeGraph);
  RIGHT(cudaGraphAddNode(&nothing, outer, &inner, nullptr, 1, &empty));
  moves.graph.graph = child;
  moves.graph.ownership = cudaGraphChildGraphOwnershipMove;
  RIGHT(cudaGraphAddNode(&moved, outer, &nothing, nullptr, 1, &moves));
  // What was moved belongs to the node, and nothing is in itself.
  WRONG(cudaGraphAddNode(&none, outer, nullptr, nullptr, 0, &moves), cudaErrorInvalidValue);
  WRONG(cudaGraphDestroy(child), cudaErrorInvalidValue);
  WRONG(cudaGraphInstantiate(&executable, child), cudaErrorInvalidValue);
  moves.graph.graph = outer;
  WRONG(cudaGraphAddNode(&none, child, nullptr, nullptr, 0, &moves), cudaErrorInvalidValue);
  WRONG(cudaGraphAddNode(&none, outer, nullptr, nullptr, 0, &moves), cudaErrorInvalidValue);
  const cudaGraphNode_t no_node = nullptr;
  WRONG(cudaGraphAddEmptyNode(&none, outer, &no_node, 1), cudaErrorInvalidValue);
  WRONG(cudaGraphAddEmptyNode(&none, outer, &kernel, 1), cudaErrorInvalidValue); // of another graph
  WRONG(cudaGraphAddDependencies(outer, &inner, &inner, nullptr, 1), cudaErrorInvalidValue);
  RIGHT(cudaGraphEventRecordNodeSetEvent(records, two));
  RIGHT(cudaGraphEventRecordNodeGetEvent(records, &event));
  EXPECT(event == two);
  RIGHT(cudaGraphEventWaitNodeSetEvent(waits, two));
  RIGHT(cudaGraphEventWaitNodeGetEvent(waits, &event));
  EXPECT(event == two);
  WRONG(cudaGraphEventWaitNodeGetEvent(records, &event), cudaErrorInvalidValue);
  RIGHT(cudaGraphInstantiate(&executable, outer));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(noted == 2);
  RIGHT(cudaEventQuery(two));
  RIGHT(cudaGraphExecEventRecordNodeSetEvent(executable, records, one));
  RIGHT(cudaGraphExecEventWaitNodeSetEvent(executable, waits, one));
  cudaGraph_t without;
  RIGHT(cudaGraphCreate(&without, 0));
  RIGHT(cudaGraphExecChildGraphNodeSetParams(executable, inner, without));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(noted == 3);

  // A picture.
  RIGHT(cudaGraphDebugDotPrint(outer, "graph.dot", 0));
  std::ifstream file("graph.dot");
  const std::string dot{std::istreambuf_iterator<char>(file), {}};
  EXPECT(dot.find("digraph graph_0 {") == 0 &&
         dot.find("[label=\"record an event\"]") != std::string::npos);
  EXPECT(dot.find("node0 -> node1;") != std::string::npos &&
         dot.find("subgraph cluster_node2 {") != std::string::npos);
  WRONG(cudaGraphDebugDotPrint(outer, "no/such/folder/graph.dot", 0), cudaErrorInvalidValue);
  RIGHT(cudaGraphDestroy(outer));
  return finish();
}
