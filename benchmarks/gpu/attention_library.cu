// SPDX-License-Identifier: MIT
// libtilewright_attention: the attention kernels behind one C function, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T, tw::index_t HeadDim, tw::index_t ValueDim>
struct portable : tw::attention_policy<tw::arch::sm90, T, HeadDim, ValueDim> {};
template <class T, tw::index_t HeadDim, tw::index_t ValueDim>
struct on_hopper : tw::hopper_attention_policy<T, HeadDim, ValueDim> {};
// Faster for short sequences.
template <class T>
struct short_rows : tw::hopper_attention_policy<T, 128, 128, tw::hopper_attention_tile{128, 128, 2, false}> {};
template <class T>
struct short_narrow_rows : tw::hopper_attention_policy<T, 64, 64, tw::hopper_attention_tile{128, 64, 2, false, 2}> {};

template <class T>
bool forward(bool is_portable, int head_dim, int value_dim, const tw::attention_args& args, cudaStream_t stream) {
  const auto try_dims = [&]<tw::index_t D, tw::index_t Dv>() {
    if (head_dim != D || value_dim != Dv) return false;
    if constexpr (sizeof(T) == 2) {
      if (is_portable) {
        tw::launch<tw::attention_forward<portable<T, D, Dv>>>(args, {.stream = stream});
        return true;
      }
      if (D == 128 && Dv == 128 && args.keys <= 1024) {
        tw::launch<tw::attention_forward<short_rows<T>>>(args, {.stream = stream});
        return true;
      }
      if (D == 64 && Dv == 64 && args.window.right == 0 && args.keys <= 1024) {
        tw::launch<tw::attention_forward<short_narrow_rows<T>>>(args, {.stream = stream});
        return true;
      }
    }
    tw::launch<tw::attention_forward<on_hopper<T, D, Dv>>>(args, {.stream = stream});
    return true;
  };
  return try_dims.template operator()<64, 64>() || try_dims.template operator()<96, 96>() ||
         try_dims.template operator()<128, 128>() || try_dims.template operator()<192, 128>() ||
         try_dims.template operator()<256, 256>();
}

enum element { f16, bf16, e4m3 };

}  // namespace

/// Queues O = softmax(scale Q K^T + mask) V. `type`: an element, of 8-bit ones only by wgmma. `is_portable`: by
/// mma.sync. Returns null, or why it was refused: a text that lives until the next call.
extern "C" const char* tilewright_attention_forward(int type, int is_portable, int head_dim, int value_dim,
                                                    const tw::attention_args* args, cudaStream_t stream) {
  static std::string message;
  try {
    const auto run = type == f16    ? forward<tw::half_t>
                     : type == bf16 ? forward<tw::bfloat16_t>
                                    : forward<tw::fp8_ocp_t>;
    if (run(is_portable != 0, head_dim, value_dim, *args, stream)) return nullptr;
    message = "no kernel for these head dimensions";
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the arguments themselves.
extern "C" int tilewright_attention_args_bytes() { return int(sizeof(tw::attention_args)); }
