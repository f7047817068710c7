// SPDX-License-Identifier: MIT
// Launches and times through CUDA's driver, of which a fake is loaded, from threads that have no context.
#include <tilewright/jit/archive.hpp>
#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>

#include "fake_compiler.hpp"
#include "toolchain.hpp"
#ifdef TILEWRIGHT_HAS_SHAPES
#include "tune.hpp"
#endif

namespace {

template <class Function>
Function* of_driver(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(::dlopen("libcuda.so.1", RTLD_NOW), name));
}
int launches() { return of_driver<int()>("fake_cuda_launches")(); }

class Driver : public FakeCompiler {
 protected:
  /// A kernel whose arguments are prepared: with a tensor map of `data`.
  jit::kernel_source source_with_map() {
    tilewright::kernel_facts facts = some_facts();
    facts.prepared = 1;
    facts.args_bytes = sizeof(tilewright::exec::tensor_map);
    facts.lds_bytes = 100000;
    object = make_object(facts, "the code");
    write(folder / "object", object);
    jit::kernel_source s = source();
    s.host.prepare = [](const void* args, const tilewright::launch_facts& known) {
      tilewright::exec::tensor_map map;
      known.make_tensor_map(map, {*static_cast<void* const*>(args),
                                  tilewright::arch::matrix_element::f16,
                                  {64, 64, 1},
                                  {128, 128 * 64},
                                  {64, 64}});
      const auto* const bytes = reinterpret_cast<const char*>(&map);
      return jit::host_half::prepared{{bytes, bytes + sizeof map}, {1, 1, 1}};
    };
    return s;
  }
};

/// GEMM kernels of any tile, which the fake compiler makes.
class Tuning : public FakeCompiler {
 protected:
  void SetUp() override {
    FakeCompiler::SetUp();
    tilewright::kernel_facts facts = some_facts();
    facts.prepared = 1;
    facts.args_bytes = sizeof(tilewright::detail::hopper_gemm_device_args<tilewright::gemm_args, 1>);
    write(folder / "object", make_object(facts, "the code"));
    on_gpu = options();
    on_gpu.target.clear();
    on_gpu.threads = 1;
    on_gpu.compiler =
        make_program("nvcc", "cp '" + (folder / "object").string() + "' \"$out\"", "compilation tools, release 13.0");
  }
  static jit::gemm_problem problem(tilewright::index_t m = 300) {
    jit::gemm_problem p;
    p.args = {.m = m, .n = 512, .k = 256, .lda = 256, .ldb = 256, .ldc = 512};
    alignas(16) static char workspace[16];
    p.args.workspace = workspace;
    return p;
  }
  /// The fastest policy where kernels whose name has `part` in it are the fast ones.
  std::string fastest(const std::string& part) {
    of_driver<void(const char*)>("fake_cuda_fast")(part.c_str());
    jit::compiler compiler(on_gpu);
    return jit::fastest_gemm(compiler, problem()).policy;
  }
  static std::string tile_of(const std::string& policy) { return policy.substr(0, policy.find(',')); }

  jit::compiler_options on_gpu;
};

TEST_F(Tuning, ChoosesByTime) {
  const std::vector<jit::gemm_problem> timed = jit::policies_to_time(problem(), "sm_90a", 16);
  ASSERT_GT(timed.size(), 4u);
  EXPECT_EQ(timed[0].policy, jit::rank_gemm(problem(), "sm_90a")[0].choice);
  EXPECT_EQ(fastest("none of them"), timed[0].policy);  // where all take the same time
  const std::string other = tile_of(timed.back().policy);
  ASSERT_NE(other, tile_of(timed[0].policy));
  EXPECT_EQ(tile_of(fastest("hopper_" + other + "_f16")), other);
}

TEST_F(Tuning, LooksAroundTheFastest) {
  std::set<std::string> timed;
  for (const jit::gemm_problem& p : jit::policies_to_time(problem(), "sm_90a", 16)) timed.insert(tile_of(p.policy));
  const std::string first = tile_of(jit::policies_to_time(problem(), "sm_90a", 1)[0].policy);
  const std::size_t x = first.find('x') + 1, end = std::min(first.find('_'), first.size());
  std::string around;
  for (const int columns : {-16, 16, 8, -8}) {
    const std::string other =
        first.substr(0, x) + std::to_string(std::stoi(first.substr(x)) + columns) + first.substr(end);
    if (timed.count(other) == 0) around = other;
  }
  ASSERT_NE(around, "");
  EXPECT_EQ(tile_of(fastest("hopper_" + around + "_f16")), around);
}

