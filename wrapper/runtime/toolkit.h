#pragma once

// Programs of CUDA 12. The Runtime API changed with CUDA 13: functions have other parameters under
// the same name, those that CUDA 12 calls by a name with an ending lost it, and structures grew. A
// program of CUDA 12 calls the old functions and gives the small structures, so whoever fills one,
// or takes other parameters, has to know which of the two the program is of.

#include "grammar/fat_binary.h"

#include <driver_types.h>

#include <cstddef>
#include <vector>

namespace ptxasw::wrapper {

/// True if the program was compiled with the headers of CUDA 12: the PTX of the first fat binary it
/// registered is older than version 9.0 (PTX ISA, "Release Notes": CUDA 13.0 brought 9.0). Of what
/// is linked with libcudart.so.12 nobody asks: it calls functions of its own (forward_12.sh).
bool is_of_cuda_12();

/// True if the structures to fill may be those of CUDA 12.
bool gives_small_structures();

/// The images of a fat binary that the program registers.
void note_program(const std::vector<FatImage> &images);

/// cudaMemcpyBatchAsync, which has one parameter less than in CUDA 12.
cudaError_t copy_batch(void *const *to, const void *const *from, const std::size_t *sizes,
                       std::size_t count, cudaStream_t stream);

/// cudaGraphKernelNodeCopyAttributes, whose parameters CUDA 12 has the other way round.
cudaError_t copy_attributes(cudaGraphNode_t to, cudaGraphNode_t from);

} // namespace ptxasw::wrapper

// What CUDA 12 has under these names is what CUDA 13 has without the ending: where two functions
// share a name, the newer one is defined under that of CUDA 12, and changed.cpp has the name
// itself.
extern "C" {
cudaError_t cudaMemPrefetchAsync_v2(const void *address, std::size_t size, cudaMemLocation where,
                                    unsigned flags, cudaStream_t stream);
cudaError_t cudaMemAdvise_v2(const void *address, std::size_t size, cudaMemoryAdvise advice,
                             cudaMemLocation where);
cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *before, const cudaGraphEdgeData *data,
                                std::size_t count, cudaGraphNodeParams *parameters);
cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *data, std::size_t *count);
cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *list,
                                            cudaGraphEdgeData *data, std::size_t *count);
cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *list,
                                              cudaGraphEdgeData *data, std::size_t *count);
cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                        std::size_t count);
cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const cudaGraphEdgeData *data,
                                           std::size_t count);
cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *before,
                                                   const cudaGraphEdgeData *data, std::size_t count,
                                                   unsigned flags);
}
