// SPDX-License-Identifier: MIT
// Graphs: nodes that the program adds or that are captured in streams, in an order that their dependencies allow.
#include "state.hpp"

#include <algorithm>
#include <variant>

using namespace emulated_hip;

namespace {
struct kernel_node {
  kernel_call call;
  void* function;
  std::vector<void*> pointers;  // to the arguments in call, for hipGraphKernelNodeGetParams
};
using parameters = std::variant<std::monostate, kernel_node, hipMemcpy3DParms, hipMemsetParams, hipHostNodeParams,
                                hipEvent_t, hipGraph_t>;
}  // namespace

struct hipGraphNode {
  hipGraphNodeType type;
  std::function<hipError_t()> work;
  std::vector<hipGraphNode*> after;
  parameters given = {};
  bool enabled = true;
  const hipGraphNode* original = nullptr;  // of a copy
};
struct ihipGraph {
  std::vector<std::unique_ptr<hipGraphNode>> nodes;
  std::vector<void*> memory;
  ihipStream_t* origin = nullptr;  // the stream that is captured
};
struct hipGraphExec {
  std::vector<hipGraphNode> nodes;  // in the order of their execution
};

namespace {
/// The stream of a handle; null for the default stream, which cannot be captured.
ihipStream_t* stream_of(hipStream_t stream) {
  static thread_local ihipStream_t of_thread;
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  return handle == 2 ? &of_thread : handle < 2 ? nullptr : stream;
}
ihipGraph* graph_of(unsigned long long capture) {
  const auto found = runtime().captures.find(capture);
  return found == runtime().captures.end() ? nullptr : found->second;
}
hipGraphNode* add(ihipGraph& graph, hipGraphNode node) {
  return graph.nodes.emplace_back(std::make_unique<hipGraphNode>(std::move(node))).get();
}
hipError_t run(const std::vector<hipGraphNode>& nodes) {
  for (const hipGraphNode& node : nodes)
    if (node.enabled && node.work)
      if (const hipError_t error = node.work(); error != hipSuccess) return error;
  return hipSuccess;
}
/// Copies of the nodes, each after those that it depends on, else in the order in which they were added. Empty: a
/// cycle.
std::vector<hipGraphNode> sorted(const ihipGraph& graph) {
  std::vector<hipGraphNode> order;
  std::vector<const hipGraphNode*> done;
  while (order.size() < graph.nodes.size()) {
    const std::size_t before = order.size();
    for (const auto& node : graph.nodes) {
      const auto is_done = [&](const hipGraphNode* n) { return std::find(done.begin(), done.end(), n) != done.end(); };
      if (is_done(node.get()) || !std::all_of(node->after.begin(), node->after.end(), is_done)) continue;
      done.push_back(node.get());
      order.push_back(*node);
      order.back().original = node.get();
    }
    if (order.size() == before) return {};
  }
  return order;
}
hipGraphNode* copy_of(const hipGraphNode* node, const ihipGraph& graph) {
  for (const auto& n : graph.nodes)
    if (n->original == node) return n.get();
  return nullptr;
}
hipGraph_t clone(const ihipGraph& graph) {
  auto* const result = new ihipGraph;
  for (const auto& node : graph.nodes) add(*result, *node)->original = node.get();
  for (const auto& node : result->nodes)
    for (hipGraphNode*& n : node->after) n = copy_of(n, *result);
  return result;
}

// What the nodes of each kind do, with the parameters that the program gave.
hipError_t make(hipGraphNode& node, const hipKernelNodeParams& p) {
  kernel_node k{{}, p.func, {}};
  const hipError_t error = prepare(k.call, p.func, p.gridDim, p.blockDim, p.kernelParams, p.sharedMemBytes, false);
  if (error != hipSuccess) return error;
  node.type = hipGraphNodeTypeKernel, node.work = [call = k.call] { return emulated_hip::run(call); };
  node.given = std::move(k);
  return hipSuccess;
}
hipError_t make(hipGraphNode& node, const hipMemcpy3DParms& p) {
  node.type = hipGraphNodeTypeMemcpy, node.given = p, node.work = [p] { return copy_box(p, "hipGraphAddMemcpyNode"); };
  return hipSuccess;
}
hipError_t make(hipGraphNode& node, const hipMemsetParams& p) {
  node.type = hipGraphNodeTypeMemset, node.given = p, node.work = [p] { return fill_rows(p, "hipGraphAddMemsetNode"); };
  return hipSuccess;
}
hipError_t make(hipGraphNode& node, const hipHostNodeParams& p) {
  node.type = hipGraphNodeTypeHost, node.given = p, node.work = [p] { return p.fn(p.userData), hipSuccess; };
  return hipSuccess;
}
hipError_t make(hipGraphNode& node, const hipGraph_t& child) {
  const auto nodes = std::make_shared<std::vector<hipGraphNode>>(sorted(*child));
  if (nodes->empty() && !child->nodes.empty()) return remember(hipErrorInvalidValue);
  node.type = hipGraphNodeTypeGraph, node.given = child, node.work = [nodes] { return run(*nodes); };
  return hipSuccess;
}
/// A copy, and which function of the program it stands for.
struct copy_node {
  hipGraphNodeType type;
  std::function<hipError_t()> work;
};
hipError_t make(hipGraphNode& node, const copy_node& copy) {
  return node.type = copy.type, node.work = copy.work, hipSuccess;
}
copy_node copy_1d(void* to, const void* from, std::size_t n) {
  return {hipGraphNodeTypeMemcpy, [=] { return copy(to, from, n, "hipGraphAddMemcpyNode1D"); }};
}
copy_node copy_from(void* to, const void* symbol, std::size_t n, std::size_t offset, hipMemcpyKind kind) {
  return {hipGraphNodeTypeMemcpyFromSymbol, [=] { return hipMemcpyFromSymbol(to, symbol, n, offset, kind); }};
}
copy_node copy_to(const void* symbol, const void* from, std::size_t n, std::size_t offset, hipMemcpyKind kind) {
  return {hipGraphNodeTypeMemcpyToSymbol, [=] { return hipMemcpyToSymbol(symbol, from, n, offset, kind); }};
}
copy_node event_record(hipEvent_t event) {
  return {hipGraphNodeTypeEventRecord, [=] { return hipEventRecord(event, nullptr); }};
}
copy_node event_wait() { return {hipGraphNodeTypeWaitEvent, {}}; }

template <class Given>
hipError_t add_node(hipGraphNode_t* result, hipGraph_t graph, const hipGraphNode_t* after, std::size_t n,
                    const Given& given) {
  const auto lock = locked();
  if (!result || !graph || (n && !after)) return remember(hipErrorInvalidValue);
  hipGraphNode node{hipGraphNodeTypeEmpty, {}, std::vector<hipGraphNode*>(after, after + n)};
  if (const hipError_t error = make(node, given); error != hipSuccess) return error;
  *result = add(*graph, std::move(node));
  return hipSuccess;
}
template <class Given>
hipError_t change(hipGraphNode_t node, const Given& given) {
  const auto lock = locked();
  return node ? make(*node, given) : remember(hipErrorInvalidValue);
}
hipGraphNode* node_in(hipGraphExec_t exec, hipGraphNode_t node) {
  for (hipGraphNode& n : exec->nodes)
    if (n.original == node) return &n;
  return nullptr;
}
template <class Given>
hipError_t change(hipGraphExec_t exec, hipGraphNode_t node, const Given& given) {
  return change(node_in(exec, node), given);
}
template <class Given>
hipError_t get(hipGraphNode_t node, Given* to) {
  const Given* const given = node ? std::get_if<Given>(&node->given) : nullptr;
  if (!given) return remember(hipErrorInvalidValue);
  return *to = *given, hipSuccess;
}
/// Fills a list of the program's as HIP does: without a list, only the number.
hipError_t list(const std::vector<hipGraphNode*>& nodes, hipGraphNode_t* to, std::size_t* n) {
  if (to) std::copy_n(nodes.begin(), std::min(*n, nodes.size()), to);
  return *n = to ? std::min(*n, nodes.size()) : nodes.size(), hipSuccess;
}
template <class Keep>
std::vector<hipGraphNode*> nodes_of(const ihipGraph& graph, Keep keep) {
  std::vector<hipGraphNode*> result;
  for (const auto& node : graph.nodes)
    if (keep(*node)) result.push_back(node.get());
  return result;
}
}  // namespace

