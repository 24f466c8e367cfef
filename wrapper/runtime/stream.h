#pragma once

// Streams, events and graphs. A stream does at once what it is asked, or notes it in a graph while
// it is being captured.

#include "wrapper/runtime/launch.h"

#include <chrono>
#include <set>
#include <variant>

namespace ptxasw::wrapper {

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
/// Of a graph's memory: its address stays, and the next launch allocates it again.
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

/// Destroys all streams, with what is being captured of them.
void forget_streams();

/// A copy of a row of bytes as a copy in three dimensions.
cudaMemcpy3DParms row_copy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind);
/// An address for memory of a graph, which its launch allocates.
cudaError_t allocate_in_graph(void **to, std::size_t size);
/// Returns true if a node of a graph may free what is there: memory of a graph that no other of its
/// nodes frees.
bool may_release(const CUgraph_st &graph, const void *address);
/// Bytes of a variable of the program's, from an offset on; or the error.
cudaError_t within(const void *symbol, std::size_t offset, std::size_t count, char *&place);
/// Success if a copy or a set is possible; `now`: at once, not once a graph is launched.
cudaError_t check_copy(const cudaMemcpy3DParms &copy, bool now = false);
cudaError_t check_set(const cudaMemsetParams &set, bool now = false);
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
  CUgraphNode_st(CUgraph_st *in, ptxasw::wrapper::Work what, std::vector<CUgraphNode_st *> behind);
  ~CUgraphNode_st();
  CUgraphNode_st(const CUgraphNode_st &) = delete;
  CUgraphNode_st &operator=(const CUgraphNode_st &) = delete;

  CUgraph_st *graph = nullptr;
  ptxasw::wrapper::Work work;
  std::vector<CUgraphNode_st *> before; ///< nodes that it depends on
  bool enabled = true;
  CUgraphNode_st *original = nullptr; ///< of a clone's
  std::vector<void *> arguments;      ///< of its kernel, as they were asked for last
};

struct CUgraph_st {
  CUgraph_st();
  ~CUgraph_st();
  CUgraph_st(const CUgraph_st &) = delete;
  CUgraph_st &operator=(const CUgraph_st &) = delete;

  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  bool is_moved = false; ///< into a node of another graph, which owns it

  CUgraphNode_st *add(ptxasw::wrapper::Work work, std::vector<CUgraphNode_st *> before);
  std::unique_ptr<CUgraph_st> clone() const;
  /// In an order in which every node comes after those that it depends on; fewer than all where
  /// there is none.
  std::vector<CUgraphNode_st *> in_order() const;
  /// Returns true if nodes of it, or of graphs in it, allocate or free memory.
  bool has_memory() const;
};

struct CUgraphExec_st {
  std::unique_ptr<CUgraph_st> graph;
  unsigned long long flags = 0;
  const CUgraph_st *of = nullptr; ///< what it was made of; null: that is no more
};

struct CUstream_st {
  unsigned flags = 0;
  int priority = 0;
  unsigned long long id = 0;
  std::shared_ptr<ptxasw::wrapper::Capture> capture;
  std::vector<CUgraphNode_st *> last; ///< what the next node depends on
  std::map<int, cudaLaunchAttributeValue> attributes;
};

struct CUevent_st {
  unsigned flags = 0;
  bool recorded = false;
  std::chrono::steady_clock::time_point time;
  std::weak_ptr<ptxasw::wrapper::Capture> capture;
  std::vector<CUgraphNode_st *> nodes;
};

namespace ptxasw::wrapper {

/// The stream that a handle means; null: there is none.
CUstream_st *find_stream(cudaStream_t handle);
CUevent_st *find_event(cudaEvent_t handle);
/// Returns true of a handle of something that there is.
bool is_graph(cudaGraph_t handle);
bool is_node(cudaGraphNode_t handle);
/// Returns true if all of a list are nodes of a graph.
bool are_nodes_of(const CUgraph_st *graph, const cudaGraphNode_t *list, std::size_t count);
/// Does what a graph says, in an order that it allows.
cudaError_t perform(const CUgraph_st &graph);

} // namespace ptxasw::wrapper
