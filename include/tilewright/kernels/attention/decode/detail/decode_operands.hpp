// SPDX-License-Identifier: MIT
// Where attention_decode finds K and V: in a contiguous or paged cache, with scales where elements have 8 bits.
#pragma once

#include <tilewright/core/lds/layout_solver.hpp>
#include <tilewright/kernels/attention/decode/decode_tiles.hpp>
#include <tilewright/machine/exec/convert_word.hpp>
#include <tilewright/tile/copy/repeated_copy.hpp>
#include <tilewright/tile/copy/shuffle_tile.hpp>
#include <tilewright/tile/window/tensor_view.hpp>

namespace tilewright::detail {

/// Where 16 keys lie.
struct key_location {
  index_t key = 0, page = 0, row = 0;
};

/// K, V or their scales of one sequence and head, 16 keys at a time, from a contiguous or a paged cache. Pages are
/// multiples of 16 keys, so 16 of them from a multiple of 16 on are in one page.
template <class T>
class key_rows_in_pages {
  const T* data_;
  long_index_t page_stride_;
  index_t row_stride_;

 public:
  TILEWRIGHT_HD key_rows_in_pages(const void* data, const attention_strides& s, const attention_decode_args& args,
                                  const decode_problem& p, index_t first_column = 0)
      : data_(static_cast<const T*>(data) + first_column), page_stride_(s.batch), row_stride_(s.row) {
    if (args.block_table == nullptr) {
      data_ += offset_of_head(s, p.key_start, p.kv_head);
    } else {
      data_ += p.kv_head * s.head;
    }
  }
  /// The first of the keys' rows, and what is from one to the next.
  TILEWRIGHT_HD const T* first(const key_location& at) const {
    return data_ + at.page * page_stride_ + long_index_t(at.row) * row_stride_;
  }
  TILEWRIGHT_HD index_t row_stride() const { return row_stride_; }

  /// A view of 16 rows, elements [First, First + Dim); rows from `count` on are outside. The keys are dimension 0, or 1
  /// if they are columns.
  template <index_t First, index_t Dim, bool KeysAreColumns>
  TILEWRIGHT_HD auto view(const key_location& at, index_t count) const {
    constexpr auto global = address_space_enum::global;
    constexpr number<Dim> dim{};
    constexpr number<1> one{};
    constexpr number<index_t(16 / sizeof(T))> vector{};
    const T* const first = this->first(at) + First;
    if constexpr (KeysAreColumns) {
      return make_naive_tensor_view<global>(first, make_tuple(dim, count), make_tuple(one, row_stride_), vector);
    } else {
      return make_naive_tensor_view<global>(first, make_tuple(count, dim), make_tuple(row_stride_, one), vector);
    }
  }
};

/// The place of the keys from `key` on, a multiple of 16.
TILEWRIGHT_HD key_location locate_keys(const attention_decode_args& args, index_t batch, index_t key) {
  if (args.block_table == nullptr) return {key, 0, key};
  const index_t in_table = divide(key, args.rows_per_page);
  return {key, args.block_table[long_index_t(batch) * args.table_stride + in_table],
          key - in_table * args.rows_per_page};
}

/// K or V of one sequence and head, and for 8-bit elements the scales of its keys.
template <class Policy>
struct key_cache {
  key_rows_in_pages<typename Policy::cache_type> rows;
  key_rows_in_pages<float> scales;

  TILEWRIGHT_HD static key_cache of_keys(const attention_decode_args& args, const decode_problem& p) {
    return {{args.k, args.k_strides, args, p}, {args.k_scales, args.k_scale_strides, args, p}};
  }
  TILEWRIGHT_HD static key_cache of_values(const attention_decode_args& args, const decode_problem& p) {
    return {{args.v, args.v_strides, args, p, p.first_column}, {args.v_scales, args.v_scale_strides, args, p}};
  }
};

/// How a wave's K or V of 16 keys come into registers.
/// now: when they are needed. ahead: the next ones are in flight in registers. queue: the next ones are in flight to
/// LDS, from where each lane takes back what it copied itself.
enum class cache_loads : signed char { now, ahead, queue };

/// The scales of 16 keys, for elements of 16 bits: there are none.
template <class Policy, cache_loads Kind>
struct cached_scales {
  static constexpr bool exist = false;
  static constexpr index_t slot_bytes = 0;
  TILEWRIGHT_HD void begin(const key_cache<Policy>&, const key_location&, index_t, exec::lds_pointer) {}
  template <class Scores, class Range>
  TILEWRIGHT_HD void multiply(Scores&, const key_cache<Policy>&, const key_location&, index_t, exec::lds_pointer,
                              Range) const {}
};
/// For 8-bit elements: loaded as K and V are; one lane copies one of them. Those past the last key are zero.
template <class Policy, cache_loads Kind>
  requires(cache_bytes<Policy> == 1)
struct cached_scales<Policy, Kind> {
  using distribution = reduced_distribution<typename attention_registers<Policy>::scores::distribution_type, 0>;
  static constexpr bool exist = true;
  static constexpr index_t slot_bytes = Kind == cache_loads::queue ? decode_keys * 4 : 0;

