// SPDX-License-Identifier: MIT
#include <tilewright/jit/compiler.hpp>

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <tilewright/jit/archive.hpp>

#include "elf_facts.hpp"
#include "embedded_header.hpp"
#include "file_cache.hpp"
#include "in_parallel.hpp"
#include "kernel_state.hpp"
#include "source_text.hpp"
#include "targets.hpp"
#include "toolchain.hpp"

namespace tilewright::jit {
namespace {

/// Fields with their lengths, so that no two lists of fields make the same text.
std::string joined(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) text.append(std::to_string(field.size())).append(":").append(field);
  return text;
}

/// The name of a source in memory.
std::string memory_key(const kernel_source& s) {
  std::string key = joined({s.name, s.code, s.kernel, s.problem});
  for (const std::string& header : s.uses) key.append(header).append(",");
  return key;
}

}  // namespace

struct compiler::state {
  explicit state(const compiler_options& given) : options(given), cache(given.cache) {
    for (const std::filesystem::path& path : given.archives) archives.push_back(std::make_unique<archive>(path));
    if (!given.target.empty()) {
      require_known_target(given.target);
      target = given.target;
    } else {
      device = find_gpu();
      target = device->target();
    }
  }

  std::string content_key(const translation_unit& unit) const {
    const digest d = sha256(joined({"tilewright-jit 1", embedded_header_digest(), target, joined(options.flags),
                                    joined(unit.definitions), unit.text}));
    return {reinterpret_cast<const char*>(d.data()), d.size()};
  }

  /// The compiler is looked for when the first kernel needs it.
  toolchain& tools() {
    const std::lock_guard guard(tools_mutex);
    if (!tools_) {
      std::unique_ptr<toolchain> made = make_toolchain(target, options.compiler, options.flags);
      made->identity();
      tools_ = std::move(made);
    }
    return *tools_;
  }

  std::string fetch(const kernel_source& source) {
    const translation_unit unit = make_unit(source);
    const std::string content = content_key(unit);
    for (const auto& a : archives) {
      const std::string_view code = a->find(content);
      if (!code.empty()) return std::string(code);
    }
    if (options.on_miss == miss::fail && !options.cache.enabled) fail_on_miss(source);
    const digest key = sha256(joined({content, tools().identity()}));
    if (std::optional<std::string> code = cache.find(key)) return *code;
    if (options.on_miss == miss::fail) fail_on_miss(source);
    const file_cache::lock held(cache, key);
    if (std::optional<std::string> code = cache.find(key)) return *code;  // another process has made it
    std::string code = tools().compile(unit);
    (void)read_facts(code, source.name);
    cache.store(key, source.name + " for " + target, code);
    return code;
  }

  [[noreturn]] void fail_on_miss(const kernel_source& source) const {
    throw error(source.name + " for " + target + " is in no archive" +
                (options.cache.enabled ? " and not in the cache " + cache.directory().string() : std::string()) +
                ", and compiler_options::on_miss forbids to compile it");
  }

  std::shared_ptr<gpu> gpu_for_loading() {
    const std::lock_guard guard(tools_mutex);
    if (!device) {
      std::shared_ptr<gpu> found = find_gpu();
      if (found->target() != target)
        throw error("kernels for " + target + " cannot be loaded: the GPU here is " + found->target());
      device = found;
    }
    return device;
  }

  std::shared_ptr<const kernel::state> load(const kernel_source& source) {
    const std::string name = memory_key(source);
    {
      const std::lock_guard guard(loaded_mutex);
      const auto known = loaded.find(name);
      if (known != loaded.end()) return known->second;
    }
    const std::shared_ptr<gpu> on = gpu_for_loading();
    auto made = std::make_shared<const kernel::state>(on, source, fetch(source));
    const std::lock_guard guard(loaded_mutex);
    return loaded.try_emplace(name, std::move(made)).first->second;
  }

  compiler_options options;
  file_cache cache;
  std::vector<std::unique_ptr<archive>> archives;
  std::string target;
  std::shared_ptr<gpu> device;
  std::unique_ptr<toolchain> tools_;
  std::mutex tools_mutex, loaded_mutex;
  std::unordered_map<std::string, std::shared_ptr<const kernel::state>> loaded;
};

compiler::compiler(const compiler_options& options) : state_(std::make_shared<state>(options)) {}

const std::string& compiler::target() const { return state_->target; }
int compiler::multiprocessors() const { return state_->device ? state_->device->multiprocessors() : 0; }

std::string compiler::code_object(const kernel_source& source) { return state_->fetch(source); }

kernel compiler::load(const kernel_source& source) {
  kernel result;
  result.state_ = state_->load(source);
  return result;
}

void compiler::prepare(const std::vector<kernel_source>& sources) {
  std::mutex mutex;
  std::size_t done = 0;
  in_parallel(sources.size(), state_->options.threads, [&](std::size_t i) {
    if (state_->device)
      (void)state_->load(sources[i]);
    else
      (void)state_->fetch(sources[i]);
    const std::lock_guard guard(mutex);
    ++done;
    if (state_->options.on_progress) state_->options.on_progress({done, sources.size(), sources[i].name});
  });
}

void compiler::prepare(const std::vector<kernel_request>& requests) {
  std::vector<kernel_source> sources;
  for (const kernel_request& request : requests) sources.push_back(request(target()));
  prepare(sources);
}

std::string compiler::archive_key(const kernel_source& source) const { return state_->content_key(make_unit(source)); }

std::string compiler::archived_text(const std::string& name) const {
  for (const auto& a : state_->archives) {
    const std::string_view text = a->text(name);
    if (!text.empty()) return std::string(text);
  }
  return {};
}

buffer compiler::allocate(std::size_t bytes) {
  const std::shared_ptr<gpu> device = state_->gpu_for_loading();
  return buffer(device, device->allocate(bytes), bytes);
}

void compiler::synchronize() { state_->gpu_for_loading()->synchronize(); }

std::string compiler::cache_trouble() const { return state_->cache.trouble(); }

}  // namespace tilewright::jit
