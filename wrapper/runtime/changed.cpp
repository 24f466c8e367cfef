// Functions whose parameters changed with CUDA 13, under the name that both versions call. All
// parameters are in registers or words of the stack, one each (System V ABI: cudaMemLocation is 8
// bytes), so they are taken as words, and given on as the program meant them. Functions of CUDA 12
// alone have the ending _cuda12; libcudart.so.12's names lead there. The toolkit's header, which
// declares the parameters of CUDA 13, is not included.

#include <cstddef>
#include <cstdint>

struct CUgraphNode_st;
struct CUstream_st;

namespace ptxasw::wrapper {
bool is_of_cuda_12();
int copy_batch(void *const *to, const void *const *from, const std::size_t *sizes,
               std::size_t count, CUstream_st *stream);
int copy_attributes(CUgraphNode_st *to, CUgraphNode_st *from);
}

namespace {

using Word = std::uintptr_t;

int copies(Word to, Word from, Word sizes, Word count, Word stream) {
  return ptxasw::wrapper::copy_batch(
      reinterpret_cast<void *const *>(to), reinterpret_cast<const void *const *>(from),
      reinterpret_cast<const std::size_t *>(sizes), count, reinterpret_cast<CUstream_st *>(stream));
}

} // namespace

extern "C" {
int cudaMemPrefetchAsync_v2(Word address, Word size, Word where, Word flags, Word stream);
int cudaMemAdvise_v2(Word address, Word size, Word advice, Word where);
int cudaGraphAddNode_v2(Word node, Word graph, Word before, Word data, Word count, Word parameters);
int cudaGraphGetEdges_v2(Word graph, Word from, Word to, Word data, Word count);
int cudaGraphNodeGetDependencies_v2(Word node, Word list, Word data, Word count);
int cudaGraphNodeGetDependentNodes_v2(Word node, Word list, Word data, Word count);
int cudaGraphAddDependencies_v2(Word graph, Word from, Word to, Word data, Word count);
int cudaGraphRemoveDependencies_v2(Word graph, Word from, Word to, Word data, Word count);
int cudaStreamUpdateCaptureDependencies_v2(Word stream, Word before, Word data, Word count,
                                           Word flags);

// Where memory is, as CUDA 12 says it, makes no difference to what is done: 0 is the device.

int cudaMemPrefetchAsync_cuda12(Word address, Word size, Word, Word stream) {
  return cudaMemPrefetchAsync_v2(address, size, 0, 0, stream);
}
int cudaMemPrefetchAsync(Word address, Word size, Word where, Word fourth, Word fifth) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaMemPrefetchAsync_cuda12(address, size, where, fourth)
             : cudaMemPrefetchAsync_v2(address, size, where, fourth, fifth);
}

// An int and a location are both the fourth word.
int cudaMemAdvise(Word address, Word size, Word advice, Word where) {
  return cudaMemAdvise_v2(address, size, advice, where);
}

int cudaGraphAddNode_cuda12(Word node, Word graph, Word before, Word count, Word parameters) {
  return cudaGraphAddNode_v2(node, graph, before, 0, count, parameters);
}
int cudaGraphAddNode(Word node, Word graph, Word before, Word fourth, Word fifth, Word sixth) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaGraphAddNode_cuda12(node, graph, before, fourth, fifth)
             : cudaGraphAddNode_v2(node, graph, before, fourth, fifth, sixth);
}

int cudaGraphKernelNodeCopyAttributes_cuda12(CUgraphNode_st *from, CUgraphNode_st *to) {
  return ptxasw::wrapper::copy_attributes(to, from);
}
int cudaGraphKernelNodeCopyAttributes(CUgraphNode_st *first, CUgraphNode_st *second) {
  return ptxasw::wrapper::is_of_cuda_12() ? ptxasw::wrapper::copy_attributes(second, first)
                                          : ptxasw::wrapper::copy_attributes(first, second);
}

int cudaGraphGetEdges_cuda12(Word graph, Word from, Word to, Word count) {
  return cudaGraphGetEdges_v2(graph, from, to, 0, count);
}
int cudaGraphGetEdges(Word graph, Word from, Word to, Word fourth, Word count) {
  return ptxasw::wrapper::is_of_cuda_12() ? cudaGraphGetEdges_cuda12(graph, from, to, fourth)
                                          : cudaGraphGetEdges_v2(graph, from, to, fourth, count);
}

int cudaGraphNodeGetDependencies_cuda12(Word node, Word list, Word count) {
  return cudaGraphNodeGetDependencies_v2(node, list, 0, count);
}
int cudaGraphNodeGetDependencies(Word node, Word list, Word third, Word count) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaGraphNodeGetDependencies_cuda12(node, list, third)
             : cudaGraphNodeGetDependencies_v2(node, list, third, count);
}

int cudaGraphNodeGetDependentNodes_cuda12(Word node, Word list, Word count) {
  return cudaGraphNodeGetDependentNodes_v2(node, list, 0, count);
}
int cudaGraphNodeGetDependentNodes(Word node, Word list, Word third, Word count) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaGraphNodeGetDependentNodes_cuda12(node, list, third)
             : cudaGraphNodeGetDependentNodes_v2(node, list, third, count);
}

int cudaGraphAddDependencies_cuda12(Word graph, Word from, Word to, Word count) {
  return cudaGraphAddDependencies_v2(graph, from, to, 0, count);
}
int cudaGraphAddDependencies(Word graph, Word from, Word to, Word fourth, Word count) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaGraphAddDependencies_cuda12(graph, from, to, fourth)
             : cudaGraphAddDependencies_v2(graph, from, to, fourth, count);
}

int cudaGraphRemoveDependencies_cuda12(Word graph, Word from, Word to, Word count) {
  return cudaGraphRemoveDependencies_v2(graph, from, to, 0, count);
}
int cudaGraphRemoveDependencies(Word graph, Word from, Word to, Word fourth, Word count) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaGraphRemoveDependencies_cuda12(graph, from, to, fourth)
             : cudaGraphRemoveDependencies_v2(graph, from, to, fourth, count);
}

int cudaStreamUpdateCaptureDependencies_cuda12(Word stream, Word before, Word count, Word flags) {
  return cudaStreamUpdateCaptureDependencies_v2(stream, before, 0, count, flags);
}
int cudaStreamUpdateCaptureDependencies(Word stream, Word before, Word third, Word fourth,
                                        Word flags) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaStreamUpdateCaptureDependencies_cuda12(stream, before, third, fourth)
             : cudaStreamUpdateCaptureDependencies_v2(stream, before, third, fourth, flags);
}

int cudaMemcpyBatchAsync_cuda12(Word to, Word from, Word sizes, Word count, Word, Word, Word,
                                Word failed, Word stream) {
  const int error = copies(to, from, sizes, count, stream);
  if (auto *const which = reinterpret_cast<std::size_t *>(failed); error != 0 && which)
    *which = SIZE_MAX; // no copy in particular
  return error;
}
int cudaMemcpyBatchAsync(Word to, Word from, Word sizes, Word count, Word fifth, Word sixth,
                         Word seventh, Word eighth, Word ninth) {
  return ptxasw::wrapper::is_of_cuda_12()
             ? cudaMemcpyBatchAsync_cuda12(to, from, sizes, count, fifth, sixth, seventh, eighth,
                                           ninth)
             : copies(to, from, sizes, count, eighth);
}
}
