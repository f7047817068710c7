// SPDX-License-Identifier: MIT
#include "nvjitlink.hpp"

#include <cctype>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <tilewright/jit/error.hpp>

namespace tilewright::jit {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%'; }
bool is_in_name(char c) { return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)); }

/// Calls `use` with every name in `text`.
template <class Use>
void for_each_name(std::string_view text, Use use) {
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t start = i++;
    if (!is_in_name(text[start])) continue;
    while (i < text.size() && is_in_name(text[i])) ++i;
    if (is_letter(text[start])) use(text.substr(start, i - start));
  }
}

/// The name of the variable of C++, or of the string, that a line defines and that no other file can name; empty for
/// other lines.
std::string_view private_variable(std::string_view line) {
  if (line.substr(0, 8) != ".global " || line.back() != ';') return {};
  std::string_view variable;
  for_each_name(line.substr(0, line.find('=')), [&](std::string_view name) { variable = name; });
  return variable.substr(0, 2) == "_Z" || variable.substr(0, 1) == "$" ? variable : std::string_view();
}

template <class Use>
void for_each_line(std::string_view text, Use use) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    use(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

}  // namespace

std::string without_unused_variables(std::string ptx) {
  for (bool is_done = false; !is_done;) {  // a variable may hold the address of another one
    std::unordered_set<std::string_view> used;
    for_each_line(ptx, [&](std::string_view line) {
      const std::string_view own = private_variable(line);
      for_each_name(line, [&](std::string_view name) {
        if (name != own) used.insert(name);
      });
    });
    std::string rest;
    for_each_line(ptx, [&](std::string_view line) {
      const std::string_view own = private_variable(line);
      if (own.empty() || used.count(own) > 0) (rest += line) += '\n';
    });
    is_done = rest.size() == ptx.size();
    ptx = std::move(rest);
  }
  return ptx;
}

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

std::string nvjitlink::assemble(const std::string& ptx, const std::string& name, const std::string& target) const {
  struct link {
    ~link() {
      if (handle != nullptr) (void)destroy(&handle);
    }
    int (*destroy)(void**);
    void* handle = nullptr;
  } l{destroy_};
  const std::string arch = "-arch=" + target;
  const char* option = arch.c_str();
  constexpr int is_ptx = 2;
  std::size_t size = 0;
  std::string cubin;
  bool ok = create_(&l.handle, 1, &option) == 0 &&
            add_(l.handle, is_ptx, ptx.c_str(), ptx.size() + 1, name.c_str()) == 0 && complete_(l.handle) == 0 &&
            size_(l.handle, &size) == 0;
  if (ok) {
    cubin.resize(size);
    ok = cubin_(l.handle, cubin.data()) == 0;
  }
  if (!ok) throw error("nvJitLink could not assemble " + name + " for " + target, log_of(l.handle));
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
