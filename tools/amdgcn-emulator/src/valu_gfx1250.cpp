// SPDX-License-Identifier: MIT
// Vector instructions that gfx1250 added: 64-bit integers and v_mad_u32.
#include "valu.hpp"

namespace emu {
void register_valu_gfx1250() {
  reg2<i64, i64>("v_min_i64", [](i64 a, i64 b) { return std::min(a, b); });
  reg2<i64, i64>("v_max_i64", [](i64 a, i64 b) { return std::max(a, b); });
  reg2<u64, u64>("v_min_u64", [](u64 a, u64 b) { return std::min(a, b); });
  reg2<u64, u64>("v_max_u64", [](u64 a, u64 b) { return std::max(a, b); });
  reg2<u64, u64>("v_add_nc_u64", [](u64 a, u64 b) { return a + b; });
  reg2<u64, u64>("v_sub_nc_u64", [](u64 a, u64 b) { return a - b; });
  reg2<u64, u64>("v_mul_u64", [](u64 a, u64 b) { return a * b; });
  reg3<u32, u32>("v_mad_u32", [](u32 a, u32 b, u32 c) { return a * b + c; });
  reg3<u64, u32, u32, u64>("v_mad_nc_u64_u32", [](u32 a, u32 b, u64 c) { return u64{a} * b + c; });
  reg3<i64, i32, i32, i64>("v_mad_nc_i64_i32", [](i32 a, i32 b, i64 c) {
    return static_cast<i64>(static_cast<u64>(i64{a} * b) + static_cast<u64>(c));
  });
}
}  // namespace emu
