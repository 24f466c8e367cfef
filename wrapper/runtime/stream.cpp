// Everything is done in the order in which the host asks for it, which every stream allows: what
// has been asked is done, so queries say so and waits return at once.

#include "wrapper/runtime/stream.h"
#include "wrapper/runtime/toolkit.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace ptxasw::wrapper {
namespace {

std::unordered_set<CUstream_st *> &streams() {
  static auto *const all = new std::unordered_set<CUstream_st *>;
  return *all;
}

std::unordered_set<CUevent_st *> &events() {
  static auto *const all = new std::unordered_set<CUevent_st *>;
  return *all;
}

std::unordered_set<CUgraph_st *> &known_graphs() {
  static auto *const all = new std::unordered_set<CUgraph_st *>;
  return *all;
}

std::unordered_set<CUgraphNode_st *> &known_nodes() {
  static auto *const all = new std::unordered_set<CUgraphNode_st *>;
  return *all;
}

/// Nodes that a node comes after, itself included.
void add_before(CUgraphNode_st *node, std::set<CUgraphNode_st *> &seen) {
  std::vector<CUgraphNode_st *> to_do{node};
  while (!to_do.empty()) {
    CUgraphNode_st *const next = to_do.back();
    to_do.pop_back();
    if (seen.insert(next).second)
      to_do.insert(to_do.end(), next->before.begin(), next->before.end());
  }
}

} // namespace

CUstream_st *find_stream(cudaStream_t handle) {
  static CUstream_st legacy{};
  thread_local CUstream_st of_thread{.id = 2};
  if (!handle || handle == cudaStreamLegacy)
    return &legacy;
  if (handle == cudaStreamPerThread)
    return &of_thread;
  return streams().contains(handle) ? handle : nullptr;
}

void forget_streams() {
  for (CUstream_st *const stream : std::exchange(streams(), {}))
    delete stream;
}

CUevent_st *find_event(cudaEvent_t handle) { return events().contains(handle) ? handle : nullptr; }

bool is_graph(cudaGraph_t handle) { return known_graphs().contains(handle); }
bool is_node(cudaGraphNode_t handle) { return known_nodes().contains(handle); }
bool are_nodes_of(const CUgraph_st *graph, const cudaGraphNode_t *list, std::size_t count) {
  return count == 0 || (list && std::all_of(list, list + count, [&](cudaGraphNode_t one) {
                          return is_node(one) && one->graph == graph;
                        }));
}

bool may_release(const CUgraph_st &graph, const void *address) {
  const auto *const block = device().allocations().find(address);
  return block && block->second.of_graph &&
         block->first == reinterpret_cast<std::uint64_t>(address) &&
         std::none_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto &node) {
           const auto *const other = std::get_if<Release>(&node->work);
           return other && other->address == address;
         });
}

cudaGraphNodeType type_of(const Work &work) {
  constexpr cudaGraphNodeType types[] = {cudaGraphNodeTypeKernel,    cudaGraphNodeTypeMemcpy,
                                         cudaGraphNodeTypeMemset,    cudaGraphNodeTypeHost,
                                         cudaGraphNodeTypeGraph,     cudaGraphNodeTypeEmpty,
                                         cudaGraphNodeTypeWaitEvent, cudaGraphNodeTypeEventRecord,
                                         cudaGraphNodeTypeMemAlloc,  cudaGraphNodeTypeMemFree};
  return types[work.index()];
}

cudaError_t perform(const Work &work) {
  if (const auto *call = std::get_if<KernelCall>(&work))
    return run(*call);
  if (const auto *copy = std::get_if<cudaMemcpy3DParms>(&work))
    return perform_copy(*copy);
  if (const auto *set = std::get_if<cudaMemsetParams>(&work))
    return perform_set(*set);
  if (const auto *host = std::get_if<HostCall>(&work))
    device().unlocked([&] { host->function(host->argument); });
  if (const auto *child = std::get_if<ChildGraph>(&work))
    return perform(*child->graph);
  if (const auto *allocation = std::get_if<Allocate>(&work))
    return device().allocations().wake(allocation->address);
  if (const auto *release = std::get_if<Release>(&work))
    return device().allocations().remove(release->address, MemoryKind::device);
  if (const auto *record = std::get_if<EventRecord>(&work)) {
    if (!find_event(record->event))
      return cudaErrorInvalidValue;
    record->event->recorded = true;
    record->event->time = std::chrono::steady_clock::now();
    record->event->capture.reset();
  }
  return cudaSuccess;
}

