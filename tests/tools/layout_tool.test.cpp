// SPDX-License-Identifier: MIT
// What tilewright-layout says of layouts and patterns is what the compile-time analysis says of the same descriptors
// and distributions.
#include "encoding_text.hpp"
#include "layout_spec.hpp"
#include "pattern.hpp"
#include "refusal.hpp"

#include <tilewright/block/mma/block_tile.hpp>
#include <tilewright/block/operands/operand_copy.hpp>
#include <tilewright/core.hpp>
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/distribution/distribution_pattern.hpp>

#include <gtest/gtest.h>

namespace tilewright_layout {
namespace {

namespace tw = tilewright;
namespace arch = tilewright::arch;
using tw::lds_access_kind, tw::make_tuple, tw::number;
using enum arch::matrix_op;

constexpr tw::lds_tile tile{128, 64, 2};

template <class Arch>
named_pattern pattern(const std::string& text, bool is_write = false) {
  return pattern_of(text, Arch::value, tile, is_write, 0);
}

/// The tool's verdict on a layout and a pattern, for comparison with the analysis of a descriptor and a distribution.
template <class Arch, class Descriptor, class Distribution>
void expect_same(const std::string& layout, const std::string& text, const Descriptor& descriptor,
                 Distribution distribution, lds_access_kind kind) {
  const named_pattern found = pattern<Arch>(text, kind == lds_access_kind::write);
  EXPECT_EQ(found.distribution, Distribution::encoding) << text << ": " << text_of(found.distribution);
  EXPECT_EQ(found.kind, kind);
  const tw::tensor_graph graph = layout_of(layout, Arch::value, tile).graph;
  const tw::lds_access_analysis wanted = tw::analyze_lds_access<Arch>(descriptor, distribution, 2, kind);
  const tw::lds_access_analysis analysis = tw::analyze_lds_access(Arch::value, graph, found.distribution, 2, kind);
  EXPECT_EQ(analysis, wanted) << layout << " " << text << " on " << Arch::value.name;
  const tw::tensor_graph same = graph_of(descriptor);
  for (index_t row = 0; row < tile.rows; ++row) {
    for (index_t col = 0; col < tile.cols; ++col) {
      index_t a[tw::tensor_graph::max_hidden] = {}, b[tw::tensor_graph::max_hidden] = {};
      const index_t index[2] = {row, col};
      tilewright::detail::lower_all(graph, nullptr, index, a);
      tilewright::detail::lower_all(same, nullptr, index, b);
      ASSERT_EQ(a[0], b[0]) << layout << " at " << row << ", " << col;
    }
  }
}

template <class Arch, arch::matrix_op Op>
void expect_same_on(const std::string& instruction) {
  using operand = tw::tile_distribution<tw::detail::a_encoding({128, arch::describe(Op).n, 64, 1, 1, Op})>;
  constexpr index_t wave = Arch::value.wave_size;
  using rows = tw::tile_distribution<tw::make_pattern_encoding(tw::tile_distribution_pattern::block_raked,
                                                               {128, 64, 8, 256 / wave, wave})>;
  const auto check = [&](const std::string& layout, const auto& descriptor) {
    expect_same<Arch>(layout, instruction, descriptor, operand{}, lds_access_kind::read);
    expect_same<Arch>(layout, "rows:16B", descriptor, rows{}, lds_access_kind::write);
  };
  constexpr number<128> m;
  constexpr number<64> k;
  check("plain", tw::make_naive_tensor_descriptor_packed(make_tuple(m, k)));
  check("padded", tw::make_naive_tensor_descriptor(make_tuple(m, k), make_tuple(number<72>{}, number<1>{})));
  check("padded:32", tw::make_naive_tensor_descriptor(make_tuple(m, k), make_tuple(number<80>{}, number<1>{})));
  check("xor:1", tw::lds_index_swapping<64, 8, 1, 128, tw::half_t>::descriptor);
  check("xor:2", tw::lds_index_swapping<64, 8, 2, 128, tw::half_t>::descriptor);
  check("swizzle:3,4,3",
        tw::lds_index_swapping<64, 8, 1, 128, tw::half_t>::descriptor);  // the same map for rows of 128 bytes
}

TEST(LayoutTool, AgreesWithTheCompileTimeAnalysis) {
  expect_same_on<arch::gfx942, mfma_32x32x8_x2>("mfma:32x32x16");
  expect_same_on<arch::gfx950, mfma_16x16x32>("mfma:16x16x32");
  expect_same_on<arch::gfx1201, wmma_16x16x16_gfx12>("wmma:16x16x16");
}

TEST(LayoutTool, LdmatrixPatternsAreTheAddressesOfTheOperands) {
  using operand = tw::tile_distribution<tw::detail::a_encoding({128, 16, 64, 1, 1, mma_m16n8k16_x2}, true)>;
  expect_same<arch::sm90>("xor", "ldmatrix", tw::lds_index_swapping<64, 8, 1, 128, tw::half_t>::descriptor, operand{},
                          lds_access_kind::ldmatrix);
  EXPECT_EQ(pattern<arch::sm90>("ldmatrix:b").distribution,
            tw::detail::b_encoding({16, 128, 64, 1, 1, mma_m16n8k16_x2}, true));
}

TEST(LayoutTool, TransposingPatternsAreTheAddressesOfTheOperandsWithRowsAlongK) {
  const named_pattern a = pattern<arch::gfx950>("ds_read_b64_tr_b16:32x32x16");  // the tile is (k, m)
  EXPECT_EQ(a.kind, lds_access_kind::transposing_read);
  EXPECT_EQ(tw::detail::with_dimensions_exchanged(a.distribution),
            tw::detail::a_encoding({64, 32, 128, 1, 1, mfma_32x32x16}, true, true));
  const named_pattern b = pattern<arch::sm90>("ldmatrix.trans:b");
  EXPECT_EQ(b.kind, lds_access_kind::ldmatrix);
  EXPECT_EQ(tw::detail::with_dimensions_exchanged(b.distribution),
            tw::detail::b_encoding({16, 64, 128, 1, 1, mma_m16n8k16_x2}, true, true));
}

// Every matrix instruction by its shape, and by its vendor's.
TEST(LayoutTool, VendorsNamesMeanTheSameInstructions) {
  EXPECT_EQ(pattern<arch::gfx942>("v_mfma_f32_16x16x16_f16:b").distribution,
            pattern<arch::gfx942>("mfma:16x16x16:b").distribution);
  EXPECT_EQ(pattern<arch::gfx942>("v_mfma_f32_32x32x8f16").distribution,
            pattern<arch::gfx942>("mfma:32x32x8").distribution);
  EXPECT_EQ(pattern<arch::gfx1100>("v_wmma_f32_16x16x16_bf16:c").distribution,
            pattern<arch::gfx1100>("wmma:16x16x16:c").distribution);
  for (const char* name : {"mma:16x8x16", "mma.m16n8k16", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"})
    EXPECT_EQ(pattern<arch::sm90>(name).distribution, pattern<arch::sm90>("mma:16x16x16").distribution) << name;
  for (const arch::target* t : arch::all_targets) {
    for (const arch::matrix_op op : t->matrix_ops) {
      const arch::matrix_instruction i = describe(op);
      const index_t bytes = element_bytes(op);
      const std::string family = t->isa == arch::instruction_set::cdna    ? "mfma:"
                                 : t->wave_size == 32 && arch::is_amd(*t) ? "wmma:"
                                                                          : "mma:";
      const auto by = [&](index_t n, index_t k) {
        return pattern_of(family + std::to_string(i.m) + "x" + std::to_string(n) + "x" + std::to_string(k), *t,
                          {128, 256, bytes}, false, 0)
            .distribution;
      };
      EXPECT_EQ(by(i.n, i.k), tw::detail::a_encoding({128, i.n, 256, 1, 1, op})) << t->name << " " << index_t(op);
      EXPECT_NO_THROW(
          by(tw::detail::uses_ldmatrix(op) ? 8 : i.n, tw::detail::uses_ldmatrix(op) ? i.k : i.k / num_issues(op)));
    }
  }
}

TEST(LayoutTool, OperandsAndAccumulators) {
  EXPECT_EQ(pattern<arch::gfx942>("mfma:16x16x16:b").distribution,
            tw::detail::b_encoding({16, 128, 64, 1, 1, mfma_16x16x16}));
  EXPECT_EQ(pattern<arch::gfx942>("mfma:32x32x8:c").distribution,
            tw::detail::c_encoding({128, 64, 8, 1, 1, mfma_32x32x8}));
}

// Neighbouring lanes have neighbouring rows, whatever the numbers of rows, lanes and waves.
TEST(LayoutTool, ColumnsGiveEachLaneARow) {
  for (const index_t rows : {16, 64, 128, 512}) {
    for (const index_t width : {2, 4, 16}) {
      const tw::lds_tile t{rows, 64, 2};
      const auto e = pattern_of("column:" + std::to_string(width) + "B", arch::gfx942::value, t, false, 0).distribution;
      ASSERT_TRUE(tw::check_encoding(e).is_sound());
      EXPECT_EQ(e.x_length(0), rows);
      EXPECT_EQ(e.x_length(1), 64);
      const tw::tensor_graph graph = layout_of("plain", arch::gfx942::value, t).graph;
      const tw::lds_access_pattern pattern(graph, e, 2);
      for (index_t lane = 0; lane < 64; ++lane) EXPECT_EQ(pattern.position_of(0, lane, 0)[0], lane % rows);
      // What the tool analyses: a layout of which the access may use no more than its width.
      const tw::tensor_graph limited = with_runs_limited(graph, t, width / 2);
      EXPECT_EQ(tw::lds_access_pattern(limited, e, 2).bytes_per_lane(), width);
      for (index_t row = 0; row < rows; row += 7) {
        tw::lds_access_pattern::position x{};
        x[0] = row;
        x[1] = row % 64;
        EXPECT_EQ(tw::lds_access_pattern(limited, e, 2).offset(x), row * 64 + row % 64);
      }
    }
  }
}

// Against the definition on byte addresses.
TEST(LayoutTool, ByteSwizzlesPermuteAddresses) {
  struct numbers {
    index_t b, m, s;
  };
  for (const numbers n : {numbers{1, 4, 3}, {2, 4, 3}, {3, 4, 3}, {3, 3, 4}, {2, 2, 5}, {3, 4, 7}}) {
    const std::string text = "swizzle:" + std::to_string(n.b) + "," + std::to_string(n.m) + "," + std::to_string(n.s);
    const tw::tensor_graph graph = layout_of(text, arch::sm90::value, tile).graph;
    for (index_t row = 0; row < tile.rows; ++row) {
      for (index_t col = 0; col < tile.cols; ++col) {
        const index_t index[2] = {row, col}, address = (row * tile.cols + col) * 2;
        index_t hidden[tw::tensor_graph::max_hidden] = {};
        tilewright::detail::lower_all(graph, nullptr, index, hidden);
        const index_t mask = ((1 << n.b) - 1) << (n.m + n.s);
        ASSERT_EQ(hidden[0] * 2, address ^ ((address & mask) >> n.s)) << text;
      }
    }
  }
}

TEST(LayoutTool, EncodingsAreReadAndWritten) {
  for (const char* text : {"H(2,4,16)(4,8)P(1.1)(1.2,2.0)Y(1.0,2.1)", "R(2)H(16)(16)P(0.0,1.0)Y(2.0)"}) {
    EXPECT_EQ(text_of(encoding_of_text(text)), text);
  }
  const auto message = [](const char* text) -> std::string {
    try {
      encoding_of_text(text);
    } catch (const refusal& error) {
      return error.what();
    }
    return "read";
  };
  EXPECT_NE(message("H(64)(8)P(1.0)Y(2.1)").find("2.1 names a factor that does not exist"), std::string::npos);
  EXPECT_NE(message("H(64)(8)P(1.0)Y(1.0,2.0)").find("1.0 has two owners"), std::string::npos);
  EXPECT_NE(message("H(64,2)(8)P(1.0)Y(2.0)").find("1.1 has no owner"), std::string::npos);
  EXPECT_NE(message("R(2)H(64)(8)P(1.0)Y(2.0,0.0)").find("0.0 replicates"), std::string::npos);
  EXPECT_NE(message("H(64)(8)P(1.0)").find("ends too early"), std::string::npos);
  EXPECT_NE(message("H(64)(8P(1.0)Y(2.0)").find("a factor must be a whole number"), std::string::npos);
  EXPECT_NE(message("H(32768,8192)(2)P(1.0)Y(1.1,2.0)").find("more than 268435456 elements"), std::string::npos);
  EXPECT_EQ(message("H(32768,8192)P(1.0)Y(1.1)"), "read");
  EXPECT_NE(message("H(1,1,1,1,1,1,64)(8)P(1.6)Y(2.0)").find("more entries than an encoding holds (6)"),
            std::string::npos);
}

}  // namespace
}  // namespace tilewright_layout
