// SPDX-License-Identifier: MIT
// tilewright-check: each planted mistake is found at its line, correct kernels have no findings, and what the options
// say.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace {
struct outcome {
  int status;
  std::string text;
};
outcome run(const std::string& arguments) {
  FILE* pipe = popen((TILEWRIGHT_CHECK " " + arguments + " 2>&1").c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}
outcome check(const std::string& kernel, const std::string& options = "") {
  return run("--limit 2000000 " + options + " " TILEWRIGHT_PLANTED " " + kernel);
}
std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

void write_program(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}
struct mistake {
  std::string kernel, kind;
  int line;
};
/// From the comments of the planted program.
std::vector<mistake> mistakes() {
  std::vector<mistake> all;
  std::ifstream source(TILEWRIGHT_PLANTED_SOURCE);
  int number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    const auto at = line.find("// MISTAKE ");
    if (at == line.npos) continue;
    std::istringstream words(line.substr(at + 11));
    mistake m{"", "", number};
    words >> m.kernel >> m.kind;
    all.push_back(m);
  }
  return all;
}
}  // namespace

TEST(Check, FindsEachMistakeAtItsLine) {
  const std::vector<mistake> all = mistakes();
  ASSERT_GE(all.size(), 28u);
  for (const mistake& m : all) {
    const outcome o = check(m.kernel);
    EXPECT_EQ(o.status, 1) << m.kernel << ":\n" << o.text;
    const std::string at = "planted.hip:" + std::to_string(m.line) + " in ";
    bool named = false;
    std::istringstream lines(o.text);
    for (std::string line, kind; std::getline(lines, line);) {  // the kind, then the frames of the instruction
      if (line.starts_with("tilewright-check: ")) kind = line.substr(18, line.find(':', 18) - 18);
      named |= kind == m.kind && line.starts_with("    ") && has(line, at);
    }
    EXPECT_TRUE(named) << m.kernel << " at line " << m.line << ":\n" << o.text;
  }
}
TEST(Check, HasNoFindingsInCorrectKernels) {
  for (const char* kernel :
       {"clean_reduction", "clean_early_exit", "clean_copies", "clean_bytes", "clean_shuffle", "clean_same_value"}) {
    const outcome o = check(kernel);
    EXPECT_EQ(o.status, 0) << kernel << ":\n" << o.text;
    EXPECT_TRUE(has(o.text, "tilewright-check: 0 findings\n")) << o.text;
  }
  EXPECT_TRUE(has(check("clean_reduction").text, "sum 23385\n"));
}
TEST(Check, OrdersOfWavesChangeNothingInCorrectKernels) {
  for (const char* order : {"reverse", "random:3"})
    EXPECT_EQ(check("clean_reduction", std::string("--wave-order ") + order).status, 0) << order;
}
TEST(Check, FindsMistakesOfTheHost) {
  const struct {
    const char *name, *says;
  } all[] = {{"copy_too_long", "hipMemcpy: 2004 bytes do not fit into the destination"},
             {"copy_back_too_long", "hipMemcpy: 2004 bytes do not fit into the source"},
             {"set_too_long", "hipMemset: 8 bytes do not fit into the destination"},
             {"double_free", "hipFree: the pointer is not the start of a buffer"},
             {"block_too_large", "128 threads in a workgroup, 2048 were asked for"}};
  for (const auto& [name, says] : all) {
    const outcome o = check(name);
    EXPECT_EQ(o.status, 1) << name << ":\n" << o.text;
    EXPECT_TRUE(has(o.text, says)) << name << ":\n" << o.text;
  }
}
TEST(Check, WeakFindingsCountWhenStrict) {
  for (const char* name : {"never_freed", "copy_of_nothing"}) {
    EXPECT_EQ(check(name).status, 0) << name;
    EXPECT_EQ(check(name, "--strict").status, 1) << name;
  }
  EXPECT_TRUE(has(check("never_freed", "--strict").text, "64 bytes are never freed: hipMalloc #6"));
}
TEST(Check, NamesBufferThreadAndOtherAccess) {
  const std::string bounds = check("store_far_away").text;
  EXPECT_TRUE(has(bounds, "2308 bytes after the end of buffer hipMalloc #1") || has(bounds, "buffer hipMalloc #"))
      << bounds;
  EXPECT_TRUE(has(bounds, "workgroup (0,0,0), thread (77,0,0), wave 1, lane 13")) << bounds;
  const std::string freed = check("freed_buffer").text;
  EXPECT_TRUE(has(freed, "offset 0 of freed buffer hipMalloc #3")) << freed;
  const std::string race = check("read_before_barrier").text;
  EXPECT_TRUE(has(race, "the earlier access:")) << race;
  const std::string value = check("uninitialised_global").text;
  EXPECT_TRUE(has(value, "the load of the uninitialised value:")) << value;
}
TEST(Check, SuppressionsHideFindings) {
  const std::string file = testing::TempDir() + "check_suppressions";
  std::ofstream(file) << "# a comment\nlds-race write_* *\nglobal-race * planted.hip:*\n";
  EXPECT_EQ(check("write_before_barrier", "--suppress " + file).status, 0);
  EXPECT_TRUE(has(check("write_before_barrier", "--suppress " + file).text, "suppressed"));
  EXPECT_EQ(check("blocks_write_one_element", "--suppress " + file).status, 0);
  EXPECT_EQ(check("all_waves_write", "--suppress " + file).status, 1);
}
TEST(Check, ChecksCanBeSwitchedOff) {
  EXPECT_EQ(check("blocks_write_one_element", "--off global-race").status, 0);
  EXPECT_EQ(check("uninitialised_global", "--off lds-race,uninitialised").status, 0);
  EXPECT_EQ(check("uninitialised_global", "--off lds-race").status, 1);
}
TEST(Check, WritesJsonAndSarif) {
  const std::string json = testing::TempDir() + "check.json", sarif = testing::TempDir() + "check.sarif";
  EXPECT_EQ(check("store_after_end", "--json " + json + " --sarif " + sarif).status, 1);
  EXPECT_TRUE(has(read(json), "{\"kind\":\"out-of-bounds\",\"weak\":false,\"count\":12,")) << read(json);
  EXPECT_TRUE(has(read(sarif), "\"ruleId\":\"out-of-bounds\",\"level\":\"error\"")) << read(sarif);
  EXPECT_TRUE(has(read(sarif), "\"startLine\":")) << read(sarif);
}
TEST(Check, ThreadsChangeNoFinding) {
  const std::string file = testing::TempDir() + "check_threads.json";
  const std::regex addresses("0x[0-9a-f]{8,}|\"address\":[0-9]+|[0-9]+ bytes (before|after the end of)");
  const auto report = [&](const std::string& kernel, const std::string& options) {
    std::ofstream{file};  // no report of an earlier run
    check(kernel, options + " --json " + file);
    return std::regex_replace(read(file), addresses, "N");
  };
  for (const std::string gpu : {"gfx942", "gfx1201"})
    for (const std::string kernel :
         {"store_after_end", "lds_after_end", "write_before_barrier", "uninitialised_lds", "uninitialised_branch",
          "inactive_shuffle", "barrier_in_branch", "clean_reduction"}) {
      // A shuffle from lane 16 to 31 is no mistake in waves of 32.
      const bool mistake = kernel != "clean_reduction" && !(kernel == "inactive_shuffle" && gpu == "gfx1201");
      const std::string one = report(kernel, "--gpu " + gpu + " --threads 1");
      EXPECT_EQ(one, report(kernel, "--gpu " + gpu + " --threads 4")) << gpu << " " << kernel;
      EXPECT_TRUE(has(one, "\"findings\"")) << gpu << " " << kernel << ": " << one;
      EXPECT_EQ(has(one, "\"kind\""), mistake) << gpu << " " << kernel << ": " << one;
    }
}
TEST(Check, ReportsBankConflictsByLine) {
  const std::string text = check("bank_conflicts", "--banks").text;
  std::istringstream lines(text);
  bool found = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    unsigned long long executions = 0, clocks = 0, ideal = 0, worst = 0;
    if (!(words >> executions >> clocks >> ideal >> worst) || !has(line, "load  ")) continue;
    EXPECT_EQ(clocks, 32 * ideal) << text;
    EXPECT_EQ(worst, 32u) << text;
    found = true;
  }
  EXPECT_TRUE(found) << text;
  EXPECT_TRUE(has(text, "pad rows of 128 bytes to 132 bytes") && has(text, "removes all conflicts of this array"))
      << text;
}
TEST(Check, RunsGraphsSymbolsAndCompiledKernels) {
  for (const char* name : {"captured_streams", "explicit_nodes", "symbols_and_memory", "compiled_at_run_time"}) {
    const outcome o = run(TILEWRIGHT_RUNTIME " " + std::string(name));
    EXPECT_EQ(o.status, 0) << name << ":\n" << o.text;
  }
  const outcome o = run(TILEWRIGHT_RUNTIME " mistake_in_graph");
  EXPECT_EQ(o.status, 1) << o.text;
  EXPECT_TRUE(has(o.text, "out-of-bounds") && has(o.text, "runtime.hip:21 in add")) << o.text;
}
TEST(Check, RunsBarriersOfTheGrid) {
  for (const char* threads : {"--threads 1 ", "--threads 3 "})
    for (const char* name : {"grid_barrier_of_one_wave", "grid_barrier_of_all_waves"}) {
      const outcome o = run(threads + std::string(TILEWRIGHT_RUNTIME " ") + name);
      EXPECT_EQ(o.status, 0) << threads << name << ":\n" << o.text;
    }
  const struct {
    const char *name, *kind, *what;
  } mistakes[] = {
      {"no_grid_barrier", "global-race", " in next_block"},
      {"grid_barrier_without_a_workgroup", "divergent-barrier",
       "waits for 1 more arrivals, and every workgroup has ended or waits (ended: 1, not started: 0)"},
      {"grid_barrier_not_cooperative", "stuck", "a barrier of the grid in a launch that is not cooperative"}};
  for (const auto& m : mistakes) {
    const outcome o = run(TILEWRIGHT_RUNTIME " " + std::string(m.name));
    EXPECT_EQ(o.status, 1) << m.name << ":\n" << o.text;
    EXPECT_TRUE(has(o.text, m.kind) && has(o.text, m.what)) << m.name << ":\n" << o.text;
  }
}
TEST(Check, RunsCompressedKernels) {
  ASSERT_TRUE(has(read(TILEWRIGHT_COMPRESSED), "CCOB"));
  const outcome o = run(TILEWRIGHT_COMPRESSED " explicit_nodes");
  EXPECT_EQ(o.status, 0) << o.text;
}
TEST(Check, ServesTheLibraryNamesOfRocm5To7) {
  const std::string name = "libamdhip64.so.", program = read(TILEWRIGHT_RUNTIME);
  const auto at = program.find(name);
  ASSERT_NE(at, program.npos);
  for (const char version : {'5', '6', '7'}) {
    std::string renamed = program;
    renamed[at + name.size()] = version;
    const std::string path = testing::TempDir() + "check_rocm" + version;
    write_program(path, renamed);
    const outcome o = run(path + " explicit_nodes");
    EXPECT_EQ(o.status, 0) << path << ":\n" << o.text;
  }
}
// The commands of docs/check.md's workflow, in a repository whose kernel writes after the end of a buffer. The compiler
// is told what HIP of other versions than its own leaves out, and to do without a device library.
TEST(Check, RunsTheWorkflowOfThePage) {
  namespace fs = std::filesystem;
  const fs::path repository = testing::TempDir() + "check_workflow";
  for (const char* folder : {"bin", "tests", ".github"}) fs::create_directories(repository / folder);
  write_program(repository / "bin/clang++-22",
                "#!/bin/sh\nexec " TILEWRIGHT_COMPILER " -nogpulib -D__AMDGCN_WAVEFRONT_SIZE=64 \"$@\"\n");
  write_program(repository / "bin/tilewright-check", "#!/bin/sh\nexec " TILEWRIGHT_CHECK " \"$@\"\n");
  std::ofstream(repository / "tests/kernels.hip") << R"(#include <hip/hip_runtime.h>
__global__ void set(int* x) { x[__builtin_amdgcn_workitem_id_x()] = 1; }
int main() {
  int* x;
  if (hipMalloc(reinterpret_cast<void**>(&x), 63 * sizeof(int)) != hipSuccess) return 3;
  set<<<1, 64>>>(x);
  return hipFree(x) != hipSuccess;
})";
  std::ofstream(repository / ".github/kernels.txt") << "# none\n";
  std::vector<std::string> commands;
  std::istringstream page(read(TILEWRIGHT_CHECK_PAGE));
  for (std::string line; std::getline(page, line);)
    if (const auto at = line.find("- run: "); at != line.npos) commands.push_back(line.substr(at + 7));
  ASSERT_EQ(commands.size(), 2u);
  const auto status = [&](const std::string& command) {
    const std::string in = "cd " + repository.string() + " && PATH=$PWD/bin:$PATH && ";
    return WEXITSTATUS(std::system((in + command + " > log 2>&1").c_str()));
  };
  EXPECT_EQ(status(commands[0]), 0) << read(repository / "log");
  EXPECT_EQ(status(commands[1]), 1) << read(repository / "log");
  const std::string sarif = read(repository / "findings.sarif");
  EXPECT_TRUE(has(sarif, "\"ruleId\":\"out-of-bounds\"") && has(sarif, "tests/kernels.hip")) << sarif;
  std::ofstream(repository / ".github/kernels.txt") << "out-of-bounds set*\n";
  EXPECT_EQ(status(commands[1]), 0) << read(repository / "log");
}
TEST(Check, SaysWhatItCannotRun) {
  const outcome texture = check("texture");
  EXPECT_EQ(texture.status, 2);
  EXPECT_TRUE(has(texture.text, "cannot run: the program calls hipMallocArray, which is not supported"))
      << texture.text;
  const outcome gpu = check("clean_shuffle", "--gpu gfx1100");
  EXPECT_EQ(gpu.status, 2);
  EXPECT_TRUE(has(gpu.text, "the program has no kernels for gfx1100, but for: gfx1201 gfx942")) << gpu.text;
  const outcome shell = run("/bin/true");
  EXPECT_EQ(shell.status, 0) << shell.text;  // loads the runtime and uses nothing of it
  EXPECT_EQ(run("/does/not/exist").status, 2);
  EXPECT_EQ(run("").status, 2);
  EXPECT_EQ(check("no such kernel").status, 2);  // the program itself fails
}
