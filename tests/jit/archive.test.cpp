// SPDX-License-Identifier: MIT
#include <tilewright/jit/archive.hpp>

#include <csignal>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sys/resource.h>
#include <sys/stat.h>

#include <tilewright/jit/attention.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/tuning_name.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_kernel.hpp>
#include <tilewright/launch/tuning/tuning_file.hpp>

#include "fake_compiler.hpp"

namespace {

class Archive : public FakeCompiler {
 protected:
  void write_archive() {
    jit::compiler compiler(options());
    jit::archive_writer writer;
    for (const char* name : {"first", "second"})
      writer.add(compiler.archive_key(source(name)), name, make_object(some_facts(), name));
    writer.add_text("tuning", "a choice");
    writer.write(path());
  }
  fs::path path() const { return folder / "kernels.twa"; }
};

TEST_F(Archive, IsLoadedWithoutACompiler) {
  write_archive();
  jit::compiler_options o = options();
  o.archives = {path()};
  o.compiler = "no-such-compiler";
  o.cache.enabled = false;
  o.on_miss = jit::miss::fail;
  jit::compiler compiler(o);
  EXPECT_EQ(compiler.code_object(source("first")), make_object(some_facts(), "first"));
  EXPECT_EQ(compiler.code_object(source("second")), make_object(some_facts(), "second"));
  EXPECT_EQ(compiler.archived_text("tuning"), "a choice");
  EXPECT_EQ(sentence_of([&] { (void)compiler.code_object(source("third")); }),
            "jit: " + compiler.archive_name(source("third")) +
                " is in no archive, and compiler_options::on_miss forbids to compile it");
}

TEST_F(Archive, ThatOthersMayWriteToIsNotTrusted) {
  write_archive();
  fs::permissions(path(), fs::perms::others_write, fs::perm_options::add);
  jit::compiler_options o = options();
  o.archives = {path()};
  const std::string why =
      path().string() + " may be written by its group or by others (chmod go-w); kernels in it are not used";
  {
    jit::compiler compiler(o);
    EXPECT_EQ(compiler.cache_trouble(), why);
    EXPECT_EQ(compiler.code_object(source("first")), object);
    EXPECT_EQ(calls(), 1);
    EXPECT_EQ(compiler.archived_text("tuning"), "");
    EXPECT_EQ(compiler.cache_trouble(), why);
  }
  EXPECT_EQ(sentence_of([&] { const jit::archive opened(path()); }), "jit: " + why);
  o.on_miss = jit::miss::fail;
  EXPECT_TRUE(sentence_of([&] { (void)jit::compiler(o).code_object(source("second")); }).ends_with(" (" + why + ")"));
}

TEST_F(Archive, DependsOnlyOnWhatIsInIt) {
  write_archive();
  const std::string once = read(path());
  write_archive();
  EXPECT_EQ(read(path()), once);
}

TEST_F(Archive, BringsWhatAutotuningFound) {
  const auto product = [](int k) {
    jit::gemm_problem p;
    p.args = {.m = 512, .n = 512, .k = k, .lda = k, .ldb = k, .ldc = 512};
    return p;
  };
  const auto name_of = [](const jit::gemm_problem& p) {
    return tilewright::tuning_name(p.args, tilewright::arch::matrix_element::f16, tilewright::arch::matrix_element::f16,
                                   true, true);
  };
  tilewright::tuning_file measured(folder / "tuning", tilewright::tuning_key("some GPU", 132));
  measured.remember(name_of(product(64)), "64x64, k whole");  // as earlier versions wrote it
  measured.remember(name_of(product(128)), "a kernel that this version does not have");
  tilewright::tuning_file(folder / "tuning", "some GPU, tilewright 0").remember(name_of(product(256)), "64x64");
  jit::archive_writer writer;
  writer.add_text("tuning", read(folder / "tuning"));
  writer.write(path());

  jit::compiler_options o = options();
  o.target = "sm_90a";
  o.archives = {path()};
  const jit::compiler compiler(o);
  const jit::gemm_problem tuned = jit::tuned(compiler, product(64));
  EXPECT_EQ(tuned.policy, "64x64, split_k 1");
  const jit::kernel_source source = jit::gemm(tuned)("sm_90a");
  EXPECT_EQ(source.name, "gemm_hopper_64x64_f16_ak_bk_to_f16");
  jit::gemm_problem same_tile = product(64);
  same_tile.policy = "64x64";
  EXPECT_EQ(jit::gemm(same_tile)("sm_90a").code, source.code);
  EXPECT_NE(jit::gemm(same_tile)("sm_90a").host.name, source.host.name);  // both may be in memory
  jit::gemm_problem with_slices = product(256);
  with_slices.policy = "64x64, split_k 4";
  const jit::kernel_source split = jit::gemm(with_slices)("sm_90a");
  const auto blocks_that_follow = [&](int k, void* workspace) {
    tilewright::gemm_args args = with_slices.args;
    args.k = k;
    args.workspace = workspace;
    return split.host.prepare(&args, {132, [](auto&, const auto&) {}}).follower_grid.x;
  };
  alignas(16) char workspace[16];
  alignas(16) static char from[1 << 20], to[1 << 20];
  EXPECT_EQ(blocks_that_follow(256, workspace), 4 * 128);
  EXPECT_EQ(blocks_that_follow(128, workspace), 0) << "two tiles along k";
  EXPECT_EQ(blocks_that_follow(256, nullptr), 0);
  for (const char* const policy : {"64x64, split_k x", "64x64, split_k -3", "64x64, k", "64x64,", "64x64, split_k 1,",
                                   "128x176_b2_pp, split_k 4"}) {
    with_slices.policy = policy;
    EXPECT_EQ(sentence_of([&] { (void)jit::gemm(with_slices)("sm_90a"); }),
              "jit: gemm: there is no policy '" + with_slices.policy + "' for sm_90a");
  }
  jit::gemm_problem with_residual = same_tile;
  with_residual.args.residual = workspace;
  with_residual.args.ld_residual = with_residual.args.n;
  const jit::kernel_source adds = jit::gemm(with_residual)("sm_90a");
  EXPECT_STREQ(adds.host.check(&with_residual.args), "a pointer is null: a, b or c");
  with_residual.args.a = with_residual.args.b = from;
  with_residual.args.c = to;
  EXPECT_EQ(adds.host.check(&with_residual.args), nullptr);
  ++with_residual.args.ld_residual;
  EXPECT_STREQ(adds.host.check(&with_residual.args),
               "epilogue::residual: args.residual, ld_residual and batch_stride_residual must be multiples of the "
               "kernel's vector; use the kernel with vector 1");
  for (const int k : {128, 256, 512}) EXPECT_EQ(jit::tuned(compiler, product(k)).policy, "") << k;
}

TEST_F(Archive, ThatCannotBeWrittenLeavesTheOldOne) {
  write_archive();
  const std::string before = read(path());
  const std::string sentence = sentence_of([&] {
    const rlimit limit{1000, RLIM_INFINITY};  // bytes of a file, as on a full disk
    rlimit old{};
    ::getrlimit(RLIMIT_FSIZE, &old);
    ::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
    jit::archive_writer writer;
    writer.add_text("large", std::string(5000, 'x'));
    try {
      writer.write(path());
    } catch (...) {
      ::setrlimit(RLIMIT_FSIZE, &old);
      throw;
    }
    ::setrlimit(RLIMIT_FSIZE, &old);
  });
  EXPECT_TRUE(sentence.starts_with("jit: the archive was not written: cannot write ")) << sentence;
  EXPECT_EQ(read(path()), before);
}

TEST_F(Archive, DoesNotReplaceWhatIsNoFile) {
  ::mkfifo(path().c_str(), 0600);
  EXPECT_EQ(sentence_of([&] { write_archive(); }),
            "jit: the archive was not written: " + path().string() + " is not a regular file");
  EXPECT_TRUE(fs::is_fifo(path()));
  EXPECT_EQ(sentence_of([&] { jit::archive waits(path()); }),
            "jit: the archive " + path().string() + " cannot be read");
}

TEST_F(Archive, ThatIsDamagedGivesASentenceAndNoWrongKernel) {
  write_archive();
  const std::string intact = read(path());
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 240; ++i) {
    std::string damaged = intact;
    if (i % 3 == 0)
      damaged.resize(random() % damaged.size());
    else
      damaged[random() % damaged.size()] ^= char(1 << random() % 8);
    write(path(), damaged);
    jit::compiler_options o = options();
    o.archives = {path()};
    o.cache.enabled = false;
    o.on_miss = jit::miss::fail;
    for (const char* name : {"first", "second"}) {
      try {
        EXPECT_EQ(jit::compiler(o).code_object(source(name)), make_object(some_facts(), name));
      } catch (const jit::error& e) {
        ++refused;
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
      }
    }
  }
  EXPECT_GT(refused, 240);  // what was damaged may be the other kernel
  EXPECT_EQ(sentence_of([&] { jit::archive("/no/such.twa"); }), "jit: the archive /no/such.twa cannot be read");
}

