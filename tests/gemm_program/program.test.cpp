// SPDX-License-Identifier: MIT
// The built gemm program: exit codes, what it prints where, and which files it leaves.
#include <algorithm>
#include <cstdlib>

#include <gtest/gtest.h>

#include <sys/wait.h>

#include "comparison.hpp"
#include "npy.hpp"
#include "random.hpp"
#include "scratch_folder.hpp"

namespace gemm_program {
namespace {

struct finished {
  int exit_code;
  std::string output, errors;
};

finished gemm(const scratch_folder& folder, const std::string& arguments, const char* standard_output = "stdout") {
  const std::string output = folder / "stdout", errors = folder / "stderr";
  const std::string command =
      "cd '" + (folder / "") + "' && '" GEMM_PROGRAM "' " + arguments + " >" + standard_output + " 2>stderr";
  const int status = std::system(command.c_str());
  finished result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_bytes(output), read_bytes(errors)};
  std::filesystem::remove(output);
  std::filesystem::remove(errors);
  return result;
}

void write_random(const std::string& name, std::int64_t rows, std::int64_t cols, element type, order storage) {
  matrix m{rows, cols, storage, type};
  fill_random(m, 9, static_cast<std::uint64_t>(rows * 1000 + cols));
  write_npy(name, m);
}

void expect_refusal(const finished& run, const std::string& what) {
  EXPECT_EQ(run.exit_code, 2) << what;
  EXPECT_EQ(run.output, "") << what;
  EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << what << ": " << run.errors;
  EXPECT_EQ(run.errors.substr(0, 6), "gemm: ") << what << ": " << run.errors;
  EXPECT_GT(run.errors.size(), 20u) << what << ": " << run.errors;
}

TEST(GemmProgram, RefusalsAreOneLineAndLeaveNoFile) {  // tests/tools/wrong_inputs.md has more
  const scratch_folder folder;
  for (const char* arguments : {"--policy gemm_64x64 --layout rcr --dtype bf16", "--dtype fp8 --arch gfx90a",
                                "--dtype f32 --arch sm_90", "--grid-order hilbert --layout rrr", "--b 'two\nlines'"})
    expect_refusal(gemm(folder, std::string("--out result.npy ") + arguments), arguments);
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(GemmProgram, AGpuIsUsedOrMissed) {
  const scratch_folder folder;
  const finished run = gemm(folder, "--device gpu --m 32 --n 32 --k 32");
  if (run.exit_code != 0) expect_refusal(run, "--device gpu");
}

TEST(GemmProgram, HelpIsNoError) {
  const scratch_folder folder;
  const finished run = gemm(folder, "--help");
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.output.find("--layout"), std::string::npos);
  EXPECT_EQ(run.errors, "");
}

TEST(GemmProgram, AFullOutputIsRefused) {
  const scratch_folder folder;
  const finished run = gemm(folder, "--m 8 --n 8 --k 8 --out result.npy", "/dev/full");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.errors, "gemm: standard output cannot be written\n");
  EXPECT_EQ(folder.file_count(), 0);
}

TEST(GemmProgram, MultipliesFiles) {
  const scratch_folder folder;
  for (const element type : {element::f16, element::bf16}) {
    write_random(folder / "a.npy", 19, 37, type, order::col_major);
    write_random(folder / "b.npy", 37, 23, type, order::row_major);
    write_random(folder / "c.npy", 19, 23, type, order::col_major);
    const finished run = gemm(folder, "--a a.npy --b b.npy --c c.npy --alpha 0.5 --beta -2 --out result.npy");
    EXPECT_EQ(run.exit_code, 0) << run.errors;
    EXPECT_NE(run.output.find("correct"), std::string::npos) << run.output;

    const auto read = [&](const char* name) { return npy_reader(folder / name).read(type); };
    inputs data;
    data.what = {19, 23, 37, type, type, order::col_major, order::row_major, order::col_major, 0.5f, -2};
    data.a = read("a.npy");
    data.b = read("b.npy");
    data.c = read("result.npy");
    EXPECT_EQ(data.c.storage, order::col_major);
    EXPECT_TRUE(is_correct(compare_with_reference(data, read("c.npy")), type));
    EXPECT_EQ(folder.file_count(), 4);
  }
}

