// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <dlfcn.h>

#include <tilewright/jit/gemm.hpp>
#include <tilewright/jit/narrow_gemm.hpp>

#include "elf_facts.hpp"
#include "fake_compiler.hpp"
#include "process.hpp"
#include "ptx.hpp"
#include "sha256.hpp"
#include "toolchain.hpp"

namespace {

using Compiler = FakeCompiler;

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(jit::to_hex(jit::sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(jit::to_hex(jit::sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(jit::to_hex(jit::sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(jit::to_hex(jit::sha256(std::string(119, 'a'))).size(), 64u);
}

TEST(ElfFacts, AreReadOrRefused) {
  const std::string object = make_object(some_facts());
  EXPECT_EQ(jit::read_facts(object, "scale").block_size, 256);
  std::mt19937 random(11);
  for (int i = 0; i < 8000; ++i) {
    std::string damaged = object;
    if (i % 2 == 0) damaged.resize(random() % damaged.size());
    for (int flips = 0; flips < 3 && !damaged.empty(); ++flips)
      damaged[random() % damaged.size()] ^= char(1 << random() % 8);
    try {
      EXPECT_GT(jit::read_facts(damaged, "scale").block_size, 0);
    } catch (const jit::error& e) {
      EXPECT_STREQ(e.what(), "jit: what was compiled for scale is no code object of this library");
    }
  }
}

TEST(UnusedVariables, AreRemovedFromPtx) {
  const std::string kept =
      ".version 9.0\n"
      ".global .align 4 .b8 tilewright_facts[8] = {1, 0, 0, 0, 128};\n"
      ".global .align 4 .u32 _ZN10tilewright4usedE = 4;\n"
      ".global .align 8 .u64 _ZN10tilewright7pointerE = generic(_ZN10tilewright7pointedE);\n"
      ".global .align 4 .b8 _ZN10tilewright7pointedE[2] = {7, 9};\n"
      ".visible .global .align 4 .u32 _Z6sharedE = 4;\n"
      "\tmov.u64 %rd1, _ZN10tilewright4usedE;\n"
      "\tld.global.u64 %rd2, [_ZN10tilewright7pointerE];\n";
  const std::string unused =
      ".global .align 4 .u32 _ZN10tilewright4useE = 4;\n"
      ".global .align 1 .u8 _ZN10tilewright6linearE;\n"
      ".global .align 1 .b8 $str$1[3] = {115, 109};\n"
      ".global .align 8 .u64 _ZN10tilewright6targetE[2] = {generic($str$1), 7};\n"
      ".global .align 4 .f32 _ZN10tilewright4_one$E = 0f3F800000;\n";
  EXPECT_EQ(jit::without_unused_variables(unused + kept + unused), kept);
  EXPECT_EQ(jit::without_unused_variables(""), "");
}

TEST(Gemm, KernelsForNvidiaTakeAllLengths) {
  const auto product = [](int m, int n, int k) {
    return jit::gemm_problem{.args = {.m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n, .batch = 3}};
  };
  const jit::kernel_source s = jit::gemm(product(100, 77, 33))("sm_80"),
                           other = jit::gemm(product(1000, 7, 35))("sm_80");
  EXPECT_EQ(s.name, "gemm_64x64_f16_ak_bk_to_f16_v1");
  EXPECT_EQ(s.name + s.code + s.kernel + s.problem, other.name + other.code + other.kernel + other.problem);
  tilewright::gemm_args g = product(1000, 300, 35).args;
  EXPECT_STREQ(s.host.check(&g), "a pointer is null: a, b or c");
  alignas(16) static char memory[1 << 22];
  g.a = g.b = memory;
  g.c = memory + 100000, g.batch_stride_c = 300 * 1000;
  EXPECT_STREQ(s.host.check(&g), nullptr);
  const jit::block_grid grid = s.host.grid(&g);
  EXPECT_EQ(grid.x, 16 * 5);
  EXPECT_EQ(grid.z, 3);
  g.ldc = 299;
  EXPECT_STREQ(s.host.check(&g), "ldc is smaller than a row of C");
  g.ldc = 300;
  g.c = memory + 1000;
  EXPECT_STREQ(s.host.check(&g), "C may share memory with an operand, which other blocks still read");
  g.split_k = 2;
  EXPECT_STREQ(s.host.check(&g), "the kernel was made for GEMMs that are not split along k");
  g = product(1000, 300, 36).args;
  g.batch = 1, g.a = g.b = memory, g.c = memory + 100000;
  EXPECT_STREQ(jit::gemm(product(8, 8, 8))("sm_80").host.check(&g),
               "this kernel moves whole vectors: contiguous lengths, leading dimensions and batch strides must be "
               "multiples of its vector; use the kernel with vector 1");
}

TEST(Gemm, KernelsForAmdTakeWhatTheyWereMadeFor) {
  alignas(16) static char memory[4][128];
  const auto refusal = [&](const auto& change) {
    jit::gemm_problem p{.args = {.m = 8, .n = 8, .k = 8, .lda = 8, .ldb = 8, .ldc = 8, .batch = 1}};
    p.args.activation = tilewright::activation::relu;
    const jit::kernel_source s = jit::gemm(p)("gfx942");
    p.args.a = memory[0], p.args.b = memory[1], p.args.c = memory[2];
    change(p.args);
    const char* const why = s.host.check(&p.args);
    return std::string(why ? why : "");
  };
  EXPECT_EQ(refusal([](auto&) {}), "");
  EXPECT_EQ(refusal([](auto& g) { g.c = nullptr; }), "a pointer is null: a, b or c");
  EXPECT_EQ(refusal([](auto& g) { g.c = memory[1]; }), "C is an operand, which other blocks still read");
  EXPECT_EQ(refusal([](auto& g) { g.residual = memory[3], g.ld_residual = 9; }),
            "the kernel was made without a residual");
}

TEST(UsableCpus, AreThoseThatAContainersQuotaPaysFor) {
  EXPECT_EQ(jit::cpus_of_quota("max 100000\n"), 0u);
  EXPECT_EQ(jit::cpus_of_quota("-1 100000"), 0u);
  EXPECT_EQ(jit::cpus_of_quota(" "), 0u);
  EXPECT_EQ(jit::cpus_of_quota("250000 100000\n"), 3u);
  EXPECT_GE(jit::usable_cpus(), 1u);
}

TEST_F(Compiler, ThatIsMissingIsNamed) {
  jit::compiler_options o = options();
  o.compiler = "no-such-compiler";
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }),
            "jit: the compiler no-such-compiler cannot be run: No such file or directory");
}

TEST_F(Compiler, ThatIsTooOldIsRefused) {
  jit::compiler_options o = options();
  o.compiler = make_program("old", "", "Debian clang version 14.0.6");
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }),
            "jit: " + o.compiler + " is version 14, too old for kernels for gfx942; they need 19 or later");
  o.compiler = make_program("mute", "", "hello");
  EXPECT_NE(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }).find("does not say which version"),
            std::string::npos);
}

