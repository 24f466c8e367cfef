// Graphs as data: nodes with what they do. An executable graph is a copy of one.

#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fmt/core.h>
#include <map>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

using namespace ptxasw::wrapper;

namespace {

std::unordered_set<CUgraphExec_st *> &executables() {
  static auto *const all = new std::unordered_set<CUgraphExec_st *>;
  return *all;
}

/// A node's parameters for a kernel as a call of it; or the error.
cudaError_t call_of(const cudaKernelNodeParams *from, KernelCall &call) {
  if (!from || from->extra)
    return cudaErrorInvalidValue;
  return prepare(from->func, from->gridDim, from->blockDim, from->kernelParams,
                 from->sharedMemBytes, call);
}

/// Returns true if a graph is another one, or in it.
bool contains(const CUgraph_st &graph, const CUgraph_st *other) {
  return &graph == other ||
         std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto &node) {
           const auto *const child = std::get_if<ChildGraph>(&node->work);
           return child && contains(*child->graph, other);
         });
}

cudaError_t add(cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *before,
                std::size_t count, Work work) {
  if (!node || !is_graph(graph) || !are_nodes_of(graph, before, count))
    return cudaErrorInvalidValue;
  if (const auto *child = std::get_if<ChildGraph>(&work); child && contains(*child->graph, graph))
    return cudaErrorInvalidValue;
  if (const auto *release = std::get_if<Release>(&work);
      release && !may_release(*graph, release->address))
    return cudaErrorInvalidValue;
  if (const auto *child = std::get_if<ChildGraph>(&work))
    child->graph->is_moved = true; // the node's, whoever asks for it
  *node = graph->add(std::move(work), {before, before + count});
  return cudaSuccess;
}

/// The work of the node of an executable graph that was made of a node, if it is of that kind.
Work *work_in(cudaGraphExec_t executable, cudaGraphNode_t node) {
  if (executables().contains(executable) && is_node(node))
    for (const auto &copy : executable->graph->nodes)
      if (copy->original == node)
        return &copy->work;
  return nullptr;
}
template <class Kind> Kind *work_in(cudaGraphExec_t executable, cudaGraphNode_t node) {
  Work *const work = work_in(executable, node);
  return work ? std::get_if<Kind>(work) : nullptr;
}

template <class Kind> Kind *work_of(cudaGraphNode_t node) {
  return is_node(node) ? std::get_if<Kind>(&node->work) : nullptr;
}

template <class Kind> cudaError_t replace(Kind *place, const Kind &by) {
  if (!place)
    return cudaErrorInvalidValue;
  *place = by;
  return cudaSuccess;
}

cudaError_t replace_call(KernelCall *place, const cudaKernelNodeParams *by) {
  KernelCall call;
  if (!place)
    return cudaErrorInvalidValue;
  const cudaError_t error = call_of(by, call);
  return error == cudaSuccess ? replace(place, call) : error;
}

cudaError_t instantiate(cudaGraphExec_t *executable, cudaGraph_t graph, unsigned long long flags) {
  if (!executable || !is_graph(graph) || graph->is_moved)
    return cudaErrorInvalidValue;
  *executable = nullptr;
  // Of a graph with memory there may be one at a time.
  if (graph->has_memory() && std::any_of(executables().begin(), executables().end(),
                                         [&](const auto *other) { return other->of == graph; }))
    return cudaErrorInvalidValue;
  if (graph->in_order().size() != graph->nodes.size())
    return cudaErrorInvalidValue; // it goes in circles
  *executable = new CUgraphExec_st{graph->clone(), flags, graph};
  executables().insert(*executable);
  return cudaSuccess;
}

/// Writes a list of nodes as the API wants it: as many as there is room for.
cudaError_t give(const std::vector<CUgraphNode_st *> &list, cudaGraphNode_t *to,
                 std::size_t *count) {
  if (!count)
    return cudaErrorInvalidValue;
  if (to) {
    std::copy_n(list.begin(), std::min(list.size(), *count), to);
    std::fill(to + std::min(list.size(), *count), to + *count, nullptr);
  }
  *count = to ? std::min(list.size(), *count) : list.size();
  return cudaSuccess;
}

