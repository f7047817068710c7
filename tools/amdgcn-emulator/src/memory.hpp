// SPDX-License-Identifier: MIT
// Shared by the memory and the LDS instructions.
#pragma once

#include <cstring>

#include "state.hpp"

namespace emu {
enum atomic_op : u8 {
  at_swap,
  at_cmpswap,
  at_add,
  at_sub,
  at_rsub,
  at_smin,
  at_umin,
  at_smax,
  at_umax,
  at_and,
  at_or,
  at_xor,
  at_inc,
  at_dec,
  at_subclamp,
  at_condsub,
  at_addf,
  at_minf,
  at_maxf,
  at_pkh,
  at_pkb
};
u64 atomic_result(u32 op, u32 bytes, u64 old, u64 data, u64 compare);
void reg_to_mem(wave& w, const inst& i, const operand& o, u32 lane, u8* p);
void mem_to_reg(wave& w, const inst& i, const operand& o, u32 first, u32 lane, const u8* p);
bool parse_shape(inst& i, const std::string& s, bool store);  // "dwordx4", "u16_d16_hi", ...
bool parse_atomic(inst& i, std::string s);                    // "add_f32", "cmpswap_x2", ...
std::string hex(u64 v);

/// A load or store of global memory. Whole words are atomic: another workgroup may change them at the same time.
inline void load_shared(void* to, const u8* from, u32 bytes) {
  const auto at = reinterpret_cast<u64>(from);
  if (bytes == 4 && at % 4 == 0) {
    const u32 x = __atomic_load_n(reinterpret_cast<const u32*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &x, sizeof x);
  } else if (bytes == 8 && at % 8 == 0) {
    const u64 x = __atomic_load_n(reinterpret_cast<const u64*>(from), __ATOMIC_RELAXED);
    std::memcpy(to, &x, sizeof x);
  } else {
    std::memcpy(to, from, bytes);
  }
}
inline void store_shared(u8* to, const void* from, u32 bytes) {
  const auto at = reinterpret_cast<u64>(to);
  u64 x = 0;
  if (bytes <= 8) std::memcpy(&x, from, bytes);
  if (bytes == 4 && at % 4 == 0)
    __atomic_store_n(reinterpret_cast<u32*>(to), static_cast<u32>(x), __ATOMIC_RELAXED);
  else if (bytes == 8 && at % 8 == 0)
    __atomic_store_n(reinterpret_cast<u64*>(to), x, __ATOMIC_RELAXED);
  else
    std::memcpy(to, from, bytes);
}

/// Which instructions a vector access belongs to.
enum segment { flat, scratch, global, buffer };
void access(wave& w, const inst& i, u32 lane, u8* p, u8* loaded);  // p: host memory
void finish(wave& w, const inst& i, u64 lanes, u8 (*data)[16]);    // writes what was loaded
void follow_access(wave& w, const inst& i, u32 lane);              // at launch_state::state
u8* nowhere(launch_state& L);                                      // zeros, for accesses outside of all memory
void report_outside(wave& w, const inst& i, int lane, u64 a, u32 n);
u8* scratch_at(wave& w, const inst& i, u32 lane, u64 a);
u8* global_at(wave& w, const inst& i, u32 lane, u64 a, u32 bytes);
handler buffer_handler();
void scalar_load(wave& w, const inst& i);
bool bind_scalar_load(inst& i, const std::string& shape, bool from_buffer, const code_object& co);
}  // namespace emu