TEST_F(Compiler, ThatFailsIsQuotedWithTheKernelsName) {
  jit::compiler_options o = options();
  o.compiler =
      make_program("failing", "echo 'a note'; echo 'scale:3:7: error: gemm: the block tile is too large'; exit 1");
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }),
            "jit: " + o.compiler + " could not compile scale for gfx942: error: gemm: the block tile is too large");
  try {
    (void)jit::compiler(o).code_object(source());
  } catch (const jit::error& e) {
    EXPECT_EQ(e.log, "a note\nscale:3:7: error: gemm: the block tile is too large\n");
  }
  o.compiler = make_program("silent", "exit 0");
  EXPECT_NE(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }).find("wrote no code for scale"),
            std::string::npos);
  o.compiler = make_program("confused", "echo nonsense > \"$out\"");
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }),
            "jit: what was compiled for scale is no code object of this library");
  EXPECT_EQ(only_entry(), fs::path());  // nothing of this was kept
}

TEST_F(Compiler, CanBeForbiddenToCompile) {
  jit::compiler_options o = options();
  o.on_miss = jit::miss::fail;
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(source()); }),
            "jit: " + jit::compiler(o).archive_name(source()) + " is in no archive and not in the cache " +
                (folder / "cache").string() + ", and compiler_options::on_miss forbids to compile it");
  EXPECT_EQ(calls(), 0);
  (void)jit::compiler(options()).code_object(source());
  EXPECT_EQ(jit::compiler(o).code_object(source()), object);
}

