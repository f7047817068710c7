// SPDX-License-Identifier: MIT
// What tilewright::jit costs, and what its kernels compute: on a machine with an NVIDIA GPU.
//
//   jit [folder for caches [new-process]]
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <tilewright/core/base/types.hpp>
#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>

#include "check_products.hpp"
#include "stopwatch.hpp"

namespace {

namespace jit = tilewright::jit;
namespace fs = std::filesystem;
using tilewright::index_t;

jit::gemm_problem product(index_t m, index_t n, index_t k, jit::element type = jit::element::f16, bool a_along_k = true,
                          bool b_along_k = true) {
  jit::gemm_problem p{.type = type, .result = type, .a_along_k = a_along_k, .b_along_k = b_along_k};
  p.args = {.m = m, .n = n, .k = k, .lda = a_along_k ? k : m, .ldb = b_along_k ? k : n, .ldc = n};
  return p;
}
jit::attention_problem heads(int dim, index_t length) {
  jit::attention_problem p{.head_dim = dim, .value_dim = dim};
  const tilewright::attention_strides s{tilewright::long_index_t(length) * 16 * dim, dim, 16 * dim};
  p.args.heads = p.args.kv_heads = 16;
  p.args.queries = p.args.keys = length;
  p.args.q_strides = p.args.k_strides = p.args.v_strides = p.args.o_strides = s;
  p.args.scale = 0.125f;
  return p;
}

/// A kernel, and a launch of it on memory that is large enough.
struct named_request {
  const char* name;
  jit::kernel_request request;
  std::function<void(const jit::kernel&)> launch;
};
std::vector<named_request> requests_on(const device_array& memory) {
  constexpr std::size_t part = std::size_t{4096} * 4096 * 2;
  std::vector<named_request> list;
  const auto add_product = [&](const char* name, const jit::gemm_problem& p) {
    tilewright::gemm_args args = p.args;
    args.a = memory.at(0);
    args.b = memory.at(part);
    args.c = memory.at(2 * part);
    list.push_back({name, jit::gemm(p), [args](const jit::kernel& kernel) { kernel(args); }});
  };
  const auto add_heads = [&](const char* name, const jit::attention_problem& p) {
    tilewright::attention_args args = p.args;
    args.q = memory.at(0);
    args.k = args.v = memory.at(part);
    args.o = memory.at(2 * part);
    list.push_back({name, jit::attention(p), [args](const jit::kernel& kernel) { kernel(args); }});
  };
  add_product("GEMM, wgmma", product(4096, 4096, 4096));
  add_product("GEMM, few rows", product(8, 4096, 4096));
  add_product("GEMM, mma.sync, odd n", product(4096, 4095, 4096));
  add_heads("attention, wgmma, d 64", heads(64, 2048));
  add_heads("attention, wgmma, d 128", heads(128, 2048));
  add_heads("attention, mma.sync, d 32", heads(32, 2048));
  return list;
}

/// Request to the end of the first launch: without anything, and from the disk. From memory: to the loaded kernel.
void measure_latency(const fs::path& folder) {
  const device_array memory(std::size_t{3} * 4096 * 4096 * 2);
  memory.fill(1);
  std::printf("%-28s %9s %9s %9s %9s %7s\n", "request to launched kernel", "cold s", "disk ms", "read ms", "memory us",
              "KB");
  std::vector<double> medians[3];
  for (const named_request& r : requests_on(memory)) {
    std::vector<double> cold, disk, read, from_memory;
    std::size_t bytes = 0;
    const auto run = [&](jit::compiler& compiler) {
      return seconds_of([&] {
        r.launch(compiler.load(r.request));
        require(cudaDeviceSynchronize());
      });
    };
    for (int i = 0; i < 3; ++i) {
      const fs::path cache = folder / ("latency" + std::to_string(i));
      fs::remove_all(cache);
      jit::compiler first({.cache = {.directory = cache}});
      cold.push_back(run(first));
      for (int j = 0; j < 3; ++j) {
        jit::compiler second({.cache = {.directory = cache}});
        disk.push_back(run(second));
        read.push_back(seconds_of([&] { bytes = second.code_object(r.request).size(); }));
        for (int l = 0; l < 300; ++l) from_memory.push_back(seconds_of([&] { (void)second.load(r.request); }));
      }
    }
    std::printf("%-28s %9.3f %9.3f %9.3f %9.2f %7zu\n", r.name, median(cold), median(disk) * 1e3, median(read) * 1e3,
                median(from_memory) * 1e6, bytes / 1024);
    medians[0].push_back(median(cold));
    medians[1].push_back(median(disk) * 1e3);
    medians[2].push_back(median(from_memory) * 1e6);
  }
  std::printf("%-28s %9.3f %9.3f %9s %9.2f\n", "median of these", median(medians[0]), median(medians[1]), "",
              median(medians[2]));
}

/// What a new process waits for: the driver, and a kernel that is on the disk.
int run_as_new_process(const fs::path& folder) {
  const double driver = seconds_of([] { require(cudaFree(nullptr)); });
  const device_array memory(std::size_t{3} * 4096 * 4096 * 2);
  const named_request r = requests_on(memory).front();
  std::optional<jit::compiler> compiler;
  const double made =
      seconds_of([&] { compiler.emplace(jit::compiler_options{.cache = {.directory = folder / "latency0"}}); });
  const double kernel = seconds_of([&] {
    r.launch(compiler->load(r.request));
    require(cudaDeviceSynchronize());
  });
  std::printf("a new process, ms: the driver's context %.1f, jit::compiler %.1f, first kernel %.1f\n", driver * 1e3,
              made * 1e3, kernel * 1e3);
  return 0;
}

/// Products as programs have them: every fourth with lengths that are no multiples of 8.
std::vector<jit::gemm_problem> draw_products(int count, unsigned seed, bool only_odd) {
  std::mt19937 random(seed);
  const auto length = [&](bool odd) {
    const double l = std::exp2(7 + 5.5 * double(random()) / double(random.max()));
    return index_t(odd ? index_t(l) | 1 : index_t(l) / 8 * 8);
  };
  std::vector<jit::gemm_problem> list;
  for (int i = 0; i < count; ++i) {
    const bool odd = only_odd || i % 4 == 0;
    list.push_back(product(length(false), length(odd), length(odd && i % 2 == 0),
                           i % 3 == 0 ? jit::element::bf16 : jit::element::f16, random() % 4 != 0, random() % 4 != 0));
  }
  return list;
}

void measure_preparation(const fs::path& folder, const char* what, const std::vector<jit::gemm_problem>& problems) {
  fs::remove_all(folder / "many");
  std::vector<jit::kernel_request> requests;
  for (const jit::gemm_problem& p : problems) requests.push_back(jit::gemm(p));
  jit::compiler cold({.cache = {.directory = folder / "many"}});
  const double compiled = seconds_of([&] { cold.prepare(requests); });
  jit::archive_writer writer;
  std::set<std::string> different;
  for (const jit::kernel_request& r : requests) {
    const jit::kernel_source source = r(cold.target());
    different.insert(cold.archive_key(source));
    writer.add(cold.archive_key(source), source.name, cold.code_object(source));
  }
  writer.write(folder / "many.twa");
  std::optional<jit::compiler> without_compiler;  // unloads its kernels when the time has been taken
  const auto open_archive = [&] {
    without_compiler.emplace(jit::compiler_options{
        .cache = {.enabled = false}, .archives = {folder / "many.twa"}, .on_miss = jit::miss::fail});
  };
  const double first_of_archive = seconds_of([&] {
    open_archive();
    (void)without_compiler->load(requests.front());
  });
  const double from_archive = seconds_of([&] {
    open_archive();
    without_compiler->prepare(requests);
  });
  jit::compiler warm({.cache = {.directory = folder / "many"}});
  const double from_disk = seconds_of([&] { warm.prepare(requests); });
  std::printf(
      "%s: %zu problems, %zu kernels: compiled %.2f s, from disk %.3f s, from an archive of %.1f MB %.3f s, one of "
      "them "
      "%.4f s\n",
      what, problems.size(), different.size(), compiled, from_disk, double(fs::file_size(folder / "many.twa")) * 1e-6,
      from_archive, first_of_archive);
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const fs::path folder = argc > 1 ? argv[1] : fs::temp_directory_path() / "tilewright-jit-benchmark";
  fs::create_directories(folder);
  if (argc > 2 && std::string(argv[2]) == "new-process") return run_as_new_process(folder);
  cudaFree(nullptr);
  jit::compiler compiler({.cache = {.directory = folder / "check"}});
  std::printf("target %s, %d SMs\n", compiler.target().c_str(), compiler.SMs());
  const bool is_right = check_products(compiler) & check_attention(compiler);
  measure_latency(folder);
  for (int i = 0; i < 2; ++i)
    if (std::system((std::string(argv[0]) + " " + folder.string() + " new-process").c_str()) != 0) return 2;
  measure_preparation(folder, "all kinds", draw_products(200, 5, false));
  measure_preparation(folder, "odd lengths", draw_products(64, 6, true));
  return is_right ? 0 : 1;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 2;
}
