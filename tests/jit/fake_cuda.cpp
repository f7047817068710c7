// SPDX-License-Identifier: MIT
// Stands for CUDA's driver, of one H100. As the driver, it does nothing for a thread without a context. Its graphs take
// the time that a test says.
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

namespace {

enum result { success = 0, invalid_value = 1, invalid_context = 201 };

char primary;  // its address is the context
thread_local void* current = nullptr;
int launches = 0, overlapping_launches = 0;
thread_local int encoded_maps = 0;

std::deque<std::string> functions;  // their addresses are the functions
std::string fast;                   // kernels whose name has this in it take half the time
bool is_capturing = false;
double captured = 0, clock_ms = 0;  // of what is captured; of what was replayed

/// CUlaunchAttribute and CUlaunchConfig.
struct launch_attribute {
  unsigned id;
  char pad[4];
  unsigned value[16];
};
struct launch_config {
  unsigned grid[3], block[3], lds_bytes;
  void* stream;
  const launch_attribute* attributes;
  unsigned num_attributes;
};

result if_current() { return current != nullptr ? success : invalid_context; }

}  // namespace

extern "C" {

/// How many kernels were queued.
int fake_cuda_launches() { return launches; }
/// How many of them may overlap the kernel before them.
int fake_cuda_overlapping_launches() { return overlapping_launches; }
/// How many tensor maps this thread has asked for.
int fake_cuda_encoded_maps() { return encoded_maps; }
/// Which kernels take 5 us in a graph; others take 10.
void fake_cuda_fast(const char* part) { fast = part; }

result cuInit(unsigned) { return success; }
result cuGetErrorString(int error, const char** text) {
  *text = error == invalid_context ? "invalid device context" : "invalid argument";
  return success;
}
result cuDeviceGetName(char* text, int size, int) {
  std::strncpy(text, "a GPU that is none", std::size_t(size));
  return success;
}
result cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16 ? 132 : attribute == 75 ? 9 : 0;  // SMs, and 9.0
  return success;
}
result cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &primary;
  return success;
}
result cuCtxGetCurrent(void** context) {
  *context = current;
  return success;
}
result cuCtxGetDevice(int* device) {
  *device = 0;
  return if_current();
}
result cuCtxPushCurrent_v2(void* context) {
  current = context;
  return success;
}
result cuCtxPopCurrent_v2(void** context) {
  *context = current;
  current = nullptr;
  return success;
}
result cuStreamGetCtx(void*, void** context) {
  *context = &primary;
  return success;
}
result cuThreadExchangeStreamCaptureMode(int*) { return success; }
result cuCtxSynchronize() { return if_current(); }
result cuModuleLoadData(void** module, const void*) {
  *module = &primary;
  return if_current();
}
result cuModuleUnload(void*) { return if_current(); }
result cuModuleGetFunction(void** function, void*, const char* name) {
  *function = &functions.emplace_back(name);
  return if_current();
}
result cuFuncSetAttribute(void*, int, int) { return if_current(); }
result cuOccupancyMaxActiveClusters(int* count, void*, const void*) {
  *count = 66;
  return if_current();
}
result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* count, void*, int, std::size_t) {
  *count = 1;
  return if_current();
}
result cuLaunchKernelEx(const launch_config* config, void* function, void**, void**) {
  const std::string& name = *static_cast<const std::string*>(function);
  constexpr unsigned programmatic_serialization = 6;
  for (unsigned i = 0; i < config->num_attributes; ++i)
    overlapping_launches +=
        config->attributes[i].id == programmatic_serialization && config->attributes[i].value[0] == 1;
  if (is_capturing)
    captured += !fast.empty() && name.find(fast) != std::string::npos ? 0.005 : 0.01;
  else
    launches += current != nullptr;
  return if_current();
}
result cuStreamBeginCapture_v2(void*, int) {
  is_capturing = true;
  captured = 0;
  return if_current();
}
result cuStreamEndCapture(void*, void** graph) {
  is_capturing = false;
  *graph = new double(captured);
  return if_current();
}
result cuGraphInstantiateWithFlags(void** ready, void* graph, unsigned long long) {
  *ready = new double(*static_cast<double*>(graph));
  return if_current();
}
result cuGraphDestroy(void* graph) {
  delete static_cast<double*>(graph);
  return if_current();
}
result cuGraphLaunch(void* ready, void*) {
  clock_ms += *static_cast<double*>(ready);
  return if_current();
}
result cuGraphExecDestroy(void* ready) { return cuGraphDestroy(ready); }
result cuEventCreate(void** event, unsigned) {
  *event = new double(0);
  return if_current();
}
result cuEventRecord(void* event, void*) {
  *static_cast<double*>(event) = clock_ms;
  return if_current();
}
result cuEventElapsedTime(float* milliseconds, void* begin, void* end) {
  *milliseconds = float(*static_cast<double*>(end) - *static_cast<double*>(begin));
  return if_current();
}
result cuEventDestroy_v2(void* event) { return cuGraphDestroy(event); }
result cuMemAlloc_v2(void** memory, std::size_t bytes) {
  *memory = std::malloc(bytes);
  return if_current();
}
result cuMemFree_v2(void* memory) {
  if (current != nullptr) std::free(memory);  // a leak checker sees what is not freed
  return if_current();
}
result cuMemcpyHtoD_v2(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return if_current();
}
result cuMemcpyDtoH_v2(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
  return if_current();
}
result cuMemsetD8Async(void*, unsigned char, std::size_t, void*) { return if_current(); }
result cuStreamCreate(void** stream, unsigned) {
  *stream = &primary;
  return if_current();
}
result cuStreamSynchronize(void*) { return if_current(); }
result cuStreamDestroy_v2(void*) { return if_current(); }
/// NVRTC asks for a table of its own, and does without.
result cuGetExportTable(const void**, const void*) { return invalid_value; }
/// A map of 16 words, the first of which depends on all that is asked.
result cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* data, const unsigned long long* lengths,
                              const unsigned long long* strides, const unsigned* box, const unsigned* steps,
                              int interleave, int swizzle, int promotion, int out_of_bounds) {
  if (current == nullptr || data == nullptr) return current == nullptr ? invalid_context : invalid_value;
  ++encoded_maps;
  auto word = reinterpret_cast<unsigned long long>(data);
  const auto add = [&](unsigned long long x) { word = (word ^ x) * 1099511628211u + 1; };
  for (const int x : {type, int(rank), interleave, swizzle, promotion, out_of_bounds}) add(unsigned(x));
  for (unsigned i = 0; i < rank; ++i) add(lengths[i]), add(i > 0 ? strides[i - 1] : 0), add(box[i]), add(steps[i]);
  std::memset(map, 0, 128);
  std::memcpy(map, &word, sizeof word);
  return success;
}
}