TEST_F(Compiler, PreparesManyAndReportsProgress) {
  std::vector<jit::kernel_source> sources;
  for (int i = 0; i < 20; ++i) sources.push_back(source("kernel_" + std::to_string(i)));
  sources[3].name = "no name";
  jit::compiler_options o = options();
  o.threads = 4;
  std::set<std::string> names;
  std::size_t last = 0;
  o.on_progress = [&](const jit::progress& p) {
    EXPECT_EQ(p.done, last + 1);
    EXPECT_EQ(p.total, 20u);
    last = p.done;
    names.insert(p.name);
  };
  EXPECT_EQ(sentence_of([&] { jit::compiler(o).prepare(sources); }),
            "jit: 'no name' cannot name a kernel; use letters, digits and underscores");
  EXPECT_EQ(names.size(), 19u);
  EXPECT_EQ(calls(), 19);
}

/// "13.0"; empty: there is none.
std::string nvrtc_release() {
  try {
    return jit::make_nvrtc("sm_90a", {}, true)->identity().substr(std::string("NVRTC ").size());
  } catch (const jit::error&) {
    return {};
  }
}
bool has_ptxas() {
  int major = 0, minor = 0;
  return std::sscanf(nvrtc_release().c_str(), "%d.%d", &major, &minor) == 2 && !jit::find_ptxas(major, minor).empty();
}

jit::kernel_source store(const std::string& name, const std::string& value) {
  return {.name = name,
          .code =
              "struct store { using args_type = int*; static constexpr int block_size = 64, "
              "lds_bytes = 0; static constexpr const char* check(int*) { return nullptr; } "
              "static constexpr tw::exec::block_index grid(int*) { return {1}; } "
              "TILEWRIGHT_HD void operator()(int* to) const { *to = " +
              value + "; } };",
          .kernel = "store",
          .uses = {"machine/exec/exec.hpp"}};
}

TEST_F(Compiler, NvrtcCompilesInProcesses) {
  jit::compiler_options o = options();
  o.target = "sm_90a";
  o.compiler = "nvrtc";
  o.threads = 2;
  std::vector<std::string> names;
  o.on_progress = [&](const jit::progress& p) { names.push_back(p.name); };
  const std::vector<jit::kernel_source> sources = {store("one", "1"), store("wrong", "nothing"), store("two", "2")};
  const std::string sentence = sentence_of([&] { jit::compiler(o).prepare(sources); });
  if (sentence.find("can be loaded") != std::string::npos) {  // no CUDA here: the sentence says what was looked for
    EXPECT_NE(sentence.find("libnvrtc.so"), std::string::npos) << sentence;
    return;
  }
  EXPECT_EQ(sentence, "jit: NVRTC could not compile wrong for sm_90a: error: identifier \"nothing\" is undefined");
  EXPECT_EQ(names.size(), 2u);
  o.on_miss = jit::miss::fail;
  const std::string cubin = jit::compiler(o).code_object(sources[2]);
  EXPECT_EQ(jit::read_facts(cubin, "two").block_size, 64);
  if (has_ptxas()) {
    EXPECT_EQ(cubin.find("_ZN10tilewright"), cubin.npos);
  }
}

/// Puts a folder before the others of PATH.
struct first_in_path {
  explicit first_in_path(const fs::path& folder) : before(std::getenv("PATH")) {
    ::setenv("PATH", (folder.string() + ":" + before).c_str(), 1);
  }
  ~first_in_path() { ::setenv("PATH", before.c_str(), 1); }
  std::string before;
};

TEST_F(Compiler, PtxasIsTakenIfItsReleaseFits) {
  const first_in_path path(folder);
  EXPECT_EQ(jit::find_ptxas(98, 5), "");
  for (const char* release : {"97.9", "98.4", "99.6", "unknown"}) {
    make_program("ptxas", "", std::string("Cuda compilation tools, release ") + release + ", V98");
    EXPECT_EQ(jit::find_ptxas(98, 5), "") << release;
  }
  fs::create_directories(folder / "cuda/bin");
  make_program("cuda/bin/ptxas", "", "Cuda compilation tools, release 98.10, V98.10.1");
  ::setenv("CUDA_PATH", (folder / "cuda").c_str(), 1);
  EXPECT_EQ(jit::find_ptxas(98, 5), folder / "cuda/bin/ptxas");
  ::unsetenv("CUDA_PATH");
  make_program("ptxas", "", "Cuda compilation tools, release 98.5, V98.5.1");
  EXPECT_EQ(jit::find_ptxas(98, 5), "ptxas");
}

