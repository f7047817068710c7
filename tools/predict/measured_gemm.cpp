// SPDX-License-Identifier: MIT
#include "measured_gemm.hpp"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <map>
#include <string_view>

#include "../program/refusal.hpp"
#include "own_kernels.hpp"

namespace predict {
namespace {

std::vector<std::string> fields_of(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> result(1);
  for (const char c : line) {
    if (c == ',') {
      result.emplace_back();
    } else {
      result.back() += c;
    }
  }
  return result;
}

constexpr std::array<const char*, 9> names{"file", "gfx", "cu_num", "kernel", "M", "N", "K", "splitK", "us"};
enum column { file, gfx, cu_num, kernel, m, n, k, split_k, us };  // empty ones before m: as in the row above

/// A row by the columns of `names`.
using row = std::array<std::string, names.size()>;

std::array<std::size_t, names.size()> columns_of(const std::string& header) {
  const std::vector<std::string> given = fields_of(header);
  std::array<std::size_t, names.size()> result{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::size_t at = 0;
    while (at < given.size() && given[at] != names[i]) ++at;
    if (at == given.size()) throw program::refusal("the first line has no column '" + std::string(names[i]) + "'");
    result[i] = at;
  }
  return result;
}

template <class Number>
Number number(const row& r, column c, int line) {
  Number value{};
  const std::string& text = r[c];
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0))
    throw program::refusal("line " + std::to_string(line) + ": '" + text + "' is no number for " + names[c]);
  return value;
}

const tw::arch::cdna_gpu* gpu_of(const row& r) {
  for (const tw::arch::cdna_gpu& gpu : tw::arch::cdna_gpus)
    if (r[gfx] == gpu.isa->name && r[cu_num] == std::to_string(gpu.compute_units)) return &gpu;
  return nullptr;
}

tw::index_t bits_of(const row& r) {
  if (r[file].find("a4w4") != std::string::npos) return 4;
  return r[file].find("a8w8") != std::string::npos ? 8 : 16;
}

/// Slices of k: CK's tables hold the exponent of two, which its kernels for preshuffled B ignore (their times say so);
/// others hold the number. 0 is one slice.
tw::index_t slices_of(const row& r, library family, int line) {
  const int given = r[split_k].empty() ? 0 : number<int>(r, split_k, line);
  if (given > 64) throw program::refusal("line " + std::to_string(line) + ": splitK is above 64");
  if (family != library::ck) return given == 0 ? 1 : given;
  return r[kernel].find("bpreshuffle") != std::string::npos ? 1 : given < 7 ? 1 << given : 64;
}

/// Kernels of opus that split k by themselves when the table names no slices.
bool splits_by_itself(const row& r) {
  const std::string& name = r[kernel];
  return name.starts_with("opus") && (r[split_k].empty() || r[split_k] == "0") &&
         (name.find("splitk") != std::string::npos || name.find("_wkc_") != std::string::npos);
}

measured_gemm gemm_of(const row& r, int line) {
  measured_gemm g;
  g.gpu = gpu_of(r);
  g.m = number<std::int64_t>(r, m, line);
  g.n = number<std::int64_t>(r, n, line);
  g.k = number<std::int64_t>(r, k, line);
  g.element_bits = bits_of(r);
  g.block_scaled = r[file].find("a8w8_blockscale") != std::string::npos;
  g.batched = r[file].find("batched") != std::string::npos;
  if (g.m < 1 || g.n < 1 || g.k < 1)
    throw program::refusal("line " + std::to_string(line) + ": M, N and K must be 1 or more");
  g.us = number<double>(r, us, line);
  g.kernel_name = r[kernel];
  g.kernel = parse_kernel_name(r[kernel], g.element_bits);
  if (g.gpu && g.element_bits == 16)
    if (const tw::cdna_gemm_kernel* own = find_own_kernel(*g.gpu, g.kernel_name))
      g.kernel = {library::tilewright, *own};
  g.splits_by_itself = splits_by_itself(r);
  if (g.kernel.tile) g.kernel.tile->split_k = slices_of(r, g.kernel.family, line);
  return g;
}

}  // namespace

std::vector<measured_gemm> read_measured(std::istream& csv) {
  std::string text;
  if (!std::getline(csv, text)) throw program::refusal("the table of measured times is empty");
  const std::array<std::size_t, names.size()> columns = columns_of(text);
  std::vector<measured_gemm> result;
  row r;
  for (int line = 2; std::getline(csv, text); ++line) {
    const std::vector<std::string> given = fields_of(text);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (columns[i] >= given.size()) throw program::refusal("line " + std::to_string(line) + " is too short");
      if (i >= m || !given[columns[i]].empty()) r[i] = given[columns[i]];
    }
    if (r[us].empty() || r[kernel].empty()) continue;
    if (measured_gemm g = gemm_of(r, line); g.us > 0 && g.us < std::numeric_limits<double>::infinity())
      result.push_back(g);
  }
  return result;
}

std::uint64_t hash_of_shape(const measured_gemm& g, std::uint64_t seed) {
  std::uint64_t hash = 14695981039346656037u ^ seed * 0x9e3779b97f4a7c15u;  // FNV-1a
  for (const std::int64_t length : {g.m, g.n, g.k})
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (std::uint64_t(length) >> 8 * byte & 255)) * 1099511628211u;
  return hash;
}

bool is_fitted(const measured_gemm& g) { return (hash_of_shape(g) >> 32) % 2 == 0; }

}  // namespace predict
