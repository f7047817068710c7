// SPDX-License-Identifier: MIT
// GEMM by tiles: one block computes one block tile of C, or one split of its k.
#pragma once

#include <tilewright/core/arch/occupancy.hpp>
#include <tilewright/kernels/gemm/check_gemm.hpp>
#include <tilewright/kernels/gemm/portable/double_buffered_pipeline.hpp>
#include <tilewright/kernels/gemm/portable/single_buffered_pipeline.hpp>
#include <tilewright/kernels/gemm/scaled/block_scaled_pipeline.hpp>
#include <tilewright/kernels/gemm/split_k.hpp>
#if !defined(__HIP__)  // the default pipeline of NVIDIA GPUs
#include <tilewright/kernels/gemm/portable/multi_stage_pipeline.hpp>
#endif

namespace tilewright {

/// Defined in kernels/gemm/two_products.hpp.
template <class Policy, class E>
TILEWRIGHT_HD auto two_products_view(const E* data, index_t n0, const typename Policy::args_type& args);

/// Defined in kernels/gemm/grouped/expert_gemm.hpp.
template <class Policy, class T>
TILEWRIGHT_HD auto gathered_view(const T* data, const typename Policy::args_type& args);

/// Defined in kernels/gemm/scaled/narrow_gemm.hpp.
template <class Policy>
constexpr const char* check_narrow(const typename Policy::args_type& args);
/// Defined in kernels/gemm/scaled/narrow_gemm.hpp.
template <class Policy, class C>
TILEWRIGHT_HD void add_narrow_tiles(C& c, const typename Policy::args_type& args, const multi_index<2>& origin,
                                    const k_tiles& k, long_index_t batch, exec::lds_pointer lds);

/// The kernel of a policy, for launch(): C = epilogue(A B) as gemm_args says. Policies with other pipelines than the
/// portable ones have specialisations (hopper/warp_specialized_pipeline.hpp).
template <class Policy>
struct gemm_kernel {
  using policy = Policy;
  using arch = typename Policy::arch;
  /// The kernel that adds up the splits of k, where they go through a workspace.
  using followed_by =
      detail::conditional_t<Policy::split_k == split_k_kind::workspace, split_k_reduction<Policy>, void>;
  using T = typename Policy::element_type;
  using BElement = typename Policy::b_element_type;
  using R = typename Policy::result_type;
  using args_type = typename Policy::args_type;
  using epilogue = detail::epilogue_of<Policy>;
  static constexpr block_tile tile = Policy::tile;                            ///< of C and k, of a block
  static constexpr index_t products = Policy::products;                       ///< 1 or 2, with A in common
  static constexpr bool is_narrow = requires { typename Policy::b_format; };  ///< operands are decoded
  /// Columns of C that a block computes.
  static constexpr index_t tile_n = tile.n / products;
  static constexpr bool splits = Policy::split_k != split_k_kind::none;  ///< k, among gemm_args::split_k blocks
  /// Blocks that split k write accumulators; split_k_reduction, or the last block of a tile, applies the epilogue.
  using writer = detail::conditional_t<splits, detail::split_k_partials<Policy>, Policy>;
  static constexpr index_t block_size = tile.block_size();
  static constexpr index_t lds_bytes =
      max(Policy::pipeline::num_stages * detail::lds_stage_bytes<Policy>(), detail::result_stage<writer>::bytes);
  static_assert(Policy::arch::value.supports(tile.op, tilewright::arch::matrix_element_v<T>,
                                             tilewright::arch::matrix_element_v<BElement>),
                "gemm: the matrix instruction does not take these elements of A together with those of B; only 8-bit "
                "floating-point numbers may be mixed");
  static_assert(lds_bytes <= Policy::arch::value.lds_bytes,
                "gemm: the block tile needs more LDS than this target has; use a smaller block tile or fewer stages");

  static_assert(products == 1 ||
                    (products == 2 && tile.n % (2 * tilewright::arch::describe(tile.op).n * tile.waves_n) == 0),
                "gemm: a policy computes one or two products, and with two each wave has an even number of instruction "
                "tiles along n; use a larger n of the block tile");
  static_assert(products == 1 || Policy::split_k == split_k_kind::none,
                "gemm: two products cannot be split along k; use one product for each launch");

  /// Minimum blocks per SM for TILEWRIGHT_BLOCK_SIZE: on NVIDIA GPUs two, where LDS holds them and threads
  /// keep 100 registers besides their accumulators.
  static constexpr index_t blocks_at_once =
      !tilewright::arch::is_amd(Policy::arch::value) &&
              tilewright::arch::resident_blocks(Policy::arch::value, lds_bytes, block_size,
                                                tile.m* tile.n / block_size + 100) >= 2
          ? 2
          : 1;