/// Returns true if there is an edge between two nodes.
bool is_before(const CUgraphNode_st *from, const CUgraphNode_st *to) {
  return std::find(to->before.begin(), to->before.end(), from) != to->before.end();
}

std::vector<CUgraphNode_st *> after(const CUgraphNode_st *node) {
  std::vector<CUgraphNode_st *> result;
  for (const auto &other : node->graph->nodes)
    if (is_before(node, other.get()))
      result.push_back(other.get());
  return result;
}

template <class Body> cudaError_t locked(Body body) { return device().call(body); }

/// Returns true if so many pairs are different nodes of a graph.
bool are_edges(cudaGraph_t graph, const cudaGraphNode_t *from, const cudaGraphNode_t *to,
               std::size_t count) {
  if (!is_graph(graph) || !are_nodes_of(graph, from, count) || !are_nodes_of(graph, to, count))
    return false;
  for (std::size_t i = 0; i < count; ++i)
    if (from[i] == to[i])
      return false;
  return true;
}

/// A copy of a row of bytes to a variable, or from one; the other side's bytes are at `other`.
template <class Copy>
cudaError_t with_symbol(const void *symbol, std::size_t offset, std::size_t bytes, Copy copy) {
  char *place = nullptr;
  const cudaError_t error = locked([&] { return within(symbol, offset, bytes, place); });
  return error == cudaSuccess ? copy(place) : error;
}

/// Returns true of a graph of which a node may have a copy: memory cannot be allocated twice.
bool may_be_child(cudaGraph_t graph) { return is_graph(graph) && !graph->has_memory(); }

/// Work that a node of any type is to do; or the error. Memory that it allocates is written back.
cudaError_t work_from(cudaGraphNodeParams *from, const char *asked, Work &work) {
  if (!from)
    return cudaErrorInvalidValue;
  switch (from->type) {
  case cudaGraphNodeTypeKernel: {
    const auto &kernel = from->kernel;
    const cudaKernelNodeParams same{kernel.func,           kernel.gridDim,      kernel.blockDim,
                                    kernel.sharedMemBytes, kernel.kernelParams, kernel.extra};
    KernelCall call;
    const cudaError_t error = call_of(&same, call);
    work = std::move(call);
    return error;
  }
  case cudaGraphNodeTypeMemcpy:
    work = from->memcpy.copyParams;
    return check_copy(from->memcpy.copyParams);
  case cudaGraphNodeTypeMemset: {
    const auto &set = from->memset;
    const cudaMemsetParams same{set.dst,         set.pitch, set.value,
                                set.elementSize, set.width, set.height};
    work = same;
    return check_set(same);
  }
  case cudaGraphNodeTypeHost:
    work = HostCall{from->host.fn, from->host.userData};
    return from->host.fn ? cudaSuccess : cudaErrorInvalidValue;
  case cudaGraphNodeTypeGraph:
    if (!may_be_child(from->graph.graph) &&
        !(is_graph(from->graph.graph) && from->graph.ownership == cudaGraphChildGraphOwnershipMove))
      return cudaErrorInvalidValue;
    work = ChildGraph{from->graph.graph->clone()};
    return cudaSuccess;
  case cudaGraphNodeTypeEmpty:
    work = Nothing{};
    return cudaSuccess;
  case cudaGraphNodeTypeWaitEvent:
    work = EventWait{from->eventWait.event};
    return find_event(from->eventWait.event) ? cudaSuccess : cudaErrorInvalidValue;
  case cudaGraphNodeTypeEventRecord:
    work = EventRecord{from->eventRecord.event};
    return find_event(from->eventRecord.event) ? cudaSuccess : cudaErrorInvalidValue;
  case cudaGraphNodeTypeMemAlloc: {
    const std::size_t bytes = from->alloc.bytesize;
    const cudaError_t error = allocate_in_graph(&from->alloc.dptr, bytes);
    work = Allocate{from->alloc.dptr, bytes};
    return error;
  }
  case cudaGraphNodeTypeMemFree:
    work = Release{from->free.dptr};
    return cudaSuccess;
  default:
    return Device::refuse(asked, "semaphores and conditions are not emulated");
  }
}

