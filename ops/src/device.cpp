// SPDX-License-Identifier: MIT
#include "device.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <tilewright/jit/error.hpp>
#include <tilewright/launch/launch_error.hpp>

#include "registry.hpp"

namespace tilewright::ops {
namespace {

constexpr std::size_t most_plans = 1 << 14;

/// A sentence of jit without its first word.
std::string sentence_of(const jit::error& e) {
  const std::string text = e.what();
  return text.starts_with("jit: ") ? text.substr(5) : text;
}

/// The call is at fault, as a sentence of jit or of a kernel says.
[[noreturn]] void refuse_as(const char* operation, const jit::error& e) {
  std::string why = sentence_of(e);
  const std::size_t colon = why.find(": ");  // after the name of an operation or a kernel
  if (colon < why.find(' ')) why.erase(0, colon + 2);
  refuse(operation, why);
}

/// What jit says of an archive of add_program_archive().
constexpr const char* linked = "linked into the program";
/// The provider that an explanation names for kernels of linked archives and of register_kernel().
constexpr const char* compiled_in = "compiled into the program";

/// Operations of which tilewright_add_kernels compiles kernels for the CPU emulator.
constexpr std::string_view emulated_operations[] = {"gemm",    "attention",     "rms_norm", "layer_norm",
                                                    "softmax", "cross_entropy", "rotary"};

/// How a program gets the kernels of an operation.
std::string how_to_add(const std::string& operation, const device_facts& on) {
  if (on.is_emulated() && std::ranges::find(emulated_operations, operation) == std::end(emulated_operations))
    return "tilewright_add_kernels has none of " + operation +
           " for the CPU emulator; run the program on the emulated AMD GPU (docs/ops.md, Without a GPU)";
  return "in CMake, tilewright_add_kernels(<program> OPERATIONS " + operation + " TYPES <types> " +
         (on.is_emulated() ? "EMULATE " : "GPUS ") + on.target + ") adds them" +
         (on.is_emulated() ? "" : ", or name an archive of tilewright-pack in library_options");
}

/// As explanation::target and compiled_kernel::target have it.
std::string name_of_target(const device_facts& on) { return on.target + (on.is_emulated() ? ", CPU emulator" : ""); }

}  // namespace

void require_given(const char* operation, long_index_t given_bytes, long_index_t bytes) {
  if (given_bytes < bytes)
    refuse(operation, "the workspace has " + std::to_string(given_bytes) + " bytes, this call needs " +
                          std::to_string(bytes) + "; give more, or none");
}

void plan::check(const call& c) const {
  if (const auto* const loaded = std::get_if<jit::kernel>(&kernel)) {
    try {
      return loaded->check_bytes(c.args);
    } catch (const jit::refused& e) {
      refuse_as(c.operation, e);
    }
  }
  const compiled_kernel& compiled = *std::get<const compiled_kernel*>(kernel);
  if (const char* why = compiled.check(c.args)) refuse(c.operation, compiled.name + ": " + why);
}

void plan::launch(const call& c) const {
  if (const auto* const loaded = std::get_if<jit::kernel>(&kernel)) {
    try {
      return loaded->launch_bytes(c.args, c.args_bytes, c.stream);
    } catch (const jit::refused& e) {
      refuse_as(c.operation, e);
    } catch (const jit::error& e) {
      throw operation_error(fault_kind::device_failed, std::string(c.operation) + ": " + sentence_of(e));
    }
  }
  check(c);
  const compiled_kernel& compiled = *std::get<const compiled_kernel*>(kernel);
  try {
    compiled.launch(c.args, c.stream);
  } catch (const launch_error& e) {
    refuse(c.operation, e.what());
  } catch (const std::exception& e) {
    throw operation_error(fault_kind::device_failed, std::string(c.operation) + ": " + e.what());
  }
}

device::device(const library_options& options, int number, const std::string& emulated) {
  facts_.target = emulated;
  if (!emulated.empty()) return;
  jit::compiler_options own = options.jit;
  own.target.clear();
  own.device = number;
  compiler_.emplace(own);
  facts_ = {compiler_->target(), compiler_->SMs(), &*compiler_};
}

std::shared_ptr<const plan> device::plan_for(const call& c) {
  {
    const std::shared_lock guard(plans_mutex_);
    const auto known = plans_.find(c.key);
    if (known != plans_.end()) return known->second;
  }
  std::shared_ptr<const plan> made = make_plan(c);
  const std::lock_guard guard(plans_mutex_);
  if (plans_.size() >= most_plans) plans_.clear();  // lengths that never come back
  return plans_.try_emplace(c.key, std::move(made)).first->second;
}

std::shared_ptr<const plan> device::make_plan(const call& c) {
  std::vector<candidate> list;
  jit::kernel_source first;
  try {
    list = c.choose(c.problem, facts_);
    if (list.front().source) first = list.front().source(facts_.target);
  } catch (const jit::error& e) {
    refuse_as(c.operation, e);
  }
  if (auto best = plan_of_registered(c, list.front())) return best;
  std::string why;
  if (compiler_ && list.front().source) {
    try {
      for (const candidate& e : list)
        if (&e == &list.front() || e.is_for_archives)
          if (const std::string where = compiler_->archive_of(e.source); !where.empty())
            return plan_of_loaded(c, e, e.source(facts_.target), where == linked ? compiled_in : "an archive");
      return plan_of_loaded(c, list.front(), first, "jit");
    } catch (const jit::refused& e) {
      refuse_as(c.operation, e);
    } catch (const jit::error& e) {
      why = sentence_of(e);
      const std::size_t at = why.find("error: ");
      if (c.expression && !e.log.empty() && at != std::string::npos)
        refuse(c.operation,
               "the expression '" + std::string(c.expression) + "' does not compile: " + why.substr(at + 7));
    }
  }
  for (const candidate& e : list)
    if (auto next = plan_of_registered(c, e)) return next;
  const std::string target = name_of_target(facts_), names = compiled_names(target);
  throw operation_error(fault_kind::no_kernel,
                        std::string(c.operation) + ": no kernel " + list.front().kernel + " for " + target +
                            " is compiled into the program" + (names.empty() ? "" : " (there are " + names + ")") +
                            (why.empty() ? "" : ", and jit failed: " + why) + "; " + how_to_add(c.operation, facts_));
}

std::shared_ptr<const plan> device::plan_of_registered(const call& c, const candidate& e) const {
  const std::string target = name_of_target(facts_);
  const compiled_kernel* const k = find_compiled(target, e.kernel);
  return k && k->args_bytes == c.args_bytes ? plan_of(c, e, compiled_in, k) : nullptr;
}

std::shared_ptr<const plan> device::plan_of_loaded(const call& c, candidate e, const jit::kernel_source& source,
                                                   const char* provider) {
  jit::kernel kernel = compiler_->load(source);
  e.kernel = kernel.name();
  return plan_of(c, e, provider, std::move(kernel));
}

std::shared_ptr<const plan> device::plan_of(const call& c, const candidate& e, const char* provider,
                                            plan::kernel_type kernel) const {
  return std::make_shared<const plan>(
      plan{{c.operation, name_of_target(facts_), e.kernel, e.choice, e.reason, provider, e.workspace_bytes},
           std::move(kernel),
           e.splits,
           e.workspace_bytes,
           e.counts_in_workspace});
}

std::shared_ptr<workspace> device::workspace_of(void* stream, int number) {
  const std::lock_guard guard(workspaces_mutex_);
  std::shared_ptr<workspace>& w = workspaces_[{stream, number}];
  if (!w) w = std::make_shared<workspace>();
  return w;
}

void device::grow(workspace& w, long_index_t bytes) {
  const auto size = std::size_t(bytes);
  if (compiler_) {
    jit::buffer larger = compiler_->allocate(size);
    larger.clear();
    w.on_gpu.push_back(std::move(larger));
    w.data = w.on_gpu.back().data();
  } else {
    w.on_cpu = std::make_unique<std::byte[]>(size + 15);
    w.data = w.on_cpu.get() + (16 - reinterpret_cast<std::uintptr_t>(w.on_cpu.get()) % 16) % 16;
  }
  w.bytes = bytes;
}

held_workspace device::hold(const char* operation, void* stream, int number, long_index_t bytes) {
  const std::shared_ptr<workspace> own = workspace_of(stream, number);
  held_workspace held{own, std::unique_lock(own->mutex)};
  if (own->bytes < bytes) {
    try {
      grow(*own, std::max(bytes, 2 * own->bytes));  // all of them are less than twice the last
    } catch (const jit::error& e) {
      throw operation_error(fault_kind::device_failed, std::string(operation) + ": no workspace of " +
                                                           std::to_string(bytes) + " bytes: " + sentence_of(e));
    }
  }
  held.data = own->data;
  return held;
}

void device::run(const call& c, const plan& p, void (plan::*step)(const call&) const) {
  if (c.splits != nullptr) *c.splits = p.splits;
  if (p.workspace_bytes == 0) return (p.*step)(c);
  if (c.given_workspace != nullptr) {
    require_given(c.operation, c.given_bytes, p.workspace_bytes);
    *c.workspace = c.given_workspace;
    return (p.*step)(c);
  }
  const held_workspace held = hold(c.operation, c.stream, p.counts_in_workspace ? 1 : 0, p.workspace_bytes);
  *c.workspace = held.data;
  (p.*step)(c);
}

void device::release_workspace(void* stream) {
  const std::lock_guard guard(workspaces_mutex_);
  std::erase_if(workspaces_, [stream](const auto& entry) { return entry.first.first == stream; });
}

}  // namespace tilewright::ops
