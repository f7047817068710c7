// SPDX-License-Identifier: MIT
// Facts of AMD Instinct GPUs agree with each other and with the tables of their targets.
#include <tilewright/core/arch/cdna_gpu.hpp>
#include <tilewright/core/arch/gpu_facts.hpp>

#include <gtest/gtest.h>

#include <string>

namespace tilewright::arch {
namespace {

TEST(CdnaGpu, ClocksOfUnits) {
  EXPECT_NEAR(cdna_gpus[0].operations_per_clock(16), 2048, 1) << "MI300X: 512 on each SIMD";
  EXPECT_NEAR(cdna_gpus[0].operations_per_clock(8), 4096, 1);
  EXPECT_NEAR(cdna_gpus[1].operations_per_clock(8), 4096, 2) << "MI308X: the same compute units";
  EXPECT_NEAR(cdna_gpus[2].operations_per_clock(4), 16384, 1) << "MI355X";
  EXPECT_EQ(cdna_gpus[0].tera_operations(4), 0) << "none";
  EXPECT_EQ(cdna_gpus[0].lds_read_bytes_per_clock(), 64);
  EXPECT_EQ(cdna_gpus[2].lds_read_bytes_per_clock(), 128);
  for (const cdna_gpu& gpu : cdna_gpus) EXPECT_EQ(gpu.lds_write_bytes_per_clock(), 128);
}

TEST(CdnaGpu, AgreesWithTheRatesOfItsTarget) {
  for (const cdna_gpu& gpu : cdna_gpus) {
    EXPECT_LE(gpu.loaded_clock_ghz, gpu.clock_ghz) << gpu.name;
    for (const gpu_facts& known : known_gpus) {
      if (std::string(known.name) != gpu.name) continue;
      EXPECT_STREQ(known.target, gpu.isa->name);
      EXPECT_EQ(known.compute_units, gpu.compute_units);
      EXPECT_EQ(known.clock_ghz, gpu.clock_ghz);
      EXPECT_EQ(known.tera_16bit, gpu.tera_16bit);
      EXPECT_EQ(known.tera_fp8, gpu.tera_8bit);
      EXPECT_EQ(known.memory_gigabytes_per_second, gpu.memory_gb_s);
      EXPECT_EQ(gpu.isa->num_dies, gpu.dies);
    }
  }
}

}  // namespace
}  // namespace tilewright::arch
