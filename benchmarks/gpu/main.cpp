// SPDX-License-Identifier: MIT
// gemm-benchmark: verifies and times this library's matrix product and cuBLAS's on an NVIDIA GPU,
// interleaved in one process.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include "device.hpp"
#include "report.hpp"

using namespace gpu_benchmark;

namespace {

struct shape {
  std::int64_t m, n, k;
};

/// Squares, the shapes of large language models' layers, few rows, awkward lengths, and a short k.
constexpr shape default_shapes[] = {{2048, 2048, 2048},  {4096, 4096, 4096},  {8192, 8192, 8192}, {16384, 16384, 8192},
                                    {8192, 28672, 8192}, {4096, 11008, 4096}, {3000, 3000, 3000}, {1000, 5000, 2000},
                                    {128, 8192, 8192},   {16, 8192, 8192},    {4096, 4096, 128}};

shape parsed(const std::string& text) {
  long long m = 0, n = 0, k = 0;
  int length = 0;
  if (std::sscanf(text.c_str(), "%lldx%lldx%lld%n", &m, &n, &k, &length) != 3 || std::size_t(length) != text.size() ||
      m < 1 || n < 1 || k < 1) {
    throw CLI::ValidationError("--shape", "'" + text + "' is not of the form MxNxK, such as 4096x4096x4096");
  }
  return {m, n, k};
}

facts about_the_machine(const std::string& commit) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) throw std::invalid_argument("no NVIDIA GPU was found");
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
  int driver = 0, runtime = 0;
  check(cudaDriverGetVersion(&driver), "asking for the driver's version");
  check(cudaRuntimeGetVersion(&runtime), "asking for the runtime's version");
  const auto dotted = [](int version) {
    return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  };
  return {{"device", properties.name},
          {"driver", "supports CUDA " + dotted(driver)},
          {"runtime", "CUDA " + dotted(runtime)},
          {"commit", commit}};
}

constexpr double ceiling_seconds = 0.25;  // of a launch: long enough for the control of power

std::vector<ceiling> measure_all_ceilings(const std::vector<std::string>& types) {
  std::vector<const ceiling_loop*> loops;
  for (const ceiling_loop& l : ceiling_loops) loops.push_back(&l);
  std::vector<ceiling> all;
  for (const element type : {element::f16, element::bf16}) {
    if (std::find(types.begin(), types.end(), name_of(type)) == types.end()) continue;
    for (const ceiling& c : measure_ceilings(type, loops, 6, ceiling_seconds)) all.push_back(c);
  }
  if (all.empty())
    throw std::invalid_argument("--ceilings: mma.sync multiplies 16-bit elements; give --dtype f16,bf16");
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "Matrix products on an NVIDIA GPU: this library against cuBLAS, verified, timed in turns on the same Gaussian "
      "operands"};
  std::vector<std::string> shape_texts, types{"f16", "bf16"}, b_orders{"col", "row"}, names;
  std::string json_file, commit = "unknown";
  race_options options;
  app.add_option("--shape", shape_texts, "MxNxK; may be given several times (default: a list of 11)");
  app.add_option("--dtype", types, "f16, bf16, e4m3")->check(CLI::IsMember({"f16", "bf16", "e4m3"}))->delimiter(',');
  app.add_option("--b", b_orders, "order of B: row, col")->check(CLI::IsMember({"row", "col"}))->delimiter(',');
  app.add_option("--contender", names, "who takes part (default: all)")
      ->check(CLI::IsMember({"cublas", "tilewright", "portable"}))
      ->delimiter(',');
  app.add_option("--rounds", options.rounds, "blocks of launches for each contender")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--block-seconds", options.block_seconds, "length of a block")
      ->check(CLI::Range(1e-4, 10.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the operands")->capture_default_str();
  bool ceilings = false;
  app.add_flag("--ceilings", ceilings,
               "instead of products: what mma.sync reaches in loops of nothing but instructions (f16, bf16)");
  app.add_flag("--verify-only", options.verify_only, "do not time");
  app.add_option("--json", json_file, "write the results to this file");
  app.add_option("--commit", commit, "what to call the state of the sources in the results");
  std::vector<shape> shapes;
  try {
    app.parse(argc, argv);
    for (const std::string& text : shape_texts) shapes.push_back(parsed(text));
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? 2 : 0;
  }
  if (shapes.empty()) shapes.assign(std::begin(default_shapes), std::end(default_shapes));

  std::ofstream json;
  if (!json_file.empty()) {
    json.open(json_file);
    if (!json) throw std::invalid_argument("cannot write '" + json_file + "'");
  }
  facts about = about_the_machine(commit);
  const auto write = [&](const std::string& text) {
    if (json.is_open() && !(json << text << std::flush)) throw std::runtime_error("writing '" + json_file + "' failed");
  };
  if (ceilings) {
    const std::vector<ceiling> all = measure_all_ceilings(types);
    print_ceilings(all);
    write(to_json(about, all));
    return 0;
  }
  std::vector<std::unique_ptr<contender>> contenders;
  const auto takes_part = [&](const char* name) {
    return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
  };
  if (takes_part("cublas")) contenders.push_back(make_cublas_contender());
  if (takes_part("portable")) contenders.push_back(make_portable_contender());
  if (takes_part("tilewright")) contenders.push_back(make_tilewright_contender());

  if (takes_part("portable")) {
    const auto alone = measure_ceilings(element::f16, {&ceiling_loops[reference_loop]}, 3, ceiling_seconds);
    about["mma.sync on registers alone, Gaussian f16, TFLOP/s"] = std::to_string(median(alone[0].tflops));
  }
  print_head(about);
  std::vector<result> results;
  bool correct = true;
  const std::size_t total = shapes.size() * types.size() * b_orders.size();
  for (const shape& s : shapes) {
    for (const std::string& type : types) {
      for (const std::string& order : b_orders) {
        const problem p{s.m, s.n, s.k,
                        type == "f16"    ? element::f16
                        : type == "bf16" ? element::bf16
                                         : element::e4m3,
                        order == "col"};
        std::fprintf(stderr, "[%zu/%zu] %s\n", results.size() + 1, total, p.name().c_str());
        results.push_back({p, race(p, contenders, options)});
        print_row(results.back());
        for (const standing& x : results.back().standings) correct = correct && (x.correct || !x.refusal.empty());
      }
    }
  }
  print_means(results);
  write(to_json(about, results));
  return correct ? 0 : 1;
} catch (const std::invalid_argument& e) {
  std::fprintf(stderr, "gemm-benchmark: %s\n", e.what());
  return 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gemm-benchmark: %s\n", e.what());
  return 1;
}
