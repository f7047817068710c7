// SPDX-License-Identifier: MIT
#include "kernel_name.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <initializer_list>
#include <utility>
#include <vector>

namespace predict {
namespace {

using numbers = std::vector<tw::index_t>;

/// "256x128x64" as its numbers; empty if the word is something else.
numbers lengths_of(std::string_view word) {
  numbers result;
  const char *at = word.data(), *const end = at + word.size();
  while (at != end) {
    tw::index_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > 65536) return {};
    result.push_back(value);
    if (next == end) return result;
    if (*next != 'x') return {};
    at = next + 1;
  }
  return {};
}

std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> result;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    if (end) result.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return result;
}

/// All words that are lengths, in order.
std::vector<numbers> all_lengths(std::string_view name) {
  std::vector<numbers> result;
  for (const std::string_view word : words_of(name))
    if (numbers n = lengths_of(word); n.size() > 1) result.push_back(std::move(n));
  return result;
}

bool has(std::string_view name, std::string_view part) { return name.find(part) != std::string_view::npos; }

bool is_tile(std::initializer_list<tw::index_t> lengths) {
  return std::all_of(lengths.begin(), lengths.end(), [](tw::index_t n) { return n >= 8 && n <= 1024; });
}

/// Waves next to each other along n, of a block of `waves`: low tiles have all of them there.
tw::index_t usual_waves_n(tw::index_t m, tw::index_t waves) { return m < 64 ? waves : std::max(1, waves / 2); }

/// CK: threads x m x n x k, 16-byte vectors, matrix instruction, repeats of it along m and n of a wave. Tiles of 4-bit
/// elements have k in bytes.
std::optional<tw::cdna_gemm_kernel> ck_tile_of(std::string_view name, tw::index_t bits) {
  for (const numbers& l : all_lengths(name)) {
    if (l.size() != 4 || l[0] % 64 != 0 || !is_tile({l[1], l[2], l[3]})) continue;
    tw::cdna_gemm_kernel r{
        .m = l[1], .n = l[2], .k = bits == 4 ? 2 * l[3] : l[3], .waves = l[0] / 64, .element_bits = bits};
    r.waves_n = usual_waves_n(r.m, r.waves);
    r.b_in_lds = !has(name, "bpreshuffle");
    r.scale_k = has(name, "_1x128x128_") ? 128 : 0;
    r.stages = has(name, "_v1") ? 1 : 2;
    return r;
  }
  return {};
}

/// m x n x k, waves along m x n x k.
std::optional<tw::cdna_gemm_kernel> ck_tile_library_tile_of(std::string_view name, tw::index_t bits) {
  const std::vector<numbers> all = all_lengths(name);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const numbers &l = all[i], &w = all[i + 1];
    if (l.size() != 3 || w.size() != 3 || !is_tile({l[0], l[1], l[2]})) continue;
    tw::cdna_gemm_kernel r{
        .m = l[0], .n = l[1], .k = l[2], .waves = w[0] * w[1] * w[2], .waves_n = w[1], .element_bits = bits};
    r.b_in_lds = !has(name, "bpreshuffle");
    r.scale_k = has(name, "blockscale") ? 128 : 0;
    r.stages = 2;
    if (r.waves >= 8) r.loop = tw::cdna_loop::scheduled;
    return r;
  }
  return {};
}

/// m x n at the end; k is a row of 128 bytes.
std::optional<tw::cdna_gemm_kernel> assembly_tile_of(std::string_view name, tw::index_t bits) {
  const std::string_view plain = name.ends_with('E') ? name.substr(0, name.size() - 1) : name;
  for (const numbers& l : all_lengths(plain)) {
    if (l.size() != 2 || !is_tile({l[0], l[1]})) continue;
    tw::cdna_gemm_kernel r{
        .m = l[0], .n = l[1], .k = 1024 / bits, .element_bits = bits, .loop = tw::cdna_loop::scheduled};
    r.waves_n = usual_waves_n(r.m, r.waves);
    r.b_in_lds = !has(name, "BpreShuffle");
    r.scale_k = has(name, "blockscale") ? 128 : 0;
    r.stages = 3;
    r.split = tw::cdna_split::second_launch;
    return r;
  }
  return {};
}

