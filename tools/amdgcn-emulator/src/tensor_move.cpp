// SPDX-License-Identifier: MIT
// gfx1250's tensor data mover: copies a tile between global memory and LDS, as a descriptor in scalar registers says.
#include "findings.hpp"
#include "memory.hpp"
#include "valu.hpp"

namespace emu {
namespace {
constexpr u32 most_dims = 5;
/// The 640 bits of a descriptor: groups 0 (128 bits), 1 (256), 2 and 3 (128 each, zero where there are two groups).
struct tensor_descriptor {
  u32 words[20] = {};

  tensor_descriptor(const wave& w, const inst& i) {
    u32* to = words;
    for (u32 group = 0; group < 4; ++group) {
      const u32 count = group == 1 ? 8 : 4;
      if (group < i.nsrc && i.src[group].reg != s_null) std::copy_n(w.s + i.src[group].reg, count, to);
      to += count;
    }
  }
  u64 field(u32 first, u32 bits) const {
    u64 x = 0;
    for (u32 b = 0; b < bits; ++b) x |= u64{words[(first + b) / 32] >> (first + b) % 32 & 1} << b;
    return x;
  }
};
/// What it describes; dimension 0 is contiguous. Lengths and strides are in elements.
struct tensor_tile {
  u64 global;
  u32 lds, element_bytes, rank = 0;
  u32 pad_every = 0, pad = 0;  // bytes of LDS that are left out after so many bytes
  u32 tile[most_dims], tensor[most_dims];
  u64 stride[most_dims];

