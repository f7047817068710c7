// SPDX-License-Identifier: MIT
// Code objects, and launches of their kernels.
#include "state.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

using namespace emulated_hip;

namespace {

// AMDGCN_RUNNER is for whoever calls this runtime, not for the emulator in it.
[[gnu::constructor]] void use_the_emulator() { unsetenv("AMDGCN_RUNNER"); }

/// Code objects stay as files until the program ends: source lines are looked up there.
struct temporary_files {
  std::vector<std::string> paths;
  ~temporary_files() {
    for (const std::string& p : paths) unlink(p.c_str());
  }
  std::string write(const char* bytes, std::size_t size) {
    std::string path = std::filesystem::temp_directory_path() / "amdgcn-emulated-XXXXXX";  // TMPDIR says where
    const int file = mkstemp(path.data());
    if (file < 0) throw std::runtime_error("no file can be made as " + path);
    paths.push_back(path);
    std::size_t done = 0;
    for (ssize_t n; done < size && (n = ::write(file, bytes + done, size - done)) > 0;)
      done += static_cast<std::size_t>(n);
    close(file);
    if (done != size) throw std::runtime_error("cannot write to " + path);
    return path;
  }
};
temporary_files files;

void open(ihipModule_t& module, const std::string& path) {
  module.code = std::make_unique<emu::module>(path);
  module.code->use(runtime().memory);
  module.code->on_interrupt(&serve_hostcall);
  for (emu::kernel_summary& kernel : module.code->kernels()) module.kernels[kernel.name] = kernel;
}

void execute(const kernel_call& call) {
  emu::options options;
  options.resident = SMs;  // blocks may wait for each other
  options.all_resident = call.cooperative;
  options.hostcall = hostcall_buffer(), options.heap = device_heap();
  set_check_options(options);
  const dim3 g = call.grid, b = call.block;
  const emu::result result =
      call.module->code->launch(call.name, {g.x, g.y, g.z}, {b.x, b.y, b.z}, call.lds, call.arguments, options);
  if (options.lds_log && !result.lds.empty()) found_banks(call.name, result.lds);
  found(result.findings);
  timed(call.name, result);
  for (const emu::finding& f : result.findings)
    if (f.kind == emu::finding_kind::trap || f.kind == emu::finding_kind::stuck)
      runtime().failed_launch.store(hipErrorLaunchFailure);
  static const bool races_allowed = std::getenv("AMDGCN_EMULATED_RACES") != nullptr;
  if (!result.races.empty() && !races_allowed) throw emu::fault(call.name + ": " + result.races[0].message);
}
template <class Launch>
hipError_t guarded(Launch launch, hipError_t error = hipErrorLaunchFailure) {
  const auto lock = locked();
  std::string what;
  try {
    launch();
    return hipSuccess;
  } catch (const emu::not_supported& e) {
    note_cannot_run(e.what());
  } catch (const std::bad_alloc&) {
    cannot_run("this machine has too little memory to check the kernel");
  } catch (const emu::fault& e) {
    what = e.what();
  } catch (const std::exception& e) {
    what = e.what();
    if (error == hipErrorLaunchFailure) error = hipErrorInvalidConfiguration;
    if (checking() && error == hipErrorInvalidConfiguration)
      found_in_call(emu::finding_kind::invalid_call, "kernel launch", what, nullptr), what.clear();
  }
  if (!what.empty()) std::fprintf(stderr, "amdgcn-emulator: %s\n", what.c_str());
  if (error == hipErrorLaunchFailure || !checking()) runtime().failed_launch.store(hipErrorLaunchFailure);
  return remember(error);
}
emu::kernarg packed(const ihipModule_t& module, const std::string& name, void** arguments) {
  const auto kernel = module.kernels.find(name);
  if (kernel == module.kernels.end()) throw std::runtime_error("the program has no kernel '" + name + "'");
  emu::kernarg bytes;
  for (const emu::kernel_summary::arg& argument : kernel->second.args) {
    bytes.bytes.resize(argument.offset + argument.size);
    std::memcpy(bytes.bytes.data() + argument.offset, *arguments++, argument.size);
  }
  return bytes;
}
hipError_t launch(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t lds, bool cooperative,
                  hipStream_t stream) {
  kernel_call call;
  const hipError_t error = prepare(call, function, grid, block, arguments, lds, cooperative);
  return error == hipSuccess ? submit(stream, std::move(call), function) : error;
}
/// Arguments of a kernel of a module: as pointers to them, or as a buffer with all of them.
emu::kernarg packed(hipFunction_t function, void** params, void** extra) {
  if (!extra) return packed(*function->module, function->name, params);
  std::size_t size = 0;
  const char* first = nullptr;
  for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER) first = static_cast<const char*>(extra[1]);
    if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(extra[1]);
  }
  std::size_t needed = 0;
  for (const auto& a : function->module->kernels.at(function->name).args)
    needed = std::max<std::size_t>(needed, a.offset + a.size);
  emu::kernarg bytes;
  bytes.bytes.assign(first, first + std::min(size, (needed + 7) / 8 * 8));  // programs may round up further
  return bytes;
}
hipError_t launch(hipFunction_t function, dim3 grid, dim3 block, std::size_t lds, bool cooperative, hipStream_t stream,
                  void** params, void** extra) {
  kernel_call call;
  const hipError_t error = guarded([&] {
    call = {function->module, function->name, grid, block, lds, packed(function, params, extra), cooperative};
  });
  return error == hipSuccess ? submit(stream, std::move(call), function) : error;
}
const emu::kernel_summary* summary_of(const void* function) {
  const auto lock = locked();
  const auto f = runtime().functions.find(function);
  if (f == runtime().functions.end()) return nullptr;
  const auto& kernels = module_of(*f->second.binary).kernels;
  const auto k = kernels.find(f->second.name);
  return k == kernels.end() ? nullptr : &k->second;
}
int resident_blocks(int block) { return std::max(1, 2048 / std::max(block, 1)); }
emu::memory::buffer symbol_of(const void* var) {
  const auto lock = locked();
  const auto f = runtime().variables.find(var);
  if (f == runtime().variables.end()) return {nullptr, 0, ""};
  return module_of(*f->second.binary).code->variable(f->second.name);
}
hipError_t copy_symbol(const void* var, std::size_t offset, std::size_t size, const char* call,
                       void (*copy)(char* device, const void* host, std::size_t), const void* host) {
  const emu::memory::buffer s = symbol_of(var);
  if (!s.data) return remember(hipErrorInvalidSymbol);
  if (offset + size > s.bytes) {
    found_in_call(emu::finding_kind::out_of_bounds, call,
                  std::to_string(size) + " bytes at offset " + std::to_string(offset) + " of the variable " + s.label +
                      ", which has " + std::to_string(s.bytes),
                  nullptr);
    return remember(hipErrorInvalidValue);
  }
  copy(static_cast<char*>(s.data) + offset, host, size);
  return hipSuccess;
}

}  // namespace

