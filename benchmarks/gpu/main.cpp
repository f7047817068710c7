// SPDX-License-Identifier: MIT
// gemm-benchmark: verifies and times this library's GEMM and cuBLAS's on an NVIDIA GPU, in CUDA
// graphs, interleaved in one process.
#include <CLI/CLI.hpp>
#include <algorithm>
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
  facts about{{"device", properties.name},
              {"driver", "supports CUDA " + dotted(driver)},
              {"runtime", "CUDA " + dotted(runtime)}};
  if (!commit.empty()) about["commit"] = commit;
  return about;
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

/// What the command line asks for.
struct request {
  std::vector<std::string> shapes, types{"f16", "bf16"}, a_orders{"row"}, b_orders{"col", "row"}, names;
  std::string json_file, commit;
  bool ceilings = false;
  int sample = 0, models = 0;
  race_options race;

  void add_to(CLI::App& app) {
    const auto orders = CLI::IsMember({"row", "col"});
    app.add_option("--shape", shapes, "MxNxK; may be given several times (default: a list of 11)");
    app.add_option("--sample", sample, "instead of shapes: number of products to draw from a population, by --seed")
        ->check(CLI::Range(1, 100000));
    app.add_option("--models", models,
                   "instead of shapes: number of GEMMs to draw from layers of open models, by --seed")
        ->check(CLI::Range(1, 100000))
        ->excludes("--sample")
        ->excludes("--shape");
    app.add_option("--dtype", types, "f16, bf16, e4m3")->check(CLI::IsMember({"f16", "bf16", "e4m3"}))->delimiter(',');
    app.add_option("--a", a_orders, "order of A: row, col")->check(orders)->delimiter(',');
    app.add_option("--b", b_orders, "order of B: row, col")->check(orders)->delimiter(',');
    app.add_option("--contender", names,
                   "who takes part (default: cublas, tilewright, exact, portable; of a sample cublas, exact, searched)")
        ->check(CLI::IsMember({"cublas", "tilewright", "tuned", "exact", "searched", "portable"}))
        ->delimiter(',');
    app.add_option("--rounds", race.rounds, "blocks of launches for each contender (default: 16; of a sample, 6)")
        ->check(CLI::Range(1, 1000));
    app.add_option("--block-seconds", race.block_seconds, "length of a block (default: 0.03; of a sample, 0.008)")
        ->check(CLI::Range(1e-4, 10.0));
    app.add_option("--seed", race.seed, "of the operands and the sample")->capture_default_str();
    app.add_flag("--ceilings", ceilings,
                 "instead of products: what mma.sync reaches in loops of nothing but instructions (f16, bf16)");
    app.add_flag("--verify-only", race.verify_only, "do not time");
    CLI::Option* json = app.add_option("--json", json_file, "write the results to this file");
    json->needs(app.add_option("--commit", commit, "the state of the sources, for --json: git rev-parse --short HEAD"));
  }