/// The memory that work allocates or frees; null: it does neither.
void *memory_at(const Work &work) {
  if (const auto *allocation = std::get_if<Allocate>(&work))
    return allocation->address;
  const auto *const release = std::get_if<Release>(&work);
  return release ? release->address : nullptr;
}

/// Memory that an earlier launch has allocated is freed if the executable was made so; or the
/// error.
cudaError_t end_earlier_memory(const CUgraph_st &graph, unsigned long long flags) {
  for (const auto &node : graph.nodes) {
    cudaError_t error = cudaSuccess;
    if (const auto *child = std::get_if<ChildGraph>(&node->work))
      error = end_earlier_memory(*child->graph, flags);
    if (const auto *allocation = std::get_if<Allocate>(&node->work)) {
      const auto *const block = device().allocations().find(allocation->address);
      if (block && !block->second.asleep)
        error = flags & cudaGraphInstantiateFlagAutoFreeOnLaunch
                    ? device().allocations().remove(allocation->address, MemoryKind::device)
                    : cudaErrorInvalidValue;
    }
    if (error != cudaSuccess)
      return error;
  }
  return cudaSuccess;
}

/// Gives a node other parameters for the work it does already.
cudaError_t replace_work(Work *place, cudaGraphNodeParams *by, const char *asked) {
  Work work;
  if (!place || !by)
    return cudaErrorInvalidValue;
  if (by->type != type_of(*place) || by->type == cudaGraphNodeTypeMemAlloc ||
      by->type == cudaGraphNodeTypeMemFree)
    return cudaErrorInvalidValue;
  const cudaError_t error = work_from(by, asked, work);
  if (error == cudaSuccess)
    *place = std::move(work);
  return error;
}

/// The same for a copy or for setting memory, if that is possible.
template <class Kind>
cudaError_t replace_right(Kind *place, const Kind *by, cudaError_t (*check)(const Kind &, bool)) {
  if (!place || !by)
    return cudaErrorInvalidValue;
  const cudaError_t error = check(*by, false);
  return error == cudaSuccess ? replace(place, *by) : error;
}

/// The copy of a node that may be left out of what is executed; null: there is none.
CUgraphNode_st *may_be_off(cudaGraphExec_t executable, cudaGraphNode_t node) {
  if (!executables().contains(executable))
    return nullptr;
  for (const auto &copy : executable->graph->nodes)
    if (copy->original == node) {
      const cudaGraphNodeType type = type_of(copy->work);
      return type == cudaGraphNodeTypeKernel || type == cudaGraphNodeTypeMemcpy ||
                     type == cudaGraphNodeTypeMemset
                 ? copy.get()
                 : nullptr;
    }
  return nullptr;
}