/// The number that follows `prefix`; 0: there is none.
tw::index_t number_after(std::string_view name, std::string_view prefix) {
  const std::size_t at = name.find(prefix);
  if (at == std::string_view::npos) return 0;
  name.remove_prefix(at + prefix.size());
  const numbers n = lengths_of(name.substr(0, name.find('_')));
  return n.size() == 1 ? n[0] : 0;
}

/// A word such as t64x128x128, or m x n x k. flydsl_gemm<buffers> names its waves along m, n and k as well.
std::optional<tw::cdna_gemm_kernel> flydsl_tile_of(std::string_view name, tw::index_t bits) {
  for (std::string_view word : words_of(name)) {
    if (word.starts_with('t')) word.remove_prefix(1);
    const numbers l = lengths_of(word);
    if (l.size() != 3 || !is_tile({l[0], l[1], l[2]})) continue;
    tw::cdna_gemm_kernel r{.m = l[0], .n = l[1], .k = l[2], .element_bits = bits, .loop = tw::cdna_loop::scheduled};
    r.waves_n = usual_waves_n(r.m, r.waves);
    r.b_in_lds = bits != 8;
    r.stages = 2;
    const tw::index_t buffers = number_after(name, "flydsl_gemm"), waves_m = number_after(name, "block_m_warp"),
                      waves_n = number_after(name, "block_n_warp"), waves_k = number_after(name, "block_k_warp");
    if (buffers > 1 && waves_m * waves_n * waves_k > 0) {
      r.stages = buffers - 1;
      r.waves = waves_m * waves_n * waves_k;
      r.waves_n = waves_n;
      r.waves_k = waves_k;
      r.split = tw::cdna_split::fix_up;
    }
    return r;
  }
  return {};
}

/// threads x m x n x k, waves along m x n.
std::optional<tw::cdna_gemm_kernel> opus_tile_of(std::string_view name, tw::index_t bits) {
  const std::vector<numbers> all = all_lengths(name);
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const numbers &l = all[i], &w = all[i + 1];
    if (l.size() != 4 || w.size() != 2 || l[0] % 64 != 0 || !is_tile({l[1], l[2], l[3]})) continue;
    const tw::index_t waves = l[0] / 64, along_k = std::max(1, waves / std::max(1, w[0] * w[1]));
    const tw::index_t k = has(name, "_wkc_") ? l[3] * along_k : l[3];
    return tw::cdna_gemm_kernel{.m = l[1],
                                .n = l[2],
                                .k = k,
                                .waves = waves,
                                .waves_n = w[1],
                                .element_bits = bits,
                                .stages = 2,
                                .loop = tw::cdna_loop::scheduled};
  }
  return {};
}

}  // namespace

const char* name_of(library l) {
  switch (l) {
    case library::ck: return "CK";
    case library::ck_tile: return "CK Tile";
    case library::assembly: return "assembly";
    case library::flydsl: return "FlyDSL";
    case library::opus: return "opus";
    case library::tilewright: return "tilewright";
    case library::unnamed: break;
  }
  return "unnamed";
}

named_kernel parse_kernel_name(std::string_view name, tw::index_t element_bits) {
  if (has(name, "cktile")) return {library::ck_tile, ck_tile_library_tile_of(name, element_bits)};
  if (name.starts_with("_ZN5aiter")) return {library::assembly, assembly_tile_of(name, element_bits)};
  if (name.starts_with("flydsl")) return {library::flydsl, flydsl_tile_of(name, element_bits)};
  if (name.starts_with("opus")) return {library::opus, opus_tile_of(name, element_bits)};
  for (const std::string_view prefix : {"a8w8_", "a4w4_", "bf16_"})
    if (name.starts_with(prefix)) return {library::ck, ck_tile_of(name, element_bits)};
  return {};
}

}  // namespace predict
