// SPDX-License-Identifier: MIT
// Kernels of other policies whose instructions have a budget; ISA_POLICY is one of the structs below.
#include <tilewright/core/arch/current.hpp>
#include <tilewright/kernels/gemm/choice/block_scaled_tiles.hpp>
#include <tilewright/kernels/gemm/choice/cdna_tile_family.hpp>
#include <tilewright/kernels/gemm/gemm_kernel.hpp>
#include <tilewright/kernels/gemm/grouped/grouped_gemm.hpp>
#include <tilewright/kernels/gemm/named_policies.hpp>
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/tensor_move_pipeline.hpp>
#include <tilewright/kernels/gemm/stream_k_gemm.hpp>

namespace tw = tilewright;
using enum tw::operand_major;

// f16, block tiles of 256 x 256 x 64 and 8 waves.
struct f16_256 {
  template <class Arch>
  static constexpr tw::block_tile tile{256, 256, 64, 2, 4, tw::default_block_tile<Arch, tw::half_t>().op};
  template <class Arch>
  using on = tw::gemm_policy<Arch, tw::half_t, k, k, 8, tile<Arch>>;
};

// Other elements, with the target's default tile.
template <class T>
struct elements {
  template <class Arch>
  using on = tw::gemm_policy<Arch, T, k, k, 16 / sizeof(T)>;
};
using f32 = elements<float>;
using fp8_fnuz = elements<tw::fp8_fnuz_t>;
using fp8_ocp = elements<tw::fp8_ocp_t>;
using int8 = elements<tw::int8_t>;

// A column-major and B row-major.
template <class T>
struct columns {
  template <class Arch>
  using on = tw::gemm_policy<Arch, T, mn, mn, 16 / sizeof(T)>;
};
using f16_columns = columns<tw::half_t>;
using fp8_ocp_columns = columns<tw::fp8_ocp_t>;
using fp8_fnuz_columns = columns<tw::fp8_fnuz_t>;

// f16, copied to LDS without registers: in several stages.
template <tw::index_t M, tw::index_t N, tw::index_t K, tw::index_t WavesM, tw::index_t WavesN, tw::index_t Stages,
          tw::operand_major Major = k>
struct direct {
  template <class Arch>
  static constexpr tw::block_tile tile{M, N, K, WavesM, WavesN, tw::default_block_tile<Arch, tw::half_t>().op};
  template <class Arch>
  using on = tw::gemm_policy<Arch, tw::half_t, Major, Major, 8, tile<Arch>, tw::multi_stage_pipeline<Stages>>;
};
using direct_128x128x32 = direct<128, 128, 32, 2, 2, 4>;
using direct_256x256x32 = direct<256, 256, 32, 2, 4, 2>;
using direct_128x128x64 = direct<128, 128, 64, 2, 2, 3>;
using direct_256x256x64 = direct<256, 256, 64, 2, 4, 2>;
using direct_columns = direct<256, 256, 64, 2, 4, 2, mn>;

struct direct_fp8_256x256 {
  template <class Arch>
  using on = tw::gemm_direct_256x256<Arch, tw::fp8_ocp_t, k, k, 16>;
};

struct small_m {
  template <class Arch>
  using on = tw::gemm_16x64<Arch, tw::bfloat16_t, k, k, 8>;
};

// Small M with many stages; k is split, and the last block of a tile adds up.
struct plain_deep_16x64 {
  template <class Arch>
  using on = tw::gemm_cdna_tile<Arch, tw::bfloat16_t, k, k, 8,
                                tw::cdna_tile{16, 64, 64, 1, 2, Arch::value.lds_bytes > 65536 ? 8 : 4}>;
};
struct deep_16x64 {
  template <class Arch>
  struct on : plain_deep_16x64::on<Arch> {
    static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
  };
};

