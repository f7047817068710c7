// SPDX-License-Identifier: MIT
// libtilewright_attention_decode: attention_decode behind C functions, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/decode/attention_decode.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T, tw::index_t Dim>
struct policy : tw::attention_decode_policy<tw::arch::sm90, T, Dim> {};

template <class T>
bool decode(int dim, const tw::attention_decode_args& args, cudaStream_t stream) {
  const auto try_dim = [&]<tw::index_t D>() {
    if (dim != D) return false;
    tw::launch<tw::attention_decode<policy<T, D>>>(args, {.stream = stream});
    return true;
  };
  return try_dim.template operator()<64>() || try_dim.template operator()<128>() || try_dim.template operator()<256>();
}

}  // namespace

/// Queues attention of few queries with a long cache. Returns null, or why it was refused: a text that lives until the
/// next call.
extern "C" const char* tilewright_attention_decode(int is_bf16, int dim, const tw::attention_decode_args* args,
                                                   cudaStream_t stream) {
  static std::string message;
  try {
    const bool done = is_bf16 ? decode<tw::bfloat16_t>(dim, *args, stream) : decode<tw::half_t>(dim, *args, stream);
    if (done) return nullptr;
    message = "no kernel for this head dimension";
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the arguments themselves.
extern "C" int tilewright_attention_decode_args_bytes() { return int(sizeof(tw::attention_decode_args)); }

/// attention_decode_args::choose_splits for the given number of SMs, and tilewright::workspace_bytes.
extern "C" int tilewright_choose_splits(const tw::attention_decode_args* args, int SMs) {
  return args->choose_splits(SMs);
}
extern "C" long long tilewright_decode_workspace_bytes(const tw::attention_decode_args* args, int dim) {
  return tw::workspace_bytes(*args, dim);
}
