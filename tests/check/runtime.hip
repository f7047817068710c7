// SPDX-License-Identifier: MIT
// Uses of HIP's runtime that tilewright-check has to run. `runtime NAME` runs one, and ends with 0 if its results are
// right. No device library is needed.
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace {
constexpr int n = 256;
__device__ int global_id() {
  return static_cast<int>(__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x());
}
}  // namespace
extern "C" __global__ void add(int* x, const int* y, int factor) { x[global_id()] += factor * y[global_id()]; }
/// How workgroups of four waves wait for each other between the steps of next_block.
enum grid_barrier : int { none, one_wave_arrives, all_waves_arrive, last_workgroup_leaves };
constexpr int groups = 4, threads = 256;
__device__ void wait_for_grid(bool all_waves, int next_arrivals) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
  __builtin_amdgcn_s_barrier();
  if (all_waves || __builtin_amdgcn_workitem_id_x() == 0) __builtin_amdgcn_ds_gws_barrier(next_arrivals - 1, 0);
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}
/// Workgroups read what the next one wrote, three times.
extern "C" __global__ void next_block(int* x, int* y, int kind) {
  const int group = static_cast<int>(__builtin_amdgcn_workgroup_id_x()),
            i = group * threads + static_cast<int>(__builtin_amdgcn_workitem_id_x()),
            next = (i + threads) % (groups * threads);
  const bool all_waves = kind == all_waves_arrive;
  const int arrivals = all_waves ? groups * threads / 64 : groups;
  y[i] = x[i] + 1;
  if (kind == last_workgroup_leaves && group == groups - 1) return;
  if (kind) wait_for_grid(false, arrivals);
  x[i] = y[next];
  if (kind) wait_for_grid(all_waves, arrivals);
  y[i] = x[next];
  if (kind) wait_for_grid(all_waves, arrivals);
  x[i] = y[next];
}
__device__ int table[n];