// One wave for each SIMD, with copies that bypass registers.
struct direct_one_wave {
  template <class Arch>
  using on = tw::gemm_cdna_tile<Arch, tw::bfloat16_t, k, k, 8, tw::cdna_tile{256, 256, 64, 2, 2, 2}>;
};

// Columns that are no power of two: C passes LDS in parts of 32 or 64 columns.
struct direct_128x160 {
  template <class Arch>
  using on = tw::gemm_cdna_tile<Arch, tw::bfloat16_t, k, k, 8, tw::cdna_tile{128, 160, 64, 4, 1, 3}>;
};
struct direct_256x160 {
  template <class Arch>
  using on = tw::gemm_cdna_tile<Arch, tw::bfloat16_t, k, k, 8, tw::cdna_tile{256, 160, 64, 4, 1, 3}>;
};

// Tiles by the tensor data mover.
template <class T, tw::index_t K>
struct tensor_move {
  template <class Arch>
  using on = tw::tensor_move_policy<Arch, T, 16 / sizeof(T),
                                    tw::block_tile{128, 128, K, 2, 2, tw::default_block_tile<Arch, T>().op}, 3>;
};
using tensor_move_f16 = tensor_move<tw::half_t, 64>;
using tensor_move_fp8 = tensor_move<tw::fp8_ocp_t, 128>;

// Pipelines for tiles of 256 x 256.
template <class T>
struct ping_pong {
  template <class Arch>
  using on = tw::gemm_ping_pong<Arch, T, k, k, 16 / sizeof(T)>;
};
template <class T>
struct one_wave {
  template <class Arch>
  using on = tw::gemm_one_wave<Arch, T, k, k, 16 / sizeof(T)>;
};
using f16_ping_pong = ping_pong<tw::half_t>;
using fp8_ocp_ping_pong = ping_pong<tw::fp8_ocp_t>;
using bf16_one_wave = one_wave<tw::bfloat16_t>;

// The same epilogue of the library's functions and written by hand.
struct built_in_bias_gelu {
  template <class Arch>
  struct on : tw::gemm_policy<Arch, tw::half_t, k, k, 8> {
    using epilogue = tw::epilogue::chain<tw::epilogue::bias, tw::epilogue::activation<tw::activation::gelu>>;
  };
};
struct own_bias_gelu {
  template <class Arch>
  struct on : tw::gemm_policy<Arch, tw::half_t, k, k, 8> {
    static constexpr auto epilogue = [](auto& sums, const auto& at, const auto& args) {
      tw::tile_elementwise_inout([](float& x, float b) { x += b; }, sums, tw::along<1>(at.along_n(args.bias)));
      tw::tile_elementwise_inout(
          [](float& x) { x = x * tw::exec::sigmoid(1.595769122f * (x + 0.044715f * x * x * x)); }, sums);
    };
  };
};

// e4m3 with scales of 1 x 128 and 128 x 128.
struct block_scaled_fp8 {
  template <class Arch>
  using T = tw::detail::conditional_t<Arch::value.fp8 == tw::arch::fp8_kind::fnuz, tw::fp8_fnuz_t, tw::fp8_ocp_t>;
  template <class Arch>
  struct e4m3 : tw::gemm_policy<Arch, T<Arch>, k, k, 16> {
    using result_type = tw::bfloat16_t;
  };
  template <class Arch>
  using on = tw::block_scaled<e4m3<Arch>>;
  using args_type = tw::block_scaled_args;
};

// The same for small M; k is split, and the last block of a tile adds up.
struct block_scaled_16x64 {
  template <class Arch>
  struct on : tw::block_scaled<tw::gemm_policy<Arch, block_scaled_fp8::T<Arch>, k, k, 16,
                                               tw::block_scaled_tile{16, 64, 1, 2}.template of_block<Arch>()>> {
    using result_type = tw::bfloat16_t;
    static constexpr tw::split_k_kind split_k = tw::split_k_kind::fix_up;
  };
  using args_type = tw::block_scaled_args;
};

