// SPDX-License-Identifier: MIT
// libtilewright_rows: the kernels on rows behind one C function, for benchmarks that load it from Python.
#include <tilewright/launch/launch.hpp>
#include <tilewright/rows/map_rows.hpp>
#include <tilewright/rows/norm.hpp>
#include <tilewright/rows/softmax.hpp>
#include <tilewright/rows/transpose.hpp>

#include <string>

/// Arguments of any kernel; each reads what it needs. Strides in elements.
struct rows_args {
  const void *x, *x2, *weight, *bias;
  void *y, *sum;
  float* scale;
  int rows, cols, batch;
  long long x_stride, y_stride;  // x2 and sum have that of x
};

namespace {

namespace tw = tilewright;
using tw::index_t;
using arch = tw::arch::sm90;

template <class Kernel>
const char* start(const typename Kernel::args_type& args, cudaStream_t stream) {
  if (const char* why = Kernel::check(args)) return why;
  tw::launch<Kernel>(args, {.stream = stream});
  return nullptr;
}

/// The smallest of some tiles that holds a row, with vectors of 16 bytes if they fit. Kernel<row_tile> is a kernel.
template <template <tw::row_tile> class Kernel, index_t Vector>
const char* start_rows(const auto& args, cudaStream_t stream) {
  using tw::choose_row_tile;
  const char* why = nullptr;
  if (args.cols <= 1024) {
    why = start<Kernel<choose_row_tile(1024, Vector)>>(args, stream);
  } else if (args.cols <= 8192) {
    why = start<Kernel<choose_row_tile(8192, Vector)>>(args, stream);
  } else {
    why = start<Kernel<choose_row_tile(32768, Vector)>>(args, stream);
  }
  if (!why) return nullptr;
  return start<Kernel<choose_row_tile(4096, 1)>>(args, stream);
}

template <class T, tw::softmax_kind Kind>
struct softmax_of {
  template <tw::row_tile Tile>
  using kernel = tw::softmax<arch, T, Tile, Kind>;
};
template <class T, tw::norm_kind Kind, class Result>
struct norm_of {
  template <tw::row_tile Tile>
  using kernel = tw::row_norm<arch, T, Tile, Kind, Result>;
};

template <class T, tw::softmax_kind Kind>
const char* softmax(const rows_args& a, cudaStream_t stream) {
  const tw::softmax_args<T> args{
      static_cast<const T*>(a.x), static_cast<T*>(a.y), a.rows, a.cols, a.x_stride, a.y_stride};
  return start_rows<softmax_of<T, Kind>::template kernel, 16 / sizeof(T)>(args, stream);
}

template <class T, tw::norm_kind Kind, class Result = T>
const char* norm(const rows_args& a, cudaStream_t stream) {
  const tw::norm_args<T, Result> args{.x = static_cast<const T*>(a.x),
                                      .residual = static_cast<const T*>(a.x2),
                                      .sum = static_cast<T*>(a.sum),
                                      .weight = static_cast<const T*>(a.weight),
                                      .bias = static_cast<const T*>(a.bias),
                                      .y = static_cast<Result*>(a.y),
                                      .scale = a.scale,
                                      .rows = a.rows,
                                      .cols = a.cols,
                                      .x_stride = a.x_stride,
                                      .residual_stride = a.x_stride,
                                      .sum_stride = a.x_stride,
                                      .y_stride = a.y_stride};
  return start_rows<norm_of<T, Kind, Result>::template kernel, 16 / sizeof(T)>(args, stream);
}

template <class T>
const char* transpose(const rows_args& a, cudaStream_t stream) {
  const tw::transpose_args<T> args{
      static_cast<const T*>(a.x), static_cast<T*>(a.y), a.rows, a.cols, a.batch, a.x_stride, a.y_stride,
      a.rows * a.x_stride,        a.cols * a.y_stride};
  if (start<tw::transpose<arch, T>>(args, stream) == nullptr) return nullptr;
  return start<tw::transpose<arch, T, 1>>(args, stream);
}

template <class T, class Result, class Function = tw::copy_function>
const char* map(const rows_args& a, cudaStream_t stream) {
  const tw::map_args<T, Result> args{static_cast<const T*>(a.x),
                                     static_cast<const T*>(a.x2),
                                     static_cast<Result*>(a.y),
                                     a.rows,
                                     a.cols,
                                     a.x_stride,
                                     a.x_stride,
                                     a.y_stride};
  constexpr index_t vector = 16 / tw::max(sizeof(T), sizeof(Result));
  if (!start<tw::map_rows<arch, T, Result, tw::row_tile{256, 256, 4, vector}, Function>>(args, stream)) return nullptr;
  return start<tw::map_rows<arch, T, Result, tw::row_tile{256, 256, 4, 1}, Function>>(args, stream);
}

using function = const char* (*)(const rows_args&, cudaStream_t);
constexpr struct {
  const char* name;
  function call;
} kernels[] = {
    {"transpose_16", transpose<unsigned short>},
    {"transpose_32", transpose<unsigned>},
    {"softmax_f32", softmax<float, tw::softmax_kind::softmax>},
    {"softmax_bf16", softmax<tw::bfloat16_t, tw::softmax_kind::softmax>},
    {"log_softmax_f32", softmax<float, tw::softmax_kind::log_softmax>},
    {"rms_norm_bf16", norm<tw::bfloat16_t, tw::norm_kind::rms_norm>},
    {"layer_norm_bf16", norm<tw::bfloat16_t, tw::norm_kind::layer_norm>},
    {"rms_norm_bf16_e4m3", norm<tw::bfloat16_t, tw::norm_kind::rms_norm, tw::fp8_ocp_t>},
    {"copy_bf16", map<tw::bfloat16_t, tw::bfloat16_t>},
    {"cast_f32_bf16", map<float, tw::bfloat16_t>},
    {"cast_bf16_e4m3", map<tw::bfloat16_t, tw::fp8_ocp_t>},
    {"gelu_bf16", map<tw::bfloat16_t, tw::bfloat16_t, tw::gelu_function>},
    {"swiglu_bf16", map<tw::bfloat16_t, tw::bfloat16_t, tw::swiglu_function>},
};

}  // namespace

/// Queues the kernel of this name. Returns null, or why it was refused: a text that lives until the next call.
extern "C" const char* tilewright_rows(const char* kernel, const rows_args* args, cudaStream_t stream) {
  static std::string message;
  try {
    for (const auto& known : kernels) {
      if (known.name == std::string(kernel)) {
        const char* const why = known.call(*args, stream);
        if (why) message = why;
        return why ? message.c_str() : nullptr;
      }
    }
    message = "there is no kernel of this name";
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the arguments themselves.
extern "C" int tilewright_rows_args_bytes() { return int(sizeof(rows_args)); }