  /// Bytes of gemm_args::workspace that these arguments need.
  static constexpr long_index_t workspace_bytes(const args_type& args) {
    return splits ? tilewright::workspace_bytes(args) : 0;
  }

  /// Blocks of a cluster (tensor_move_policy); 1: there are no clusters.
  static constexpr index_t tensor_cluster = detail::tensor_cluster_of<Policy>;
  /// Tiles of C along m, a multiple of tensor_cluster; those that C has not are not written.
  TILEWRIGHT_HD static constexpr index_t tiles_along_m(const args_type& args) {
    return ceil_div(args.m, tile.m * tensor_cluster) * tensor_cluster;
  }

  /// Blocks of a launch: x for the tiles of C, y for the splits of k, z for the batch.
  static constexpr grid_size grid(const args_type& args) {
    return {ceil_div(args.n, tile_n) * tiles_along_m(args), args.split_k, args.batch};
  }

  static constexpr const char* check(const args_type& args) {
    if (const char* why = check_launch(args)) return why;
    if constexpr (is_narrow) return check_narrow<Policy>(args);
    if constexpr (Policy::is_block_scaled) {
      if (const char* why = detail::check_block_scales(args)) return why;
    }
    return detail::check_offsets(args, detail::checked_gemm_v<Policy>);
  }

  /// The part of check() that does not depend on how operands are read.
  static constexpr const char* check_launch(const args_type& args) {
    if (const char* why = check_product<Policy>(args, {Policy::vector, sizeof(R)})) return why;
    if (args.batch > 65535) return "the batch has more than 65535 problems";
    if (long_index_t(tiles_along_m(args)) * ceil_div(args.n, tile_n) * block_size > 0xffffffffLL)
      return "the grid would have 2^32 threads or more; use a larger block tile, or several launches";
    return check_split_k(args);
  }

  TILEWRIGHT_HD void operator()(const args_type& args) const {
    const exec::block_index block = exec::block_id();
    constexpr grid_order order = Policy::order;  // a static member does not exist in nvcc's device code
    const multi_index<2> coordinate =
        order.tile_along<order.curve>(block.x, tiles_along_m(args), ceil_div(args.n, tile_n));
    run(args, coordinate, block.y, block.z, exec::lds_allocate<lds_bytes>());
  }

  /// One split of k of C's tile `coordinate`, counted in tiles along m and n.
  TILEWRIGHT_HD void run(const args_type& args, const multi_index<2>& coordinate, index_t split, long_index_t batch,
                         exec::lds_pointer lds) const {
    const multi_index<2> origin{{coordinate[0] * tile.m, coordinate[1] * tile_n}};
    static_distributed_tensor<detail::accumulator_t<T>, c_distribution<tile>> c{};  // (tile.m, tile.n)
    const k_tiles k = split_of(args, tiles_of(args), split);
    if constexpr (is_narrow)
      add_narrow_tiles<Policy>(c, args, origin, k, batch, lds);
    else
      accumulate(c, args, origin, k, batch, lds);
    write(c, args, origin, split, batch, lds);
  }

  /// All tiles along k; those with scales of their own are not partial, and a pipeline may want the last one partial.
  TILEWRIGHT_HD static k_tiles tiles_of(const args_type& args) {
    k_tiles k = tiles_along_k(args.k, tile.k);
    constexpr bool last_is_partial = is_narrow || requires { Policy::pipeline::last_tile_is_partial; };
    if constexpr (Policy::is_block_scaled || last_is_partial) k.first_origin = 0;
    return k;
  }