namespace emulated_hip {
ihipGraph* captured(hipStream_t handle) {
  const ihipStream_t* const stream = stream_of(handle);
  return stream ? graph_of(stream->capture) : nullptr;
}
hipError_t submit(hipStream_t stream, hipGraphNodeType type, std::function<hipError_t()> work) {
  const auto lock = locked();
  ihipGraph* const graph = captured(stream);
  if (!graph) return work();
  std::vector<hipGraphNode*>& latest = stream_of(stream)->latest;
  latest = {add(*graph, {type, std::move(work), latest})};
  return hipSuccess;
}
hipError_t submit(hipStream_t stream, kernel_call call, const void* function) {
  const auto lock = locked();
  if (!captured(stream)) return emulated_hip::run(call);
  const hipError_t error = submit(stream, hipGraphNodeTypeKernel, [call] { return emulated_hip::run(call); });
  stream_of(stream)->latest[0]->given = kernel_node{std::move(call), const_cast<void*>(function), {}};
  return error;
}
void own(ihipGraph& graph, void* memory) { graph.memory.push_back(memory); }
}  // namespace emulated_hip

extern "C" {

hipError_t hipStreamBeginCapture(hipStream_t handle, hipStreamCaptureMode) {
  const auto lock = locked();
  ihipStream_t* const stream = stream_of(handle);
  if (!stream) return remember(hipErrorStreamCaptureUnsupported);
  if (graph_of(stream->capture)) return remember(hipErrorIllegalState);
  static unsigned long long captures = 0;
  stream->capture = ++captures, stream->latest.clear();
  runtime().captures[captures] = new ihipGraph{{}, {}, stream};
  return hipSuccess;
}
hipError_t hipStreamEndCapture(hipStream_t handle, hipGraph_t* graph) {
  const auto lock = locked();
  ihipStream_t* const stream = stream_of(handle);
  *graph = captured(handle);
  if (!*graph) return remember(hipErrorIllegalState);
  if ((*graph)->origin != stream) return remember(hipErrorStreamCaptureUnmatched);
  runtime().captures.erase(stream->capture);
  return stream->capture = 0, hipSuccess;
}
hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus* status) {
  const auto lock = locked();
  *status = captured(stream) ? hipStreamCaptureStatusActive : hipStreamCaptureStatusNone;
  return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id,
                                      hipGraph_t* graph, const hipGraphNode_t** after, std::size_t* n) {
  const auto lock = locked();
  (void)hipStreamIsCapturing(stream, status);
  if (*status == hipStreamCaptureStatusNone) return hipSuccess;
  const ihipStream_t& s = *stream_of(stream);
  if (id) *id = s.capture;
  if (graph) *graph = captured(stream);
  if (after) *after = s.latest.data();
  if (n) *n = s.latest.size();
  return hipSuccess;
}
hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus* status, unsigned long long* id) {
  return hipStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}
hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t* nodes, std::size_t n,
                                              unsigned flags) {
  const auto lock = locked();
  if (!captured(stream)) return remember(hipErrorIllegalState);
  std::vector<hipGraphNode*>& latest = stream_of(stream)->latest;
  if (flags == hipStreamSetCaptureDependencies) latest.clear();
  latest.insert(latest.end(), nodes, nodes + n);
  return hipSuccess;
}
hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode*) { return hipSuccess; }
hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  const auto lock = locked();
  event->capture = 0, event->time = std::chrono::steady_clock::now();
  if (captured(stream)) event->capture = stream_of(stream)->capture, event->after = stream_of(stream)->latest;
  return hipSuccess;
}
hipError_t hipEventRecordWithFlags(hipEvent_t event, hipStream_t stream, unsigned) {
  return hipEventRecord(event, stream);
}
/// A stream that waits for an event of a captured stream is captured into the same graph.
hipError_t hipStreamWaitEvent(hipStream_t handle, hipEvent_t event, unsigned) {
  const auto lock = locked();
  if (!graph_of(event->capture)) return hipSuccess;
  ihipStream_t* const stream = stream_of(handle);
  if (!stream) return remember(hipErrorStreamCaptureImplicit);
  if (stream->capture != event->capture) stream->capture = event->capture, stream->latest.clear();
  stream->latest.insert(stream->latest.end(), event->after.begin(), event->after.end());
  return hipSuccess;
}

