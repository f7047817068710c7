// SPDX-License-Identifier: MIT
// Facts of the targets, and how a user looks them up, overrides them and adds to them.
#include <tilewright/core/arch/arch.hpp>
#include <tilewright/core/arch/gpu_facts.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace tilewright::arch {
namespace {

TEST(Target, IsFoundByName) {
  static_assert(find_target("gfx942") == &gfx942::value);
  static_assert(find_target("sm_80") == &sm80::value);
  static_assert(find_target("gfx9420") == nullptr && find_target("gfx94") == nullptr && find_target("") == nullptr);
  std::set<std::string> names;
  for (const target* t : all_targets) {
    EXPECT_EQ(find_target(t->name), t);
    names.insert(t->name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1150", "gfx1151",
                                          "gfx1200", "gfx1201", "gfx1250", "sm_80", "sm_90"}));
}

TEST(Target, SizesOfWavesAndLds) {
  struct fact {
    const char* name;
    index_t wave_size, lds_bytes, lds_granule;
  };
  constexpr fact facts[] = {{"gfx90a", 64, 65536, 512},  {"gfx942", 64, 65536, 512},  {"gfx950", 64, 163840, 1280},
                            {"gfx1100", 32, 65536, 512}, {"gfx1201", 32, 65536, 512}, {"sm_80", 32, 166912, 128},
                            {"sm_90", 32, 232448, 128},  {"gfx908", 64, 65536, 512},  {"gfx1150", 32, 65536, 512},
                            {"gfx1151", 32, 65536, 512}, {"gfx1200", 32, 65536, 512}, {"gfx1250", 32, 327680, 2048}};
  for (const fact& f : facts) {
    const target& t = *find_target(f.name);
    EXPECT_EQ(t.wave_size, f.wave_size) << f.name;
    EXPECT_EQ(t.lds_bytes, f.lds_bytes) << f.name;
    EXPECT_EQ(t.lds_granule, f.lds_granule) << f.name;
    EXPECT_EQ(t.max_vector_bytes, 16) << f.name;
    EXPECT_EQ(t.max_threads_per_block, 1024) << f.name;
  }
}

TEST(Target, EveryRowHasASource) {
  for (const target* t : all_targets) {
    EXPECT_TRUE(is_consistent(*t)) << t->name;
    EXPECT_NE(std::string(t->lds_size_source), "") << t->name;
    for (const lds_instruction& row : t->lds) {
      EXPECT_NE(std::string(instruction_name(*t, row.op)), "") << t->name << " lacks a mnemonic of its own instruction";
      for (const lds_service& reading : row.readings) EXPECT_NE(std::string(reading.source), "") << t->name;
    }
  }
}

TEST(Target, GradesOfTheRows) {
  const auto letter_of = [](const target& t, lds_op op, index_t reading = 0) {
    return letter(t.find(op)->readings[reading].known_by);
  };
  EXPECT_EQ(letter_of(gfx942::value, lds_op::read_b128), 'V');
  EXPECT_EQ(letter_of(gfx942::value, lds_op::read_b64), 'V');
  EXPECT_EQ(letter_of(gfx942::value, lds_op::write_b64), 'V');
  EXPECT_EQ(letter_of(gfx942::value, lds_op::read_b96), 'I');
  EXPECT_EQ(letter_of(gfx90a::value, lds_op::read_b128), 'V');
  EXPECT_EQ(letter_of(gfx90a::value, lds_op::read_b96), 'I');
  EXPECT_EQ(letter_of(gfx90a::value, lds_op::write_b96), 'U');
  EXPECT_EQ(letter_of(gfx950::value, lds_op::read_b32, 0), 'D');
  EXPECT_EQ(letter_of(gfx950::value, lds_op::read_b32, 1), 'D');
  EXPECT_EQ(letter_of(gfx950::value, lds_op::read_b128), 'V');
  EXPECT_EQ(letter_of(gfx950::value, lds_op::write_b128), 'V');
  EXPECT_EQ(letter_of(gfx1100::value, lds_op::read_b96), 'I');
  EXPECT_EQ(letter_of(gfx1201::value, lds_op::write_b128), 'I');
  EXPECT_EQ(letter_of(gfx1201::value, lds_op::read_b96), 'V');
  EXPECT_EQ(letter_of(gfx1201::value, lds_op::read_b128, 1), 'D');
  EXPECT_EQ(letter_of(sm90::value, lds_op::ldmatrix), 'H');
  EXPECT_EQ(letter_of(sm80::value, lds_op::ldmatrix), 'I');
  static_assert(is_evidence(grade::vendor) && is_evidence(grade::third_party) && is_evidence(grade::measured_here));
  static_assert(!is_evidence(grade::inferred) && !is_evidence(grade::disputed) && !is_evidence(grade::unknown));
}

