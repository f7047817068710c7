// SPDX-License-Identifier: MIT
// libtilewright_grouped: grouped and block-scaled products as one C function, for benchmarks that load it from Python.
#include <tilewright/kernels/gemm/choice/grouped_choice.hpp>
#include <tilewright/kernels/gemm/choice/hopper_gemm_choice.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

#include "grouped_problem.hpp"

namespace {

namespace tw = tilewright;
using tw::hopper_gemm_tile;
using tw::operand_major;

template <class Kernel, class Policy>
const char* start(const grouped_problem& p, cudaStream_t stream) {
  typename Kernel::args_type args{};
  args.a = p.a;
  args.b = p.b;
  args.c = p.c;
  args.m = p.m;
  args.n = p.n;
  args.k = p.k;
  args.lda = p.lda;
  args.ldb = p.ldb;
  args.ldc = p.ldc;
  args.alpha = p.alpha;
  args.beta = p.beta;
  args.workspace = p.workspace;
  args.groups = p.groups;
  args.ends = p.ends;
  args.counts = p.counts;
  args.slot_rows = p.slot_rows;
  (Policy::groups == tw::group_kind::k ? args.batch_stride_c : args.batch_stride_b) = p.stride;
  if constexpr (Policy::is_block_scaled) {
    args.a_scales = p.a_scales;
    args.b_scales = p.b_scales;
    args.row_stride_a_scales = p.row_stride_a_scales;
    args.k_stride_a_scales = p.k_stride_a_scales;
    args.ld_b_scales = p.ld_b_scales;
    args.batch_stride_b_scales = p.stride_b_scales;
  }
  if (const char* why = Kernel::check(args)) return why;
  tw::launch<Kernel>(args, {.stream = stream});
  return nullptr;
}

constexpr hopper_gemm_tile tiles[] = {
    {.m = 128, .n = 256},
    {.m = 128, .n = 256, .cluster_n = 2},
    {.m = 128, .n = 256, .cluster_m = 2},
    {.m = 128, .n = 128},
    {.m = 128, .n = 128, .cluster_n = 2},
    {.m = 256, .n = 128, .cluster_n = 2},
    {.m = 128, .n = 192, .cluster_n = 2},
    {.m = 128, .n = 192, .cluster_m = 2},
};
enum tile_name { wide, wide_pair, tall_pair, square, square_pair, tall, middle, middle_tall };

// Named structs: nvcc cannot spell the arguments of the templates that they derive from.
template <class T, operand_major BMajor, tile_name Tile>
struct rows : tw::grouped<tw::gemm_hopper<T, operand_major::k, BMajor, tiles[Tile]>, tw::group_kind::rows> {};
template <class T, operand_major BMajor, tile_name Tile>
struct rows_e4m3
    : tw::grouped<tw::gemm_hopper<T, operand_major::k, BMajor, tiles[Tile], tw::bfloat16_t>, tw::group_kind::rows> {};
template <class T, tile_name Tile>
struct along_k : tw::grouped<tw::gemm_hopper<T, operand_major::mn, operand_major::mn, tiles[Tile]>, tw::group_kind::k> {
};
template <tile_name Tile>
struct scaled : tw::block_scaled<
                    tw::gemm_hopper<tw::fp8_ocp_t, operand_major::k, operand_major::k, tiles[Tile], tw::bfloat16_t>> {};
template <tile_name Tile>
struct scaled_rows : tw::grouped<scaled<Tile>, tw::group_kind::rows> {};
template <class, operand_major, tile_name Tile>
using scaled_of = scaled<Tile>;
template <class, operand_major, tile_name Tile>
using scaled_rows_of = scaled_rows<Tile>;

/// Kernel<Policy> with the tile that choose_grouped_tile() chooses.
template <template <class> class Kernel, template <class, operand_major, tile_name> class Of, class T,
          operand_major BMajor>
const char* start_chosen(const grouped_problem& p, cudaStream_t stream) {
  const tw::grouped_args args{{.m = p.m, .n = p.n, .k = p.k, .workspace = p.workspace}, p.groups};
  const auto run = [&]<class Policy>(Policy) { return start<Kernel<Policy>, Policy>(p, stream); };
  switch (tw::choose_grouped_tile(args, 132, sizeof(T), Of<T, BMajor, wide>::is_block_scaled)) {
    case 0: return run(Of<T, BMajor, wide>{});
    case 1: return run(Of<T, BMajor, tall_pair>{});
    case 2: return run(Of<T, BMajor, middle_tall>{});
    default: return run(Of<T, BMajor, square>{});
  }
}

}  // namespace