namespace emulated_hip {
hipError_t prepare(kernel_call& call, const void* function, dim3 grid, dim3 block, void** arguments, std::size_t lds,
                   bool cooperative) {
  return guarded([&] {
    const auto f = runtime().functions.find(function);
    if (f == runtime().functions.end()) throw std::runtime_error("the kernel is not one that the program registered");
    ihipModule_t& module = module_of(*f->second.binary);
    const std::string& name = f->second.name;
    call = {&module, name, grid, block, lds, packed(module, name, arguments), cooperative};
  });
}
hipError_t run(const kernel_call& call) {
  return guarded([&] { execute(call); });
}
void load(ihipModule_t& module, const char* bytes, std::size_t size) { open(module, files.write(bytes, size)); }
ihipModule_t& module_of(fat_binary& binary) {
  if (!binary.module.code) try {
      load_image(binary.module, binary.bundle);
    } catch (const emu::fault&) {
      throw;
    } catch (const std::exception& e) {
      cannot_run(e.what());
    }
  return binary.module;
}
}  // namespace emulated_hip

extern "C" {

// What the compiler emits for kernels in a program and for launches with <<<>>>.
void** __hipRegisterFatBinary(const void* wrapper) {
  auto* const binary = new fat_binary;  // for the life of the program
  std::memcpy(&binary->bundle, static_cast<const char*>(wrapper) + 8, sizeof binary->bundle);
  return reinterpret_cast<void**>(binary);
}
void __hipUnregisterFatBinary(void**) {}
void __hipRegisterFunction(void** binary, const void* host, char*, const char* name, unsigned, void*, void*, void*,
                           void*, int*) {
  runtime().functions[host] = {reinterpret_cast<fat_binary*>(binary), name};
}
void __hipRegisterVar(void** binary, void* var, char*, char* name, int, std::size_t, int, int) {
  runtime().variables[var] = {reinterpret_cast<fat_binary*>(binary), name};
}
void __hipRegisterManagedVar(void*, void** pointer, void* initial, const char*, std::size_t size, unsigned) {
  *pointer = runtime().memory.allocate(size, "a managed variable");
  if (initial) std::memcpy(*pointer, initial, size);
  runtime().memory.mark_written(*pointer, size);
}
void __hipRegisterSurface(void**, void*, char*, char*, int, int) { cannot_run("surfaces are not supported"); }
void __hipRegisterTexture(void**, void*, char*, char*, int, int, int) { cannot_run("textures are not supported"); }
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, std::size_t lds, hipStream_t stream) {
  return pushed.push_back({grid, block, lds, stream}), hipSuccess;
}
hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, std::size_t* lds, hipStream_t* stream) {
  const launch_shape top = pushed.back();
  pushed.pop_back();
  *grid = top.grid, *block = top.block, *lds = top.lds, *stream = top.stream;
  return hipSuccess;
}
hipError_t hipLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t lds,
                           hipStream_t stream) {
  return launch(function, grid, block, arguments, lds, false, stream);
}
hipError_t hipExtLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t lds,
                              hipStream_t stream, hipEvent_t start, hipEvent_t stop, int) {
  if (start) (void)hipEventRecord(start, stream);
  const hipError_t error = launch(function, grid, block, arguments, lds, false, stream);
  if (stop) (void)hipEventRecord(stop, stream);
  return error;
}
hipError_t hipLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, unsigned lds,
                                      hipStream_t stream) {
  return launch(function, grid, block, arguments, lds, true, stream);
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  *module = new ihipModule_t;
  return guarded(
      [&] {
        std::ifstream file(path, std::ios::binary);
        const std::vector<char> image{std::istreambuf_iterator<char>(file), {}};
        // A code object is read where it is, so that findings name the file; hipcc --genco writes a bundle of them.
        is_bundle(image) ? load_image(**module, image.data()) : open(**module, path);
      },
      hipErrorFileNotFound);
}
hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  *module = new ihipModule_t;
  return guarded([&] { load_image(**module, static_cast<const char*>(image)); }, hipErrorInvalidImage);
}
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, hipJitOption*, void**) {
  return hipModuleLoadData(module, image);
}
hipError_t hipModuleUnload(hipModule_t module) { return delete module, hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  if (!module->kernels.contains(name)) return remember(hipErrorNotFound);
  return *function = new ihipModuleSymbol_t{module, name}, hipSuccess;
}
hipError_t hipModuleGetGlobal(hipDeviceptr_t* p, std::size_t* bytes, hipModule_t module, const char* name) {
  const emu::memory::buffer v = module->code->variable(name);
  if (!v.data) return remember(hipErrorNotFound);
  if (p) *p = v.data;
  if (bytes) *bytes = v.bytes;
  return hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void** params,
                                 void** extra) {
  return launch(function, dim3(gx, gy, gz), dim3(bx, by, bz), lds, false, stream, params, extra);
}
hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                            unsigned by, unsigned bz, unsigned lds, hipStream_t stream, void** params) {
  return launch(function, dim3(gx, gy, gz), dim3(bx, by, bz), lds, true, stream, params, nullptr);
}
hipError_t hipExtModuleLaunchKernel(hipFunction_t f, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by,
                                    uint32_t bz, std::size_t lds, hipStream_t stream, void** params, void** extra,
                                    hipEvent_t start, hipEvent_t stop, uint32_t) {
  if (start) (void)hipEventRecord(start, stream);
  const hipError_t error = hipModuleLaunchKernel(f, gx / bx, gy / by, gz / bz, bx, by, bz, static_cast<unsigned>(lds),
                                                 stream, params, extra);
  if (stop) (void)hipEventRecord(stop, stream);
  return error;
}

