// SPDX-License-Identifier: MIT
// Random products by every Hopper kernel of the program gemm, in one process: lengths around the tile, rows that start
// anywhere, gaps, batches, epilogues, parts of k. Each element of C is compared with double precision, and what lies
// around C must stay as it is.
//   gpu_products-cuda [--product NAME] [--kernel NAME] [--cases N] [--first N] [--small] [--no-any-start]
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <random>

#include <tilewright/kernels/gemm/choice/hopper_gemm_model.hpp>

#include "../../tools/gpu/runtime.hpp"
#include "product_oracle.cuh"

namespace product_check {
namespace {

using gemm_program::element, gemm_program::hopper_product;
using tw::detail::round_up;

struct options {
  std::string product, kernel;  // empty: all
  int cases = 16, first = 0;
  bool small = false;     // for compute-sanitizer
  bool unaligned = true;  // whether tiles of unaligned rows are checked, too

  bool leaves_out(const tw::gemm_choice& c) const { return !unaligned && c.tile.unaligned; }
};

class dice {
 public:
  explicit dice(const std::string& name) {
    std::seed_seq seed(name.begin(), name.end());
    bits_.seed(seed);
  }
  index_t below(index_t n) { return index_t(bits_() % std::uint64_t(n)); }
  bool one_in(index_t n) { return below(n) == 0; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[below(index_t(list.size()))];
  }
  /// A length around a tile's.
  index_t near(index_t tile) {
    return std::max(
        1, of({1, tile / 2, tile - 1, tile, tile + 1, 2 * tile - 3, 2 * tile + 9, 5 * tile + 1}) + below(3) * 8);
  }