extern "C" int tilewright_grouped_problem_bytes() { return sizeof(grouped_problem); }

extern "C" const char* tilewright_grouped(const char* name, const grouped_problem* p, void* given_stream) {
  const auto stream = static_cast<cudaStream_t>(given_stream);
  static thread_local std::string message;
  using enum operand_major;
  using bf16 = tw::bfloat16_t;
  const std::string wanted = name;
  try {
#define TILEWRIGHT_CASE(text, ...) \
  if (wanted == text) return start<tw::grouped_gemm_kernel<__VA_ARGS__>, __VA_ARGS__>(*p, stream)
    if (wanted == "bf16 auto") return start_chosen<tw::grouped_gemm_kernel, rows, bf16, k>(*p, stream);
    if (wanted == "f16 auto") return start_chosen<tw::grouped_gemm_kernel, rows, tw::half_t, k>(*p, stream);
    if (wanted == "dx bf16 auto") return start_chosen<tw::grouped_gemm_kernel, rows, bf16, mn>(*p, stream);
    if (wanted == "e4m3 auto") return start_chosen<tw::grouped_gemm_kernel, rows_e4m3, tw::fp8_ocp_t, k>(*p, stream);
    TILEWRIGHT_CASE("bf16 wide", rows<bf16, k, wide>);
    TILEWRIGHT_CASE("bf16 wide_pair", rows<bf16, k, wide_pair>);
    TILEWRIGHT_CASE("bf16 tall_pair", rows<bf16, k, tall_pair>);
    TILEWRIGHT_CASE("bf16 square", rows<bf16, k, square>);
    TILEWRIGHT_CASE("bf16 square_pair", rows<bf16, k, square_pair>);
    TILEWRIGHT_CASE("bf16 tall", rows<bf16, k, tall>);
    TILEWRIGHT_CASE("bf16 middle", rows<bf16, k, middle>);
    TILEWRIGHT_CASE("dx bf16 wide_pair", rows<bf16, mn, wide_pair>);
    TILEWRIGHT_CASE("dx bf16 tall_pair", rows<bf16, mn, tall_pair>);
    TILEWRIGHT_CASE("dw bf16 wide_pair", along_k<bf16, wide_pair>);
    TILEWRIGHT_CASE("dw bf16 tall_pair", along_k<bf16, tall_pair>);
    TILEWRIGHT_CASE("dw bf16 wide", along_k<bf16, wide>);
    TILEWRIGHT_CASE("dw bf16 square", along_k<bf16, square>);
    TILEWRIGHT_CASE("dw bf16 square_pair", along_k<bf16, square_pair>);
    TILEWRIGHT_CASE("dw f16 tall_pair", along_k<tw::half_t, tall_pair>);
    if (wanted == "dense scaled auto") return start_chosen<tw::gemm_kernel, scaled_of, tw::fp8_ocp_t, k>(*p, stream);
    if (wanted == "scaled auto")
      return start_chosen<tw::grouped_gemm_kernel, scaled_rows_of, tw::fp8_ocp_t, k>(*p, stream);
#define TILEWRIGHT_SCALED(tile)                                                                               \
  if (wanted == "dense scaled " #tile) return start<tw::gemm_kernel<scaled<tile>>, scaled<tile>>(*p, stream); \
  TILEWRIGHT_CASE("scaled " #tile, scaled_rows<tile>)
    TILEWRIGHT_SCALED(tall_pair);
    TILEWRIGHT_SCALED(wide);
    TILEWRIGHT_SCALED(wide_pair);
    TILEWRIGHT_SCALED(middle_tall);
#undef TILEWRIGHT_SCALED
#undef TILEWRIGHT_CASE
    return "there is no kernel of this name";
  } catch (const tw::launch_error& error) {
    message = error.what();
    return message.c_str();
  }
}
