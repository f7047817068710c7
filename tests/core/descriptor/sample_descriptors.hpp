// SPDX-License-Identifier: MIT
// Descriptors of all sorts, each with its formula written by hand.
#pragma once

#include <tilewright/core/descriptor/transform_descriptor.hpp>

#include <optional>

namespace tilewright::samples {

/// 18, 19, 16, 17, ... for a length of 20.
struct pairs_from_the_end {
  TILEWRIGHT_HD constexpr index_t operator()(index_t i, index_t length) const { return length - 2 - i / 2 * 2 + i % 2; }
};

/// Calls f(name, descriptor, formula): formula(index) is the offset, or nothing where no element exists. With `Static`
/// every length and stride is known to the compiler, otherwise every one that may be is known only at run time.
template <bool Static>
class sample_maker {
 public:
  template <class F>
  static void each(F&& f) {
    using offset = std::optional<index_t>;
    const auto packed = make_naive_tensor_descriptor_packed(make_tuple(n<6>(), n<4>(), n<10>()));
    f("packed", packed, [](const multi_index<3>& i) -> offset { return 40 * i[0] + 10 * i[1] + i[2]; });

    const auto matrix = make_naive_tensor_descriptor(make_tuple(n<12>(), n<20>()), make_tuple(n<24>(), number<1>{}));
    f("strided", matrix, [](const multi_index<2>& i) -> offset { return 24 * i[0] + i[1]; });

    const auto padded = transform_tensor_descriptor(
        matrix, make_tuple(make_pad_transform(n<12>(), n<3>(), n<1>()), make_right_pad_transform(n<20>(), n<4>())),
        make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{}));
    f("padded", padded, [](const multi_index<2>& i) -> offset {
      if (i[0] < 3 || i[0] >= 15 || i[1] >= 20) return {};
      return 24 * (i[0] - 3) + i[1];
    });

    const auto merged = transform_tensor_descriptor(
        packed, make_tuple(make_pass_through_transform(n<4>()), make_merge_transform(make_tuple(n<10>(), n<6>()))),
        make_tuple(sequence<1>{}, sequence<2, 0>{}), make_tuple(sequence<1>{}, sequence<0>{}));
    f("merged", merged, [](const multi_index<2>& i) -> offset { return 40 * (i[0] % 6) + 10 * i[1] + i[0] / 6; });

    const auto padded_merge = transform_tensor_descriptor(
        merged, make_tuple(make_pad_transform(n<60>(), n<7>(), n<2>()), make_pass_through_transform(n<4>())),
        make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<1>{}, sequence<0>{}));
    f("padded merge", padded_merge, [](const multi_index<2>& i) -> offset {
      const index_t j = i[1] - 7;
      if (j < 0 || j >= 60) return {};
      return 40 * (j % 6) + 10 * i[0] + j / 6;
    });

    const auto split = transform_tensor_descriptor(matrix,
                                                   make_tuple(make_unmerge_transform(make_tuple(n<3>(), n<4>())),
                                                              make_unmerge_transform(make_tuple(n<5>(), n<4>()))),
                                                   make_tuple(sequence<0>{}, sequence<1>{}),
                                                   make_tuple(sequence<0, 2>{}, sequence<1, 3>{}));
    f("split", split, [](const multi_index<4>& i) -> offset { return 24 * (4 * i[0] + i[2]) + 4 * i[1] + i[3]; });

    const auto merged_twice = transform_tensor_descriptor(
        split,
        make_tuple(make_merge_transform(make_tuple(n<3>(), n<5>(), n<4>())), make_pass_through_transform(n<4>())),
        make_tuple(sequence<0, 1, 2>{}, sequence<3>{}), make_tuple(sequence<0>{}, sequence<1>{}));
    f("merged again", merged_twice,
      [](const multi_index<2>& i) -> offset { return 24 * (4 * (i[0] / 20) + i[0] % 4) + 4 * (i[0] / 4 % 5) + i[1]; });

    const auto cube =
        make_naive_tensor_descriptor(make_tuple(n<6>(), number<8>{}, n<5>()), make_tuple(n<40>(), n<5>(), number<1>{}));
    const auto frozen =
        transform_tensor_descriptor(cube,
                                    make_tuple(make_freeze_transform(n<3>()), make_offset_transform(n<5>(), n<2>()),
                                               make_pass_through_transform(n<5>())),
                                    make_tuple(sequence<0>{}, sequence<1>{}, sequence<2>{}),
                                    make_tuple(sequence<>{}, sequence<1>{}, sequence<0>{}));
    f("frozen and shifted", frozen, [](const multi_index<2>& i) -> offset { return 120 + 5 * (i[1] + 2) + i[0]; });