TEST_F(FakeCompiler, AGemmOfElementsThatTheTargetDoesNotMultiplyIsRefused) {
  jit::gemm_problem p{.type = jit::element::f32, .result = jit::element::f32};
  p.args.m = p.args.n = p.args.k = p.args.lda = p.args.ldb = p.args.ldc = 64;
  EXPECT_EQ(sentence_of([&] { (void)jit::gemm(p)("gfx1100"); }),
            "jit: gemm: gfx1100 has no matrix instruction for f32");
  EXPECT_EQ(sentence_of([&] { (void)jit::rank_gemm(p, "sm_80"); }),
            "jit: gemm: sm_80 has no matrix instruction for f32");
  EXPECT_EQ(jit::rank_gemm(p, "gfx942").front().kernel, "gemm_128x128_f32_ak_bk_to_f32_v4");
  p.type = jit::element::fp8, p.result = jit::element::bf16;
  EXPECT_TRUE(jit::rank_gemm(p, "sm_90").front().kernel.starts_with("gemm_hopper_"));
  p.b_along_k = false;
  EXPECT_EQ(
      sentence_of([&] { (void)jit::gemm(p)("sm_90a"); }),
      "jit: gemm: sm_90a has no matrix instruction for fp8 but wgmma, which takes A row-major, B column-major, both "
      "in whole vectors, and writes bf16");
}

