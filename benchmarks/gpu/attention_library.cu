// SPDX-License-Identifier: MIT
// libtilewright_attention: the attention kernels behind one C function, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/forward/attention_forward.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention.hpp>
#include <tilewright/kernels/attention/forward/hopper_attention_choice.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T, tw::index_t HeadDim, tw::index_t ValueDim>
struct portable : tw::attention_policy<tw::arch::sm90, T, HeadDim, ValueDim> {};
template <class T, tw::index_t HeadDim, tw::index_t ValueDim>
struct on_hopper : tw::hopper_attention_policy<T, HeadDim, ValueDim> {};
/// What the library chooses for few keys.
template <class T, tw::index_t HeadDim>
struct on_hopper_short : tw::hopper_attention_policy<T, HeadDim, HeadDim,
                                                     tw::choose_hopper_attention_tile({.keys = 1, .window = {-1, 0}},
                                                                                      HeadDim, HeadDim, sizeof(T))> {};

inline constexpr unsigned some_bits = 1;
/// Policies with a block mask.
template <class Policy>
struct masked : Policy {
  static constexpr bool has_block_mask = true;
};
template <class T, tw::index_t D>
struct masked_on_hopper
    : masked<tw::hopper_attention_policy<
          T, D, D, tw::choose_hopper_attention_tile({.block_mask = {.bits = &some_bits}}, D, D, sizeof(T))>> {};
template <class T, tw::index_t D>
struct masked_portable : masked<portable<T, D, D>> {};

template <class T, tw::index_t D>
void forward_masked(bool is_portable, const tw::attention_args& args, cudaStream_t stream) {
  if constexpr (sizeof(T) == 2) {
    if (is_portable) return void(tw::launch<tw::attention_forward<masked_portable<T, D>>>(args, {.stream = stream}));
  }
  tw::launch<tw::attention_forward<masked_on_hopper<T, D>>>(args, {.stream = stream});
}

template <class T>
bool forward(bool is_portable, int head_dim, int value_dim, const tw::attention_args& args, cudaStream_t stream) {
  const auto try_dims = [&]<tw::index_t D, tw::index_t Dv>() {
    if (head_dim != D || value_dim != Dv) return false;
    if (args.block_mask.bits != nullptr) {
      constexpr bool has_masked = D == Dv && D % 64 == 0 && D <= 256;
      if constexpr (has_masked) forward_masked<T, D>(is_portable, args, stream);
      return has_masked;
    }
    if constexpr (sizeof(T) == 2) {
      if (is_portable) {
        tw::launch<tw::attention_forward<portable<T, D, Dv>>>(args, {.stream = stream});
        return true;
      }
    }
    if constexpr (D == Dv && D <= 256) {
      if (tw::choose_hopper_attention_tile(args, D, Dv, sizeof(T)) != on_hopper<T, D, D>::tile) {
        tw::launch<tw::attention_forward<on_hopper_short<T, D>>>(args, {.stream = stream});
        return true;
      }
    }
    tw::launch<tw::attention_forward<on_hopper<T, D, Dv>>>(args, {.stream = stream});
    return true;
  };
#ifdef WIDE_HEADS  // a library of its own: each kernel takes a while to compile
  return try_dims.template operator()<384, 384>() || try_dims.template operator()<512, 512>();
#else
  return try_dims.template operator()<64, 64>() || try_dims.template operator()<96, 96>() ||
         try_dims.template operator()<128, 128>() || try_dims.template operator()<192, 128>() ||
         try_dims.template operator()<192, 192>() || try_dims.template operator()<256, 256>();
#endif
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
