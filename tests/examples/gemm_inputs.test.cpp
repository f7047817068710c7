// SPDX-License-Identifier: MIT
// What the gemm program multiplies: how options and files settle it, and what contradicts.
#include <limits>

#include <gtest/gtest.h>

#include "inputs.hpp"
#include "memory.hpp"
#include "npy.hpp"
#include "scratch_folder.hpp"

namespace gemm_example {
namespace {

void write_matrix(const std::string& name, std::int64_t rows, std::int64_t cols, element type,
                  order storage = order::row_major) {
  matrix m{rows, cols, storage, std::vector<std::uint16_t>(static_cast<std::size_t>(rows * cols))};
  for (std::size_t i = 0; i < m.elements.size(); ++i) m.elements[i] = static_cast<std::uint16_t>(i);
  write_npy(name, m, type);
}

TEST(GemmInputs, RandomMatricesHaveTheDefaultSize) {
  const inputs data = prepare_inputs(options{});
  EXPECT_EQ(data.what.m, 512);
  EXPECT_EQ(data.what.n, 512);
  EXPECT_EQ(data.what.k, 512);
  EXPECT_EQ(data.what.type, element::f16);
  EXPECT_EQ(data.a.elements.size(), 512u * 512u);
  EXPECT_NE(data.a.elements, data.b.elements);
  EXPECT_EQ(data.c.elements, std::vector<std::uint16_t>(512 * 512, nan_bits)) << "C must not be read";
  EXPECT_EQ(data.c_source, "none");
}

TEST(GemmInputs, BetaAloneDrawsTheInitialC) {
  options o;
  o.m = o.n = o.k = 4;
  o.beta = 1;
  const inputs data = prepare_inputs(o);
  EXPECT_EQ(data.c_source, "random");
  for (const std::uint16_t bits : data.c.elements) EXPECT_LE(std::abs(value_of(element::f16, bits)), 1);
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
  const inputs data = prepare_inputs(o);
  EXPECT_EQ(data.what.m, 3);
  EXPECT_EQ(data.what.n, 7);
  EXPECT_EQ(data.what.k, 5);
  EXPECT_EQ(data.what.type, element::bf16);
  EXPECT_EQ(data.what.a_order, order::col_major);
  EXPECT_EQ(data.what.b_order, order::row_major);
  EXPECT_EQ(data.what.c_order, order::col_major);
  EXPECT_EQ(data.a.bits(2, 4), 14);
  EXPECT_EQ(data.c.bits(1, 0), 1);
  EXPECT_EQ(data.a_source, folder / "a.npy");
}

TEST(GemmInputs, ASingleRowOrColumnHasEitherOrder) {
  const scratch_folder folder;
  write_matrix(folder / "a.npy", 1, 5, element::f16);
  options o;
  o.a_file = folder / "a.npy";
  o.a_order = order::col_major;
  o.n = 2;
  const inputs data = prepare_inputs(o);
  EXPECT_EQ(data.what.a_order, order::col_major);
  EXPECT_EQ(data.a.storage, order::col_major);
  EXPECT_EQ(data.a.bits(0, 3), 3);
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
    return message_of<refusal>([&] { prepare_inputs(o); });
  };
  const std::string a = folder / "a.npy";
  EXPECT_EQ(refusal_of([](options& o) { o.m = 4; }), "m is 4 in the options but 3 in " + a + " (3 x 5)");
  EXPECT_EQ(refusal_of([](options& o) { o.k = 4; }), "k is 4 in the options but 5 in " + a + " (3 x 5)");
  EXPECT_EQ(refusal_of([](options& o) { o.type = element::bf16; }),
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
  EXPECT_NE(message_of<refusal>([&] { prepare_inputs(o); }).find("more bytes than 64 bits can count"),
            std::string::npos);
  o.m = o.n = o.k = std::int64_t{1} << 28;
  EXPECT_NE(message_of<refusal>([&] { prepare_inputs(o); }).find("of memory"), std::string::npos);
  o.m = std::numeric_limits<std::int64_t>::max();
  o.n = o.k = 1;
  EXPECT_NE(message_of<refusal>([&] { prepare_inputs(o); }), "");
}

TEST(GemmInputs, MemoryIsCountedInBytes) {
  const problem p{.m = 2, .n = 3, .k = 5};
  EXPECT_EQ(memory_bytes(p, /*keeps_initial_c=*/false), 2 * (10 + 15 + 6));
  EXPECT_EQ(memory_bytes(p, /*keeps_initial_c=*/true), 2 * (10 + 15 + 12));
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
}  // namespace gemm_example
