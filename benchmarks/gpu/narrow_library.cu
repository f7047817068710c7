// SPDX-License-Identifier: MIT
// libtilewright_narrow: small-M GEMM with narrow weights as C functions, for benchmarks that load them from Python.
// Compiled once for each format: TILEWRIGHT_NARROW_FORMAT is its type, TILEWRIGHT_NARROW_NAME the function's name.
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/launch/launch.hpp>

/// Arguments of any kernel. Strides in elements.
struct narrow_problem {
  const void *a, *b, *b_scales, *b_zeros;
  void *c, *workspace;
  int m, n, k;
  int lda, ldb, ldc, ld_b_scales;
  int is_half;
};

namespace {

namespace tw = tilewright;
using format = TILEWRIGHT_NARROW_FORMAT;

// Named structs: nvcc cannot spell the arguments of the templates that they derive from.
template <class T, int Rows>
struct policy : tw::narrow_policy<T, format, Rows> {};

template <class T, int Rows>
const char* start(const narrow_problem& p, cudaStream_t stream) {
  using kernel = tw::small_m_gemm<policy<T, Rows>>;
  tw::narrow_args args{};
  args.a = p.a, args.b = p.b, args.c = p.c;
  args.m = p.m, args.n = p.n, args.k = p.k;
  args.lda = p.lda, args.ldb = p.ldb, args.ldc = p.ldc;
  args.b_scales = p.b_scales, args.b_zeros = p.b_zeros, args.ld_b_scales = p.ld_b_scales;
  args.workspace = p.workspace;
  if (const char* why = kernel::check(args)) return why;
  tw::launch<kernel>(args, {.stream = stream});
  return nullptr;
}

template <class T>
const char* start_rows(const narrow_problem& p, cudaStream_t stream) {
  return p.m <= 8 ? start<T, 8>(p, stream) : start<T, 16>(p, stream);
}

}  // namespace

/// Queues the kernel; an error message where it cannot.
extern "C" const char* TILEWRIGHT_NARROW_NAME(const narrow_problem* p, void* stream) {
  const auto s = static_cast<cudaStream_t>(stream);
  return p->is_half ? start_rows<tw::half_t>(*p, s) : start_rows<tw::bfloat16_t>(*p, s);
}
