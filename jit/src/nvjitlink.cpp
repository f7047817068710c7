// SPDX-License-Identifier: MIT
#include "nvjitlink.hpp"

#include <iterator>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {

nvjitlink::nvjitlink(int major, int minor)
    : library_(
          {"libnvJitLink.so.13", "libnvJitLink.so.12", "libnvJitLink.so", "/usr/local/cuda/lib64/libnvJitLink.so"}) {
  int (*version)(unsigned*, unsigned*) = nullptr;
  library_.find(version, "nvJitLinkVersion");
  library_.find(create_, "nvJitLinkCreate");
  library_.find(add_, "nvJitLinkAddData");
  library_.find(complete_, "nvJitLinkComplete");
  library_.find(size_, "nvJitLinkGetLinkedCubinSize");
  library_.find(cubin_, "nvJitLinkGetLinkedCubin");
  library_.find(log_size_, "nvJitLinkGetErrorLogSize");
  library_.find(log_, "nvJitLinkGetErrorLog");
  library_.find(destroy_, "nvJitLinkDestroy");
  unsigned own_major = 0, own_minor = 0;
  if (version(&own_major, &own_minor) != 0 || int(own_major) < major ||
      (int(own_major) == major && int(own_minor) < minor))
    throw error("nvJitLink is older than NVRTC");
}

std::string nvjitlink::link(const std::string& lto_ir, const std::string& name, const std::string& target) const {
  struct link {
    ~link() {
      if (handle != nullptr) (void)destroy(&handle);
    }
    int (*destroy)(void**);
    void* handle = nullptr;
  } l{destroy_};
  const std::string arch = "-arch=" + target;
  const char* options[] = {arch.c_str(), "-lto", "-optimize-unused-variables", "-variables-used=tilewright_facts"};
  constexpr int is_lto_ir = 3;
  std::size_t size = 0;
  std::string cubin;
  bool ok = create_(&l.handle, unsigned(std::size(options)), options) == 0 &&
            add_(l.handle, is_lto_ir, lto_ir.data(), lto_ir.size(), name.c_str()) == 0 && complete_(l.handle) == 0 &&
            size_(l.handle, &size) == 0;
  if (ok) {
    cubin.resize(size);
    ok = cubin_(l.handle, cubin.data()) == 0;
  }
  if (!ok) throw error("nvJitLink could not link " + name + " for " + target, log_of(l.handle));
  return cubin;
}

std::string nvjitlink::log_of(void* link) const {
  std::size_t size = 0;
  if (link == nullptr || log_size_(link, &size) != 0 || size == 0) return {};
  std::string text(size, '\0');
  if (log_(link, text.data()) != 0) return {};
  text.resize(size - 1);
  return text;
}

}  // namespace tilewright::jit