TEST(GemmProgram, AWrongResultIsNotWritten) {
  const scratch_folder folder;
  // 2^40 + 128 - 2^40 is 128, but f32 forgets the 128 on the way.
  matrix a{1, 130, order::row_major, element::bf16}, b{130, 1, order::row_major, element::bf16};
  for (std::int64_t i = 0; i < 130; ++i) {
    a.set_bits_at(i, bits_of(element::bf16, i == 0 ? 0x1p20 : i == 129 ? -0x1p20 : 1));
    b.set_bits_at(i, bits_of(element::bf16, i == 0 || i == 129 ? 0x1p20 : 1));
  }
  write_npy(folder / "a.npy", a);
  write_npy(folder / "b.npy", b);
  const finished run = gemm(folder, "--a a.npy --b b.npy --out result.npy");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("WRONG"), std::string::npos) << run.output;
  EXPECT_NE(run.errors.find("gemm: the result is wrong"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("instead of 128\n"), std::string::npos) << run.errors;
  EXPECT_EQ(folder.file_count(), 2);

  EXPECT_EQ(gemm(folder, "--a a.npy --b b.npy --out result.npy --no-verify").exit_code, 0);
  EXPECT_EQ(folder.file_count(), 3);
}

TEST(GemmProgram, AResultBeyondTheRangeOfItsTypeIsInfinite) {
  const scratch_folder folder;
  matrix large{1, 1};
  large.set_bits_at(0, bits_of(element::f16, 300));  // its square is beyond the range of f16
  write_npy(folder / "m.npy", large);
  const finished run = gemm(folder, "--a m.npy --b m.npy --out result.npy");
  EXPECT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(npy_reader(folder / "result.npy").read(element::f16).bits_at(0), 0x7c00u);
}

TEST(GemmProgram, EveryLayoutGivesTheSameProduct) {
  const scratch_folder folder;
  for (const char* a : {"r", "c"})
    for (const char* b : {"r", "c"})
      for (const char* c : {"r", "c"}) {
        const std::string layout = std::string(a) + b + c;
        const finished run = gemm(folder, "--m 33 --n 50 --k 70 --beta 1 --json --repeat 2 --layout " + layout);
        EXPECT_EQ(run.exit_code, 0) << layout << ": " << run.errors;
        EXPECT_NE(run.output.find("\"layout\": \"" + layout + "\""), std::string::npos) << run.output;
        EXPECT_NE(run.output.find("\"correct\": true"), std::string::npos) << run.output;
      }
}

/// ./dev test has the kernels of three targets, ./dev night those of all.
bool is_built(const std::string& arguments) {
#if !defined(GEMM_FEW_TARGETS)
  return true;  // without the kernels its products fail
#endif
  const std::size_t arch = arguments.find("--arch ");
  if (arch == std::string::npos) return true;
  const std::string name = arguments.substr(arch + 7, arguments.find(' ', arch + 7) - arch - 7);
  return std::filesystem::exists(std::filesystem::path(GEMM_PROGRAM).parent_path() / ("libgemm_" + name + ".so"));
}

/// The kernel that an accepted run names; a wrong result is a failure.
std::string kernel_of(const scratch_folder& folder, const std::string& arguments) {
  const finished run = gemm(folder, arguments);
  EXPECT_EQ(run.exit_code, 0) << arguments << ": " << run.errors << run.output;
  EXPECT_NE(run.output.find(": correct"), std::string::npos) << arguments << ": " << run.output;
  const std::size_t begin = run.output.find("kernel    ") + 10;
  return run.output.substr(begin, run.output.find('\n', begin) - begin);
}

/// Lengths that are whole vectors, but for what the arguments say.
std::string sizes_beside(const std::string& arguments) {
  std::string sizes;
  for (const char* size : {"--m 48", "--n 80", "--k 96"})
    if (arguments.find(std::string(size).substr(0, 4)) == std::string::npos) sizes += std::string(" ") + size;
  return sizes;
}

