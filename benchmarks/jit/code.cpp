// SPDX-License-Identifier: MIT
// How long jit::compiler takes for a code object, without a GPU: cold and from the disk.
//
//   code gfx942 [folder for the cache]
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/resource.h>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>

namespace {

namespace jit = tilewright::jit;
namespace fs = std::filesystem;

/// Of this process and of the compilers that it has run.
double user_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    sum += double(usage.ru_utime.tv_sec) + 1e-6 * double(usage.ru_utime.tv_usec);
  }
  return sum;
}
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

jit::kernel_request product(int m, int n, int k) {
  return jit::gemm({.args = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n}});
}
jit::kernel_request heads(int dim, int length) {
  jit::attention_problem p{.head_dim = dim, .value_dim = dim};
  p.args.heads = p.args.kv_heads = 16;
  p.args.queries = p.args.keys = length;
  p.args.q_strides = p.args.k_strides = p.args.v_strides = p.args.o_strides = {16ll * length * dim, dim, 16 * dim};
  p.args.scale = 0.125f;
  return jit::attention(p);
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string target = argc > 1 ? argv[1] : "gfx942";
  const fs::path folder = argc > 2 ? argv[2] : fs::temp_directory_path() / "tilewright-jit-code";
  std::printf("%-42s %8s %8s %9s %7s\n", target.c_str(), "cold s", "user s", "disk ms", "bytes");
  for (const jit::kernel_request& request :
       {product(4096, 4096, 4096), product(1000, 999, 1001), heads(64, 2048), heads(128, 2048)}) {
    std::vector<double> cold, user, disk;
    std::size_t bytes = 0;
    std::string name;
    for (int i = 0; i < 7; ++i) {
      fs::remove_all(folder);
      jit::compiler compiler({.target = target, .cache = {.directory = folder}});
      const jit::kernel_source source = request(target);
      name = source.name;
      const double start = now(), user_start = user_seconds();
      bytes = compiler.code_object(source).size();
      cold.push_back(now() - start);
      user.push_back(user_seconds() - user_start);
      for (int j = 0; j < 20; ++j) {
        const double again = now();
        (void)compiler.code_object(request);
        disk.push_back(now() - again);
      }
    }
    std::printf("%-42s %8.3f %8.3f %9.3f %7zu\n", name.c_str(), median(cold), median(user), median(disk) * 1e3, bytes);
  }
  fs::remove_all(folder);
  return 0;
} catch (const std::exception& e) {
  std::printf("%s\n", e.what());
  return 2;
}
