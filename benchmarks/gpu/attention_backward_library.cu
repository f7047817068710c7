// SPDX-License-Identifier: MIT
// libtilewright_attention_backward: attention_backward behind C functions, for benchmarks that load it from Python.
#include <tilewright/kernels/attention/backward/hopper_backward.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

namespace {

namespace tw = tilewright;

template <class T, tw::index_t Dim>
struct portable : tw::attention_backward_policy<tw::arch::sm90, T, Dim> {};
template <class T, tw::index_t Dim>
struct on_hopper : tw::hopper_backward_policy<T, Dim> {};
constexpr tw::hopper_backward_tile in_order(tw::hopper_backward_tile tile, bool releases_late) {
  tile.is_deterministic = true;
  tile.releases_late = releases_late;
  return tile;
}
template <class T, tw::index_t Dim, bool ReleasesLate>
struct deterministic : tw::wgmma_backward_policy<T, Dim, Dim, in_order(on_hopper<T, Dim>::tile, ReleasesLate)> {};

/// For heads of 192 and 256; those of 256 also with fewer keys in a block.
template <class T, tw::index_t Dim>
struct wide : tw::wide_backward_policy<T, Dim> {};
template <class T, tw::index_t Dim>
struct wide_64_keys : tw::wide_backward_policy<T, Dim, Dim, 64> {};

enum kernel_kind {
  hopper,
  mma_sync,
  hopper_deterministic,
  hopper_wide,
  hopper_wide_64_keys,
  hopper_deterministic_late
};

template <class T>
bool backward(int kind, int dim, const tw::attention_backward_args& args, cudaStream_t stream) {
  const auto try_dim = [&]<tw::index_t D>() {
    if (dim != D) return false;
    if (kind == mma_sync) {
      tw::launch<tw::attention_backward<portable<T, D>>>(args, {.stream = stream});
      return true;
    }
    if constexpr (D > 128) {
      if (kind == hopper_wide) {
        tw::launch<tw::attention_backward<wide<T, D>>>(args, {.stream = stream});
        return true;
      }
      if constexpr (D == 256) {
        if (kind == hopper_wide_64_keys) {
          tw::launch<tw::attention_backward<wide_64_keys<T, D>>>(args, {.stream = stream});
          return true;
        }
      }
    } else {
      if (kind == hopper_deterministic) {
        tw::launch<tw::attention_backward<deterministic<T, D, false>>>(args, {.stream = stream});
        return true;
      }
      if (kind == hopper_deterministic_late) {
        tw::launch<tw::attention_backward<deterministic<T, D, true>>>(args, {.stream = stream});
        return true;
      }
    }
    if (kind >= hopper_wide) return false;
    tw::launch<tw::attention_backward<on_hopper<T, D>>>(args, {.stream = stream});
    return true;
  };
  return try_dim.template operator()<64>() || try_dim.template operator()<96>() || try_dim.template operator()<128>() ||
         try_dim.template operator()<192>() || try_dim.template operator()<256>();
}

}  // namespace

/// Queues the gradients of Q, K and V. `kind`: a kernel_kind.
/// Returns null, or why it was refused: a text that lives until the next call.
extern "C" const char* tilewright_attention_backward(int is_bf16, int kind, int dim,
                                                     const tw::attention_backward_args* args, cudaStream_t stream) {
  static std::string message;
  try {
    const bool done =
        is_bf16 ? backward<tw::bfloat16_t>(kind, dim, *args, stream) : backward<tw::half_t>(kind, dim, *args, stream);
    if (done) return nullptr;
    message = "no such kernel for this head dimension";
  } catch (const tw::launch_error& error) {
    message = error.what();
  }
  return message.c_str();
}

/// For callers that declare the arguments themselves.
extern "C" int tilewright_attention_backward_args_bytes() { return int(sizeof(tw::attention_backward_args)); }
extern "C" long long tilewright_attention_backward_workspace_bytes(const tw::attention_backward_args* args, int dim) {
  return tw::workspace_bytes(*args, dim);
}