#ifdef TILEWRIGHT_HAS_SHAPES
TEST_F(Tuning, ArchivesTheFastest) {
  const std::string fast = tile_of(jit::policies_to_time(problem(), "sm_90a", 16).back().policy);
  of_driver<void(const char*)>("fake_cuda_fast")(("hopper_" + fast + "_f16").c_str());
  pack::shapes shapes = pack::read_shapes(R"({"gemm": [{"m": 300, "n": 512, "k": 256}]})", "");
  jit::compiler compiler(on_gpu);
  EXPECT_EQ(tile_of(pack::tune(shapes, folder / "tuning", compiler).at(0)), fast);

  jit::archive_writer writer;
  for (const jit::kernel_source& s : pack::sources_of(shapes, "sm_90a"))
    writer.add(compiler.archive_key(s), compiler.archive_name(s), compiler.code_object(s));
  writer.add_text("tuning", shapes.texts.at("tuning"));
  writer.write(folder / "archive");
  jit::compiler_options archived = on_gpu;
  archived.cache.enabled = false;
  archived.on_miss = jit::miss::fail;
  archived.archives = {folder / "archive"};
  jit::compiler from(archived);
  const jit::gemm_problem chosen = jit::tuned(from, problem());
  EXPECT_EQ(tile_of(chosen.policy), fast);
  EXPECT_EQ(sentence_of([&] { (void)from.load(jit::gemm(chosen)); }), "");
  EXPECT_EQ(jit::tuned(from, problem(301)).policy, "");  // as it was given

  pack::shapes none = pack::read_shapes(R"({"softmax": [{"cols": 64}]})", "");
  EXPECT_EQ(sentence_of([&] { pack::tune(none, folder / "tuning", compiler); }),
            "jit: --tune times the tiles of GEMMs; the list has no \"gemm\"");
  EXPECT_EQ(sentence_of([&] { pack::tune(shapes, folder / "object" / "tuning", compiler); }),
            "jit: the tuning file " + (folder / "object" / "tuning").string() + " cannot be written");
}
#endif

TEST_F(Driver, TensorMapsAreMadeInTheContextOfTheGpu) {
  jit::compiler_options o = options();
  o.target.clear();
  o.compiler =
      make_program("nvcc", "cp '" + (folder / "object").string() + "' \"$out\"", "compilation tools, release 13.0");
  alignas(128) static char memory[64 * 128];
  void* data = memory;
  std::string first, second, wrong;
  std::thread([&] {
    first = sentence_of([&] {
      jit::compiler compiler(o);
      const jit::buffer buffer = compiler.allocate(64);
      const jit::kernel kernel = compiler.load(source_with_map());
      kernel(data);
      std::thread([&] { second = sentence_of([&] { kernel.bind(data)(); }); }).join();
      void* none = nullptr;
      wrong = sentence_of([&] { kernel(none); });
    });
  }).join();
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "");
  EXPECT_EQ(wrong, "jit: the CUDA driver refuses a tensor map: error 1, an operand breaks the rules of TMA");
  EXPECT_EQ(launches(), 2);
}

/// Requests that differ in one member from a first one, and that one with `addresses` addresses.
std::vector<tilewright::exec::tensor_map_request> various_requests(char* memory, int addresses) {
  const tilewright::exec::tensor_map_request first{
      memory, tilewright::arch::matrix_element::f16, {64, 64, 1}, {128, 128 * 64}, {64, 64}};
  std::vector<tilewright::exec::tensor_map_request> list(11 + std::size_t(addresses), first);
  list[1].element = tilewright::arch::matrix_element::bf16;
  for (int i = 0; i < 3; ++i) list[std::size_t(2 + i)].lengths[i] = 8;
  for (int i = 0; i < 2; ++i) list[std::size_t(5 + i)].stride_bytes[i] = 1 << 16;
  list[7].box[0] = 32, list[8].box[1] = 32;
  list[9].ragged = true, list[10].padded_row_bytes = 128, list[10].box[0] = 32;
  for (int i = 0; i < addresses; ++i) list[std::size_t(11 + i)].data = memory + 16 * i;
  return list;
}

