// SPDX-License-Identifier: MIT
// Attention on the GPU, through HIP or CUDA.
#include "../gpu/runtime.hpp"
#include "machine.hpp"

namespace attention_program {

std::string queue_attention(bool is_f16, int dim, const tw::attention_args& args);

std::optional<outcome> attend_on_gpu(inputs& data, int repeat) try {
  const gpu::device_facts device = gpu::device();
  const std::int64_t dim = kernel_dim(data);
  const auto on_gpu = [&](const matrix& tensor) { return with_row_length(tensor, dim); };
  const auto q_rows = on_gpu(data.q), k_rows = on_gpu(data.k), v_rows = on_gpu(data.v);
  const gpu::buffer<unsigned char> q(q_rows.data(), q_rows.size()), k(k_rows.data(), k_rows.size()),
      v(v_rows.data(), v_rows.size());
  gpu::buffer<unsigned char> o(q_rows.size()), lse(data.lse.bytes.size());
  o.upload(std::vector<unsigned char>(q_rows.size(), 0xff));
  tw::attention_args args = arguments_of(data, dim);
  args.q = q.data();
  args.k = k.data();
  args.v = v.data();
  args.o = o.data();
  args.lse = reinterpret_cast<float*>(lse.data());
  outcome result{device.name + " (" + device.target + ")", {}};
  gpu::event begin, end;
  for (int i = 0; i < repeat; ++i) {
    begin.record();
    if (const std::string why = queue_attention(data.q.type == element::f16, int(dim), args); !why.empty())
      throw refusal(why);
    end.record();
    result.seconds.push_back(end.seconds_since(begin));
    gpu::check(TILEWRIGHT_GPU(GetLastError)(), "running the kernel");
  }
  take_output(data, o.download(), dim);
  lse.download(data.lse.bytes.data());
  return result;
} catch (const gpu::unusable& error) {
  throw refusal(std::string(error.what()) + "; use --device host to run on the CPU");
}

}  // namespace attention_program
