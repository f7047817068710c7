// SPDX-License-Identifier: MIT
// Random GEMMs with narrow operands by the calls, compiled for an AMD GPU and emulated, against float64 of what the
// codes mean: every format and group, weights in the layouts of AWQ and GPTQ, groups of rows, scales that are no
// numbers.
#include <tilewright/jit/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/repack_int4.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/ops/narrow_gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "../kernels/gemm/scaled/narrow_problem.hpp"
#include "../property/setting.hpp"
#include "on_gpu.hpp"

namespace {

namespace tw = tilewright::ops;
using ops_test::on_gpu;
using tilewright::bfloat16_t, tilewright::half_t, tilewright::index_t, tilewright::long_index_t;
using tilewright::int4_layout;
using tilewright::testing_narrow::small_float;
using wf = tw::weight_format;

/// A format, and the types of A and C that it is tried with: so that there are few kernels.
struct narrow_kind {
  const char* name;  ///< of the kernel's format
  wf format;
  int bits, group;  ///< group 0: a row
  tw::element scale;
  bool has_zeros;
  tw::element a = tw::element::bf16, c = tw::element::bf16;
};
constexpr auto f16 = tw::element::f16, bf16 = tw::element::bf16, f32 = tw::element::f32, i8 = tw::element::i8,
               fp8 = tw::element::fp8;
constexpr narrow_kind kinds[] = {{"int4_32_bf16", wf::int4, 4, 32, bf16, false},
                                 {"int4_64_f16", wf::int4, 4, 64, f16, false, f16, f16},
                                 {"int4_128_f32", wf::int4, 4, 128, f32, false, bf16, f32},
                                 {"int4_256_bf16", wf::int4, 4, 256, bf16, false},
                                 {"int4_zero_32_f16", wf::int4, 4, 32, f16, true, f16, f32},
                                 {"int4_zero_64_f32", wf::int4, 4, 64, f32, true, bf16, f32},
                                 {"int4_zero_128_bf16", wf::int4, 4, 128, bf16, true},
                                 {"mxfp4", wf::mxfp4, 4, 32, i8, false},
                                 {"nvfp4", wf::nvfp4, 4, 16, fp8, false, f16, f32},
                                 {"mxfp8", wf::mxfp8, 8, 32, i8, false, bf16, f32},
                                 {"mxfp8_e5m2", wf::mxfp8_e5m2, 8, 32, i8, false},
                                 {"mxfp6_e2m3", wf::mxfp6_e2m3, 6, 32, i8, false},
                                 {"mxfp6_e3m2", wf::mxfp6_e3m2, 6, 32, i8, false, bf16, f32},
                                 {"int8", wf::int8, 8, 0, f32, false, f16, f16},
                                 {"e4m3", wf::e4m3, 8, 0, f32, false}};

double number_of(const narrow_kind& kind, unsigned code, int zero) {
  switch (kind.format) {
    case wf::int4: return int(code) - zero;
    case wf::int8: return int(code ^ 128) - 128;
    case wf::mxfp8_e5m2: return small_float(code, 5, 2, true);
    case wf::mxfp6_e2m3: return small_float(code, 2, 3, false);
    case wf::mxfp6_e3m2: return small_float(code, 3, 2, false);
    default: return kind.bits == 4 ? small_float(code, 2, 1, false) : small_float(code, 4, 3, false);
  }
}

using draw = std::mt19937;
index_t below(draw& random, index_t n) { return index_t(random() % unsigned(n)); }

/// Bytes on the GPU, as a tensor of any strides.
struct stored_bytes {
  explicit stored_bytes(std::vector<signed char> bytes) : memory({long_index_t(bytes.size())}) {
    memory.data = std::move(bytes);
    memory.upload();
  }
  tw::tensor view(tw::element type, std::vector<long_index_t> lengths, std::vector<long_index_t> strides) const {
    tw::tensor t = memory.view;
    t.type = type, t.rank = int(lengths.size());
    std::copy(lengths.begin(), lengths.end(), t.lengths), std::copy(strides.begin(), strides.end(), t.strides);
    return t;
  }
  on_gpu<signed char> memory;
};
template <class T>
void put(std::vector<signed char>& bytes, std::size_t at, T value) {
  std::memcpy(&bytes[at * sizeof(T)], &value, sizeof(T));
}

/// An operand (batch, rows, k): codes, scales and zero points in memory with gaps, and the elements that they mean.
class random_operand {
 public:
  random_operand(const narrow_kind& kind_, index_t batch_, index_t rows_, index_t k_, draw& random)
      : kind(kind_), batch(batch_), rows(rows_), k(k_) {
    const index_t whole = kind.bits == 6 ? 64 : 128 / kind.bits;
    ld = tilewright::ceil_div(k, whole) * whole + whole * below(random, 2);
    groups = kind.group == 0 ? 1 : tilewright::ceil_div(k, kind.group);
    ld_scales = kind.group == 0 ? 1 : groups + below(random, 3);
    is_exact = below(random, 2) == 0;
    draw_numbers(random);
    draw_codes(random);
  }
  double at(index_t z, index_t row, index_t x) const {
    const std::size_t line = std::size_t(z * rows + row), g = group_at(line, x);
    return number_of(kind, codes[line * std::size_t(k) + std::size_t(x)], zeros[g]) * scales[g];
  }
  tw::narrow_weights weights() const {
    const long_index_t bytes = (long_index_t(k) * kind.bits + 7) / 8, line = long_index_t(ld) * kind.bits / 8;
    const auto of_groups = [&](const stored_bytes& memory, tw::element type) {
      if (kind.group == 0) return with_batch(memory, type, {rows}, {1}, rows);
      return with_batch(memory, type, {rows, groups}, {ld_scales, 1}, long_index_t(rows) * ld_scales);
    };
    tw::narrow_weights w{.format = kind.format,
                         .codes = with_batch(*code_memory, i8, {rows, bytes}, {line, 1}, rows * line),
                         .scales = of_groups(*scale_memory, kind.scale)};
    if (kind.has_zeros) w.zeros = of_groups(*zero_memory, i8);
    if (kind.format == wf::int4) w.group = kind.group;
    return w;
  }
  /// How far elements may be off, relative: scales of full precision are rounded to A's type.
  double rounding() const {
    const bool has_few_bits = is_exact || kind.scale == i8 || kind.scale == fp8 || kind.group == 0;
    return has_few_bits ? 0 : kind.a == f16 ? 0x1p-10 : 0x1p-7;
  }

