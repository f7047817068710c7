// SPDX-License-Identifier: MIT
#include "tensor.hpp"

#include <tilewright/kernels/tensor/map_tensor.hpp>

namespace rows_test {

namespace {

/// Whether y = f(x, x2), and nothing else was written.
template <class Kernel, class T, class Result>
void expect_mapped(const std::vector<index_t>& lengths, index_t gap, index_t first, std::mt19937& random, double error,
                   auto f) {
  std::string words;
  for (const index_t length : lengths) words += std::to_string(length) + " ";
  SCOPED_TRACE(words + "gap " + std::to_string(gap) + " first " + std::to_string(first));
  const tensor<T> x(lengths, random, gap, first, random() % 2), x2(lengths, random, gap, first, false);
  tensor<Result> y(lengths, random, gap, first, random() % 2);
  std::vector<Result> wanted = y.values;
  launch<Kernel>({x.input(), y.view, x2.input()}, {.memory = {x.range(), x2.range(), y.range()}});
  double worst = 0;
  for (long_index_t i = 0; i < y.elements(); ++i) {
    const double exact =
        f(double(float(x.view.data[offset_of(x.view, i)])), double(float(x2.view.data[offset_of(x2.view, i)])));
    const long_index_t at = offset_of(y.view, i);
    worst = max_error(worst, std::abs(double(float(y.view.data[at])) - exact) / std::max(1.0, std::abs(exact)));
    wanted[std::size_t(at + first)] = y.view.data[at];
  }
  EXPECT_LE(worst, error);
  EXPECT_EQ(std::memcmp(wanted.data(), y.values.data(), wanted.size() * sizeof(Result)), 0) << "wrote into a gap";
}

using copy8 = map_tensor<arch::gfx942, fp8_ocp_t>;
using cast = map_tensor<arch::sm90, float, bfloat16_t>;
using swiglu = map_tensor<arch::gfx1201, half_t, half_t, swiglu_function>;

}  // namespace

TEST(MapTensor, StridedTensorsOfAnyLengths) {
  std::mt19937 random(8);
  const auto identity = [](double a, double) { return a; };
  for (int i = 0; i < 24; ++i) {
    const std::vector<index_t> lengths = random_lengths(random, 4000);
    const index_t gap = i % 3 * 8, first = i % 4 == 3 ? 1 + index_t(random() % 7) : 0;
    expect_mapped<copy8, fp8_ocp_t, fp8_ocp_t>(lengths, gap * 2, first, random, 0, identity);
    expect_mapped<cast, float, bfloat16_t>(lengths, gap, first, random, 0x1p-8, identity);
    expect_mapped<swiglu, half_t, half_t>(lengths, gap, first, random, 0x1p-10,
                                          [](double a, double b) { return a / (1 + std::exp(-a)) * b; });
  }
  for (const index_t gap : {1, 2, 4}) {  // rows that start within vectors
    expect_mapped<copy8, fp8_ocp_t, fp8_ocp_t>({7, 132 - gap}, 2 * gap, gap, random, 0, identity);
    expect_mapped<cast, float, bfloat16_t>({6, 41}, gap, 3, random, 0x1p-8, identity);
  }
  expect_mapped<copy8, fp8_ocp_t, fp8_ocp_t>({1000, 21}, 11, 0, random, 0, identity);  // many rows end within a vector
  expect_mapped<cast, float, bfloat16_t>({1, 1}, 0, 0, random, 0x1p-8, identity);
  expect_mapped<cast, float, bfloat16_t>({5, 7, 1021}, 0, 0, random, 0x1p-8, identity);
}

TEST(MapTensor, RowsIntoContiguousMemory) {
  std::mt19937 random(10);
  const auto run = [&]<class Kernel, class T, class Result>(index_t cols, index_t first) {
    SCOPED_TRACE(cols);
    tensor<T> x({9, 5, cols + 3}, random, 0, first, false);
    tensor<Result> y({5, 9, cols}, random, 0, first, false);
    x.view = x.view.slice(2, 2, cols).permuted({1, 0, 2});
    ASSERT_EQ(int(Kernel::prepare({x.input(), y.view}, launch_facts{}).accesses), int(detail::map_accesses::of_rows));
    std::vector<Result> wanted = y.values;
    for (long_index_t i = 0; i < y.elements(); ++i)
      wanted[std::size_t(first + i)] = type_convert<Result>(float(x.view.data[offset_of(x.view, i)]));
    launch<Kernel>({x.input(), y.view}, {.memory = {x.range(), y.range()}});
    EXPECT_EQ(std::memcmp(wanted.data(), y.values.data(), wanted.size() * sizeof(Result)), 0);
  };
  for (const index_t cols : {17, 32, 45}) {
    run.operator()<copy8, fp8_ocp_t, fp8_ocp_t>(cols, cols % 5);
    run.operator()<cast, float, bfloat16_t>(cols, cols % 3);
  }
}

TEST(MapTensor, ElementsFarApart) {
  const far_memory<float> x((1ll << 31) + 601);
  std::vector<bfloat16_t> y(1202);
  x.data[600] = 3, x.data[(1ll << 31) + 600] = 5;
  launch<cast>(
      {strided_tensor<const float>(x.data, {2, 601}, {1ll << 31, 1}), strided_tensor<bfloat16_t>(y.data(), {2, 601})});
  EXPECT_EQ(float(y[600]), 3);
  EXPECT_EQ(float(y[1201]), 5);
}

TEST(MapTensor, GeluIsThatOfTanh) {
  using gelu = map_tensor<arch::gfx942, float, int8_t, gelu_function>;
  std::mt19937 random(9);
  expect_mapped<gelu, float, int8_t>({3, 1000}, 0, 0, random, 0.5, [](double a, double) {
    return a / 2 * (1 + std::tanh(std::sqrt(2 / 3.14159265358979) * (a + 0.044715 * a * a * a)));
  });
}

TEST(MapTensor, VectorsAreThoseOfRowsWhereTheAlignmentAllows) {
  alignas(16) static unsigned char memory[4096];
  using kernel = map_tensor<arch::gfx942, unsigned char>;
  using enum detail::map_accesses;
  const auto accesses = [&](auto x, auto y) { return kernel::prepare({x, y}, launch_facts{}).accesses; };
  const auto x = [&](index_t first, long_index_t stride, long_index_t cols = 100) {
    return strided_tensor<const unsigned char>(memory + first, {4, cols}, {stride, 1});
  };
  const auto y = [&](index_t first, long_index_t stride, long_index_t cols = 100) {
    return strided_tensor<unsigned char>(memory + 2048 + first, {4, cols}, {stride, 1});
  };
  EXPECT_EQ(accesses(x(0, 112), y(0, 112)), aligned);
  EXPECT_EQ(accesses(x(0, 100), y(0, 100)), aligned) << "one row of 400";
  EXPECT_EQ(accesses(x(8, 112), y(0, 112)), of_row);
  EXPECT_EQ(accesses(x(0, 112), y(6, 112)), of_row);
  EXPECT_EQ(accesses(x(0, 112), y(0, 100)), of_rows);
  EXPECT_EQ(accesses(x(0, 17, 16), y(0, 16, 16)), of_rows);
  EXPECT_EQ(accesses(x(0, 17, 15), y(0, 15, 15)), elements) << "a vector may be part of three rows";
  EXPECT_EQ(accesses(x(0, 65, 63), y(0, 64, 63)), elements) << "a thread for each element of short rows";
}

TEST(MapTensor, RefusesWhatItCannotDo) {
  alignas(16) static half_t memory[4096];
  using input = strided_tensor<const half_t>;
  using output = strided_tensor<half_t>;
  const map_args<half_t, half_t> good{input(memory, {2, 512}), output(memory + 2048, {2, 512}),
                                      input(memory + 1024, {2, 512})};
  EXPECT_EQ(swiglu::check(good), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    auto args = good;
    change(args);
    expect_refusal<swiglu>(args, words);
  };
  refuse([](auto& a) { a.y.lengths[0] = 0; }, "lengths must be positive");
  refuse([](auto& a) { a.x.lengths[1] = -3; }, "lengths must be positive");
  refuse([](auto& a) { a.x.lengths[1] = 1ll << 31; }, "2^31 or more");
  refuse([](auto& a) { a.x.dims = 0; }, "1 to 6 dimensions");
  refuse([](auto& a) { a.x = input(memory, {1, 1, 1, 1, 1, 1, 1}); }, "1 to 6 dimensions");
  refuse([](auto& a) { a.x.strides[0] = -512; }, "negative");
  refuse([](auto& a) { a.x2.data = nullptr; }, "null");
  refuse([](auto& a) { a.x.strides[0] = 1ll << 46; }, "more than 2^46");
  refuse([](auto& a) { a.x.data = reinterpret_cast<const half_t*>(reinterpret_cast<const char*>(memory) + 1); },
         "not aligned");
  refuse([](auto& a) { a.x.lengths[0] = 1; }, "different lengths");
  refuse([](auto& a) { a.y.strides[0] = 511; }, "one address");
  refuse([](auto& a) { a.y.strides[1] = 0; }, "one address");
  refuse([](auto& a) { a.y.data = memory + 8; }, "overlaps an input");
  refuse([](auto& a) { a.y.data = memory, a.y.strides[0] = 520; }, "overlaps an input");
  refuse([](auto& a) { a.x.strides[0] = a.y.strides[0] = 1024, a.y.data = memory + 512; },
         "the memory from the result's first element to its last overlaps an input's");
  refuse(
      [](auto& a) {  // 2^41 elements, whose addresses are never read
        a.x = input(memory, {1 << 21, 1 << 20}), a.x2 = a.x, a.y = output(memory + (1ll << 42), {1 << 21, 1 << 20});
      },
      "too many elements");
  refuse(
      [](auto& a) {  // 2^36 elements, whose addresses are never read
        a.x = input(memory, {1 << 21, 1 << 15}), a.x2 = a.x, a.y = output(memory + (1ll << 42), {1 << 21, 1 << 15});
      },
      "fewer than 2^32 threads");
  auto in_place = good;
  in_place.y.data = memory;
  EXPECT_EQ(swiglu::check(in_place), nullptr);
  auto repeated = good;
  repeated.x2.strides[0] = 0;
  EXPECT_EQ(swiglu::check(repeated), nullptr);
}

TEST(LoopNest, FindsIterationsAfter2To31) {
  const long_index_t lengths[] = {3, 70000, 50000, 7};
  const strided_tensor<const char> x(nullptr, {3, 70000, 50000, 7}),
      y(nullptr, {3, 70000, 50000, 7}, {1, 3, 3 * 70000, 4ll << 34});
  auto nest = detail::loops_over(x, y);
  ASSERT_TRUE(nest.finish({1, 1}));
  EXPECT_EQ(nest.iterations, 3ll * 70000 * 50000 * 7);
  std::mt19937_64 random(3);
  for (int i = 0; i < 1000; ++i) {
    long_index_t index[4], at_x = 0, at_y = 0;
    for (int d = 0; d < 4; ++d) {
      index[d] = long_index_t(random() % std::uint64_t(lengths[d]));
      at_x += index[d] * x.strides[d], at_y += index[d] * y.strides[d];
    }
    const long_index_t iteration = index[0] + 3 * (index[1] + 70000 * (index[2] + 50000 * index[3]));  // in y's order
    array<long_index_t, 2> at_of_one[1];
    index_t innermost[1];
    nest.find<1, long_index_t>({iteration}, at_of_one, innermost);
    const auto at = nest.offsets(iteration);
    EXPECT_EQ(at_of_one[0], at);
    EXPECT_EQ(at[0], at_x);
    EXPECT_EQ(at[1], at_y);
    EXPECT_EQ(innermost[0], index[0]);
  }
}

TEST(StridedTensor, SlicesAndPermutations) {
  int memory[120];
  const strided_tensor<int> t(memory, {4, 5, 6});
  const auto part = t.slice(1, 2, 3).permuted({2, 0, 1});
  EXPECT_EQ(part.data, memory + 12);
  EXPECT_EQ(part.lengths[0], 6);
  EXPECT_EQ(part.lengths[2], 3);
  EXPECT_EQ(part.strides[0], 1);
  EXPECT_EQ(part.strides[1], 30);
  EXPECT_EQ(part.strides[2], 6);
}

}  // namespace rows_test