using two_factors =
    tilewright::gemm_hopper<tilewright::half_t, tilewright::operand_major::k, tilewright::operand_major::k,
                            tilewright::hopper_gemm_tile{.m = 128, .n = 256, .cluster_m = 2}>;
struct with_gate : two_factors {
  static constexpr tilewright::index_t products = 2;
  using epilogue = tilewright::epilogue::swiglu;
};

/// The host half that is made at run time prepares what the kernel's own does: the maps of both factors, the schedule.
TEST_F(FakeCompiler, AGateRunsByWgmma) {
  alignas(16) static char memory[3 << 20];
  jit::gemm_problem p{.has_gate = true};
  p.args = {.a = memory, .b = memory + (1 << 20), .c = memory + (2 << 20), .m = 200, .n = 136, .k = 264};
  p.args.lda = 264, p.args.ldb = 272, p.args.ldc = 136, p.args.product_stride_b = 136 * 272;
  p.policy = "128x256_b2";
  const jit::kernel_source source = jit::gemm(p)("sm_90a");
  EXPECT_EQ(source.name, "gemm_hopper_128x256_b2_f16_ak_bk_to_f16_gate");
  EXPECT_NE(source.code.find("epilogue::swiglu> { static constexpr index_t products = 2; }"), std::string::npos);
  static std::vector<std::string> maps;  // by the order in which they are made
  maps.clear();
  const tilewright::launch_facts facts{
      66, [](tilewright::exec::tensor_map&, const tilewright::exec::tensor_map_request& r) {
        maps.push_back(std::to_string(static_cast<char*>(r.data) - memory) + " " + std::to_string(r.lengths[0]) + " " +
                       std::to_string(r.lengths[1]) + " " + std::to_string(r.box[0]) + " " + std::to_string(r.box[1]));
      }};
  using kernel = tilewright::gemm_kernel<with_gate>;
  ASSERT_EQ(source.host.check(&p.args), nullptr);
  ASSERT_EQ(kernel::check(p.args), nullptr);
  const auto prepared = source.host.prepare(&p.args, facts);
  const std::vector<std::string> of_jit = std::exchange(maps, {});
  const auto wanted = kernel::prepare(p.args, facts);
  EXPECT_EQ(of_jit, maps);
  ASSERT_EQ(maps.size(), 4u);
  EXPECT_NE(maps[1], maps[2]);
  kernel::device_args found;
  ASSERT_EQ(prepared.device_args.size(), sizeof found);
  std::memcpy(&found, prepared.device_args.data(), sizeof found);
  EXPECT_EQ(found.schedule.whole_tiles, 1 * 2);  // of clusters
  EXPECT_EQ(found.schedule.whole_tiles, wanted.schedule.whole_tiles);
  EXPECT_EQ(found.args.product_stride_b, wanted.args.product_stride_b);
  EXPECT_EQ(found.ordered_k_tiles, wanted.ordered_k_tiles);
  EXPECT_EQ(prepared.grid.x, wanted.blocks);
  p.policy = "";
  for (const bool b_along_k : {true, false})
    for (const tilewright::index_t m : {1, 40, 1000}) {
      p.b_along_k = b_along_k;
      p.args.m = m, p.args.ldb = 272, p.args.c = memory + (5 << 19);
      EXPECT_TRUE(jit::rank_gemm(p, "sm_90a").front().kernel.starts_with("gemm_hopper_")) << m;
    }
  p.args.n = 135;  // TMA stores whole vectors
  EXPECT_TRUE(jit::rank_gemm(p, "sm_90a").front().kernel.starts_with("gemm_128x128_"));
}

TEST_F(FakeCompiler, AttentionInBf16IsRefusedWhereTheTargetDoesNotMultiplyIt) {
  jit::attention_problem p{.type = jit::element::bf16, .head_dim = 64, .value_dim = 64};
  EXPECT_EQ(sentence_of([&] { (void)jit::attention(p)("gfx908"); }),
            "jit: attention: gfx908 has no matrix instruction for bf16");
  EXPECT_NE(jit::attention(p)("gfx1250").kernel, "");
  jit::attention_backward_problem gradients{.type = jit::element::bf16, .head_dim = 64, .value_dim = 64};
  EXPECT_EQ(sentence_of([&] { (void)jit::attention_backward(gradients)("gfx908"); }),
            "jit: attention_backward: gfx908 has no matrix instruction for bf16");
  jit::attention_decode_problem decode{
      .type = jit::element::f16, .head_dim = 64, .value_dim = 64, .cache_type = jit::element::i8};
  EXPECT_EQ(sentence_of([&] { (void)jit::attention_decode(decode)("gfx908"); }),
            "jit: attention_decode: gfx908 has no matrix instruction for bf16");
  p.type = jit::element::f16;
  EXPECT_NE(jit::attention(p)("gfx908").kernel, "");
}

}  // namespace
