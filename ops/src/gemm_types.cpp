// SPDX-License-Identifier: MIT
#include "gemm_types.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "call.hpp"

namespace tilewright::ops {

void require_product_types(const char* op, const matrix_view& c, const matrix_view& a, const matrix_view& b) {
  using enum element;
  if (a.type != b.type)
    refuse(op, std::string("A has ") + name_of(a.type) + " and B " + name_of(b.type) + "; they must be equal");
  const auto is_one_of = [](element t, std::initializer_list<element> list) {
    return std::find(list.begin(), list.end(), t) != list.end();
  };
  const bool fits = a.type == f16 || a.type == bf16  ? is_one_of(c.type, {a.type, f32})
                    : a.type == f32                  ? c.type == f32
                    : a.type == fp8 || a.type == bf8 ? is_one_of(c.type, {f32, f16, bf16})
                    : a.type == i8                   ? c.type == i32
                                                     : false;
  if (!fits)
    refuse(op, std::string("there is no GEMM of ") + name_of(a.type) + " that writes " + name_of(c.type) +
                   "; f16 writes f16 or f32, bf16 writes bf16 or f32, f32 writes f32, fp8 and bf8 write f32, f16 or "
                   "bf16, i8 writes i32");
}

}  // namespace tilewright::ops
