// SPDX-License-Identifier: MIT
// The program amdgcn-run: results, exit codes, and one sentence for input that makes no sense.
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <iterator>

#include "emulated_kernels.hpp"

namespace {
struct outcome {
  int status;
  std::string text;
};
outcome run(const std::string& arguments) {
  FILE* pipe = popen((TILEWRIGHT_AMDGCN_RUN " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}
template <class T>
std::string file_of(const char* name, const std::vector<T>& values) {
  const std::string path = testing::TempDir() + "amdgcn_run_" + name;
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return path;
}
std::vector<float> floats_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  std::vector<float> values(bytes.size() / 4);
  std::memcpy(values.data(), bytes.data(), values.size() * 4);
  return values;
}
}  // namespace

class AmdgcnRun : public testing::TestWithParam<const char*> {
 protected:
  AmdgcnRun() {
    for (int i = 0; i < 256; ++i) x_.push_back(float(i)), y_.push_back(1000);
  }
  std::vector<float> x_, y_;
  std::string out_ = testing::TempDir() + "amdgcn_run_out";
};

TEST_P(AmdgcnRun, RunsKernelsAndReports) {
  const std::string target = GetParam(), basic = path_of("basic", target), mistakes = path_of("mistakes", target);
  EXPECT_NE(run(basic + " --list").text.find("saxpy: "), std::string::npos);
  const outcome saxpy =
      run(basic + " --kernel saxpy --grid 2 --block 128 --arg buf:" + file_of("x", x_) +
          " --arg buf:" + file_of("y", y_) + " --arg out:" + out_ + ":1024 --arg i32:256 --arg f32:0.5");
  EXPECT_EQ(saxpy.status, 0) << saxpy.text;
  const std::vector<float> z = floats_in(out_);
  ASSERT_EQ(z.size(), 256u);
  EXPECT_EQ(z[255], 1127.5f);

  const outcome report = run(basic + " --kernel conflicts --grid 1 --block " + std::to_string(wave_size(target)) +
                             " --arg out:" + out_ + ":256 --arg i32:32 --lds-report --count");
  EXPECT_EQ(report.status, 0);
  EXPECT_NE(report.text.find("conflict cycles in all: "), std::string::npos) << report.text;
  EXPECT_EQ(report.text.find("conflict cycles in all: 0"), std::string::npos) << report.text;
  EXPECT_NE(report.text.find("per mnemonic"), std::string::npos) << report.text;

  const outcome race = run(mistakes + " --kernel no_barrier --grid 1 --block 256 --arg out:" + out_ + ":1024");
  EXPECT_EQ(race.status, 1);
  EXPECT_NE(race.text.find("read after write"), std::string::npos) << race.text;
  const outcome fault =
      run(mistakes + " --kernel out_of_bounds --grid 1 --block 64 --arg out:" + out_ + ":256 --arg i32:1");
  EXPECT_EQ(fault.status, 1);
  EXPECT_NE(fault.text.find("outside of all buffers"), std::string::npos) << fault.text;
}
INSTANTIATE_TEST_SUITE_P(Targets, AmdgcnRun, testing::Values("gfx942", "gfx1201"));

TEST(AmdgcnRunInput, RefusesBadInputInOneSentence) {
  const std::string basic = path_of("basic", "gfx942");
  for (const std::string& arguments :
       {std::string("/nonexistent.co --list"), basic + " --kernel nope --block 64", basic + " --frobnicate",
        basic + " --kernel saxpy --block 1x --arg i32:5", basic + " --kernel saxpy --block 64 --arg i32:5",
        basic + " --kernel transpose --block 1024 --arg null --arg null --arg i32:5",
        file_of("text", std::vector<char>(100, 'a')) + " --list"}) {
    const outcome refused = run(arguments);
    EXPECT_EQ(refused.status, 2) << arguments;
    EXPECT_EQ(std::count(refused.text.begin(), refused.text.end(), '\n'), 1) << refused.text;
  }
}

TEST(AmdgcnRunInput, PutsAddressesIntoStructs) {
  struct {
    void *x = nullptr, *y = nullptr, *z = nullptr;
    int n = 256;
    float a = 0.5f;
  } arguments;
  std::vector<char> bytes(sizeof arguments);
  std::memcpy(bytes.data(), &arguments, sizeof arguments);
  const std::string out = testing::TempDir() + "amdgcn_run_z";
  std::vector<float> x(256), y(256, 1000);
  for (int i = 0; i < 256; ++i) x[i] = float(i);
  const outcome result =
      run(path_of("basic", "gfx942") + " --kernel saxpy --grid 2 --block 128 --arg struct:" + file_of("args", bytes) +
          " --buffer x=" + file_of("x2", x) + " --buffer y=" + file_of("y2", y) + " --buffer z=" + out +
          ":1024 --ptr 0=x --ptr 8=y --ptr 16=z");
  EXPECT_EQ(result.status, 0) << result.text;
  EXPECT_EQ(floats_in(out).at(255), 1127.5f);
}
