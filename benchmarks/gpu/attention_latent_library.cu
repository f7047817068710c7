// SPDX-License-Identifier: MIT
// libtilewright_attention_latent: latent attention (MLA, 576 / 512) behind the C functions of
// attention_decode_library.cu, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/decode/hopper_latent_decode.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T>
struct policy : tw::hopper_latent_policy<T> {};
template <class T>
struct token_policy : tw::hopper_latent_policy<T> {
  static constexpr bool has_token_lists = true;
};

template <class T>
struct e4m3_policy : tw::hopper_latent_policy<T, 576, 512, tw::fp8_ocp_t> {};

template <class T>
void decode(const tw::attention_decode_args& args, cudaStream_t stream) {
  if (args.k_scales != nullptr)
    tw::launch<tw::attention_decode<e4m3_policy<T>>>(args, {.stream = stream});
  else if (args.rows_per_page == 1)
    tw::launch<tw::attention_decode<token_policy<T>>>(args, {.stream = stream});
  else
    tw::launch<tw::attention_decode<policy<T>>>(args, {.stream = stream});
}

}  // namespace

/// Queues the kernels. Returns null, or why they were refused: a text that lives until the next call.
extern "C" const char* tilewright_attention_decode(int is_bf16, int, int, const tw::attention_decode_args* args,
                                                   cudaStream_t stream) {
  static std::string message;
  try {
    if (is_bf16)
      decode<tw::bfloat16_t>(*args, stream);
    else
      decode<tw::half_t>(*args, stream);
    return nullptr;
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

extern "C" int tilewright_attention_decode_args_bytes() { return int(sizeof(tw::attention_decode_args)); }
extern "C" int tilewright_choose_splits(const tw::attention_decode_args* args, int SMs) {
  return args->choose_splits(SMs, 64);
}
extern "C" int tilewright_choose_shares(const tw::attention_decode_args* args, int SMs) {
  return tw::detail::is_ragged(*args) ? args->choose_shares(SMs, 64) : 0;
}
extern "C" long long tilewright_decode_workspace_bytes(const tw::attention_decode_args* args, int dim) {
  return tw::workspace_bytes(*args, dim);
}