// Tiles of block_scaled_tiles: rows that are no power of two, two tiles in flight to registers, and copies that bypass
// registers.
template <tw::block_scaled_tile Tile>
struct block_scaled_tile {
  template <class Arch>
  struct on : tw::gemm_block_scaled_tile<Arch, block_scaled_fp8::T<Arch>, 16, Tile> {
    using result_type = tw::bfloat16_t;
  };
  using args_type = tw::block_scaled_args;
};
using block_scaled_80x128 = block_scaled_tile<{80, 128, 1, 4}>;
using block_scaled_96x128 = block_scaled_tile<{96, 128, 2, 2}>;
using block_scaled_ahead = block_scaled_tile<{16, 64, 1, 2, 1, 4}>;
using block_scaled_16x32 = block_scaled_tile<{16, 32, 1, 2, 1, 4}>;
using block_scaled_48x32 = block_scaled_tile<{48, 32, 1, 2, 1, 2}>;
using block_scaled_64x128 = block_scaled_tile<{64, 128, 1, 2}>;
using block_scaled_48x64 = block_scaled_tile<{48, 64, 1, 2, 1, 2}>;
using block_scaled_direct_192x128 = block_scaled_tile<{192, 128, 4, 2, 2}>;
using block_scaled_direct_256x128 = block_scaled_tile<{256, 128, 4, 2, 2}>;

// stream_k_gemm of the policies above.
template <class Policy>
struct sharing : Policy {
  static constexpr bool shares_tiles = true;
};
template <class T>
struct plain {
  template <class Arch>
  using on = tw::gemm_policy<Arch, T, k, k, 16 / sizeof(T)>;
};
using stream_k_bf16 = sharing<plain<tw::bfloat16_t>>;
using stream_k_deep_16x64 = sharing<plain_deep_16x64>;
using stream_k_direct = sharing<direct_128x128x64>;
using stream_k_scaled = sharing<block_scaled_tile<{128, 128, 2, 2}>>;
using stream_k_scaled_direct = sharing<block_scaled_direct_256x128>;

// Groups of rows, one persistent launch.
template <class Args>
struct grouped_device_args {
  Args args;
  tw::detail::group_tiles tiles;
  tw::index_t blocks;
};
struct grouped_bf16 {
  template <class Arch>
  using on = tw::grouped<tw::gemm_policy<Arch, tw::bfloat16_t, k, k, 8>, tw::group_kind::rows>;
  using args_type = grouped_device_args<tw::grouped_args>;
};
struct grouped_scaled_fp8 {
  template <class Arch>
  using on = tw::grouped<block_scaled_fp8::on<Arch>, tw::group_kind::rows>;
  using args_type = grouped_device_args<tw::block_scaled_args>;
};

template <class Policy>
struct arguments {
  using type = tw::gemm_args;
};
template <class Policy>
  requires requires { typename Policy::args_type; }
struct arguments<Policy> {
  using type = typename Policy::args_type;
};

template <class Policy>
TILEWRIGHT_GLOBAL TILEWRIGHT_BLOCK_SIZE(ISA_BLOCK_SIZE) void gemm([[maybe_unused]]
                                                                  typename arguments<Policy>::type args) {
#if TILEWRIGHT_DEVICE_PASS
  using policy = typename Policy::template on<tw::arch::current>;
  static_assert(tw::gemm_kernel<policy>::block_size == ISA_BLOCK_SIZE);
  if constexpr (requires { Policy::shares_tiles; }) {
    tw::stream_k_gemm<policy>{}(args);
  } else if constexpr (policy::groups == tw::group_kind::none) {
    tw::gemm_kernel<policy>{}(args);
  } else {
    tw::grouped_gemm_kernel<policy>{}({args.args, args.tiles, args.blocks});
  }
#endif
}

template TILEWRIGHT_GLOBAL void gemm<ISA_POLICY>(arguments<ISA_POLICY>::type);
