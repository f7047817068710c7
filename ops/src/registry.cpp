// SPDX-License-Identifier: MIT
#include "registry.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace tilewright::ops {
namespace {

struct kernel_registry {
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, compiled_kernel> kernels;  // by target and name
};
kernel_registry& registry() {
  static auto* const only = new kernel_registry;  // programs register before main and call until they end
  return *only;
}

}  // namespace

void register_kernel(const compiled_kernel& kernel) {
  const std::lock_guard guard(registry().mutex);
  registry().kernels.insert_or_assign({kernel.target, kernel.name}, kernel);
}

const compiled_kernel* find_compiled(const std::string& target, const std::string& name) {
  const std::lock_guard guard(registry().mutex);
  const auto found = registry().kernels.find({target, name});
  return found == registry().kernels.end() ? nullptr : &found->second;
}

std::string compiled_names(const std::string& target) {
  const std::lock_guard guard(registry().mutex);
  std::string names;
  int count = 0;
  for (const auto& [key, kernel] : registry().kernels) {
    if (key.first != target) continue;
    if (++count > 4) return names + ", ...";
    names += (names.empty() ? "" : ", ") + kernel.name;
  }
  return names;
}

}  // namespace tilewright::ops