/// An attribute of a kernel's launch; those that make no difference here are 0.
void get_attribute(const KernelCall &call, cudaLaunchAttributeID id,
                   cudaLaunchAttributeValue &value) {
  value = {};
  if (id == cudaLaunchAttributeCooperative)
    value.cooperative = call.cooperative ? 1 : 0;
  else if (id == cudaLaunchAttributeClusterDimension && call.cluster)
    value.clusterDim = {call.cluster->x, call.cluster->y, call.cluster->z};
}
void set_attribute(KernelCall &call, cudaLaunchAttributeID id,
                   const cudaLaunchAttributeValue &value) {
  if (id == cudaLaunchAttributeCooperative)
    call.cooperative = value.cooperative != 0;
  else if (id == cudaLaunchAttributeClusterDimension)
    call.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

/// Waits and records of events are alike.
template <class Kind> cudaError_t give_event(cudaGraphNode_t node, cudaEvent_t *event) {
  return locked([&] {
    const Kind *const known = work_of<Kind>(node);
    return known && event ? (*event = known->event, cudaSuccess) : cudaErrorInvalidValue;
  });
}
template <class Kind> cudaError_t take_event(Kind *place, cudaEvent_t event) {
  return find_event(event) ? replace(place, Kind{event}) : cudaErrorInvalidValue;
}

/// What a node does, as a picture of the graph says it.
std::string label_of(const CUgraphNode_st &node) {
  static constexpr const char *names[] = {"kernel",
                                          "copy",
                                          "set",
                                          "host function",
                                          "graph",
                                          "nothing",
                                          "wait for an event",
                                          "record an event",
                                          "allocate",
                                          "free"};
  const auto *const call = std::get_if<KernelCall>(&node.work);
  return call ? call->kernel->name : names[node.work.index()];
}

void print_graph(const CUgraph_st &graph, const std::string &prefix, std::FILE *to) {
  std::map<const CUgraphNode_st *, std::string> names;
  for (const auto &node : graph.nodes) {
    const std::string name = names[node.get()] = fmt::format("{}{}", prefix, names.size());
    fmt::print(to, "  {} [label=\"{}\"];\n", name, label_of(*node));
    if (const auto *const child = std::get_if<ChildGraph>(&node->work)) {
      fmt::print(to, "  subgraph cluster_{} {{\n", name);
      print_graph(*child->graph, name + "_", to);
      fmt::print(to, "  }}\n");
    }
  }
  for (const auto &node : graph.nodes)
    for (const CUgraphNode_st *const before : node->before)
      fmt::print(to, "  {} -> {};\n", names.at(before), names.at(node.get()));
}

} // namespace