  narrow_kind kind;
  index_t batch, rows, k, ld, groups, ld_scales;
  std::string layout = "columns";

 private:
  std::size_t group_at(std::size_t line, index_t x) const {
    return line * std::size_t(ld_scales) + std::size_t(kind.group == 0 ? 0 : x / kind.group);
  }
  tw::tensor with_batch(const stored_bytes& memory, tw::element type, std::vector<long_index_t> lengths,
                        std::vector<long_index_t> strides, long_index_t stride) const {
    if (batch > 1) lengths.insert(lengths.begin(), batch), strides.insert(strides.begin(), stride);
    return memory.view(type, lengths, strides);
  }
  /// Scales, of which one may be infinite or NaN, and those after the last group are NaN; zero points.
  void draw_numbers(draw& random) {
    const std::size_t count = std::size_t(batch * rows) * std::size_t(ld_scales);
    const std::size_t special =
        below(random, 3) == 0 ? group_at(random() % unsigned(batch * rows), below(random, k)) : count;
    std::vector<signed char> bytes(count * 4), zero_bytes(count);
    scales.resize(count), zeros.resize(count, 8);
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_nan = index_t(i % std::size_t(ld_scales)) >= groups || (i == special && random() % 2);
      const bool is_infinite = i == special && !is_nan;
      const float number = std::ldexp(is_exact ? float(4 + random() % 4) : 4 + float(random() % 4096) / 1024,
                                      int(random() % 7) - 6) *
                           (random() % 4 ? 1.0f : -1.0f),
                  x = is_nan        ? std::nanf("")
                      : is_infinite ? INFINITY
                                    : number;
      const auto store = [&]<class S>(S stored) { scales[i] = double(float(stored)), put(bytes, i, stored); };
      if (kind.scale == f16) store(half_t(x));
      if (kind.scale == bf16) store(bfloat16_t(x));
      if (kind.scale == f32) store(x);
      if (kind.scale == fp8) {  // all codes but those of NaN, in the number's place
        const auto code = static_cast<unsigned char>(is_nan || is_infinite ? 0x7f : 0x20 + random() % 0x30);
        scales[i] = small_float(code, 4, 3, false), put(bytes, i, code);
      }
      if (kind.scale == i8) {
        const auto code = static_cast<unsigned char>(is_nan || is_infinite ? 0xff : 121 + random() % 9);
        scales[i] = code == 0xff ? std::nan("") : std::ldexp(1.0, code - 127), put(bytes, i, code);
      }
      if (kind.has_zeros) zeros[i] = below(random, 16), zero_bytes[i] = static_cast<signed char>(zeros[i]);
    }
    scale_memory.emplace(std::move(bytes)), zero_bytes_ = std::move(zero_bytes);
  }
  /// Codes: one may be infinite or NaN, and memory after the end of k holds anything.
  void draw_codes(draw& random) {
    const std::size_t lines = std::size_t(batch * rows);
    codes.resize(lines * std::size_t(k));
    for (unsigned& code : codes) do
        code = random() % (1u << kind.bits);
      while (!std::isfinite(number_of(kind, code, 8)));
    if (kind.format == wf::mxfp8_e5m2 && below(random, 4) == 0) codes[random() % codes.size()] = 0x7c;
    if (kind.format == wf::e4m3 && below(random, 4) == 0) codes[random() % codes.size()] = 0xff;
    std::vector<signed char> bytes(lines * std::size_t(ld) * std::size_t(kind.bits) / 8);
    for (signed char& x : bytes) x = static_cast<signed char>(random());
    for (std::size_t line = 0; line < lines; ++line)
      for (std::size_t x = 0; x < std::size_t(k); ++x) {
        const std::size_t bit = (line * std::size_t(ld) + x) * std::size_t(kind.bits);
        for (std::size_t b = 0; b < std::size_t(kind.bits); ++b) {
          auto& byte = bytes[(bit + b) / 8];
          const int mask = 1 << (bit + b) % 8;
          byte = static_cast<signed char>(codes[line * std::size_t(k) + x] >> b & 1 ? byte | mask : byte & ~mask);
        }
      }
    const bool is_words = kind.format == wf::int4 && batch == 1 && rows % 8 == 0 && k % 8 == 0;
    if (is_words && below(random, 3) > 0) repack(below(random, 2) ? int4_layout::awq : int4_layout::gptq, bytes);
    code_memory.emplace(std::move(bytes)), zero_memory.emplace(std::move(zero_bytes_));
  }
  /// Stores the weights (and zero points) as AWQ or GPTQ do, and has repack_int4 make columns of them.
  void repack(int4_layout from, std::vector<signed char>& bytes) {
    constexpr unsigned awq_order[] = {0, 2, 4, 6, 1, 3, 5, 7};
    layout = from == int4_layout::awq ? "awq" : "gptq";
    const auto launch_on = [&](const std::vector<unsigned>& words, void* to, index_t length, index_t to_ld,
                               bool zero_points) {
      tilewright::launch<tilewright::repack_int4<tilewright::arch::gfx942>>(
          {words.data(), to, rows, length, to_ld, from, zero_points});
    };
    // Eight columns at `line` of k or of groups, in a word.
    const auto columns = [&](index_t lines, auto code_of) {
      std::vector<unsigned> words;
      for (index_t line = 0; line < lines; ++line)
        for (index_t row = 0; row < rows; row += 8) {
          unsigned word = 0;
          for (unsigned i = 0; i < 8; ++i)
            word |= code_of(row + index_t(from == int4_layout::awq ? awq_order[i] : i), line) << 4 * i;
          words.push_back(word);
        }
      return words;
    };
    const auto code = [&](index_t row, index_t x) { return codes[std::size_t(row) * std::size_t(k) + std::size_t(x)]; };
    std::vector<unsigned> words;
    if (from == int4_layout::awq) {
      words = columns(k, code);
    } else {  // eight k in a word
      for (index_t x = 0; x < k; x += 8)
        for (index_t row = 0; row < rows; ++row) {
          unsigned word = 0;
          for (index_t i = 0; i < 8; ++i) word |= code(row, x + i) << 4 * i;
          words.push_back(word);
        }
    }
    std::fill(bytes.begin(), bytes.end(), static_cast<signed char>(0x5a));
    launch_on(words, bytes.data(), k, ld, false);
    if (!kind.has_zeros) return;
    const bool is_gptq = from == int4_layout::gptq;  // stores them less 1
    for (int& zero : zeros) zero += is_gptq;
    std::fill(zero_bytes_.begin(), zero_bytes_.end(), static_cast<signed char>(99));
    launch_on(columns(groups,
                      [&](index_t row, index_t g) {
                        return unsigned(zeros[std::size_t(row) * std::size_t(ld_scales) + std::size_t(g)] - is_gptq);
                      }),
              zero_bytes_.data(), groups, ld_scales, true);
  }

