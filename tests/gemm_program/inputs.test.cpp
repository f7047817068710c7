// SPDX-License-Identifier: MIT
// What the gemm program multiplies: how options and files fence_operand it, and what contradicts.
#include <limits>

#include <gtest/gtest.h>

#include "inputs.hpp"
#include "memory.hpp"
#include "npy.hpp"
#include "scratch_folder.hpp"

namespace gemm_program {
namespace {

void write_matrix(const std::string& name, std::int64_t rows, std::int64_t cols, element type,
                  order storage = order::row_major) {
  matrix m{rows, cols, storage, type};
  for (std::int64_t i = 0; i < m.count(); ++i) m.set_bits_at(i, static_cast<std::uint32_t>(i));
  write_npy(name, m);
}

inputs prepare_for_gfx942(const options& o) { return prepare_inputs(o, tw::arch::fp8_kind::fnuz, "gfx942"); }

TEST(GemmInputs, RandomMatricesHaveTheDefaultSize) {
  const inputs data = prepare_for_gfx942(options{});
  EXPECT_EQ(data.what.m, 512);
  EXPECT_EQ(data.what.n, 512);
  EXPECT_EQ(data.what.k, 512);
  EXPECT_EQ(data.what.type, element::f16);
  EXPECT_EQ(data.what.result, element::f16);
  EXPECT_EQ(data.a.bytes.size(), 2u * 512u * 512u);
  EXPECT_NE(data.a.bytes, data.b.bytes);
  for (std::int64_t i = 0; i < 512 * 512; ++i) ASSERT_EQ(data.c.bits_at(i), 0x7fffu) << "C must not be read";
  EXPECT_EQ(data.c_source, "none");
}

TEST(GemmInputs, BetaAloneDrawsTheInitialC) {
  options o;
  o.m = o.n = o.k = 4;
  o.beta = 1;
  const inputs data = prepare_for_gfx942(o);
  EXPECT_EQ(data.c_source, "random");
  for (std::int64_t i = 0; i < 16; ++i) EXPECT_LE(std::abs(value_of(element::f16, data.c.bits_at(i))), 1);
}

TEST(GemmInputs, FilesFixSizesTypeAndOrder) {
  const scratch_folder folder;
  write_matrix(folder / "a.npy", 3, 5, element::bf16, order::col_major);
  write_matrix(folder / "b.npy", 5, 7, element::bf16);
  write_matrix(folder / "c.npy", 3, 7, element::bf16, order::col_major);
  options o;
  o.a_file = folder / "a.npy";
  o.b_file = folder / "b.npy";
  o.c_file = folder / "c.npy";
  o.beta = 1;
  const inputs data = prepare_for_gfx942(o);
  EXPECT_EQ(data.what.m, 3);
  EXPECT_EQ(data.what.n, 7);
  EXPECT_EQ(data.what.k, 5);
  EXPECT_EQ(data.what.type, element::bf16);
  EXPECT_EQ(data.what.a_order, order::col_major);
  EXPECT_EQ(data.what.b_order, order::row_major);
  EXPECT_EQ(data.what.c_order, order::col_major);
  EXPECT_EQ(data.a.bits(2, 4), 14u);
  EXPECT_EQ(data.c.bits(1, 0), 1u);
  EXPECT_EQ(data.a_source, folder / "a.npy");
}

TEST(GemmInputs, ASingleRowOrColumnHasEitherOrder) {
  const scratch_folder folder;
  write_matrix(folder / "a.npy", 1, 5, element::f16);
  options o;
  o.a_file = folder / "a.npy";
  o.a_order = order::col_major;
  o.n = 2;
  const inputs data = prepare_for_gfx942(o);
  EXPECT_EQ(data.what.a_order, order::col_major);
  EXPECT_EQ(data.a.storage, order::col_major);
  EXPECT_EQ(data.a.bits(0, 3), 3u);
}

TEST(GemmInputs, ContradictionsAreRefusedInOneSentence) {
  const scratch_folder folder;
  write_matrix(folder / "a.npy", 3, 5, element::f16);
  write_matrix(folder / "b.npy", 6, 7, element::f16);
  write_matrix(folder / "bf.npy", 5, 7, element::bf16);
  write_matrix(folder / "c.npy", 4, 7, element::f16);
  const auto refusal_of = [&](auto&& change) {
    options o;
    o.a_file = folder / "a.npy";
    change(o);
    return message_of<refusal>([&] { prepare_for_gfx942(o); });
  };
  const std::string a = folder / "a.npy";
  EXPECT_EQ(refusal_of([](options& o) { o.m = 4; }), "m is 4 in the options but 3 in " + a + " (3 x 5)");
  EXPECT_EQ(refusal_of([](options& o) { o.k = 4; }), "k is 4 in the options but 5 in " + a + " (3 x 5)");
  EXPECT_EQ(refusal_of([](options& o) { o.type = dtype::bf16; }),
            "the element type is bf16 in the options but f16 in " + a);
  EXPECT_EQ(refusal_of([](options& o) { o.a_order = order::col_major; }),
            "the order of A is column-major in the options but row-major in " + a);
  EXPECT_EQ(refusal_of([&](options& o) { o.b_file = folder / "b.npy"; }),
            "k is 5 in " + a + " (3 x 5) but 6 in " + (folder / "b.npy") + " (6 x 7)");
  EXPECT_EQ(refusal_of([&](options& o) { o.b_file = folder / "bf.npy"; }),
            "the element type is f16 in " + a + " but bf16 in " + (folder / "bf.npy"));
  EXPECT_EQ(refusal_of([&](options& o) { o.c_file = folder / "c.npy"; }),
            "m is 3 in " + a + " (3 x 5) but 4 in " + (folder / "c.npy") + " (4 x 7)");
}

TEST(GemmInputs, AbsurdSizesAreRefusedBeforeAnythingIsAllocated) {
  options o;
  o.m = o.n = o.k = std::int64_t{1} << 40;
  EXPECT_NE(message_of<refusal>([&] { prepare_for_gfx942(o); }).find("more bytes than 64 bits can count"),
            std::string::npos);
  o.m = o.n = o.k = std::int64_t{1} << 28;
  EXPECT_NE(message_of<refusal>([&] { prepare_for_gfx942(o); }).find("of memory"), std::string::npos);
  o.m = std::numeric_limits<std::int64_t>::max();
  o.n = o.k = 1;
  EXPECT_NE(message_of<refusal>([&] { prepare_for_gfx942(o); }), "");
}

TEST(GemmInputs, MemoryIsCountedInBytes) {
  const problem p{.m = 2, .n = 3, .k = 5};
  EXPECT_EQ(memory_bytes(p, /*copies_of_c=*/0), 2 * (10 + 15 + 6));
  EXPECT_EQ(memory_bytes(p, /*copies_of_c=*/1), 2 * (10 + 15 + 12));
  const problem all{.m = 2,
                    .n = 3,
                    .k = 5,
                    .type = element::e4m3,
                    .result = element::f32,
                    .batch = 7,
                    .epilogue = {.residual = true}};
  EXPECT_EQ(memory_bytes(all, /*copies_of_c=*/1), 7 * (10 + 15 + 3 * 4 * 6));
}

TEST(GemmInputs, EightBitTypesAreThoseOfTheMachine) {
  options o;
  o.type = dtype::fp8;
  o.m = o.n = o.k = 2;
  const inputs fnuz = prepare_inputs(o, tw::arch::fp8_kind::fnuz, "gfx942");
  EXPECT_EQ(fnuz.what.type, element::e4m3fnuz);
  EXPECT_EQ(fnuz.what.result, element::f32);
  EXPECT_EQ(fnuz.what.b_order, order::col_major);
  EXPECT_EQ(fnuz.c.bytes.size(), 16u);
  o.type = dtype::bf8;
  EXPECT_EQ(prepare_inputs(o, tw::arch::fp8_kind::ocp, "gfx950").what.type, element::e5m2);
  EXPECT_EQ(message_of<refusal>([&] { prepare_inputs(o, tw::arch::fp8_kind::none, "gfx90a"); }),
            "gfx90a has no kernels for fp8 and bf8");
  o.type = dtype::int8;
  EXPECT_EQ(prepare_for_gfx942(o).what.result, element::i32);
  o.type = dtype::f16;
  o.result = dtype::int32;
  EXPECT_EQ(message_of<refusal>([&] { prepare_for_gfx942(o); }), "an int32 C needs int8 operands");
}

TEST(GemmInputs, BytesNeedAName) {
  const scratch_folder folder;
  write_matrix(folder / "a.npy", 3, 5, element::e4m3);
  options o;
  o.a_file = folder / "a.npy";
  EXPECT_NE(message_of<refusal>([&] { prepare_for_gfx942(o); }).find("may be fp8 or bf8"), std::string::npos);
  o.type = dtype::bf8;
  const inputs data = prepare_for_gfx942(o);
  EXPECT_EQ(data.what.type, element::e5m2fnuz);
  EXPECT_EQ(data.a.bits(2, 4), 14u);
}

TEST(GemmInputs, ABatchOfFilesAgreesWithTheOptions) {
  const scratch_folder folder;
  matrix m{2, 3, order::row_major, element::f16, 4};
  write_npy(folder / "a.npy", m);
  options o;
  o.a_file = folder / "a.npy";
  o.n = 2;
  EXPECT_EQ(prepare_for_gfx942(o).what.batch, 4);
  EXPECT_EQ(prepare_for_gfx942(o).b.count(), 4 * 3 * 2);
  o.batch = 5;
  EXPECT_NE(
      message_of<refusal>([&] { prepare_for_gfx942(o); }).find("the number of matrices is 5 in the options but 4 in"),
      std::string::npos);
  o.batch = 4;
  o.c_order = order::col_major;
  o.out_file = folder / "c.npy";
  EXPECT_NE(message_of<refusal>([&] { prepare_for_gfx942(o); }).find("use a row-major C"), std::string::npos);
}

TEST(GemmInputs, ModestSizesAreVerified) {
  EXPECT_TRUE(is_verified(options{}, {.m = 4096, .n = 4096, .k = 4096}));
  EXPECT_FALSE(is_verified(options{}, {.m = 4096, .n = 4096, .k = 4097}));
  options o;
  o.verify = true;
  EXPECT_TRUE(is_verified(o, {.m = 4096, .n = 4096, .k = 4097}));
  o.verify = false;
  EXPECT_FALSE(is_verified(o, {.m = 1, .n = 1, .k = 1}));
}

}  // namespace
}  // namespace gemm_program