namespace {
int failures = 0;
void ok(hipError_t e, const char* what) {
  if (e != hipSuccess) ++failures, std::printf("%s: %s\n", what, hipGetErrorName(e));
}
#define OK(call) ok(call, #call)
void equal(long long got, long long want, const char* what) {
  if (got != want) ++failures, std::printf("%s is %lld, not %lld\n", what, got, want);
}
#define EQUAL(got, want) equal(got, want, #got)

/// x = 1, y = 0 1 2 ... on the device.
struct data {
  int *x = nullptr, *y = nullptr;
  std::vector<int> host = std::vector<int>(n, 1);
  data() {
    std::vector<int> counted(n);
    for (int i = 0; i < n; ++i) counted[i] = i;
    OK(hipMalloc(reinterpret_cast<void**>(&x), n * sizeof(int)));
    OK(hipMalloc(reinterpret_cast<void**>(&y), n * sizeof(int)));
    OK(hipMemcpy(x, host.data(), n * sizeof(int), hipMemcpyHostToDevice));
    OK(hipMemcpy(y, counted.data(), n * sizeof(int), hipMemcpyHostToDevice));
  }
  ~data() { OK(hipFree(x)), OK(hipFree(y)); }
  void expect(int constant, int factor) {
    OK(hipMemcpy(host.data(), x, n * sizeof(int), hipMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) EQUAL(host[i], constant + factor * i);
  }
};

/// Two streams that fork and join; nothing runs until the graph is launched, and each launch runs everything.
void captured_streams() {
  data d;
  hipStream_t first, second;
  hipEvent_t fork, join;
  OK(hipStreamCreate(&first)), OK(hipStreamCreate(&second));
  OK(hipEventCreate(&fork)), OK(hipEventCreate(&join));
  std::vector<int> seen;
  OK(hipStreamBeginCapture(first, hipStreamCaptureModeGlobal));
  add<<<n / 64, 64, 0, first>>>(d.x, d.y, 1);
  OK(hipEventRecord(fork, first));
  OK(hipStreamWaitEvent(second, fork, 0));
  hipStreamCaptureStatus status;
  OK(hipStreamIsCapturing(second, &status));
  EQUAL(status, hipStreamCaptureStatusActive);
  add<<<n / 64, 64, 0, second>>>(d.x, d.y, 10);
  OK(hipEventRecord(join, second));
  OK(hipStreamWaitEvent(first, join, 0));
  const auto see = [](hipStream_t, hipError_t, void* p) { static_cast<std::vector<int>*>(p)->push_back(1); };
  OK(hipStreamAddCallback(first, see, &seen, 0));
  hipGraph_t graph;
  OK(hipStreamEndCapture(first, &graph));
  d.expect(1, 0);
  std::size_t nodes = 0;
  OK(hipGraphGetNodes(graph, nullptr, &nodes));
  EQUAL(nodes, 3);
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, first));
  OK(hipGraphLaunch(exec, first));
  OK(hipStreamSynchronize(first));
  EQUAL(seen.size(), 2);
  d.expect(1, 22);
  OK(hipGraphExecDestroy(exec)), OK(hipGraphDestroy(graph));
  add<<<n / 64, 64, 0, second>>>(d.x, d.y, 1);  // the capture has ended
  d.expect(1, 23);
}
/// Nodes in an order that only their dependencies give, changed after they were instantiated.
void explicit_nodes() {
  data d;
  hipGraph_t graph;
  OK(hipGraphCreate(&graph, 0));
  int factor = 2;
  const int* const y = d.y;
  void* arguments[] = {&d.x, const_cast<int**>(&y), &factor};
  hipKernelNodeParams kernel{dim3(64), nullptr, reinterpret_cast<void*>(add), dim3(n / 64), arguments, 0};
  hipMemsetParams zero{d.x, 4, 1, 0, 5, n};
  hipGraphNode_t added, set, back;
  OK(hipGraphAddKernelNode(&added, graph, nullptr, 0, &kernel));
  OK(hipGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
  OK(hipGraphAddDependencies(graph, &set, &added, 1));
  std::vector<int> result(n);
  OK(hipGraphAddMemcpyNode1D(&back, graph, &added, 1, result.data(), d.x, n * sizeof(int), hipMemcpyDeviceToHost));
  factor = 99;  // the arguments were copied
  hipGraphExec_t exec;
  OK(hipGraphInstantiateWithFlags(&exec, graph, 0));
  OK(hipGraphLaunch(exec, nullptr));
  for (int i = 0; i < n; ++i) EQUAL(result[i], 5 + 2 * i);
  hipKernelNodeParams read;
  OK(hipGraphKernelNodeGetParams(added, &read));
  EQUAL(*static_cast<int*>(read.kernelParams[2]), 2);
  factor = 3;
  OK(hipGraphExecKernelNodeSetParams(exec, added, &kernel));
  OK(hipGraphLaunch(exec, nullptr));
  for (int i = 0; i < n; ++i) EQUAL(result[i], 5 + 3 * i);
  OK(hipGraphAddDependencies(graph, &back, &set, 1));  // a cycle
  hipGraphExec_t none;
  EQUAL(hipGraphInstantiate(&none, graph, nullptr, nullptr, 0), hipErrorInvalidValue);
  OK(hipGraphExecDestroy(exec)), OK(hipGraphDestroy(graph));
}
/// A mistake in a node: the kernel writes after the end of x.
void mistake_in_graph() {
  data d;
  hipStream_t stream;
  OK(hipStreamCreate(&stream));
  OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  add<<<n / 64 + 1, 64, 0, stream>>>(d.x, d.y, 1);
  hipGraph_t graph;
  OK(hipStreamEndCapture(stream, &graph));
  hipGraphExec_t exec;
  OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  OK(hipGraphLaunch(exec, stream));
  OK(hipGraphExecDestroy(exec)), OK(hipGraphDestroy(graph));
}
void symbols_and_memory() {
  std::vector<int> counted(n), back(n);
  for (int i = 0; i < n; ++i) counted[i] = i;
  OK(hipMemcpyToSymbol(HIP_SYMBOL(table), counted.data(), n * sizeof(int), 0, hipMemcpyHostToDevice));
  int *managed, *address;
  OK(hipMallocManaged(reinterpret_cast<void**>(&managed), n * sizeof(int), hipMemAttachGlobal));
  for (int i = 0; i < n; ++i) managed[i] = 7;
  OK(hipGetSymbolAddress(reinterpret_cast<void**>(&address), HIP_SYMBOL(table)));
  add<<<n / 64, 64>>>(managed, address, 2);
  OK(hipDeviceSynchronize());
  for (int i = 0; i < n; ++i) EQUAL(managed[i], 7 + 2 * i);
  OK(hipFree(managed));
  hipPitchedPtr box;
  const hipExtent extent{20, 3, 2};
  OK(hipMalloc3D(&box, extent));
  OK(hipMemset3D(box, 9, extent));
  std::vector<unsigned char> bytes(20 * 3 * 2);
  hipMemcpy3DParms copy{};
  copy.srcPtr = box, copy.dstPtr = hipPitchedPtr{bytes.data(), 20, 20, 3}, copy.extent = extent;
  copy.kind = hipMemcpyDeviceToHost;
  OK(hipMemcpy3D(&copy));
  for (const unsigned char b : bytes) EQUAL(b, 9);
  OK(hipFree(box.ptr));
  int grid = 0, block = 0;
  OK(hipOccupancyMaxPotentialBlockSize(&grid, &block, add, 0, 0));
  EQUAL(grid > 0 && block > 0, true);
  EQUAL(hipMalloc(reinterpret_cast<void**>(&address), std::size_t{1} << 40), hipErrorOutOfMemory);
}
// What hipcc --genco writes: a magic word, and entries of offset, size and target.
void module_file_of_a_bundle(const std::vector<char>& code, const char* symbol) {
  const std::string target = "hipv4-amdgcn-amd-amdhsa--gfx942",
                    path = std::filesystem::temp_directory_path() / ("tilewright-bundle-" + std::to_string(getpid()));
  const std::size_t header = 24 + 4 * 8 + target.size(), words[] = {1, header, code.size(), target.size()};
  std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
  bundle.append(reinterpret_cast<const char*>(words), sizeof words).append(target).append(code.data(), code.size());
  std::ofstream(path, std::ios::binary) << bundle;
  hipModule_t module;
  hipFunction_t function;
  OK(hipModuleLoad(&module, path.c_str()));
  OK(hipModuleGetFunction(&function, module, symbol));
  OK(hipModuleUnload(module));
  std::ofstream(path, std::ios::binary) << "neither";
  EQUAL(hipModuleLoad(&module, path.c_str()), hipErrorFileNotFound);
  std::remove(path.c_str());
  EQUAL(hipModuleLoad(&module, path.c_str()), hipErrorFileNotFound);
}
template <int Kind>
void launch_next_block() {
  constexpr int size = groups * threads;
  std::vector<int> host(size);
  for (int i = 0; i < size; ++i) host[i] = i;
  int *x = nullptr, *y = nullptr, kind = Kind;
  OK(hipMalloc(reinterpret_cast<void**>(&x), size * sizeof(int)));
  OK(hipMalloc(reinterpret_cast<void**>(&y), size * sizeof(int)));
  OK(hipMemcpy(x, host.data(), size * sizeof(int), hipMemcpyHostToDevice));
  void* arguments[] = {&x, &y, &kind};
  OK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(next_block), groups, threads, arguments, 0, nullptr));
  OK(hipMemcpy(host.data(), x, size * sizeof(int), hipMemcpyDeviceToHost));
  OK(hipFree(x)), OK(hipFree(y));
  for (int i = 0; i < size && (Kind == one_wave_arrives || Kind == all_waves_arrive); ++i)
    EQUAL(host[i], (i + 3 * threads) % size + 1);
}
void not_cooperative() {
  data d;
  next_block<<<1, 64>>>(d.x, d.y, one_wave_arrives);
}
void compiled_at_run_time() {
  const char* source = R"(
#include "factor.h"
template <class T> __global__ void scale(T* x) {
  const auto i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  x[i] = FACTOR * x[i];
})";
  const char *header = "#define FACTOR 3\n", *name = "factor.h", *option = "-nogpulib";
  hiprtcProgram program;
  EQUAL(hiprtcCreateProgram(&program, source, "scale.hip", 1, &header, &name), HIPRTC_SUCCESS);
  EQUAL(hiprtcAddNameExpression(program, "scale<int>"), HIPRTC_SUCCESS);
  EQUAL(hiprtcCompileProgram(program, 1, &option), HIPRTC_SUCCESS);
  std::size_t size = 0;
  EQUAL(hiprtcGetCodeSize(program, &size), HIPRTC_SUCCESS);
  std::vector<char> code(size);
  EQUAL(hiprtcGetCode(program, code.data()), HIPRTC_SUCCESS);
  const char* symbol = "";
  EQUAL(hiprtcGetLoweredName(program, "scale<int>", &symbol), HIPRTC_SUCCESS);
  hipModule_t module;
  hipFunction_t function;
  OK(hipModuleLoadData(&module, code.data()));
  OK(hipModuleGetFunction(&function, module, symbol));
  data d;
  void* arguments[] = {&d.y};
  OK(hipModuleLaunchKernel(function, n / 64, 1, 1, 64, 1, 1, 0, nullptr, arguments, nullptr));
  add<<<n / 64, 64>>>(d.x, d.y, 1);
  d.expect(1, 3);
  OK(hipModuleUnload(module));
  module_file_of_a_bundle(code, symbol);
  EQUAL(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
  EQUAL(hiprtcCreateProgram(&program, "not a kernel", nullptr, 0, nullptr, nullptr), HIPRTC_SUCCESS);
  EQUAL(hiprtcCompileProgram(program, 1, &option), HIPRTC_ERROR_COMPILATION);
  EQUAL(hiprtcGetProgramLogSize(program, &size), HIPRTC_SUCCESS);
  EQUAL(size > 0, true);
  EQUAL(hiprtcDestroyProgram(&program), HIPRTC_SUCCESS);
}
}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  const struct {
    const char* name;
    void (*run)();
  } all[] = {{"captured_streams", captured_streams},
             {"explicit_nodes", explicit_nodes},
             {"mistake_in_graph", mistake_in_graph},
             {"symbols_and_memory", symbols_and_memory},
             {"grid_barrier_of_one_wave", launch_next_block<one_wave_arrives>},
             {"grid_barrier_of_all_waves", launch_next_block<all_waves_arrive>},
             {"no_grid_barrier", launch_next_block<none>},
             {"grid_barrier_without_a_workgroup", launch_next_block<last_workgroup_leaves>},
             {"grid_barrier_not_cooperative", not_cooperative},
             {"compiled_at_run_time", compiled_at_run_time}};
  for (const auto& entry : all)
    if (name == entry.name) return entry.run(), failures != 0;
  return 3;
}