 private:
  std::mt19937_64 bits_;
};

/// Operands and results of a product as they lie in memory.
struct drawn {
  tw::gemm_args args;
  tw::gemm_choice choice;
  lines_of a, b, c, residual, bias, row_scale, column_scale, scale;  // no lines: not there
};

/// Lengths around the tile of C that a kernel computes, or around those of a cluster. In one of four products there are
/// a few tiles more than workers: whole tiles, and then parts of the others.
void draw_lengths(const options& o, const tw::gemm_choice* kernel, index_t SMs, dice& d, tw::gemm_args& g) {
  const bool is_tile = kernel && kernel->kernel == tw::gemm_kernel_kind::tile;
  const tw::hopper_gemm_tile t = is_tile ? kernel->tile : tw::hopper_gemm_tile{.m = 128, .n = 128};
  const index_t rows = t.m * d.of({1, t.cluster_m}), cols = t.n * d.of({1, t.cluster_n});
  do {
    g.m = d.near(t.swap_ab ? cols : rows), g.n = d.near(t.swap_ab ? rows : cols);
    if (kernel ? !is_tile : d.one_in(4)) g.m = 1 + d.below(16);
    g.k = d.of({d.near(64), d.near(256), 1 + d.below(6000)});
    if (!kernel && !o.small) g.m *= d.of({1, 4}), g.n *= d.of({1, 4});
    g.batch = d.one_in(3) ? 2 + d.below(2) : 1;
  } while (double(g.m) * g.n * g.k * g.batch > (o.small ? 5e7 : 2e10));
  if (!is_tile || o.small || !d.one_in(4)) return;
  const index_t tiles = tw::detail::expected_clusters(t, SMs) + 1 + d.below(40), down = 2 + d.below(6);
  (t.swap_ab ? g.n : g.m) = down * t.m * t.cluster_m - d.below(t.m);
  (t.swap_ab ? g.m : g.n) = tw::ceil_div(tiles, down) * t.n * t.cluster_n - d.below(t.n);
  g.k = 1500 + d.below(3000), g.batch = 1;
}

/// Whether whole tiles are followed by parts of others.
bool has_whole_and_split_tiles(const hopper_product& p, const drawn& x, index_t SMs) {
  if (x.choice.kernel != tw::gemm_kernel_kind::tile || x.choice.split_k != 0) return false;
  const tw::hopper_gemm_tile& t = x.choice.tile;
  const tw::stream_k_schedule s =
      tw::detail::schedule_of(tw::detail::in_order_of(t, x.args), t, index_t(bytes_of(p.type)), SMs, 0);
  return s.whole_tiles > 0 && s.split_workers > 0;
}

drawn draw(const options& o, const hopper_product& p, const tw::gemm_choice* kernel, index_t SMs, dice& d) {
  drawn x;
  tw::gemm_args& g = x.args;
  draw_lengths(o, kernel, SMs, d, g);
  const index_t bytes = index_t(bytes_of(p.type));
  const bool is_aligned = !d.one_in(3), is_whole = is_aligned && d.one_in(2);
  for (index_t* length : {&g.m, &g.n, &g.k})
    if (is_whole && (length != &g.m || p.a_major == tw::operand_major::mn)) *length = round_up(*length, 16);
  if (is_aligned) g.n = round_up(g.n, 8);
  const auto place = [&](index_t lines, index_t length, index_t element_bytes, bool may_repeat) {
    const index_t vector = is_aligned ? 16 / element_bytes : 1, gap = d.of({0, 0, 16 / element_bytes, 5, 40});
    lines_of m{lines, length, round_up(length + gap, vector), g.batch};
    m.batch_stride = may_repeat && d.one_in(4) ? 0 : long_index_t(m.ld) * lines + round_up(d.of({0, 0, 24, 7}), vector);
    m.first = round_up(d.of({0, 8, 3, 1}), vector);
    return m;
  };
  x.a = p.a_major == tw::operand_major::k ? place(g.m, g.k, bytes, true) : place(g.k, g.m, bytes, true);
  x.b = p.b_major == tw::operand_major::k ? place(g.n, g.k, bytes, true) : place(g.k, g.n, bytes, true);
  x.c = place(g.m, g.n, 2, false);
  x.c.first += 2048, x.c.after = 2048;
  g.alpha = d.of({1.0f, 1.0f, 1.5f, -0.5f}), g.beta = d.of({0.0f, 0.0f, 0.0f, 1.0f, -0.5f});
  if (p.has_epilogue) {
    const auto vector = [&](index_t length, index_t element_bytes) {
      const bool is_given = d.one_in(2);
      const index_t first = d.below(2) * (is_aligned ? 16 / element_bytes : 1);
      return is_given ? lines_of{1, length, length, 1, 0, first} : lines_of{};
    };
    x.scale = vector(1, 4), x.row_scale = vector(g.m, 4), x.column_scale = vector(g.n, 4), x.bias = vector(g.n, 2);
    if (d.one_in(2)) x.residual = place(g.m, g.n, 2, false);
    g.activation = tw::activation(d.below(4));
  }
  g.lda = x.a.ld, g.ldb = x.b.ld, g.ldc = x.c.ld, g.ld_residual = x.residual.ld;
  g.batch_stride_a = x.a.batch_stride, g.batch_stride_b = x.b.batch_stride, g.batch_stride_c = x.c.batch_stride;
  g.batch_stride_residual = x.residual.batch_stride;
  const index_t split_k = d.of({0, 0, 0, 1, 2, 3, 2 + d.below(7)});
  if (kernel) x.choice = *kernel;
  x.choice.split_k = split_k;
  return x;
}

/// Memory of the GPU with the lines of a matrix in it; the argument points to its first element, or nowhere.
struct filled {
  template <class Pointer>
  filled(element type, const lines_of& m, std::uint64_t seed, Pointer& argument)
      : memory(m.lines ? std::size_t(m.places() * bytes_of(type)) : 0) {
    argument = nullptr;
    if (!m.lines) return;
    const auto fill_as = [&](auto zero) {
      fill<<<blocks, threads>>>(reinterpret_cast<decltype(zero)*>(memory.data()), m, seed);
    };
    if (type == element::f16) fill_as(__half{});
    if (type == element::bf16) fill_as(__nv_bfloat16{});
    if (type == element::e4m3) fill_as(__nv_fp8_e4m3{});
    if (type == element::f32) fill_as(0.0f);
    argument = reinterpret_cast<Pointer>(memory.data() + m.first * bytes_of(type));
  }
  gpu::buffer<char> memory;
};

/// Distinct addresses, as far from multiples of 16 bytes as the real ones will be.
void point_anywhere(drawn& x, element type, element result) {
  std::uintptr_t next = 0;
  const auto at = [&](const lines_of& m, element e, auto& pointer) {
    next += std::uintptr_t{1} << 40;
    if (m.lines)
      pointer =
          reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(next + std::uintptr_t(m.first * bytes_of(e)));
  };
  tw::gemm_args& g = x.args;
  at(x.a, type, g.a), at(x.b, type, g.b), at(x.c, result, g.c), at(x.residual, result, g.residual);
  at(x.bias, result, g.bias), at(x.scale, element::f32, g.scale), at(x.row_scale, element::f32, g.row_scale);
  at(x.column_scale, element::f32, g.column_scale), at({1, 1}, element::f32, g.workspace);
}

void wait(double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t state = cudaStreamQuery(nullptr);
    if (state != cudaErrorNotReady) return gpu::check(state, "running the kernel");
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() > seconds)
      throw std::runtime_error("the kernel does not end");
  }
}

