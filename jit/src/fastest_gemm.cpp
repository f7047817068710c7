// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <tilewright/jit/compiler.hpp>
#include <tilewright/jit/gemm.hpp>
#include <tilewright/kernels/gemm/choice/gemm_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_tile_family.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_plan.hpp>
#include <tilewright/launch/tuning/find_fastest.hpp>

namespace tilewright::jit {
namespace {

/// Elements between 0.5 and 1 of both signs, f16, bf16 or e4m3: a GPU is faster where bits do not vary.
std::string random_elements(element type, std::size_t count) {
  const bool is_byte = type == element::fp8;
  const unsigned base = is_byte ? 0x30 : type == element::bf16 ? 0x3f00 : 0x3800;
  const unsigned varied = is_byte ? 0x87 : type == element::bf16 ? 0x807f : 0x83ff;
  std::mt19937 random(1);
  std::string bytes(count * (is_byte ? 1 : 2), char());
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned bits = base | (unsigned(random()) & varied);
    for (std::size_t byte = 0; byte < bytes.size() / count; ++byte)
      bytes[i * (bytes.size() / count) + byte] = char(bits >> (8 * byte));
  }
  return bytes;
}

/// Elements from the first to the last of a batch of matrices.
std::size_t extent(long_index_t lines, index_t ld, index_t batch, long_index_t batch_stride) {
  return std::size_t(lines * ld + (batch - 1) * batch_stride);
}

/// A, B and C in enough copies that L2 holds none of them until it is used again.
class operand_copies {
 public:
  operand_copies(compiler& by, const gemm_problem& p) : workspace_(by.allocate(hopper_gemm_workspace::bytes)) {
    workspace_.clear();
    const gemm_args& g = p.args;
    const std::string a = random_elements(p.type, extent(p.a_along_k ? g.m : g.k, g.lda, g.batch, g.batch_stride_a));
    const std::string b = random_elements(p.type, extent(p.b_along_k ? g.n : g.k, g.ldb, g.batch, g.batch_stride_b));
    const std::size_t c = extent(g.m, g.ldc, g.batch, g.batch_stride_c) * (p.result == element::f32 ? 4 : 2);
    constexpr std::size_t l2_bytes = 64 << 20;
    const std::size_t copies = std::clamp<std::size_t>(2 * l2_bytes / (a.size() + b.size() + c) + 1, 2, 64);
    for (std::size_t i = 0; i < copies; ++i) {
      gemm_args args = g;
      args.a = add(by, a.size(), a.data());
      args.b = add(by, b.size(), b.data());
      args.c = add(by, c, nullptr);
      args.workspace = workspace_.data();
      args_.push_back(args);
    }
  }
  const std::vector<gemm_args>& args() const { return args_; }

 private:
  void* add(compiler& by, std::size_t bytes, const char* from) {
    buffers_.push_back(by.allocate(bytes));
    from ? buffers_.back().upload(from) : buffers_.back().clear();
    return buffers_.back().data();
  }
  buffer workspace_;
  std::vector<buffer> buffers_;
  std::vector<gemm_args> args_;
};

/// Kernels of policies that were timed.
class timed_policies {
 public:
  timed_policies(compiler& by, const gemm_problem& problem) : by_(by), operands_(by, problem) {}

  /// The fastest of some, of which the first is the likeliest.
  std::size_t fastest(const std::vector<gemm_problem>& problems) {
    std::vector<kernel_request> requests;
    for (const gemm_problem& p : problems) requests.push_back(gemm(p));
    by_.prepare(requests);
    std::vector<std::vector<bound_kernel>> bound;
    for (const kernel_request& request : requests) {
      const kernel loaded = by_.load(request);
      bound.emplace_back();
      for (const gemm_args& args : operands_.args()) bound.back().push_back(loaded.bind(args));
    }
    const auto measure = [&](const std::vector<tuning_batch>& batches) {
      std::vector<repeated_launch> launches;
      for (const tuning_batch& batch : batches)
        launches.push_back(
            {[&of = bound[batch.contender], i = std::size_t(0)](void* stream) mutable { of[i++ % of.size()](stream); },
             batch.launches});
      return by_.time(launches);
    };
    return find_fastest(problems.size(), measure, {.limit_seconds = 0.15});
  }

 private:
  compiler& by_;
  operand_copies operands_;
};

/// What differs from a choice in one way, and has a kernel.
std::vector<gemm_problem> around(const gemm_problem& problem, const gemm_choice& choice) {
  std::vector<gemm_problem> list;
  const auto add = [&](const gemm_choice& other) {
    gemm_problem p = problem;
    p.policy = name_of(other);
    if (other != choice && other.tile.is_sound() && !rank_gemm(p, "sm_90a").empty()) list.push_back(p);
  };
  for (const index_t columns : {-16, -8, 8, 16}) {
    gemm_choice other = choice;
    other.tile.n += columns;
    if (other.tile.n >= 8) add(other);
  }
  for (const auto& cluster : tilewright::detail::cluster_shapes) {
    gemm_choice other = choice;
    other.tile.cluster_m = cluster.m, other.tile.cluster_n = cluster.n;
    add(other);
  }
  gemm_choice other = choice;
  other.split_k = choice.split_k == 1 ? 0 : 1;
  add(other);
  return list;
}

}  // namespace

std::vector<gemm_problem> policies_to_time(const gemm_problem& problem, const std::string& target, std::size_t most) {
  constexpr int of_shape = 4;
  std::vector<gemm_problem> list;
  std::map<std::string, int> shapes;
  for (const gemm_candidate& c : rank_gemm(problem, target)) {
    std::string shape = c.choice;
    if (std::optional<gemm_choice> choice = choice_named(c.choice)) {
      choice->tile.cluster_m = choice->tile.cluster_n = 1;
      shape = name_of(choice->tile);
    }
    if (list.size() >= most || shapes[shape]++ >= of_shape) continue;
    list.push_back(problem);
    list.back().policy = c.choice;
  }
  return list;
}

gemm_problem fastest_gemm(compiler& by, const gemm_problem& problem) {
  if (by.target() != "sm_90a") throw error("GEMM is tuned on Hopper GPUs; this machine's is " + by.target());
  std::vector<gemm_problem> list = policies_to_time(problem, by.target(), tuning_effort{}.candidates);
  timed_policies timed(by, problem);
  const gemm_problem best = list[timed.fastest(list)];
  const std::optional<gemm_choice> choice = choice_named(best.policy);
  if (!choice || choice->kernel != gemm_kernel_kind::tile || choice->tile.unaligned) return best;
  list = around(problem, *choice);
  list.insert(list.begin(), best);
  return list[timed.fastest(list)];
}

}  // namespace tilewright::jit
