#pragma once

// Streams, events and graphs. A stream does at once what it is asked, or notes it in a graph while
// it is being captured.

#include "wrapper/runtime/launch.h"

#include <chrono>
#include <set>
#include <variant>

namespace ptxasw::inline wrapper {

struct HostCall {
  cudaHostFn_t function = nullptr;
  void *argument = nullptr;
};
struct EventRecord {
  cudaEvent_t event = nullptr;
};
struct EventWait {
  cudaEvent_t event = nullptr;
};
struct Allocate {
  void *address = nullptr;
  std::uint64_t size = 0;
};
/// Of a graph's memory: it stays where it is, as the next launch allocates it again.
struct Release {
  void *address = nullptr;
};
struct ChildGraph {
  std::shared_ptr<CUgraph_st> graph;
};
struct Nothing {};

/// What a stream or a node of a graph does.
using Work = std::variant<KernelCall, cudaMemcpy3DParms, cudaMemsetParams, HostCall, ChildGraph,
                          Nothing, EventWait, EventRecord, Allocate, Release>;

cudaGraphNodeType type_of(const Work &work);
/// Does it, now.
cudaError_t perform(const Work &work);
/// Does it, or notes it where the stream is being captured.
cudaError_t enqueue(cudaStream_t stream, Work work);

/// A copy of a row of bytes as a copy in three dimensions.
cudaMemcpy3DParms row_copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind);
/// Memory of a graph, which stays while the process runs or until the program frees it.
cudaError_t allocate_in_graph(void **to, std::size_t size);
/// Bytes of a variable of the program's, from an offset on; or the error.
cudaError_t within(const void *symbol, std::size_t offset, std::size_t count, char *&place);
/// Success if a copy or a set is possible.
cudaError_t check_copy(const cudaMemcpy3DParms &copy);
cudaError_t check_set(const cudaMemsetParams &set);
cudaError_t perform_copy(const cudaMemcpy3DParms &copy);
cudaError_t perform_set(const cudaMemsetParams &set);

/// A capture that is going on: of one stream, and of those that have joined it.
struct Capture {
  std::unique_ptr<CUgraph_st> graph;
  CUgraph_st *into = nullptr; ///< the graph that nodes are added to
  std::uint64_t id = 0;
  cudaStream_t origin = nullptr;
  std::set<cudaStream_t> streams;
  std::vector<CUgraphNode_st *> left; ///< what destroyed streams did last
  bool invalid = false;
};

} // namespace ptxasw::wrapper

struct CUgraphNode_st {
  CUgraph_st *graph = nullptr;
  ptxasw::Work work;
  std::vector<CUgraphNode_st *> before; ///< nodes that it depends on
  bool enabled = true;
  CUgraphNode_st *original = nullptr; ///< of a clone's
  std::vector<void *> arguments;      ///< of its kernel, as they were asked for last
};

struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  bool is_moved = false; ///< into a node of another graph, which owns it

  CUgraphNode_st *add(ptxasw::Work work, std::vector<CUgraphNode_st *> before);
  std::unique_ptr<CUgraph_st> clone() const;
  /// In an order in which every node comes after those that it depends on; fewer than all where
  /// there is none.
  std::vector<CUgraphNode_st *> in_order() const;
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;
  unsigned long long flags = 0;
};

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::shared_ptr<ptxasw::Capture> capture;
  std::vector<CUgraphNode_st *> last; ///< what the next node depends on
  std::map<int, cudaLaunchAttributeValue> attributes;
};

struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  std::weak_ptr<ptxasw::Capture> capture;
  std::vector<CUgraphNode_st *> nodes;
};

namespace ptxasw::inline wrapper {

/// The stream that a handle means; null: there is none.
CUstream_st *find_stream(cudaStream_t handle);
CUevent_st *find_event(cudaEvent_t handle);
/// Does what a graph says, in an order that it allows.
cudaError_t perform(const CUgraph_st &graph);

} // namespace ptxasw::wrapper