  bool is_population() const { return sample > 0 || models > 0; }
  bool takes_part(const char* name) const {
    if (names.empty()) {
      const auto by_default = is_population() ? std::vector<std::string>{"cublas", "exact", "searched"}
                                              : std::vector<std::string>{"cublas", "tilewright", "exact", "portable"};
      return std::find(by_default.begin(), by_default.end(), name) != by_default.end();
    }
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  std::vector<element> elements() const {
    std::vector<element> list;
    for (const element e : {element::f16, element::bf16, element::e4m3})
      if (std::find(types.begin(), types.end(), name_of(e)) != types.end()) list.push_back(e);
    return list;
  }
  std::vector<problem> problems() const {
    if (sample > 0) return sample_problems(sample, race.seed, elements());
    if (models > 0) return sample_layers(models, race.seed, elements());
    std::vector<shape> list;
    for (const std::string& text : shapes) list.push_back(parsed(text));
    if (list.empty()) list.assign(std::begin(default_shapes), std::end(default_shapes));
    std::vector<problem> result;
    for (const shape& s : list) {
      for (const element type : elements()) {
        for (const std::string& a : a_orders)
          for (const std::string& b : b_orders) result.push_back({s.m, s.n, s.k, type, b == "col", a == "col"});
      }
    }
    return result;
  }
};

std::vector<std::unique_ptr<contender>> make_contenders(const request& wanted) {
  std::vector<std::unique_ptr<contender>> list;
  if (wanted.takes_part("cublas")) list.push_back(make_cublas_contender());
  if (wanted.takes_part("portable")) list.push_back(make_portable_contender());
  if (wanted.takes_part("tilewright")) list.push_back(make_tilewright_contender(false));
  if (wanted.takes_part("tuned")) list.push_back(make_tilewright_contender(true));
  if (wanted.takes_part("exact")) list.push_back(make_exact_contender(false));
  if (wanted.takes_part("searched")) list.push_back(make_exact_contender(true));
  return list;
}

/// Whether all results are correct.
bool compare(const request& wanted, const facts& about, const std::vector<problem>& problems,
             std::vector<result>& results) {
  const auto contenders = make_contenders(wanted);
  for (const auto& c : contenders) c->announce(problems);
  print_head(about);
  if (wanted.is_population()) print_line_head();
  bool correct = true;
  for (const problem& p : problems) {
    std::fprintf(stderr, "[%zu/%zu] %s\n", results.size() + 1, problems.size(), p.name().c_str());
    results.push_back({p, race(p, contenders, wanted.race)});
    wanted.is_population() ? print_line(results.back()) : print_row(results.back());
    for (const standing& x : results.back().standings) correct = correct && (x.correct || !x.refusal.empty());
  }
  wanted.is_population() ? print_population(results) : print_means(results);
  return correct;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{
      "GEMM on an NVIDIA GPU: this library against cuBLAS, verified, timed in interleaved CUDA graphs on the same "
      "Gaussian operands"};
  request wanted;
  wanted.add_to(app);
  std::vector<problem> problems;
  try {
    app.parse(argc, argv);
    if (wanted.is_population() && !app.count("--rounds")) wanted.race.rounds = 6;
    if (wanted.is_population() && !app.count("--block-seconds")) wanted.race.block_seconds = 0.008;
    problems = wanted.problems();
  } catch (const CLI::ParseError& e) {
    return app.exit(e) ? 2 : 0;
  }
  std::ofstream json;
  if (!wanted.json_file.empty()) {
    json.open(wanted.json_file);
    if (!json) throw std::invalid_argument("cannot write '" + wanted.json_file + "'");
  }
  facts about = about_the_machine(wanted.commit);
  about["timing"] = "launches in CUDA graphs";
  if (wanted.is_population())
    about["sample"] =
        std::string(wanted.models > 0 ? "layers of models, " : "") + "seed " + std::to_string(wanted.race.seed);
  const auto write = [&](const std::string& text) {
    if (json.is_open() && !(json << text << std::flush))
      throw std::runtime_error("writing '" + wanted.json_file + "' failed");
  };
  if (wanted.ceilings) {
    const std::vector<ceiling> all = measure_all_ceilings(wanted.types);
    print_ceilings(all);
    write(to_json(about, all));
    return 0;
  }
  if (wanted.takes_part("portable")) {
    const auto alone = measure_ceilings(element::f16, {&ceiling_loops[reference_loop]}, 3, ceiling_seconds);
    about["mma.sync on registers alone, Gaussian f16, TFLOP/s"] = std::to_string(median(alone[0].tflops));
  }
  std::vector<result> results;
  const bool correct = compare(wanted, about, problems, results);
  write(to_json(about, results));
  return correct ? 0 : 1;
} catch (const std::invalid_argument& e) {
  std::fprintf(stderr, "gemm-benchmark: %s\n", e.what());
  return 2;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gemm-benchmark: %s\n", e.what());
  return 1;
}
