// SPDX-License-Identifier: MIT
// A GPU through HIP's runtime. Only functions that are the same in HIP 5, 6 and 7 are called.
#include <cstddef>
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

class amd_gpu final : public gpu {
 public:
  amd_gpu()
      : library_({std::getenv("TILEWRIGHT_HIP_LIBRARY"), "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                  "libamdhip64.so"}) {
    library_.find(error_string_, "hipGetErrorString");
    library_.find(load_, "hipModuleLoadData");
    library_.find(unload_, "hipModuleUnload");
    library_.find(function_, "hipModuleGetFunction");
    library_.find(launch_, "hipModuleLaunchKernel");
    library_.find(allocate_, "hipMalloc");
    library_.find(release_, "hipFree");
    library_.find(copy_, "hipMemcpy");
    library_.find(synchronize_, "hipDeviceSynchronize");
    int (*init)(unsigned) = nullptr;
    int (*get_device)(int*) = nullptr;
    library_.find(init, "hipInit");
    library_.find(get_device, "hipGetDevice");
    int device = 0;
    require(init(0), "looking for a GPU");
    require(get_device(&device), "looking for a GPU");
    read_properties(device);
    require_known_target(target_);
  }

  const std::string& target() const override { return target_; }
  const std::string& name() const override { return name_; }
  int SMs() const override { return 0; }  // nothing for AMD asks

  void* load(const std::string& code_object) override {
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
    void* extra[] = {reinterpret_cast<void*>(1), const_cast<void*>(args),  // HIP_LAUNCH_PARAM_BUFFER_POINTER
                     reinterpret_cast<void*>(2), &bytes,                   // HIP_LAUNCH_PARAM_BUFFER_SIZE
                     reinterpret_cast<void*>(3)};                          // HIP_LAUNCH_PARAM_END
    // Kernels for AMD GPUs declare their LDS themselves.
    require(launch_(function, unsigned(shape.grid[0]), unsigned(shape.grid[1]), unsigned(shape.grid[2]),
                    unsigned(shape.block_size), 1, 1, 0, stream, nullptr, extra),
            "queueing the kernel");
  }
  void* allocate(std::size_t bytes) override {
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
  void synchronize() override { require(synchronize_(), "running a kernel"); }
  launch_facts facts(void*, const launch_shape& shape) override {
    return {.resident_clusters = expected_blocks(target_, shape.lds_bytes, shape.block_size)};
  }

 private:
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
  const char* (*error_string_)(int) = nullptr;
  int (*load_)(void**, const void*) = nullptr;
  int (*unload_)(void*) = nullptr;
  int (*function_)(void**, void*, const char*) = nullptr;
  int (*launch_)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                 void**) = nullptr;
  int (*allocate_)(void**, std::size_t) = nullptr;
  int (*release_)(void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t, int) = nullptr;
  int (*synchronize_)() = nullptr;
  std::string target_, name_;
};

}  // namespace

std::shared_ptr<gpu> find_amd_gpu() { return std::make_shared<amd_gpu>(); }

}  // namespace tilewright::jit
