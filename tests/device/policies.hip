// SPDX-License-Identifier: MIT
// The kernels of policies.hpp for one target.
#include <tilewright/core/arch/current.hpp>

#include "policies.hpp"

#if TILEWRIGHT_AMDGCN_PASS

using target = tilewright::arch::current;
using tilewright::gemm_args;

namespace {

/// The policy's block size; 64 if the target does not have it.
template <template <class> class Policy, bool Has>
constexpr int threads() {
  if constexpr (Has) {
    return policies::kernel_of<Policy<target>>::block_size;
  } else {
    return 64;
  }
}
template <template <class> class Policy, bool Has, class Args>
TILEWRIGHT_HD void run([[maybe_unused]] const Args& args) {
  if constexpr (Has) policies::kernel_of<Policy<target>>{}(args);
}

}  // namespace

#define KERNEL(name, targets, what)                                                                       \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(                                                     \
      (threads<policies::name, policies::targets(target::value)>())) void name##_kernel(gemm_args args) { \
    run<policies::name, policies::targets(target::value)>(args);                                          \
  }
TILEWRIGHT_TEST_POLICIES(KERNEL)

#if defined(__gfx1250__)
// In clusters, and without: then masks name blocks that are not there.
#define CLUSTER_KERNEL(name, targets, blocks)                                                                     \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE((threads<policies::name, true>()))                           \
      __attribute__((cluster_dims(blocks, 1, 1))) void name##_kernel(gemm_args args) {                            \
    run<policies::name, true>(args);                                                                              \
  }                                                                                                               \
  extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE((threads<policies::name, true>())) void name##_alone_kernel( \
      gemm_args args) {                                                                                           \
    run<policies::name, true>(args);                                                                              \
  }
TILEWRIGHT_TEST_CLUSTERS(CLUSTER_KERNEL)
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(256) void reduction_kernel(gemm_args args) {
  tilewright::split_k_reduction<policies::reducing<target>>{}(args);
}

#endif
