// SPDX-License-Identifier: MIT
// Parameters of transforms.
#include <tilewright/core/transform/apply.hpp>

namespace tw = tilewright;
using tw::make_tuple, tw::number;

// A guarantee that means nothing.
// EXPECT(2): embed: the guaranteed divisor must be positive
constexpr auto embed_guarantee = tw::make_embed_transform(make_tuple(4), make_tuple(1), number<-1>{});

// Two lengths with one stride.
// EXPECT: embed: as many strides as lengths are needed
// EXPECT: tuple: the index is past the end
constexpr auto embed_strides = tw::make_embed_transform(make_tuple(4, 8), make_tuple(8));

// Eight lengths and eight strides are more parameters than a transform holds.
// EXPECT(2): transform: too many dimensions; split it in two
constexpr auto embed_too_many_dims =
    tw::make_embed_transform(make_tuple(2, 2, 2, 2, 2, 2, 2, 2), make_tuple(1, 1, 1, 1, 1, 1, 1, 1));

// A guarantee of run time, a stride that is a word.
// EXPECT: embed: the guaranteed divisor must be known at compile time: number<8>{}
// EXPECT: embed: a stride must be number<N>{} or an integer
constexpr auto guarantee = tw::make_embed_transform(make_tuple(4), make_tuple(1), 8);
constexpr auto embed_types = tw::make_embed_transform(make_tuple(4, 8), make_tuple(8, "one"));

// An index before the dimension, and one that is a word.
// EXPECT: freeze: the index must not be negative
// EXPECT: freeze: the index must be number<N>{} or an integer
constexpr auto freeze_index_before = tw::make_freeze_transform(number<-1>{});
constexpr auto freeze_index_word = tw::make_freeze_transform("first");

// Functions that a functor transform cannot call.
// EXPECT: functor: a function without captures is needed; hand over run-time values as the tuple of values
// EXPECT: functor: the function must take the upper index and one index_t for each value, and return the lower index
// EXPECT: functor: the guaranteed run must be a positive number<R>
constexpr int distance = 5;
constexpr auto identity = [](int i) { return i; };
constexpr auto captures = tw::make_functor_transform([step = distance](int i) { return i * step; }, 8);
constexpr auto values = tw::make_functor_transform(identity, 8, 8, make_tuple(1));
constexpr auto run = tw::make_functor_transform(identity, 8, 8, make_tuple(), number<0>{});

// Tables that do not fit.
// EXPECT: indexing: the length must be known at compile time: number<4>{}
// EXPECT(2): indexing: as many indices as the length says are needed
// EXPECT: indexing: at most 15 indices; look up more of them in a make_functor_transform
// EXPECT: indexing: an index must be number<N>{} or an integer
constexpr auto length = tw::make_indexing_transform(2, make_tuple(4, 5));
constexpr auto count = tw::make_indexing_transform(number<3>{}, make_tuple(4, 5));
constexpr auto indexing_table_many = tw::make_indexing_transform(number<16>{}, tw::multi_index<16>{});
constexpr auto indexing_table_word = tw::make_indexing_transform(number<2>{}, make_tuple(4, "five"));

// A merged length beyond 32 bits; too many dimensions for magic division.
// EXPECT: merge: the merged length does not fit into 32 bits; merge fewer dimensions
// EXPECT: merge with magic division: at most six dimensions; merge in two steps, or use make_merge_transform_v3_division_mod
constexpr auto merge_length_huge = tw::make_merge_transform(make_tuple(number<65536>{}, number<32768>{}));
constexpr auto merge_length_many = tw::make_merge_transform_v2_magic_division(make_tuple(2, 2, 2, 2, 2, 2, 2));

// No modulus.
// EXPECT: modulo: the modulus must be positive
// EXPECT: modulo: the modulus must be number<N>{} or an integer
constexpr auto zero = tw::make_modulo_transform(number<0>{}, 8);
constexpr auto modulo_modulus = tw::make_modulo_transform("four", 8);

