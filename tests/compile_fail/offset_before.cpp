// SPDX-License-Identifier: MIT
// An offset to before the dimension.
// EXPECT: offset: index 0 would lie before the dimension; use make_left_pad_transform
// EXPECT(gcc): (-3 >= 0)
#include <tilewright/transform/apply.hpp>

namespace tw = tilewright;

constexpr auto before = tw::make_offset_transform(tw::number<8>{}, tw::number<-3>{});
