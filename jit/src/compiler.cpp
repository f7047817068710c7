// SPDX-License-Identifier: MIT
#include <tilewright/jit/compiler.hpp>

#include <cstddef>
#include <mutex>
#include <string_view>
#include <vector>

#include "compiler_state.hpp"
#include "in_parallel.hpp"

namespace tilewright::jit {

compiler::compiler(const compiler_options& options) : state_(std::make_shared<state>(options)) {}

const std::string& compiler::target() const { return state_->target; }
int compiler::SMs() const { return state_->device ? state_->device->SMs() : 0; }

std::string compiler::code_object(const kernel_source& source) { return state_->fetch(source); }

kernel compiler::load(const kernel_source& source) {
  kernel result;
  result.state_ = state_->load(source);
  return result;
}

void compiler::prepare(const std::vector<kernel_source>& sources) {
  std::mutex mutex;
  std::size_t done = 0;
  const auto finish = [&](std::size_t i) {
    if (state_->device)
      (void)state_->load(sources[i]);
    else
      (void)state_->fetch(sources[i]);
    const std::lock_guard guard(mutex);
    ++done;
    if (state_->options.on_progress) state_->options.on_progress({done, sources.size(), sources[i].name});
  };
  std::vector<char> is_finished(sources.size(), 0);
  state_->compile_in_processes(sources, [&](std::size_t i) {
    finish(i);
    is_finished[i] = 1;
  });
  in_parallel(sources.size(), state_->options.threads, [&](std::size_t i) {
    if (!is_finished[i]) finish(i);
  });
}

void compiler::prepare(const std::vector<kernel_request>& requests) {
  std::vector<kernel_source> sources;
  for (const kernel_request& request : requests) sources.push_back(request(target()));
  prepare(sources);
}

std::string compiler::archive_key(const kernel_source& source) const { return state_->content_key(make_unit(source)); }

std::string compiler::archive_name(const kernel_source& source) const {
  return state_->archive_name(source, archive_key(source));
}

bool compiler::has_archives() const { return !state_->all_archives().empty(); }

std::string compiler::archive_of(const kernel_request& request) const {
  return !has_archives() ? std::string() : state_->find_archived(archive_key(request(target()))).where;
}

std::string compiler::archived_text(const std::string& name) const {
  for (const auto& a : state_->all_archives()) {
    const std::string_view text = a->text(name);
    if (!text.empty()) return std::string(text);
  }
  return {};
}

std::string compiler::tuned_choice(const std::string& product) const { return state_->tuned_choice(product); }

buffer compiler::allocate(std::size_t bytes) {
  const std::shared_ptr<gpu> device = state_->gpu_for_loading();
  return buffer(device, device->allocate(bytes), bytes);
}

void compiler::synchronize() { state_->gpu_for_loading()->synchronize(); }

std::vector<double> compiler::time(const std::vector<repeated_launch>& launches) {
  return state_->gpu_for_loading()->time(launches);
}

std::string compiler::tuning_key_of_gpu() const {
  const std::shared_ptr<gpu> device = state_->gpu_for_loading();
  return tilewright::tuning_key(device->name(), device->SMs());
}

std::string compiler::cache_trouble() const { return state_->cache.trouble(); }

}  // namespace tilewright::jit