TEST_F(Compiler, PtxasAssemblesWhatNvrtcMakes) {
  jit::compiler_options o = options();
  o.target = "sm_90a";
  o.compiler = "nvrtc";
  const first_in_path path(folder);
  if (nvrtc_release().empty()) GTEST_SKIP() << "no NVRTC";
  const std::string release = "release " + nvrtc_release();
  make_program("ptxas", "cp '" + (folder / "object").string() + "' \"$out\"", release);
  EXPECT_EQ(jit::compiler(o).code_object(store("one", "1")), object);
  EXPECT_EQ(calls(), 1);
  o.flags = {"-lineinfo"};  // for NVRTC's own assembler
  EXPECT_NE(jit::compiler(o).code_object(store("two", "2")), object);
  EXPECT_EQ(calls(), 1);
  o.flags = {};
  make_program("ptxas", "echo half > \"$out\"; exit 1", release);
  EXPECT_EQ(jit::read_facts(jit::compiler(o).code_object(store("three", "3")), "three").block_size, 64);
  EXPECT_EQ(calls(), 2);
}

// A kernel with 160 accumulators for each thread has no variables of the headers, which take 170,000 bytes, and spills
// nothing, as ptxas honours setmaxnreg.
TEST_F(Compiler, PtxasGivesConsumersTheirRegisters) {
  jit::compiler_options o = options();
  o.compiler = "nvrtc";
  o.target = "sm_90a";
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas";
  const jit::gemm_problem p{.args = {.m = 256, .n = 256, .k = 256, .lda = 256, .ldb = 256, .ldc = 256},
                            .policy = "256x160"};
  EXPECT_LT(jit::compiler(o).code_object(jit::gemm(p)).size(), 90'000u) << "73,680 without spills";
}

// NVRTC computes what is no constant where it stands, so a descriptor's fields once took 500 instructions of each step.
TEST_F(Compiler, NarrowKernelsComputeNoConstants) {
  jit::compiler_options o = options();
  o.compiler = "nvrtc";
  o.target = "sm_90a";
  if (!has_ptxas()) GTEST_SKIP() << "no ptxas";
  jit::narrow_gemm_problem p{.format = jit::narrow_format_of("int4_128_bf16")};
  p.args.m = 64, p.args.n = p.args.k = p.args.lda = p.args.ldb = p.args.ldc = 8192;
  EXPECT_LT(jit::compiler(o).code_object(jit::narrow_gemm(p)).size(), 75'000u) << "68,800, and 84,160 with them";
}

TEST_F(Compiler, HiprtcGetsTheHeaderAndTheTarget) {
  // The stub has the name by which the library looks for hipRTC.
  if (::dlopen("libhiprtc.so.7", RTLD_NOW | RTLD_NOLOAD) == nullptr)
    ASSERT_NE(::dlopen(TILEWRIGHT_FAKE_HIPRTC, RTLD_NOW), nullptr) << ::dlerror();
  jit::compiler_options o = options();
  o.compiler = "hiprtc";
  o.flags = {"-g"};
  jit::kernel_source s = source();
  EXPECT_EQ(jit::compiler(o).code_object(s), make_object(some_facts(), "-std=c++20 -O3 --offload-arch=gfx942 -g "));
  s.code = "#error the tile is too large";
  EXPECT_EQ(sentence_of([&] { (void)jit::compiler(o).code_object(s); }),
            "jit: hipRTC could not compile scale for gfx942: error: the tile is too large");
}

TEST_F(Compiler, SaysSoWhereThereIsNoGpu) {
  const std::string sentence = sentence_of([] { (void)jit::compiler(); });
  if (!sentence.empty()) {
    EXPECT_TRUE(sentence.starts_with("jit: no GPU was found (none of these libraries can be loaded: libcuda.so.1"))
        << sentence;
    EXPECT_TRUE(sentence.ends_with("; name a target to compile without one")) << sentence;
  }
}

TEST(Targets, AreThoseOfGpus) {
  const auto sentence = [](const std::string& target) -> std::string {
    try {
      (void)jit::compiler({.target = target});
    } catch (const jit::error& e) {
      return e.what();
    }
    return {};
  };
  EXPECT_NE(sentence("cpu").find("the CPU emulator runs kernels that are part of a program"), std::string::npos);
  EXPECT_NE(sentence("gfx900").find("'gfx900' is not a target; there are gfx908, gfx90a, gfx942"), std::string::npos);
}

}  // namespace