// An offset to before the dimension.
// EXPECT: offset: index 0 would lie before the dimension; use make_left_pad_transform
// EXPECT(gcc): (-3 >= 0)
constexpr auto offset_before = tw::make_offset_transform(number<8>{}, number<-3>{});

// An offset that is a word.
// EXPECT: offset: the offset must be number<N>{} or an integer
constexpr auto offset_type = tw::make_offset_transform(8, "two");

// Pads of a word, of less than nothing, and beyond 32 bits.
// EXPECT: pad: how much to add must be number<N>{} or an integer
// EXPECT: pad: a tensor cannot be padded by less than nothing; use make_slice_transform to make it smaller
// EXPECT: pad: the padded length does not fit into 32 bits
constexpr auto pad_amounts_word = tw::make_left_pad_transform(8, "two");
constexpr auto less = tw::make_right_pad_transform(8, number<-2>{});
constexpr auto pad_amounts_huge = tw::make_pad_transform(number<2147483640>{}, number<4>{}, number<4>{});

// Slices that are not inside of their dimension.
// EXPECT: slice: it begins before the dimension
// EXPECT: slice: it ends before it begins, or holds nothing
// EXPECT: slice: it ends after the dimension
// EXPECT: slice: begin and end must be number<N>{} or an integer
constexpr auto early = tw::make_slice_transform(number<8>{}, number<-1>{}, 4);
constexpr auto empty = tw::make_slice_transform(8, number<4>{}, number<4>{});
constexpr auto late = tw::make_slice_transform(number<8>{}, 4, number<9>{});
constexpr auto slice_ends = tw::make_slice_transform(number<8>{}, 4, "end");

// A flip that leaves the permuted dimension.
// EXPECT: swizzle: a number has bits that the permuted dimension does not have
constexpr auto swizzle_bits = tw::make_swizzle_transform(make_tuple(number<4>{}, number<8>{}), tw::sequence<1, 8>{});

// Eight rows have three bits, but two numbers are given.
// EXPECT: swizzle: one number is needed for each bit of the first dimension
constexpr auto swizzle_count = tw::make_swizzle_transform(make_tuple(number<8>{}, number<8>{}), tw::sequence<1, 2>{});

// A swizzle over 6 rows.
// EXPECT: swizzle: both lengths must be powers of two
constexpr auto swizzle_lengths = tw::make_swizzle_transform(make_tuple(number<6>{}, number<8>{}), tw::sequence<1, 2>{});

// Lengths that are none.
// EXPECT(2): transform: a length must be number<N>{} or an integer
// EXPECT: transform: a length must be at least 1
// EXPECT: 4294967300
// EXPECT(gcc 2): 4294967300
constexpr auto transform_lengths = tw::make_pass_through_transform("eight");
constexpr auto nothing = tw::make_cyclic_shift_transform(make_tuple(8, number<0>{}));
constexpr auto fraction = tw::make_pass_through_transform(2.5f);
constexpr auto too_long = tw::make_pass_through_transform(number<4294967300>{});

// Transforms of nine dimensions, of lengths known at run time and at compile time.
// EXPECT(3): transform: too many dimensions; split it in two
constexpr number<2> two{};
constexpr auto lower = tw::make_merge_transform(make_tuple(2, 2, 2, 2, 2, 2, 2, 2, 2));
constexpr auto upper = tw::make_unmerge_transform(make_tuple(2, 2, 2, 2, 2, 2, 2, 2, 2));
constexpr auto known = tw::make_merge_transform(make_tuple(two, two, two, two, two, two, two, two, two));

// An xor whose permuted length is known only at run time.
// EXPECT: xor: the length of the permuted dimension must be known at compile time: number<8>{}
constexpr auto xor_dynamic = tw::make_xor_transform(make_tuple(number<32>{}, 8));

// XOR within 6 columns would put two of them into one place.
// EXPECT(2): xor: the length of the permuted dimension must be a power of two; otherwise two indices meet in one place
constexpr auto xor_length = tw::make_xor_transform(make_tuple(number<8>{}, number<6>{}));
