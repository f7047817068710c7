// SPDX-License-Identifier: MIT
// libtilewright_attention_latent: latent attention (MLA, 576 / 512) behind the C functions of
// attention_decode_library.cu, for benchmarks that load it from Python. With -DLATENT_CLUSTER=2 pairs of blocks
// load K together where their number is even; -DLATENT_PREFETCH=true and -DLATENT_SECOND=true are choices of the
// policy.
#include <tilewright/kernels/attention/decode/hopper_latent_decode.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

#ifndef LATENT_CLUSTER
#define LATENT_CLUSTER 1
#endif
#ifndef LATENT_PREFETCH
#define LATENT_PREFETCH false
#endif
#ifndef LATENT_SECOND
#define LATENT_SECOND false
#endif

namespace {

namespace tw = tilewright;

template <class T, class Cache = T>
struct chosen_policy : tw::hopper_latent_policy<T, 576, 512, Cache> {
  static constexpr bool prefetches_to_l2 = LATENT_PREFETCH, second_adds_received_first = LATENT_SECOND;
};
template <class T>
struct policy : chosen_policy<T> {};
template <class T>
struct cluster_policy : chosen_policy<T> {
  static constexpr tw::index_t cluster = LATENT_CLUSTER;
};
template <class T>
struct token_policy : chosen_policy<T> {
  static constexpr bool has_token_lists = true;
};

template <class T>
struct e4m3_policy : chosen_policy<T, tw::fp8_ocp_t> {};

template <class T>
void decode(const tw::attention_decode_args& args, cudaStream_t stream) {
  if (args.k_scales != nullptr)
    tw::launch<tw::attention_decode<e4m3_policy<T>>>(args, {.stream = stream});
  else if (args.rows_per_page == 1)
    tw::launch<tw::attention_decode<token_policy<T>>>(args, {.stream = stream});
  else if (tw::detail::decode_row_blocks(args, 64) % LATENT_CLUSTER == 0)
    tw::launch<tw::attention_decode<cluster_policy<T>>>(args, {.stream = stream});
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
