// SPDX-License-Identifier: MIT
// A GPU through HIP's runtime. Only functions that are the same in HIP 5, 6 and 7 are called.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tilewright/jit/error.hpp>

#include "gpu.hpp"
#include "shared_library.hpp"
#include "targets.hpp"

namespace tilewright::jit {
namespace {

shared_library hip_library() {
  return shared_library({std::getenv("TILEWRIGHT_HIP_LIBRARY"), "libamdhip64.so.7", "libamdhip64.so.6",
                         "libamdhip64.so.5", "libamdhip64.so"});
}

class amd_gpu final : public gpu {
 public:
  explicit amd_gpu(int device) : library_(hip_library()), device_(device) {
    library_.find(error_string_, "hipGetErrorString");
    library_.find(load_, "hipModuleLoadData");
    library_.find(unload_, "hipModuleUnload");
    library_.find(function_, "hipModuleGetFunction");
    library_.find(launch_, "hipModuleLaunchKernel");
    library_.find(allocate_, "hipMalloc");
    library_.find(release_, "hipFree");
    library_.find(copy_, "hipMemcpy");
    library_.find(set_, "hipMemset");
    library_.find(synchronize_, "hipDeviceSynchronize");
    library_.find(get_device_, "hipGetDevice");
    library_.find(set_device_, "hipSetDevice");
    int (*init)(unsigned) = nullptr;
    library_.find(init, "hipInit");
    require(init(0), "looking for a GPU");
    if (device_ < 0) require(get_device_(&device_), "looking for a GPU");
    read_properties(device_);
    require_known_target(target_);
  }

  const std::string& target() const override { return target_; }
  const std::string& name() const override { return name_; }
  int SMs() const override { return 0; }  // nothing for AMD asks

  void* load(const std::string& code_object) override {
    const as_current guard(*this);
    void* module = nullptr;
    require(load_(&module, code_object.data()), "loading a kernel");
    return module;
  }
  void unload(void* module) override { (void)unload_(module); }
  void* function(void* module, const std::string& name, int) override {
    void* result = nullptr;
    require(function_(&result, module, name.c_str()), ("looking for " + name).c_str());
    return result;
  }
  void launch(void* function, const launch_shape& shape, const void* args, std::size_t bytes, void* stream) override {
    const as_current guard(*this);
    void* extra[] = {reinterpret_cast<void*>(1), const_cast<void*>(args),  // HIP_LAUNCH_PARAM_BUFFER_POINTER
                     reinterpret_cast<void*>(2), &bytes,                   // HIP_LAUNCH_PARAM_BUFFER_SIZE
                     reinterpret_cast<void*>(3)};                          // HIP_LAUNCH_PARAM_END
    // Kernels for AMD GPUs declare their LDS themselves.
    require(launch_(function, unsigned(shape.grid[0]), unsigned(shape.grid[1]), unsigned(shape.grid[2]),
                    unsigned(shape.block_size), 1, 1, 0, stream, nullptr, extra),
            "queueing the kernel");
  }
  void* allocate(std::size_t bytes) override {
    const as_current guard(*this);
    void* memory = nullptr;
    require(allocate_(&memory, bytes), "allocating memory");
    return memory;
  }
  void release(void* memory) override { (void)release_(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    require(copy_(to, from, bytes, 1), "copying to the GPU");  // hipMemcpyHostToDevice
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    synchronize();
    require(copy_(to, from, bytes, 2), "copying from the GPU");  // hipMemcpyDeviceToHost
  }
  void clear(void* memory, std::size_t bytes) override {
    const as_current guard(*this);
    require(set_(memory, 0, bytes), "clearing memory");
    require(synchronize_(), "clearing memory");
  }
  void synchronize() override {
    const as_current guard(*this);
    require(synchronize_(), "running a kernel");
  }
  launch_facts facts(void*, const launch_shape& shape) override {
    return {.resident_clusters = expected_blocks(target_, shape.lds_bytes, shape.block_size)};
  }

 private:
  /// Makes this GPU the thread's current one for a while.
  class as_current {
   public:
    explicit as_current(const amd_gpu& g) : gpu_(g) {
      g.require(g.get_device_(&before_), "looking for a GPU");
      if (before_ != g.device_) g.require(g.set_device_(g.device_), "using the GPU");
    }
    ~as_current() {
      if (before_ != gpu_.device_) (void)gpu_.set_device_(before_);
    }
    as_current(const as_current&) = delete;
    as_current& operator=(const as_current&) = delete;

   private:
    const amd_gpu& gpu_;
    int before_ = 0;
  };

  void require(int result, const char* what) const {
    if (result != 0) throw error(std::string(what) + ": " + error_string_(result));
  }

  /// hipDeviceProp_t differs between HIP's versions, but begins with the name and has the target, the only text with
  /// "gfx", behind it.
  void read_properties(int device) {
    int (*get_properties)(void*, int) = nullptr;
    library_.find(get_properties, library_.has("hipGetDevicePropertiesR0600") ? "hipGetDevicePropertiesR0600"
                                                                              : "hipGetDeviceProperties");
    std::vector<char> properties(1 << 14);
    require(get_properties(properties.data(), device), "asking for the GPU's properties");
    constexpr std::size_t name_bytes = 256;
    name_ = std::string(properties.data(), ::strnlen(properties.data(), name_bytes));
    const std::string_view rest(properties.data() + name_bytes, properties.size() - name_bytes);
    const std::size_t at = rest.find("gfx");
    if (at == std::string_view::npos) throw error("HIP does not say which target the GPU " + name_ + " is");
    target_ = rest.substr(at, rest.find_first_not_of("gfx0123456789abcdef", at) - at);
  }

  shared_library library_;
  int device_;
  const char* (*error_string_)(int) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                 void**) = nullptr;
  int (*allocate_)(void**, std::size_t) = nullptr;
  int (*release_)(void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t, int) = nullptr;
  int (*set_)(void*, int, std::size_t) = nullptr;
  int (*synchronize_)() = nullptr;
  int (*get_device_)(int*) = nullptr;
  int (*set_device_)(int) = nullptr;
  std::string target_, name_;
};

}  // namespace

std::shared_ptr<gpu> find_amd_gpu(int device) { return std::make_shared<amd_gpu>(device); }

device_finder find_amd_devices() {
  static int (*current)(int*) = nullptr;
  static int (*of_stream)(void*, int*) = nullptr;  // since HIP 5.6
  static const shared_library library = hip_library();
  library.find(current, "hipGetDevice");
  if (library.has("hipStreamGetDevice")) library.find(of_stream, "hipStreamGetDevice");
  (void)find_amd_gpu(-1);  // throws if there is none
  return [](void* stream) {
    int device = 0;
    const bool is_own = reinterpret_cast<std::uintptr_t>(stream) > 2;  // not the default stream, nor that of a thread
    if ((is_own && of_stream ? of_stream(stream, &device) : current(&device)) != 0)
      throw error("HIP does not know the stream; give one that exists, or none");
    return device;
  };
}

}  // namespace tilewright::jit