  static_distributed_tensor<float, distribution> values;  // ahead

  TILEWRIGHT_HD void begin(const key_cache<Policy>& cache, const key_location& at, index_t keys,
                           [[maybe_unused]] exec::lds_pointer slot) {
    if constexpr (Kind == cache_loads::ahead) {
      values = load(cache, at, keys);
    } else if constexpr (Kind == cache_loads::queue) {
      const index_t lane = exec::lane_id(), stride = cache.scales.row_stride();
      if (lane >= decode_keys) return;
      const exec::global_buffer buffer =
          exec::make_global_buffer(cache.scales.first(at), (long_index_t(decode_keys - 1) * stride + 1) * 4);
      exec::async_load_in_group<4, false>(exec::walking_buffer(buffer),
                                          at.key + lane < keys ? lane * stride * 4 : exec::out_of_bounds_offset, slot,
                                          lane * 4);
    }
  }
  /// Those of the columns of S.
  TILEWRIGHT_HD auto get(const key_cache<Policy>& cache, const key_location& at, index_t keys,
                         exec::lds_pointer slot) const {
    if constexpr (Kind == cache_loads::now) {
      return load(cache, at, keys);
    } else if constexpr (Kind == cache_loads::ahead) {
      return values;
    } else {
      constexpr auto layout = make_naive_tensor_descriptor_packed(make_tuple(number<decode_keys>{}));
      return load_tile(make_tile_window(make_tensor_view<address_space_enum::lds, float>(slot, layout),
                                        make_tuple(number<decode_keys>{}), {}, distribution{}));
    }
  }
  /// Multiplies the columns of s.
  template <class Scores, class Range>
  TILEWRIGHT_HD void multiply(Scores& s, const key_cache<Policy>& cache, const key_location& at, index_t keys,
                              exec::lds_pointer slot, Range range) const {
    auto scales = get(cache, at, keys, slot);
    range(scales);
    tile_elementwise_inout([](float& x, float scale) TILEWRIGHT_INLINE_LAMBDA { x *= scale; }, s, along<1>(scales));
  }

 private:
  TILEWRIGHT_HD static auto load(const key_cache<Policy>& cache, const key_location& at, index_t keys) {
    const auto view = make_naive_tensor_view<address_space_enum::global>(
        cache.scales.first(at), make_tuple(keys - at.key), make_tuple(cache.scales.row_stride()));
    return load_tile(make_tile_window(view, make_tuple(number<decode_keys>{}), {}, distribution{}));
  }
};

/// Elements of the cache as those of a product.
template <class To, class From, class Distribution>
TILEWRIGHT_HD auto widen_tile(const static_distributed_tensor<From, Distribution>& tile) {
  if constexpr (sizeof(From) == sizeof(To)) {
    return tile;
  } else {
    static_assert(Distribution::num_elements % 4 == 0);
    static_distributed_tensor<To, Distribution> result;
    TILEWRIGHT_UNROLL_ALL
    for (index_t d = 0; d < Distribution::num_elements; d += 4) {
      unsigned word;
      __builtin_memcpy(&word, tile.thread_buffer.data() + d, sizeof(word));
      const array<unsigned, 2> words = exec::convert_word<To, From>(word);
      __builtin_memcpy(result.thread_buffer.data() + d, &words, sizeof(words));
    }
    return result;
  }
}

template <class Policy, bool IsValues, cache_loads Kind, class Chunks>
struct cached_keys;
template <class Policy, bool IsValues, cache_loads Kind, index_t... Chunks>
struct cached_keys<Policy, IsValues, Kind, sequence<Chunks...>> {
  using T = typename Policy::cache_type;
  using scales_type = cached_scales<Policy, Kind>;
  static constexpr index_t dim = IsValues ? Policy::value_columns : Policy::head_dim;
  static constexpr index_t scales_begin = Kind == cache_loads::queue ? decode_keys * dim * index_t(sizeof(T)) : 0;
  static constexpr index_t slot_bytes = scales_begin + scales_type::slot_bytes;
  /// Lanes read what others have copied.
  static constexpr bool are_exchanged = Kind == cache_loads::queue && (!IsValues || scales_type::exist);
  template <index_t Chunk>
  using product = decode_product_of<Policy, dim, Chunk>;
  template <index_t Chunk>
  using load = conditional_t<IsValues, typename product<Chunk>::v_load, typename product<Chunk>::k_load>;
  template <index_t Chunk>
  using tile = static_distributed_tensor<T, load<Chunk>>;