  bool is_exact;
  std::vector<unsigned> codes;
  std::vector<double> scales;
  std::vector<int> zeros;
  std::vector<signed char> zero_bytes_;
  std::optional<stored_bytes> code_memory, scale_memory, zero_memory;
};

/// A plain A (batch, rows, k), whose rows are followed by NaN.
class plain_operand {
 public:
  plain_operand(tw::element type_, index_t batch_, index_t rows_, index_t k_, draw& random)
      : type(type_), batch(batch_), rows(rows_), k(k_), ld((k_ + 7) / 8 * 8 + 8 * below(random, 2)) {
    std::vector<signed char> bytes(std::size_t(batch * rows) * std::size_t(ld) * 2);
    for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
      const float x = index_t(i % std::size_t(ld)) < k ? float(below(random, 33) - 16) / 8 : std::nanf("");
      numbers.push_back(x);
      if (type == f16)
        put(bytes, i, half_t(x));
      else
        put(bytes, i, bfloat16_t(x));
    }
    memory.emplace(std::move(bytes));
  }
  double at(index_t z, index_t row, index_t x) const {
    return numbers[std::size_t(z * rows + row) * std::size_t(ld) + std::size_t(x)];
  }
  tw::tensor view() const {
    if (batch == 1) return memory->view(type, {rows, k}, {ld, 1});
    return memory->view(type, {batch, rows, k}, {long_index_t(rows) * ld, ld, 1});
  }
  tw::element type;
  index_t batch, rows, k, ld;

 private:
  std::vector<double> numbers;
  std::optional<stored_bytes> memory;
};

