// SPDX-License-Identifier: MIT
#include "sample.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

namespace gpu_benchmark {
namespace {

/// The standard library's distributions differ between implementations; these do not.
class source {
 public:
  explicit source(std::uint64_t seed) : bits_(seed) {}
  double uniform() { return double(bits_() >> 11) * 0x1p-53; }
  std::size_t below(std::size_t n) { return std::size_t(uniform() * double(n)); }

  /// Log-uniform from `least` to 32,768.
  std::int64_t length(std::int64_t least) {
    const double x = double(least) * std::pow(32768.0 / double(least), uniform());
    const bool round = uniform() < 0.9;
    if (!round || x < 64) return std::clamp(std::int64_t(x), least, std::int64_t(32768));
    return std::int64_t(std::round(x / 64)) * 64;
  }

 private:
  std::mt19937_64 bits_;
};

/// A linear layer: y (m, n) = x (m, k) W^T, W (n, k). Tensor parallelism splits W along n, or, where the layer before
/// was split along n, along k.
struct layer {
  std::int64_t n, k;
  bool is_split_along_k = false;
};

/// Q, K and V as one GEMM, output of attention, gate and up as one GEMM, down. Lengths are those of the models'
/// published configurations (config.json: hidden_size, intermediate_size, num_attention_heads, num_key_value_heads,
/// head_dim).
constexpr layer layers[] = {
    {3072, 2048},  {2048, 2048, true},  {16384, 2048}, {2048, 8192, true},   // Llama 3.2 1B
    {6144, 4096},  {4096, 4096, true},  {28672, 4096}, {4096, 14336, true},  // Llama 3.1 8B, Mistral 7B
    {10240, 8192}, {8192, 8192, true},  {57344, 8192}, {8192, 28672, true},  // Llama 3.1 70B
    {4608, 3584},  {3584, 3584, true},  {37888, 3584}, {3584, 18944, true},  // Qwen2.5 7B
    {4096, 1024},  {1024, 2048, true},  {6144, 1024},  {1024, 3072, true},   // Qwen3 0.6B
    {10240, 5120}, {5120, 8192, true},  {51200, 5120}, {5120, 25600, true},  // Qwen3 32B
    {8192, 3584},  {3584, 4096, true},  {28672, 3584}, {3584, 14336, true},  // Gemma 2 9B
    {8192, 5376},  {5376, 4096, true},  {43008, 5376}, {5376, 21504, true},  // Gemma 3 27B
    {7680, 5120},  {5120, 5120, true},  {35840, 5120}, {5120, 17920, true},  // Phi-4 14B
    {2112, 7168},  {24576, 1536},       {32768, 512},  {7168, 16384, true},  // DeepSeek-V3: latent Q, K and V; output
    {36864, 7168}, {7168, 18432, true}, {4096, 7168},  {7168, 2048, true},   // DeepSeek-V3: dense layers, shared expert
    {5120, 2880},  {2880, 4096, true},                                       // gpt-oss 20B: attention
};

}  // namespace

std::vector<problem> sample_problems(int count, std::uint64_t seed, const std::vector<element>& types) {
  source random(seed);
  std::vector<problem> problems;
  for (int i = 0; i < count; ++i) {
    problem p{};
    p.m = random.length(1);
    p.n = random.length(256);
    p.k = random.length(256);
    p.type = types[random.below(types.size())];
    p.a_col_major = random.uniform() < 0.5;
    p.b_col_major = random.uniform() < 0.5;
    if (p.type == element::e4m3) {
      p.a_col_major = false;
      p.b_col_major = true;
      p.n = (p.n + 15) / 16 * 16;
      p.k = (p.k + 15) / 16 * 16;
    }
    problems.push_back(p);
  }
  return problems;
}

std::vector<problem> sample_layers(int count, std::uint64_t seed, const std::vector<element>& types) {
  source random(seed);
  std::vector<problem> problems;
  while (int(problems.size()) < count) {
    const layer& l = layers[random.below(std::size(layers))];
    problem p{};
    p.m = std::int64_t(std::pow(16384.0, random.uniform()));
    if (random.uniform() < 0.25) p.m = std::int64_t(1) << int(std::lround(std::log2(double(p.m))));
    p.n = l.n;
    p.k = l.k;
    const std::int64_t gpus = random.uniform() < 0.5 ? 1 : std::int64_t(2) << random.below(3);
    std::int64_t& split = l.is_split_along_k ? p.k : p.n;
    if (split % (gpus * 128) == 0) split /= gpus;
    p.type = types[random.below(types.size())];
    p.b_col_major = true;
    problems.push_back(p);
  }
  return problems;
}

const char* name_of(regime r) {
  constexpr const char* names[] = {"unaligned", "m <= 16", "m <= 64", "m <= 256", "m <= 1024", "m > 1024"};
  return names[int(r)];
}

regime regime_of(const problem& p) {
  const auto bytes = std::int64_t(bytes_of(p.type));
  const std::int64_t a_row = p.a_col_major ? p.m : p.k, b_row = p.b_col_major ? p.k : p.n;
  if (a_row * bytes % 16 != 0 || b_row * bytes % 16 != 0 || p.n * 2 % 16 != 0) return regime::unaligned;
  return p.m <= 16     ? regime::rows_16
         : p.m <= 64   ? regime::rows_64
         : p.m <= 256  ? regime::rows_256
         : p.m <= 1024 ? regime::rows_1024
                       : regime::more_rows;
}

}  // namespace gpu_benchmark