hipError_t hipGraphCreate(hipGraph_t* graph, unsigned) { return *graph = new ihipGraph, hipSuccess; }
hipError_t hipGraphDestroy(hipGraph_t graph) {
  const auto lock = locked();
  if (!graph) return remember(hipErrorInvalidValue);
  for (void* p : graph->memory) (void)runtime().memory.release(p);
  return delete graph, hipSuccess;
}
hipError_t hipGraphClone(hipGraph_t* result, hipGraph_t graph) { return *result = clone(*graph), hipSuccess; }
hipError_t hipGraphNodeFindInClone(hipGraphNode_t* result, hipGraphNode_t node, hipGraph_t graph) {
  *result = copy_of(node, *graph);
  return *result ? hipSuccess : remember(hipErrorInvalidValue);
}
hipError_t hipGraphDestroyNode(hipGraphNode_t node) {
  node->enabled = false, node->work = nullptr;  // others may come after it
  return hipSuccess;
}
hipError_t hipGraphAddDependencies(hipGraph_t, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) to[k]->after.push_back(from[k]);
  return hipSuccess;
}
hipError_t hipGraphRemoveDependencies(hipGraph_t, const hipGraphNode_t* from, const hipGraphNode_t* to, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) std::erase(to[k]->after, from[k]);
  return hipSuccess;
}
hipError_t hipGraphGetNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* n) {
  return list(nodes_of(*graph, [](const hipGraphNode&) { return true; }), nodes, n);
}
hipError_t hipGraphGetRootNodes(hipGraph_t graph, hipGraphNode_t* nodes, std::size_t* n) {
  return list(nodes_of(*graph, [](const hipGraphNode& node) { return node.after.empty(); }), nodes, n);
}
hipError_t hipGraphNodeGetDependencies(hipGraphNode_t node, hipGraphNode_t* nodes, std::size_t* n) {
  return list(node->after, nodes, n);
}
hipError_t hipGraphGetEdges(hipGraph_t graph, hipGraphNode_t* from, hipGraphNode_t* to, std::size_t* n) {
  std::size_t edges = 0;
  for (const auto& node : graph->nodes)
    for (hipGraphNode* before : node->after) {
      if (from && to && edges < *n) from[edges] = before, to[edges] = node.get();
      ++edges;
    }
  return *n = from && to ? std::min(*n, edges) : edges, hipSuccess;
}
hipError_t hipGraphNodeGetType(hipGraphNode_t node, hipGraphNodeType* type) { return *type = node->type, hipSuccess; }

hipError_t hipGraphInstantiate(hipGraphExec_t* exec, hipGraph_t graph, hipGraphNode_t* failed, char*, std::size_t) {
  const auto lock = locked();
  if (failed) *failed = nullptr;
  *exec = nullptr;
  std::vector<hipGraphNode> nodes = sorted(*graph);
  if (nodes.empty() && !graph->nodes.empty()) return remember(hipErrorInvalidValue);
  return *exec = new hipGraphExec{std::move(nodes)}, hipSuccess;
}
hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* exec, hipGraph_t graph, unsigned long long) {
  return hipGraphInstantiate(exec, graph, nullptr, nullptr, 0);
}
hipError_t hipGraphLaunch(hipGraphExec_t exec, hipStream_t stream) {
  if (!exec) return remember(hipErrorInvalidValue);
  return submit(stream, hipGraphNodeTypeGraph, [exec] { return run(exec->nodes); });
}
hipError_t hipGraphUpload(hipGraphExec_t, hipStream_t) { return hipSuccess; }
hipError_t hipGraphExecDestroy(hipGraphExec_t exec) { return delete exec, hipSuccess; }
hipError_t hipGraphExecUpdate(hipGraphExec_t exec, hipGraph_t graph, hipGraphNode_t* failed,
                              hipGraphExecUpdateResult* result) {
  const auto lock = locked();
  *failed = nullptr, *result = hipGraphExecUpdateErrorTopologyChanged;
  std::vector<hipGraphNode> nodes = sorted(*graph);
  if (nodes.size() != exec->nodes.size()) return remember(hipErrorGraphExecUpdateFailure);
  for (std::size_t k = 0; k < nodes.size(); ++k)
    if (nodes[k].type != exec->nodes[k].type) {
      *failed = const_cast<hipGraphNode_t>(nodes[k].original), *result = hipGraphExecUpdateErrorNodeTypeChanged;
      return remember(hipErrorGraphExecUpdateFailure);
    }
  // Nodes keep the names of the graph that was instantiated.
  for (std::size_t k = 0; k < nodes.size(); ++k) nodes[k].original = exec->nodes[k].original;
  exec->nodes = std::move(nodes);
  return *result = hipGraphExecUpdateSuccess, hipSuccess;
}
hipError_t hipGraphNodeSetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned enabled) {
  hipGraphNode* const n = node_in(exec, node);
  if (!n) return remember(hipErrorInvalidValue);
  return n->enabled = enabled != 0, hipSuccess;
}
hipError_t hipGraphNodeGetEnabled(hipGraphExec_t exec, hipGraphNode_t node, unsigned* enabled) {
  const hipGraphNode* const n = node_in(exec, node);
  if (!n) return remember(hipErrorInvalidValue);
  return *enabled = n->enabled, hipSuccess;
}

