// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "program/available_memory.hpp"
#include "scratch_folder.hpp"

namespace {

namespace fs = std::filesystem;
using gemm_program::scratch_folder, program::available_memory;

constexpr std::int64_t unknown = std::numeric_limits<std::int64_t>::max();

#if defined(__SANITIZE_ADDRESS__)
constexpr bool reserves_terabytes = true;
#elif defined(__has_feature)
constexpr bool reserves_terabytes = __has_feature(address_sanitizer);
#else
constexpr bool reserves_terabytes = false;
#endif

/// A folder with files as in /proc and /sys.
struct machine {
  void has(const std::string& path, const std::string& text) const {
    const fs::path file = fs::path(folder / "") / path;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::int64_t available() const { return available_memory(fs::path(folder / "")); }
  scratch_folder folder;
};

TEST(AvailableMemory, IsThatOfTheMachine) {
  const machine m;
  EXPECT_EQ(m.available(), unknown);
  m.has("proc/meminfo", "MemTotal:       24684092 kB\nMemFree:  100 kB\nMemAvailable:    1000 kB\nBuffers: 7 kB\n");
  EXPECT_EQ(m.available(), 1000 * 1024);
}

TEST(AvailableMemory, IsWhatCgroupsLeave) {
  const machine m;
  m.has("proc/meminfo", "MemAvailable:    1000 kB\n");
  m.has("proc/self/cgroup", "1:cpu:/\n0::/outer/inner\n");
  m.has("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  m.has("sys/fs/cgroup/outer/inner/memory.current", "100\n");
  EXPECT_EQ(m.available(), 1000 * 1024);
  m.has("sys/fs/cgroup/outer/memory.max", "90000\n");
  m.has("sys/fs/cgroup/outer/memory.current", "50000\n");
  EXPECT_EQ(m.available(), 40000);
  m.has("sys/fs/cgroup/outer/memory.stat", "anon 29000\nactive_file 20000\nshmem 5\ninactive_file 1000\n");
  EXPECT_EQ(m.available(), 61000);
  m.has("sys/fs/cgroup/outer/inner/memory.max", "150\n");
  EXPECT_EQ(m.available(), 50);
  m.has("sys/fs/cgroup/outer/inner/memory.current", "200\n");
  EXPECT_EQ(m.available(), 0) << "the limit was lowered";
}

TEST(AvailableMemory, IsWhatCgroupsOfVersion1Leave) {
  const machine m;
  m.has("proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/not/visible\n");
  m.has("sys/fs/cgroup/memory/memory.limit_in_bytes", "9000\n");  // a container's, at its root
  m.has("sys/fs/cgroup/memory/memory.usage_in_bytes", "5000\n");
  m.has("sys/fs/cgroup/memory/memory.stat", "inactive_file 1\ntotal_inactive_file 200\ntotal_active_file 300\n");
  EXPECT_EQ(m.available(), 4500);
}

std::string output_of(const std::string& arguments) {
  const scratch_folder folder;
  const std::string said = folder / "said";
  const std::string command = arguments + " > '" + said + "' 2>&1; echo \"exit code $?\" >> '" + said + "'";
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::string text;
  std::getline(std::ifstream(said), text, '\0');
  return text;
}

TEST(GemmProgram, RefusesMatricesBeyondItsAddressSpace) {
  if (reserves_terabytes) GTEST_SKIP() << "AddressSanitizer needs more address space than there is memory";
  // The program takes some 200 MiB itself; C takes 1800.
  const std::string limited = "ulimit -v 1500000; '" GEMM_PROGRAM "' --m 30720 --n 30720 --k 10 --no-verify";
  const std::string said = output_of(limited);
  EXPECT_TRUE(
      said.starts_with("gemm: matrices of m = 30720, n = 30720, k = 10 take 1.8 GiB, and this process can have "))
      << said;
  EXPECT_TRUE(said.ends_with(" GiB of memory\nexit code 2\n")) << said;
}

}  // namespace