/// Runs a product; throws a sentence if it goes wrong.
verdict run(const options& o, const hopper_product& p, drawn& x, std::uint64_t seed) {
  tw::gemm_args& g = x.args;
  const filled a(p.type, x.a, seed, g.a), b(p.type, x.b, seed + 1, g.b), bias(p.result, x.bias, seed + 2, g.bias),
      residual(p.result, x.residual, seed + 3, g.residual);
  const filled scale(element::f32, x.scale, seed + 4, g.scale),
      row_scale(element::f32, x.row_scale, seed + 5, g.row_scale),
      column_scale(element::f32, x.column_scale, seed + 6, g.column_scale);
  lines_of poison = x.c;
  if (g.beta == 0) poison.length = 0, poison.after += x.c.length;
  const filled c(p.result, poison, seed + 7, g.c), old(p.result, poison, seed + 7, g.workspace);
  g.workspace = nullptr;  // the plan brings its own
  const std::function<void()> launch = p.prepare(g, x.choice);
  // Launches one after another overlap, and leave the workspace as they found it.
  for (int i = 0; i < (g.beta == 0 && !o.small ? 3 : 1); ++i) launch();
  wait(o.small ? 60 : 10);
  gpu::buffer<verdict> result(1);
  result.upload({{0, 0, ~0ull, 0, 0, 0}});
  const auto check_as = [&](auto operand, auto sum, const allowed& allow) {
    using R = decltype(sum);
    check_all<decltype(operand), R>
        <<<blocks, threads>>>(g, p.a_major == tw::operand_major::k, p.b_major == tw::operand_major::k,
                              reinterpret_cast<const R*>(c.memory.data()),
                              reinterpret_cast<const R*>(old.memory.data()), x.c, allow, result.data());
  };
  // Tensor cores add in float, and products of 8-bit elements with 14 bits.
  if (p.type == element::f16) check_as(__half{}, __half{}, {0x1p-11 + 0x1p-14, 0x1p-18});
  if (p.type == element::bf16) check_as(__nv_bfloat16{}, __nv_bfloat16{}, {0x1p-8 + 0x1p-14, 0x1p-18});
  if (p.type == element::e4m3) check_as(__nv_fp8_e4m3{}, __nv_bfloat16{}, {0x1p-8 + 0x1p-14, 0x1p-11});
  gpu::check(cudaDeviceSynchronize(), "checking the result");
  return result.download()[0];
}

std::string text_of(const drawn& x) {
  const tw::gemm_args& g = x.args;
  char text[400];
  std::snprintf(text, sizeof(text),
                "m %d, n %d, k %d, batch %d, lda %d, ldb %d, ldc %d, %s, alpha %g, beta %g%s%s%s%s%s, activation %d",
                int(g.m), int(g.n), int(g.k), int(g.batch), int(g.lda), int(g.ldb), int(g.ldc),
                x.choice.split_k ? tw::name_of_split_k(x.choice.split_k).c_str() : "k split where that is faster",
                g.alpha, g.beta, g.scale ? ", scale" : "", g.row_scale ? ", row scale" : "",
                g.column_scale ? ", column scale" : "", g.bias ? ", bias" : "", g.residual ? ", residual" : "",
                int(g.activation));
  return text;
}

/// What is wrong with a verdict; empty if nothing is.
std::string fault_in(const verdict& v, const drawn& x) {
  if (v.wrong + v.outside == 0) return {};
  const long_index_t j = long_index_t(v.first) - x.c.first;
  char text[300];
  std::snprintf(text, sizeof(text),
                "%llu elements are wrong, %llu places beside C were written; the first is %lld (C begins at 0, ldc "
                "%d): %g instead of %g",
                v.wrong, v.outside, static_cast<long long>(j), int(x.c.ld), v.found, v.wanted);
  return text;
}

