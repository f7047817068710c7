// SPDX-License-Identifier: MIT
// Accesses to LDS that run on a GPU under a profiler: each is one launch.
#pragma once

#include <tilewright/tilewright.hpp>

#include <string>
#include <vector>

namespace lds_accesses {

namespace tw = tilewright;
namespace arch = tilewright::arch;
using tw::index_t;

constexpr index_t wave_size = 32, lds_bytes = 64 * 1024;

/// What the GPU says of one instruction, by lane: a word that was read or, after a write,
/// the word at the lane's address.
using words = std::vector<unsigned>;

/// The value of the word of LDS at a byte address before a read.
TILEWRIGHT_HD constexpr unsigned initial_word(index_t byte) { return unsigned(byte / 4) * 2654435761u ^ 0x5bd1e995u; }

/// Name of the GPU; throws if there is none.
std::string device_name();

/// One wave executes one instruction; lanes with a negative address are inactive.
words run_instruction(arch::lds_op op, const std::vector<int>& address);

/// The elements in LDS are 2 or 4 bytes wide.
template <index_t Bytes>
struct element;
template <>
struct element<2> {
  using type = tw::half_t;
};
template <>
struct element<4> {
  using type = float;
};

/// A kernel that stores a tile through one window and loads it through another: the device computes the addresses.
template <index_t ElementBytes, class Descriptor, class Write, class Read>
struct tile_access {
  static constexpr index_t element_bytes = ElementBytes;
  using descriptor = Descriptor;  // has a name and a function descriptor()
  using write = Write;
  using read = Read;
};

struct plain_64x64 {
  static constexpr const char* name = "plain rows";
  TILEWRIGHT_HD static constexpr auto descriptor() {
    return tw::make_naive_tensor_descriptor_packed(tw::make_tuple(tw::number<64>{}, tw::number<64>{}));
  }
};
template <index_t Pad>
struct padded_64x64 {
  static constexpr const char* name = "padded rows";
  TILEWRIGHT_HD static constexpr auto descriptor() {
    return tw::make_naive_tensor_descriptor(tw::make_tuple(tw::number<64>{}, tw::number<64>{}),
                                            tw::make_tuple(tw::number<64 + Pad>{}, tw::number<1>{}));
  }
};
struct preshuffled_64x64 {
  static constexpr const char* name = "XOR preshuffle";
  TILEWRIGHT_HD static constexpr auto descriptor() {
    return tw::make_lds_index_swapping_descriptor<64, 8, 1, 64, tw::half_t>();
  }
};

/// Lanes along the rows of a 64 x 64 tile, four waves.
template <index_t Vector>
using by_rows = tw::tile_distribution<tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked,
                                                                tw::tile_copy_2d{64, 64, Vector, 4, wave_size})>;
/// Each lane has a row of its own, in vectors that are not neighbours:
/// the compiler could make one wider access of those.
template <index_t Vector>
using by_columns = tw::tile_distribution<tw::tile_distribution_encoding<
    tw::sequence<>, tw::tuple<tw::sequence<2, 32>, tw::sequence<16 / Vector, 4, Vector>>,
    tw::tuple<tw::sequence<2>, tw::sequence<1>>, tw::tuple<tw::sequence<1>, tw::sequence<1>>, tw::sequence<1, 2, 2>,
    tw::sequence<0, 0, 2>>::value>;

using tile_accesses = tw::tuple<
    tile_access<2, plain_64x64, by_rows<8>, by_columns<8>>, tile_access<2, plain_64x64, by_columns<8>, by_rows<4>>,
    tile_access<2, plain_64x64, by_rows<2>, by_columns<4>>, tile_access<4, plain_64x64, by_rows<4>, by_columns<4>>,
    tile_access<4, plain_64x64, by_columns<1>, by_rows<2>>, tile_access<2, padded_64x64<8>, by_rows<8>, by_columns<8>>,
    tile_access<2, padded_64x64<2>, by_rows<2>, by_columns<2>>,
    tile_access<4, padded_64x64<1>, by_rows<1>, by_columns<1>>,
    tile_access<4, padded_64x64<4>, by_columns<4>, by_rows<4>>,
    tile_access<2, preshuffled_64x64, by_rows<8>, by_columns<8>>,
    tile_access<2, preshuffled_64x64, by_columns<8>, by_rows<8>>,
    tile_access<2, preshuffled_64x64, by_rows<4>, by_columns<2>>>;
constexpr index_t tile_access_threads = 4 * wave_size;

/// Runs number i of the tile_accesses.
void run_tile_access(index_t i);

}  // namespace lds_accesses