cudaError_t perform(const CUgraph_st &graph) {
  for (CUgraphNode_st *node : graph.in_order())
    if (node->enabled)
      if (const cudaError_t error = perform(node->work); error != cudaSuccess)
        return error;
  return cudaSuccess;
}

cudaError_t enqueue(cudaStream_t handle, Work work) {
  CUstream_st *const stream = find_stream(handle);
  if (!stream)
    return cudaErrorInvalidResourceHandle;
  if (!stream->capture)
    return perform(work);
  CUgraphNode_st *const node = stream->capture->into->add(std::move(work), stream->last);
  stream->last = {node};
  return cudaSuccess;
}

} // namespace ptxasw::wrapper

CUgraphNode_st::CUgraphNode_st(CUgraph_st *in, ptxasw::wrapper::Work what,
                               std::vector<CUgraphNode_st *> behind)
    : graph(in), work(std::move(what)), before(std::move(behind)) {
  ptxasw::wrapper::known_nodes().insert(this);
}
CUgraphNode_st::~CUgraphNode_st() { ptxasw::wrapper::known_nodes().erase(this); }

CUgraph_st::CUgraph_st() { ptxasw::wrapper::known_graphs().insert(this); }
CUgraph_st::~CUgraph_st() { ptxasw::wrapper::known_graphs().erase(this); }

bool CUgraph_st::has_memory() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const auto &node) {
    const auto *const child = std::get_if<ptxasw::wrapper::ChildGraph>(&node->work);
    return std::holds_alternative<ptxasw::wrapper::Allocate>(node->work) ||
           std::holds_alternative<ptxasw::wrapper::Release>(node->work) ||
           (child && child->graph->has_memory());
  });
}

CUgraphNode_st *CUgraph_st::add(ptxasw::wrapper::Work work, std::vector<CUgraphNode_st *> before) {
  nodes.push_back(std::make_unique<CUgraphNode_st>(this, std::move(work), std::move(before)));
  return nodes.back().get();
}

std::unique_ptr<CUgraph_st> CUgraph_st::clone() const {
  auto result = std::make_unique<CUgraph_st>();
  std::map<const CUgraphNode_st *, CUgraphNode_st *> copies;
  for (const auto &node : nodes) {
    CUgraphNode_st *const copy = copies[node.get()] = result->add(node->work, {});
    copy->enabled = node->enabled;
    copy->original = node.get();
  }
  for (const auto &node : nodes)
    for (const CUgraphNode_st *before : node->before)
      copies[node.get()]->before.push_back(copies.at(before));
  return result;
}