/// The name by which --kernel asks for a kernel; null: the one that the model prefers.
std::string name_of_kernel(const tw::gemm_choice* kernel) { return kernel ? tw::name_of(*kernel) : "chosen"; }

/// All cases of a kernel; null: the one that the model prefers. True if they are right.
bool check_kernel(const options& o, const hopper_product& p, const tw::gemm_choice* kernel, int SMs) {
  const std::string product = name_of(p), name = name_of_kernel(kernel);
  int wrong = 0, whole_and_split = 0;
  float worst = 0;
  for (int i = o.first; i < o.first + o.cases; ++i) {
    dice d(product + name + std::to_string(i));
    drawn x;
    const char* refusal = nullptr;
    for (int attempt = 0; attempt < 1000; ++attempt) {
      x = draw(o, p, kernel, SMs, d);
      point_anywhere(x, p.type, p.result);
      if (!kernel) x.choice = p.choose(x.args, SMs);
      refusal = o.leaves_out(x.choice) ? "the tile is left out" : p.check(x.args, x.choice);
      if (!refusal) break;
    }
    std::string fault = refusal ? std::string("refuses 1000 products: ") + refusal : "";
    bool is_lost = false;  // the GPU answers no more
    if (!refusal) {
      try {
        const verdict v = run(o, p, x, std::uint64_t(i) * 8);
        worst = std::max(worst, v.worst);
        whole_and_split += has_whole_and_split_tiles(p, x, SMs);
        fault = fault_in(v, x);
      } catch (const std::exception& error) {
        fault = error.what(), is_lost = true;
      }
    }
    if (!fault.empty()) {
      ++wrong;
      std::printf("%s %s FAIL  %s; %s; repeat: --product %s --kernel %s --first %d --cases 1%s%s\n", product.c_str(),
                  name.c_str(), fault.c_str(), text_of(x).c_str(), product.c_str(), name.c_str(), i,
                  o.small ? " --small" : "", o.unaligned ? "" : " --no-any-start");
      std::fflush(stdout);
    }
    if (is_lost) std::_Exit(1);
  }
  if (wrong == 0)
    std::printf("%s %s PASS  %d products, %d with whole and split tiles; errors up to %.2f of what is allowed\n",
                product.c_str(), name.c_str(), o.cases, whole_and_split, double(worst));
  std::fflush(stdout);
  return wrong == 0;
}

int number_of(const std::string& name, const std::string& text, int least) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least)
    throw std::invalid_argument(name + " needs a whole number of at least " + std::to_string(least) + ", not '" + text +
                                "'");
  return value;
}

options parsed(int argc, char** argv) {
  options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--small" || name == "--no-any-start") {
      (name == "--small" ? o.small : o.unaligned) = name == "--small";
      continue;
    }
    if (++i == argc) throw std::invalid_argument(name + " needs a value");
    if (name == "--product")
      o.product = argv[i];
    else if (name == "--kernel")
      o.kernel = argv[i];
    else if (name == "--cases")
      o.cases = number_of(name, argv[i], 1);
    else if (name == "--first")
      o.first = number_of(name, argv[i], 0);
    else
      throw std::invalid_argument("there is no option " + name);
  }
  return o;
}

}  // namespace
}  // namespace product_check

int main(int argc, char** argv) try {
  using namespace product_check;
  const options o = parsed(argc, argv);
  const int SMs = gpu::device().SMs;
  bool all_right = true;
  int kernels = 0;
  for (const hopper_product& p : gemm_program::all_hopper_products()) {
    if (!o.product.empty() && o.product != name_of(p)) continue;
    std::vector<const tw::gemm_choice*> all{nullptr};
    for (const tw::gemm_choice& c : p.kernels) all.push_back(&c);
    for (const tw::gemm_choice* const kernel : all) {
      if (!o.kernel.empty() && o.kernel != name_of_kernel(kernel)) continue;
      if (kernel && o.leaves_out(*kernel)) continue;
      all_right = check_kernel(o, p, kernel, SMs) && all_right;
      ++kernels;
    }
  }
  if (kernels == 0) throw std::invalid_argument("there is no such product or kernel");
  return all_right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "gpu_products: %s\n", error.what());
  return 2;
}
