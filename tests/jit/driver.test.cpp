// SPDX-License-Identifier: MIT
// Launches through CUDA's driver, of which a fake is loaded, from threads that have no context.
#include <tilewright/jit/compiler.hpp>

#include <thread>

#include <dlfcn.h>

#include "fake_compiler.hpp"

namespace {

int launches() {
  void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<int (*)()>(::dlsym(driver, "fake_cuda_launches"))();
}

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

}  // namespace
