// SPDX-License-Identifier: MIT
#include "../../launch_sentence.hpp"
#include "tensor.hpp"

#include <tilewright/kernels/tensor/launch_permute.hpp>

namespace rows_test {

namespace {

/// Whether y = x, and nothing else was written; how many conflicts LDS had. Launch: launches some kernel.
template <class T, class Launch>
void expect_permuted(const tensor<T>& x, tensor<T>& y, Launch launch) {
  std::string words;
  for (index_t d = 0; d < x.view.dims; ++d)
    words += std::to_string(x.view.lengths[d]) + "(" + std::to_string(x.view.strides[d]) + ", " +
             std::to_string(y.view.strides[d]) + ") ";
  SCOPED_TRACE(words);
  std::vector<T> wanted = y.values;
  const long_index_t first = y.view.data - y.values.data();
  for (long_index_t i = 0; i < x.elements(); ++i)
    wanted[std::size_t(first + offset_of(y.view, i))] = x.view.data[offset_of(x.view, i)];
  launch(map_args<T, T>{x.input(), y.view},
         launch_options{.check_lds = emulator::lds_checks::on, .memory = {x.range(), y.range()}});
  EXPECT_EQ(y.values == wanted, true);
}

template <class Kernel, class T>
void expect_tiled(const tensor<T>& x, tensor<T>& y) {
  ASSERT_EQ(Kernel::check({x.input(), y.view}), nullptr);
  expect_permuted<T>(x, y, [](const auto& args, const auto& options) {
    const auto report = launch<Kernel>(args, options);
    EXPECT_LE(report.totals.conflicts, 8 * report.blocks) << "more than those of filling the tables";
  });
}

/// Numbers that tell where each element comes from.
template <class T>
tensor<T> numbered(tensor<T> t) {
  for (std::size_t i = 0; i < t.values.size(); ++i) t.values[i] = T(i * 2654435761u >> 7);
  return t;
}

}  // namespace

TEST(Permute, TensorsOfAnyLengthsAndOrder) {
  std::mt19937 random(1);
  for (int i = 0; i < 4; ++i) {
    std::vector<index_t> lengths = random_lengths(random, 2500);
    if (i % 2)
      for (index_t& length : lengths) length = ceil_div(length, 4) * 4;
    const index_t gap = i % 2 * 8, first = i == 3;
    const auto of_any = [&]<class Arch, class T>() {
      const auto x = numbered(tensor<T>(lengths, random, gap, first, true));
      tensor<T> y(lengths, random, gap, first, true);
      expect_permuted<T>(x, y, [](const auto& args, const auto& options) { launch_permute<Arch, T>(args, options); });
    };
    of_any.template operator()<arch::gfx942, unsigned short>();
    of_any.template operator()<arch::sm90, unsigned char>();
    if (i < 2) of_any.template operator()<arch::gfx1201, unsigned long long>();
  }
}

TEST(Permute, TilesHaveNoConflicts) {
  std::mt19937 random(2);
  const auto run = [&]<class Arch, class T, index_t Vector>(std::vector<index_t> lengths,
                                                            std::initializer_list<index_t> order) {
    auto x = numbered(tensor<T>(lengths, random, 0, 0, false));
    std::vector<index_t> permuted;
    for (const index_t d : order) permuted.push_back(lengths[std::size_t(d)]);
    tensor<T> y(permuted, random, 0, 0, false);
    x.view = x.view.permuted(order);
    expect_tiled<permute<Arch, T, Vector>, T>(x, y);
  };
  run.operator()<arch::gfx942, unsigned short, 8>({8, 3, 40, 104}, {3, 1, 2, 0});
  run.operator()<arch::gfx942, unsigned short, 8>({2000, 8}, {1, 0});
  run.operator()<arch::sm90, unsigned short, 1>({2, 61, 131}, {2, 0, 1});
  run.operator()<arch::gfx1201, unsigned, 4>({12, 28, 36}, {2, 1, 0});
  run.operator()<arch::sm90, unsigned long long, 2>({34, 5, 66}, {2, 1, 0});
  run.operator()<arch::gfx942, unsigned char, 4>({132, 2, 3, 140}, {3, 1, 2, 0});
}

TEST(Permute, RowsThatStartAnywhere) {
  std::mt19937 random(3);
  const auto run = [&]<class Arch, class T>(std::vector<index_t> lengths, std::initializer_list<index_t> order,
                                            index_t gap) {
    using kernel = permute_unaligned<Arch, T>;
    auto x = numbered(tensor<T>(lengths, random, gap, 1, false));
    std::vector<index_t> permuted;
    for (const index_t d : order) permuted.push_back(lengths[std::size_t(d)]);
    tensor<T> y(permuted, random, gap, 1, false);
    x.view = x.view.permuted(order);
    expect_permuted<T>(x, y, [](const auto& args, const auto& options) { launch<kernel>(args, options); });
  };
  run.operator()<arch::gfx942, unsigned short>({3, 227, 19}, {0, 2, 1}, 0);  // tiles begin before their own rows
  run.operator()<arch::sm90, unsigned char>({19, 37, 30}, {0, 2, 1}, 5);
  run.operator()<arch::gfx942, unsigned short>({21, 3, 50}, {2, 1, 0}, 0);
  // Runs of rows that columns continue: whole matrices, parts of their columns, a last tile with fewer runs.
  run.operator()<arch::sm90, unsigned short>({7, 3, 19, 21}, {0, 1, 3, 2}, 0);
  run.operator()<arch::gfx942, unsigned>({5, 30, 150}, {0, 2, 1}, 0);
  run.operator()<arch::sm90, unsigned char>({29, 11, 133}, {0, 2, 1}, 0);
  run.operator()<arch::sm90, unsigned long long>({2, 39, 28}, {0, 2, 1}, 0);    // an odd number of vectors would fit
  run.operator()<arch::gfx942, unsigned long long>({9, 8, 135}, {0, 2, 1}, 0);  // runs of eight rows
  for (const index_t rows : {57, 58, 59, 60, 61})  // the last rows are those of a tile of their own, or not
    run.operator()<arch::gfx1201, unsigned long long>({rows, 18}, {1, 0}, 0);
}

TEST(Permute, ShortDimensionsHaveLongRows) {
  std::mt19937 random(5);
  const auto run = [&]<class Arch, class T>(std::vector<index_t> lengths, std::initializer_list<index_t> order,
                                            index_t first) {
    using kernel = permute_runs<Arch, T>;
    auto x = numbered(tensor<T>(lengths, random, 0, first, false));
    std::vector<index_t> permuted;
    for (const index_t d : order) permuted.push_back(lengths[std::size_t(d)]);
    tensor<T> y(permuted, random, 0, first, false);
    x.view = x.view.permuted(order);
    ASSERT_EQ(kernel::check({x.input(), y.view}), nullptr);
    expect_permuted<T>(x, y, [](const auto& args, const auto& options) { launch<kernel>(args, options); });
    for (T& value : y.values) value = T(3);
    using far = permute_runs<Arch, T, long_index_t>;
    expect_permuted<T>(x, y, [](const auto& args, const auto& options) { launch<far>(args, options); });
  };
  run.operator()<arch::sm90, unsigned char>({16, 150, 2, 16}, {3, 1, 2, 0}, 0);
  run.operator()<arch::sm90, unsigned char>({2, 17, 331, 11}, {0, 3, 2, 1}, 1);
  run.operator()<arch::gfx942, unsigned short>({9, 700, 5}, {2, 1, 0}, 0);
  run.operator()<arch::gfx1201, unsigned>({7, 300, 6}, {2, 1, 0}, 1);
  run.operator()<arch::sm90, unsigned long long>({8, 401, 9}, {2, 1, 0}, 0);
  run.operator()<arch::sm90, unsigned char>({70, 9, 50}, {2, 1, 0}, 0);  // several threads share the rows of y
  run.operator()<arch::sm90, unsigned short>({3, 9001}, {1, 0}, 1);      // one of both dimensions is none
  run.operator()<arch::sm90, unsigned short>({9001, 3}, {1, 0}, 0);
  run.operator()<arch::gfx942, unsigned char>({31, 7, 9}, {0, 2, 1}, 0);  // several matrices in a tile
  run.operator()<arch::sm90, unsigned>({5, 30, 150}, {0, 2, 1}, 0);
}

TEST(Permute, ShortDimensionsAreFound) {
  const auto is_chosen = [](std::initializer_list<long_index_t> lengths, std::initializer_list<index_t> order) {
    using kernel = permute_runs<arch::sm90, unsigned short>;
    const auto memory = [](long_index_t address) { return reinterpret_cast<unsigned short*>(address); };
    const auto x = strided_tensor<const unsigned short>(memory(1ll << 40), lengths).permuted(order);
    strided_tensor<unsigned short> y(memory(1ll << 41), lengths);
    long_index_t stride = 1;
    for (index_t d = x.dims; d-- > 0; stride *= x.lengths[d]) y.lengths[d] = x.lengths[d], y.strides[d] = stride;
    return !kernel::check({x, y}) && kernel::is_worth_it(kernel::prepare({x, y}, 0));
  };
  EXPECT_TRUE(is_chosen({16, 16384, 32, 9}, {3, 1, 2, 0}));
  EXPECT_TRUE(is_chosen({4194304, 16}, {1, 0}));
  EXPECT_TRUE(is_chosen({1000, 16, 32}, {0, 2, 1}));
  EXPECT_TRUE(is_chosen({32, 90000}, {1, 0}));
  EXPECT_FALSE(is_chosen({1000, 56, 60}, {0, 2, 1})) << "rows of 60 are long enough for permute_unaligned";
  EXPECT_FALSE(is_chosen({17, 16384, 241}, {2, 1, 0})) << "rows of y would be short";
  EXPECT_FALSE(is_chosen({1000, 1600}, {1, 0}));
  EXPECT_FALSE(is_chosen({20, 48, 1000}, {0, 2, 1})) << "permute_unaligned has runs of 48";
}

TEST(Permute, RowsAtSectorsTakeAlignedVectors) {
  alignas(32) static unsigned char memory[4096];
  const auto starts = [&](index_t first, std::initializer_list<long_index_t> strides) {
    return detail::starts_at_sectors(strided_tensor<unsigned char>(memory + first, {3, 5, 17}, strides));
  };
  EXPECT_TRUE(starts(0, {160, 32, 1}));
  EXPECT_FALSE(starts(16, {160, 32, 1}));
  EXPECT_FALSE(starts(0, {208, 32, 1}));
  using unaligned = permute_unaligned<arch::sm90, unsigned char>;
  const auto is_full = [&](long_index_t cols) {  // columns have no second dimension
    const strided_tensor<const unsigned char> x(memory, {3, 5, cols});
    return unaligned::has_full_tiles(
        unaligned::prepare({x.permuted({2, 1, 0}), strided_tensor<unsigned char>(memory + 2048, {cols, 5, 3})}, 0));
  };
  EXPECT_TRUE(is_full(64));
  EXPECT_FALSE(is_full(63));
  EXPECT_TRUE(detail::starts_at_sectors(strided_tensor<unsigned>(reinterpret_cast<unsigned*>(memory), {3, 8})));
}

TEST(Permute, SlicesOfPermutedTensors) {
  std::vector<float> from(2 * 3 * 40 * 64), to(from.size(), -1.0f);
  std::iota(from.begin(), from.end(), 0.0f);
  const float* source = from.data();
  float* target = to.data();
  strided_tensor<const float> x(source, {2, 3, 40, 64});  // contiguous
  strided_tensor<float> y(target, {3, 40, 2, 64});        // the first half of x's columns into y's second half
  launch_permute<arch::gfx942, float>({x.permuted({1, 2, 0, 3}).slice(3, 0, 32), y.slice(3, 32, 32)}, {});
  for (index_t i = 0; i < 3 * 40 * 2 * 64; ++i) {
    const index_t d = i % 64, b = i / 64 % 2, s = i / 128 % 40, h = i / 128 / 40;
    ASSERT_EQ(to[std::size_t(i)], d < 32 ? -1.0f : from[std::size_t(((b * 3 + h) * 40 + s) * 64 + d - 32)]);
  }
}

TEST(Permute, ConcatenatesAlongAnyDimension) {
  std::mt19937 random(4);
  const auto a = numbered(tensor<unsigned short>({5, 3, 8}, random, 0, 0, true)),
             b = numbered(tensor<unsigned short>({5, 70, 8}, random, 4, 0, true));
  tensor<unsigned short> y({5, 73, 8}, random, 0, 0, false);
  using kernels = arch::gfx942;
  launch_concatenate<kernels, unsigned short>({a.input(), b.input()}, y.view, 1);
  for (long_index_t i = 0; i < y.elements(); ++i) {
    const long_index_t c = i % 8, s = i / 8 % 73, r = i / 8 / 73;
    const auto& from = s < 3 ? a.view : b.view;
    ASSERT_EQ(y.view.data[offset_of(y.view, i)],
              from.data[offset_of(from, (r * from.lengths[1] + (s < 3 ? s : s - 3)) * 8 + c)]);
  }
  const auto sentence = [&](const auto& first, const auto& second, index_t dim) {
    return sentence_of(
        [&] { launch_concatenate<kernels, unsigned short>({first.input(), second.input()}, y.view, dim); });
  };
  EXPECT_EQ(sentence(a, a, 1), "concatenate: the inputs are shorter than y");
  const std::string other_lengths =
      "concatenate: dim must exist, and the lengths of the inputs along it add up to that of y";
  EXPECT_EQ(sentence(b, b, 1), other_lengths);
  EXPECT_EQ(sentence(a, b, 3), other_lengths);
}

TEST(Permute, ElementsFarApart) {
  const long_index_t apart = 1ll << 31;
  const far_memory<unsigned short> x(apart + 64 * 64);
  std::vector<unsigned short> y(2 * 64 * 64);
  x.data[3 * 64 + 7] = 5, x.data[apart + 63 * 64 + 1] = 9;
  launch_permute<arch::gfx942, unsigned short>(
      {strided_tensor<const unsigned short>(x.data, {2, 64, 64}, {apart, 1, 64}),
       strided_tensor<unsigned short>(y.data(), {2, 64, 64})});
  EXPECT_EQ(y[7 * 64 + 3], 5);
  EXPECT_EQ(y[64 * 64 + 1 * 64 + 63], 9);
}

TEST(Permute, RefusesWhatItCannotDo) {
  alignas(16) static unsigned short memory[2 * 64 * 64 + 8];
  using kernel = permute<arch::gfx942, unsigned short, 8>;
  const strided_tensor<const unsigned short> x(memory, {64, 64}, {1, 64});
  const strided_tensor<unsigned short> y(memory + 64 * 64 + 8, {64, 64});
  EXPECT_EQ(kernel::check({x, y}), nullptr);
  const auto refuse = [&](auto change, const char* words) {
    kernel::args_type args{x, y};
    change(args);
    expect_refusal<kernel>(args, words);
  };
  refuse([](auto& a) { a.x.lengths[0] = 0; }, "must be positive");
  refuse([](auto& a) { a.y.data = nullptr; }, "null");
  refuse([](auto& a) { ++a.x.data; }, "aligned");
  refuse([](auto& a) { a.x.lengths[0] = a.y.lengths[0] = 60; }, "multiples");
  refuse([](auto& a) { a.y.strides[0] = 56; }, "one address");
  refuse([](auto& a) { a.y.data = memory + 64; }, "overlaps an input");
  refuse([](auto& a) { a.x.strides[0] = 64, a.x.strides[1] = 1; }, "use map_tensor");
  refuse([](auto& a) { a.x.strides[0] = 0; }, "multiples");
  refuse([](auto& a) { a.x.data = memory + 2 * 64 * 64 + 8, a.x.strides[1] = 1ll << 30; }, "spans 2 GiB");
  const strided_tensor<unsigned short> two(memory + 64 * 64 + 8, {2, 32, 32});
  const auto two_matrices = [&](index_t apart) {
    return strided_tensor<const unsigned short>(memory, {2, 32, 32}, {apart, 1, 32});
  };
  EXPECT_EQ(kernel::check({two_matrices(1024), two}), nullptr);
  expect_refusal<kernel>({two_matrices(1025), two}, "multiples");
  const strided_tensor<const unsigned short> apart(memory, {32, 32}, {2, 64});
  using unaligned = permute_unaligned<arch::gfx942, unsigned short>;
  expect_refusal<unaligned>({apart, strided_tensor<unsigned short>(memory + 64 * 64 + 8, {32, 32})},
                            "not contiguous along any");
  expect_refusal<permute_runs<arch::gfx942, unsigned short>>(
      {apart, strided_tensor<unsigned short>(memory + 64 * 64 + 8, {32, 32})}, "no dimension continues");
  using far = permute<arch::gfx942, unsigned short, 8, long_index_t>;  // reads no address to refuse 2^31 tiles
  const far::args_type many{{memory, {1 << 23, 1 << 22}, {1, 1 << 23}}, {memory + (1ll << 46), {1 << 23, 1 << 22}}};
  expect_refusal<far>(many, "more than 2^31 tiles");
  const strided_tensor<unsigned short> nowhere(nullptr, {64, 64});
  EXPECT_EQ(sentence_of([&] { launch_permute<arch::gfx942, unsigned short>({x, nowhere}); }), "a pointer is null");
}

}  // namespace rows_test
