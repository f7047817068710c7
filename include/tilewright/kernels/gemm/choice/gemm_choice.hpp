// SPDX-License-Identifier: MIT
// gemm_choice: a kernel for a GEMM on Hopper and how it splits k; its name, such as "128x144_b2_pp, split_k 1".
#pragma once

#include <tilewright/kernels/gemm/choice/choice_name.hpp>
#include <tilewright/kernels/gemm/hopper/hopper_gemm_tile.hpp>

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace tilewright {

/// A kernel of warp_specialized_pipeline, or a small_m_gemm whose loads are vectors or single elements.
enum class gemm_kernel_kind : signed char { tile, small_m, small_m_v1 };

/// A kernel of a GEMM, and how it is used.
struct gemm_choice {
  hopper_gemm_tile tile = {};                        ///< Of gemm_kernel_kind::tile; else as it is here.
  gemm_kernel_kind kernel = gemm_kernel_kind::tile;  ///< Which kind of kernel.
  /// Slices of k of every tile, which another kernel adds up if there are several. 1: k is whole. 0: only the last
  /// wave's tiles are split (stream-K).
  index_t split_k = 0;
  friend constexpr bool operator==(const gemm_choice&, const gemm_choice&) = default;
};

/// For instance 128x256_b2: m x n, blocks that share A (_a) and B (_b), blocks on an SM (_x), _c1 (one consumer, where
/// m is more than 64), _swap, _pp (ping-pong), _any (unaligned).
inline std::string name_of(const hopper_gemm_tile& t) {
  std::string s = std::to_string(t.m) + "x" + std::to_string(t.n);
  if (t.cluster_n > 1) s += "_a" + std::to_string(t.cluster_n);
  if (t.cluster_m > 1) s += "_b" + std::to_string(t.cluster_m);
  if (t.blocks > 1) s += "_x" + std::to_string(t.blocks);
  if (t.consumers == 1 && t.m > 64) s += "_c1";
  if (t.swap_ab) s += "_swap";
  if (t.ping_pong) s += "_pp";
  if (t.unaligned) s += "_any";
  return s;
}

/// The kernel's name, without how k is split.
inline std::string kernel_name_of(const gemm_choice& c) {
  return c.kernel == gemm_kernel_kind::tile      ? name_of(c.tile)
         : c.kernel == gemm_kernel_kind::small_m ? "small_m"
                                                 : "small_m_v1";
}
/// The same with how k is split: "128x144_b2_pp, split_k 1".
inline std::string name_of(const gemm_choice& c) { return choice_name{kernel_name_of(c), c.split_k}.text(); }

namespace detail {

/// Removes `word` from the start of `text`; false if it does not start so.
inline bool take_word(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}
/// Removes `word` and the number after it; leaves the text as it is where there is none.
inline bool take_number(std::string_view& text, std::string_view word, index_t& number) {
  std::string_view rest = text;
  if (!take_word(rest, word)) return false;
  const std::from_chars_result read = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (read.ec != std::errc{}) return false;
  text = rest.substr(std::size_t(read.ptr - rest.data()));
  return true;
}
inline void take_tile(std::string_view& text, hopper_gemm_tile& t) {
  if (!take_number(text, "", t.m) || !take_number(text, "x", t.n)) return;
  take_number(text, "_a", t.cluster_n);
  take_number(text, "_b", t.cluster_m);
  take_number(text, "_x", t.blocks);
  const bool one_consumer = take_word(text, "_c1");
  t.swap_ab = take_word(text, "_swap");
  t.ping_pong = take_word(text, "_pp");
  t.unaligned = take_word(text, "_any");
  t.consumers = one_consumer || (t.m == 64 && !t.ping_pong) ? 1 : 2;
}

}  // namespace detail

/// The choice that has this name; nothing if none has, or its tile is not sound.
inline std::optional<gemm_choice> choice_named(std::string_view name) {
  const std::optional<choice_name> read = choice_name::parse(name);
  if (!read || read->stream_k) return std::nullopt;
  gemm_choice c{.split_k = read->split_k};
  std::string_view rest = read->tile;
  if (detail::take_word(rest, "small_m"))
    c.kernel = detail::take_word(rest, "_v1") ? gemm_kernel_kind::small_m_v1 : gemm_kernel_kind::small_m;
  else
    detail::take_tile(rest, c.tile);
  const bool splits = c.kernel == gemm_kernel_kind::tile && !c.tile.ping_pong;
  if (kernel_name_of(c) != read->tile || (c.split_k > 1 && !splits) || !c.tile.is_sound()) return std::nullopt;
  return c;
}

}  // namespace tilewright