  /// Adds the product of some tiles along k to c (tile.m, tile.n), the accumulators of the block tile at `origin`. LDS
  /// from `lds` on is overwritten.
  template <class C>
  TILEWRIGHT_HD static void accumulate(C& c, const args_type& args, const multi_index<2>& origin, const k_tiles& k,
                                       long_index_t batch, exec::lds_pointer lds) {
    constexpr auto global = address_space_enum::global;
    constexpr number<Policy::vector> vector{};
    const index_t m0 = origin[0], n0 = origin[1];
    const auto view_of = [&](auto major, const auto* data, index_t rows, index_t ld) TILEWRIGHT_INLINE_LAMBDA {
      const auto shape = make_tuple(rows, args.k);
      if constexpr (major.value == operand_major::k) {
        return make_naive_tensor_view<global>(data, shape, make_tuple(ld, number<1>{}), vector);
      } else {
        return make_naive_tensor_view<global>(data, shape, make_tuple(number<1>{}, ld), vector);
      }
    };
    const T* const a_data = static_cast<const T*>(args.a) + batch * args.batch_stride_a;
    const BElement* const b_data = static_cast<const BElement*>(args.b) + batch * args.batch_stride_b;
    const auto a = [&] {  // (tile.m, tile.k) of A (m, k)
      if constexpr (Policy::gathers_a) {
        return make_a_window<Policy>(gathered_view<Policy>(a_data, args), m0, k.first_origin);
      } else {
        return make_a_window<Policy>(view_of(number<Policy::a_major>{}, a_data, args.m, args.lda), m0, k.first_origin);
      }
    }();
    const auto b = [&] {  // (tile.n, tile.k) of B (n, k)
      if constexpr (products == 1) {
        return make_b_window<Policy>(view_of(number<Policy::b_major>{}, b_data, args.n, args.ldb), n0, k.first_origin);
      } else {
        return make_b_window<Policy>(two_products_view<Policy>(b_data, n0, args), 0, k.first_origin);
      }
    }();

    if constexpr (Policy::is_block_scaled) {
      args_type scaled = args;  // with the scales of the first tile
      const index_t first = divide(k.first_origin, tile.k);
      scaled.a_scales += long_index_t(first) * args.k_stride_a_scales;
      scaled.b_scales += first;
      const typename Policy::pipeline::scales_type scales(scaled, m0, n0, index_t(batch), index_t(batch));
      Policy::pipeline::template run<Policy>(c, a, b, k.count, lds, scales);
    } else if (Policy::groups != group_kind::k || k.count > 0) {
      Policy::pipeline::template run<Policy>(c, a, b, k.count, lds);
    }
  }

  /// The tiles along k of one split, of all tiles `k`.
  TILEWRIGHT_HD static k_tiles split_of(const args_type& args, const k_tiles& k, index_t split) {
    if constexpr (!splits) return k;
    const index_t each = divide(k.count, args.split_k), more = k.count - each * args.split_k;
    return {each + (split < more ? 1 : 0), k.first_origin + (split * each + min(split, more)) * tile.k};
  }

  /// Writes C's tile at `origin`, or a split's accumulators. LDS from `lds` on is overwritten.
  template <class C>
  TILEWRIGHT_HD static void write(const C& c, const args_type& args, const multi_index<2>& origin, index_t split,
                                  long_index_t batch, exec::lds_pointer lds) {
    if constexpr (splits) {
      write_result<writer>(c, detail::with_workspace_as_c<detail::accumulator_t<T>>(args, split), origin, batch, lds);
    } else {
      write_result<Policy>(c, args, origin, batch, lds);
    }
    if constexpr (Policy::split_k == split_k_kind::fix_up) {
      const index_t across = ceil_div(args.n, tile_n), down = ceil_div(args.m, tile.m);
      unsigned* const counter = static_cast<unsigned*>(args.workspace) +
                                (batch * down + divide(origin[0], tile.m)) * across + divide(origin[1], tile_n);
      if (!exec::is_last_arrival(counter, unsigned(args.split_k), lds)) return;
      auto partials = detail::with_workspace_as_c<detail::accumulator_t<T>>(args, 0);
      partials.n = partials.ldc;  // whole vectors
      detail::write_sum_of_splits<Policy>(args, origin, batch, partials, origin, batch);
    }
  }

 private:
  static constexpr const char* check_split_k(const args_type& args) {
    if (args.split_k < 1) return "split_k must be positive";
    if (!splits) return args.split_k == 1 ? nullptr : "this kernel does not split k; use a policy that does";
    if (args.split_k > min(65535, ceil_div(args.k, tile.k)))
      return "split_k is larger than the number of block tiles along k, or than 65535";
    if constexpr (Policy::split_k == split_k_kind::workspace) return followed_by::check(args);
    if (Policy::split_k != split_k_kind::fix_up) return nullptr;
    if (long_index_t(ceil_div(args.n, tile_n)) * ceil_div(args.m, tile.m) * args.batch > detail::split_k_counters)
      return "split_k_kind::fix_up takes 1024 tiles of C, of all problems; use a larger block tile, or a workspace";
    return args.workspace ? nullptr : "split_k needs a workspace, of workspace_bytes(args)";
  }
};

}  // namespace tilewright
