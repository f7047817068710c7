// SPDX-License-Identifier: MIT
// A GPU through the CUDA driver, whose interface is declared here: no header of CUDA is needed to build the library.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "gpu.hpp"
#include "graph_timer.hpp"
#include "shared_library.hpp"
#include "targets.hpp"
#include "tensor_map_driver.hpp"

namespace tilewright::jit {
namespace {

// CUlaunchAttribute and CUlaunchConfig.
struct launch_attribute {
  int id;  // 4: cluster; 6: may start before the previous kernel has ended
  int padding;
  unsigned value[16];
};
struct launch_config {
  unsigned grid[3], block[3], lds_bytes;
  void* stream;
  launch_attribute* attributes;
  unsigned num_attributes;
};

/// The form in which the driver takes a launch.
struct driver_launch {
  launch_attribute attributes[2] = {};
  launch_config config = {};

  explicit driver_launch(const launch_shape& s, void* stream = nullptr) {
    for (int i = 0; i < 3; ++i) config.grid[i] = unsigned(s.grid[i]);
    config.block[0] = unsigned(s.block_size);
    config.block[1] = config.block[2] = 1;
    config.lds_bytes = unsigned(s.lds_bytes);
    config.stream = stream;
    config.attributes = attributes;
    if (s.cluster > 1) attributes[config.num_attributes++] = {4, 0, {unsigned(s.cluster), 1, 1}};
    if (s.overlaps_previous) attributes[config.num_attributes++] = {6, 0, {1}};
  }
  driver_launch(const driver_launch&) = delete;
};

class nvidia_gpu final : public gpu {
 public:
  explicit nvidia_gpu(int device) : library_({"libcuda.so.1"}), device_(device) {
    library_.find(error_string_, "cuGetErrorString");
    library_.find(get_current_, "cuCtxGetCurrent");
    library_.find(push_, "cuCtxPushCurrent_v2");
    library_.find(pop_, "cuCtxPopCurrent_v2");
    library_.find(get_current_device_, "cuCtxGetDevice");
    library_.find(get_attribute_, "cuDeviceGetAttribute");
    library_.find(load_, "cuModuleLoadData");
    library_.find(unload_, "cuModuleUnload");
    library_.find(function_, "cuModuleGetFunction");
    library_.find(set_function_attribute_, "cuFuncSetAttribute");
    library_.find(launch_, "cuLaunchKernelEx");
    library_.find(allocate_, "cuMemAlloc_v2");
    library_.find(release_, "cuMemFree_v2");
    library_.find(upload_, "cuMemcpyHtoD_v2");
    library_.find(download_, "cuMemcpyDtoH_v2");
    library_.find(set_, "cuMemsetD8Async");
    library_.find(exchange_capture_mode_, "cuThreadExchangeStreamCaptureMode");
    library_.find(create_stream_, "cuStreamCreate");
    library_.find(wait_for_stream_, "cuStreamSynchronize");
    library_.find(destroy_stream_, "cuStreamDestroy_v2");
    library_.find(synchronize_, "cuCtxSynchronize");
    library_.find(max_clusters_, "cuOccupancyMaxActiveClusters");
    library_.find(max_blocks_, "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    library_.find(tensor_map_driver().encode, "cuTensorMapEncodeTiled");
    find_device();
  }

  const std::string& target() const override { return target_; }
  const std::string& name() const override { return name_; }
  int SMs() const override { return multiprocessors_; }

  void* load(const std::string& code_object) override {
    const gpu_in_use guard(*this);
    const beside_captures allowed(*this);
    void* module = nullptr;
    require(load_(&module, code_object.data()), "loading a kernel");
    return module;
  }
  void unload(void* module) override { end(unload_, module); }
  void* function(void* module, const std::string& name, int lds_bytes) override {
    const gpu_in_use guard(*this);
    void* result = nullptr;
    require(function_(&result, module, name.c_str()), ("looking for " + name).c_str());
    constexpr int max_dynamic_lds = 8;
    if (lds_bytes > 48 * 1024)
      require(set_function_attribute_(result, max_dynamic_lds, lds_bytes), "asking for the kernel's shared memory");
    return result;
  }
  void launch(void* function, const launch_shape& shape, const void* args, std::size_t, void* stream) override {
    const gpu_in_use guard(*this);
    void* parameter = const_cast<void*>(args);
    const driver_launch how(shape, stream);
    require(launch_(&how.config, function, &parameter, nullptr), "queueing the kernel");
  }
  void* allocate(std::size_t bytes) override {
    const gpu_in_use guard(*this);
    const beside_captures allowed(*this);
    void* memory = nullptr;
    require(allocate_(&memory, bytes), "allocating memory");
    return memory;
  }
  void release(void* memory) override { end(release_, memory); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    const gpu_in_use guard(*this);
    require(upload_(to, from, bytes), "copying to the GPU");
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    synchronize();
    const gpu_in_use guard(*this);
    require(download_(to, from, bytes), "copying from the GPU");
  }
  void clear(void* memory, std::size_t bytes) override {
    const gpu_in_use guard(*this);
    const beside_captures allowed(*this);
    constexpr unsigned non_blocking = 1;  // ordered with no other stream: the memory is new to them
    void* stream = nullptr;
    require(create_stream_(&stream, non_blocking), "making a stream");
    const int set = set_(memory, 0, bytes, stream), waited = wait_for_stream_(stream);
    (void)destroy_stream_(stream);
    require(set, "clearing memory");
    require(waited, "clearing memory");
  }
  void synchronize() override {
    const gpu_in_use guard(*this);
    require(synchronize_(), "running a kernel");
  }
  std::vector<double> time(const std::vector<repeated_launch>& launches) override {
    const gpu_in_use guard(*this);
    graph_timer timer(library_, [this](int result, const char* what) { require(result, what); });
    for (const repeated_launch& l : launches) timer.capture(l);
    return timer.replay();
  }
  launch_facts facts(void* function, const launch_shape& shape) override {
    const gpu_in_use guard(*this);
    int count = 0;
    if (shape.cluster > 1) {
      launch_shape one = shape;
      one.grid[0] = shape.cluster;
      one.grid[1] = one.grid[2] = 1;
      const driver_launch how(one);
      require(max_clusters_(&count, function, &how.config), "asking how many clusters run at the same time");
    } else {
      require(max_blocks_(&count, function, shape.block_size, std::size_t(shape.lds_bytes)),
              "asking how many blocks fit on an SM");
      count *= multiprocessors_;
    }
    if (count == 0) throw error("the GPU cannot run one cluster of this kernel");
    return {.resident_clusters = count, .make_tensor_map = make_tensor_map};
  }

  /// The caller's context remains if it is one of this GPU; else that of CUDA's runtime is current for a while.
  bool enter() const override {
    void* current = nullptr;
    require(get_current_(&current), "looking for a context");
    if (current == context_) return false;
    int device = -1;
    if (current != nullptr) require(get_current_device_(&device), "looking for a GPU");
    if (device == device_) return false;
    require(push_(context_), "using the GPU's context");
    return true;
  }
  void leave() const override {
    void* popped = nullptr;
    (void)pop_(&popped);
  }

 private:
  /// Of a destructor, which may run when the driver has gone.
  void end(int (*function)(void*), void* what) const {
    try {
      const gpu_in_use guard(*this);
      (void)function(what);
    } catch (const error&) {
    }
  }
  void require(int result, const char* what) const {
    if (result == 0) return;
    const char* text = nullptr;
    if (error_string_(result, &text) != 0 || text == nullptr) text = "unknown error of the driver";
    throw error(std::string(what) + ": " + text);
  }
  /// While a stream is captured into a graph, the driver refuses calls such as an allocation, and the capture fails,
  /// unless the thread says that they are not meant for the graph.
  class beside_captures {
   public:
    explicit beside_captures(const nvidia_gpu& g) : gpu_(g) { (void)gpu_.exchange_capture_mode_(&mode_); }
    ~beside_captures() { (void)gpu_.exchange_capture_mode_(&mode_); }
    beside_captures(const beside_captures&) = delete;
    beside_captures& operator=(const beside_captures&) = delete;

   private:
    const nvidia_gpu& gpu_;
    int mode_ = 2;  // relaxed; then the thread's own
  };
  int attribute(int number) const {
    int value = 0;
    require(get_attribute_(&value, number, device_), "asking for the GPU's properties");
    return value;
  }

  void find_device() {
    int (*init)(unsigned) = nullptr;
    int (*get_name)(char*, int, int) = nullptr;
    int (*retain)(void**, int) = nullptr;
    library_.find(init, "cuInit");
    library_.find(get_name, "cuDeviceGetName");
    library_.find(retain, "cuDevicePrimaryCtxRetain");
    require(init(0), "looking for a GPU");
    void* current = nullptr;
    require(get_current_(&current), "looking for a context");
    if (device_ < 0) {
      device_ = 0;
      if (current != nullptr) require(get_current_device_(&device_), "looking for a GPU");
    }
    require(retain(&context_, device_), "making the GPU's context");
    char text[256] = {};
    require(get_name(text, sizeof text, device_), "asking for the GPU's name");
    name_ = text;
    multiprocessors_ = attribute(16);
    const int major = attribute(75), minor = attribute(76);
    target_ = major == 9 ? "sm_90a" : major == 8 ? "sm_80" : "sm_" + std::to_string(10 * major + minor);
    require_known_target(target_);
  }

  shared_library library_;
  int (*error_string_)(int, const char**) = nullptr;
  int (*get_current_)(void**) = nullptr;
  int (*push_)(void*) = nullptr;
  int (*pop_)(void**) = nullptr;
  int (*get_current_device_)(int*) = nullptr;
  int (*get_attribute_)(int*, int, int) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*set_function_attribute_)(void*, int, int) = nullptr;
  int (*launch_)(const launch_config*, void*, void**, void**) = nullptr;
  int (*max_clusters_)(int*, void*, const launch_config*) = nullptr;
  int (*max_blocks_)(int*, void*, int, std::size_t) = nullptr;
  int (*allocate_)(void**, std::size_t) = nullptr;  // a CUdeviceptr is an address
  int (*release_)(void*) = nullptr;
  int (*upload_)(void*, const void*, std::size_t) = nullptr;
  int (*download_)(void*, const void*, std::size_t) = nullptr;
  int (*set_)(void*, unsigned char, std::size_t, void*) = nullptr;
  int (*exchange_capture_mode_)(int*) = nullptr;
  int (*create_stream_)(void**, unsigned) = nullptr;
  int (*wait_for_stream_)(void*) = nullptr;
  int (*destroy_stream_)(void*) = nullptr;
  int (*synchronize_)() = nullptr;
  std::string target_, name_;
  int device_ = -1, multiprocessors_ = 0;
  void* context_ = nullptr;
};

}  // namespace

std::shared_ptr<gpu> find_nvidia_gpu(int device) { return std::make_shared<nvidia_gpu>(device); }

namespace {

/// What the driver says of streams and contexts.
struct context_functions {
  int (*get_current)(void**) = nullptr;
  int (*of_stream)(void*, void**) = nullptr;
  int (*device)(int*) = nullptr;
  int (*push)(void*) = nullptr;
  int (*pop)(void**) = nullptr;

  int device_of(void* stream) const {
    void *context = nullptr, *popped = nullptr;
    int number = 0;
    if (reinterpret_cast<std::uintptr_t>(stream) <= 2) {  // the default stream, or that of a thread
      if (get_current(&context) != 0) throw error("CUDA has no context");
      return context == nullptr || device(&number) == 0 ? number : 0;
    }
    if (of_stream(stream, &context) != 0 || push(context) != 0)
      throw error("CUDA does not know the stream; give one that exists, or none");
    (void)device(&number);
    (void)pop(&popped);
    return number;
  }
};

}  // namespace

device_finder find_nvidia_devices() {
  static context_functions functions;
  const shared_library library({"libcuda.so.1"});
  library.find(functions.get_current, "cuCtxGetCurrent");
  library.find(functions.of_stream, "cuStreamGetCtx");
  library.find(functions.device, "cuCtxGetDevice");
  library.find(functions.push, "cuCtxPushCurrent_v2");
  library.find(functions.pop, "cuCtxPopCurrent_v2");
  (void)find_nvidia_gpu(-1);  // throws if there is none
  return [](void* stream) { return functions.device_of(stream); };
}

}  // namespace tilewright::jit
