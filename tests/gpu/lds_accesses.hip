// SPDX-License-Identifier: MIT
// The kernels of check_lds.py, for NVIDIA GPUs (compile with -x cu), and their launches.
#include "lds_accesses.hpp"

#include "../../tools/gpu/lds_instruction.hpp"
#include "../../tools/gpu/runtime.hpp"

#include <type_traits>
#include <utility>

namespace exec = tilewright::exec;
using tilewright::arch::lds_op;

namespace lds_accesses {

/// One instruction. A read finds initial_word() everywhere; after a write each lane looks at its address. So the
/// counters of reads see nothing but a read, those of writes nothing but a write.
template <lds_op Op>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(32) void instruction([[maybe_unused]] const int* address,
                                                             [[maybe_unused]] unsigned* result) {
#if TILEWRIGHT_DEVICE_PASS
  const exec::lds_pointer lds = exec::lds_allocate<lds_bytes>();
  const index_t lane = exec::lane_id(), at = address[lane];
  if constexpr (!tilewright::arch::is_write(Op)) {
    for (index_t byte = lane * 4; byte < lds_bytes; byte += 4 * wave_size)
      exec::lds_store(lds, byte, initial_word(byte));
    exec::block_sync();
  }
  unsigned word = 0;
  if (at >= 0) word = gpu::issue<Op>(lds, at);
  if constexpr (tilewright::arch::is_write(Op)) {
    exec::block_sync();
    if (at >= 0) word = gpu::issue<lds_op::read_b32>(lds, at & ~3);
  }
  result[lane] = word;
#endif
}

/// By number: nvcc cannot write a name with a distribution in it.
template <index_t I>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(128) void tile_round_trip([[maybe_unused]] float* result) {
#if TILEWRIGHT_DEVICE_PASS
  using Access = std::remove_cvref_t<decltype(std::declval<tile_accesses>().template get<I>())>;
  using T = typename element<Access::element_bytes>::type;
  constexpr auto space = tw::address_space_enum::lds;
  constexpr auto lengths = tw::make_tuple(tw::number<64>{}, tw::number<64>{});
  const auto view = tw::make_tensor_view<space, T>(exec::lds_allocate<lds_bytes>(), Access::descriptor::descriptor());
  tw::static_distributed_tensor<T, typename Access::write> in;
  for (index_t i = 0; i < in.thread_buffer.size(); ++i) in.thread_buffer[i] = T(float(exec::thread_id() + i));
  tw::store_tile(tw::make_tile_window(view, lengths, {0, 0}, typename Access::write{}), in);
  exec::block_sync();
  const auto out = tw::load_tile(tw::make_tile_window(view, lengths, {0, 0}, typename Access::read{}));
  float sum = 0;
  for (index_t i = 0; i < out.thread_buffer.size(); ++i) sum = sum * 3 + float(out.thread_buffer[i]);
  result[exec::thread_id()] = sum;
#endif
}

namespace {

template <lds_op Op>
words launch(const std::vector<int>& address) {
  static gpu::buffer<int> in(wave_size);
  static gpu::buffer<unsigned> out(wave_size);
  in.upload(address);
  const int* from = in.data();
  unsigned* to = out.data();
  void* arguments[] = {&from, &to};
  gpu::run_block(reinterpret_cast<const void*>(&instruction<Op>), wave_size, lds_bytes, arguments);
  return out.download();
}

template <index_t... Is>
void launch_tile_access(index_t i, std::integer_sequence<index_t, Is...>) {
  static gpu::buffer<float> out(tile_access_threads);
  float* to = out.data();
  void* arguments[] = {&to};
  const void* kernels[] = {reinterpret_cast<const void*>(&tile_round_trip<Is>)...};
  gpu::run_block(kernels[i], tile_access_threads, lds_bytes, arguments);
}

}  // namespace

std::string device_name() {
  const gpu::device_facts device = gpu::device();
  return device.name + " (" + device.target + ")";
}

words run_instruction(lds_op op, const std::vector<int>& address) {
  switch (op) {
    case lds_op::read_b8: return launch<lds_op::read_b8>(address);
    case lds_op::read_b16: return launch<lds_op::read_b16>(address);
    case lds_op::read_b32: return launch<lds_op::read_b32>(address);
    case lds_op::read_b64: return launch<lds_op::read_b64>(address);
    case lds_op::read_b128: return launch<lds_op::read_b128>(address);
    case lds_op::write_b8: return launch<lds_op::write_b8>(address);
    case lds_op::write_b16: return launch<lds_op::write_b16>(address);
    case lds_op::write_b32: return launch<lds_op::write_b32>(address);
    case lds_op::write_b64: return launch<lds_op::write_b64>(address);
    case lds_op::write_b128: return launch<lds_op::write_b128>(address);
    case lds_op::ldmatrix: return launch<lds_op::ldmatrix>(address);
    default: return launch<lds_op::stmatrix>(address);
  }
}

void run_tile_access(index_t i) { launch_tile_access(i, std::make_integer_sequence<index_t, tile_accesses::size()>{}); }

}  // namespace lds_accesses
