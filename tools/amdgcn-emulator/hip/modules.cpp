// SPDX-License-Identifier: MIT
// Code objects, and launches of their kernels.
#include "state.hpp"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <elf.h>
#include <unistd.h>

using namespace emulated_hip;

namespace {

// AMDGCN_RUNNER is for whoever calls this runtime, not for the emulator in it.
[[gnu::constructor]] void use_the_emulator() { unsetenv("AMDGCN_RUNNER"); }

void load(ihipModule_t& module, const std::string& path) {
  module.code = std::make_unique<emu::module>(path);
  for (emu::kernel_summary& kernel : module.code->kernels()) module.kernels[kernel.name] = kernel;
}
void load(ihipModule_t& module, const char* object, std::size_t size) {
  std::string path = std::filesystem::temp_directory_path() / "amdgcn-emulated-XXXXXX";  // TMPDIR says where
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("no file can be made as " + path);
  const bool written = write(file, object, size) == ssize_t(size);
  close(file);
  try {
    if (!written) throw std::runtime_error("cannot write to " + path);
    load(module, path);
  } catch (...) {
    unlink(path.c_str());
    throw;
  }
  unlink(path.c_str());
}
/// Loads the code object for the emulated GPU from a bundle: a magic word, the number of entries, and for each its
/// offset, size and target.
void load_bundle(ihipModule_t& module, const char* bundle) {
  constexpr char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
  if (std::memcmp(bundle, magic, 24) != 0) throw std::runtime_error("the kernels are in a format that is not known");
  const auto number = [](const char*& p) {
    std::uint64_t value;
    std::memcpy(&value, p, 8);
    p += 8;
    return value;
  };
  const char* p = bundle + 24;
  for (std::uint64_t left = number(p); left > 0; --left) {
    const std::uint64_t offset = number(p), size = number(p), length = number(p);
    const std::string target(p, length);
    p += length;
    if (target.starts_with("hip") && target.ends_with("--" + emulated_gpu()))
      return load(module, bundle + offset, size);
  }
  throw std::runtime_error("the program has no kernels for " + emulated_gpu());
}

void run(ihipModule_t& module, const std::string& name, dim3 grid, dim3 block, std::size_t lds,
         const emu::kernarg& arguments) {
  module.code->forbid_all();
  for (const auto& [begin, size] : state.allocations) module.code->allow(begin, size);
  emu::options options;
  options.resident = SMs;  // blocks may wait for each other
  const emu::result result =
      module.code->launch(name, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, lds, arguments, options);
  static const bool races_allowed = std::getenv("AMDGCN_EMULATED_RACES") != nullptr;
  if (!result.races.empty() && !races_allowed) throw emu::fault(name + ": " + result.races[0].message);
}
template <class Launch>
hipError_t guarded(Launch launch) {
  const std::lock_guard guard(state.mutex);
  try {
    launch();
    return hipSuccess;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "amdgcn-emulator: %s\n", e.what());
    state.failed_launch.store(hipErrorLaunchFailure);
    return remember(hipErrorLaunchFailure);
  }
}

}  // namespace

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
  state.functions[host] = {reinterpret_cast<fat_binary*>(binary), name};
}
void __hipRegisterVar(void**, void*, char*, char*, int, std::size_t, int, int) {}
void __hipRegisterManagedVar(void*, void**, void*, const char*, std::size_t, unsigned) {}
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
                           hipStream_t) {
  return guarded([&] {
    const registered_function& f = state.functions.at(function);
    ihipModule_t& module = f.binary->module;
    if (!module.code) load_bundle(module, f.binary->bundle);
    emu::kernarg packed;
    for (const emu::kernel_summary::arg& argument : module.kernels.at(f.name).args) {
      packed.bytes.resize(argument.offset + argument.size);
      std::memcpy(packed.bytes.data() + argument.offset, *arguments++, argument.size);
    }
    run(module, f.name, grid, block, lds, packed);
  });
}

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  *module = new ihipModule_t;
  return guarded([&] { load(**module, path); });
}
hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  *module = new ihipModule_t;
  return guarded([&] {
    const auto* const bytes = static_cast<const char*>(image);
    Elf64_Ehdr header;
    std::memcpy(&header, bytes, sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) throw std::runtime_error("the image is no code object");
    load(**module, bytes,
         header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize);  // the table is at the end
  });
}
hipError_t hipModuleUnload(hipModule_t module) { return delete module, hipSuccess; }
hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  if (!module->kernels.contains(name)) return remember(hipErrorNotFound);
  return *function = new ihipModuleSymbol_t{module, name}, hipSuccess;
}
hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                 unsigned by, unsigned bz, unsigned lds, hipStream_t, void**, void** extra) {
  return guarded([&] {
    emu::kernarg packed;
    std::size_t size = 0;
    const char* bytes = nullptr;
    for (; *extra != HIP_LAUNCH_PARAM_END; extra += 2) {
      if (*extra == HIP_LAUNCH_PARAM_BUFFER_POINTER) bytes = static_cast<const char*>(extra[1]);
      if (*extra == HIP_LAUNCH_PARAM_BUFFER_SIZE) size = *static_cast<const std::size_t*>(extra[1]);
    }
    packed.bytes.assign(bytes, bytes + size);
    run(*function->module, function->name, dim3(gx, gy, gz), dim3(bx, by, bz), lds, packed);
  });
}

}  // extern "C"