  tuple<tile<Chunks>...> chunks;  // ahead
  scales_type scales;

  /// Starts to load; keys from number `keys` of the sequence on are zeros. queue: to `slot` in the wave's LDS, as a
  /// group of copies.
  TILEWRIGHT_HD void begin(const key_cache<Policy>& cache, const key_location& at, index_t keys,
                           [[maybe_unused]] exec::lds_pointer slot) {
    if constexpr (are_exchanged) exec::wave_sync();  // all lanes have read what was here
    scales.begin(cache, at, keys, slot + scales_begin);
    if constexpr (Kind == cache_loads::ahead) {
      ((chunks.template get<Chunks>() = load_tile(window<Chunks>(cache, at, keys), known())), ...);
    } else if constexpr (Kind == cache_loads::queue) {
      (copy<Chunks>(cache, at, keys, slot + place_of(Chunks)), ...);
      exec::async_end_group();
    }
  }
  /// Each lane has waited for its own copies; after this it may read those of all.
  TILEWRIGHT_HD static void acquire() {
    if constexpr (are_exchanged) exec::wave_sync();
  }
  /// Multiplies the columns of s, keys, by the keys' scales, after range(scales).
  template <class Scores, class Range>
  TILEWRIGHT_HD void multiply_scales(Scores& s, const key_cache<Policy>& cache, const key_location& at, index_t keys,
                                     exec::lds_pointer slot, Range range) const {
    scales.multiply(s, cache, at, keys, slot + scales_begin, range);
  }
  /// f(number<Chunk>, tile in the order of loads) for each chunk.
  template <class F>
  TILEWRIGHT_HD void for_each_chunk(const key_cache<Policy>& cache, const key_location& at, index_t keys,
                                    [[maybe_unused]] exec::lds_pointer slot, F f) const {
    const auto use = [&](auto chunk) TILEWRIGHT_INLINE_LAMBDA {
      if constexpr (Kind == cache_loads::now) {
        exec::schedule_fence();  // no two chunks occupy registers
        f(chunk, load_tile(window<chunk.value>(cache, at, keys), known()));
      } else if constexpr (Kind == cache_loads::ahead) {
        f(chunk, chunks.template get<chunk.value>());
      } else if constexpr (IsValues) {
        using window_type = decltype(window<chunk.value>(cache, at, keys));
        f(chunk, take_back<window_type>(slot + place_of(chunk.value)));
      } else {
        f(chunk, load_tile(lds_window<chunk.value>(slot + place_of(chunk.value), load<chunk.value>{})));
      }
    };
    (use(number<Chunks>{}), ...);
  }

 private:
  TILEWRIGHT_HD static constexpr index_t place_of(index_t chunk) {
    return first_column_of_chunk(decode_chunk_lengths<Policy, dim>, chunk) * decode_keys * index_t(sizeof(T));
  }
  TILEWRIGHT_HD static constexpr auto known() { return in_bounds<IsValues ? 0 : 1>{}; }

