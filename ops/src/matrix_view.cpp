// SPDX-License-Identifier: MIT
#include "matrix_view.hpp"

#include <algorithm>
#include <cstdint>

#include "call.hpp"

namespace tilewright::ops {
namespace {

constexpr const char* element_names[] = {"f16", "bf16", "f32", "fp8", "bf8", "i8", "i32"};

bool is_known(element type) { return int(type) >= 0 && int(type) < int(std::size(element_names)); }

constexpr long_index_t longest = 0x7fffffff;

/// Bytes from the first element to the last one, if they can be counted.
bool fits_memory(const tensor& t) {
  constexpr long_index_t most = long_index_t{1} << 56;
  long_index_t last = 0;
  for (int i = 0; i < t.rank; ++i) {
    if (t.strides[i] > most / t.lengths[i]) return false;
    last += (t.lengths[i] - 1) * t.strides[i];
    if (last > most) return false;
  }
  return true;
}

}  // namespace

const char* name_of(element type) { return is_known(type) ? element_names[int(type)] : "unknown elements"; }

int bytes_of(element type) {
  switch (type) {
    case element::f32:
    case element::i32: return 4;
    case element::f16:
    case element::bf16: return 2;
    default: return 1;
  }
}

std::string describe(const tensor& t) {
  std::string text = std::string(name_of(t.type)) + " (";
  for (int i = 0; i < t.rank && i < tensor::max_rank; ++i) text += (i > 0 ? ", " : "") + std::to_string(t.lengths[i]);
  return text + ")";
}

void require_tensor(const char* operation, const char* name, const tensor& t) {
  const std::string who = name;
  if (t.data == nullptr) refuse(operation, who + " is null; give a tensor in the device's memory");
  if (!is_known(t.type))
    refuse(operation, who + " has elements of type " + std::to_string(int(t.type)) +
                          ", which is none; there are f16, bf16, f32, fp8, bf8, i8 and i32");
  if (t.rank < 0 || t.rank > tensor::max_rank)
    refuse(operation, who + " has " + std::to_string(t.rank) + " dimensions; tensors have 0 to " +
                          std::to_string(tensor::max_rank));
  for (int i = 0; i < t.rank; ++i) {
    const std::string at = who + ": dimension " + std::to_string(i) + " has ";
    if (t.lengths[i] < 1 || t.lengths[i] > longest)
      refuse(operation, at + "length " + std::to_string(t.lengths[i]) + "; lengths are 1 to 2147483647");
    if (t.strides[i] < 0)
      refuse(operation, at + "stride " + std::to_string(t.strides[i]) + "; strides are 0 or more elements");
  }
  if (!fits_memory(t)) refuse(operation, who + " reaches over more memory than there is; check its strides");
  if (reinterpret_cast<std::uintptr_t>(t.data) % std::uintptr_t(bytes_of(t.type)) != 0)
    refuse(operation, who + " is at an address that is no multiple of its elements' size");
}

void require_tensor(const char* operation, const char* name, const tensor& t, element type,
                    std::initializer_list<long_index_t> lengths) {
  require_tensor(operation, name, t);
  bool is_equal = t.type == type && t.rank == int(lengths.size());
  for (int i = 0; is_equal && i < t.rank; ++i)
    is_equal = lengths.begin()[i] == -1 || t.lengths[i] == lengths.begin()[i];
  if (is_equal) return;
  std::string wanted;
  for (const long_index_t l : lengths) wanted += (wanted.empty() ? "" : ", ") + (l == -1 ? "any" : std::to_string(l));
  refuse(operation,
         std::string(name) + " is " + describe(t) + ", but must be " + name_of(type) + " (" + wanted + ") here");
}

void require_vector(const char* operation, const char* name, const tensor& t, element type, long_index_t length) {
  require_tensor(operation, name, t, type, {length});
  if (length > 1 && t.strides[0] != 1)
    refuse(operation, std::string(name) + " has stride " + std::to_string(t.strides[0]) + "; it must be contiguous");
}

matrix_view as_matrix(const char* operation, const char* name, const tensor& t, bool prefer_cols) {
  require_tensor(operation, name, t);
  const std::string who = name;
  if (t.rank != 2 && t.rank != 3)
    refuse(operation, who + " has " + std::to_string(t.rank) + " dimensions; a matrix has 2, a batch of them 3");
  const int r = t.rank - 2, c = t.rank - 1;
  const long_index_t rows = t.lengths[r], cols = t.lengths[c];
  const bool along_cols = t.strides[c] == 1 || cols == 1, along_rows = t.strides[r] == 1 || rows == 1;
  if (!along_cols && !along_rows)
    refuse(operation, who + " has strides " + std::to_string(t.strides[r]) + " and " + std::to_string(t.strides[c]) +
                          "; a matrix must be contiguous along one dimension: copy it");
  // Of a single line any stride will do; a line of one element is contiguous along the other dimension, too.
  const auto line_stride = [&](bool by_rows) {
    const long_index_t lines = by_rows ? rows : cols, length = by_rows ? cols : rows;
    return lines == 1 ? std::max(length, t.strides[by_rows ? r : c]) : t.strides[by_rows ? r : c];
  };
  const auto is_fit = [&](bool by_rows) {
    return (by_rows ? along_cols : along_rows) && line_stride(by_rows) >= (by_rows ? cols : rows);
  };
  const bool by_rows = is_fit(true) && (prefer_cols || !is_fit(false));
  if (!by_rows && !is_fit(false))
    refuse(operation, who + ": its rows (or columns) overlap, because a stride is smaller than their length");
  const long_index_t ld = line_stride(by_rows);
  if (ld > longest)
    refuse(operation, who + " has a stride of " + std::to_string(ld) + " from line to line; it must be below 2^31");
  const bool is_batch = t.rank == 3 && t.lengths[0] > 1;
  return {.data = t.data,
          .type = t.type,
          .rows = index_t(rows),
          .cols = index_t(cols),
          .along_cols = by_rows,
          .ld = index_t(ld),
          .batch = is_batch ? index_t(t.lengths[0]) : 1,
          .batch_stride = is_batch ? t.strides[0] : 0};
}

}  // namespace tilewright::ops