std::vector<CUgraphNode_st *> CUgraph_st::in_order() const {
  std::vector<CUgraphNode_st *> result;
  std::map<const CUgraphNode_st *, std::size_t> waits;
  std::map<const CUgraphNode_st *, std::vector<CUgraphNode_st *>> after;
  for (const auto &node : nodes) {
    waits[node.get()] = node->before.size();
    for (const CUgraphNode_st *before : node->before)
      after[before].push_back(node.get());
    if (node->before.empty())
      result.push_back(node.get());
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    for (CUgraphNode_st *next : after[result[i]])
      if (--waits[next] == 0)
        result.push_back(next);
  return result;
}

using namespace ptxasw::wrapper;

namespace {

cudaError_t create(cudaStream_t *stream, unsigned flags, int priority) {
  return device().call([&] {
    static unsigned long long next = 3;
    if (!stream || (flags & ~unsigned{cudaStreamNonBlocking}))
      return cudaErrorInvalidValue;
    *stream = new CUstream_st{.flags = flags, .priority = priority, .id = next++};
    streams().insert(*stream);
    return cudaSuccess;
  });
}

/// A call about a stream.
template <class Body> cudaError_t with(cudaStream_t handle, Body body) {
  return device().call([&] {
    CUstream_st *const stream = find_stream(handle);
    return stream ? body(*stream) : cudaErrorInvalidResourceHandle;
  });
}

cudaStreamCaptureStatus status_of(const CUstream_st &stream) {
  return !stream.capture           ? cudaStreamCaptureStatusNone
         : stream.capture->invalid ? cudaStreamCaptureStatusInvalidated
                                   : cudaStreamCaptureStatusActive;
}

/// Where a stream is being captured, waiting for it is not possible.
cudaError_t finished(const CUstream_st &stream) {
  if (!stream.capture)
    return cudaSuccess;
  stream.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

/// `adds`: to a graph, behind nodes of it.
cudaError_t begin_capture(cudaStream_t handle, bool adds, cudaGraph_t into,
                          const cudaGraphNode_t *before, std::size_t count) {
  return with(handle, [&](CUstream_st &stream) {
    static std::uint64_t next = 1;
    if (!handle || handle == cudaStreamLegacy)
      return cudaErrorStreamCaptureUnsupported;
    if (stream.capture)
      return cudaErrorIllegalState;
    if (adds && (!is_graph(into) || !are_nodes_of(into, before, count)))
      return cudaErrorInvalidValue;
    stream.capture = std::make_shared<Capture>();
    if (!into)
      stream.capture->graph = std::make_unique<CUgraph_st>();
    stream.capture->into = into ? into : stream.capture->graph.get();
    stream.capture->id = next++;
    stream.capture->origin = &stream;
    stream.capture->streams.insert(&stream);
    stream.last.assign(before, before + count);
    return cudaSuccess;
  });
}

} // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t *stream) { return create(stream, 0, 0); }
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags) {
  return create(stream, flags, 0);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority) {
  return create(stream, flags, std::clamp(priority, -5, 0));
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return device().call([&] {
    if (!handle || !streams().erase(handle))
      return cudaErrorInvalidResourceHandle;
    if (const std::shared_ptr<Capture> capture = handle->capture) {
      capture->streams.erase(handle);
      capture->left.insert(capture->left.end(), handle->last.begin(), handle->last.end());
      capture->invalid |= capture->origin == handle;
    }
    delete handle;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t handle, int *priority) {
  return with(handle, [&](const CUstream_st &stream) {
    return priority ? (*priority = stream.priority, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned *flags) {
  return with(handle, [&](const CUstream_st &stream) {
    return flags ? (*flags = stream.flags, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long *id) {
  return with(handle, [&](const CUstream_st &stream) {
    return id ? (*id = stream.id, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t handle, int *number) {
  return with(handle, [&](const CUstream_st &) {
    return number ? (*number = 0, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamSetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   const cudaLaunchAttributeValue *value) {
  return with(handle, [&](CUstream_st &stream) {
    return value ? (stream.attributes[id] = *value, cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t handle, cudaLaunchAttributeID id,
                                   cudaLaunchAttributeValue *value) {
  return with(handle, [&](CUstream_st &stream) {
    return value ? (*value = stream.attributes[id], cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t to, cudaStream_t from) {
  return with(to, [&](CUstream_st &stream) {
    const CUstream_st *const other = find_stream(from);
    return other ? (stream.attributes = other->attributes, cudaSuccess)
                 : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return with(handle, [](const CUstream_st &stream) { return finished(stream); });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) { return cudaStreamSynchronize(handle); }

cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void *address, std::size_t, unsigned) {
  return with(handle, [&](const CUstream_st &) {
    const auto *block = device().allocations().find(address);
    return block && block->second.kind == MemoryKind::managed ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  return with(handle, [&](CUstream_st &stream) {
    const CUevent_st *const known = find_event(event);
    if (!known)
      return cudaErrorInvalidResourceHandle;
    const auto capture = known->capture.lock();
    if (!capture)
      return stream.capture ? enqueue(handle, EventWait{event}) : cudaSuccess;
    if (stream.capture && stream.capture != capture)
      return cudaErrorStreamCaptureMerge;
    stream.capture = capture;
    capture->streams.insert(&stream);
    for (CUgraphNode_st *node : known->nodes)
      if (std::find(stream.last.begin(), stream.last.end(), node) == stream.last.end())
        stream.last.push_back(node);
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void *argument) {
  return with(handle, [&](const CUstream_st &) {
    return function ? enqueue(handle, HostCall{function, argument}) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t function,
                                  void *argument, unsigned flags) {
  return with(handle, [&](const CUstream_st &stream) {
    if (!function || flags != 0)
      return cudaErrorInvalidValue;
    if (stream.capture)
      return cudaErrorStreamCaptureUnsupported;
    device().unlocked([&] { function(handle, cudaSuccess, argument); });
    return cudaSuccess;
  });
}

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
  return begin_capture(handle, false, nullptr, nullptr, 0);
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t handle, cudaGraph_t graph,
                                          const cudaGraphNode_t *before, const cudaGraphEdgeData *,
                                          std::size_t count, cudaStreamCaptureMode) {
  return begin_capture(handle, true, graph, before, count);
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t *graph) {
  return with(handle, [&](CUstream_st &stream) {
    if (!graph)
      return cudaErrorInvalidValue;
    *graph = nullptr;
    if (!stream.capture)
      return cudaErrorIllegalState;
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture->origin != &stream)
      return cudaErrorStreamCaptureUnmatched;
    std::set<CUgraphNode_st *> joined;
    for (CUgraphNode_st *node : stream.last)
      add_before(node, joined);
    bool whole = std::all_of(capture->left.begin(), capture->left.end(),
                             [&](CUgraphNode_st *node) { return joined.contains(node); });
    for (CUstream_st *one : capture->streams) {
      for (CUgraphNode_st *node : one->last)
        whole &= joined.contains(node);
      one->capture.reset();
      one->last.clear();
    }
    if (capture->invalid)
      return cudaErrorStreamCaptureInvalidated;
    if (!whole)
      return cudaErrorStreamCaptureUnjoined;
    *graph = capture->graph ? capture->graph.release() : capture->into;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus *status) {
  return with(handle, [&](const CUstream_st &stream) {
    return status ? (*status = status_of(stream), cudaSuccess) : cudaErrorInvalidValue;
  });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **before,
                                     const cudaGraphEdgeData **edges, std::size_t *count) {
  return with(handle, [&](CUstream_st &stream) {
    if (!status)
      return cudaErrorInvalidValue;
    *status = status_of(stream);
    if (*status != cudaStreamCaptureStatusActive)
      return cudaSuccess;
    if (id)
      *id = stream.capture->id;
    if (graph)
      *graph = stream.capture->into;
    if (before)
      *before = stream.last.data();
    if (edges)
      *edges = nullptr;
    if (count)
      *count = stream.last.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t handle, cudaGraphNode_t *before,
                                                   const cudaGraphEdgeData *, std::size_t count,
                                                   unsigned flags) {
  return with(handle, [&](CUstream_st &stream) {
    if (!stream.capture)
      return cudaErrorIllegalState;
    if (!are_nodes_of(stream.capture->into, before, count))
      return cudaErrorInvalidValue;
    if (flags == cudaStreamSetCaptureDependencies)
      stream.last.clear();
    stream.last.insert(stream.last.end(), before, before + count);
    return cudaSuccess;
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  thread_local cudaStreamCaptureMode now = cudaStreamCaptureModeGlobal;
  if (!mode)
    return Device::remember(cudaErrorInvalidValue);
  std::swap(now, *mode);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags) {
  return device().call([&] {
    constexpr unsigned known =
        cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
    if (!event || (flags & ~known))
      return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess)
      return cudaErrorNotSupported;
    *event = new CUevent_st{.flags = flags};
    events().insert(*event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return device().call([&] {
    if (!events().erase(event))
      return cudaErrorInvalidResourceHandle;
    delete event;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  return with(handle, [&](const CUstream_st &stream) {
    if (!find_event(event))
      return cudaErrorInvalidResourceHandle;
    if (!stream.capture)
      return perform(Work(EventRecord{event}));
    if (flags & cudaEventRecordExternal)
      return enqueue(handle, EventRecord{event});
    event->capture = stream.capture;
    event->nodes = stream.last;
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  return cudaEventRecordWithFlags(event, handle, 0);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return device().call([&] {
    if (!find_event(event))
      return cudaErrorInvalidResourceHandle;
    return event->capture.lock() ? cudaErrorCapturedEvent : cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to) {
  return device().call([&] {
    if (!find_event(from) || !find_event(to))
      return cudaErrorInvalidResourceHandle;
    if (!milliseconds)
      return cudaErrorInvalidValue;
    if (((from->flags | to->flags) & cudaEventDisableTiming) || !from->recorded || !to->recorded)
      return cudaErrorInvalidResourceHandle;
    *milliseconds = std::chrono::duration<float, std::milli>(to->time - from->time).count();
    return cudaSuccess;
  });
}

} // extern "C"