cudaError_t ptxasw::wrapper::copy_attributes(cudaGraphNode_t to, cudaGraphNode_t from) {
  return locked([&] {
    auto *const into = work_of<KernelCall>(to);
    const auto *const of = work_of<KernelCall>(from);
    if (!into || !of)
      return cudaErrorInvalidValue;
    into->cooperative = of->cooperative;
    into->cluster = of->cluster;
    return cudaSuccess;
  });
}

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags) {
  return locked([&] {
    return graph && flags == 0 ? (*graph = new CUgraph_st, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return locked([&] {
    if (!is_graph(graph) || graph->is_moved)
      return cudaErrorInvalidValue;
    for (CUgraphExec_st *const executable : executables())
      if (executable->of == graph)
        executable->of = nullptr;
    delete graph;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t *copy, cudaGraph_t graph) {
  return locked([&] {
    return copy && may_be_child(graph) ? (*copy = graph->clone().release(), cudaSuccess)
                                       : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *copy, cudaGraphNode_t node,
                                     cudaGraph_t graph) {
  return locked([&] {
    if (!copy || !is_graph(graph) || !is_node(node))
      return cudaErrorInvalidValue;
    for (const auto &one : graph->nodes)
      if (one->original == node)
        return *copy = one.get(), cudaSuccess;
    return cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, std::size_t count,
                                   const cudaKernelNodeParams *parameters) {
  return locked([&] {
    KernelCall call;
    const cudaError_t error = call_of(parameters, call);
    return error == cudaSuccess ? add(node, graph, before, count, std::move(call)) : error;
  });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                         const cudaKernelNodeParams *parameters) {
  return locked([&] { return replace_call(work_of<KernelCall>(node), parameters); });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams *parameters) {
  return locked([&] { return replace_call(work_in<KernelCall>(executable, node), parameters); });
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, std::size_t count,
                                   const cudaMemcpy3DParms *copy) {
  return locked([&] {
    if (!copy)
      return cudaErrorInvalidValue;
    const cudaError_t error = check_copy(*copy);
    return error == cudaSuccess ? add(node, graph, before, count, *copy) : error;
  });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, std::size_t count, void *to,
                                     const void *from, std::size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = row_copy(to, from, bytes, kind);
  return cudaGraphAddMemcpyNode(node, graph, before, count, &copy);
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms *copy) {
  return locked([&] {
    const auto *known = work_of<cudaMemcpy3DParms>(node);
    return known && copy ? (*copy = *known, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms *copy) {
  return locked([&] { return replace_right(work_of<cudaMemcpy3DParms>(node), copy, check_copy); });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *to, const void *from,
                                           std::size_t bytes, cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = row_copy(to, from, bytes, kind);
  return cudaGraphMemcpyNodeSetParams(node, &copy);
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms *copy) {
  return locked([&] {
    return replace_right(work_in<cudaMemcpy3DParms>(executable, node), copy, check_copy);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               void *to, const void *from, std::size_t bytes,
                                               cudaMemcpyKind kind) {
  const cudaMemcpy3DParms copy = row_copy(to, from, bytes, kind);
  return cudaGraphExecMemcpyNodeSetParams(executable, node, &copy);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                   const cudaGraphNode_t *before, std::size_t count,
                                   const cudaMemsetParams *set) {
  return locked([&] {
    if (!set)
      return cudaErrorInvalidValue;
    const cudaError_t error = check_set(*set);
    return error == cudaSuccess ? add(node, graph, before, count, *set) : error;
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams *set) {
  return locked([&] {
    const auto *known = work_of<cudaMemsetParams>(node);
    return known && set ? (*set = *known, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams *set) {
  return locked([&] { return replace_right(work_of<cudaMemsetParams>(node), set, check_set); });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaMemsetParams *set) {
  return locked(
      [&] { return replace_right(work_in<cudaMemsetParams>(executable, node), set, check_set); });
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                 const cudaGraphNode_t *before, std::size_t count,
                                 const cudaHostNodeParams *host) {
  return locked([&] {
    return host && host->fn ? add(node, graph, before, count, HostCall{host->fn, host->userData})
                            : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams *host) {
  return locked([&] {
    const auto *known = work_of<HostCall>(node);
    return known && host ? (*host = {known->function, known->argument}, cudaSuccess)
                         : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams *host) {
  return locked([&] {
    return host && host->fn ? replace(work_of<HostCall>(node), HostCall{host->fn, host->userData})
                            : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                           const cudaHostNodeParams *host) {
  return locked([&] {
    return host && host->fn
               ? replace(work_in<HostCall>(executable, node), HostCall{host->fn, host->userData})
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                       const cudaGraphNode_t *before, std::size_t count,
                                       cudaGraph_t child) {
  return locked([&] {
    return may_be_child(child) ? add(node, graph, before, count, ChildGraph{child->clone()})
                               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph) {
  return locked([&] {
    const auto *known = work_of<ChildGraph>(node);
    return known && graph ? (*graph = known->graph.get(), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                  const cudaGraphNode_t *before, std::size_t count) {
  return locked([&] { return add(node, graph, before, count, Nothing{}); });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *before, std::size_t count,
                                        cudaEvent_t event) {
  return locked([&] {
    return find_event(event) ? add(node, graph, before, count, EventRecord{event})
                             : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                      const cudaGraphNode_t *before, std::size_t count,
                                      cudaEvent_t event) {
  return locked([&] {
    return find_event(event) ? add(node, graph, before, count, EventWait{event})
                             : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddNode_v2(cudaGraphNode_t *node, cudaGraph_t graph,
                                const cudaGraphNode_t *before, const cudaGraphEdgeData *,
                                std::size_t count, cudaGraphNodeParams *parameters) {
  return locked([&] {
    Work work;
    if (!node || !is_graph(graph) || !are_nodes_of(graph, before, count))
      return cudaErrorInvalidValue;
    if (const cudaError_t error = work_from(parameters, "cudaGraphAddNode", work);
        error != cudaSuccess)
      return error;
    const bool moves = parameters->type == cudaGraphNodeTypeGraph &&
                       parameters->graph.ownership == cudaGraphChildGraphOwnershipMove;
    CUgraph_st *const child = moves ? parameters->graph.graph : nullptr;
    if (child && (child->is_moved || contains(*child, graph)))
      return cudaErrorInvalidValue;
    const cudaError_t error = add(node, graph, before, count, std::move(work));
    if (child && error == cudaSuccess) {
      child->is_moved = true;
      (*node)->work = ChildGraph{std::shared_ptr<CUgraph_st>(child)};
    }
    return error;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams *parameters) {
  return locked([&] {
    return replace_work(is_node(node) ? &node->work : nullptr, parameters,
                        "cudaGraphNodeSetParams");
  });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                       cudaGraphNodeParams *parameters) {
  return locked([&] {
    return replace_work(work_in(executable, node), parameters, "cudaGraphExecNodeSetParams");
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams *to) {
  return locked([&] {
    auto *const call = work_of<KernelCall>(node);
    if (!call || !to)
      return cudaErrorInvalidValue;
    const Function &kernel =
        *call->kernel->module->program().function(*find_in_program(*call->kernel)).function;
    node->arguments.clear();
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i)
      node->arguments.push_back(call->parameters.data() + kernel_parameter_offset(kernel, i));
    *to = {const_cast<void *>(call->function),
           {call->grid.x, call->grid.y, call->grid.z},
           {call->block.x, call->block.y, call->block.z},
           call->shared,
           node->arguments.data(),
           nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            cudaLaunchAttributeValue *value) {
  return locked([&] {
    const auto *const call = work_of<KernelCall>(node);
    return call && value ? (get_attribute(*call, id, *value), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                            const cudaLaunchAttributeValue *value) {
  return locked([&] {
    auto *const call = work_of<KernelCall>(node);
    return call && value ? (set_attribute(*call, id, *value), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
  return give_event<EventRecord>(node, event);
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) {
  return give_event<EventWait>(node, event);
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return locked([&] { return take_event(work_of<EventRecord>(node), event); });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return locked([&] { return take_event(work_of<EventWait>(node), event); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaEvent_t event) {
  return locked([&] { return take_event(work_in<EventRecord>(executable, node), event); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node,
                                               cudaEvent_t event) {
  return locked([&] { return take_event(work_in<EventWait>(executable, node), event); });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                                 cudaGraph_t child) {
  return locked([&] {
    return may_be_child(child)
               ? replace(work_in<ChildGraph>(executable, node), ChildGraph{child->clone()})
               : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *before, std::size_t count,
                                           const void *symbol, const void *from, std::size_t bytes,
                                           std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *to) {
    return cudaGraphAddMemcpyNode1D(node, graph, before, count, to, from, bytes, kind);
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *before, std::size_t count,
                                             void *to, const void *symbol, std::size_t bytes,
                                             std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *from) {
    return cudaGraphAddMemcpyNode1D(node, graph, before, count, to, from, bytes, kind);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                 const void *from, std::size_t bytes,
                                                 std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *to) {
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *to,
                                                   const void *symbol, std::size_t bytes,
                                                   std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *from) {
    return cudaGraphMemcpyNodeSetParams1D(node, to, from, bytes, kind);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t node, const void *symbol,
                                                     const void *from, std::size_t bytes,
                                                     std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *to) {
    return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t node, void *to,
                                                       const void *symbol, std::size_t bytes,
                                                       std::size_t offset, cudaMemcpyKind kind) {
  return with_symbol(symbol, offset, bytes, [&](void *from) {
    return cudaGraphExecMemcpyNodeSetParams1D(executable, node, to, from, bytes, kind);
  });
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                     const cudaGraphNode_t *before, std::size_t count,
                                     cudaMemAllocNodeParams *parameters) {
  return locked([&] {
    if (!parameters || !node || !is_graph(graph) || !are_nodes_of(graph, before, count))
      return cudaErrorInvalidValue;
    const std::size_t bytes = parameters->bytesize;
    const cudaError_t error = allocate_in_graph(&parameters->dptr, bytes);
    return error == cudaSuccess ? add(node, graph, before, count, Allocate{parameters->dptr, bytes})
                                : error;
  });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams *to) {
  return locked([&] {
    const auto *const known = work_of<Allocate>(node);
    if (!known || !to)
      return cudaErrorInvalidValue;
    *to = {};
    to->poolProps.allocType = cudaMemAllocationTypePinned;
    to->poolProps.location = {cudaMemLocationTypeDevice, 0};
    to->bytesize = known->size;
    to->dptr = known->address;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *before, std::size_t count,
                                    void *address) {
  return locked([&] { return add(node, graph, before, count, Release{address}); });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *address) {
  return locked([&] {
    const auto *const known = work_of<Release>(node);
    return known && address
               ? (std::memcpy(address, &known->address, sizeof known->address), cudaSuccess)
               : cudaErrorInvalidValue;
  });
}

/// Memory of graphs is never in reserve.
cudaError_t cudaDeviceGraphMemTrim(int number) {
  return Device::remember(number == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned) {
  return locked([&] {
    std::FILE *const file = is_graph(graph) && path ? std::fopen(path, "w") : nullptr;
    if (!file)
      return cudaErrorInvalidValue;
    fmt::print(file, "digraph graph_0 {{\n");
    print_graph(*graph, "node", file);
    fmt::print(file, "}}\n");
    return std::fclose(file) == 0 ? cudaSuccess : cudaErrorUnknown;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType *type) {
  return locked([&] {
    return is_node(node) && type ? (*type = type_of(node->work), cudaSuccess)
                                 : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
  return locked([&] {
    if (!is_graph(graph))
      return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st *> list;
    for (const auto &node : graph->nodes)
      list.push_back(node.get());
    return give(list, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, std::size_t *count) {
  return locked([&] {
    if (!is_graph(graph))
      return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st *> list;
    for (const auto &node : graph->nodes)
      if (node->before.empty())
        list.push_back(node.get());
    return give(list, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges_v2(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                 cudaGraphEdgeData *data, std::size_t *count) {
  return locked([&] {
    if (!is_graph(graph) || !count)
      return cudaErrorInvalidValue;
    std::vector<CUgraphNode_st *> begins, ends;
    for (const auto &node : graph->nodes)
      for (CUgraphNode_st *before : node->before) {
        begins.push_back(before);
        ends.push_back(node.get());
      }
    std::size_t copy = *count;
    if (data)
      std::fill_n(data, from ? std::min(copy, begins.size()) : 0, cudaGraphEdgeData{});
    const cudaError_t error = give(begins, from, count);
    return error == cudaSuccess && to ? give(ends, to, &copy) : error;
  });
}

cudaError_t cudaGraphNodeGetDependencies_v2(cudaGraphNode_t node, cudaGraphNode_t *list,
                                            cudaGraphEdgeData *, std::size_t *count) {
  return locked(
      [&] { return is_node(node) ? give(node->before, list, count) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t node, cudaGraphNode_t *list,
                                              cudaGraphEdgeData *, std::size_t *count) {
  return locked(
      [&] { return is_node(node) ? give(after(node), list, count) : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                        const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                        std::size_t count) {
  return locked([&] {
    if (!are_edges(graph, from, to, count))
      return cudaErrorInvalidValue;
    std::set<std::pair<cudaGraphNode_t, cudaGraphNode_t>> edges;
    for (std::size_t i = 0; i < count; ++i)
      if (is_before(from[i], to[i]) || !edges.emplace(from[i], to[i]).second)
        return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      to[i]->before.push_back(from[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRemoveDependencies_v2(cudaGraph_t graph, const cudaGraphNode_t *from,
                                           const cudaGraphNode_t *to, const cudaGraphEdgeData *,
                                           std::size_t count) {
  return locked([&] {
    if (!are_edges(graph, from, to, count) || (count != 0 && graph->has_memory()))
      return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      if (!is_before(from[i], to[i]))
        return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i)
      std::erase(to[i]->before, from[i]);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return locked([&] {
    if (!is_node(node) || node->graph->has_memory())
      return cudaErrorInvalidValue;
    CUgraph_st *const graph = node->graph;
    for (const auto &other : graph->nodes)
      std::erase(other->before, node);
    std::erase_if(graph->nodes, [&](const auto &one) { return one.get() == node; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *executable, cudaGraph_t graph,
                                 unsigned long long flags) {
  return locked([&] { return instantiate(executable, graph, flags); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *executable, cudaGraph_t graph,
                                           cudaGraphInstantiateParams *parameters) {
  return locked([&] {
    if (!parameters)
      return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(executable, graph, parameters->flags);
    parameters->result_out =
        error == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return error;
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t executable, unsigned long long *flags) {
  return locked([&] {
    return executables().contains(executable) && flags ? (*flags = executable->flags, cudaSuccess)
                                                       : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  return locked(
      [&] { return executables().contains(executable) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return locked([&] {
    if (!executables().contains(executable))
      return cudaErrorInvalidValue;
    if (executable->graph->has_memory()) {
      const CUstream_st *const known = find_stream(stream);
      if (known && known->capture)
        return cudaErrorInvalidValue; // it would be a node of another graph
      if (const cudaError_t error = end_earlier_memory(*executable->graph, executable->flags);
          error != cudaSuccess)
        return error;
    }
    return enqueue(stream, ChildGraph{executable->graph->clone()});
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return locked([&] {
    if (!executables().erase(executable))
      return cudaErrorInvalidValue;
    delete executable;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *result) {
  return locked([&] {
    if (!executables().contains(executable) || !is_graph(graph))
      return cudaErrorInvalidValue;
    auto &old = executable->graph->nodes;
    const auto say_no = [&](cudaGraphExecUpdateResult why, CUgraphNode_st *node) {
      if (result)
        *result = {why, node, nullptr};
      return cudaErrorGraphExecUpdateFailure;
    };
    if (old.size() != graph->nodes.size())
      return say_no(cudaGraphExecUpdateErrorTopologyChanged, nullptr);
    const auto number = [](const auto &nodes, const CUgraphNode_st *node) {
      return std::find_if(nodes.begin(), nodes.end(),
                          [&](const auto &one) { return one.get() == node; }) -
             nodes.begin();
    };
    for (std::size_t i = 0; i < old.size(); ++i) {
      CUgraphNode_st *const node = graph->nodes[i].get();
      if (node->before.size() != old[i]->before.size())
        return say_no(cudaGraphExecUpdateErrorTopologyChanged, node);
      for (std::size_t k = 0; k < node->before.size(); ++k)
        if (number(graph->nodes, node->before[k]) != number(old, old[i]->before[k]))
          return say_no(cudaGraphExecUpdateErrorTopologyChanged, node);
      if (node->work.index() != old[i]->work.index())
        return say_no(cudaGraphExecUpdateErrorNodeTypeChanged, node);
      if (memory_at(node->work) != memory_at(old[i]->work))
        return say_no(cudaGraphExecUpdateErrorParametersChanged, node);
    }
    for (std::size_t i = 0; i < old.size(); ++i) {
      old[i]->work = graph->nodes[i]->work;
      old[i]->original = graph->nodes[i].get();
    }
    if (result)
      *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned enabled) {
  return locked([&] {
    CUgraphNode_st *const copy = may_be_off(executable, node);
    return copy ? (copy->enabled = enabled != 0, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t node,
                                    unsigned *enabled) {
  return locked([&] {
    const CUgraphNode_st *const copy = may_be_off(executable, node);
    return copy && enabled ? (*enabled = copy->enabled, cudaSuccess) : cudaErrorInvalidValue;
  });
}

} // extern "C"