TEST(GemmProgram, EveryTypeOfEveryTargetIsMultiplied) {
  const scratch_folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"--arch gfx942 --dtype fp8", "gemm_128x128_e4m3fnuz_ak_bk_v16_to_f32"},
      {"--arch gfx942 --dtype bf8 --layout rcc --m 77", "gemm_128x128_e5m2fnuz_ak_bk_v1_to_f32"},
      {"--arch gfx950 --dtype fp8 --beta 1", "gemm_128x128_e4m3_ak_bk_v16_to_f32"},
      {"--arch gfx1201 --dtype bf8 --alpha 2", "gemm_128x128_e5m2_ak_bk_v16_to_f32"},
      {"--arch gfx942 --dtype int8 --alpha -3 --beta 2", "gemm_128x128_int8_ak_bk_v16_to_int32"},
      {"--arch gfx1201 --dtype int8 --m 33 --n 17", "gemm_128x128_int8_ak_bk_v1_to_int32"},
      {"--arch gfx1100 --dtype int8 --m 33 --n 17", "gemm_128x128_int8_ak_bk_v1_to_int32"},
      {"--arch gfx942 --dtype f32", "gemm_128x128_f32_ak_bk_v4_to_f32"},
      {"--arch gfx90a --dtype f32 --m 31 --layout rcc", "gemm_128x128_f32_ak_bk_v1_to_f32"},
      {"--arch gfx942 --dtype f32 --m 31 --layout rcc", "gemm_128x128_f32_ak_bk_v1_to_f32"},
      {"--arch sm_80 --dtype bf16", "gemm_128x128_bf16_ak_bn_v8_to_bf16"},
      {"--arch sm_90 --dtype bf16", "gemm_128x128_bf16_ak_bn_v8_to_bf16"},
      {"--arch sm_90 --k 33", "gemm_128x128_f16_ak_bn_v1_to_f16"},
      {"--arch gfx942 --out-dtype f32 --layout rcr", "_f16_ak_bk_v8_to_f32"},
      {"--arch gfx1100 --dtype bf16 --out-dtype f32 --layout rcr --beta -1", "gemm_128x128_bf16_ak_bk_v8_to_f32"},
      {"--arch gfx942 --dtype int8 --out-dtype f16 --alpha 0.001", "gemm_128x128_int8_ak_bk_v16_to_f16_epilogue"},
      {"--arch gfx1201 --dtype bf16 --out-dtype f32 --layout rcr --beta -1", "gemm_128x128_bf16_ak_bk_v8_to_f32"},
      {"--arch gfx1201 --dtype fp8 --out-dtype bf16", "gemm_128x128_e4m3_ak_bk_v16_to_bf16_epilogue"},
  };
  for (const auto& [arguments, kernel] : cases)
    if (is_built(arguments))
      EXPECT_NE(kernel_of(folder, std::string(arguments) + sizes_beside(arguments)).find(kernel), std::string::npos)
          << arguments;
}

TEST(GemmProgram, EpiloguesAreApplied) {
  const scratch_folder folder;
  const std::string usual = "--m 72 --n 144 --k 80 --layout rcr ";
  for (const char* part :
       {"--scale 0.5", "--row-scale", "--column-scale", "--bias", "--activation relu", "--activation gelu --dtype bf16",
        "--activation silu --arch gfx1201", "--residual --beta 1", "--bias --activation relu --arch sm_90",
        "--scale 2 --row-scale --column-scale --bias --activation gelu --residual --batch 2 --beta 0.5",
        "--dtype int8 --out-dtype f16 --scale 1e-3 --row-scale --column-scale --bias --activation silu",
        "--dtype fp8 --out-dtype bf16 --column-scale --residual"})
    EXPECT_NE(kernel_of(folder, usual + part).find("_epilogue"), std::string::npos) << part;
  // Where the layout is left open, it is one that has epilogues; else the refusal names those that have.
  EXPECT_NE(kernel_of(folder, "--m 72 --n 144 --k 80 --bias").find("_epilogue"), std::string::npos);
  EXPECT_NE(gemm(folder, "--bias --layout rrr").errors.find("--layout rcr or rcc"), std::string::npos);
  // C by columns is the transposed product: scales and the residual change places with it.
  kernel_of(folder, "--m 72 --n 136 --k 80 --layout rcc --row-scale --residual --activation relu");
  kernel_of(folder, "--m 72 --n 136 --k 80 --layout rcc --column-scale");
}

TEST(GemmProgram, PartsOfKAreAddedUp) {
  const scratch_folder folder;
  const std::string usual = "--m 40 --n 72 --k 392 --layout ";
  for (const char* more :
       {"rcr --split-k 3", "rcr --split-k 2 --arch sm_90 --batch 2", "rcr --split-k 4 --dtype bf16 --arch gfx1201",
        "rcr --split-k 3 --beta 2 --bias --activation relu --residual", "rcc --split-k 2 --row-scale"})
    EXPECT_NE(kernel_of(folder, usual + more).find("_split_k"), std::string::npos) << more;
  // On gfx942 the last block of a tile adds up, as in a kernel that is compiled for the problem.
  EXPECT_NE(kernel_of(folder, usual + "rcr --split-k 3").find("_split_k_fix_up"), std::string::npos);
  EXPECT_EQ(kernel_of(folder, usual + "rcr --split-k 3 --arch gfx1201").find("_fix_up"), std::string::npos);
}

