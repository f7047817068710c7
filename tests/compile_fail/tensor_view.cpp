// SPDX-License-Identifier: MIT
// Views of tensors.
#include <tilewright/tile/window/tensor_view.hpp>

#include "sample_tile.hpp"

// A tensor in LDS whose length is known only at run time.
// EXPECT: tensor_view: a tensor in LDS needs lengths and strides known at compile time
auto view_dynamic_lds = tw::make_tensor_view<tw::address_space_enum::lds, float>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(make_tuple(4)));

// A place in LDS for a tensor in global memory.
// EXPECT: make_tensor_view: an lds_pointer points to LDS
auto view_lds_as_global = tw::make_tensor_view<tw::address_space_enum::global, float>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{})));

// A view of LDS without the type of its elements.
// EXPECT: make_tensor_view: an lds_pointer has no element type; name it after the address space
auto view_lds_element_type = tw::make_tensor_view<tw::address_space_enum::lds>(
    tw::exec::lds_pointer{}, tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{})));

// A plain pointer for a tensor in LDS.
// EXPECT: make_tensor_view: a plain pointer points to global memory
float data[4];
auto view_pointer_to_lds = tw::make_tensor_view<tw::address_space_enum::lds>(
    data, tw::make_naive_tensor_descriptor_packed(make_tuple(number<4>{})));

// Vectors of 8 from a view that guarantees 4.
// EXPECT: require_vector: the window moves fewer elements at once; guarantee them to the descriptor
// EXPECT(gcc): the comparison reduces to '(4 >= 8)'
// EXPECT(clang): static assertion failed due to requirement '4 >= 8'
void f(float* p) { tw::require_vector<8>(tw::make_tile_window(view(p), lengths, {0, 0}, distribution{})); }
