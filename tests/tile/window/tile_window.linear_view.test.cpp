// SPDX-License-Identifier: MIT
// Windows on linear views: products of strides, far from the start of large tensors, running backwards.
#include "../on_cpu.hpp"
#include "../sparse_memory.hpp"

#include <tilewright/core/descriptor/transform_descriptor.hpp>
#include <tilewright/tile/copy/load_store.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace tilewright {
namespace {

using namespace testing_tiles;

/// The tile at `origin`, element by element: memory[place(index)] where the index is inside of the lengths, else zero.
using place_of = std::function<long_index_t(multi_index<2>)>;
template <class Make>
void expect_elements(const element* memory, multi_index<2> origin, multi_index<2> tensor_lengths, Make make,
                     const place_of& place) {
  const auto where = positions<tile_type>();
  run<tile_type>(arch::gfx942::value, [&] {
    const auto tile = load_tile(make(origin));
    for (index_t d = 0; d < tile_type::num_elements; ++d) {
      const auto x = sum(origin, where[std::size_t(exec::thread_id() * tile_type::num_elements + d)]);
      const bool exists = unsigned(x[0]) < unsigned(tensor_lengths[0]) && unsigned(x[1]) < unsigned(tensor_lengths[1]);
      if (tile.thread_buffer[d] != (exists ? memory[place(x)] : element(0)))
        throw std::runtime_error("wrong element " + std::to_string(x[0]) + ", " + std::to_string(x[1]));
    }
  });
}

TEST(TileWindow, MovesAlongProductsOfRunTimeStrides) {
  constexpr index_t pitch = 40, every = 3, groups = 70;
  std::vector<element> memory(pitch * every * groups);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<element>(i);
  const auto all = make_naive_tensor_descriptor(make_tuple(groups * every, pitch),
                                                make_tuple(index_t(pitch), number<1>{}), number<8>{});
  const auto every_third = transform_tensor_descriptor(
      all,
      make_tuple(make_embed_transform(make_tuple(index_t(groups)), make_tuple(index_t(every))),
                 make_pass_through_transform(index_t(pitch))),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  static_assert(detail::step_along(decltype(every_third)::graph, 0).slots.size() == 2);
  for (const multi_index<2> origin : {multi_index<2>{{8, 0}}, multi_index<2>{{48, 16}}})
    expect_elements(
        memory.data(), origin, {groups, pitch},
        [&](const multi_index<2>& at) {
          auto window =
              make_tile_window(make_tensor_view<global>(memory.data(), every_third), lengths, {1, 8}, tile_type{});
          move_tile_window(window, {at[0] - 1, at[1] - 8});
          return window;
        },
        [](multi_index<2> x) { return long_index_t(x[0]) * every * pitch + x[1]; });
}

/// Matrices of more than 2^30 elements one after another; only the beginning of matrix 3 and the end of 2 are in
/// memory.
constexpr index_t batch = 5, rows = 40000, cols = 40000;
constexpr long_index_t matrix = long_index_t(rows) * cols, third = 3 * matrix;
class WindowOnALargeTensor : public ::testing::Test {
 protected:
  sparse_memory sparse_{std::size_t(batch) * matrix * sizeof(element)};
  element* memory_ = sparse_.data<element>();

  void SetUp() override {
    for (index_t r = -32; r < 32; ++r) {
      for (index_t c = 0; c < 32; ++c)
        memory_[third + long_index_t(r) * cols + c] = static_cast<element>(10000 + r * 32 + c);
    }
  }
  template <class Descriptor>
  void expect_third(const Descriptor& descriptor) {
    expect_elements(
        memory_, {0, 0}, {rows, cols},
        [&](const multi_index<2>& at) {
          return make_tile_window(make_tensor_view<global>(memory_, descriptor), lengths, at, tile_type{});
        },
        [](multi_index<2> x) { return third + long_index_t(x[0]) * cols + x[1]; });
  }
  static auto rows_of_all() {
    return make_naive_tensor_descriptor(make_tuple(batch * rows, cols), make_tuple(cols, number<1>{}), number<8>{});
  }
  template <class Descriptor>
  static auto frozen(const Descriptor& matrices) {
    return transform_tensor_descriptor(
        matrices,
        make_tuple(make_freeze_transform(3), make_pass_through_transform(rows), make_pass_through_transform(cols)),
        make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
        make_tuple(sequence<>{}, sequence<0>{}, sequence<1>{}));
  }
};

TEST_F(WindowOnALargeTensor, OneMatrixOfSeveral) {
  expect_third(frozen(make_naive_tensor_descriptor(make_tuple(batch, rows, cols),
                                                   make_tuple(index_t(matrix), cols, number<1>{}), number<8>{})));
  const auto split = transform_tensor_descriptor(
      rows_of_all(), make_tuple(make_unmerge_transform(make_tuple(batch, rows)), make_pass_through_transform(cols)),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
  expect_third(frozen(split));  // whose stride is the product of two run-time values
}

TEST_F(WindowOnALargeTensor, ASliceOfRows) {
  expect_third(transform_tensor_descriptor(
      rows_of_all(),
      make_tuple(make_slice_transform(batch * rows, 3 * rows, 4 * rows), make_pass_through_transform(cols)),
      make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{})));
}

template <class Descriptor>
void expect_backwards(const Descriptor& descriptor) {
  const auto memory = numbered<element>(64 * 64);
  for (const multi_index<2> origin : {multi_index<2>{{0, 0}}, multi_index<2>{{40, 32}}, multi_index<2>{{-8, 8}}}) {
    expect_elements(
        memory.data(), origin, {64, 64},
        [&](const multi_index<2>& at) {
          const auto view = make_tensor_view<global>(memory.data(), descriptor);
          auto window = make_tile_window(view, lengths, {0, 0}, tile_type{});
          move_tile_window(window, at);
          return window;
        },
        [](multi_index<2> x) { return (63 - x[0]) * 64 + x[1]; });
  }
}

TEST(WindowOnAViewThatRunsBackwards, ReadsAllOfIt) {
  expect_backwards(make_naive_tensor_descriptor_with_offset(make_tuple(number<64>{}, number<64>{}),
                                                            make_tuple(number<-64>{}, number<1>{}), number<63 * 64>{}));
  expect_backwards(make_naive_tensor_descriptor_with_offset(
      make_tuple(index_t(64), number<64>{}), make_tuple(number<-64>{}, number<1>{}), index_t(63 * 64), number<8>{}));
}

/// What the CPU emulator says of a window at {0, 0}.
template <class T = element, class Descriptor>
std::string fault_of(const Descriptor& descriptor) {
  try {
    run<tile_type>(arch::gfx942::value, [&] {
      const auto view = make_tensor_view<global>(static_cast<const T*>(nullptr), descriptor);
      (void)make_tile_window(view, lengths, {0, 0}, tile_type{});
    });
  } catch (const emulator::fault& fault) {
    return fault.what();
  }
  return "";
}
#define EXPECT_SAYS(descriptor, text) \
  EXPECT_NE(fault_of(descriptor).find(text), std::string::npos) << fault_of(descriptor)

TEST(TileWindow, RefusesStridesThatItCannotHave) {
  EXPECT_SAYS(make_naive_tensor_descriptor_with_offset(make_tuple(index_t(64), index_t(64)),
                                                       make_tuple(index_t(-64), number<1>{}), 63 * 64),
              "tile_window: a stride is negative; give it as number<N>{}");
  const auto matrices = [](index_t count) {
    return transform_tensor_descriptor(
        make_naive_tensor_descriptor_packed(make_tuple(count, 1 << 16, 1 << 15), number<8>{}),
        make_tuple(make_pass_through_transform(count), make_freeze_transform(number<0>{}),
                   make_pass_through_transform(1 << 15)),
        make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
        make_tuple(sequence<0>{}, sequence<>{}, sequence<1>{}));
  };
  EXPECT_SAYS(matrices(2), "tile_window: a stride does not fit into 32 bits; make a view for each index");
  EXPECT_EQ(fault_of(matrices(1)), "") << "no thread steps along a dimension of one index";
  const auto two_rows = [](index_t stride) {
    return make_naive_tensor_descriptor(make_tuple(2, 32), make_tuple(stride, number<1>{}));
  };
  EXPECT_EQ(fault_of<signed char>(two_rows(2147483615)), "") << "the tile ends with byte 2^31 - 2";
  EXPECT_NE(fault_of<signed char>(two_rows(2147483616)), "");
}

TEST(TileWindow, RefusesFarElementsOfViewsThatAreNotLinear) {
  const auto merged = [](index_t a, index_t b, index_t pitch) {
    return transform_tensor_descriptor(
        make_naive_tensor_descriptor(make_tuple(a, b, 32), make_tuple(b * pitch, pitch, number<1>{}), number<8>{}),
        make_tuple(make_merge_transform(make_tuple(a, b)), make_pass_through_transform(32)),
        make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0>{}, sequence<1>{}));
  };
  const char* const words = "tile_window: the view is not linear, and an element lies 2^31 bytes or more after";
  EXPECT_EQ(fault_of(merged(4, 8, 1 << 20)), "");
  EXPECT_EQ(fault_of(merged(8, 2000, 1 << 17)), "") << "a large tensor, but the window is near its start";
  EXPECT_SAYS(merged(4, 8, 1 << 26), words);
  EXPECT_SAYS(merged(8, 4, 1 << 28), words);
}

}  // namespace
}  // namespace tilewright
