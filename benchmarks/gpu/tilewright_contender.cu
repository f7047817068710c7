// SPDX-License-Identifier: MIT
// This library's GEMM kernels: Hopper's where they can, else the portable ones.
#include <tilewright/arch/current.hpp>
#include <tilewright/gemm/specialized_choice.hpp>
#include <tilewright/gemm/warp_specialized_pipeline.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/tilewright.hpp>

#include <functional>

#include "contender.hpp"
#include "device.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;
using tw::operand_major;

template <class T, operand_major BMajor>
using portable_policy = tw::gemm_policy<tw::arch::sm90, T, operand_major::k, BMajor, 8>;

class tilewright_contender final : public contender {
 public:
  tilewright_contender() {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    multiprocessors_ = properties.multiProcessorCount;
    check(cudaMalloc(&workspace_, tw::specialized_workspace::bytes), "allocating the workspace");
    check(cudaMemset(workspace_, 0, tw::specialized_workspace::counter_bytes), "clearing the workspace");
  }
  ~tilewright_contender() override { (void)cudaFree(workspace_); }
  std::string name() const override { return "tilewright"; }
  std::string choice() const override { return choice_; }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
    if (p.type == element::e4m3 && !p.b_col_major) return "wgmma wants 8-bit operands contiguous along k";
    if (p.m > INT32_MAX || p.n > INT32_MAX || p.k > INT32_MAX) return "lengths must be below 2^31";
    launches_.clear();
    if (p.type == element::e4m3) return prepare<tw::fp8_ocp_t, operand_major::k, tw::bfloat16_t>(p, sets);
    if (p.type == element::f16)
      return p.b_col_major ? prepare<tw::half_t, operand_major::k>(p, sets)
                           : prepare<tw::half_t, operand_major::mn>(p, sets);
    return p.b_col_major ? prepare<tw::bfloat16_t, operand_major::k>(p, sets)
                         : prepare<tw::bfloat16_t, operand_major::mn>(p, sets);
  }

  void launch(std::size_t set, cudaStream_t stream) override { launches_[set](stream); }

 private:
  template <class T, operand_major BMajor, class Result = T>
  std::string prepare(const problem& p, const std::vector<operands>& sets) {
    std::vector<tw::gemm_args> all;
    for (const operands& o : sets) {
      const auto m = tw::index_t(p.m), n = tw::index_t(p.n), k = tw::index_t(p.k);
      all.push_back(
          {.a = o.a, .b = o.b, .c = o.c, .m = m, .n = n, .k = k, .lda = k, .ldb = p.b_col_major ? k : n, .ldc = n});
    }
    const tw::index_t best =
        tw::choose_specialized_tile(all[0], {sizeof(T), true, BMajor == operand_major::k}, multiprocessors_);
    std::string why;
    [&]<tw::index_t... Is>(std::integer_sequence<tw::index_t, Is...>) {
      const auto prepare_if_best = [&](auto i) {
        constexpr tw::specialized_tile tile = tw::specialized_tiles[i];
        if (i == best) why = prepare_specialized<tw::gemm_specialized<T, operand_major::k, BMajor, tile, Result>>(all);
      };
      (prepare_if_best(tw::number<Is>{}), ...);
    }(std::make_integer_sequence<tw::index_t, tw::specialized_tiles.size()>{});
    if constexpr (sizeof(T) == 1)
      return why;
    else
      return why.empty() ? why : prepare_portable<portable_policy<T, BMajor>>(all);
  }

  template <class Policy>
  std::string prepare_specialized(const std::vector<tw::gemm_args>& all) {
    using kernel = tw::gemm_kernel<Policy>;
    for (tw::gemm_args args : all) {
      args.workspace = workspace_;
      if (const char* why = kernel::check(args)) return why;
      const tw::prepared_launch<kernel> launch(args);
      const tw::specialized_tile t = tw::specialized_block<Policy>::tile;
      choice_ = "wgmma " + std::to_string(t.m) + "x" + std::to_string(t.n) + ", " +
                std::to_string(launch.prepared().blocks / t.cluster()) + " clusters of " + std::to_string(t.cluster());
      if (launch.prepared().schedule.sharers > 0)
        choice_ += ", last round shared by " + std::to_string(launch.prepared().schedule.sharers);
      launches_.push_back(launch);
    }
    return {};
  }

  template <class Policy>
  std::string prepare_portable(const std::vector<tw::gemm_args>& all) {
    using kernel = tw::gemm_kernel<Policy>;
    launches_.clear();
    choice_ = "mma.sync";
    for (const tw::gemm_args& args : all) {
      if (const char* why = kernel::check(args)) return why;
      launches_.push_back(tw::prepared_launch<kernel>(args));
    }
    return {};
  }

  tw::index_t multiprocessors_ = 0;
  void* workspace_ = nullptr;
  std::string choice_;
  std::vector<std::function<void(cudaStream_t)>> launches_;
};

}  // namespace

std::unique_ptr<contender> make_tilewright_contender() { return std::make_unique<tilewright_contender>(); }

}  // namespace gpu_benchmark
