// SPDX-License-Identifier: MIT
// cuBLAS: the fastest of the algorithms that cublasLt's heuristics propose, by time.
#include <cublasLt.h>

#include <algorithm>
#include <functional>

#include "contender.hpp"
#include "device.hpp"

namespace gpu_benchmark {
namespace {

void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasLtGetStatusString(status));
}

cudaDataType_t type_of(element e) {
  return e == element::f16 ? CUDA_R_16F : e == element::bf16 ? CUDA_R_16BF : CUDA_R_8F_E4M3;
}

/// A matrix as cublasLt sees it: column-major, with rows that lie one after another in memory.
class layout {
 public:
  layout() = default;
  layout(element type, std::int64_t rows, std::int64_t cols) {
    check(cublasLtMatrixLayoutCreate(&handle_, type_of(type), std::uint64_t(rows), std::uint64_t(cols), rows),
          "describing a matrix");
  }
  layout(layout&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  layout& operator=(layout&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~layout() {
    if (handle_) (void)cublasLtMatrixLayoutDestroy(handle_);
  }
  cublasLtMatrixLayout_t get() const { return handle_; }

 private:
  cublasLtMatrixLayout_t handle_ = nullptr;
};

class cublas_contender final : public contender {
 public:
  cublas_contender() : workspace_(workspace_bytes) {
    check(cublasLtCreate(&lt_), "starting cublasLt");
    check(cublasLtMatmulPreferenceCreate(&preference_), "creating a preference");
    check(cublasLtMatmulPreferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace_bytes,
                                               sizeof(workspace_bytes)),
          "setting the workspace");
  }
  ~cublas_contender() override {
    if (matmul_) (void)cublasLtMatmulDescDestroy(matmul_);
    (void)cublasLtMatmulPreferenceDestroy(preference_);
    (void)cublasLtDestroy(lt_);
  }

  std::string name() const override { return "cublas"; }
  std::string choice() const override { return choice_; }

  /// A row-major C is the column-major product of the transposed operands in reverse order: C^T = B^T A^T.
  std::string prepare(const problem& p, const std::vector<operands>& sets) override {
    if (p.type == element::e4m3 && (!p.b_col_major || p.a_col_major))
      return "cublasLt's fp8 kernels want A row-major and B column-major";
    sets_ = sets;
    if (matmul_) check(cublasLtMatmulDescDestroy(std::exchange(matmul_, nullptr)), "destroying a descriptor");
    check(cublasLtMatmulDescCreate(&matmul_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "creating a descriptor");
    const cublasOperation_t b_operation = p.b_col_major ? CUBLAS_OP_T : CUBLAS_OP_N,
                            a_operation = p.a_col_major ? CUBLAS_OP_T : CUBLAS_OP_N;
    check(cublasLtMatmulDescSetAttribute(matmul_, CUBLASLT_MATMUL_DESC_TRANSA, &b_operation, sizeof(b_operation)),
          "setting an operation");
    check(cublasLtMatmulDescSetAttribute(matmul_, CUBLASLT_MATMUL_DESC_TRANSB, &a_operation, sizeof(a_operation)),
          "setting an operation");
    // Sums stay in the tensor cores' own precision, as in this library's fp8 kernels.
    const std::int8_t fast = p.type == element::e4m3;
    check(cublasLtMatmulDescSetAttribute(matmul_, CUBLASLT_MATMUL_DESC_FAST_ACCUM, &fast, sizeof(fast)),
          "setting the accumulation");
    b_ = p.b_col_major ? layout(p.type, p.k, p.n) : layout(p.type, p.n, p.k);
    a_ = p.a_col_major ? layout(p.type, p.m, p.k) : layout(p.type, p.k, p.m);
    c_ = layout(p.c_type(), p.n, p.m);

    constexpr int wanted = 16;
    cublasLtMatmulHeuristicResult_t proposals[wanted];
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(lt_, matmul_, b_.get(), a_.get(), c_.get(), c_.get(),
                                                                 preference_, wanted, proposals, &count);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0) return "cublasLt proposes no algorithm";
    const std::size_t chosen = fastest([&](std::size_t i) { algorithm_ = proposals[i].algo; }, std::size_t(count));
    algorithm_ = proposals[chosen].algo;
    choice_ = "proposal " + std::to_string(chosen + 1) + " of " + std::to_string(count) + description(algorithm_);
    return {};
  }

  void launch(std::size_t set, cudaStream_t stream) override {
    const float one = 1, zero = 0;
    const operands& o = sets_[set];
    check(cublasLtMatmul(lt_, matmul_, &one, o.b, b_.get(), o.a, a_.get(), &zero, o.c, c_.get(), o.c, c_.get(),
                         &algorithm_, workspace_.data(), workspace_bytes, stream),
          "running cublasLt");
  }

 private:
  /// The numbers of cublasLtMatmulTile_t, cublasLtClusterShape_t and cublasLtMatmulStages_t, and splits of k.
  static std::string description(const cublasLtMatmulAlgo_t& algorithm) {
    std::string text;
    for (const auto& [name, attribute] :
         {std::pair{"tile", CUBLASLT_ALGO_CONFIG_TILE_ID}, std::pair{"cluster", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID},
          std::pair{"stages", CUBLASLT_ALGO_CONFIG_STAGES_ID}, std::pair{"splits", CUBLASLT_ALGO_CONFIG_SPLITK_NUM}}) {
      std::int32_t value = 0;  // a cluster shape has 16 bits
      std::size_t written = 0;
      const std::size_t bytes = attribute == CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID ? 2 : 4;
      if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, bytes, &written) == CUBLAS_STATUS_SUCCESS)
        text += std::string(", ") + name + " " + std::to_string(value);
    }
    return text;
  }

  /// The number of the fastest proposal: a few launches of each; then all within 15 % of the best, for longer.
  std::size_t fastest(const std::function<void(std::size_t)>& select, std::size_t count) {
    std::vector<double> seconds(count);
    for (std::size_t i = 0; i < count; ++i) {
      select(i);
      seconds[i] = time_of_launches(1e-3);
    }
    const double first = *std::min_element(seconds.begin(), seconds.end());
    for (std::size_t i = 0; i < count; ++i) {
      if (seconds[i] > 1.15 * first) continue;
      select(i);
      seconds[i] = time_of_launches(10e-3);
    }
    return std::size_t(std::min_element(seconds.begin(), seconds.end()) - seconds.begin());
  }

  /// Seconds for one launch of the current algorithm, from launches of about `wanted` seconds in all.
  double time_of_launches(double wanted) {
    event first, begin, end;
    launch(0, nullptr);
    first.record();
    launch(0, nullptr);
    begin.record();
    const double once = begin.seconds_since(first);
    const int count = int(std::clamp(wanted / once, 1.0, 200.0));
    begin.record();
    for (int i = 0; i < count; ++i) launch(std::size_t(i + 1) % sets_.size(), nullptr);
    end.record();
    return end.seconds_since(begin) / count;
  }

  static constexpr std::size_t workspace_bytes = std::size_t(32) << 20;  // what NVIDIA recommends for this GPU
  buffer workspace_;
  cublasLtHandle_t lt_ = nullptr;
  cublasLtMatmulPreference_t preference_ = nullptr;
  cublasLtMatmulDesc_t matmul_ = nullptr;
  layout a_, b_, c_;
  cublasLtMatmulAlgo_t algorithm_{};
  std::vector<operands> sets_;
  std::string choice_;
};

}  // namespace

std::unique_ptr<contender> make_cublas_contender() { return std::make_unique<cublas_contender>(); }

}  // namespace gpu_benchmark
