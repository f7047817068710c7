// SPDX-License-Identifier: MIT
// Three layouts of an operand tile in LDS, and what each costs on each target: proven while this file is compiled.
#include <tilewright/core.hpp>
#include <tilewright/viz/lds_picture.hpp>

#include <cstdio>

namespace tw = tilewright;
namespace arch = tilewright::arch;
namespace viz = tilewright::viz;
using tw::index_t, tw::make_tuple, tw::number;

constexpr index_t m = 128, k = 64, element_bytes = sizeof(tw::half_t);

struct plain {
  static constexpr auto descriptor = tw::make_naive_tensor_descriptor_packed(make_tuple(number<m>{}, number<k>{}));
};
struct padded {  // by 16 bytes per row
  static constexpr auto descriptor =
      tw::make_naive_tensor_descriptor(make_tuple(number<m>{}, number<k>{}), make_tuple(number<k + 8>{}, number<1>{}));
};
template <index_t BankRowBytes>
struct swizzled {
  static constexpr index_t layer = tw::lds_layer(k, element_bytes, BankRowBytes);
  static constexpr auto descriptor = tw::lds_index_swapping<k, 8, layer, m, tw::half_t>::descriptor;
};

/// Extra cycles when a wave reads one operand of a matrix instruction.
template <class Layout, class Arch, arch::matrix_op Op>
constexpr index_t read_conflicts =
    tw::analyze_lds_access<Arch>(Layout::descriptor, tw::tile_distribution<tw::encoding_of(arch::describe(Op).a)>{},
                                 element_bytes, tw::lds_access_kind::read)
        .conflicts;

/// Eight lanes write the 128 bytes of a row, as they come from global memory.
template <index_t WaveSize>
using copy = tw::tile_distribution_encoding<
    tw::sequence<>, tw::tuple<tw::sequence<m * 8 / WaveSize, WaveSize / 8>, tw::sequence<8, 8>>,
    tw::tuple<tw::sequence<1, 2>>, tw::tuple<tw::sequence<1, 0>>, tw::sequence<1, 2>, tw::sequence<0, 1>>;
template <class Layout, class Arch>
constexpr index_t write_conflicts =
    tw::analyze_lds_access<Arch>(Layout::descriptor, tw::make_static_tile_distribution(copy<Arch::value.wave_size>{}),
                                 element_bytes, tw::lds_access_kind::write)
        .conflicts;

using enum arch::matrix_op;
static_assert(read_conflicts<plain, arch::gfx942, mfma_32x32x8_x2> == 56);  // 8 phases, 8 lanes in one bank in each
// Padding serves the 32-row instruction, but not the 16-row one.
static_assert(read_conflicts<padded, arch::gfx942, mfma_32x32x8_x2> == 0);
static_assert(read_conflicts<padded, arch::gfx942, mfma_16x16x16_x2> == 8);
// The swizzle serves both.
static_assert(read_conflicts<swizzled<128>, arch::gfx942, mfma_32x32x8_x2> == 0);
static_assert(read_conflicts<swizzled<128>, arch::gfx942, mfma_16x16x16_x2> == 0);
static_assert(read_conflicts<swizzled<128>, arch::gfx1100, wmma_16x16x16_gfx11> == 0);
static_assert(read_conflicts<swizzled<128>, arch::gfx1201, wmma_16x16x16_gfx12> == 0);
// gfx950 reads 256 bytes per phase, so two rows of 128 bytes share one row of banks there.
static_assert(read_conflicts<swizzled<128>, arch::gfx950, mfma_32x32x16> == 4);
static_assert(read_conflicts<swizzled<256>, arch::gfx950, mfma_32x32x16> == 0);
static_assert(write_conflicts<swizzled<128>, arch::gfx942> == 0 && write_conflicts<swizzled<256>, arch::gfx950> == 0);

template <class Arch, arch::matrix_op Op>
void print(const char* instruction) {
  std::printf("%-8s %-16s %8d %8d %14d %14d\n", Arch::value.name, instruction, read_conflicts<plain, Arch, Op>,
              read_conflicts<padded, Arch, Op>, read_conflicts<swizzled<128>, Arch, Op>,
              read_conflicts<swizzled<256>, Arch, Op>);
}

/// What one phase of a read does: which lane finds its 16 bytes in which bank, and who waits.
template <class Layout>
void draw(const char* name) {
  const tw::tensor_graph layout = tw::graph_of(Layout::descriptor);
  const tw::distribution_encoding lanes = tw::encoding_of(arch::describe(mfma_32x32x8_x2).a);
  const tw::lds_access_pattern pattern(layout, lanes, element_bytes);
  const viz::lds_step step = viz::step_of(pattern, tw::lds_access_kind::read, 0, 0);
  const arch::lds_service& service = viz::deciding_reading(arch::gfx942::value, step);
  const viz::lds_phase_trace phase = viz::phases_of(service, step)[0];
  const viz::lds_map map(layout, element_bytes);
  const viz::lds_picture picture = viz::picture_of(map, step, service, phase, viz::lds_view::tile);
  std::printf("\n%s: %s\n%s", name, viz::verdict_of(phase).c_str(),
              viz::lds_text(picture, viz::lds_view::tile).c_str());
}

int main() {
  std::printf("extra cycles of one operand read\n%-8s %-16s %8s %8s %14s %14s\n", "target", "instruction", "plain",
              "padded", "swizzled<128>", "swizzled<256>");
  print<arch::gfx942, mfma_16x16x16_x2>("mfma 16x16x16");
  print<arch::gfx942, mfma_32x32x8_x2>("mfma 32x32x8");
  print<arch::gfx950, mfma_16x16x32>("mfma 16x16x32");
  print<arch::gfx950, mfma_32x32x16>("mfma 32x32x16");
  print<arch::gfx1100, wmma_16x16x16_gfx11>("wmma 16x16x16");
  print<arch::gfx1201, wmma_16x16x16_gfx12>("wmma 16x16x16");
  std::printf("\ngfx942 reads for mfma 32x32x8; numbers are banks, (7) is lane 7, !7! lane 7 in a conflict\n");
  draw<plain>("plain");
  draw<swizzled<128>>("swizzled<128>");
}
