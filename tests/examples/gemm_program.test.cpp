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

namespace gemm_example {
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
  matrix m{rows, cols, storage, std::vector<std::uint16_t>(static_cast<std::size_t>(rows * cols))};
  fill_random(m, type, 9, static_cast<std::uint64_t>(rows * 1000 + cols));
  write_npy(name, m, type);
}

void expect_refusal(const finished& run, const std::string& what) {
  EXPECT_EQ(run.exit_code, 2) << what;
  EXPECT_EQ(run.output, "") << what;
  EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << what << ": " << run.errors;
  EXPECT_EQ(run.errors.substr(0, 6), "gemm: ") << what << ": " << run.errors;
  EXPECT_GT(run.errors.size(), 20u) << what << ": " << run.errors;
}

TEST(GemmProgram, RefusalsAreOneLineAndLeaveNoFile) {
  const scratch_folder folder;
  write_random(folder / "a.npy", 8, 16, element::f16, order::row_major);
  write_random(folder / "b.npy", 17, 8, element::f16, order::row_major);
  write_random(folder / "bf.npy", 16, 8, element::bf16, order::row_major);
  write_bytes(folder / "cut.npy", read_bytes(folder / "a.npy").substr(0, 200));
  write_bytes(folder / "text.npy", "1 2 3\n");
  const std::ptrdiff_t files = folder.file_count();
  for (const char* arguments : {"--m 0",
                                "--m -1",
                                "--n x",
                                "--dtype f64",
                                "--layout abc",
                                "--arch gfx000",
                                "--device moon",
                                "--colour",
                                "--repeat 0",
                                "--alpha inf",
                                "--m 100000000 --n 100000000",
                                "--m 9223372036854775807",
                                "--a none.npy",
                                "--a text.npy",
                                "--a cut.npy",
                                "--a .",
                                "--a a.npy --b b.npy",
                                "--a a.npy --b bf.npy",
                                "--a a.npy --m 9",
                                "--a a.npy --layout crr",
                                "--a a.npy --dtype bf16",
                                "--c a.npy",
                                "--b 'two\nlines'"})
    expect_refusal(gemm(folder, std::string("--out result.npy ") + arguments), arguments);
  for (const char* out :
       {"--out missing/result.npy", "--out .", "--out ''", "--out /dev/null", "--out a.npy/result.npy"})
    expect_refusal(gemm(folder, std::string("--m 8 --n 8 --k 8 ") + out), out);
  EXPECT_EQ(folder.file_count(), files);
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
  EXPECT_EQ(run.errors, "gemm: cannot write the report\n");
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

    const problem p{19, 23, 37, type, order::col_major, order::row_major, order::col_major, 0.5f, -2};
    const auto read = [&](const char* name) { return npy_reader(folder / name).read(type); };
    const matrix result = read("result.npy");
    EXPECT_EQ(result.storage, order::col_major);
    EXPECT_TRUE(is_correct(compare_with_reference(p, read("a.npy"), read("b.npy"), read("c.npy"), result), type));
    EXPECT_EQ(folder.file_count(), 4);
  }
}

TEST(GemmProgram, AWrongResultIsNotWritten) {
  const scratch_folder folder;
  const matrix large{1, 1, order::row_major, {bits_of(element::f16, 300)}};  // its square is beyond the range of f16
  write_npy(folder / "m.npy", large, element::f16);
  const finished run = gemm(folder, "--a m.npy --b m.npy --out result.npy");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.output.find("WRONG"), std::string::npos) << run.output;
  EXPECT_NE(run.errors.find("gemm: the result is wrong"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("instead of 90000\n"), std::string::npos) << run.errors;
  EXPECT_EQ(folder.file_count(), 1);

  EXPECT_EQ(gemm(folder, "--a m.npy --b m.npy --out result.npy --no-verify").exit_code, 0);
  EXPECT_EQ(folder.file_count(), 2);
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

}  // namespace
}  // namespace gemm_example
