// SPDX-License-Identifier: MIT
// libtilewright_narrow: GEMM with narrow weights as C functions, for benchmarks that load them from Python.
// Compiled once for each format: TILEWRIGHT_NARROW_FORMAT is its type, TILEWRIGHT_NARROW_NAME the function's name.
#include <tilewright/kernels/gemm/choice/hopper_narrow_choice.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_narrow.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/launch/launch.hpp>

/// Arguments of any kernel. Strides in elements. groups > 0: B, scales and zero points of each, one after the other;
/// `ends` on the GPU are the rows of A at which groups end.
struct narrow_problem {
  const void *a, *b, *b_scales, *b_zeros;
  void *c, *workspace;
  int m, n, k;
  int lda, ldb, ldc, ld_b_scales;
  int is_half;
  int groups;
  const int* ends;
};

namespace {

namespace tw = tilewright;
using format = TILEWRIGHT_NARROW_FORMAT;

// Named structs: nvcc cannot spell the arguments of the templates that they derive from.
template <class T, int Rows>
struct policy : tw::narrow_policy<T, format, Rows> {};

template <int Tile>
struct hopper_policy
    : tw::hopper_narrow_policy<tw::bfloat16_t, tw::operand_major::k, format, tw::hopper_narrow_tiles[Tile].tile,
                               tw::hopper_narrow_tiles[Tile].tile_k_of(format::bits, format::group,
                                                                       sizeof(format::scale_type))> {};
template <int Tile>
struct grouped_policy : tw::grouped<hopper_policy<Tile>, tw::group_kind::rows> {};

template <class Kernel>
const char* start(const narrow_problem& p, cudaStream_t stream) {
  tw::narrow_args args{};
  args.a = p.a, args.b = p.b, args.c = p.c;
  args.m = p.m, args.n = p.n, args.k = p.k;
  args.lda = p.lda, args.ldb = p.ldb, args.ldc = p.ldc;
  args.b_scales = p.b_scales, args.b_zeros = p.b_zeros, args.ld_b_scales = p.ld_b_scales;
  args.workspace = p.workspace;
  args.groups = p.groups, args.ends = p.ends;
  if (p.groups > 0) {
    args.batch_stride_b = tw::long_index_t(p.n) * p.ldb;
    args.batch_stride_b_scales = tw::long_index_t(p.n) * p.ld_b_scales;
  }
  if (const char* why = Kernel::check(args)) return why;
  tw::launch<Kernel>(args, {.stream = stream});
  return nullptr;
}

/// The tile is chosen by the mean number of rows of a group.
const char* start_tile(const narrow_problem& p, cudaStream_t stream) {
  const tw::index_t tile = tw::choose_narrow_tile(p.groups > 0 ? p.m / p.groups + 1 : p.m, p.n, p.k).tile.n;
  const auto with = [&]<int Tile>(tw::number<Tile>) {
    return p.groups > 0 ? start<tw::grouped_narrow_gemm<grouped_policy<Tile>>>(p, stream)
                        : start<tw::hopper_narrow_gemm<hopper_policy<Tile>>>(p, stream);
  };
  return tile <= 32    ? with(tw::number<1>{})
         : tile == 64  ? with(tw::number<2>{})
         : tile == 128 ? with(tw::number<3>{})
                       : with(tw::number<4>{});
}

template <class T>
const char* start_rows(const narrow_problem& p, cudaStream_t stream) {
  return p.m <= 8 ? start<tw::small_m_gemm<policy<T, 8>>>(p, stream)
                  : start<tw::small_m_gemm<policy<T, 16>>>(p, stream);
}

}  // namespace

/// Queues the kernel; an error message where it cannot.
extern "C" const char* TILEWRIGHT_NARROW_NAME(const narrow_problem* p, void* stream) {
  const auto s = static_cast<cudaStream_t>(stream);
  if (p->m > 16 || p->groups > 0)
    return p->is_half ? "this library has kernels for more than 16 rows of bf16 alone" : start_tile(*p, s);
  return p->is_half ? start_rows<tw::half_t>(*p, s) : start_rows<tw::bfloat16_t>(*p, s);
}