TEST(Target, MatrixInstructions) {
  const auto supported = [](const target& t) {
    std::set<matrix_op> ops;
    for (const matrix_op op : t.matrix_ops) {
      ops.insert(op);
      EXPECT_TRUE(t.supports(op));
    }
    return ops;
  };
  using enum matrix_op;
  using ops = std::set<matrix_op>;
  const ops cdna{mfma_16x16x16,   mfma_16x16x16_x2,    mfma_32x32x8,
                 mfma_32x32x8_x2, mfma_16x16x4_b32_x4, mfma_32x32x2_b32_x4};
  ops cdna2 = cdna, cdna3 = cdna;
  cdna2.insert({mfma_16x16x16_b8_x4, mfma_32x32x8_b8_x4});
  cdna3.insert({mfma_16x16x32_b8_x2, mfma_32x32x16_b8_x2});
  ops cdna4 = cdna3;
  cdna4.insert({mfma_16x16x32, mfma_32x32x16, mfma_16x16x64_b8, mfma_32x32x32_b8, mfma_16x16x128_b8, mfma_32x32x64_b8});
  EXPECT_EQ(supported(gfx90a::value), cdna2);
  EXPECT_EQ(supported(gfx942::value), cdna3);
  EXPECT_EQ(supported(gfx950::value), cdna4);
  EXPECT_EQ(supported(gfx1100::value), (ops{wmma_16x16x16_gfx11, wmma_16x16x16_b8_gfx11}));
  EXPECT_EQ(supported(gfx1201::value), (ops{wmma_16x16x16_gfx12, wmma_16x16x16_b8_x2_gfx12}));
  EXPECT_EQ(supported(sm80::value), std::set<matrix_op>{mma_m16n8k16_x2});
  EXPECT_EQ(supported(sm90::value), std::set<matrix_op>{mma_m16n8k16_x2});
  EXPECT_EQ(supported(gfx908::value), cdna2);
  EXPECT_EQ(supported(gfx1150::value), supported(gfx1100::value));
  EXPECT_EQ(supported(gfx1151::value), supported(gfx1100::value));
  EXPECT_EQ(supported(gfx1200::value), supported(gfx1201::value));
  EXPECT_EQ(supported(gfx1250::value),
            (ops{wmma_16x16x16_gfx12, wmma_16x16x32_gfx1250, wmma_16x16x64_b8_gfx1250, wmma_16x16x128_b8_gfx1250}));
  EXPECT_TRUE(gfx1250::value.supports(wmma_16x16x64_b8_gfx1250, matrix_element::i8));
  EXPECT_FALSE(gfx1250::value.supports(wmma_16x16x128_b8_gfx1250, matrix_element::i8));
  EXPECT_TRUE(gfx908::value.supports(mfma_32x32x8_x2, matrix_element::f16));
  EXPECT_FALSE(gfx908::value.supports(mfma_32x32x8_x2, matrix_element::bf16));
  EXPECT_TRUE(gfx90a::value.supports(mfma_32x32x8_x2, matrix_element::bf16));
  EXPECT_FALSE(gfx942::value.supports(mfma_16x16x32));
  EXPECT_TRUE(sm90::value.supports(wgmma_k16, matrix_element::bf16));
  EXPECT_TRUE(sm90::value.supports(wgmma_k32_b8, matrix_element::fp8_ocp));
  EXPECT_FALSE(sm90::value.supports(wgmma_k32_b8, matrix_element::i8));
  EXPECT_FALSE(sm90::value.supports(wgmma_k16, matrix_element::f32));
  EXPECT_FALSE(sm80::value.supports(wgmma_k16));
}