/// C (batch, m, n), before and after.
class result {
 public:
  result(tw::element type_, index_t batch_, index_t m_, index_t n_, draw& random)
      : type(type_),
        batch(batch_),
        m(m_),
        n(n_),
        ld(n_ + below(random, 2) * 8),
        memory(std::vector<signed char>(std::size_t(batch * m) * std::size_t(ld) * std::size_t(type == f32 ? 4 : 2),
                                        0x41)) {}
  tw::tensor view() const {
    if (batch == 1) return memory.view(type, {m, n}, {ld, 1});
    return memory.view(type, {batch, m, n}, {long_index_t(m) * ld, ld, 1});
  }
  void download() { memory.memory.download(); }
  double at(index_t z, index_t row, index_t column) const {
    return number((std::size_t(z * m + row)) * std::size_t(ld) + std::size_t(column), memory.memory.data);
  }
  /// Of an element that no kernel wrote.
  double before() const { return number(0, std::vector<signed char>(4, fill)); }
  double rounding() const { return type == f32 ? 0 : type == f16 ? 0x1p-11 : 0x1p-8; }

  tw::element type;
  index_t batch, m, n, ld;
  stored_bytes memory;

 private:
  static constexpr signed char fill = 0x41;
  double number(std::size_t i, const std::vector<signed char>& bytes) const {
    const auto as = [&]<class T>(T value) {
      std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
      return double(float(value));
    };
    return type == f32 ? as(0.0f) : type == f16 ? as(half_t{}) : as(bfloat16_t{});
  }
};

/// What is wrong with alpha A W^T; empty: nothing. group_of(row): which W; less than 0: the row is not written.
std::string wrong(const result& c, const auto& a, const random_operand& w, double alpha, double a_rounding,
                  auto group_of) {
  for (index_t z = 0; z < c.batch; ++z)
    for (index_t row = 0; row < c.m; ++row)
      for (index_t column = 0; column < c.n; ++column) {
        const index_t g = group_of(z, row);
        double sum = 0, size = 0;
        for (index_t x = 0; x < w.k && g >= 0; ++x) {
          const double product = alpha * a.at(z, row, x) * w.at(g, column, x);
          sum += product, size += std::abs(product);
        }
        const double is = c.at(z, row, column), error = size * (w.rounding() + a_rounding + 4e-6);
        const bool is_right = g < 0 ? is == c.before()
                              : std::isfinite(sum)
                                  ? std::abs(is - sum) <= error + (std::abs(sum) + error) * c.rounding()
                                  : !std::isfinite(is);
        if (!is_right)
          return "C(" + std::to_string(z) + ", " + std::to_string(row) + ", " + std::to_string(column) + ") is " +
                 std::to_string(is) + ", not " + std::to_string(sum);
      }
  return {};
}

std::string describe(const random_operand& w, index_t m) {
  return std::string(w.kind.name) + " " + w.layout + ", batch " + std::to_string(w.batch) + ", " + std::to_string(m) +
         " x " + std::to_string(w.rows) + " x " + std::to_string(w.k);
}

/// 1 to 32 rows, or some more: two tiles.
index_t rows_of(draw& random) { return below(random, 3) > 0 ? 1 + below(random, 32) : 33 + below(random, 40); }
index_t columns_of(draw& random) { return below(random, 4) > 0 ? 8 + 8 * below(random, 17) : 1 + below(random, 130); }

