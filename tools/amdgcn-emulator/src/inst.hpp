// SPDX-License-Identifier: MIT
// One decoded instruction.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "code_object.hpp"

namespace emu {
struct wave;
struct inst;
using handler = void (*)(wave&, const inst&);
inline void no_operation(wave&, const inst&) {}

// Scalar register numbers. 0..105 are s0..s105.
enum sreg : u16 {
  s_vcc = 106,
  s_ttmp = 108,
  s_m0 = 124,
  s_null = 125,
  s_exec = 126,
  s_flat_scratch = 128,
  s_xnack = 130,
  s_scc = 132,
  s_vccz,
  s_execz,
  s_file_size = 136
};
inline constexpr u16 first_agpr = 256;  // vector registers: 0..255 VGPRs, 256..511 AGPRs

struct operand {
  enum kind_t : u8 { none, vgpr, sgpr, constant, literal, fconst, off } kind = none;
  u16 reg = 0;
  u8 count = 1;  // dwords
  bool neg = false, abs = false, sext = false;
  u8 half = 0;       // true16: 1 = .l, 2 = .h
  u64 bits = 0;      // integer constant (sign extended), literal
  double value = 0;  // floating constant
  bool is_vgpr() const { return kind == vgpr; }
};

enum counter : u8 {
  c_vm,
  c_lgkm,
  c_ds,
  c_km,
  c_store,
  c_async,
  c_tensor,
  c_none
};  // gfx9/11: vm, lgkm, (gfx11) store; gfx12: vm = load, ds, km, store; gfx1250: async, tensor
inline constexpr std::size_t num_counters = c_none;
using counter_values = std::array<i32, num_counters>;  // -1: none

struct reg_range {
  u16 first, count;  // 0..511 vector, 512 + n scalar
  bool write;
};

/// Vector registers in a row.
struct vector_range {
  u16 first = 0, count = 0;
};

/// What executes and what checks read is in front; text and what decoding leaves comes last.
struct inst {
  handler fn = nullptr;
  u32 next = 0;  // index of the following instruction
  enum shadow_t : u8 {
    sh_compute,
    sh_wide,
    sh_packed,
    sh_moved_pair,
    sh_move,
    sh_pack,
    sh_select,
    sh_compare,
    sh_lanes,
    sh_matrix,
    sh_load,
    sh_store,
    sh_atomic,
    sh_salu,
    sh_and,
    sh_or,
    sh_xor,
    sh_saveexec,
    sh_branch,
    sh_scc_select,
    sh_none
  } shadow = sh_none;
  u8 ndst = 0, nsrc = 0;
  u8 plain = 0;                                    // bit k: source k is a vector register without modifiers
  bool dpp = false, sdwa = false, shared = false;  // shared: accesses LDS or global memory
  bool clamp = false, is_float = false;
  u8 omod = 0, op_sel = 0, op_sel_hi = 0xff, neg_lo = 0, neg_hi = 0;
  i32 x = 0, y = 0, z = 0;           // parameters for the handler
  vector_range reads[6], writes[2];  // vector registers whose state decides that of the result (undefined.cpp)
  operand dst[2], src[6];
  // memory
  u8 bytes = 0, op = 0, tr = 0;  // per lane; atomic operation; element bits of a transposing read
  bool store = false, sext = false, d16 = false, d16_hi = false, two = false, atomic = false, ret = false;
  bool coherent = false;  // an access that other workgroups see at once
  bool is_load = false;   // the destination is written by an outstanding operation
  counter cnt = c_none, cnt2 = c_none;
  u8 order = 0, order2 = 0;  // in-order class inside each counter; 0 = unordered
  i8 fence = 0;              // 1: release, 2: acquire, 3: both, of the GPU
  i32 offset = 0, offset0 = 0, offset1 = 0;
  operand vaddr, saddr, data, data2, rsrc, soff;
  std::vector<reg_range> regs;  // for the check of waits
  counter_values wait{};        // what an s_wait* asks of each counter
  // modifiers
  u8 op_sel_n = 0;
  bool glc = false, lds = false, offen = false, idxen = false, dst_hi = false, preserve_hi = false;
  bool scales_offset = false;  // a lane's offset counts accesses
  bool bound_ctrl = false, fi = false, writes_scc = false;
  u16 dpp_ctrl = 0;
  u32 dpp8 = 0;
  u8 row_mask = 15, bank_mask = 15, sel0 = 6, sel1 = 6, dst_sel = 6,
     dst_unused = 0;  // dst_unused: 0 pad, 1 sext, 2 preserve
  u8 cbsz = 0, abid = 0, blgp = 0, byte_sel = 0;
  i64 target = -1;         // branch target, index
  std::vector<inst> dual;  // VOPD: the two halves
  u64 address = 0;         // virtual address
  u32 size = 4, raw[3] = {0, 0, 0};
  std::string text, mnemonic;  // mnemonic as printed
  std::string name;            // canonical name without encoding suffix
  std::vector<operand> ops;    // as printed
  std::vector<std::string> mods;
  std::string error;  // why it cannot run
};

struct program {
  std::vector<inst> code;
  std::vector<u32> index;  // (address - text_lo) / 4 -> position, ~0u when none
};

program decode(code_object& co);                      // decode.cpp
void bind(inst& i, const code_object& co);            // bind.cpp
operand parse_operand(std::string_view s, bool& ok);  // decode.cpp

struct op_entry {
  handler fn;
  u8 ndst = 1;
  i32 x = 0;
  bool is_float = false, acc = false;  // acc: the destination is also the last source
};
void add_op(const std::string& name, op_entry e);  // bind.cpp
const op_entry* find_op(const std::string& name);
}  // namespace emu