TEST(Target, RelativesHaveInferredRows) {
  for (const lds_op op : {lds_op::read_b128, lds_op::write_b128}) {
    const auto grade_of = [&](const target& t) { return t.find(op)->readings[0].known_by; };
    EXPECT_EQ(grade_of(gfx90a::value), grade::vendor);
    EXPECT_EQ(grade_of(gfx908::value), grade::inferred);
    EXPECT_EQ(grade_of(gfx1151::value), grade::inferred);
    EXPECT_EQ(grade_of(gfx1200::value), grade::inferred);
  }
  for (const lds_instruction& row : gfx1250::value.lds) EXPECT_EQ(row.readings[0].known_by, grade::unknown);
  EXPECT_EQ(gfx908::value.find(lds_op::write_b96)->readings[0].known_by, grade::unknown);
  EXPECT_EQ(gfx1151::value.find(lds_op::read_b32)->readings[1].known_by, grade::disputed);
  EXPECT_LT(gfx1150::value.registers_per_simd, gfx1151::value.registers_per_simd);
}

TEST(Target, EachHasFiguresOfOneGpu) {
  std::multiset<std::string> with_figures, all;
  for (const gpu_facts& gpu : known_gpus) with_figures.insert(gpu.target);
  for (const target* t : all_targets) all.insert(t->name);
  EXPECT_EQ(with_figures, all);
}

TEST(TargetList, FindsByName) {
  static_assert(known_targets::find("gfx1151") >= 0 && known_targets::find("gfx115") == -1);
  static_assert(amd_targets::find("sm_90") == -1 && nvidia_targets::find("sm_90") == 1);
  std::string name;
  EXPECT_TRUE(known_targets::with("gfx950", [&]<class Arch>() { name += Arch::value.name; }));
  EXPECT_FALSE(nvidia_targets::with("gfx950", [&]<class Arch>() { name += Arch::value.name; }));
  EXPECT_EQ(name, "gfx950");
}

TEST(Target, CopiesToLds) {
  static_assert(gfx942::value.supports_direct_to_lds(4) && !gfx942::value.supports_direct_to_lds(16));
  static_assert(gfx950::value.supports_direct_to_lds(16) && gfx950::value.supports_direct_to_lds(12));
  static_assert(gfx1100::value.direct_to_lds_bytes.empty() && gfx1201::value.direct_to_lds_bytes.empty());
  static_assert(sm80::value.supports_direct_to_lds(16) && !sm80::value.supports_direct_to_lds(2));
  static_assert(gfx90a::value.buffer_instructions && gfx1201::value.buffer_instructions);
  static_assert(!sm90::value.buffer_instructions);
  static_assert(is_amd(gfx1100::value) && !is_amd(sm80::value));
}

TEST(LdsOp, FollowsFromTheWidth) {
  for (const index_t bytes : {1, 2, 4, 8, 12, 16}) {
    EXPECT_EQ(access_bytes(lds_read_op(bytes)), bytes);
    EXPECT_EQ(access_bytes(lds_write_op(bytes)), bytes);
    EXPECT_FALSE(is_write(lds_read_op(bytes)));
    EXPECT_TRUE(is_write(lds_write_op(bytes)));
  }
  static_assert(lds_read_op(16) == lds_op::read_b128 && lds_write_op(12) == lds_op::write_b96);
  static_assert(!is_write(lds_op::ldmatrix) && is_write(lds_op::stmatrix) && !is_write(lds_op::read_b64_tr_b16));
  static_assert(access_bytes(lds_op::ldmatrix) == 16 && access_bytes(lds_op::read_b64_tr_b16) == 8);
}

