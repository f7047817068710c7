// SPDX-License-Identifier: MIT
// What docs/lds.md shows.
#include <tilewright/core.hpp>
#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/core/lds/layout_padding.hpp>
#include <tilewright/core/lds/layout_presets.hpp>
#include <tilewright/kernels/gemm/gemm_policy.hpp>

#include <gtest/gtest.h>

namespace tw = tilewright;
namespace arch = tilewright::arch;
using tw::index_t, tw::make_tuple, tw::number;

namespace {

using operand = tw::tile_distribution<tw::encoding_of(arch::describe(arch::matrix_op::mfma_32x32x16).a)>;

template <index_t BankRowBytes>
constexpr auto layout = tw::lds_index_swapping<64, 8, tw::lds_layer(64, 2, BankRowBytes), 128, tw::half_t>::descriptor;

// A variable template, so that it is computed once; and `value == wanted`, so that the compiler prints the value.
template <class Arch, index_t BankRowBytes>
constexpr index_t worst_degree =
    tw::analyze_lds_access<Arch>(layout<BankRowBytes>, operand{}, 2, tw::lds_access_kind::read).worst_degree;
static_assert(worst_degree<arch::gfx950, 256> == 1);

TEST(DocsLds, AFailedProofSaysWhoMeetsWhom) {
  constexpr auto cost = tw::analyze_lds_access<arch::gfx950>(layout<128>, operand{}, 2, tw::lds_access_kind::read);
  static_assert(cost.worst_degree == 2 && cost.conflicts == 4);
  // Rows 12 and 20 of the tile, lanes 12 and 20, meet in bank 16 while phase 0 is served.
  static_assert(cost.phase == 0 && cost.bank == 16 && cost.lanes == tw::array<index_t, 2>{12, 20});
  static_assert(cost.coordinates[0] == tw::multi_index<2>{12, 0} && cost.coordinates[1] == tw::multi_index<2>{20, 0});
  EXPECT_FALSE(cost.is_conflict_free());
}

TEST(DocsLds, RunTime) {
  tw::lds_addresses address;  // of a column of 4-byte words, in rows of 128 bytes
  for (index_t lane = 0; lane < 64; ++lane) address[lane] = lane * 128;
  const tw::lds_access_cost cost = tw::lds_cost(arch::gfx942::value, arch::lds_op::read_b32, address);
  EXPECT_EQ(cost.worst_degree, 32);
  EXPECT_EQ(cost.conflicts, 62);  // two phases of 32 lanes, which all want the same bank
}

TEST(DocsLds, DisputedRows) {
  tw::lds_addresses address;
  for (index_t lane = 0; lane < 64; ++lane) address[lane] = lane * 8;  // every second word
  const auto conflicts = [&](tw::lds_reading reading) {
    return tw::lds_cost(arch::gfx950::value, arch::lds_op::read_b32, address, reading).conflicts;
  };
  EXPECT_EQ(conflicts(tw::lds_reading::first), 1);   // all lanes at once on 64 banks
  EXPECT_EQ(conflicts(tw::lds_reading::second), 2);  // two halves on 32 banks
  EXPECT_EQ(conflicts(tw::lds_reading::worst), 2);   // the default: a proof holds under both
}

constexpr auto a_tile = tw::make_lds_descriptor<tw::row_xor_layout({.rows = 128, .cols = 64, .element_bytes = 2})>();
template <class Arch>
using a_read = tw::lds_access<Arch, a_tile, operand, tw::half_t, tw::lds_access_kind::read>;

// A message of the compiler with all numbers, should it fail; a concept; a plain bool.
static_assert(tw::require_conflict_free<a_read<arch::gfx942>, a_read<arch::gfx950>>());
static_assert(tw::ConflictFree<a_read<arch::gfx942>>);
static_assert(tw::is_conflict_free<arch::gfx942>(a_tile, operand{}, 2, tw::lds_access_kind::read));

// gfx1201's rows for writes are inferred from gfx942's, which AMD has published.
template <class Arch, index_t WaveSize>
using a_write =
    tw::lds_access<Arch, a_tile,
                   tw::tile_distribution<tw::operand_copy_encoding(tw::operand_major::k, 128, 64, 4, WaveSize, 8, 8)>,
                   tw::half_t, tw::lds_access_kind::write>;
static_assert(tw::require_conflict_free<tw::proof_basis::evidence, a_read<arch::gfx942>, a_write<arch::gfx942, 64>>());
static_assert(tw::ConflictFree<a_write<arch::gfx1201, 32>> && !tw::ConflictFreeByEvidence<a_write<arch::gfx1201, 32>>);
static_assert(tw::proof_grade<a_read<arch::gfx942>, a_write<arch::gfx1201, 32>>() == arch::grade::inferred);

// A row replaced by your own measurement.
struct measured_gfx90a {
  static constexpr arch::target value = arch::with_lds_row(
      arch::gfx90a::value,
      arch::lds_row(arch::lds_op::read_b128,
                    arch::lds_service{arch::contiguous_phases(64, 8), 32, arch::grade::measured_here, "my counters"}));
};
static_assert(tw::arch::rests_on_evidence(measured_gfx90a::value, arch::lds_op::read_b128));
static_assert(worst_degree<measured_gfx90a, 128> == 1);

TEST(DocsLds, Values) {
  // Everything is known only now: a target by its name, a layout, a distribution, the size of an element.
  const arch::target* target = arch::find_target("gfx950");
  const tw::lds_tile tile{.rows = 128, .cols = 64, .element_bytes = 2};
  const tw::tensor_graph layout = tw::padded_layout(tile, 16);
  const tw::distribution_encoding read = operand::encoding;
  const tw::lds_legality legality = tw::check_lds_access(*target, layout, read, 2, tw::lds_access_kind::read);
  ASSERT_TRUE(legality.is_legal()) << legality.message();
  const auto result = tw::analyze_lds_access(*target, layout, read, 2, tw::lds_access_kind::read);
  EXPECT_EQ(result.worst_degree, 1);
}

TEST(DocsLds, Legality) {
  const tw::tensor_graph padded = tw::padded_layout({.rows = 64, .cols = 64, .element_bytes = 2}, 16);
  const auto copy = tw::operand_copy_encoding(tw::operand_major::k, 64, 64, 1, 64, 8, 8);
  // A direct copy to LDS writes lane after lane: it cannot leave out the pads.
  EXPECT_EQ(check_direct_to_lds(arch::gfx950::value, padded, copy, 2).fault, tw::lds_fault::leaves_footprint);
  // Occupancy: with two buffers of 20 KiB, a compute unit of gfx942 holds one block.
  EXPECT_EQ(arch::resident_blocks(arch::gfx942::value, 2 * 20480), 1);
  // What addresses take: registers, and constants that must fit into an instruction.
  EXPECT_EQ(tw::address_needs(padded, copy, 2), (tw::lds_address_needs{1, 8064}));
}

TEST(DocsLds, Solver) {
  constexpr tw::lds_tile tile{.rows = 64, .cols = 64, .element_bytes = 2};
  constexpr tw::lds_use write{tw::operand_copy_encoding(tw::operand_major::k, 64, 64, 1, 64, 8, 8),
                              tw::lds_access_kind::write};
  constexpr tw::lds_use read{operand::encoding, tw::lds_access_kind::read};
  constexpr auto choice = tw::choose_lds_layout<arch::gfx942, arch::gfx950>(tile, write, read);
  static_assert(choice.worst_degree == 1 && choice.is_proven_best);
  constexpr auto layout = tw::make_lds_descriptor<choice.layout>();  // an ordinary descriptor
  for (const tw::lds_access_analysis& a : tw::analyze_choice<arch::gfx942, arch::gfx950>(choice, write, read))
    EXPECT_TRUE(a.is_conflict_free());
  EXPECT_EQ(layout.get_element_space_size(), 64 * 64);
}

// The layouts of the GEMM kernels: found for the writes and the reads of the target.
template <class Arch, tw::operand_major Major>
constexpr bool is_free_of_conflicts() {
  using policy = tw::gemm_policy<Arch, tw::half_t, Major, Major, 8>;
  constexpr tw::tensor_descriptor<policy::a_lds> layout{{}, policy::tile.m * policy::tile.k};  // of (m, k)
  constexpr auto read = tw::fragment_access(policy::tile.op, policy::a_transposed);
  const auto writes =
      tw::analyze_lds_access<Arch>(layout, tw::tile_distribution<policy::a_copy>{}, 2, tw::lds_access_kind::write);
  const auto reads = tw::analyze_lds_access<Arch>(layout, tw::tile_distribution<policy::a_read>{}, 2, read);
  return policy::a_layout.worst_degree == 1 && writes.is_conflict_free() && reads.is_conflict_free();
}

template <class Arch>
constexpr bool all_majors =
    is_free_of_conflicts<Arch, tw::operand_major::k>() && is_free_of_conflicts<Arch, tw::operand_major::mn>();

TEST(DocsLds, GemmOperandsAreFreeOfConflicts) {
  EXPECT_TRUE(all_majors<arch::gfx90a>);
  EXPECT_TRUE(all_majors<arch::gfx942>);
  EXPECT_TRUE(all_majors<arch::gfx950>);
  EXPECT_TRUE(all_majors<arch::gfx1100>);
  EXPECT_TRUE(all_majors<arch::gfx1201>);
  EXPECT_TRUE(all_majors<arch::sm80>);
  EXPECT_TRUE(all_majors<arch::sm90>);
}

}  // namespace