hipError_t hipGetSymbolAddress(void** p, const void* var) {
  *p = symbol_of(var).data;
  return *p ? hipSuccess : remember(hipErrorInvalidSymbol);
}
hipError_t hipGetSymbolSize(std::size_t* bytes, const void* var) {
  const emu::memory::buffer s = symbol_of(var);
  *bytes = s.bytes;
  return s.data ? hipSuccess : remember(hipErrorInvalidSymbol);
}
hipError_t hipMemcpyToSymbol(const void* var, const void* from, std::size_t size, std::size_t offset, hipMemcpyKind) {
  return copy_symbol(
      var, offset, size, "hipMemcpyToSymbol", [](char* d, const void* h, std::size_t n) { std::memcpy(d, h, n); },
      from);
}
hipError_t hipMemcpyToSymbolAsync(const void* var, const void* from, std::size_t size, std::size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemcpyToSymbol,
                [=] { return hipMemcpyToSymbol(var, from, size, offset, kind); });
}
hipError_t hipMemcpyFromSymbol(void* to, const void* var, std::size_t size, std::size_t offset, hipMemcpyKind) {
  return copy_symbol(
      var, offset, size, "hipMemcpyFromSymbol",
      [](char* d, const void* h, std::size_t n) { std::memcpy(const_cast<void*>(h), d, n); }, to);
}
hipError_t hipMemcpyFromSymbolAsync(void* to, const void* var, std::size_t size, std::size_t offset, hipMemcpyKind kind,
                                    hipStream_t stream) {
  return submit(stream, hipGraphNodeTypeMemcpyFromSymbol,
                [=] { return hipMemcpyFromSymbol(to, var, size, offset, kind); });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* a, const void* function) {
  const emu::kernel_summary* k = summary_of(function);
  if (!k) return remember(hipErrorInvalidDeviceFunction);
  *a = {};
  a->numRegs = static_cast<int>(k->vgprs), a->sharedSizeBytes = k->lds_bytes, a->localSizeBytes = k->scratch_bytes;
  a->maxThreadsPerBlock = static_cast<int>(k->max_workgroup);
  a->maxDynamicSharedSizeBytes = static_cast<int>(65536 - k->lds_bytes);
  return hipSuccess;
}
hipError_t hipFuncSetAttribute(const void*, hipFuncAttribute, int) { return hipSuccess; }
hipError_t hipFuncSetCacheConfig(const void*, hipFuncCache_t) { return hipSuccess; }
hipError_t hipFuncSetSharedMemConfig(const void*, hipSharedMemConfig) { return hipSuccess; }
hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t f) {
  const emu::kernel_summary& k = f->module->kernels.at(f->name);
  *value = static_cast<int>(attribute == HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? k.max_workgroup
                            : attribute == HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES   ? k.lds_bytes
                            : attribute == HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES    ? k.scratch_bytes
                            : attribute == HIP_FUNC_ATTRIBUTE_NUM_REGS            ? k.vgprs
                                                                                  : 0);
  return hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int block, std::size_t) {
  return *blocks = checking() ? resident_blocks(block) : 1, hipSuccess;
}
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* f, int block, std::size_t lds,
                                                                 unsigned) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, block, lds);
}
hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t, int block, std::size_t lds) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, static_cast<const void*>(nullptr), block, lds);
}
hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* f, std::size_t, int limit) {
  const emu::kernel_summary* k = summary_of(f);
  *block = static_cast<int>(k ? k->max_workgroup : 256);
  if (limit > 0) *block = std::min(*block, limit);
  return *grid = SMs * resident_blocks(*block), hipSuccess;
}

}  // extern "C"