    const auto swizzled = transform_tensor_descriptor(
        cube, make_tuple(make_xor_transform(make_tuple(n<6>(), number<8>{})), make_pass_through_transform(n<5>())),
        make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<0, 1>{}, sequence<2>{}));
    f("swizzled", swizzled,
      [](const multi_index<3>& i) -> offset { return 40 * i[0] + 5 * (i[1] ^ (i[0] % 8)) + i[2]; });

    const auto swizzled_merge = transform_tensor_descriptor(
        swizzled,
        make_tuple(make_merge_transform(make_tuple(n<6>(), number<8>{})), make_pass_through_transform(n<5>())),
        make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<1>{}, sequence<0>{}));
    f("merge above xor", swizzled_merge,
      [](const multi_index<2>& i) -> offset { return 40 * (i[1] / 8) + 5 * (i[1] % 8 ^ (i[1] / 8 % 8)) + i[0]; });

    const auto pages = make_naive_tensor_descriptor_packed(make_tuple(number<8>{}, number<4>{}, n<5>()));
    const auto permuted = transform_tensor_descriptor(
        pages,
        make_tuple(make_swizzle_transform(make_tuple(number<8>{}, number<4>{}), sequence<1, 3, 2>{}),
                   make_pass_through_transform(n<5>())),
        make_tuple(sequence<0, 1>{}, sequence<2>{}), make_tuple(sequence<2, 0>{}, sequence<1>{}));
    f("swizzled by a bit matrix", permuted, [](const multi_index<3>& i) -> offset {
      const index_t flips = (i[2] % 2 ? 1 : 0) ^ (i[2] / 2 % 2 ? 3 : 0) ^ (i[2] / 4 ? 2 : 0);
      return 20 * i[2] + 5 * (i[0] ^ flips) + i[1];
    });

    f("shifted cyclically",
      transform_tensor_descriptor(
          cube,
          make_tuple(make_pass_through_transform(number<8>{}), make_cyclic_shift_transform(make_tuple(n<6>(), n<5>()))),
          make_tuple(sequence<1>{}, sequence<0, 2>{}), make_tuple(sequence<0>{}, sequence<1, 2>{})),
      [](const multi_index<3>& i) -> offset { return 40 * i[1] + 5 * i[0] + (i[2] + i[1]) % 5; });

    f("a part that repeats",
      transform_tensor_descriptor(
          matrix, make_tuple(make_slice_transform(n<12>(), n<2>(), n<9>()), make_modulo_transform(n<7>(), n<18>())),
          make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<1>{}, sequence<0>{})),
      [](const multi_index<2>& i) -> offset { return 24 * (i[1] + 2) + i[0] % 7; });

    f("broadcast",
      transform_tensor_descriptor(
          matrix,
          make_tuple(make_pass_through_transform(n<12>()), make_insert_transform(n<3>()),
                     make_pass_through_transform(n<20>()), make_replicate_transform(make_tuple(n<2>(), n<4>()))),
          make_tuple(sequence<0>{}, sequence<>{}, sequence<1>{}, sequence<>{}),
          make_tuple(sequence<1>{}, sequence<0>{}, sequence<3>{}, sequence<4, 2>{})),
      [](const multi_index<5>& i) -> offset { return 24 * i[1] + i[3]; });

    f("gathered",
      transform_tensor_descriptor(
          matrix,
          make_tuple(make_indexing_transform(number<4>{}, make_tuple(n<7>(), n<0>(), n<-1>(), n<7>())),
                     make_functor_transform(pairs_from_the_end{}, n<20>(), n<22>(), make_tuple(n<20>()), number<2>{})),
          make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<0>{}, sequence<1>{})),
      [](const multi_index<2>& i) -> offset {
        const index_t row[] = {7, 0, -1, 7};
        if (i[0] == 2 || i[1] >= 20) return {};
        return 24 * row[i[0]] + 18 - i[1] / 2 * 2 + i[1] % 2;
      });

    f("with an offset",
      make_naive_tensor_descriptor_with_offset(make_tuple(n<6>(), n<5>()), make_tuple(n<7>(), number<1>{}), n<9>()),
      [](const multi_index<2>& i) -> offset { return 9 + 7 * i[0] + i[1]; });

    f("packed with an offset",
      make_naive_tensor_descriptor_packed_with_offset(make_tuple(n<2>(), n<6>(), n<5>()), n<4>()),
      [](const multi_index<3>& i) -> offset { return 4 + 30 * i[0] + 5 * i[1] + i[2]; });
  }

 private:
  template <index_t N>
  static constexpr auto n() {
    if constexpr (Static) {
      return number<N>{};
    } else {
      return N;
    }
  }
};

/// f(index) for every index below the lengths.
template <index_t N, class F>
void each_index(const multi_index<N>& lengths, F&& f) {
  multi_index<N> index{};
  for (;;) {
    f(index);
    index_t d = N - 1;
    while (d >= 0 && ++index[d] == lengths[d]) index[d--] = 0;
    if (d < 0) return;
  }
}

}  // namespace tilewright::samples