  explicit tensor_tile(const tensor_descriptor& d) {
    global = d.field(64, 57), lds = d.words[1], element_bytes = 1u << d.field(144, 2);
    if (d.field(148, 1)) pad_every = 8u << d.field(150, 3), pad = 4 * (static_cast<u32>(d.field(153, 7)) + 1);
    static constexpr u32 tile_at[most_dims] = {240, 256, 272, 496, 592},
                         tensor_at[most_dims] = {176, 208, 384, 416, 560},
                         stride_at[most_dims] = {0, 288, 336, 448, 512};
    for (u32 n = 0; n < most_dims; ++n) {
      tile[n] = static_cast<u32>(d.field(tile_at[n], 16)), tensor[n] = static_cast<u32>(d.field(tensor_at[n], 32));
      stride[n] = n == 0 ? 1 : d.field(stride_at[n], 48);
      if (tile[n]) rank = n + 1;
    }
  }
  u64 elements() const {
    u64 n = 1;
    for (u32 d = 0; d < rank; ++d) n *= tile[d];
    return n;
  }
  /// From the first byte in LDS to that of byte n of the tile.
  u64 lds_offset(u64 n) const { return pad_every ? n + n / pad_every * pad : n; }
  u64 lds_bytes() const { return lds_offset(elements() * element_bytes - 1) + 1; }
};
/// Refuses what no source describes alike, and what no kernel here contains.
void require_known(const wave& w, const inst& i, const tensor_descriptor& d, const tensor_tile& t) {
  const auto refuse = [&](const char* what) {
    w.refuse(i, std::string(what) + " of a tensor descriptor are not implemented");
  };
  if (d.field(126, 2) != 2) refuse("types other than 2");
  if (d.field(0, 2) != 1) refuse("counts other than 1");
  if (d.field(2, 30)) refuse("gathered rows");
  if (d.field(146, 1)) refuse("barriers in LDS");
  if (d.field(147, 1)) refuse("iterations");
  if (i.store && t.pad_every) refuse("pads in stores");
  if (t.rank == 0) refuse("tiles without elements");
  for (u32 n = 0; n < t.rank; ++n)
    if (!t.tile[n] || !t.tensor[n]) refuse("lengths of 0");
  const u64 mask = d.field(128, 16);
  if (!i.store && mask && !(mask >> w.wg->rank & 1)) refuse("masks without the workgroup itself");
  if (!i.store && mask >> w.launch->kernel->cluster_size()) refuse("masks with workgroups outside of the cluster");
}
/// Where what is known of n bytes of global memory is; nullptr: nothing is, all count as written. Reports accesses
/// outside of all buffers: false.
bool look_up(wave& w, const inst& i, u64 a, u32 n) {
  launch_state& L = *w.launch;
  if (!L.in_range(a, n)) return report_outside(w, i, 0, a, n), false;
  buffer_state* const b = L.last.buffer;
  if (L.globals && b && b->owned) L.raced = b, check_global(w, i, 0, a, n, i.store);
  L.state = w.undefined && b && !b->state.empty() ? b->state.data() + (a - b->lo) : nullptr;
  return true;
}
void copy_piece(wave& w, const inst& i, u64 a, u32 lds, u32 n) {
  u8 *const local = w.wg->lds.data() + lds, *const global = reinterpret_cast<u8*>(a);
  u8* const local_state = w.undefined ? w.wg->state.data() + lds : nullptr;
  if (!look_up(w, i, a, n)) return;
  if (i.store) {
    store_shared(global, local, n);
    if (w.launch->state) std::memcpy(w.launch->state, local_state, n);
  } else {
    load_shared(local, global, n);
    if (!local_state) return;
    if (w.launch->state)
      std::memcpy(local_state, w.launch->state, n);
    else
      std::memset(local_state, written, n);
  }
}
/// Elements outside of the tensor: loads give zeros, stores write nothing.
void fill_outside(wave& w, const inst& i, u32 lds, u32 n) {
  if (i.store) return;
  std::memset(w.wg->lds.data() + lds, 0, n);
  if (w.undefined) std::memset(w.wg->state.data() + lds, written, n);
}
void copy_elements(wave& w, const inst& i, const tensor_tile& t) {
  const u32 bytes = t.element_bytes;
  for (u64 n = 0, all = t.elements(); n < all;) {
    u64 rest = n, from = 0;
    bool inside = true;
    for (u32 d = 0; d < t.rank; ++d) {
      const u32 at = static_cast<u32>(rest % t.tile[d]);
      rest /= t.tile[d], from += at * t.stride[d], inside &= at < t.tensor[d];
    }
    // Up to 16 bytes of a row at once, where nothing ends among them.
    const u32 at = static_cast<u32>(n % t.tile[0]), end = inside ? std::min(t.tile[0], t.tensor[0]) : t.tile[0];
    u32 count = std::min(std::max(1u, 16 / bytes), end - at);
    if (t.pad_every) count = std::min<u32>(count, static_cast<u32>((t.pad_every - n * bytes % t.pad_every) / bytes));
    const u32 lds = t.lds + static_cast<u32>(t.lds_offset(n * bytes));
    if (inside)
      copy_piece(w, i, t.global + from * bytes, lds, count * bytes);
    else
      fill_outside(w, i, lds, count * bytes);
    n += count;
  }
}
// Reads and writes of LDS are followed for the whole range of the tile, pads included.
void tensor_move(wave& w, const inst& i) {
  const tensor_descriptor d(w, i);
  const tensor_tile t(d);
  require_known(w, i, d, t);
  const u64 bytes = t.lds_bytes();
  if (t.lds + bytes > w.wg->lds_size) {
    report(w, i, finding_kind::out_of_bounds, [&] {
      return "tensor tile outside of the " + std::to_string(w.wg->lds_size) + " bytes of LDS at " + hex(t.lds);
    });
    return;
  }
  const u32 n = static_cast<u32>(bytes);
  if (w.wg->dma_bytes && i.store) dma_check(w, i, t.lds, n, 0);
  if (w.launch->race) race_check(w, i, t.lds, n, !i.store);
  copy_elements(w, i, t);
  u32 first[64] = {t.lds};
  if (w.launch->waits) issue(w, i, 1, first, nullptr, n, i.store, !i.store, !i.store);
}
}  // namespace

bool bind_tensor_move(inst& i) {
  i.store = i.name == "tensor_store_from_lds";
  if (!i.store && i.name != "tensor_load_to_lds") return false;
  if (i.ops.size() != 2 && i.ops.size() != 4) throw std::runtime_error("unexpected number of operands");
  for (const operand& o : i.ops) i.src[i.nsrc++] = o;
  i.fn = &tensor_move, i.cnt = c_tensor, i.order = 1;
  return true;
}
}  // namespace emu
