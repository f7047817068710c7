// SPDX-License-Identifier: MIT
// What GEMM kernels for Hopper get from the host, as text: nvcc's host code and that of the C++ compiler must make the
// same of it. (nvcc 13 loses members of a list with designators that a template assigns.)
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_hopper.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_narrow_gemm.hpp>

#include <cstdio>

namespace {

namespace tw = tilewright;
using enum tw::operand_major;

constexpr tw::hopper_gemm_tile wide{.m = 128, .n = 256}, pair{.m = 128, .n = 72, .cluster_m = 2},
    exchanged{.m = 128, .n = 16, .swap_ab = true};
using half = tw::gemm_hopper<tw::half_t, k, k, pair>;
using e4m3 = tw::block_scaled<tw::gemm_hopper<tw::fp8_ocp_t, k, k, wide, tw::bfloat16_t>>;
using narrow = tw::hopper_narrow_policy<tw::bfloat16_t, k, tw::int4_groups<128>, exchanged, 128>;

template <class Policy, tw::group_kind Groups>
using grouped = tw::grouped_gemm_kernel<tw::grouped<Policy, Groups>>;

void print_map(tw::exec::tensor_map&, const tw::exec::tensor_map_request& r) {
  std::printf("  %p %d lengths %ld %ld %ld strides %ld %ld box %d %d ragged %d row %d\n", r.data, int(r.element),
              long(r.lengths[0]), long(r.lengths[1]), long(r.lengths[2]), long(r.stride_bytes[0]),
              long(r.stride_bytes[1]), r.box[0], r.box[1], int(r.ragged), int(r.padded_row_bytes));
}

template <class Kernel>
void print(const char* name) {
  char* const memory = reinterpret_cast<char*>(1 << 20);  // a plan reads none of it
  typename Kernel::args_type g{};
  g.a = memory, g.b = memory + 256, g.c = memory + 512, g.workspace = memory + 1024;
  g.m = 1000, g.n = 272, g.k = 1152, g.lda = 1160, g.ldb = 1168, g.ldc = 1176;
  if constexpr (requires { g.groups; }) {
    g.groups = 3, g.ends = reinterpret_cast<tw::index_t*>(memory);
    g.batch_stride_b = 1168 * 1152, g.batch_stride_c = 1000 * 1176;
  }
  if constexpr (requires { g.a_scales; }) g.row_stride_a_scales = 1, g.k_stride_a_scales = 1000;
  const tw::launch_facts facts{.resident_clusters = 60, .make_tensor_map = print_map};
  std::printf("%s\n", name);
  const auto d = Kernel::prepare(g, facts);
  std::printf("  %d blocks, %d ordered k tiles, %d slots, %d x %d x %d, rows of %d\n", d.blocks, d.ordered_k_tiles,
              d.memory.max_slots, d.args.m, d.args.n, d.args.k, d.args.lda);
  if constexpr (requires { d.tiles; }) std::printf("  %d columns, %d rows\n", d.tiles.cols, d.tiles.order_rows);
}

}  // namespace

int main() {
  print<tw::gemm_kernel<half>>("f16");
  print<tw::gemm_kernel<tw::gemm_hopper<tw::bfloat16_t, mn, mn, exchanged>>>("bf16, exchanged");
  print<tw::gemm_kernel<e4m3>>("block-scaled e4m3");
  print<tw::hopper_narrow_gemm<narrow>>("int4");
  print<grouped<half, tw::group_kind::rows>>("f16, groups of rows");
  print<grouped<tw::gemm_hopper<tw::half_t, k, k, exchanged>, tw::group_kind::rows>>("f16, exchanged groups of rows");
  print<grouped<e4m3, tw::group_kind::rows>>("block-scaled e4m3, groups of rows");
  print<grouped<tw::gemm_hopper<tw::half_t, mn, mn, wide>, tw::group_kind::k>>("f16, groups of k");
}
