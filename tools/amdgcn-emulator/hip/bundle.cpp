// SPDX-License-Identifier: MIT
// Finds the code object for the emulated GPU in what compilers put into programs.
#include "state.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>

namespace emulated_hip {
namespace {
template <class T>
T read(const char*& p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  p += sizeof value;
  return value;
}
bool is_elf(const char* p) { return std::memcmp(p, ELFMAG, SELFMAG) == 0; }
std::size_t elf_size(const char* p) {  // the table of sections is at the end
  Elf64_Ehdr header;
  std::memcpy(&header, p, sizeof header);
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}
/// A magic word, the number of entries, and for each its offset, size and target.
void load_bundle(ihipModule_t& module, const char* bundle) {
  const char* p = bundle + 24;
  std::string have;
  for (std::uint64_t left = read<std::uint64_t>(p); left > 0; --left) {
    const auto offset = read<std::uint64_t>(p), size = read<std::uint64_t>(p), length = read<std::uint64_t>(p);
    const std::string target(p, length);
    p += length;
    if (!target.starts_with("hip")) continue;
    const auto gpu = target.substr(target.rfind("--") + 2);
    if (gpu.substr(0, gpu.find(':')) == emulated_gpu() && size) return load(module, bundle + offset, size);
    have += " " + gpu;
  }
  throw std::runtime_error("the program has no kernels for " + emulated_gpu() + ", but for:" + have +
                           "; compile it with --offload-arch=" + emulated_gpu() + ", or choose a GPU with --gpu");
}
/// libzstd is loaded where it is installed; programs with compressed kernels are rare.
std::vector<char> decompress(const char* from, std::size_t size, std::size_t full, unsigned method) {
  std::vector<char> to(full);
  if (method == 1) {
    void* const library = dlopen("libzstd.so.1", RTLD_NOW);
    using function = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
    const auto run = library ? reinterpret_cast<function>(dlsym(library, "ZSTD_decompress")) : nullptr;
    if (!run) throw std::runtime_error("the program's kernels are compressed, which needs libzstd.so.1");
    if (run(to.data(), full, from, size) == full) return to;
  } else {
    void* const library = dlopen("libz.so.1", RTLD_NOW);
    using function = int (*)(unsigned char*, unsigned long*, const unsigned char*, unsigned long);
    const auto run = library ? reinterpret_cast<function>(dlsym(library, "uncompress")) : nullptr;
    if (!run) throw std::runtime_error("the program's kernels are compressed, which needs libz.so.1");
    unsigned long got = full;
    if (run(reinterpret_cast<unsigned char*>(to.data()), &got, reinterpret_cast<const unsigned char*>(from), size) ==
            0 &&
        got == full)
      return to;
  }
  throw std::runtime_error("the program's compressed kernels are damaged");
}
/// Version 1: magic, version, method (16 bits each), uncompressed size (32 bits), hash; its size is not stated, so that
/// it cannot be known here. Version 2: total size (32 bits) before the uncompressed one. Version 3: both of 64 bits.
std::vector<char> decompress_bundle(const char* image) {
  const char* p = image + 4;
  const auto version = read<std::uint16_t>(p), method = read<std::uint16_t>(p);
  if (version != 2 && version != 3)
    throw std::runtime_error("the program's kernels are compressed in version " + std::to_string(version) +
                             " of the format, which is not supported");
  const std::size_t total = version == 2 ? read<std::uint32_t>(p) : read<std::uint64_t>(p),
                    full = version == 2 ? read<std::uint32_t>(p) : read<std::uint64_t>(p);
  p += 8;  // hash
  return decompress(p, total - static_cast<std::size_t>(p - image), full, method);
}
}  // namespace

bool is_bundle(const std::vector<char>& file) {
  const std::string_view start(file.data(), std::min<std::size_t>(file.size(), 24));
  return start == "__CLANG_OFFLOAD_BUNDLE__" || start.starts_with("CCOB");
}
void load_image(ihipModule_t& module, const char* image) {
  if (is_elf(image)) return load(module, image, elf_size(image));
  if (std::memcmp(image, "__CLANG_OFFLOAD_BUNDLE__", 24) == 0) return load_bundle(module, image);
  if (std::memcmp(image, "CCOB", 4) == 0) {
    const std::vector<char> bundle = decompress_bundle(image);
    return load_image(module, bundle.data());
  }
  throw std::runtime_error("the kernels are in a format that is not known");
}
}  // namespace emulated_hip