void dense(const narrow_kind& kind, draw& random) {
  const index_t batch = below(random, 4) == 0 ? 2 : 1, m = rows_of(random), n = columns_of(random),
                k = below(random, 2) ? 8 + 8 * below(random, 60) : 1 + below(random, 400);
  const plain_operand a(kind.a, batch, m, k, random);
  const random_operand w(kind, below(random, 2) ? batch : 1, n, k, random);
  result c(kind.c, batch, m, n, random);
  SCOPED_TRACE(describe(w, m));
  tw::narrow_gemm(c.view(), a.view(), w.weights(), {.alpha = 0.5f});
  c.download();
  EXPECT_EQ(wrong(c, a, w, 0.5, 0, [&](index_t z, index_t) { return w.batch > 1 ? z : 0; }), "");
}

void both_narrow(const narrow_kind& a_kind, const narrow_kind& kind, draw& random) {
  const index_t m = rows_of(random), n = columns_of(random), k = 8 + 8 * below(random, 50);
  const random_operand a(a_kind, 1, m, k, random), w(kind, 1, n, k, random);
  result c(f32, 1, m, n, random);
  SCOPED_TRACE(std::string(a_kind.name) + " times " + describe(w, m));
  tw::narrow_gemm(c.view(), a.weights(), w.weights());
  c.download();
  EXPECT_EQ(wrong(c, a, w, 1, a.rounding(), [](index_t, index_t) { return index_t(0); }), "");
}

/// Rows of each group times weights of its own, by the request that ops::moe makes.
void grouped(const narrow_kind& kind, draw& random) {
  static tilewright::jit::compiler compiler;
  const index_t groups = 2 + below(random, 4), m = 1 + below(random, 90), n = columns_of(random),
                k = 1 + below(random, 300);
  std::vector<index_t> ends(std::size_t(groups), 0);
  for (index_t& end : ends) end = below(random, m + 1);
  std::sort(ends.begin(), ends.end());
  const plain_operand a(kind.a, 1, m, k, random);
  const random_operand w(kind, groups, n, k, random);
  result c(kind.c, 1, m, n, random);
  on_gpu<int> on_ends({groups});
  on_ends.data = ends, on_ends.upload();
  tilewright::jit::narrow_gemm_problem p{
      .type = kind.a, .result = kind.c, .format = tilewright::jit::narrow_format_of(kind.name)};
  tilewright::narrow_args& g = p.args;
  const tw::narrow_weights b = w.weights();
  g.a = a.view().data, g.lda = a.ld, g.b = b.codes.data, g.ldb = w.ld, g.batch_stride_b = long_index_t(n) * w.ld;
  g.b_scales = b.scales.data, g.b_zeros = b.zeros.data, g.ld_b_scales = w.ld_scales;
  g.batch_stride_b_scales = long_index_t(n) * w.ld_scales;
  g.c = c.view().data, g.ldc = c.ld, g.m = m, g.n = n, g.k = k, g.groups = groups;
  g.ends = static_cast<const index_t*>(on_ends.view.data);
  SCOPED_TRACE("groups: " + describe(w, m));
  compiler.load(tilewright::jit::narrow_gemm(p))(g);
  c.download();
  EXPECT_EQ(wrong(c, a, w, 1, 0,
                  [&](index_t, index_t row) {
                    const auto group = index_t(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
                    return group < groups ? group : -1;
                  }),
            "");
}

// TILEWRIGHT_RANDOM_PROGRAMS: how many problems; ./dev night has 500.
TEST(NarrowGemm, RandomProblems) {
  const unsigned seed = unsigned(tilewright::property::setting("TILEWRIGHT_PROPERTY_SEED", 1));
  const long count = tilewright::property::setting("TILEWRIGHT_RANDOM_PROGRAMS", 4);
  constexpr index_t num_kinds = index_t(std::size(kinds));
  for (long i = 0; i < count && !HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i) + " of seed " + std::to_string(seed));
    draw random(seed * 1000 + unsigned(i));
    const narrow_kind& kind = kinds[below(random, num_kinds)];
    const index_t which = below(random, 10);
    if (which < 2)  // MXFP8 or MXFP6 times MXFP4 or MXFP8
      both_narrow(kinds[9 + below(random, 4)], kinds[7 + 2 * which], random);
    else if (which < 5)
      grouped(kind, random);
    else
      dense(kind, random);
  }
}

}  // namespace
