// SPDX-License-Identifier: MIT
// This library's GEMM kernels: the one that its model chooses, or the fastest of all by time.
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>

#include "contender.hpp"
#include "device.hpp"
#include "tilewright_products.hpp"

namespace gpu_benchmark {
namespace {

namespace tw = tilewright;

class tilewright_contender final : public contender {
 public:
  explicit tilewright_contender(bool tuned) : tuned_(tuned), workspace_(std::size_t(tw::hopper_gemm_workspace::bytes)) {
    check(cudaMemset(workspace_.data(), 0, tw::hopper_gemm_workspace::counter_bytes), "clearing the workspace");
  }
  std::string name() const override { return tuned_ ? "tuned" : "tilewright"; }
  std::string choice() const override { return prepared_.choice; }

  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
    prepared_ = {};
    const prepare_product f = product_of(p);
    if (!f) return "wgmma wants 8-bit operands contiguous along k";
    prepared_ = f(p, sets, [this](std::size_t bytes) { return workspace(bytes); }, tuned_);
    return prepared_.refusal;
  }
  void launch(std::size_t set, cudaStream_t stream) override { prepared_.launches[set](stream); }

 private:
  void* workspace(std::size_t bytes) {
    if (bytes > workspace_bytes_) {
      workspace_ = {};
      workspace_ = buffer(bytes);
      workspace_bytes_ = bytes;
      check(cudaMemset(workspace_.data(), 0, tw::hopper_gemm_workspace::counter_bytes), "clearing the workspace");
    }
    return workspace_.data();
  }

  static prepare_product product_of(const problem& p) {
    if (p.type == element::e4m3) return p.b_col_major && !p.a_col_major ? prepare_e4m3_row_col : nullptr;
    constexpr prepare_product of_f16[] = {prepare_f16_row_row, prepare_f16_row_col, prepare_f16_col_row,
                                          prepare_f16_col_col};
    constexpr prepare_product of_bf16[] = {prepare_bf16_row_row, prepare_bf16_row_col, prepare_bf16_col_row,
                                           prepare_bf16_col_col};
    return (p.type == element::f16 ? of_f16 : of_bf16)[2 * p.a_col_major + p.b_col_major];
  }

  bool tuned_;
  buffer workspace_;
  std::size_t workspace_bytes_ = 0;
  prepared_product prepared_;
};

}  // namespace

std::unique_ptr<contender> make_tilewright_contender(bool tuned) {
  return std::make_unique<tilewright_contender>(tuned);
}

}  // namespace gpu_benchmark
