// SPDX-License-Identifier: MIT
// add_kernels: compiles an operation's kernels for a target into the program, where the calls of tilewright::ops find
// them. For the CPU emulator; include it in files of their own: each function compiles some kernels.
#pragma once

#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/hopper/small_m_gemm.hpp>
#include <tilewright/kernels/gemm/scaled/narrow_gemm.hpp>
#include <tilewright/kernels/gemm/two_products.hpp>
#include <tilewright/kernels/rows/cross_entropy.hpp>
#include <tilewright/kernels/rows/launch_rows.hpp>
#include <tilewright/kernels/rows/norm.hpp>
#include <tilewright/kernels/rows/rotary.hpp>
#include <tilewright/kernels/rows/softmax.hpp>
#include <tilewright/launch/launch.hpp>
#include <tilewright/ops/compiled_kernel.hpp>

#include <cstring>
#include <string>
#include <utility>

namespace tilewright::ops {

namespace detail {

template <class T>
constexpr const char* element_name() {
  return __is_same(T, half_t)       ? "f16"
         : __is_same(T, bfloat16_t) ? "bf16"
         : __is_same(T, int8_t)     ? "i8"
         : __is_same(T, int)        ? "i32"
                                    : "f32";
}

/// The registry's name of a target that the CPU emulates.
template <class Arch>
std::string emulated_name() {
  return std::string(Arch::value.name) + ", CPU emulator";
}

/// The arguments of a call as those of a kernel, which name element types.
template <class Args>
Args arguments(const void* given) {
  Args args;
  std::memcpy(static_cast<void*>(&args), given, sizeof args);
  return args;
}

template <class Kernel>
void add_kernel(const std::string& name) {
  using args_type = typename Kernel::args_type;
  register_kernel({.target = emulated_name<typename Kernel::arch>(),
                   .name = name,
                   .args_bytes = sizeof(args_type),
                   .check = [](const void* args) { return Kernel::check(arguments<args_type>(args)); },
                   .launch = [](const void* args, void*) { launch<Kernel>(arguments<args_type>(args)); }});
}

/// Of a kernel on rows, tiles for rows up to 1024 and 8192 elements, and longer ones part by part.
template <template <row_tile> class Kernel>
void add_rows(const std::string& name) {
  using any = Kernel<row_tile{}>;
  using args_type = typename any::args_type;
  register_kernel(
      {.target = emulated_name<typename any::arch>(),
       .name = name,
       .args_bytes = sizeof(args_type),
       .check = [](const void*) -> const char* { return nullptr; },  // launch_rows asks the tile's
       .launch = [](const void* args, void*) { launch_rows<Kernel, 1024, 8192>(arguments<args_type>(args)); }});
}

template <class Arch, class T, class Format, block_tile Tile, index_t CVector>
struct narrow_with_epilogue : dequantising_policy<Arch, T, plain_format<T>, Format, Tile, CVector> {
  using epilogue = tilewright::epilogue::from_args;
};

template <class Arch, class T, operand_major A, operand_major B, index_t Vector, class R>
struct gemm_with_epilogue : gemm_policy<Arch, T, A, B, Vector> {
  using result_type = R;
  using epilogue = tilewright::epilogue::from_args;
};
template <class Arch, class T, operand_major A, operand_major B, index_t Vector, class R>
struct gemm_of_integers : gemm_policy<Arch, T, A, B, Vector> {
  using result_type = R;
};
template <class Arch, class T, operand_major A, operand_major B, index_t Vector, class R>
struct gemm_with_gate : gemm_policy<Arch, T, A, B, Vector> {
  using result_type = R;
  using epilogue = tilewright::epilogue::swiglu;
  static constexpr index_t products = 2;
};

template <class Arch, class T, operand_major A, operand_major B, index_t Vector, class R>
void add_gemm() {
  const std::string name = std::string("gemm_128x128_") + element_name<T>() + (A == operand_major::k ? "_ak" : "_am") +
                           (B == operand_major::k ? "_bk" : "_bn") + "_to_" + element_name<R>(),
                    vector = "_v" + std::to_string(Vector);
  if constexpr (__is_same(R, int)) {
    add_kernel<gemm_kernel<gemm_of_integers<Arch, T, A, B, Vector, R>>>(name + vector);
  } else {
    using kernel = gemm_kernel<gemm_with_epilogue<Arch, T, A, B, Vector, R>>;  // it does without an epilogue, too
    add_kernel<kernel>(name + vector);
    add_kernel<kernel>(name + "_epilogue" + vector);
    add_kernel<gemm_kernel<gemm_with_gate<Arch, T, A, B, Vector, R>>>(name + "_gate" + vector);
  }
}

}  // namespace detail

/// gemm for one order of A and of B (k: contiguous along k), elements T and results R: tiles of 128 x 128 with vectors
/// of 16 bytes and without, with epilogue and with gate. Returns true, so that it may initialise a constant.
template <class Arch, class T, operand_major A = operand_major::k, operand_major B = operand_major::k,
          class R = default_result_t<T>>
bool add_gemm() {
  detail::add_gemm<Arch, T, A, B, 16 / index_t(sizeof(T)), R>();
  detail::add_gemm<Arch, T, A, B, 1, R>();
  return true;
}

/// narrow_gemm for up to Rows (8 or 16) rows of A, A and C of T and a format by the name that explain() gives it
/// ("mxfp4"), for sm_90, with vectors of C and without, with epilogue and without. Returns true.
template <class T, class Format, index_t Rows>
bool add_narrow_gemm(const std::string& format) {
  const std::string type = detail::element_name<T>();
  const auto add = [&]<index_t CVector>(number<CVector>) {
    using kernel = small_m_gemm<narrow_policy<T, Format, Rows, CVector, T, epilogue::from_args>>;
    const std::string name = "narrow_gemm_" + format + "_m" + std::to_string(Rows) + "_v" + std::to_string(CVector) +
                             "_" + type + "_to_" + type;
    detail::add_kernel<kernel>(name);
    detail::add_kernel<kernel>(name + "_epilogue");
  };
  add(number<4>{});
  add(number<1>{});
  return true;
}

/// narrow_gemm on any other target, and on sm_90 for more rows: for up to 32 rows of A (Rows 32) or more (33), with
/// vectors of C and without, with epilogue and without. Returns true.
template <class Arch, class T, class Format, index_t Rows>
bool add_narrow_gemm_any(const std::string& format) {
  constexpr block_tile tile = tilewright::detail::dequantising_tile<Arch, T>(Rows);
  const std::string type = detail::element_name<T>(), size = std::to_string(tile.m) + "x" + std::to_string(tile.n);
  const auto add = [&]<index_t CVector>(number<CVector>) {
    using policy = detail::narrow_with_epilogue<Arch, T, Format, tile, CVector>;
    const std::string name =
        "narrow_gemm_" + format + "_" + size + "_v" + std::to_string(CVector) + "_" + type + "_to_" + type;
    detail::add_kernel<tilewright::narrow_gemm<policy>>(name);
    detail::add_kernel<tilewright::narrow_gemm<policy>>(name + "_epilogue");
  };
  add(number<8>{});
  add(number<1>{});
  return true;
}

/// attention for equal head dimensions of Q, K and V.
template <class Arch, class T, index_t HeadDim>
bool add_attention() {
  detail::add_kernel<attention_forward<attention_policy<Arch, T, HeadDim>>>("attention_d" + std::to_string(HeadDim) +
                                                                            "_" + detail::element_name<T>());
  return true;
}

template <class Arch, class T, norm_kind Kind>
struct norm_of {
  template <row_tile Tile>
  using kernel = row_norm<Arch, T, Tile, Kind>;
};
template <class Arch, class T, softmax_kind Kind>
struct softmax_of {
  template <row_tile Tile>
  using kernel = tilewright::softmax<Arch, T, Tile, Kind>;
};
template <class Arch, class T>
struct cross_entropy_of {
  template <row_tile Tile>
  using kernel = tilewright::cross_entropy<Arch, T, Tile>;
};

/// rms_norm with results of T.
template <class Arch, class T>
bool add_rms_norm() {
  detail::add_rows<norm_of<Arch, T, norm_kind::rms_norm>::template kernel>(std::string("rms_norm_") +
                                                                           detail::element_name<T>());
  return true;
}
/// layer_norm with results of T.
template <class Arch, class T>
bool add_layer_norm() {
  detail::add_rows<norm_of<Arch, T, norm_kind::layer_norm>::template kernel>(std::string("layer_norm_") +
                                                                             detail::element_name<T>());
  return true;
}
/// softmax, not its logarithm.
template <class Arch, class T>
bool add_softmax() {
  detail::add_rows<softmax_of<Arch, T, softmax_kind::softmax>::template kernel>(std::string("softmax_") +
                                                                                detail::element_name<T>());
  return true;
}
/// cross_entropy without a gradient.
template <class Arch, class T>
bool add_cross_entropy() {
  detail::add_rows<cross_entropy_of<Arch, T>::template kernel>(std::string("cross_entropy_") +
                                                               detail::element_name<T>());
  return true;
}
/// rotary for pairs of elements i and i + pairs: any alignment.
template <class Arch, class T>
bool add_rotary() {
  detail::add_kernel<tilewright::rotary<Arch, T, rotary_kind::half_split, 1>>(std::string("rotary_") +
                                                                              detail::element_name<T>());
  return true;
}

}  // namespace tilewright::ops