TEST(GemmProgram, ABatchIsMultiplied) {
  const scratch_folder folder;
  kernel_of(folder, "--m 33 --n 50 --k 70 --batch 3 --layout crc --beta 1");
  matrix m{24, 24, order::row_major, element::f16, 3};
  fill_random(m, 1, 2);
  write_npy(folder / "m.npy", m);
  kernel_of(folder, "--a m.npy --b m.npy --out result.npy");
  EXPECT_EQ(npy_reader(folder / "result.npy").header().batch, 3);
}

TEST(GemmProgram, GapsBetweenRowsAreKept) {
  const scratch_folder folder;
  kernel_of(folder, "--m 33 --n 50 --k 70 --gap 3 --layout crc --beta 1 --batch 2");
  kernel_of(folder, "--m 40 --n 72 --k 48 --gap 8 --layout rcr --residual --split-k 1");
  kernel_of(folder, "--m 40 --n 72 --k 128 --gap 16 --layout rcc --split-k 2");
  write_random(folder / "a.npy", 24, 24, element::f16, order::row_major);
  kernel_of(folder, "--a a.npy --b a.npy --gap 5 --out gap.npy");
  kernel_of(folder, "--a a.npy --b a.npy --out dense.npy");
  EXPECT_EQ(read_bytes(folder / "gap.npy"), read_bytes(folder / "dense.npy"));
}

TEST(GemmProgram, FilesOfEightBitsAreMultiplied) {
  const scratch_folder folder;
  for (const auto& [dtype, type] :
       {std::pair{"fp8", element::e4m3fnuz}, {"bf8", element::e5m2fnuz}, {"int8", element::i8}}) {
    write_random(folder / "a.npy", 32, 64, type, order::row_major);
    write_random(folder / "b.npy", 64, 48, type, order::col_major);
    kernel_of(folder, std::string("--a a.npy --b b.npy --out result.npy --dtype ") + dtype);
    const npy_scalar result = type == element::i8 ? npy_scalar::i32 : npy_scalar::f32;
    EXPECT_EQ(npy_reader(folder / "result.npy").header().scalar, result);
    // float32 is rounded to the requested type
    write_random(folder / "a.npy", 32, 64, type == element::i8 ? element::i8 : element::f32, order::row_major);
    kernel_of(folder, std::string("--a a.npy --b b.npy --dtype ") + dtype);
  }
}

TEST(GemmProgram, PoliciesAndOrdersAreThoseAskedFor) {
  const scratch_folder folder;
  const std::string usual = "--m 192 --n 320 --k 72 --layout rcr ";
  for (const auto& [arch, policies] :
       {std::pair<const char*, std::vector<const char*>>{"gfx942",
                                                         {"gemm_256x256", "gemm_ping_pong", "gemm_one_wave",
                                                          "gemm_128x128", "gemm_128x64", "gemm_64x64", "gemm_16x64"}},
        {"gfx1201", {"gemm_128x64", "gemm_64x64"}},
        {"sm_90", {"gemm_128x128", "gemm_64x64"}}})
    for (const char* policy : policies)
      EXPECT_EQ(kernel_of(folder, usual + "--arch " + arch + " --policy " + policy),
                std::string(policy) + "_f16_ak_bk_v8_to_f16");
  for (const char* arch : {"gfx942", "gfx1201", "sm_90"})  // the default one, where vectors do not fit
    EXPECT_EQ(kernel_of(folder, std::string("--m 9 --n 9 --k 9 --layout rcr --policy gemm_128x128 --arch ") + arch),
              "gemm_128x128_f16_ak_bk_v1_to_f16");
  EXPECT_EQ(kernel_of(folder, usual + "--grid-order rows"), "gemm_128x128_f16_ak_bk_v8_to_f16_by_rows");
  EXPECT_EQ(kernel_of(folder, usual + "--grid-order hilbert"), "gemm_128x128_f16_ak_bk_v8_to_f16_by_hilbert");
  EXPECT_NE(gemm(folder, usual + "--policy none").errors.find("there are gemm_128x128"), std::string::npos);
}

TEST(GemmProgram, TheModelChoosesThePolicy) {
  const scratch_folder folder;
  const std::string small = "--m 64 --n 64 --k 64 --layout rcr ";
  EXPECT_EQ(kernel_of(folder, small + "--arch gfx942"), "gemm_16x64_f16_ak_bk_v8_to_f16");
  EXPECT_EQ(kernel_of(folder, small + "--arch sm_90"), "gemm_64x64_f16_ak_bk_v8_to_f16");
  EXPECT_NE(gemm(folder, small).output.find("chosen    the shortest predicted time of gemm_128x128, "),
            std::string::npos);
}

}  // namespace
}  // namespace gemm_program