hipError_t hipGraphKernelNodeGetParams(hipGraphNode_t node, hipKernelNodeParams* p) {
  kernel_node* const k = node ? std::get_if<kernel_node>(&node->given) : nullptr;
  if (!k) return remember(hipErrorInvalidValue);
  k->pointers.clear();
  for (const auto& argument : k->call.module->kernels.at(k->call.name).args)
    k->pointers.push_back(k->call.arguments.bytes.data() + argument.offset);
  const kernel_call& c = k->call;
  return *p = {c.block, nullptr, k->function, c.grid, k->pointers.data(), static_cast<unsigned>(c.lds)}, hipSuccess;
}
hipError_t hipGraphKernelNodeSetAttribute(hipGraphNode_t, hipKernelNodeAttrID, const hipKernelNodeAttrValue*) {
  return hipSuccess;
}
hipError_t hipGraphAddEmptyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t n) {
  return add_node(node, graph, after, n, copy_node{hipGraphNodeTypeEmpty, {}});
}
hipError_t hipGraphAddEventWaitNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t n,
                                    hipEvent_t) {
  return add_node(node, graph, after, n, event_wait());
}

// Of each kind of node: added to a graph, and changed there or in a graph that was instantiated.
#define ADD_AND_CHANGE(ADD, SET, SET_EXEC, CALL, PARAMETERS)                                              \
  hipError_t ADD(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* after, std::size_t number, \
                 PARAMETERS) {                                                                            \
    return add_node(node, graph, after, number, CALL);                                                    \
  }                                                                                                       \
  hipError_t SET(hipGraphNode_t node, PARAMETERS) { return change(node, CALL); }                          \
  hipError_t SET_EXEC(hipGraphExec_t exec, hipGraphNode_t node, PARAMETERS) { return change(exec, node, CALL); }
#define COMMA ,
ADD_AND_CHANGE(hipGraphAddKernelNode, hipGraphKernelNodeSetParams, hipGraphExecKernelNodeSetParams, *p,
               const hipKernelNodeParams* p)
ADD_AND_CHANGE(hipGraphAddMemcpyNode, hipGraphMemcpyNodeSetParams, change_instantiated_copy, *p,
               const hipMemcpy3DParms* p)
ADD_AND_CHANGE(hipGraphAddMemsetNode, hipGraphMemsetNodeSetParams, hipGraphExecMemsetNodeSetParams, *p,
               const hipMemsetParams* p)
ADD_AND_CHANGE(hipGraphAddHostNode, hipGraphHostNodeSetParams, hipGraphExecHostNodeSetParams, *p,
               const hipHostNodeParams* p)
ADD_AND_CHANGE(hipGraphAddMemcpyNode1D, hipGraphMemcpyNodeSetParams1D, hipGraphExecMemcpyNodeSetParams1D,
               copy_1d(to, from, n), void* to COMMA const void* from COMMA std::size_t n COMMA hipMemcpyKind)
ADD_AND_CHANGE(hipGraphAddMemcpyNodeFromSymbol, hipGraphMemcpyNodeSetParamsFromSymbol,
               hipGraphExecMemcpyNodeSetParamsFromSymbol, copy_from(to, symbol, n, offset, kind),
               void* to COMMA const void* symbol COMMA std::size_t n COMMA std::size_t offset COMMA hipMemcpyKind kind)
ADD_AND_CHANGE(hipGraphAddMemcpyNodeToSymbol, hipGraphMemcpyNodeSetParamsToSymbol,
               hipGraphExecMemcpyNodeSetParamsToSymbol, copy_to(symbol, from, n, offset, kind),
               const void* symbol COMMA const void* from COMMA std::size_t n COMMA std::size_t offset COMMA
                   hipMemcpyKind kind)
ADD_AND_CHANGE(hipGraphAddEventRecordNode, hipGraphEventRecordNodeSetEvent, hipGraphExecEventRecordNodeSetEvent,
               event_record(event), hipEvent_t event)
ADD_AND_CHANGE(hipGraphAddChildGraphNode, change_child_graph, hipGraphExecChildGraphNodeSetParams, child,
               hipGraph_t child)
hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node, hipMemcpy3DParms* p) {
  return change_instantiated_copy(exec, node, p);  // HIP's parameters are not const here
}
#undef COMMA
#undef ADD_AND_CHANGE

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* p) { return get(node, p); }
hipError_t hipGraphMemsetNodeGetParams(hipGraphNode_t node, hipMemsetParams* p) { return get(node, p); }
hipError_t hipGraphHostNodeGetParams(hipGraphNode_t node, hipHostNodeParams* p) { return get(node, p); }
hipError_t hipGraphChildGraphNodeGetGraph(hipGraphNode_t node, hipGraph_t* graph) { return get(node, graph); }

}  // extern "C"