  template <index_t Chunk, class Distribution = load<Chunk>>
  TILEWRIGHT_HD static auto window(const key_cache<Policy>& cache, const key_location& at, index_t keys) {
    constexpr number<decode_chunk_lengths<Policy, dim>[Chunk]> length {};
    constexpr number<decode_keys> rows{};
    const auto view =
        cache.rows.template view<decode_chunk_begin<Policy, dim, Chunk>, length.value, IsValues>(at, keys - at.key);
    if constexpr (IsValues) {
      return make_tile_window(view, make_tuple(length, rows), {}, Distribution{});
    } else {
      return make_tile_window(view, make_tuple(rows, length), {}, Distribution{});
    }
  }
  /// Where a lane's access lies in a chunk's slot.
  template <class Window>
  TILEWRIGHT_HD static index_t place(index_t access) {
    constexpr index_t bytes = Window::vector_length * Window::element_bytes;
    return (access * Policy::arch::value.wave_size + exec::lane_id()) * bytes;
  }
  /// How 16 keys of a chunk of K lie in LDS: without conflicts for the copy and for the reads.
  template <index_t Chunk>
  static constexpr lds_layout_choice key_layout = number<choose_lds_layout<typename Policy::arch>(
      lds_tile{decode_keys, decode_chunk_lengths<Policy, dim>[Chunk], sizeof(T)},
      lds_use{product<Chunk>::k_copy::encoding, lds_access_kind::write},
      lds_use{product<Chunk>::k_load::encoding, lds_access_kind::read})>::value;
  template <index_t Chunk, class Distribution>
  TILEWRIGHT_HD static auto lds_window(exec::lds_pointer lds, Distribution) {
    constexpr number<decode_chunk_lengths<Policy, dim>[Chunk]> length {};
    const auto view =
        make_tensor_view<address_space_enum::lds, T>(lds, make_lds_descriptor<key_layout<Chunk>.layout>());
    return make_tile_window(view, make_tuple(number<decode_keys>{}, length), {}, Distribution{});
  }
  template <index_t Chunk>
  TILEWRIGHT_HD static void copy(const key_cache<Policy>& cache, const key_location& at, index_t keys,
                                 exec::lds_pointer to) {
    if constexpr (!IsValues) {
      using distribution = typename product<Chunk>::k_copy;
      const lane_copy copy(window<Chunk, distribution>(cache, at, keys), lds_window<Chunk>(to, distribution{}),
                           known());
      copy.template issue<0, copy.num_access, true>(0);
    } else {
      const auto from = window<Chunk>(cache, at, keys);
      using from_type = remove_cvref_t<decltype(from)>;
      const auto offsets = checked_offsets<decltype(known())>(from, typename from_type::access_sequence{},
                                                              typename from_type::dim_sequence{});
      const exec::walking_buffer buffer(from.view.buffer);
      unroll<from_type::num_access>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        exec::async_load_in_group<from_type::vector_length * from_type::element_bytes, true>(
            buffer, offsets[i.value], to, place<from_type>(i.value));
      });
    }
  }
  template <class Window>
  TILEWRIGHT_HD static auto take_back(exec::lds_pointer from) {
    static_assert(Window::register_step == 1);
    tile_of<Window> result;
    unroll<Window::num_access>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
      const auto vector = exec::lds_load<typename Window::vector_type>(from, place<Window>(i.value));
      vector_to_registers<1>(result.thread_buffer.data() + constant(Window::accesses::list.first_register[i.value]),
                             vector);
    });
    return result;
  }
};

/// The power of two, from 2^-126 to 2^127, times which |x| is from 1 to 2 (less for x below 2^-126, more beyond 2^127).
TILEWRIGHT_HD float reciprocal_power_of_two(float x) {
  return bit_cast<float>((254u << 23) - min(bit_cast<unsigned>(x) & 0x7f800000u, 253u << 23));
}

/// Keeps P times the scales of V within the range of half_t: O is that of scales times a power of two, which follows
/// the largest scale lazily. P is at most 2^8, times a scale at most 2^15.
template <class Policy>
struct value_range {
  float factor = 0x1p126f;

  template <class Scales, class Softmax>
  TILEWRIGHT_HD void operator()(Scales& scales, Softmax& softmax) {
    if constexpr (converts_to_half<Policy>) multiply(scales, softmax);
  }
  /// O of the scales themselves.
  template <class Softmax>
  TILEWRIGHT_HD void finish(Softmax& softmax) const {
    if constexpr (converts_to_half<Policy>) rescale(softmax, 1 / factor);
  }

 private:
  template <class Scales, class Softmax>
  TILEWRIGHT_HD void multiply(Scales& scales, Softmax& softmax) {
    float largest = 0;
    for (const float scale : scales.thread_buffer) largest = exec::max(largest, exec::abs(scale));
    if (exec::any(largest * factor > 0x1p7f)) [[unlikely]] {
      unroll<log2_floor(Policy::arch::value.wave_size)>([&](auto i) TILEWRIGHT_INLINE_LAMBDA {
        largest = exec::max(largest, exec::shuffle_xor<(1 << i.value)>(largest));
      });
      const float before = factor;
      factor = reciprocal_power_of_two(largest);
      rescale(softmax, factor / before);
    }
    for (float& scale : scales.thread_buffer) scale *= factor;
  }
  template <class Softmax>
  TILEWRIGHT_HD static void rescale(Softmax& softmax, float by) {
    typename Softmax::row_values factors;
    set_tile(factors, by);
    softmax.scale_outputs(factors);
  }
};

}  // namespace tilewright::detail
