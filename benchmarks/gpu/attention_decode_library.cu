// SPDX-License-Identifier: MIT
// libtilewright_attention_decode: attention_decode behind C functions, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T, class Cache, tw::index_t Dim>
struct policy : tw::attention_decode_policy<tw::arch::sm90, T, Dim, Dim,
                                            tw::detail::default_decode_waves(tw::arch::sm90::value, Dim, Dim), Cache> {
};

template <class T, class Cache>
bool decode(int dim, const tw::attention_decode_args& args, cudaStream_t stream) {
  const auto try_dim = [&]<tw::index_t D>() {
    if (dim != D) return false;
    tw::launch<tw::attention_decode<policy<T, Cache, D>>>(args, {.stream = stream});
    return true;
  };
#ifdef WIDE_HEADS
  return try_dim.template operator()<512>();
#else
  return try_dim.template operator()<64>() || try_dim.template operator()<128>() || try_dim.template operator()<256>();
#endif
}

/// A cache of the elements of Q, of e4m3, or of int8.
template <class T>
bool decode_cache(int cache, int dim, const tw::attention_decode_args& args, cudaStream_t stream) {
  return cache == 0   ? decode<T, T>(dim, args, stream)
         : cache == 1 ? decode<T, tw::fp8_ocp_t>(dim, args, stream)
                      : decode<T, tw::int8_t>(dim, args, stream);
}

}  // namespace

/// Queues attention of few queries with a long cache: 0 of the elements of Q, 1 of e4m3, 2 of int8. Returns null, or
/// why it was refused: a text that lives until the next call.
extern "C" const char* tilewright_attention_decode(int is_bf16, int cache, int dim,
                                                   const tw::attention_decode_args* args, cudaStream_t stream) {
  static std::string message;
  try {
    const bool done = is_bf16 ? decode_cache<tw::bfloat16_t>(cache, dim, *args, stream)
                              : decode_cache<tw::half_t>(cache, dim, *args, stream);
    if (done) return nullptr;
    message = "no kernel for this head dimension";
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the arguments themselves.
extern "C" int tilewright_attention_decode_args_bytes() { return int(sizeof(tw::attention_decode_args)); }

/// attention_decode_args::choose_splits and choose_shares (0: the sequences do not differ) for the given number of SMs,
/// and tilewright::workspace_bytes.
extern "C" int tilewright_choose_splits(const tw::attention_decode_args* args, int SMs) {
  return args->choose_splits(SMs);
}
extern "C" int tilewright_choose_shares(const tw::attention_decode_args* args, int SMs) {
  return tw::detail::is_ragged(*args) ? args->choose_shares(SMs) : 0;
}
extern "C" long long tilewright_decode_workspace_bytes(const tw::attention_decode_args* args, int dim) {
  return tw::workspace_bytes(*args, dim);
}