TEST(LdsOp, IsNamedAsInTheAssembly) {
  EXPECT_STREQ(instruction_name(gfx942::value, lds_op::read_b128), "ds_read_b128");
  EXPECT_STREQ(instruction_name(gfx942::value, lds_op::read_b8), "ds_read_u8");
  EXPECT_STREQ(instruction_name(gfx950::value, lds_op::read_b64_tr_b16), "ds_read_b64_tr_b16");
  EXPECT_STREQ(instruction_name(gfx950::value, lds_op::read_b64_tr_b8), "ds_read_b64_tr_b8");
  EXPECT_STREQ(instruction_name(gfx1100::value, lds_op::read_b128), "ds_load_b128");
  EXPECT_STREQ(instruction_name(gfx1201::value, lds_op::write_b64), "ds_store_b64");
  EXPECT_STREQ(instruction_name(sm90::value, lds_op::read_b128), "ld.shared.v4.b32");
  EXPECT_STREQ(instruction_name(sm90::value, lds_op::stmatrix), "stmatrix");
  EXPECT_STREQ(instruction_name(sm90::value, lds_op::read_b96), "");
}

TEST(Target, LacksWhatItsInstructionSetLacks) {
  static_assert(!gfx942::value.supports(lds_op::ldmatrix) && !gfx942::value.supports(lds_op::read_b64_tr_b16));
  static_assert(gfx950::value.supports(lds_op::read_b64_tr_b16) && gfx950::value.supports(lds_op::read_b64_tr_b8));
  static_assert(!sm90::value.supports(lds_op::read_b96) && sm90::value.supports(lds_op::stmatrix));
  static_assert(!sm80::value.supports(lds_op::stmatrix) && sm80::value.supports(lds_op::ldmatrix));
}

// What a user writes to rely on own measurements.
struct my_gfx90a {
  static constexpr target value = with_lds_row(
      gfx90a::value,
      lds_row(lds_op::read_b128, {contiguous_phases(64, 8), 32, grade::measured_here, "counter of our own MI250"}));
};

TEST(Target, RowsCanBeOverriddenAndAdded) {
  static_assert(is_consistent(my_gfx90a::value));
  static_assert(my_gfx90a::value.lds.size() == gfx90a::value.lds.size());
  static_assert(my_gfx90a::value.find(lds_op::read_b128)->readings[0].known_by == grade::measured_here);
  static_assert(my_gfx90a::value.find(lds_op::read_b64)->readings[0].known_by == grade::vendor);
  constexpr target added =
      with_lds_row(sm80::value, lds_row(lds_op::stmatrix, {contiguous_phases(32, 8), 32, grade::unknown, "a wish"}));
  static_assert(added.supports(lds_op::stmatrix) && is_consistent(added));
}

TEST(Target, InconsistentTablesAreRecognised) {
  constexpr target wrong_wave = with_lds_row(
      gfx942::value, lds_row(lds_op::read_b64, {contiguous_phases(32, 16), 32, grade::inferred, "copied from RDNA"}));
  static_assert(!is_consistent(wrong_wave));
  constexpr target odd_banks = with_lds_row(
      gfx942::value, lds_row(lds_op::read_b64, {contiguous_phases(64, 16), 33, grade::unknown, "no such hardware"}));
  static_assert(!is_consistent(odd_banks));
  target foreign_matrix_op = gfx942::value;
  foreign_matrix_op.matrix_ops.push_back(matrix_op::wmma_16x16x16_gfx11);
  EXPECT_FALSE(is_consistent(foreign_matrix_op));
}

}  // namespace
}  // namespace tilewright::arch