// A first launch gets NVRTC's own cubin, which is there earlier than ptxas's.
TEST_F(Driver, PtxasIsForKernelsThatAreMadeAhead) {
  jit::compiler_options o = options();
  o.compiler = "nvrtc";
  o.target = "sm_90a";
  std::string release;
  try {
    release = jit::make_nvrtc(o.target, {}, true)->identity().substr(std::string("NVRTC ").size());
  } catch (const jit::error&) {
    GTEST_SKIP() << "no NVRTC";
  }
  make_program("ptxas", "cp '" + (folder / "object").string() + "' \"$out\"", "release " + release);
  const std::string path = std::getenv("PATH");
  ::setenv("PATH", (folder.string() + ":" + path).c_str(), 1);
  jit::kernel_source s = source();
  s.code =
      "struct nothing { using args_type = int*; static constexpr int block_size = 64, lds_bytes = 0; static constexpr "
      "const char* check(int*) { return nullptr; } static constexpr tw::exec::block_index grid(int*) { return {1}; } "
      "TILEWRIGHT_HD void operator()(int*) const {} };";
  s.kernel = "nothing", s.uses = {"machine/exec/exec.hpp"}, s.problem.clear();
  o.cache.enabled = false;
  EXPECT_EQ(jit::compiler(o).code_object(s), object);
  o.target.clear();
  EXPECT_NE(jit::compiler(o).code_object(s), object);
  ::setenv("PATH", path.c_str(), 1);
}

// A kernel may overlap the one before it, but for launches that say otherwise.
TEST_F(Driver, LaunchesThatStartAlone) {
  tilewright::kernel_facts facts = some_facts();
  facts.prepared = facts.overlaps_previous = 1;
  facts.args_bytes = 1;
  write(folder / "object", make_object(facts, "the code"));
  jit::compiler_options o = options();
  o.target.clear();
  o.compiler =
      make_program("nvcc", "cp '" + (folder / "object").string() + "' \"$out\"", "compilation tools, release 13.0");
  jit::compiler compiler(o);
  jit::kernel_source s = source();
  s.host.prepare = [](const void* args, const tilewright::launch_facts&) {
    jit::host_half::prepared made{{'x'}, {1, 1, 1}};
    made.starts_alone = *static_cast<const bool*>(args);
    return made;
  };
  const jit::kernel kernel = compiler.load(s);
  const auto overlapping = [&](bool starts_alone) {
    const auto count = [] { return of_driver<int()>("fake_cuda_overlapping_launches")(); };
    const int before = count();
    kernel(starts_alone);
    kernel.bind(starts_alone)();
    return count() - before;
  };
  EXPECT_EQ(overlapping(false), 2);
  EXPECT_EQ(overlapping(true), 0);
}

TEST_F(Driver, TensorMapsOfEqualRequestsAreMadeOnce) {
  jit::compiler_options o = options();
  o.target.clear();
  o.compiler =
      make_program("nvcc", "cp '" + (folder / "object").string() + "' \"$out\"", "compilation tools, release 13.0");
  jit::kernel_source s = source_with_map();
  const auto as_source = s.host.prepare;
  int repeated = -1, wrong = 0;
  s.host.prepare = [&](const void* args, const tilewright::launch_facts& known) {
    alignas(128) static char memory[1 << 14];
    const std::vector<tilewright::exec::tensor_map_request> requests = various_requests(memory, 200);
    const auto made = [&](const auto& request) {
      tilewright::exec::ragged_tensor_map map;
      known.make_tensor_map(map, request);
      return std::vector<unsigned long long>(map.opaque, map.opaque + 16);
    };
    const auto made_anew = [&](const auto& request) {  // by a thread that remembers none
      std::vector<unsigned long long> anew;
      std::thread([&] {
        of_driver<int(void*)>("cuCtxPushCurrent_v2")(memory);
        anew = made(request);
      }).join();
      return anew;
    };
    const auto count = of_driver<int()>("fake_cuda_encoded_maps");
    const int before = count();
    for (int i = 0; i < 5; ++i) (void)made(requests[0]);
    repeated = count() - before;
    for (int again = 0; again < 2; ++again)  // each pushes others out, and meets what they left
      for (const auto& request : requests)
        wrong += made(request) != made_anew(request) || made(requests[0]) == made(requests[1]);
    return as_source(args, known);
  };
  jit::compiler compiler(o);
  const jit::kernel kernel = compiler.load(s);
  alignas(128) static char memory[64];
  void* data = memory;
  kernel(data);
  EXPECT_EQ(repeated, 1);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
