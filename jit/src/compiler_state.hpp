// SPDX-License-Identifier: MIT
// What a jit::compiler holds.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/kernels/gemm/choice/tuning_name.hpp>

#include "elf_facts.hpp"
#include "embedded_header.hpp"
#include "file_cache.hpp"
#include "find_tunings.hpp"
#include "kernel_state.hpp"
#include "program_archives.hpp"
#include "source_text.hpp"
#include "targets.hpp"
#include "toolchain.hpp"

namespace tilewright::jit {

/// Fields with their lengths, so that no two lists of fields make the same text.
inline std::string joined(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) text.append(std::to_string(field.size())).append(":").append(field);
  return text;
}

/// The name of a source in memory.
inline std::string memory_key(const kernel_source& s) {
  std::string key = joined({s.name, s.code, s.kernel, s.problem, s.host.name});
  for (const std::string& header : s.uses) key.append(header).append(",");
  return key;
}

struct compiler::state {
  explicit state(const compiler_options& given) : options(given), cache(given.cache) {
    for (const std::filesystem::path& path : given.archives) open_archive(path);
    if (!given.target.empty()) {
      require_known_target(given.target);
      target = given.target;
    } else {
      device = find_gpu(given.device);
      target = device->target();
    }
  }

  void open_archive(const std::filesystem::path& path) {
    try {
      archives.push_back(std::make_shared<const archive>(path));
    } catch (const untrusted& e) {
      cache.distrust(e);
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
      const bool is_ahead = !options.target.empty();
      std::unique_ptr<toolchain> made = make_toolchain(target, options.compiler, options.flags, is_ahead);
      made->identity();
      tools_ = std::move(made);
    }
    return *tools_;
  }

  /// From the cache, or made under the lock of its key. `with`: a cache of the same folder.
  std::string find_or_make(file_cache& with, toolchain& by, const translation_unit& unit, const digest& key) const {
    if (std::optional<std::string> code = with.find(key)) return *code;
    const file_cache::lock held(with, key);
    if (std::optional<std::string> code = with.find(key)) return *code;  // another process has made it
    std::string code = by.compile(unit);
    if (const kernel_facts facts = read_facts(code, unit.name); facts.refusal[0] != 0)
      throw error(unit.name + ": " + facts.refusal);
    with.store(key, unit.name + " for " + target, code);
    return code;
  }
  digest cache_key(const std::string& content) { return sha256(joined({content, tools().identity()})); }

  /// All archives, those of the program first.
  std::vector<std::shared_ptr<const archive>> all_archives() const {
    std::vector<std::shared_ptr<const archive>> all = program_archives();
    all.insert(all.end(), archives.begin(), archives.end());
    return all;
  }
  struct archived {
    std::string_view code;  // empty: no archive has it
    std::string where;      // as compiler::archive_of
  };
  archived find_archived(const std::string& content) const {
    for (const auto& a : all_archives())
      if (const std::string_view code = a->find(content); !code.empty()) return {code, a->name()};
    return {};
  }

  std::string fetch(const kernel_source& source) {
    const translation_unit unit = make_unit(source);
    const std::string content = content_key(unit);
    if (const std::string_view code = find_archived(content).code; !code.empty()) return std::string(code);
    if (options.on_miss == miss::fail && !options.cache.enabled) fail_on_miss(source, content);
    const digest key = cache_key(content);
    if (options.on_miss == miss::fail) {
      if (std::optional<std::string> code = cache.find(key)) return *code;
      fail_on_miss(source, content);
    }
    return find_or_make(cache, tools(), unit, key);
  }

  /// A choice for a product in the archives' tuning files: for this GPU, or where there is none, for the file's first.
  std::string tuned_choice(const std::string& problem) const {
    const std::string key = device ? tuning_key(device->name(), device->SMs()) : std::string();
    for (const auto& a : all_archives()) {
      for (const tuning_file::entry& e : find_tunings(a->text("tuning"), problem))
        if (key.empty() || e.key == key) return e.choice;
    }
    return {};
  }

  std::string archive_name(const kernel_source& source, const std::string& content) const {
    std::string name = source.name + " (";
    for (std::size_t i = 0; i < 4; ++i)
      for (const int shift : {4, 0}) name += "0123456789abcdef"[(static_cast<unsigned char>(content[i]) >> shift) & 15];
    return name + ") for " + target;
  }

  [[noreturn]] void fail_on_miss(const kernel_source& source, const std::string& content) const {
    const std::string trouble = cache.trouble();
    throw error(archive_name(source, content) + " is in no archive" +
                (!cache.directory().empty() ? " and not in the cache " + cache.directory().string() : std::string()) +
                ", and compiler_options::on_miss forbids to compile it" +
                (trouble.empty() ? std::string() : " (" + trouble + ")"));
  }

  std::shared_ptr<gpu> gpu_for_loading() {
    const std::lock_guard guard(tools_mutex);
    if (!device) {
      std::shared_ptr<gpu> found = find_gpu(options.device);
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

  /// Compiles what is not there yet in processes, where the compiler does one thing at a time, and leaves it in the
  /// cache. Calls done(i) for each. What fails is left out.
  void compile_in_processes(const std::vector<kernel_source>& sources, const std::function<void(std::size_t)>& done);

  compiler_options options;
  file_cache cache;
  std::vector<std::shared_ptr<const archive>> archives;  // of the options
  std::string target;
  std::shared_ptr<gpu> device;
  std::unique_ptr<toolchain> tools_;
  std::mutex tools_mutex, loaded_mutex;
  std::unordered_map<std::string, std::shared_ptr<const kernel::state>> loaded;
};

}  // namespace tilewright::jit
