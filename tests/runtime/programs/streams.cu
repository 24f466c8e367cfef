// Streams, events, host functions, graphs.
#include "common.h"

__global__ void add(int *p, int value) { atomicAdd(p, value); }

void CUDART_CB note(void *to) { ++*static_cast<int *>(to); }
void CUDART_CB call_back(cudaStream_t, cudaError_t status, void *to) {
  *static_cast<int *>(to) += status == cudaSuccess ? 10 : 0;
}

int value_of(int *p) {
  int value = -1;
  RIGHT(cudaMemcpy(&value, p, sizeof value, cudaMemcpyDeviceToHost));
  return value;
}

int main() {
  int *p = nullptr;
  RIGHT(cudaMalloc(&p, sizeof(int)));
  RIGHT(cudaMemset(p, 0, sizeof(int)));
  cudaStream_t one, two;
  RIGHT(cudaStreamCreate(&one));
  RIGHT(cudaStreamCreateWithPriority(&two, cudaStreamNonBlocking, -1));
  int priority = 0;
  unsigned flags = 0;
  RIGHT(cudaStreamGetPriority(two, &priority));
  RIGHT(cudaStreamGetFlags(two, &flags));
  EXPECT(priority == -1 && flags == cudaStreamNonBlocking);
  cudaEvent_t begin, end;
  RIGHT(cudaEventCreate(&begin));
  RIGHT(cudaEventCreate(&end));
  float time = -1;
  WRONG(cudaEventElapsedTime(&time, begin, end), cudaErrorInvalidResourceHandle);
  RIGHT(cudaEventRecord(begin, one));
  add<<<2, 32, 0, one>>>(p, 1);
  RIGHT(cudaEventRecord(end, one));
  RIGHT(cudaStreamWaitEvent(two, end, 0));
  int noted = 0;
  RIGHT(cudaLaunchHostFunc(two, note, &noted));
  RIGHT(cudaStreamAddCallback(two, call_back, &noted, 0));
  RIGHT(cudaStreamSynchronize(two));
  EXPECT(noted == 11);
  RIGHT(cudaEventSynchronize(end));
  RIGHT(cudaEventQuery(end));
  RIGHT(cudaEventElapsedTime(&time, begin, end));
  EXPECT(time >= 0);
  EXPECT(value_of(p) == 64);

  // A capture over two streams.
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamCaptureStatus status;
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  RIGHT(cudaStreamIsCapturing(one, &status));
  EXPECT(status == cudaStreamCaptureStatusActive);
  add<<<1, 1, 0, one>>>(p, 1);
  RIGHT(cudaEventRecord(begin, one));
  RIGHT(cudaStreamWaitEvent(two, begin, 0));
  add<<<1, 1, 0, two>>>(p, 100);
  RIGHT(cudaLaunchHostFunc(two, note, &noted));
  RIGHT(cudaEventRecord(end, two));
  add<<<1, 1, 0, one>>>(p, 10);
  RIGHT(cudaStreamWaitEvent(one, end, 0));
  RIGHT(cudaMemsetAsync(p, 0, 0, one));
  RIGHT(cudaStreamEndCapture(one, &graph));
  EXPECT(value_of(p) == 64 && noted == 11);
  std::size_t count = 0;
  RIGHT(cudaGraphGetNodes(graph, nullptr, &count));
  EXPECT(count == 5);
  RIGHT(cudaGraphInstantiate(&executable, graph));
  RIGHT(cudaGraphLaunch(executable, one));
  RIGHT(cudaGraphLaunch(executable, one));
  RIGHT(cudaStreamSynchronize(one));
  EXPECT(value_of(p) == 64 + 2 * 111 && noted == 13);

  // Captured again, with other values.
  cudaGraph_t other;
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeThreadLocal));
  add<<<1, 1, 0, one>>>(p, 1);
  RIGHT(cudaStreamEndCapture(one, &other));
  cudaGraphExecUpdateResultInfo result;
  WRONG(cudaGraphExecUpdate(executable, other, &result), cudaErrorGraphExecUpdateFailure);
  EXPECT(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGraphExec_t small;
  RIGHT(cudaGraphInstantiate(&small, other));
  RIGHT(cudaGraphDestroy(other));
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, one>>>(p, 1000);
  RIGHT(cudaStreamEndCapture(one, &other));
  RIGHT(cudaGraphExecUpdate(small, other, &result));
  RIGHT(cudaMemset(p, 0, sizeof(int)));
  RIGHT(cudaGraphLaunch(small, two));
  EXPECT(value_of(p) == 1000);

  // Node by node.
  cudaGraph_t built;
  RIGHT(cudaGraphCreate(&built, 0));
  cudaGraphNode_t set, kernel, copy;
  cudaMemsetParams zero = {p, 0, 5, 4, 1, 1};
  RIGHT(cudaGraphAddMemsetNode(&set, built, nullptr, 0, &zero));
  int value = 7, host = 0;
  void *arguments[] = {&p, &value};
  cudaKernelNodeParams parameters = {reinterpret_cast<void *>(add), dim3(1), dim3(3), 0, arguments, nullptr};
  RIGHT(cudaGraphAddKernelNode(&kernel, built, &set, 1, &parameters));
  RIGHT(cudaGraphAddMemcpyNode1D(&copy, built, &kernel, 1, &host, p, sizeof host, cudaMemcpyDeviceToHost));
  RIGHT(cudaGraphInstantiate(&executable, built));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(host == 26);
  value = 8;
  RIGHT(cudaGraphExecKernelNodeSetParams(executable, kernel, &parameters));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(host == 29);
  RIGHT(cudaGraphNodeSetEnabled(executable, kernel, 0));
  RIGHT(cudaGraphLaunch(executable, 0));
  EXPECT(host == 5);

  // A stream that joined and is destroyed before the end.
  for (const bool joins : {true, false}) {
    cudaStream_t three;
    RIGHT(cudaStreamCreate(&three));
    RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    RIGHT(cudaEventRecord(begin, one));
    RIGHT(cudaStreamWaitEvent(three, begin, 0));
    add<<<1, 1, 0, three>>>(p, 1);
    RIGHT(cudaEventRecord(end, three));
    if (joins)
      RIGHT(cudaStreamWaitEvent(one, end, 0));
    RIGHT(cudaStreamDestroy(three));
    if (joins)
      RIGHT(cudaStreamEndCapture(one, &graph));
    else
      WRONG(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureUnjoined);
  }

  // What a capture does not allow.
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  WRONG(cudaStreamSynchronize(one), cudaErrorStreamCaptureUnsupported);
  WRONG(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureInvalidated);
  WRONG(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  RIGHT(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
  RIGHT(cudaEventRecord(begin, one));
  RIGHT(cudaStreamWaitEvent(two, begin, 0));
  add<<<1, 1, 0, two>>>(p, 1);
  WRONG(cudaStreamEndCapture(one, &graph), cudaErrorStreamCaptureUnjoined);
  RIGHT(cudaStreamDestroy(one));
  WRONG(cudaStreamSynchronize(one), cudaErrorInvalidResourceHandle);
  RIGHT(cudaEventDestroy(end));
  WRONG(cudaEventRecord(end, two), cudaErrorInvalidResourceHandle);
  return finish();
}
