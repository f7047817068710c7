// SPDX-License-Identifier: MIT
// Checks of transforms and descriptors that run anywhere: in static_assert, on the host at run time, and in a kernel.
#pragma once

#include <tilewright/core/descriptor/tensor_coordinate.hpp>
#include <tilewright/core/descriptor/transform_descriptor.hpp>

namespace tilewright::algebra {

/// Whether offsets, validity and moves of a descriptor of two dimensions are what formula(i, j) says;
/// negative: no element.
template <class Descriptor, class Formula>
TILEWRIGHT_HD constexpr bool follows(const Descriptor& descriptor, Formula&& formula) {
  const auto lengths = descriptor.get_lengths();
  auto coordinate = make_tensor_coordinate(descriptor, {0, 0});
  bool right = true;
  for (index_t i = 0; i < lengths[0]; ++i) {
    for (index_t j = 0; j < lengths[1]; ++j) {
      const index_t expected = formula(i, j);
      right = right && descriptor.is_valid({i, j}) == (expected >= 0);
      right = right && coordinate_has_valid_offset(descriptor, coordinate) == (expected >= 0);
      right = right && (expected < 0 || descriptor.calculate_offset({i, j}) == expected);
      right = right && (expected < 0 || coordinate.get_offset() == expected);
      move_tensor_coordinate(descriptor, coordinate, {0, 1});
    }
    move_tensor_coordinate(descriptor, coordinate, {1, -lengths[1]});
  }
  return right;
}

/// Lengths as the compiler knows them, and as it does not: one is 1, but who knows?
struct known {
  TILEWRIGHT_HD constexpr explicit known(index_t) {}
  template <index_t N>
  TILEWRIGHT_HD constexpr number<N> operator()(number<N>) const {
    return {};
  }
};
struct unknown {
  index_t one;
  template <index_t N>
  TILEWRIGHT_HD constexpr index_t operator()(number<N>) const {
    return N * one;
  }
};

/// A matrix of 6 x 8 with a pitch of 9, seen through a transform of its rows and one of its columns.
template <class Length, class Rows, class Columns>
TILEWRIGHT_HD constexpr auto matrix_through(Length length, const Rows& rows, const Columns& columns) {
  const auto matrix = make_naive_tensor_descriptor(make_tuple(length(number<6>{}), number<8>{}),
                                                   make_tuple(length(number<9>{}), number<1>{}));
  return transform_tensor_descriptor(matrix, make_tuple(rows, columns), make_tuple(sequence<0>{}, sequence<1>{}),
                                     make_tuple(sequence<0>{}, sequence<1>{}));
}

/// The same matrix, seen through a transform of both its dimensions to two others.
template <class Length, class Both>
TILEWRIGHT_HD constexpr auto matrix_through(Length length, const Both& both) {
  const auto matrix = make_naive_tensor_descriptor(make_tuple(length(number<6>{}), number<8>{}),
                                                   make_tuple(length(number<9>{}), number<1>{}));
  return transform_tensor_descriptor(matrix, make_tuple(both), make_tuple(sequence<0, 1>{}),
                                     make_tuple(sequence<0, 1>{}));
}

struct mirrored {
  TILEWRIGHT_HD constexpr index_t operator()(index_t i, index_t length) const { return length - 1 - i; }
};

inline constexpr index_t num_checks = 8;

/// Check number `which`, with lengths that are known or not.
template <class Length>
TILEWRIGHT_HD constexpr bool check(index_t which, index_t one) {
  const Length n{one};
  const auto rows = make_pass_through_transform(n(number<6>{}));
  const auto columns = make_pass_through_transform(number<8>{});
  switch (which) {
    case 0:
      return follows(matrix_through(n, make_pad_transform(n(number<6>{}), n(number<2>{}), n(number<1>{})),
                                    make_right_pad_transform(number<8>{}, n(number<3>{}))),
                     [](index_t i, index_t j) { return i < 2 || i > 7 || j > 7 ? -1 : 9 * (i - 2) + j; });
    case 1:
      return follows(matrix_through(n, make_slice_transform(n(number<6>{}), n(number<1>{}), n(number<5>{})),
                                    make_modulo_transform(n(number<5>{}), n(number<13>{}))),
                     [](index_t i, index_t j) { return 9 * (i + 1) + j % 5; });
    case 2:
      return follows(matrix_through(n, make_cyclic_shift_transform(make_tuple(n(number<6>{}), number<8>{}))),
                     [](index_t i, index_t j) { return 9 * i + (i + j) % 8; });
    case 3:
      return follows(matrix_through(n, make_xor_transform(make_tuple(n(number<6>{}), number<8>{}))),
                     [](index_t i, index_t j) { return 9 * i + (i ^ j); });
    case 4: {
      const auto indices = make_tuple(n(number<5>{}), n(number<-1>{}), n(number<0>{}));
      const auto from_the_end =
          make_functor_transform(mirrored{}, number<8>{}, number<9>{}, make_tuple(n(number<8>{})));
      return follows(matrix_through(n, make_indexing_transform(number<3>{}, indices), from_the_end),
                     [](index_t i, index_t j) { return i == 1 || j == 8 ? -1 : (i == 0 ? 45 : 0) + 7 - j; });
    }
    case 5: {
      const auto flat = transform_tensor_descriptor(
          matrix_through(n, rows, columns),
          make_tuple(make_merge_transform(make_tuple(number<8>{}, n(number<6>{}))),
                     make_insert_transform(n(number<2>{}))),
          make_tuple(sequence<1, 0>{}, sequence<>{}), make_tuple(sequence<1>{}, sequence<0>{}));
      return follows(flat, [](index_t, index_t j) { return 9 * (j % 6) + j / 6; });
    }
    case 6: {
      const auto split = transform_tensor_descriptor(
          matrix_through(n, make_offset_transform(n(number<4>{}), n(number<2>{})), columns),
          make_tuple(make_freeze_transform(n(number<3>{})),
                     make_unmerge_transform(make_tuple(n(number<4>{}), number<2>{}))),
          make_tuple(sequence<0>{}, sequence<1>{}), make_tuple(sequence<>{}, sequence<1, 0>{}));
      return follows(split, [](index_t i, index_t j) { return 45 + 2 * j + i; });
    }
    default: {
      const auto shuffled = make_single_stage_tensor_adaptor(
          make_tuple(make_swizzle_transform(make_tuple(number<4>{}, number<8>{}), sequence<3, 4>{})),
          make_tuple(sequence<1, 0>{}), make_tuple(sequence<0, 1>{}));
      const auto memory =
          make_single_stage_tensor_adaptor(make_tuple(make_embed_transform(make_tuple(number<8>{}, n(number<4>{})),
                                                                           make_tuple(number<1>{}, n(number<8>{})))),
                                           make_tuple(sequence<0>{}), make_tuple(sequence<0, 1>{}));
      return follows(make_tensor_descriptor_from_adaptor(chain_tensor_adaptors(memory, shuffled), 32),
                     [](index_t i, index_t j) { return 8 * i + (j ^ (i % 2 * 3) ^ (i / 2 * 4)); });
    }
  }
}

/// Both forms of check number `which`. one is 1.
TILEWRIGHT_HD constexpr bool check_both(index_t which, index_t one) {
  return check<known>(which, one) && check<unknown>(which, one);
}

}  // namespace tilewright::algebra
