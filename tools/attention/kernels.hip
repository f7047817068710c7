// SPDX-License-Identifier: MIT
// The kernels of the attention program: as C++ for the CPU, and for GPUs (ATTENTION_ON_GPU).
#include <tilewright/attention/attention_forward.hpp>
#include <tilewright/launch/launch.hpp>

#include <string>

#if TILEWRIGHT_CPU_PASS
#include "machine.hpp"
#endif

namespace attention_program {

template <class Arch>
struct f16_64 : tilewright::attention_forward<tilewright::attention_policy<Arch, tilewright::half_t, 64>> {};
template <class Arch>
struct f16_128 : tilewright::attention_forward<tilewright::attention_policy<Arch, tilewright::half_t, 128>> {};
template <class Arch>
struct bf16_64 : tilewright::attention_forward<tilewright::attention_policy<Arch, tilewright::bfloat16_t, 64>> {};
template <class Arch>
struct bf16_128 : tilewright::attention_forward<tilewright::attention_policy<Arch, tilewright::bfloat16_t, 128>> {};

#if TILEWRIGHT_CPU_PASS

std::vector<std::string> emulated_targets() { return {"gfx942", "sm_90"}; }

namespace {

template <template <class> class Kernel>
void emulate(const tw::attention_args& args, const tw::launch_options& how) {
  tw::launch<Kernel, tw::arch::gfx942, tw::arch::sm90>(args, how);
}

}  // namespace

outcome attend_on_cpu(inputs& data, const std::string& target, const std::function<void(double)>& progress) {
  const std::int64_t dim = kernel_dim(data);
  const auto q = with_row_length(data.q, dim), k = with_row_length(data.k, dim), v = with_row_length(data.v, dim);
  std::vector<unsigned char> o(q.size(), 0xff);
  tw::attention_args args = arguments_of(data, dim);
  args.q = q.data();
  args.k = k.data();
  args.v = v.data();
  args.o = o.data();
  args.lse = reinterpret_cast<float*>(data.lse.bytes.data());
  const tw::launch_options how{
      .emulate = *tw::arch::find_target(target.c_str()),
      .progress = [&](tw::long_index_t done, tw::long_index_t total) { progress(double(done) / double(total)); }};
  const bool is_f16 = data.q.type == element::f16;
  if (dim == 64) {
    is_f16 ? emulate<f16_64>(args, how) : emulate<bf16_64>(args, how);
  } else {
    is_f16 ? emulate<f16_128>(args, how) : emulate<bf16_128>(args, how);
  }
  take_output(data, o, dim);
  return {"emulated " + target, {}};
}

#else

/// Queues the kernel. Returns why it was refused; empty if it was not.
std::string queue_attention(bool is_f16, int dim, const tilewright::attention_args& args) {
  namespace tw = tilewright;
  try {
    if (dim == 64) {
      is_f16 ? tw::launch<f16_64>(args) : tw::launch<bf16_64>(args);
    } else {
      is_f16 ? tw::launch<f16_128>(args) : tw::launch<bf16_128>(args);
    }
  } catch (const tw::launch_error& error) {
    return error.what();
  }
  return {};
}

#endif

}  // namespace attention_program
