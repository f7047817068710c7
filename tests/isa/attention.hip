// SPDX-License-Identifier: MIT
// Attention forward with elements of type ISA_ELEMENT, head dimension ISA_HEAD_DIM, in the form ISA_FORM.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/attention/forward/attention_forward.hpp>

namespace tw = tilewright;

#if TILEWRIGHT_DEVICE_PASS
using arch_type = tw::arch::current;
using element_type = tw::ISA_ELEMENT;
[[maybe_unused]] constexpr tw::attention_tile together =
    tw::detail::default_attention_tile<arch_type, element_type>(ISA_HEAD_DIM, ISA_HEAD_DIM);
[[maybe_unused]] constexpr tw::attention_tile ping_pong{
    256, 64, 8, false, tw::attention_tile::ping_pong, arch_type::value.supports_direct_to_lds(16)};
[[maybe_unused]] constexpr tw::attention_tile one_wave{256, 64, 4};
struct policy : tw::attention_policy<arch_type, element_type, ISA_HEAD_DIM, ISA_HEAD_DIM, ISA_FORM> {};
using kernel = tw::attention_forward<policy>;
#endif

extern "C" TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(ISA_BLOCK_SIZE) void attention(
    [[maybe_unused]] const tw::attention_args args) {
#if TILEWRIGHT_DEVICE_PASS
  static_assert(kernel::block_size <= ISA_BLOCK_SIZE);
  kernel{}(args);
#endif
}
