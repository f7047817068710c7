// SPDX-License-Identifier: MIT
// The devices of this process, and how a call runs on one of them.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <tilewright/core/arch/arch.hpp>
#include <tilewright/jit/error.hpp>
#include <tilewright/ops/explain.hpp>
#include <tilewright/ops/library_options.hpp>

#include "device.hpp"

namespace tilewright::ops {
namespace {

/// What one configure() began.
struct library {
  explicit library(const library_options& given) : options(given) {
    if (options.emulate.empty())
      if (const char* target = std::getenv("TILEWRIGHT_EMULATE")) options.emulate = target;
    const char* const archives = std::getenv("TILEWRIGHT_ARCHIVES");
    for (std::string rest = archives ? archives : ""; !rest.empty();) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (end > 0) options.jit.archives.push_back(rest.substr(0, end));
      rest.erase(0, end + 1);
    }
  }

  library_options options;
  std::mutex mutex;
  std::map<int, std::shared_ptr<device>> devices;  // by number
};

std::atomic<std::shared_ptr<library>>& current() {
  static auto* const only = new std::atomic<std::shared_ptr<library>>(std::make_shared<library>(library_options{}));
  return *only;
}

std::shared_ptr<device> device_of(library& in, int number) {
  const std::lock_guard guard(in.mutex);
  std::shared_ptr<device>& d = in.devices[number];
  if (!d) d = std::make_shared<device>(in.options, number, in.options.emulate);
  return d;
}

/// Explanations that explain() of this thread collects.
thread_local std::vector<explanation>* explained = nullptr;
/// How many rehearsals this thread has.
thread_local int rehearsals = 0;

}  // namespace

std::shared_ptr<device> device_for(const char* operation, void* stream) {
  const std::shared_ptr<library> in = current().load();
  if (!in->options.emulate.empty() && !arch::find_target(in->options.emulate.c_str())) {
    std::string names;
    for (const arch::target* known : arch::all_targets) names += (names.empty() ? "" : ", ") + std::string(known->name);
    throw operation_error(fault_kind::no_device, std::string(operation) + ": '" + in->options.emulate +
                                                     "' is no target that the CPU emulator has; there are " + names);
  }
  try {
    return device_of(*in, in->options.emulate.empty() ? jit::device_of(stream) : 0);
  } catch (const jit::error& e) {
    const std::string why = std::string(operation) + ": " + std::string(e.what()).substr(5);
    const std::size_t no_gpu = why.rfind("; name a target");
    const char* const remedy = "; to run on the CPU emulator set library_options::emulate or TILEWRIGHT_EMULATE";
    throw operation_error(fault_kind::no_device, no_gpu == std::string::npos ? why : why.substr(0, no_gpu) + remedy);
  }
}

std::vector<explanation>* collect_explanations(std::vector<explanation>* list) {
  return std::exchange(explained, list);
}

bool is_explaining() { return explained != nullptr; }

void run(const call& c) {
  const std::shared_ptr<device> on = device_for(c.operation, c.stream);
  const std::shared_ptr<const plan> p = on->plan_for(c);
  if (explained != nullptr && rehearsals == 0)
    explained->push_back(p->what);
  else if (explained == nullptr)
    on->run(c, *p, rehearsals > 0 ? &plan::check : &plan::launch);
}

rehearsal::rehearsal() { ++rehearsals; }
rehearsal::~rehearsal() { --rehearsals; }
bool is_rehearsing() { return rehearsals > 0; }

held_workspace hold_workspace(const char* operation, void* stream, long_index_t bytes, void* given,
                              long_index_t given_bytes) {
  constexpr std::uintptr_t alignment = 256;
  if ((given == nullptr) != (given_bytes == 0) || reinterpret_cast<std::uintptr_t>(given) % alignment != 0)
    refuse(operation, "workspace and workspace_bytes belong together, and it is aligned to 256 bytes");
  held_workspace held;
  held.data = given;
  if (given != nullptr)
    require_given(operation, given_bytes, bytes);
  else if (explained != nullptr)
    held.data = reinterpret_cast<void*>(alignment);
  else
    held = device_for(operation, stream)->hold(operation, stream, 0, bytes);
  return held;
}

void configure(const library_options& options) { current().store(std::make_shared<library>(options)); }

void release_workspaces(void* stream) { device_for("release_workspaces", stream)->release_workspace(stream); }

std::vector<explanation> explain(const std::function<void()>& calls) {
  std::vector<explanation> list;
  struct scope {
    std::vector<explanation>* before;
    ~scope() { collect_explanations(before); }
  } const scope{collect_explanations(&list)};
  calls();
  return list;
}

}  // namespace tilewright::ops
